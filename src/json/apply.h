/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What server-side apply does with values: check, extract, compare, merge, remove; all by schema.
 */
#pragma once

#include "src/json/fieldset.h"

/*
 * Everywhere `schema` is that of the whole object, metadata included; NULL deduces types from
 * values. Failures are -EINVAL with the sentence of Kubernetes, such as
 * ".spec.bogus: field not declared in schema".
 */

/* Is this a configuration that can be applied?  Fields declared, types right, items unique. */
int apply_check(const struct schema *schema, const struct jsn *v, struct err *e) MUST_CHECK;

/* The fields that a value sets. */
int apply_extract(struct arena *a, const struct schema *schema, const struct jsn *v,
                  struct fieldset **ret_set, struct err *e) MUST_CHECK;

/* No field is in two of them; all empty: no difference. */
struct apply_comparison {
    struct fieldset *added;
    struct fieldset *modified;
    struct fieldset *removed;
};
int apply_compare(struct arena *a, const struct schema *schema, const struct jsn *before,
                  const struct jsn *after, struct apply_comparison *ret_comparison,
                  struct err *e) MUST_CHECK;

/*
 * The live value with all that the configuration sets; nothing is removed.  Lists that are owned
 * item by item keep the items of both, in the configuration's order as far as it names them.
 */
int apply_merge(struct arena *a, const struct schema *schema, const struct jsn *live,
                const struct jsn *config, struct jsn **ret_value, struct err *e) MUST_CHECK;

/* The value without the members and items in the set; a new tree. */
struct jsn *apply_remove(struct arena *a, const struct schema *schema, const struct jsn *v,
                         const struct fieldset *set);

/* The set, with each declared field that only has members below it made a member itself. */
struct fieldset *apply_name_fields(struct arena *a, const struct schema *schema,
                                   const struct fieldset *set);

/*
 * The set as the present schema would have recorded it: what lies inside of something that has
 * become owned as a whole is replaced by that.
 */
struct fieldset *apply_fit(struct arena *a, const struct schema *schema,
                           const struct fieldset *set);
