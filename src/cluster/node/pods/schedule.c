/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scheduling on one node: the checks of a scheduler without the choice.
 *
 * In order: the node takes pods at all (cordon, taints), the pod wants such a node (nodeSelector,
 * required node affinity), and what the pod asks for is left.  All that fails for want of resources
 * is named at once, as a scheduler does.
 *
 * One machine stands in for many here, so processors are shared: a pod may ask for as many as there
 * are, whatever others have asked for.  Memory cannot be shared.
 */
#include "src/cluster/node/pods/schedule.h"

#include "src/json/selector.h"

static bool tolerates(const struct jsn *pod, const struct jsn *taint)
{
    const char *key = jsn_get_str(taint, "key");
    const char *value = jsn_get_str(taint, "value");
    const char *effect = jsn_get_str(taint, "effect");

    JSN_FOR_ITEMS (t, jsn_get(pod, "spec.tolerations")) {
        const char *t_key = jsn_get_str(t, "key");
        const char *t_effect = jsn_get_str(t, "effect");
        const char *t_value = jsn_get_str(t, "value");

        if (t_effect && t_effect[0] && !streq(t_effect, effect))
            continue;
        if (streq(jsn_get_str(t, "operator"), "Exists")) {
            if (!t_key || !t_key[0] || streq(t_key, key))
                return true;
        } else if (streq(t_key, key) && streq(t_value ? t_value : "", value ? value : "")) {
            return true;
        }
    }
    return false;
}

static int check_taints(const struct jsn *pod, const struct jsn *node, struct buf *why)
{
    JSN_FOR_ITEMS (t, jsn_get(node, "spec.taints")) {
        const char *value = jsn_get_str(t, "value");

        if (streq(jsn_get_str(t, "effect"), "PreferNoSchedule") || tolerates(pod, t))
            continue;
        buf_printf(why, "1 node(s) had untolerated taint {%s: %s}", jsn_get_str(t, "key"),
                   value ? value : "");
        return 1;
    }
    return 0;
}

static bool has_labels(const struct jsn *node, const struct jsn *wanted)
{
    const struct jsn *labels = jsn_get(node, "metadata.labels");

    JSN_FOR_MEMBERS (m, wanted)
        if (!streq(jsn_text(jsn_member(labels, m->key)), jsn_text(m->value)))
            return false;
    return true;
}

/* One term of required affinity: its matchExpressions over labels, matchFields over the name. */
static bool term_matches(const struct jsn *node, const struct jsn *term)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *only = jsn_object(&a);
    struct selector *s;

    JSN_FOR_ITEMS (f, jsn_key(term, "matchFields")) {
        bool in = false;

        JSN_FOR_ITEMS (v, jsn_key(f, "values"))
            in = in || streq(jsn_text(v), jsn_get_str(node, "metadata.name"));
        if (in != streq(jsn_get_str(f, "operator"), "In"))
            return false;
    }
    if (!jsn_len(jsn_key(term, "matchExpressions")))
        return jsn_len(jsn_key(term, "matchFields")) > 0;
    jsn_set(&a, only, "matchExpressions", jsn_key(term, "matchExpressions"));
    return selector_from_object(&a, only, &s, NULL) == 0 &&
           selector_match_labels(s, jsn_get(node, "metadata.labels"));
}

static bool affinity_matches(const struct jsn *pod, const struct jsn *node)
{
    const struct jsn *terms = jsn_get(pod, "spec.affinity.nodeAffinity."
                                           "requiredDuringSchedulingIgnoredDuringExecution."
                                           "nodeSelectorTerms");

    JSN_FOR_ITEMS (t, terms)
        if (term_matches(node, t))
            return true;
    return jsn_len(terms) == 0;
}

static int check_resources(const struct jsn *pod, const struct schedule_view *v, struct buf *why)
{
    const struct jsn *have = jsn_get(v->node, "status.allocatable");
    struct pod_demand ask = limits_demand(jsn_key(pod, "spec"));
    size_t before = why->n;

    if (v->pods + 1 > limits_value(have, "pods", 110))
        buf_adds(why, "1 Too many pods");
    if (ask.cpu_milli > 0 && ask.cpu_milli > limits_milli(have, "cpu", 0))
        buf_printf(why, "%s1 Insufficient cpu", why->n > before ? ", " : "");
    if (ask.memory_bytes > 0 &&
        v->used.memory_bytes + ask.memory_bytes > limits_value(have, "memory", 0))
        buf_printf(why, "%s1 Insufficient memory", why->n > before ? ", " : "");
    return why->n > before;
}

static int check(const struct jsn *pod, const struct schedule_view *v, struct buf *why)
{
    int r = 0;

    if (jsn_get_bool(v->node, "spec.unschedulable", false)) {
        buf_adds(why, "1 node(s) were unschedulable");
        return 1;
    }
    r = check_taints(pod, v->node, why);
    if (r)
        return r;
    if (!has_labels(v->node, jsn_get(pod, "spec.nodeSelector")) ||
        !affinity_matches(pod, v->node)) {
        buf_adds(why, "1 node(s) didn't match Pod's node affinity/selector");
        return 1;
    }
    return check_resources(pod, v, why);
}

int schedule_fits(const struct jsn *pod, const struct schedule_view *v, struct buf *why)
{
    int r;

    if (!v->node) {
        buf_adds(why, "no nodes available to schedule pods");
        return 1;
    }
    buf_adds(why, "0/1 nodes are available: ");
    r = check(pod, v, why);
    if (r)
        buf_addc(why, '.');
    else
        buf_clear(why);
    return r;
}

bool schedule_counts(const struct jsn *pod)
{
    const char *node = jsn_get_str(pod, "spec.nodeName");
    const char *phase = jsn_get_str(pod, "status.phase");

    return node && node[0] && !streq(phase, "Succeeded") && !streq(phase, "Failed");
}
