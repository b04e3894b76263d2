/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deployments, replica sets and replication controllers.
 *
 * The selector of the first two is fixed for life.  A replication controller has its selector as a
 * plain map, and takes it from the template's labels where none is given.
 */
#include "src/cluster/apiserver/gotext.h"
#include "src/cluster/apiserver/kinds/labelselector.h"
#include "src/cluster/apiserver/kinds/podspec.h"
#include "src/cluster/apiserver/kinds/workload.h"

static void deployment_defaults(struct arena *a, struct jsn *object)
{
    struct jsn *spec = jsn_ensure_object(a, object, "spec");
    struct jsn *rolling = workload_rolling(a, spec, "strategy");

    if (rolling) {
        workload_default(a, rolling, "maxUnavailable", jsn_string(a, "25%"));
        workload_default(a, rolling, "maxSurge", jsn_string(a, "25%"));
    }
    podtemplate_default(a, spec, "template");
}

static void check_rolling(struct causes *cs, const struct place *rolling)
{
    struct place unavailable = place_key(rolling, "maxUnavailable");
    struct place surge = place_key(rolling, "maxSurge");

    check_count_or_percent(cs, &unavailable);
    check_count_or_percent(cs, &surge);
    if (check_is_zero(&unavailable) && check_is_zero(&surge))
        place_invalid_text(cs, &unavailable, gotext_value(cs->arena, unavailable.value),
                           "may not be 0 when `maxSurge` is 0");
    check_at_most_100_percent(cs, &unavailable);
}

static void check_strategy(struct causes *cs, const struct place *strategy)
{
    static const char *const types[] = {"Recreate", "RollingUpdate", NULL};
    struct place type = place_key(strategy, "type");
    struct place rolling = place_key(strategy, "rollingUpdate");
    const char *t = place_str(&type);

    if (streq(t, "Recreate")) {
        if (place_given(&rolling))
            place_forbidden(cs, &rolling,
                            "may not be specified when strategy `type` is "
                            "'Recreate'");
    } else if (streq(t, "RollingUpdate")) {
        check_rolling(cs, &rolling);
    } else {
        place_unsupported_text(cs, strategy, gotext_strategy(cs->arena, t), types);
    }
}

/* A Deployment and its ReplicaSets are refused for the same reasons, in the same words. */
static const struct workload_rules rules = {.what = "deployment",
                                            .kind = "ReplicaSet",
                                            .template_whole = true,
                                            .bad_selector = "invalid label selector"};

static void deployment_validate(struct causes *cs, const struct jsn *object)
{
    struct place root = place_root(object);
    struct place spec = place_key(&root, "spec");
    struct place strategy = place_key(&spec, "strategy");
    struct place deadline = place_key(&spec, "progressDeadlineSeconds");
    struct place ready = place_key(&spec, "minReadySeconds");

    workload_check(cs, &spec, &rules);
    check_strategy(cs, &strategy);
    check_nonnegative(cs, &deadline);
    if (place_given(&deadline) && place_int(&deadline, 0) <= place_int(&ready, 0))
        place_invalid(cs, &deadline, "must be greater than minReadySeconds");
    workload_status_check(cs, object);
}

static void replicaset_defaults(struct arena *a, struct jsn *object)
{
    podtemplate_default(a, jsn_ensure_object(a, object, "spec"), "template");
}

static void replicaset_validate(struct causes *cs, const struct jsn *object)
{
    struct place root = place_root(object);
    struct place spec = place_key(&root, "spec");

    workload_check(cs, &spec, &rules);
    workload_status_check(cs, object);
}

static void controller_defaults(struct arena *a, struct jsn *object)
{
    struct jsn *spec = jsn_ensure_object(a, object, "spec");
    struct jsn *meta = jsn_ensure_object(a, object, "metadata");
    const struct jsn *labels = jsn_get(spec, "template.metadata.labels");

    if (jsn_len(labels) > 0 && jsn_len(jsn_key(spec, "selector")) == 0)
        jsn_set(a, spec, "selector", jsn_clone(a, labels));
    if (jsn_len(labels) > 0 && jsn_len(jsn_key(meta, "labels")) == 0)
        jsn_set(a, meta, "labels", jsn_clone(a, labels));
    podtemplate_default(a, spec, "template");
}

static void controller_validate(struct causes *cs, const struct jsn *object)
{
    static const char *const always[] = {"Always", NULL};
    struct place root = place_root(object);
    struct place spec = place_key(&root, "spec");
    struct place replicas = place_key(&spec, "replicas");
    struct place ready = place_key(&spec, "minReadySeconds");
    struct place selector = place_key(&spec, "selector");
    struct place template = place_key(&spec, "template");
    struct place meta = place_key(&template, "metadata");
    struct place labels = place_key(&meta, "labels");
    struct place pod = place_key(&template, "spec");
    struct place restart = place_key(&pod, "restartPolicy");

    check_nonnegative(cs, &ready);
    if (jsn_len(selector.value) == 0)
        place_required(cs, &selector, NULL);
    check_nonnegative(cs, &replicas);
    if (!place_given(&template)) {
        place_required(cs, &template, NULL);
        return;
    }
    if (!labelmap_match(selector.value, labels.value))
        place_invalid_text(cs, &labels, gotext_map(cs->arena, labels.value),
                           "`selector` does not match template `labels`");
    podtemplate_check(cs, &template);
    if (place_filled(&restart) && !streq(place_str(&restart), "Always"))
        place_unsupported(cs, &restart, always);
    workload_status_check(cs, object);
}

static void template_defaults(struct arena *a, struct jsn *object)
{
    podtemplate_default(a, object, "template");
}

static void template_validate(struct causes *cs, const struct jsn *object)
{
    struct place root = place_root(object);
    struct place template = place_key(&root, "template");

    podtemplate_check(cs, &template);
}

const struct strategy strategy_deployments = {
    .resource = "deployments.apps",
    .annotations_count = true,
    .status_reset = true,
    .set_defaults = deployment_defaults,
    .validate = deployment_validate,
    .validate_update = workload_selector_check,
};

const struct strategy strategy_replicasets = {
    .resource = "replicasets.apps",
    .status_reset = true,
    .set_defaults = replicaset_defaults,
    .validate = replicaset_validate,
    .validate_update = workload_selector_check,
};

const struct strategy strategy_replicationcontrollers = {
    .resource = "replicationcontrollers",
    .status_reset = true,
    .set_defaults = controller_defaults,
    .validate = controller_validate,
};

const struct strategy strategy_podtemplates = {
    .resource = "podtemplates",
    .deletes_to_object = true,
    .set_defaults = template_defaults,
    .validate = template_validate,
};
