/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pod disruption budgets, leases and priority classes: small kinds with a rule or two.
 *
 * A budget has minAvailable or maxUnavailable, not both; what it allows is worked out in
 * eviction.c. A lease must be renewed with its version, so that two holders cannot both win.  The
 * value of a priority class never changes: pods have copied it.
 */
#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/kinds/labelselector.h"

static void check_share(struct causes *cs, const struct place *at)
{
    if (!place_given(at))
        return;
    check_count_or_percent(cs, at);
    check_at_most_100_percent(cs, at);
}

static void budget_validate(struct causes *cs, const struct jsn *object)
{
    static const char *const counts[] = {"disruptionsAllowed", "currentHealthy", "desiredHealthy",
                                         "expectedPods"};
    static const char *const policies[] = {"AlwaysAllow", "IfHealthyBudget", NULL};
    struct place root = place_root(object);
    struct place spec = place_key(&root, "spec");
    struct place status = place_key(&root, "status");
    struct place min = place_key(&spec, "minAvailable");
    struct place max = place_key(&spec, "maxUnavailable");
    struct place selector = place_key(&spec, "selector");
    struct place policy = place_key(&spec, "unhealthyPodEvictionPolicy");

    if (place_given(&min) && place_given(&max))
        place_invalid(cs, &spec, "minAvailable and maxUnavailable cannot be both set");
    check_share(cs, &min);
    check_share(cs, &max);
    labelselector_check(cs, &selector);
    check_enum(cs, &policy, policies);
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        struct place at = place_key(&status, counts[i]);

        check_nonnegative(cs, &at);
    }
}

static void lease_validate(struct causes *cs, const struct jsn *object)
{
    struct place root = place_root(object);
    struct place spec = place_key(&root, "spec");
    struct place duration = place_key(&spec, "leaseDurationSeconds");
    struct place transitions = place_key(&spec, "leaseTransitions");

    if (place_given(&duration))
        check_positive(cs, &duration);
    check_nonnegative(cs, &transitions);
}

static bool known_system_class(const char *name, int64_t value)
{
    return (streq(name, "system-cluster-critical") && value == 2000000000) ||
           (streq(name, "system-node-critical") && value == 2000001000);
}

static void class_validate(struct causes *cs, const struct jsn *object)
{
    static const char *const policies[] = {"PreemptLowerPriority", "Never", NULL};
    const char *name = kind_text(object, "metadata.name");
    int64_t value = jsn_get_int(object, "value", 0);
    struct place root = place_root(object);
    struct place policy = place_key(&root, "preemptionPolicy");

    if (starts_with(name, "system-")) {
        if (!known_system_class(name, value))
            cause_forbidden(cs, "metadata.name",
                            "priority class names with 'system-' prefix are reserved for system "
                            "use only. error: %s is not a known system priority class",
                            name);
    } else if (value > 1000000000) {
        cause_forbidden(cs, "value",
                        "maximum allowed value of a user defined priority is 1000000000");
    }
    check_enum(cs, &policy, policies);
}

static void class_validate_update(struct causes *cs, const struct jsn *object,
                                  const struct jsn *old)
{
    struct place root = place_root(object);
    struct place policy = place_key(&root, "preemptionPolicy");

    if (jsn_get_int(object, "value", 0) != jsn_get_int(old, "value", 0))
        cause_forbidden(cs, "value", "may not be changed in an update.");
    check_immutable(cs, &policy, jsn_key(old, "preemptionPolicy"));
}

const struct strategy strategy_poddisruptionbudgets = {
    .resource = "poddisruptionbudgets.policy",
    .status_reset = true,
    .needs_version = true,
    .validate = budget_validate,
};

const struct strategy strategy_leases = {
    .resource = "leases.coordination.k8s.io",
    .no_generation = true,
    .create_on_update = true,
    .needs_version = true,
    .validate = lease_validate,
};

const struct strategy strategy_priorityclasses = {
    .resource = "priorityclasses.scheduling.k8s.io",
    .validate = class_validate,
    .validate_update = class_validate_update,
};
