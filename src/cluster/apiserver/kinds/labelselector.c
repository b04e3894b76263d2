/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Label selectors as objects.
 *
 * Validation with the causes of Kubernetes; matching and printing are those of src/json.  In and
 * NotIn need values, Exists and DoesNotExist may have none.  Workloads and budgets keep their
 * selector in this form, services and replication controllers as a plain map of labels.
 */
#include "src/cluster/apiserver/kinds/labelselector.h"

#include "src/cluster/apiserver/checks.h"
#include "src/json/selector.h"

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
    struct place operator= place_key(e, "operator");
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
    check_form_always(cs, &key, FORM_QUALIFIED);
    PLACE_FOR_ITEMS (value, &values)
        check_form(cs, &value, FORM_LABEL_VALUE);
}

void labelselector_check(struct causes *cs, const struct place *selector)
{
    struct place labels = place_key(selector, "matchLabels");
    struct place expressions = place_key(selector, "matchExpressions");

    check_labels(cs, &labels);
    PLACE_FOR_ITEMS (e, &expressions)
        check_expression(cs, &e);
}

bool labelselector_empty(const struct jsn *selector)
{
    return jsn_len(jsn_key(selector, "matchLabels")) == 0 &&
           jsn_len(jsn_key(selector, "matchExpressions")) == 0;
}

bool labelmap_match(const struct jsn *map, const struct jsn *labels)
{
    JSN_FOR_MEMBERS (m, map) {
        if (!jsn_equal(m->value, jsn_member(labels, m->key)))
            return false;
    }
    return true;
}

bool labelselector_match(struct arena *a, const struct jsn *selector, const struct jsn *labels)
{
    struct selector *s;

    if (!jsn_is(selector, JSN_OBJECT) || selector_from_object(a, selector, &s, NULL) < 0)
        return false;
    return selector_match_labels(s, labels);
}

const char *labelselector_text(struct arena *a, const struct jsn *selector)
{
    AUTO(buf_done) struct buf b = {0};
    struct selector *s;

    if (!jsn_is(selector, JSN_OBJECT) || selector_from_object(a, selector, &s, NULL) < 0)
        return "";
    selector_sort(s);
    selector_print(&b, s);
    return arena_str(a, buf_view(&b));
}

const char *labelmap_text(struct arena *a, const struct jsn *map)
{
    struct jsn *selector = jsn_object(a);
    struct jsn *labels = jsn_clone(a, jsn_is(map, JSN_OBJECT) ? map : jsn_object(a));

    jsn_set(a, selector, "matchLabels", labels);
    return labelselector_text(a, selector);
}
