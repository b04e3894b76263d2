/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the workload kinds have in common: a selector that must fit the template, replicas, the
 * shape of a rolling update, and a status whose counts make sense.
 */
#include "src/cluster/apiserver/kinds/workload.h"

#include "src/cluster/apiserver/gotext.h"
#include "src/cluster/apiserver/kinds/labelselector.h"
#include "src/cluster/apiserver/kinds/podspec.h"

/* Returns whether it is well formed. */
static bool check_selector(struct causes *cs, const struct place *selector,
                           const struct workload_rules *r)
{
    const char *shown = gotext_selector(cs->arena, selector->value);
    size_t before = cs->n;

    if (!place_given(selector)) {
        if (!r->selector_optional)
            place_required(cs, selector, NULL);
        return true;
    }
    labelselector_check(cs, selector);
    if (cs->n > before) {
        if (r->bad_selector)
            place_invalid_text(cs, selector, shown, "%s", r->bad_selector);
        return false;
    }
    if (labelselector_empty(selector->value))
        place_invalid_text(cs, selector, shown, "empty selector is invalid for %s", r->what);
    return true;
}

static void check_fit(struct causes *cs, const struct place *template, const struct jsn *selector)
{
    struct place meta = place_key(template, "metadata");
    struct place labels = place_key(&meta, "labels");

    if (jsn_is(selector, JSN_OBJECT) && labelselector_empty(selector))
        return;
    if (!labelselector_match(cs->arena, selector, labels.value))
        place_invalid_text(cs, &labels, gotext_map(cs->arena, labels.value),
                           "`selector` does not match template `labels`");
}

static void check_template_meta(struct causes *cs, const struct place *template)
{
    struct place labels = place_key(template, "labels");
    struct place annotations = place_key(template, "annotations");

    labels.value = jsn_get(template->value, "metadata.labels");
    annotations.value = jsn_get(template->value, "metadata.annotations");
    check_labels(cs, &labels);
    check_annotations(cs, &annotations);
}

void workload_check(struct causes *cs, const struct place *spec, const struct workload_rules *r)
{
    static const char *const always[] = {"Always", NULL};
    struct place replicas = place_key(spec, "replicas");
    struct place ready = place_key(spec, "minReadySeconds");
    struct place limit = place_key(spec, "revisionHistoryLimit");
    struct place selector = place_key(spec, "selector");
    struct place template = place_key(spec, "template");
    struct place pod = place_key(&template, "spec");
    struct place restart = place_key(&pod, "restartPolicy");
    struct place deadline = place_key(&pod, "activeDeadlineSeconds");

    check_nonnegative(cs, &replicas);
    if (check_selector(cs, &selector, r))
        check_fit(cs, &template, selector.value);
    if (r->template_whole)
        podtemplate_check(cs, &template);
    else
        check_template_meta(cs, &template);
    if (place_filled(&restart) && !streq(place_str(&restart), "Always"))
        place_unsupported(cs, &restart, always);
    if (place_given(&deadline))
        place_forbidden(cs, &deadline, "activeDeadlineSeconds in %s is not Supported", r->kind);
    check_nonnegative(cs, &ready);
    if (r->template_whole)
        check_nonnegative(cs, &limit);
}

void workload_selector_check(struct causes *cs, const struct jsn *object, const struct jsn *old)
{
    struct place root = place_root(object);
    struct place spec = place_key(&root, "spec");
    struct place selector = place_key(&spec, "selector");

    if (!check_same(selector.value, jsn_get(old, "spec.selector")))
        place_invalid_text(cs, &selector, gotext_selector(cs->arena, selector.value),
                           "field is immutable");
}

void workload_status_check(struct causes *cs, const struct jsn *object)
{
    static const char *const counts[] = {
        "replicas",        "readyReplicas",        "availableReplicas",  "updatedReplicas",
        "currentReplicas", "fullyLabeledReplicas", "observedGeneration", "unavailableReplicas"};
    struct place root = place_root(object);
    struct place status = place_key(&root, "status");
    int64_t all = jsn_get_int(status.value, "replicas", 0);

    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        struct place at = place_key(&status, counts[i]);

        check_nonnegative(cs, &at);
        if (i > 0 && i < 6 && place_int(&at, 0) > all)
            place_invalid(cs, &at, "cannot be greater than status.replicas");
    }
}

struct jsn *workload_rolling(struct arena *a, struct jsn *spec, const char *strategy)
{
    struct jsn *s = jsn_ensure_object(a, spec, strategy);
    const char *type = jsn_get_str(s, "type");

    if (!type || type[0] == '\0')
        jsn_set_str(a, s, "type", "RollingUpdate");
    if (!streq(jsn_get_str(s, "type"), "RollingUpdate"))
        return NULL;
    return jsn_ensure_object(a, s, "rollingUpdate");
}

void workload_default(struct arena *a, struct jsn *object, const char *key, struct jsn *value)
{
    const struct jsn *v = jsn_key(object, key);

    if (!v || v->type == JSN_NULL)
        jsn_set(a, object, key, value);
}
