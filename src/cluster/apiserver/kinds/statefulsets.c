/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stateful sets, daemon sets and their revisions.
 *
 * As in Kubernetes the pod spec in a stateful set's template is not validated: its mounts may name
 * claim templates as well as volumes.  What is wrong there shows when the first pod is made.
 */
#include "src/cluster/apiserver/gotext.h"
#include "src/cluster/apiserver/kinds/podspec.h"
#include "src/cluster/apiserver/kinds/workload.h"

/* Claim templates are whole objects: they say what they are, and get a status. */
static void default_claims(struct arena *a, struct jsn *list)
{
    JSN_FOR_ITEMS (claim, list) {
        struct jsn *spec = jsn_ensure_object(a, claim, "spec");

        jsn_set_str(a, claim, "apiVersion", "v1");
        jsn_set_str(a, claim, "kind", "PersistentVolumeClaim");
        workload_default(a, spec, "volumeMode", jsn_string(a, "Filesystem"));
        if (!jsn_get_str(claim, "status.phase"))
            jsn_set_path(a, claim, "status.phase", jsn_string(a, "Pending"));
    }
}

static void set_defaults(struct arena *a, struct jsn *object)
{
    struct jsn *spec = jsn_ensure_object(a, object, "spec");
    struct jsn *rolling = workload_rolling(a, spec, "updateStrategy");

    if (rolling)
        workload_default(a, rolling, "partition", jsn_int(a, 0));
    podtemplate_default(a, spec, "template");
    default_claims(a, jsn_key(spec, "volumeClaimTemplates"));
}

static void check_strategy(struct causes *cs, const struct place *strategy)
{
    struct place type = place_key(strategy, "type");
    struct place rolling = place_key(strategy, "rollingUpdate");
    struct place partition = place_key(&rolling, "partition");
    struct place unavailable = place_key(&rolling, "maxUnavailable");
    const char *t = place_str(&type);

    if (t[0] == '\0') {
        place_required(cs, strategy, NULL);
    } else if (streq(t, "OnDelete")) {
        if (place_given(&rolling))
            place_invalid_text(cs, &rolling,
                               arena_printf(cs->arena,
                                            "{\"Partition\":%lld,\"MaxUnavailable\":null}",
                                            (long long)place_int(&partition, 0)),
                               "only allowed for updateStrategy 'RollingUpdate'");
    } else if (streq(t, "RollingUpdate")) {
        check_nonnegative(cs, &partition);
        check_count_or_percent(cs, &unavailable);
    } else {
        place_invalid_text(cs, strategy, gotext_strategy(cs->arena, t),
                           "must be 'RollingUpdate' or 'OnDelete'");
    }
}

static void check_retention(struct causes *cs, const struct place *spec)
{
    static const char *const known[] = {"Delete", "Retain", NULL};
    struct place policy = place_key(spec, "persistentVolumeClaimRetentionPolicy");
    struct place deleted = place_key(&policy, "whenDeleted");
    struct place scaled = place_key(&policy, "whenScaled");

    check_enum(cs, &deleted, known);
    check_enum(cs, &scaled, known);
}

static void validate(struct causes *cs, const struct jsn *object)
{
    static const struct workload_rules rules = {
        .what = "statefulset", .kind = "StatefulSet", .bad_selector = ""};
    struct place root = place_root(object);
    struct place spec = place_key(&root, "spec");
    struct place policy = place_key(&spec, "podManagementPolicy");
    struct place strategy = place_key(&spec, "updateStrategy");
    struct place ordinals = place_key(&spec, "ordinals");
    struct place start = place_key(&ordinals, "start");

    if (check_filled(cs, &policy, NULL) && !streq(place_str(&policy), "OrderedReady") &&
        !streq(place_str(&policy), "Parallel"))
        place_invalid(cs, &policy, "must be 'OrderedReady' or 'Parallel'");
    check_strategy(cs, &strategy);
    check_retention(cs, &spec);
    check_nonnegative(cs, &start);
    workload_check(cs, &spec, &rules);
    workload_status_check(cs, object);
}

static void validate_update(struct causes *cs, const struct jsn *object, const struct jsn *old)
{
    static const char *const free[] = {"replicas",        "ordinals",
                                       "template",        "updateStrategy",
                                       "minReadySeconds", "persistentVolumeClaimRetentionPolicy"};
    const struct jsn *old_spec = jsn_key(old, "spec");
    struct jsn *rest = jsn_clone(cs->arena, jsn_key(object, "spec"));

    for (size_t i = 0; i < ARRAY_LEN(free); i++)
        kind_keep(cs->arena, rest, old_spec, free[i]);
    if (!check_same(rest, old_spec))
        cause_forbidden(cs, "spec",
                        "updates to statefulset spec for fields other than 'replicas', "
                        "'ordinals', 'template', 'updateStrategy', "
                        "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
                        "forbidden");
}

