/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The status of a NodeSet.
 *
 * Counters are those of Slinky: pods by phase and readiness, Slurm nodes by their base state, with
 * drained ones counted besides; one that is idle and does not respond counts as down.  Ready tells
 * whether all that was asked for is there, and serves in Slurm as far as that is known; ScaledDown
 * exists only while pods wait until they may go.
 */
#include "src/api/node_count.h"
#include "src/build/labels.h"
#include "src/plan/nodeset_private.h"

#define MAX_PODS_SHOWN 8

static void count_pods(const struct plan_nodeset *in, const char *hash, struct nodeset_status *st)
{
    st->replicas = (int32_t)in->n_pods;
    st->desired = MAX(in->ns->spec.replicas, 0);
    st->updated_replicas = st->ready_replicas = st->available_replicas = 0;
    for (size_t i = 0; i < in->n_pods; i++) {
        const struct plan_pod *p = in->pods[i];

        st->updated_replicas += hash && streq(p->hash, hash);
        st->ready_replicas += p->ready && !p->deleting;
        st->available_replicas +=
            plan_pod_is_available(p, in->ns->spec.min_ready_seconds, in->now_us);
    }
    st->unavailable_replicas = MAX(st->desired - st->available_replicas, 0);
}

static void count_nodes(const struct plan_nodeset *in, struct nodeset_status *st)
{
    st->slurm_idle = st->slurm_allocated = st->slurm_down = st->slurm_drain = 0;
    for (size_t i = 0; i < in->n_pods; i++) {
        const struct slurm_node *n = slurm_state_node(in->slurm, in->pods[i]->slurm_name);
        unsigned base = n ? nodestate_base(n->state) : NODE_N_BASES;

        bool silent = n && (n->state & NODE_FLAG_NO_RESPOND);

        st->slurm_idle += base == NODE_BASE_IDLE && !silent;
        st->slurm_allocated += base == NODE_BASE_ALLOCATED || base == NODE_BASE_MIXED;
        st->slurm_down += base == NODE_BASE_DOWN || (base == NODE_BASE_IDLE && silent);
        st->slurm_drain += n && (n->state & NODE_FLAG_DRAIN) && !(n->state & NODE_FLAG_UNDRAIN);
    }
}

static void pin(struct arena *a, const struct plan_nodeset *in, struct nodeset_status *st)
{
    struct jsn_map map = {0};

    if (!in->ns->spec.pin_to_node) {
        st->ordinal_to_node = map;
        return;
    }
    map.items = arena_calloc(a, st->ordinal_to_node.n + in->n_pods + 1, sizeof(*map.items));
    for (size_t i = 0; i < in->n_pods; i++) {
        int64_t ordinal = plan_pod_ordinal(in->pods[i], in->ns->meta.name);

        if (ordinal >= 0 && in->pods[i]->node_name && in->pods[i]->phase == POD_RUNNING)
            map.items[map.n++] = (struct jsn_pair){arena_printf(a, "%lld", (long long)ordinal),
                                                   in->pods[i]->node_name};
    }
    for (size_t i = 0; i < st->ordinal_to_node.n; i++)
        if (!jsn_map_get(&map, st->ordinal_to_node.items[i].key) &&
            !nodeset_is_gone(in, st->ordinal_to_node.items[i].value))
            map.items[map.n++] = st->ordinal_to_node.items[i];
    st->ordinal_to_node = map;
}

/* The first pod that does not run, and why: "; pod foo-0: ..."; empty if nothing is known. */
static const char *first_trouble(struct arena *a, const struct plan_nodeset *in)
{
    for (size_t i = 0; i < in->n_pods; i++)
        if (in->pods[i]->trouble && !in->pods[i]->deleting)
            return arena_printf(a, "; pod %s: %s", in->pods[i]->name, in->pods[i]->trouble);
    return "";
}

/* Why the node of a pod that is ready takes no jobs, though nobody has drained it; NULL: it does,
 * or nothing is known. */
static const char *idle_for_nothing(struct arena *a, const struct plan_nodeset *in,
                                    const struct plan_pod *p)
{
    const struct slurm_node *n = slurm_state_node(in->slurm, p->slurm_name);

    if (nodeset_is_unregistered(in, p))
        return arena_printf(a, "%s is not registered", p->slurm_name);
    if (!n || in->slurm->down || !p->ready || p->deleting)
        return NULL;
    if (nodestate_base(n->state) == NODE_BASE_DOWN)
        return arena_printf(a, "%s is down%s%s%s", n->name, n->reason ? " (" : "",
                            n->reason ? n->reason : "", n->reason ? ")" : "");
    return n->state & NODE_FLAG_NO_RESPOND ? arena_printf(a, "%s does not respond", n->name) : NULL;
}

