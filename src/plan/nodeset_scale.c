/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many pods, and which.
 *
 * Up: the lowest free ordinals.  A pod that is being deleted keeps its ordinal until it is gone, so
 * that names stay and no further one is opened meanwhile.
 * Down, and out of date: only pods that are free (see pods.c).  Others have their Slurm nodes
 * drained first.  Not knowing counts as busy, so without a word from Slurm a running pod is never
 * taken away; it is counted as waiting. A pod whose containers have ended for good is replaced.
 *
 * No more pods are made than the cluster may have nodes, and none while many are waiting for a
 * machine: what cannot run would only fill the API server.
 */
#include "src/api/node_count.h"
#include "src/build/nodeset_pod.h"
#include "src/plan/nodeset_private.h"

struct sorter {
    const char *set;
    const struct slurm_state *slurm;
    int64_t now_us;
};

static int by_order(const void *a, const void *b, void *arg)
{
    const struct sorter *s = arg;

    return plan_pod_deletion_order(*(const struct plan_pod *const *)a,
                                   *(const struct plan_pod *const *)b, s->set, s->slurm, s->now_us);
}

/* It waits for the machine that it is pinned to, and that is gone: another one has to be made. */
static bool is_stranded(struct arena *a, const struct plan_nodeset *in, const struct plan_pod *p)
{
    int64_t ordinal;

    if (in->n_gone == 0 || p->phase != POD_PENDING || p->node_name)
        return false;
    ordinal = plan_pod_ordinal(p, in->ns->meta.name);
    return nodeset_is_gone(in, jsn_map_get(&in->ns->status.ordinal_to_node,
                                           arena_printf(a, "%lld", (long long)ordinal)));
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The ordinals in use, sorted; pods without one come first as -1. */
static int64_t *used_ordinals(struct arena *a, const struct plan_nodeset *in)
{
    int64_t *used = arena_calloc(a, in->n_pods + 1, sizeof(*used));

    for (size_t i = 0; i < in->n_pods; i++)
        used[i] = plan_pod_ordinal(in->pods[i], in->ns->meta.name);
    qsort(used, in->n_pods, sizeof(*used), by_number);
    return used;
}

/* Pods that no machine has taken yet. */
static size_t count_unplaced(const struct plan_nodeset *in)
{
    size_t n = 0;

    for (size_t i = 0; i < in->n_pods; i++)
        n += in->pods[i]->phase == POD_PENDING && !in->pods[i]->node_name;
    return n;
}

/* How many pods there may be; MaxNodeCount is for all NodeSets of a cluster. */
static size_t allowed(const struct plan_nodeset *in)
{
    int64_t most = node_limit_of(in->cluster->controller).most -
                   node_count_others(in->ns, in->cluster->lookup);

    return (size_t)MAX(most, 0);
}

static void scale_up(struct arena *a, const struct plan_nodeset *in, size_t missing,
                     struct nodeset_scale *s)
{
    size_t unplaced = MIN(count_unplaced(in), (size_t)PLAN_PODS_AT_ONCE);
    size_t now = MIN(missing, (size_t)PLAN_PODS_AT_ONCE - unplaced);
    const int64_t *used = used_ordinals(a, in);
    uint32_t ordinal = 0;
    size_t at = 0;

    s->create = arena_calloc(a, now + 1, sizeof(*s->create));
    for (; s->n_create < now; ordinal++) {
        while (at < in->n_pods && used[at] < (int64_t)ordinal)
            at++;
        if (at >= in->n_pods || used[at] != (int64_t)ordinal)
            s->create[s->n_create++] = ordinal;
    }
    s->n_postponed = missing - now;
}

/* Pods that live, in the order in which they would go. */
static const struct plan_pod **living(struct arena *a, const struct plan_nodeset *in, size_t *ret_n)
{
    const struct plan_pod **pods = arena_calloc(a, in->n_pods + 1, sizeof(struct plan_pod *));
    struct sorter sorter = {in->ns->meta.name, in->slurm, in->now_us};
    size_t n = 0;

    for (size_t i = 0; i < in->n_pods; i++)
        if (!in->pods[i]->deleting && !plan_pod_is_over(in->pods[i]) &&
            !is_stranded(a, in, in->pods[i]) && !nodeset_is_held(a, in, in->pods[i]))
            pods[n++] = in->pods[i];
    qsort_r(pods, n, sizeof(*pods), by_order, &sorter);
    *ret_n = n;
    return pods;
}

/* Can it take jobs?  Where Slurm is known: its node is there, not down, not drained by us, and
 * slurmctld does not refuse it. */
static bool is_serving(const struct plan_nodeset *in, const struct plan_pod *p)
{
    const struct slurm_node *n;

    if (!plan_pod_is_available(p, in->ns->spec.min_ready_seconds, in->now_us))
        return false;
    if (!in->slurm || in->slurm->down)
        return true;
    n = slurm_state_node(in->slurm, p->slurm_name);
    return n && nodestate_base(n->state) != NODE_BASE_DOWN && !nodeset_drain_is_ours(n) &&
           !(n->state & NODE_FLAG_INVALID_REG);
}

static size_t count_unavailable(const struct plan_nodeset *in, const struct plan_pod **pods,
                                size_t n)
{
    size_t serving = 0;

    for (size_t i = 0; i < n; i++)
        serving += is_serving(in, pods[i]);
    return (size_t)MAX(in->ns->spec.replicas, 0) > serving ? (size_t)in->ns->spec.replicas - serving
                                                           : 0;
}

static void drain(struct nodeset_scale *s, const struct plan_pod *p, const char *why, bool replaced)
{
    s->drain[s->n_drain++] = (struct nodeset_drain){p, why, replaced};
}

/* Pods that do not fit: those that take no jobs anyway, and others within the bounds. */
static void replace_outdated(struct arena *a, const struct plan_nodeset *in,
                             const struct nodeset_view *view, const struct plan_pod **pods,
                             size_t n, struct nodeset_scale *s)
{
    size_t away = count_unavailable(in, pods, n);
    size_t most = (size_t)nodeset_max_unavailable(in->ns, in->ns->spec.replicas);

    for (size_t i = 0; i < n; i++) {
        const struct plan_pod *p = pods[i];
        bool costs = is_serving(in, p);

        if (nodeset_fit_of(a, in, view, p) != NODESET_OUTDATED)
            continue;
        if (costs && away >= most) {
            s->n_outdated++;
            continue;
        }
        away += costs;
        if (plan_pod_is_free(p, in->slurm)) {
            s->remove[s->n_remove++] = p;
        } else {
            s->n_outdated++;
            drain(s, p, "update", true);
        }
    }
}

/* May pods of an older template be replaced now? */
static bool is_update_time(const struct plan_nodeset *in)
{
    const struct nodeset_strategy *s = &in->ns->spec.update_strategy;
    int64_t start = s->scheduled ? s->scheduled->start_us : 0;

    if (s->type == NODESET_SCHEDULED_UPDATE)
        return start && in->now_us >= start &&
               in->now_us < start + s->scheduled->duration_ms * 1000;
    return s->type == NODESET_ROLLING_UPDATE;
}

/* A record that does not fit goes before the pod comes that would go on with it. */
static void hold_back(struct arena *a, const struct plan_nodeset *in,
                      const struct nodeset_view *view, struct nodeset_scale *s)
{
    size_t kept = 0;

    s->forget = arena_calloc(a, s->n_create + 1, sizeof(*s->forget));
    for (size_t i = 0; i < s->n_create; i++) {
        struct build_worker w = {.ordinal = (int32_t)s->create[i]};
        const char *node = worker_hostname(a, in->ns, &w);
        const struct slurm_node *n = slurm_state_node(in->slurm, node);

        if (n && nodeset_record_may_go(n) && nodeset_record_is_stale(a, in, view, node))
            s->forget[s->n_forget++] = s->create[i];
        else
            s->create[kept++] = s->create[i];
    }
    s->n_create = kept;
}

/* Pods whose deletion may be on its way go, whatever is wanted by now. */
static void finish(struct arena *a, const struct plan_nodeset *in, struct nodeset_scale *s)
{
    for (size_t i = 0; i < in->n_pods; i++) {
        const struct plan_pod *p = in->pods[i];

        if (plan_pod_is_over(p) || is_stranded(a, in, p) || !nodeset_is_held(a, in, p))
            continue;
        if (plan_pod_is_free(p, in->slurm)) {
            s->remove[s->n_remove++] = p;
        } else {
            s->n_waiting++;
            drain(s, p, "scale-in", false);
        }
    }
}

struct nodeset_scale nodeset_scale_of(struct arena *a, const struct plan_nodeset *in,
                                      const struct nodeset_view *view)
{
    struct nodeset_scale s = {0};
    size_t want = (size_t)MAX(in->ns->spec.replicas, 0);
    size_t n;
    const struct plan_pod **pods = living(a, in, &n);
    size_t excess = n > want ? n - want : 0;

    s.remove = arena_calloc(a, in->n_pods + 1, sizeof(struct plan_pod *));
    s.drain = arena_calloc(a, in->n_pods + 1, sizeof(*s.drain));
    for (size_t i = 0; i < in->n_pods; i++)
        if ((plan_pod_is_over(in->pods[i]) || is_stranded(a, in, in->pods[i])) &&
            !in->pods[i]->deleting)
            s.remove[s.n_remove++] = in->pods[i];
    finish(a, in, &s);
    for (size_t i = 0; i < excess; i++) {
        if (plan_pod_is_free(pods[i], in->slurm)) {
            s.remove[s.n_remove++] = pods[i];
        } else {
            s.n_waiting++;
            drain(&s, pods[i], "scale-in", false);
        }
    }
    s.first_replaced = s.n_remove;
    if (view && !view->release.held && is_update_time(in))
        replace_outdated(a, in, view, pods + excess, n - excess, &s);
    if (in->n_pods < want && !(view && view->release.makes_none)) {
        size_t most = MIN(want, MAX(allowed(in), in->n_pods));

        s.n_refused = want - most;
        scale_up(a, in, most - in->n_pods, &s);
        if (view)
            hold_back(a, in, view, &s);
    }
    return s;
}
