/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The status of a disruption budget.
 *
 * Evictions count for themselves at the moment of the decision; the status is for people and for
 * clients that look before they ask.  Pods whose eviction was granted are listed in it until they
 * are gone, or until the time has passed in which they should have gone.
 */
#include "src/cluster/workloads/budget.h"

#include "src/base/clock.h"
#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/pod.h"

#define RESOURCE "poddisruptionbudgets.policy"
#define EVICTED_FOR_US (120LL * 1000000)

static int64_t wanted_in(const struct jsn *list, const struct jsn *owner)
{
    JSN_FOR_ITEMS (o, list)
        if (streq(object_uid(o), jsn_get_str(owner, "uid")))
            return jsn_get_int(o, "spec.replicas", 1);
    return -1;
}

static int64_t replicas_of(void *arg, const struct jsn *owner)
{
    const struct budget_view *v = arg;
    int64_t n = wanted_in(v->statefulsets, owner);

    return n >= 0 ? n : wanted_in(v->replicasets, owner);
}

static bool is_there(const struct jsn *pods, struct str name)
{
    JSN_FOR_ITEMS (pod, pods)
        if (str_eqz(name, object_name(pod)) && !object_deleting(pod))
            return true;
    return false;
}

/* The pods that are still on their way out. */
static void keep_disrupted(struct plan *p, struct jsn *status, const struct jsn *pods)
{
    struct jsn *kept = jsn_object(p->arena);

    JSN_FOR_MEMBERS (m, jsn_key(status, "disruptedPods")) {
        const char *since = jsn_text(m->value);
        int64_t us;

        if (!since || clock_parse_rfc3339(str_of(since), &us) < 0 || !is_there(pods, m->key) ||
            p->now_us - us >= EVICTED_FOR_US)
            continue;
        jsn_set_member(p->arena, kept, m->key, m->value);
        plan_again(p, (us + EVICTED_FOR_US - p->now_us) / 1000 + 1);
    }
    if (jsn_len(kept))
        jsn_set(p->arena, status, "disruptedPods", kept);
    else
        (void)jsn_del(status, "disruptedPods");
}

static void set_condition(struct plan *p, const struct jsn *budget, struct jsn *status,
                          bool allowed)
{
    const struct jsn *old = pod_condition(budget, "DisruptionAllowed");
    const char *value = allowed ? "True" : "False";
    const char *since =
        streq(jsn_get_str(old, "status"), value) ? jsn_get_str(old, "lastTransitionTime") : NULL;
    struct jsn *list = jsn_array(p->arena);
    struct jsn *o = jsn_object(p->arena);

    jsn_set_str(p->arena, o, "type", "DisruptionAllowed");
    jsn_set_str(p->arena, o, "status", value);
    jsn_set_int(p->arena, o, "observedGeneration", jsn_get_int(budget, "metadata.generation", 0));
    jsn_set_str(p->arena, o, "lastTransitionTime", since ? since : plan_now(p));
    jsn_set_str(p->arena, o, "reason", allowed ? "SufficientPods" : "InsufficientPods");
    jsn_set_str(p->arena, o, "message", "");
    JSN_FOR_ITEMS (c, jsn_key(status, "conditions"))
        if (!streq(jsn_get_str(c, "type"), "DisruptionAllowed"))
            jsn_append(p->arena, list, c);
    jsn_append(p->arena, list, o);
    jsn_set(p->arena, status, "conditions", list);
}

void budget_plan(struct plan *p, const struct budget_view *v)
{
    struct budget_view copy = *v;
    struct eviction_view seen = {.pods = v->pods, .replicas = replicas_of, .arg = &copy};
    struct jsn *changed = jsn_clone(p->arena, v->budget);
    struct jsn *status = jsn_ensure_object(p->arena, changed, "status");
    struct eviction_count n;

    if (object_deleting(v->budget))
        return;
    n = eviction_count(p->arena, v->budget, &seen, p->now_us);
    eviction_set_status(p->arena, changed, &n);
    keep_disrupted(p, status, v->pods);
    set_condition(p, v->budget, status, n.allowed > 0);
    plan_status(p, RESOURCE, v->budget, status);
}