/* Is a node down that is not just about to come up?  One whose pod has ended or is new is. */
static bool is_down(const struct plan_nodeset *in)
{
    for (size_t i = 0; i < in->n_pods; i++) {
        const struct plan_pod *p = in->pods[i];
        const struct slurm_node *n = slurm_state_node(in->slurm, p->slurm_name);

        if (n && p->ready && !p->deleting && nodestate_base(n->state) == NODE_BASE_DOWN &&
            n->reason && !nodeset_reason_is_ours(n->reason))
            return true;
    }
    return false;
}

/* The nodes that take no jobs, a few of them; NULL: there are none. */
static const char *absent_nodes(struct arena *a, const struct plan_nodeset *in, size_t *ret_n)
{
    AUTO(buf_done) struct buf b = {0};
    size_t n = 0;

    for (size_t i = 0; i < in->n_pods; i++) {
        const char *why = idle_for_nothing(a, in, in->pods[i]);

        if (why && n++ < MAX_PODS_SHOWN)
            buf_printf(&b, "%s%s", b.n ? ", " : "", why);
    }
    if (n > MAX_PODS_SHOWN)
        buf_printf(&b, ", and %zu more", n - MAX_PODS_SHOWN);
    *ret_n = n;
    return n ? arena_strdup(a, buf_str(&b)) : NULL;
}

static void judge_serving(const struct plan_nodeset *in, const struct nodeset_status *st,
                          struct status_scribe *s)
{
    size_t n = 0;
    const char *absent = absent_nodes(s->to->arena, in, &n);

    if (in->slurm && in->slurm->down && st->desired > 0)
        status_set(
            s, "Ready", STATUS_UNKNOWN, false, "SlurmUnknown",
            "the pods are ready, but slurmctld does not answer, so that nobody knows whether "
            "their nodes take jobs");
    else if (absent)
        status_set(s, "Ready", STATUS_FALSE, false, is_down(in) ? "NodesDown" : "NodesNotServing",
                   "the pods are ready, but %zu of their nodes %s no jobs: %s", n,
                   n == 1 ? "takes" : "take", absent);
    else if (st->desired == 0)
        status_set(s, "Ready", STATUS_TRUE, false, "PodsReady", "no pods are asked for");
    else if (st->desired == 1)
        status_set(s, "Ready", STATUS_TRUE, false, "PodsReady", "the pod is ready");
    else
        status_set(s, "Ready", STATUS_TRUE, false, "PodsReady", "all %d pods are ready",
                   (int)st->desired);
}

static void judge_ready(const struct plan_nodeset *in, const struct nodeset_status *st,
                        const struct nodeset_scale *scale, const struct nodeset_hindrance *why,
                        struct status_scribe *s)
{
    if (why->reason)
        status_set(s, "Ready", STATUS_FALSE, true, why->reason, "%s", why->text);
    else if (scale->n_refused)
        status_set(
            s, "Ready", STATUS_FALSE, true, "TooManyNodes",
            "spec.replicas is %d, but %zu of these pods are not created: with the other "
            "NodeSets the cluster would have more nodes than MaxNodeCount (%lld) allows; ask "
            "for fewer, or raise MaxNodeCount in spec.extraConf of the Controller",
            (int)in->ns->spec.replicas, scale->n_refused,
            (long long)node_limit_of(in->cluster->controller).most);
    else if (st->available_replicas < st->desired)
        status_set(s, "Ready", STATUS_FALSE, false, "PodsNotReady", "%d of %d pods are ready%s",
                   (int)st->available_replicas, (int)st->desired, first_trouble(s->to->arena, in));
    else
        judge_serving(in, st, s);
}

