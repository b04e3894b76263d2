/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: rules in CEL.  The first line is the rule, the rest the value, as JSON.
 *
 * A rule is refused, beyond, or compiles; a run ends within its steps, twice with the same outcome.
 * The value is also taken for a schema: whatever that is, the rule's types are found or refused.
 */
#include <assert.h>

#include "src/json/cel.h"
#include "src/json/pattern.h"

#define INPUT_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(pattern_cache_free) struct pattern_cache *patterns = pattern_cache_new();
    struct str rest = {(const char *)data, size}, line;
    const struct jsn *first = NULL, *second = NULL;
    const char *error = "";
    struct jsn *self;
    struct cel *c;
    struct err e = {0};
    int r;

    if (size == 0 || size > INPUT_MAX || !str_split(&rest, '\n', &line) ||
        jsn_parse(&a, rest, NULL, &self, &e) < 0 || !str_utf8_ok(line))
        return 0;
    r = cel_compile(&a, arena_str(&a, line), &c, &e);
    if (r < 0) {
        assert((r == -EINVAL || r == -ENOTSUP) && *e.text);
        return 0;
    }
    for (int root = 0; root < 2; root++) {
        bool is_bool;

        r = cel_check(&a, c, self, root, &is_bool, &e);
        assert(r == 0 || (r == -EINVAL && *e.text));
    }
    for (int i = 0; i < 2; i++) {
        struct pattern_budget budget = {1000000};
        uint64_t steps = 100000;
        struct cel_input in = {.arena = &a,
                               .patterns = patterns,
                               .budget = &budget,
                               .steps = &steps,
                               .self = self,
                               .old_self = self};
        enum cel_outcome o = cel_run(c, &in, i ? &second : &first, &error);

        assert(o != CEL_FAILED || *error);
    }
    assert(!first == !second);
    return 0;
}
