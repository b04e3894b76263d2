/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The status of a stateful set.
 *
 * It counts the pods that are there, by readiness and by revision.  A rolling update is complete
 * when every wanted pod is there, ready and of the new revision; then the new revision becomes the
 * current one.
 */
#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/pod.h"
#include "src/cluster/workloads/statefulset.h"

struct counts {
    int64_t replicas, ready, available, current, updated;
};

static void count(struct plan *p, struct counts *n, const struct jsn *set, const struct jsn *pod,
                  const struct revisions *r)
{
    const char *revision =
        jsn_text(jsn_key(jsn_get(pod, "metadata.labels"), "controller-revision-hash"));

    n->replicas++;
    n->ready += pod_ready(pod);
    n->available += pod_available(p, pod, jsn_get_int(set, "spec.minReadySeconds", 0));
    if (object_deleting(pod))
        return;
    n->current += streq(revision, object_name(r->current));
    n->updated += streq(revision, object_name(r->update));
}

static bool complete(const struct jsn *set, const struct counts *n)
{
    int64_t wanted = jsn_get_int(set, "spec.replicas", 1);

    return streq(jsn_get_str(set, "spec.updateStrategy.type"), "RollingUpdate") &&
           n->updated == wanted && n->ready == wanted && n->replicas == wanted;
}

static void set_some(struct arena *a, struct jsn *status, const char *key, int64_t n)
{
    if (n > 0)
        jsn_set_int(a, status, key, n);
}

void statefulset_status(struct plan *p, const struct jsn *set, const struct jsn *pods,
                        const struct revisions *r)
{
    const char *current = object_name(r->current);
    struct jsn *status = jsn_object(p->arena);
    struct counts n = {0};

    JSN_FOR_ITEMS (pod, pods)
        count(p, &n, set, pod, r);
    if (complete(set, &n)) {
        current = object_name(r->update);
        n.current = n.updated;
    }
    jsn_set_int(p->arena, status, "observedGeneration", jsn_get_int(set, "metadata.generation", 0));
    jsn_set_int(p->arena, status, "replicas", n.replicas);
    set_some(p->arena, status, "readyReplicas", n.ready);
    set_some(p->arena, status, "currentReplicas", n.current);
    set_some(p->arena, status, "updatedReplicas", n.updated);
    jsn_set_str(p->arena, status, "currentRevision", current);
    jsn_set_str(p->arena, status, "updateRevision", object_name(r->update));
    jsn_set_int(p->arena, status, "collisionCount", r->collisions);
    jsn_set_int(p->arena, status, "availableReplicas", n.available);
    plan_status(p, "statefulsets.apps", set, status);
}