static void daemonset_defaults(struct arena *a, struct jsn *object)
{
    struct jsn *spec = jsn_ensure_object(a, object, "spec");
    struct jsn *rolling = workload_rolling(a, spec, "updateStrategy");

    if (rolling) {
        workload_default(a, rolling, "maxUnavailable", jsn_int(a, 1));
        workload_default(a, rolling, "maxSurge", jsn_int(a, 0));
    }
    podtemplate_default(a, spec, "template");
}

#define TEMPLATE_GENERATION "deprecated.daemonset.template.generation"

static void set_template_generation(struct arena *a, struct jsn *object, int64_t n)
{
    struct jsn *meta = jsn_ensure_object(a, object, "metadata");

    jsn_set(a, jsn_ensure_object(a, meta, "annotations"), TEMPLATE_GENERATION,
            jsn_stringf(a, "%lld", (long long)n));
}

static int daemonset_prepare_create(struct api_call *c, struct jsn *object)
{
    set_template_generation(&c->arena, object, 1);
    return 0;
}

static int daemonset_prepare_update(struct api_call *c, struct jsn *object, const struct jsn *old)
{
    const char *text = jsn_text(jsn_key(jsn_get(old, "metadata.annotations"), TEMPLATE_GENERATION));
    int64_t n = 1;

    if (text && str_to_i64(str_of(text), &n) < 0)
        n = 1;
    if (!check_same(jsn_get(object, "spec.template"), jsn_get(old, "spec.template")))
        n++;
    set_template_generation(&c->arena, object, n);
    return 0;
}

static void check_daemon_rolling(struct causes *cs, const struct place *rolling)
{
    struct place unavailable = place_key(rolling, "maxUnavailable");
    struct place surge = place_key(rolling, "maxSurge");
    bool none_away = check_is_zero(&unavailable);
    bool none_more = check_is_zero(&surge);

    check_count_or_percent(cs, &unavailable);
    check_count_or_percent(cs, &surge);
    if (none_away && none_more)
        place_invalid_text(cs, &unavailable, gotext_value(cs->arena, unavailable.value),
                           "cannot be 0 when maxSurge is 0");
    if (!none_away && !none_more)
        place_invalid_text(cs, &surge, gotext_value(cs->arena, surge.value),
                           "may not be set when maxUnavailable is non-zero");
    check_at_most_100_percent(cs, &unavailable);
}

static void daemonset_validate(struct causes *cs, const struct jsn *object)
{
    static const struct workload_rules rules = {
        .what = "daemonset",
        .kind = "DaemonSet",
        .template_whole = true,
        .selector_optional = true,
    };
    static const char *const types[] = {"RollingUpdate", "OnDelete", NULL};
    struct place root = place_root(object);
    struct place spec = place_key(&root, "spec");
    struct place strategy = place_key(&spec, "updateStrategy");
    struct place type = place_key(&strategy, "type");
    struct place rolling = place_key(&strategy, "rollingUpdate");

    workload_check(cs, &spec, &rules);
    if (streq(place_str(&type), "RollingUpdate"))
        check_daemon_rolling(cs, &rolling);
    else if (!streq(place_str(&type), "OnDelete"))
        place_unsupported_text(cs, &strategy, gotext_strategy(cs->arena, place_str(&type)), types);
}

static void revision_validate(struct causes *cs, const struct jsn *object)
{
    struct place root = place_root(object);
    struct place data = place_key(&root, "data");
    struct place revision = place_key(&root, "revision");

    if (!place_given(&data))
        place_required(cs, &data, "data is mandatory");
    check_nonnegative(cs, &revision);
}

static void revision_validate_update(struct causes *cs, const struct jsn *object,
                                     const struct jsn *old)
{
    struct place root = place_root(object);
    struct place data = place_key(&root, "data");

    if (!jsn_equal(data.value, jsn_key(old, "data")))
        place_invalid(cs, &data, "field is immutable");
}

const struct strategy strategy_statefulsets = {
    .resource = "statefulsets.apps",
    .status_reset = true,
    .set_defaults = set_defaults,
    .validate = validate,
    .validate_update = validate_update,
};

const struct strategy strategy_daemonsets = {
    .resource = "daemonsets.apps",
    .status_reset = true,
    .set_defaults = daemonset_defaults,
    .prepare_create = daemonset_prepare_create,
    .prepare_update = daemonset_prepare_update,
    .validate = daemonset_validate,
    .validate_update = workload_selector_check,
};

const struct strategy strategy_controllerrevisions = {
    .resource = "controllerrevisions.apps",
    .no_generation = true,
    .validate = revision_validate,
    .validate_update = revision_validate_update,
};
