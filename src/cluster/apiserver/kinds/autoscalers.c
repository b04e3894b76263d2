/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Horizontal pod autoscalers.
 *
 * They are kept, checked and listed, so that manifests that have one can be applied; nothing here
 * measures pods or acts on an autoscaler.  One without metrics gets a target for CPU, one with a
 * behavior gets the rules that it leaves out.
 */
#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/json/quantity.h"

#define CPU_PERCENT 80
#define PERIOD_S 15
#define UP_PODS 4

static struct jsn *policy(struct arena *a, const char *type, int64_t value)
{
    struct jsn *o = jsn_object(a);

    jsn_set_str(a, o, "type", type);
    jsn_set_int(a, o, "value", value);
    jsn_set_int(a, o, "periodSeconds", PERIOD_S);
    return o;
}

/* Up: four pods or twice as many in a period, at once.  Down: any number, by the server's window.
 */
static void default_rules(struct arena *a, struct jsn *behavior, const char *direction)
{
    bool up = streq(direction, "scaleUp");
    struct jsn *rules = jsn_ensure_object(a, behavior, direction);
    struct jsn *policies = jsn_array(a);

    if (up && !jsn_key(rules, "stabilizationWindowSeconds"))
        jsn_set_int(a, rules, "stabilizationWindowSeconds", 0);
    if (!jsn_key(rules, "selectPolicy"))
        jsn_set_str(a, rules, "selectPolicy", "Max");
    if (jsn_key(rules, "policies"))
        return;
    if (up)
        jsn_append(a, policies, policy(a, "Pods", UP_PODS));
    jsn_append(a, policies, policy(a, "Percent", 100));
    jsn_set(a, rules, "policies", policies);
}

static struct jsn *cpu_metric(struct arena *a)
{
    struct jsn *o = jsn_object(a);
    struct jsn *resource = jsn_ensure_object(a, o, "resource");
    struct jsn *target = jsn_ensure_object(a, resource, "target");

    jsn_set_str(a, o, "type", "Resource");
    jsn_set_str(a, resource, "name", "cpu");
    jsn_set_str(a, target, "type", "Utilization");
    jsn_set_int(a, target, "averageUtilization", CPU_PERCENT);
    return o;
}

static void set_defaults(struct arena *a, struct jsn *object)
{
    struct jsn *spec = jsn_ensure_object(a, object, "spec");
    struct jsn *behavior = jsn_key(spec, "behavior");
    struct jsn *metrics = jsn_array(a);

    if (jsn_len(jsn_key(spec, "metrics")) == 0) {
        jsn_append(a, metrics, cpu_metric(a));
        jsn_set(a, spec, "metrics", metrics);
    }
    if (!jsn_is(behavior, JSN_OBJECT))
        return;
    default_rules(a, behavior, "scaleUp");
    default_rules(a, behavior, "scaleDown");
}

static void check_counts(struct causes *cs, const struct place *spec)
{
    struct place min = place_key(spec, "minReplicas");
    struct place max = place_key(spec, "maxReplicas");
    int64_t most = place_int(&max, 0);

    if (place_given(&min) && place_int(&min, 0) < 1)
        place_invalid(cs, &min, "must be greater than or equal to 1");
    if (most == 0)
        place_required(cs, &max, "must be set and greater than 0");
    if (place_given(&min) && most < place_int(&min, 0))
        place_invalid(cs, &max, "must be greater than or equal to `minReplicas`");
}

static void check_reference(struct causes *cs, const struct place *at)
{
    struct place kind = place_key(at, "kind");
    struct place name = place_key(at, "name");

    (void)check_filled(cs, &kind, NULL);
    (void)check_filled(cs, &name, NULL);
}

static void check_above_zero(struct causes *cs, const struct place *at)
{
    static const struct quantity zero = {0};
    struct quantity q;

    if (jsn_text(at->value) && quantity_parse(str_of(jsn_text(at->value)), &q, NULL) == 0 &&
        quantity_cmp(&q, &zero) <= 0)
        place_invalid(cs, at, "must be positive");
}

static void check_target(struct causes *cs, const struct place *target)
{
    static const char *const types[] = {"Utilization", "Value", "AverageValue", NULL};
    struct place type = place_key(target, "type");
    struct place value = place_key(target, "value");
    struct place average = place_key(target, "averageValue");
    struct place share = place_key(target, "averageUtilization");

    if (check_filled(cs, &type, "must specify a metric target type") &&
        !strings_have(types, place_str(&type)))
        place_invalid(cs, &type, "must be either Utilization, Value, or AverageValue");
    check_above_zero(cs, &value);
    check_above_zero(cs, &average);
    if (place_given(&share) && place_int(&share, 0) < 1)
        place_invalid(cs, &share, "must be greater than 0");
}

/* CPU or memory: in absolute numbers or as a share of what the pods have asked for. */
static void check_resource(struct causes *cs, const struct place *source)
{
    struct place name = place_key(source, "name");
    struct place target = place_key(source, "target");
    struct place average = place_key(&target, "averageValue");
    struct place share = place_key(&target, "averageUtilization");

    (void)check_filled(cs, &name, "must specify a resource name");
    check_target(cs, &target);
    if (!place_given(&average) && !place_given(&share))
        place_required(cs, &share, "must set either a target raw value or a target utilization");
    if (place_given(&average) && place_given(&share))
        place_forbidden(cs, &average,
                        "may not set both a target raw value and a target utilization");
}

static void check_measured(struct causes *cs, const struct place *source)
{
    struct place metric = place_key(source, "metric");
    struct place name = place_key(&metric, "name");
    struct place target = place_key(source, "target");

    (void)check_filled(cs, &name, "must specify a metric name");
    check_target(cs, &target);
}

/* The source that the type names, and no other. */
static void check_metric(struct causes *cs, const struct place *metric)
{
    static const struct {
        const char *type, *member;
        void (*check)(struct causes *cs, const struct place *source);
    } sources[] = {
        {"ContainerResource", "containerResource", check_resource},
        {"External", "external", check_measured},
        {"Object", "object", check_measured},
        {"Pods", "pods", check_measured},
        {"Resource", "resource", check_resource},
    };
    static const char *const types[] = {"ContainerResource", "External", "Object", "Pods",
                                        "Resource",          NULL};
    struct place type = place_key(metric, "type");

    if (!check_filled(cs, &type, "must specify a metric source type"))
        return;
    if (!strings_have(types, place_str(&type))) {
        place_unsupported(cs, &type, types);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        struct place source = place_key(metric, sources[i].member);
        bool meant = streq(place_str(&type), sources[i].type);

        if (meant && place_given(&source))
            sources[i].check(cs, &source);
        else if (meant)
            place_required(cs, &source, "must populate information for the given metric source");
        else if (place_given(&source))
            place_forbidden(cs, &source, "must populate the given metric source only");
    }
}

static void validate(struct causes *cs, const struct jsn *object)
{
    struct place root = place_root(object);
    struct place spec = place_key(&root, "spec");
    struct place target = place_key(&spec, "scaleTargetRef");
    struct place metrics = place_key(&spec, "metrics");

    check_counts(cs, &spec);
    check_reference(cs, &target);
    PLACE_FOR_ITEMS (metric, &metrics)
        check_metric(cs, &metric);
}

const struct strategy strategy_autoscalers = {
    .resource = "horizontalpodautoscalers.autoscaling",
    .status_reset = true,
    .set_defaults = set_defaults,
    .validate = validate,
};
