/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: what operator and agent say to each other.
 *
 * What cannot be read is refused with a sentence; an outcome that was read comes back the same when
 * it is written and read again.
 */
#include "src/wire/declaration.h"
#include "src/wire/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf text = {0};
    struct wire_declaration d = {0};
    struct wire_outcome o = {0};
    struct wire_outcome again = {0};
    struct jsn *v = NULL;
    struct jsn *first;
    struct err e = {0};

    if (jsn_parse(&a, (struct str){(const char *)data, size}, NULL, &v, NULL) < 0)
        return 0;
    if (wire_declaration_decode(&a, v, &d, &e) < 0 && !e.text[0])
        abort();
    if (wire_outcome_decode(&a, v, &o, &e) < 0)
        return e.text[0] ? 0 : -1;
    for (size_t i = 0; i < o.problems.n; i++)
        wire_problem_print(&o.problems.items[i], &text);
    first = wire_outcome_encode(&a, &o);
    if (wire_outcome_decode(&a, first, &again, &e) < 0 ||
        !jsn_equal(first, wire_outcome_encode(&a, &again)))
        abort();
    return 0;
}
