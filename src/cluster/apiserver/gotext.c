/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values in sentences, as kube-apiserver shows them.
 *
 * `spec.selector: Invalid value: {"matchLabels":{"app":"x"}}: field is immutable`: the value is
 * printed as JSON (since 1.34; as Go's %#v before).  Maps are sorted by key, what is absent is
 * null. A struct without names for JSON shows those of its Go fields.  Only one sentence that
 * people meet still has %#v in it.
 */
#include "src/cluster/apiserver/gotext.h"

#include <stdlib.h>

static const char *kept(struct arena *a, struct buf *b)
{
    return arena_str(a, buf_view(b));
}

static int by_key(const void *a, const void *b)
{
    const struct jsn_member *const *x = a;
    const struct jsn_member *const *y = b;

    return str_cmp((*x)->key, (*y)->key);
}

static void print_map(struct arena *a, struct buf *b, const struct jsn *map)
{
    size_t n = jsn_len(map);
    const struct jsn_member **sorted = arena_calloc(a, n + 1, sizeof(const struct jsn_member *));

    JSN_FOR_MEMBERS (m, map) {
        sorted[m_i] = m;
    }
    qsort(sorted, n, sizeof(const struct jsn_member *), by_key);
    buf_addc(b, '{');
    for (size_t i = 0; i < n; i++) {
        buf_adds(b, i > 0 ? "," : "");
        jsn_print_string(b, sorted[i]->key);
        buf_addc(b, ':');
        jsn_print(b, sorted[i]->value);
    }
    buf_addc(b, '}');
}

const char *gotext_value(struct arena *a, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    if (!v || v->type == JSN_NULL)
        return "null";
    jsn_print(&b, v);
    return kept(a, &b);
}

const char *gotext_map(struct arena *a, const struct jsn *map)
{
    AUTO(buf_done) struct buf b = {0};

    if (!jsn_is(map, JSN_OBJECT))
        return "null";
    print_map(a, &b, map);
    return kept(a, &b);
}

const char *gotext_strategy(struct arena *a, const char *type)
{
    AUTO(buf_done) struct buf b = {0};

    buf_adds(&b, "{\"Type\":");
    jsn_print_string(&b, str_of(type));
    buf_adds(&b, ",\"RollingUpdate\":null}");
    return kept(a, &b);
}

const char *gotext_selector(struct arena *a, const struct jsn *selector)
{
    const struct jsn *labels = jsn_key(selector, "matchLabels");
    const struct jsn *expressions = jsn_key(selector, "matchExpressions");
    AUTO(buf_done) struct buf b = {0};

    if (!jsn_is(selector, JSN_OBJECT))
        return "null";
    buf_addc(&b, '{');
    if (jsn_len(labels) > 0) {
        buf_adds(&b, "\"matchLabels\":");
        print_map(a, &b, labels);
    }
    if (jsn_len(expressions) > 0) {
        buf_printf(&b, "%s\"matchExpressions\":", b.n > 1 ? "," : "");
        jsn_print(&b, expressions);
    }
    buf_addc(&b, '}');
    return kept(a, &b);
}

const char *gotext_go_strings(struct arena *a, const struct jsn *list)
{
    AUTO(buf_done) struct buf b = {0};

    buf_adds(&b, "[]string{");
    JSN_FOR_ITEMS (item, list) {
        const char *s = jsn_text(item);

        buf_adds(&b, item_i > 0 ? ", " : "");
        jsn_print_string(&b, str_of(s ? s : ""));
    }
    buf_addc(&b, '}');
    return kept(a, &b);
}
