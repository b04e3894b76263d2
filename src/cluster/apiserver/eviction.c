/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evictions.
 *
 * A pod may be evicted if the disruption budget that selects it still allows one to go.  Kubernetes
 * trusts the status that a controller wrote into the budget; here the pods are counted at the
 * moment of the decision, which cannot be stale: one server decides, one request at a time.  What
 * was decided is noted in the budget's status as Kubernetes does it: one disruption less, and the
 * pod among those that are on their way out.
 *
 * Pods that have ended, are pending or are being deleted go without asking.  So does one that is
 * not ready while enough others are.  Two budgets for one pod are refused.
 */
#include "src/cluster/apiserver/eviction.h"

#include "src/base/clock.h"
#include "src/base/map.h"
#include "src/cluster/apiserver/kinds/labelselector.h"
#include "src/cluster/apiserver/status.h"

/* An eviction that has not led to a deletion by then does not count any more. */
#define EVICTED_FOR_US (120LL * 1000000)

static const char *text_at(const struct jsn *object, const char *path)
{
    const char *s = jsn_get_str(object, path);

    return s ? s : "";
}

static bool is_ready(const struct jsn *pod)
{
    JSN_FOR_ITEMS (c, jsn_get(pod, "status.conditions"))
        if (streq(jsn_get_str(c, "type"), "Ready"))
            return streq(jsn_get_str(c, "status"), "True");
    return false;
}

static bool is_over(const struct jsn *pod)
{
    const char *phase = text_at(pod, "status.phase");

    return streq(phase, "Succeeded") || streq(phase, "Failed");
}

bool eviction_selects(struct arena *a, const struct jsn *budget, const struct jsn *pod)
{
    const struct jsn *selector = jsn_get(budget, "spec.selector");

    return !labelselector_empty(selector) &&
           labelselector_match(a, selector, jsn_get(pod, "metadata.labels"));
}

static bool on_its_way(const struct jsn *budget, const struct jsn *pod, int64_t now_us)
{
    const char *since =
        jsn_text(jsn_key(jsn_get(budget, "status.disruptedPods"), text_at(pod, "metadata.name")));
    int64_t us;

    return since && clock_parse_rfc3339(str_of(since), &us) == 0 && now_us - us < EVICTED_FOR_US;
}

static const struct jsn *controller_of(const struct jsn *pod)
{
    JSN_FOR_ITEMS (owner, jsn_get(pod, "metadata.ownerReferences"))
        if (jsn_get_bool(owner, "controller", false))
            return owner;
    return NULL;
}

/* Pods that should be there: what each workload wants, and every pod that has none. */
struct expectation {
    struct map owners; /* uids that have been counted */
    int64_t n;
};

static void expect(struct expectation *x, const struct jsn *pod, const struct eviction_view *v)
{
    const struct jsn *owner = controller_of(pod);
    const char *uid = text_at(owner, "uid");
    int64_t replicas = owner && v->replicas ? v->replicas(v->arg, owner) : -1;

    if (replicas < 0)
        x->n++;
    else if (map_put(&x->owners, str_of(uid), x))
        x->n += replicas;
}

/* A count, or a percentage of `of` rounded up. */
static int64_t share_of(const struct jsn *v, int64_t of)
{
    struct str s = str_of(jsn_text(v));
    int64_t percent;

    if (jsn_is(v, JSN_INT))
        return v->i;
    if (s.n < 2 || str_to_i64((struct str){s.p, s.n - 1}, &percent) < 0)
        return 0;
    return (of * percent + 99) / 100;
}

