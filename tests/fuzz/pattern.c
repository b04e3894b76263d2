/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: patterns.  The first line is the pattern, the rest what it is matched against.
 *
 * A pattern is refused with a sentence or compiles; a match ends within its budget.
 */
#include <assert.h>

#include "src/base/alloc.h"
#include "src/json/pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = {(const char *)data, size}, line;
    struct pattern_budget budget = {2000000};
    AUTO(pattern_free) struct pattern *p = NULL;
    AUTO(free) char *text = NULL;
    struct err e = {0};
    int r;

    if (size == 0 || !str_split(&rest, '\n', &line) || !str_utf8_ok(rest))
        return 0;
    text = str_dup(line);
    if (pattern_compile(text, &p, &e) < 0) {
        assert(starts_with(e.text, "error parsing regexp: "));
        return 0;
    }
    r = pattern_match(p, rest, &budget);
    assert(r == 0 || r == 1 || r == -E2BIG);
    return 0;
}
