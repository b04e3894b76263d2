/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan for a stateful set.
 *
 * Wanted are the pods of the ordinals start .. start + replicas - 1; the others are condemned.
 *
 *   1. Wanted pods, lowest ordinal first: a missing one is made, one that has ended is deleted so
 *      that it can be made again.
 *   2. Condemned pods go, highest ordinal first.
 *   3. A rolling update deletes the pod with the highest ordinal that is not of the new revision,
 *      down to the partition, and waits for each to come back.
 *
 * With OrderedReady a step that changes anything, or that meets a pod which is not ready yet, ends
 * the plan; Parallel goes on, except in step 3.  A pod below the partition that is missing comes
 * back in the current revision, all others in the new one.
 */
#include "src/cluster/workloads/statefulset.h"

#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/pod.h"

/* More than one machine runs; keeps the table of ordinals small, whatever spec.replicas says. */
#define REPLICAS_MAX 100000
/* Pods made or deleted in one plan; the events of these writes lead to the next. */
#define BURST 500

struct rollout {
    struct plan *p;
    const struct statefulset_view *v;
    const struct owner *owner;
    struct revisions revisions;
    const struct jsn **wanted; /* by ordinal - start; NULL: missing */
    int64_t n_wanted;
    int64_t start;
    const struct jsn **condemned; /* highest ordinal first */
    size_t n_condemned;
    const struct jsn *first_unhealthy;
    bool ordered;
    int burst;
    int64_t room; /* how many more may be made now */
};

static bool fits(const struct jsn *set, const struct jsn *object)
{
    return statefulset_ordinal(set, object) >= 0;
}

static bool healthy(struct rollout *x, const struct jsn *pod)
{
    return !object_deleting(pod) &&
           pod_available(x->p, pod, jsn_get_int(x->v->set, "spec.minReadySeconds", 0));
}

static int by_ordinal_down(const void *pa, const void *pb, void *set)
{
    int64_t a = statefulset_ordinal(set, *(const struct jsn *const *)pa);
    int64_t b = statefulset_ordinal(set, *(const struct jsn *const *)pb);

    return a < b ? 1 : a > b ? -1 : 0;
}

/* Which pods are wanted, and which are too many. */
static void sort_out(struct rollout *x, const struct jsn *pods)
{
    struct arena *a = x->p->arena;
    struct jsn *set = jsn_clone(a, x->v->set);

    x->start = jsn_get_int(set, "spec.ordinals.start", 0);
    x->n_wanted = MAX(MIN(jsn_get_int(set, "spec.replicas", 1), REPLICAS_MAX), 0);
    x->wanted = arena_calloc(a, (size_t)x->n_wanted + 1, sizeof(*x->wanted));
    x->condemned = arena_calloc(a, jsn_len(pods) + 1, sizeof(*x->condemned));
    JSN_FOR_ITEMS (pod, pods) {
        int64_t i = statefulset_ordinal(set, pod) - x->start;

        if (i >= 0 && i < x->n_wanted)
            x->wanted[i] = pod;
        else
            x->condemned[x->n_condemned++] = pod;
    }
    qsort_r(x->condemned, x->n_condemned, sizeof(*x->condemned), by_ordinal_down, set);
    for (size_t i = x->n_condemned; i-- > 0;)
        if (!healthy(x, x->condemned[i]))
            x->first_unhealthy = x->condemned[i];
    for (int64_t i = x->n_wanted; i-- > 0;)
        if (!x->wanted[i] || !healthy(x, x->wanted[i]))
            x->first_unhealthy = x->wanted[i];
}

static int64_t partition(const struct jsn *set)
{
    return jsn_get_int(set, "spec.updateStrategy.rollingUpdate.partition", 0);
}

static bool rolling(const struct jsn *set)
{
    return streq(jsn_get_str(set, "spec.updateStrategy.type"), "RollingUpdate");
}

static void make_pod(struct rollout *x, int64_t i)
{
    int64_t ordinal = x->start + i;
    bool stays = rolling(x->v->set) && i < partition(x->v->set);
    const struct jsn *revision = stays ? x->revisions.current : x->revisions.update;

    statefulset_claims_make(x->p, x->v, ordinal);
    plan_add(x->p, ACTION_CREATE, "pods",
             statefulset_pod(x->p->arena, x->owner, revision, ordinal));
    x->burst++;
}

static void delete_pod(struct rollout *x, const struct jsn *pod)
{
    plan_add(x->p, ACTION_DELETE, "pods", jsn_clone(x->p->arena, pod));
    x->burst++;
}

/* Step 1 for one ordinal.  False: go no further for now. */
static bool keep_one(struct rollout *x, int64_t i)
{
    const struct jsn *pod = x->wanted[i];

    if (!pod) {
        if (x->room-- > 0)
            make_pod(x, i);
        return !x->ordered;
    }
    if (pod_over(pod)) {
        if (!object_deleting(pod))
            delete_pod(x, pod);
        return !x->ordered;
    }
    if (pod_in_phase(pod, "Pending") && !object_deleting(pod))
        statefulset_claims_make(x->p, x->v, x->start + i);
    return !x->ordered || healthy(x, pod);
}

/* Step 2 for one pod. */
static bool condemn_one(struct rollout *x, const struct jsn *pod)
{
    if (object_deleting(pod))
        return !x->ordered;
    if (x->ordered && !healthy(x, pod) && pod != x->first_unhealthy)
        return false;
    statefulset_claims_condemn(x->p, x->v, pod);
    delete_pod(x, pod);
    return !x->ordered;
}

/* Step 3. */
static void update_next(struct rollout *x)
{
    if (!rolling(x->v->set))
        return;
    for (int64_t i = x->n_wanted; i-- > partition(x->v->set);) {
        const struct jsn *pod = x->wanted[i];
        const char *revision =
            jsn_text(jsn_key(jsn_get(pod, "metadata.labels"), "controller-revision-hash"));

        if (pod && !object_deleting(pod) && !pod_over(pod) &&
            !streq(revision, object_name(x->revisions.update))) {
            delete_pod(x, pod);
            return;
        }
        if (!pod || !healthy(x, pod))
            return;
    }
}

static void roll(struct rollout *x)
{
    for (int64_t i = 0; i < x->n_wanted; i++)
        if (!keep_one(x, i) || x->burst >= BURST)
            return;
    for (size_t i = 0; i < x->n_condemned; i++)
        if (!condemn_one(x, x->condemned[i]) || x->burst >= BURST)
            return;
    update_next(x);
}

void statefulset_plan(struct plan *p, const struct statefulset_view *v)
{
    struct owner o = {"apps/v1", "StatefulSet", v->set, jsn_get(v->set, "spec.selector"), fits};
    struct owner keeper = {"apps/v1", "StatefulSet", v->set, jsn_get(v->set, "spec.selector"),
                           NULL};
    struct rollout x = {.p = p, .v = v, .owner = &o};
    struct jsn *pods = owned_claim(p, &o, "pods", v->pods);
    struct jsn *revisions = owned_claim(p, &keeper, "controllerrevisions.apps", v->revisions);

    if (object_deleting(v->set))
        return;
    x.revisions = revision_find(p, &o, revisions);
    x.room = pods_room(pods);
    x.ordered = !streq(jsn_get_str(v->set, "spec.podManagementPolicy"), "Parallel");
    sort_out(&x, pods);
    roll(&x);
    statefulset_status(p, v->set, pods, &x.revisions);
    revision_trim(p, v->set, revisions, &x.revisions, pods);
}
