/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: JSON text.
 *
 * What parses must print, both ways, to a text that parses to an equal value, also when the text is
 * laid out in two pieces; a copy must be equal.
 */
#include "src/json/indent.h"
#include "src/json/jsn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct arena *a, const struct jsn *v, struct str text)
{
    struct jsn *again;

    if (jsn_parse(a, text, NULL, &again, NULL) < 0 || !jsn_equal(v, again))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf compact = {0};
    AUTO(buf_done) struct buf pretty = {0};
    AUTO(buf_done) struct buf lines = {0};
    struct jsn_indent at = {0};
    struct jsn_notes notes = {.arena = &a};
    struct err e = {0};
    struct jsn *v;

    if (jsn_parse(&a, (struct str){(const char *)data, size}, &notes, &v, &e) < 0) {
        assert(e.text[0]);
        return 0;
    }
    jsn_print(&compact, v);
    jsn_print_pretty(&pretty, v);
    check(&a, v, buf_view(&compact));
    check(&a, v, buf_view(&pretty));
    jsn_indent(&at, &lines, (struct str){buf_str(&compact), compact.n / 2});
    jsn_indent(&at, &lines,
               (struct str){buf_str(&compact) + compact.n / 2, compact.n - compact.n / 2});
    check(&a, v, buf_view(&lines));
    if (!jsn_equal(v, jsn_clone(&a, v)))
        abort();
    return 0;
}
