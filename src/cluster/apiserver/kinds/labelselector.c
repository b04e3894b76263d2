/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Label selectors as objects.
 *
 * matchLabels and matchExpressions must all hold.  In and NotIn need values, Exists and DoesNotExist
 * may have none; NotIn also selects objects without the label.  The text form sorts by key, as
 * Kubernetes prints selectors.
 */
#include "src/cluster/apiserver/kinds/labelselector.h"

#include <stdlib.h>

static bool takes_values(const char *operator)
{
    return streq(operator, "In") || streq(operator, "NotIn");
}

static bool takes_none(const char *operator)
{
    return streq(operator, "Exists") || streq(operator, "DoesNotExist");
}

static void check_expression(struct causes *cs, const struct place *e)
{
    struct place operator = place_key(e, "operator");
    struct place values = place_key(e, "values");
    struct place key = place_key(e, "key");
    const char *op = place_str(&operator);

    if (takes_values(op)) {
        if (jsn_len(values.value) == 0)
            place_required(cs, &values, "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (takes_none(op)) {
        if (jsn_len(values.value) > 0)
            place_forbidden(cs, &values,
                            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else {
        place_invalid(cs, &operator, "not a valid selector operator");
    }
    if (key.value)
        check_form(cs, &key, FORM_QUALIFIED);
    else
        place_invalid(cs, &key, "name part must be non-empty");
    PLACE_FOR_ITEMS(value, &values)
        check_form(cs, &value, FORM_LABEL_VALUE);
}

void labelselector_check(struct causes *cs, const struct place *selector)
{
    struct place labels = place_key(selector, "matchLabels");
    struct place expressions = place_key(selector, "matchExpressions");

    check_labels(cs, &labels);
    PLACE_FOR_ITEMS(e, &expressions)
        check_expression(cs, &e);
}

bool labelselector_empty(const struct jsn *selector)
{
    return jsn_len(jsn_key(selector, "matchLabels")) == 0 &&
           jsn_len(jsn_key(selector, "matchExpressions")) == 0;
}

static bool has_value(const struct jsn *values, const char *text)
{
    JSN_FOR_ITEMS(v, values) {
        if (streq(jsn_text(v), text))
            return true;
    }
    return false;
}

static bool expression_match(const struct jsn *e, const struct jsn *labels)
{
    const char *operator = jsn_get_str(e, "operator");
    const char *key = jsn_get_str(e, "key");
    const char *label = jsn_text(key ? jsn_key(labels, key) : NULL);

    if (streq(operator, "In"))
        return label && has_value(jsn_key(e, "values"), label);
    if (streq(operator, "NotIn"))
        return !label || !has_value(jsn_key(e, "values"), label);
    if (streq(operator, "Exists"))
        return label;
    if (streq(operator, "DoesNotExist"))
        return !label;
    return false;
}

bool labelmap_match(const struct jsn *map, const struct jsn *labels)
{
    JSN_FOR_MEMBERS(m, map) {
        if (!jsn_equal(m->value, jsn_member(labels, m->key)))
            return false;
    }
    return true;
}

bool labelselector_match(const struct jsn *selector, const struct jsn *labels)
{
    if (!jsn_is(selector, JSN_OBJECT))
        return false;
    JSN_FOR_ITEMS(e, jsn_key(selector, "matchExpressions")) {
        if (!expression_match(e, labels))
            return false;
    }
    return labelmap_match(jsn_key(selector, "matchLabels"), labels);
}

/* One requirement as text, with the key to sort by. */
struct requirement {
    const char *key;
    const char *text;
};

static int by_key(const void *a, const void *b)
{
    const struct requirement *x = a;
    const struct requirement *y = b;

    return strcmp(x->key, y->key);
}

static const char *joined(struct arena *a, struct requirement *list, size_t n)
{
    AUTO(buf_done) struct buf b = {0};

    qsort(list, n, sizeof(*list), by_key);
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s%s", i > 0 ? "," : "", list[i].text);
    return arena_str(a, buf_view(&b));
}

static size_t add_map(struct arena *a, const struct jsn *map, struct requirement *list)
{
    size_t n = 0;

    JSN_FOR_MEMBERS(m, map) {
        const char *value = jsn_text(m->value);

        list[n++] = (struct requirement){
            .key = m->key.p,
            .text = arena_printf(a, "%s=%s", m->key.p, value ? value : ""),
        };
    }
    return n;
}

static const char *expression_text(struct arena *a, const struct jsn *e)
{
    AUTO(buf_done) struct buf b = {0};
    const char *operator = jsn_get_str(e, "operator");
    const char *key = jsn_get_str(e, "key");
    const char *sep = "";

    if (streq(operator, "Exists"))
        return key;
    if (streq(operator, "DoesNotExist"))
        return arena_printf(a, "!%s", key);
    buf_printf(&b, "%s %s (", key, streq(operator, "In") ? "in" : "notin");
    JSN_FOR_ITEMS(v, jsn_key(e, "values")) {
        buf_printf(&b, "%s%s", sep, jsn_text(v) ? jsn_text(v) : "");
        sep = ",";
    }
    buf_addc(&b, ')');
    return arena_str(a, buf_view(&b));
}

const char *labelselector_text(struct arena *a, const struct jsn *selector)
{
    const struct jsn *map = jsn_key(selector, "matchLabels");
    const struct jsn *expressions = jsn_key(selector, "matchExpressions");
    struct requirement *list =
        arena_calloc(a, jsn_len(map) + jsn_len(expressions) + 1, sizeof(*list));
    size_t n = add_map(a, map, list);

    JSN_FOR_ITEMS(e, expressions) {
        if (jsn_get_str(e, "key"))
            list[n++] = (struct requirement){jsn_get_str(e, "key"), expression_text(a, e)};
    }
    return joined(a, list, n);
}

const char *labelmap_text(struct arena *a, const struct jsn *map)
{
    struct requirement *list = arena_calloc(a, jsn_len(map) + 1, sizeof(*list));

    return joined(a, list, add_map(a, map, list));
}
