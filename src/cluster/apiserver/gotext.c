/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values as Go's %#v prints them.
 *
 * A few sentences of kube-apiserver show a whole struct or list, e.g. `spec.selector: Invalid
 * value: v1.LabelSelector{MatchLabels:map[string]string{"app":"x"}, ...}: field is immutable`. Only
 * the types that people meet there are known here.  Maps are sorted by key, as Go does it.
 */
#include "src/cluster/apiserver/gotext.h"

#include <stdlib.h>

static const char *kept(struct arena *a, struct buf *b)
{
    return arena_str(a, buf_view(b));
}

static void print_strings(struct buf *b, const struct jsn *list)
{
    if (!jsn_is(list, JSN_ARRAY)) {
        buf_adds(b, "[]string(nil)");
        return;
    }
    buf_adds(b, "[]string{");
    for (size_t i = 0; i < jsn_len(list); i++) {
        const char *s = jsn_text(jsn_item(list, i));

        buf_adds(b, i > 0 ? ", " : "");
        jsn_print_string(b, str_of(s ? s : ""));
    }
    buf_addc(b, '}');
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

    if (!jsn_is(map, JSN_OBJECT)) {
        buf_adds(b, "map[string]string(nil)");
        return;
    }
    JSN_FOR_MEMBERS (m, map) {
        sorted[m_i] = m;
    }
    qsort(sorted, n, sizeof(const struct jsn_member *), by_key);
    buf_adds(b, "map[string]string{");
    for (size_t i = 0; i < n; i++) {
        const char *s = jsn_text(sorted[i]->value);

        buf_adds(b, i > 0 ? ", " : "");
        jsn_print_string(b, sorted[i]->key);
        buf_addc(b, ':');
        jsn_print_string(b, str_of(s ? s : ""));
    }
    buf_addc(b, '}');
}

static const char *text_or_empty(const struct jsn *v, const char *key)
{
    const char *s = jsn_get_str(v, key);

    return s ? s : "";
}

static void print_expressions(struct buf *b, const struct jsn *list)
{
    if (!jsn_is(list, JSN_ARRAY)) {
        buf_adds(b, "[]v1.LabelSelectorRequirement(nil)");
        return;
    }
    buf_adds(b, "[]v1.LabelSelectorRequirement{");
    for (size_t i = 0; i < jsn_len(list); i++) {
        const struct jsn *item = jsn_item(list, i);

        buf_adds(b, i > 0 ? ", " : "");
        buf_adds(b, "v1.LabelSelectorRequirement{Key:");
        jsn_print_string(b, str_of(text_or_empty(item, "key")));
        buf_adds(b, ", Operator:");
        jsn_print_string(b, str_of(text_or_empty(item, "operator")));
        buf_adds(b, ", Values:");
        print_strings(b, jsn_key(item, "values"));
        buf_addc(b, '}');
    }
    buf_addc(b, '}');
}

const char *gotext_strings(struct arena *a, const struct jsn *list)
{
    AUTO(buf_done) struct buf b = {0};

    print_strings(&b, list);
    return kept(a, &b);
}

const char *gotext_map(struct arena *a, const struct jsn *map)
{
    AUTO(buf_done) struct buf b = {0};

    print_map(a, &b, map);
    return kept(a, &b);
}

const char *gotext_int_or_string(struct arena *a, const struct jsn *v)
{
    const char *text = jsn_text(v);
    long long i = jsn_is(v, JSN_INT) ? (long long)v->i : 0;

    return arena_printf(a, "intstr.IntOrString{Type:%d, IntVal:%lld, StrVal:\"%s\"}", text ? 1 : 0,
                        i, text ? text : "");
}

const char *gotext_strategy(struct arena *a, const char *strategy, const char *rolling,
                            const char *type)
{
    return arena_printf(a, "apps.%s{Type:\"%s\", RollingUpdate:(*apps.%s)(nil)}", strategy, type,
                        rolling);
}

const char *gotext_selector(struct arena *a, const struct jsn *selector)
{
    AUTO(buf_done) struct buf b = {0};

    buf_adds(&b, "v1.LabelSelector{MatchLabels:");
    print_map(a, &b, jsn_key(selector, "matchLabels"));
    buf_adds(&b, ", MatchExpressions:");
    print_expressions(&b, jsn_key(selector, "matchExpressions"));
    buf_addc(&b, '}');
    return kept(a, &b);
}
