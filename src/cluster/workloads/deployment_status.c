/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The status of a deployment: counts over its replica sets, and two conditions.
 *
 * Available: enough pods are.  Progressing: the rollout is done (NewReplicaSetAvailable), moves
 * (ReplicaSetUpdated), stands still for longer than progressDeadlineSeconds, or is paused; this is
 * what `kubectl rollout status` reads.
 */
#include "src/base/clock.h"
#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/deployment.h"
#include "src/cluster/workloads/pod.h"

#define REVISION "deployment.kubernetes.io/revision"
#define NO_DEADLINE 2147483647

struct counts {
    int64_t replicas, updated, ready, available;
};

static struct counts count(const struct rollout_state *x)
{
    struct counts n = {0};

    for (size_t i = 0; i <= x->n_old; i++) {
        const struct jsn *s = i < x->n_old ? x->old[i].object : x->new ? x->new->object : NULL;

        n.replicas += jsn_get_int(s, "status.replicas", 0);
        n.ready += jsn_get_int(s, "status.readyReplicas", 0);
        n.available += jsn_get_int(s, "status.availableReplicas", 0);
    }
    if (x->new)
        n.updated = jsn_get_int(x->new->object, "status.replicas", 0);
    return n;
}

static struct jsn *condition(struct plan *p, const struct jsn *deployment, const char *type,
                             const char *value, const char *reason, const char *message, bool touch)
{
    const struct jsn *old = pod_condition(deployment, type);
    bool same_value = streq(jsn_get_str(old, "status"), value);
    bool same = same_value && streq(jsn_get_str(old, "reason"), reason) && !touch;
    const char *since = same_value ? jsn_get_str(old, "lastTransitionTime") : NULL;
    const char *updated = same ? jsn_get_str(old, "lastUpdateTime") : NULL;
    struct jsn *o = jsn_object(p->arena);

    jsn_set_str(p->arena, o, "type", type);
    jsn_set_str(p->arena, o, "status", value);
    jsn_set_str(p->arena, o, "lastUpdateTime", updated ? updated : plan_now(p));
    jsn_set_str(p->arena, o, "lastTransitionTime", since ? since : plan_now(p));
    jsn_set_str(p->arena, o, "reason", reason);
    jsn_set_str(p->arena, o, "message", message);
    return o;
}

static struct jsn *availability(const struct rollout_state *x, const struct counts *n)
{
    bool enough = n->available >= x->wanted - x->unavailable;

    return condition(x->p, x->v->deployment, "Available", enough ? "True" : "False",
                     enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                     enough ? "Deployment has minimum availability."
                            : "Deployment does not have minimum availability.",
                     false);
}

static bool done(const struct rollout_state *x, const struct counts *n)
{
    return n->updated == x->wanted && n->replicas == x->wanted && n->available == x->wanted;
}

static bool moved(const struct jsn *d, const struct counts *n)
{
    int64_t old_replicas = jsn_get_int(d, "status.replicas", 0);
    int64_t old_updated = jsn_get_int(d, "status.updatedReplicas", 0);

    return n->updated > old_updated || n->replicas - n->updated < old_replicas - old_updated ||
           n->ready > jsn_get_int(d, "status.readyReplicas", 0) ||
           n->available > jsn_get_int(d, "status.availableReplicas", 0);
}

/* Has nothing moved for too long?  If not yet, the plan looks again when that would be so. */
static bool overdue(struct rollout_state *x, const struct jsn *old)
{
    int64_t deadline_s = jsn_get_int(x->v->deployment, "spec.progressDeadlineSeconds", 600);
    const char *since = jsn_get_str(old, "lastUpdateTime");
    int64_t us;

    if (deadline_s >= NO_DEADLINE || !since || clock_parse_rfc3339(str_of(since), &us) < 0)
        return false;
    us += clock_s_to_us(deadline_s);
    if (us > x->p->now_us)
        plan_again(x->p, (us - x->p->now_us) / 1000 + 1);
    return us <= x->p->now_us;
}

static struct jsn *progress(struct rollout_state *x, const struct counts *n)
{
    struct plan *p = x->p;
    const struct jsn *d = x->v->deployment;
    const struct jsn *old = pod_condition(d, "Progressing");
    const char *name = x->new ? object_name(x->new->object) : object_name(d);
    const char *reason = jsn_get_str(old, "reason");

    if (jsn_get_bool(d, "spec.paused", false))
        return condition(p, d, "Progressing", "Unknown", "DeploymentPaused", "Deployment is paused",
                         false);
    if (x->new && x->new->fresh)
        return condition(p, d, "Progressing", "True", "NewReplicaSetCreated",
                         arena_printf(p->arena, "Created new replica set \"%s\"", name), true);
    if (done(x, n))
        return condition(
            p, d, "Progressing", "True", "NewReplicaSetAvailable",
            arena_printf(p->arena, "ReplicaSet \"%s\" has successfully progressed.", name), false);
    if (streq(reason, "DeploymentPaused"))
        return condition(p, d, "Progressing", "Unknown", "DeploymentResumed",
                         "Deployment is resumed", false);
    if (!old || moved(d, n) || (x->new && x->new->changed))
        return condition(p, d, "Progressing", "True", "ReplicaSetUpdated",
                         arena_printf(p->arena, "ReplicaSet \"%s\" is progressing.", name), true);
    /* A finished rollout that loses a pod is not a rollout that hangs. */
    if (!streq(reason, "NewReplicaSetAvailable") && overdue(x, old))
        return condition(
            p, d, "Progressing", "False", "ProgressDeadlineExceeded",
            arena_printf(p->arena, "ReplicaSet \"%s\" has timed out progressing.", name), false);
    return jsn_clone(p->arena, old);
}

static void set_some(struct arena *a, struct jsn *status, const char *key, int64_t n)
{
    if (n > 0)
        jsn_set_int(a, status, key, n);
}

/* The deployment has the revision of its new set, which is where kubectl looks for it. */
static void note_revision(struct rollout_state *x, struct jsn *deployment)
{
    struct arena *a = x->p->arena;
    struct jsn *meta = jsn_ensure_object(a, deployment, "metadata");
    int64_t revision = x->new ? deployment_revision(x->new->object) : 0;

    if (x->new && deployment_revision(deployment) != revision)
        jsn_set(a, jsn_ensure_object(a, meta, "annotations"), REVISION,
                jsn_stringf(a, "%lld", (long long)revision));
}

void deployment_status(struct rollout_state *x, int64_t collisions)
{
    struct arena *a = x->p->arena;
    struct counts n = count(x);
    struct jsn *status = jsn_object(a);
    struct jsn *conditions = jsn_array(a);
    struct jsn *changed = jsn_clone(a, x->v->deployment);

    jsn_set_int(a, status, "observedGeneration",
                jsn_get_int(x->v->deployment, "metadata.generation", 0));
    set_some(a, status, "replicas", n.replicas);
    set_some(a, status, "updatedReplicas", n.updated);
    set_some(a, status, "readyReplicas", n.ready);
    set_some(a, status, "availableReplicas", n.available);
    set_some(a, status, "unavailableReplicas", MAX(x->wanted - n.available, 0));
    set_some(a, status, "collisionCount", collisions);
    jsn_append(a, conditions, availability(x, &n));
    jsn_append(a, conditions, progress(x, &n));
    jsn_set(a, status, "conditions", conditions);
    jsn_set(a, changed, "status", status);
    note_revision(x, changed);
    if (!jsn_equal(changed, x->v->deployment))
        plan_add(x->p, ACTION_STATUS, "deployments.apps", changed);
}
