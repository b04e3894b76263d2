/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules in CEL (x-kubernetes-validations): the part of the language that definitions use. */
#pragma once

#include "src/json/schema.h"

struct pattern_cache;
struct pattern_budget;
struct cel;

#define CEL_MAX_BYTES ((size_t)16 << 10)
#define CEL_MEMORY_MAX ((size_t)64 << 20)

/*
 * Compile a rule; it lives in the arena, and so must `text`.  -EINVAL: it is no CEL, or names what
 * is not there ("ERROR: <input>:1:6: ..."); -ENOTSUP: it is good CEL, but uses what is not known
 * here, which the error names.
 */
int cel_compile(struct arena *a, const char *text, struct cel **ret, struct err *e) MUST_CHECK;

/*
 * Could it ever work for values of this schema (as a definition has it)?  -EINVAL with the words of
 * kube-apiserver if not: a field that is not declared, kinds that have no such operator.  `root`:
 * the schema of a whole object, which has kind and metadata in any case.
 */
int cel_check(struct arena *a, const struct cel *c, const struct jsn *schema, bool root,
              bool *ret_is_bool, struct err *e) MUST_CHECK;

/* Does it compare with the value before? */
bool cel_uses_old_self(const struct cel *c);

/*
 * What a rule is run on.  Steps are counted down over all runs; they also end when the arena has
 * grown beyond CEL_MEMORY_MAX.  Values that come out may be parts of those that went in.
 */
struct cel_input {
    struct arena *arena;
    struct pattern_cache *patterns;
    struct pattern_budget *budget;
    uint64_t *steps;
    const struct schema *schema;
    const struct jsn *self;
    const struct jsn *old_self; /* NULL: there was none */
};

enum cel_outcome {
    CEL_VALUE,  /* *ret_value is its value */
    CEL_FAILED, /* *ret_error says why: "no such key: x" */
    CEL_BEYOND, /* it came to something that is not known here */
};

enum cel_outcome cel_run(const struct cel *c, const struct cel_input *in,
                         const struct jsn **ret_value, const char **ret_error);
