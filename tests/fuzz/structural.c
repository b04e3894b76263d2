/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: schemas and values, {"schema": ..., "value": ..., "old": ...}.
 *
 * A schema is one from a definition: whatever it says and whatever the value is, pruning,
 * defaulting and validation end and agree with each other.  Pruning and defaulting again changes
 * nothing; validation does not change a value.
 */
#include <assert.h>

#include "src/json/pattern.h"
#include "src/json/schema_openapi.h"
#include "src/json/structural.h"

#define INPUT_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void prune_twice(struct arena *a, const struct structural *how, struct jsn *v,
                        const struct schema *s)
{
    struct schema_unknown removed = {.arena = a}, left = {.arena = a};

    schema_prune(how, v, s, &removed);
    schema_prune(how, v, s, &left);
    assert(left.n == 0);
}

static void default_twice(struct arena *a, struct jsn *v, const struct schema *s)
{
    struct jsn *before;

    schema_default(a, v, s);
    before = jsn_clone(a, v);
    schema_default(a, v, s);
    assert(jsn_equal(v, before));
}

static void validate(struct arena *a, const struct structural *how, const struct jsn *v,
                     const struct schema *s)
{
    struct schema_faults f = {.arena = a}, again = {.arena = a};
    struct jsn *before = jsn_clone(a, v);

    schema_validate(how, s, v, NULL, true, &f);
    schema_validate_lists(s, v, NULL, &f);
    assert(jsn_equal(v, before));
    schema_validate(how, s, v, NULL, true, &again);
    schema_validate_lists(s, v, NULL, &again);
    assert(f.n == again.n && f.dropped == again.dropped);
    for (size_t i = 0; i < f.n; i++)
        assert(*f.items[i].field && *f.items[i].text && *f.items[i].reason);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(pattern_cache_free) struct pattern_cache *patterns = pattern_cache_new();
    struct structural how = {.patterns = patterns};
    struct schema *s = NULL;
    struct jsn *input = NULL, *v;
    struct err e = {0};

    if (size > INPUT_MAX ||
        jsn_parse(&a, (struct str){(const char *)data, size}, NULL, &input, &e) < 0)
        return 0;
    v = jsn_key(input, "value");
    if (!jsn_is(v, JSN_OBJECT) || schema_from_openapi(&a, jsn_key(input, "schema"), &s, &e) < 0)
        return 0;
    how.object_meta = s; /* any schema will do */
    validate(&a, &how, v, s);
    prune_twice(&a, &how, jsn_clone(&a, v), s);
    default_twice(&a, v, s);
    prune_twice(&a, &how, v, s);
    validate(&a, &how, v, s);
    return 0;
}