/* "gpu-3 (job 12)", "gpu-4 (jobs 13, 14)" of the pods that are waited for, a few of them. */
static const char *waited_for(struct arena *a, const struct plan_nodeset *in,
                              const struct nodeset_scale *scale)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < MIN(scale->n_drain, (size_t)MAX_PODS_SHOWN); i++) {
        const struct plan_pod *p = scale->drain[i].pod;
        const struct slurm_node *n = slurm_state_node(in->slurm, p->slurm_name);

        buf_printf(&b, "%s%s%s", i ? ", " : "", p->name,
                   n ? "" : " (slurmctld does not know it: delete the pod yourself)");
        for (size_t k = 0; n && k < n->n_job_ids; k++)
            buf_printf(&b, "%s%u%s",
                       k                   ? ", "
                       : n->n_job_ids == 1 ? " (job "
                                           : " (jobs ",
                       n->job_ids[k], k + 1 == n->n_job_ids ? ")" : "");
    }
    if (scale->n_drain > MAX_PODS_SHOWN)
        buf_printf(&b, ", and %zu more", scale->n_drain - MAX_PODS_SHOWN);
    return arena_strdup(a, buf_str(&b));
}

static void judge_scale(const struct plan_nodeset *in, const struct nodeset_view *view,
                        const struct nodeset_scale *scale, struct status_scribe *s)
{
    bool known = in->slurm && !in->slurm->down;

    if (scale->n_waiting == 0)
        (void)api_condition_drop(s->conditions, "ScaledDown");
    else if (known)
        status_set(s, "ScaledDown", STATUS_FALSE, false, "WaitingForDrain", "%zu %s drained: %s",
                   scale->n_waiting,
                   word_for(scale->n_waiting, "pod goes when its Slurm node is",
                            "pods go when their Slurm nodes are"),
                   waited_for(s->to->arena, in, scale));
    else
        status_set(s, "ScaledDown", STATUS_FALSE, true, "SlurmStateUnknown",
                   "%zu %s; delete pods yourself if you know better", scale->n_waiting,
                   word_for(scale->n_waiting,
                            "pod is too many, but nothing tells that no job runs on it",
                            "pods are too many, but nothing tells that no job runs on them"));
    if (view && view->release.held)
        status_set(s, "Updated", STATUS_FALSE, false, "WaitingForSlurmctld", "%s",
                   view->release.held);
    else if (scale->n_outdated == 0)
        (void)api_condition_drop(s->conditions, "Updated");
    else
        status_set(s, "Updated", STATUS_FALSE, false, "WaitingForIdle", "%zu %s", scale->n_outdated,
                   word_for(scale->n_outdated,
                            "pod has an older template and is replaced when no job can run on it",
                            "pods have an older template and are replaced when no job can run on "
                            "them"));
}

/* A configuration that was refused for a line of this NodeSet. */
static void judge_config(const struct plan_nodeset *in, struct status_scribe *s)
{
    const char *name = nodeset_slurm_name(s->to->arena, in->ns);
    const struct slurm_fault *f =
        slurm_state_fault(in->slurm, arena_printf(s->to->arena, "NodeSet=%s", name),
                          arena_printf(s->to->arena, "PartitionName=%s", name));

    if (f)
        status_set(s, "ConfigApplied", STATUS_FALSE, true, "Refused",
                   "the configuration of the cluster was refused for this NodeSet: %s",
                   slurm_fault_text(s->to->arena, f));
    else if (in->slurm)
        (void)api_condition_drop(s->conditions, "ConfigApplied");
}

void nodeset_status_plan(const struct plan_nodeset *in, const char *hash,
                         const struct nodeset_view *view, const struct nodeset_scale *scale,
                         const struct nodeset_hindrance *why, struct actions *to)
{
    struct nodeset_status st = in->ns->status;
    struct api_conditions conditions = {
        arena_calloc(to->arena, st.conditions.n + 1, sizeof(struct api_condition)),
        st.conditions.n};
    struct status_scribe scribe = {to, &conditions, in->ns->meta.generation, in->now_us};

    if (st.conditions.n)
        memcpy(conditions.items, st.conditions.items, st.conditions.n * sizeof(*conditions.items));
    count_pods(in, hash, &st);
    count_nodes(in, &st);
    pin(to->arena, in, &st);
    judge_ready(in, &st, scale, why, &scribe);
    judge_scale(in, view, scale, &scribe);
    judge_config(in, &scribe);
    nodeset_nodes_judge(in, view, &scribe);
    nodeset_partition_judge(in, view, why, &scribe);
    st.conditions = conditions;
    st.observed_generation = in->ns->meta.generation;
    if (hash)
        st.hash = hash;
    st.selector = labels_selector_text(to->arena, APP_WORKER, in->ns->meta.name);
    status_write(to, "NodeSet", &in->ns->meta, jsn_get(in->object, "status"),
                 nodeset_status_encode(to->arena, &st));
}
