/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of built-in kinds: checked, completed and trimmed as Kubernetes' Go types do it. */
#pragma once

#include "src/json/schema.h"

/*
 * What strict decoding complains about, in the order of the document, as Kubernetes words it:
 * `unknown field "spec.bogus"`, `duplicate field "data.a"`.  At most TYPE_MAX_NOTES.
 */
struct type_notes {
    const struct jsn_notes *parsed; /* duplicates that the parser saw; may be NULL */
    const char **texts;             /* in the arena of the call */
    size_t n_texts;
    size_t cap_texts;
};

#define TYPE_MAX_NOTES 100

/*
 * Decode: check `object` against the types of its fields and remove fields that these do not know
 * (noted in `notes`, which may be NULL).  A null counts as not given.  Times, quantities and base64
 * get their canonical text.  A value of the wrong type fails with Go's sentence, e.g. "json: cannot
 * unmarshal number into Go struct field ConfigMap.data of type string"; the object is then in
 * between and of no use.
 */
int type_check(struct arena *a, const struct schema *s, struct jsn *object,
               struct type_notes *notes, struct err *e) MUST_CHECK;

/* Fill fields that were not given, or are zero where Go cannot tell, with the tables' defaults. */
void type_default(struct arena *a, const struct schema *s, struct jsn *object);

/*
 * Encode: leave out zero values where Go does (omitempty), and add those that it always writes
 * ("status": {}, "creationTimestamp": null, "availableReplicas": 0).
 */
void type_encode(struct arena *a, const struct schema *s, struct jsn *object);

/* --- between the files --- */

/*
 * Check a value with a codec of its own and bring it to canonical form.  Fails with Go's sentence,
 * with -ENOTSUP where the sentence needs the field's name, which the caller knows.
 */
int type_value_check(struct arena *a, const struct schema *s, struct jsn *v,
                     struct err *e) MUST_CHECK;

/* Whether Go's omitempty would leave the value out. */
bool type_is_zero(const struct schema *s, const struct jsn *v);

/* What stands for a value that was not given, where Go writes one nevertheless. */
struct jsn *type_zero(struct arena *a, const struct schema *s);