struct eviction_count eviction_count(struct arena *a, const struct jsn *budget,
                                     const struct eviction_view *v, int64_t now_us)
{
    const struct jsn *min = jsn_get(budget, "spec.minAvailable");
    const struct jsn *max = jsn_get(budget, "spec.maxUnavailable");
    struct expectation x = {0};
    struct eviction_count n = {0};
    int64_t present = 0;

    JSN_FOR_ITEMS (pod, v->pods) {
        if (is_over(pod) || !eviction_selects(a, budget, pod))
            continue;
        present++;
        expect(&x, pod, v);
        n.healthy += is_ready(pod) && !jsn_get_str(pod, "metadata.deletionTimestamp") &&
                     !on_its_way(budget, pod, now_us);
    }
    n.expected = x.n;
    if (max) {
        n.desired = MAX(x.n - share_of(max, x.n), 0);
    } else if (min) {
        if (jsn_is(min, JSN_INT))
            n.expected = present;
        n.desired = share_of(min, x.n);
    }
    n.allowed = n.expected > 0 ? MAX(n.healthy - n.desired, 0) : 0;
    map_done(&x.owners);
    return n;
}

void eviction_set_status(struct arena *a, struct jsn *budget, const struct eviction_count *n)
{
    struct jsn *status = jsn_ensure_object(a, budget, "status");

    jsn_set_int(a, status, "observedGeneration", jsn_get_int(budget, "metadata.generation", 0));
    jsn_set_int(a, status, "disruptionsAllowed", n->allowed);
    jsn_set_int(a, status, "currentHealthy", n->healthy);
    jsn_set_int(a, status, "desiredHealthy", n->desired);
    jsn_set_int(a, status, "expectedPods", n->expected);
}

static bool needs_no_budget(const struct jsn *pod)
{
    return is_over(pod) || streq(jsn_get_str(pod, "status.phase"), "Pending") ||
           jsn_get_str(pod, "metadata.deletionTimestamp");
}

static int refuse(struct api_call *c, const struct jsn *budget, const struct eviction_count *n)
{
    (void)status_too_many(c, 0,
                          "Cannot evict pod as it would violate the pod's disruption budget.");
    status_add_cause(c, "DisruptionBudget", NULL,
                     arena_printf(&c->arena,
                                  "The disruption budget %s needs %lld healthy pods and has %lld "
                                  "currently",
                                  text_at(budget, "metadata.name"), (long long)n->desired,
                                  (long long)n->healthy));
    return -1;
}

/* Not ready: it goes if the rest is healthy enough, or if the budget does not care. */
static bool may_go_unready(const struct jsn *budget, const struct jsn *pod,
                           const struct eviction_count *n)
{
    if (is_ready(pod))
        return false;
    if (streq(jsn_get_str(budget, "spec.unhealthyPodEvictionPolicy"), "AlwaysAllow"))
        return true;
    return n->desired > 0 && n->healthy >= n->desired;
}

static struct jsn *note_eviction(struct api_call *c, const struct jsn *budget,
                                 const struct jsn *pod, struct eviction_count n, int64_t now_us)
{
    struct jsn *b = jsn_clone(&c->arena, budget);
    char now[CLOCK_RFC3339_LEN];
    struct jsn *status;

    n.allowed--;
    eviction_set_status(&c->arena, b, &n);
    status = jsn_key(b, "status");
    clock_rfc3339(now_us, now);
    jsn_set_str(&c->arena, jsn_ensure_object(&c->arena, status, "disruptedPods"),
                text_at(pod, "metadata.name"), now);
    return b;
}

int eviction_decide(struct api_call *c, const struct jsn *pod, const struct eviction_view *v,
                    int64_t now_us, struct jsn **ret_budget)
{
    const struct jsn *budget = NULL;
    struct eviction_count n;

    *ret_budget = NULL;
    if (needs_no_budget(pod))
        return 0;
    JSN_FOR_ITEMS (b, v->budgets) {
        if (!eviction_selects(&c->arena, b, pod))
            continue;
        if (budget)
            return status_fail(c, 500, "InternalError",
                               "This pod has more than one PodDisruptionBudget, which the eviction "
                               "subresource does not support.");
        budget = b;
    }
    if (!budget)
        return 0;
    n = eviction_count(&c->arena, budget, v, now_us);
    if (may_go_unready(budget, pod, &n))
        return 0;
    if (n.allowed == 0)
        return refuse(c, budget, &n);
    *ret_budget = note_eviction(c, budget, pod, n, now_us);
    return 0;
}
