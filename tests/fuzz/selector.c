/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: label and field selectors.
 *
 * A label selector that parses prints to a text that parses to the same selector.
 */
#include "src/json/selector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct jsn *labels(struct arena *a)
{
    struct jsn *v;

    if (jsn_parse(a, STR("{\"a\":\"1\",\"b\":\"\",\"c\":\"x\"}"), NULL, &v, NULL) < 0)
        abort();
    return v;
}

static struct str label(const void *context, struct str key)
{
    const struct jsn *v = jsn_member(context, key);

    return v ? v->s : (struct str){0};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf first = {0};
    AUTO(buf_done) struct buf second = {0};
    struct str text = {(const char *)data, size};
    struct selector *s;
    struct selector *again;

    if (selector_parse_fields(&a, text, &s, NULL) == 0)
        (void)selector_match(s, label, labels(&a));
    if (selector_parse_labels(&a, text, &s, NULL) < 0)
        return 0;
    selector_print(&first, s);
    if (selector_parse_labels(&a, buf_view(&first), &again, NULL) < 0)
        abort();
    selector_print(&second, again);
    if (!str_eq(buf_view(&first), buf_view(&second)) ||
        selector_match_labels(s, labels(&a)) != selector_match_labels(again, labels(&a)))
        abort();
    return 0;
}
