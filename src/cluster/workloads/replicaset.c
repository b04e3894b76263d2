/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan for a replica set.
 *
 * Pods that have ended or are going do not count.  Too few: new ones under generated names.  Too
 * many: those go that are missed least, in this order: not placed on a node yet, pending, not
 * ready, cheap to delete (controller.kubernetes.io/pod-deletion-cost), restarted often, young.
 */
#include "src/cluster/workloads/replicaset.h"

#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/pod.h"

#define BURST 500

static int64_t deletion_cost(const struct jsn *pod)
{
    const char *text = jsn_text(jsn_key(jsn_get(pod, "metadata.annotations"),
                                        "controller.kubernetes.io/pod-deletion-cost"));
    int64_t cost = 0;

    return text && str_to_i64(str_of(text), &cost) == 0 ? cost : 0;
}

static int64_t restarts(const struct jsn *pod)
{
    int64_t n = 0;

    JSN_FOR_ITEMS (c, jsn_get(pod, "status.containerStatuses"))
        n = MAX(n, jsn_get_int(c, "restartCount", 0));
    return n;
}

/* Larger is missed more; compared member by member. */
struct worth {
    int64_t rank[5];
    const char *made;
};

static struct worth worth_of(const struct jsn *pod)
{
    const char *node = jsn_get_str(pod, "spec.nodeName");
    const char *made = jsn_get_str(pod, "metadata.creationTimestamp");

    return (struct worth){{node && node[0], !pod_in_phase(pod, "Pending"), pod_ready(pod),
                           deletion_cost(pod), -restarts(pod)},
                          made ? made : ""};
}

/* The least missed first; of equals the youngest. */
static int by_worth(const void *pa, const void *pb)
{
    struct worth a = worth_of(*(const struct jsn *const *)pa);
    struct worth b = worth_of(*(const struct jsn *const *)pb);

    for (size_t i = 0; i < ARRAY_LEN(a.rank); i++)
        if (a.rank[i] != b.rank[i])
            return a.rank[i] < b.rank[i] ? -1 : 1;
    return strcmp(b.made, a.made);
}

static void make_pods(struct plan *p, const struct owner *o, int64_t n)
{
    const char *base = arena_printf(p->arena, "%s-", object_name(o->object));

    for (int64_t i = 0; i < MIN(n, BURST); i++) {
        struct jsn *pod = pod_of_template(p->arena, jsn_get(o->object, "spec.template"), o);

        jsn_set_path(p->arena, pod, "metadata.generateName", jsn_string(p->arena, base));
        plan_add(p, ACTION_CREATE, "pods", pod);
    }
}

static void delete_pods(struct plan *p, struct jsn *active, int64_t n)
{
    qsort(active->a.items, jsn_len(active), sizeof(struct jsn *), by_worth);
    for (int64_t i = 0; i < MIN(n, BURST); i++)
        plan_add(p, ACTION_DELETE, "pods", jsn_item(active, (size_t)i));
}

static void set_some(struct arena *a, struct jsn *status, const char *key, int64_t n)
{
    if (n > 0)
        jsn_set_int(a, status, key, n);
}

static void set_status(struct plan *p, const struct jsn *set, const struct jsn *active)
{
    const struct jsn *labels = jsn_get(set, "spec.template.metadata.labels");
    struct jsn *status = jsn_object(p->arena);
    int64_t ready = 0;
    int64_t available = 0;
    int64_t labelled = 0;

    JSN_FOR_ITEMS (pod, active) {
        ready += pod_ready(pod);
        available += pod_available(p, pod, jsn_get_int(set, "spec.minReadySeconds", 0));
        labelled += labelmap_match(labels, jsn_get(pod, "metadata.labels"));
    }
    jsn_set_int(p->arena, status, "replicas", (int64_t)jsn_len(active));
    set_some(p->arena, status, "fullyLabeledReplicas", labelled);
    set_some(p->arena, status, "readyReplicas", ready);
    set_some(p->arena, status, "availableReplicas", available);
    jsn_set_int(p->arena, status, "observedGeneration", jsn_get_int(set, "metadata.generation", 0));
    if (jsn_get(set, "status.conditions"))
        jsn_set(p->arena, status, "conditions", jsn_get(set, "status.conditions"));
    plan_status(p, "replicasets.apps", set, status);
}

void replicaset_plan(struct plan *p, const struct jsn *set, const struct jsn *pods)
{
    struct owner o = {"apps/v1", "ReplicaSet", set, jsn_get(set, "spec.selector"), NULL};
    struct jsn *owned = owned_claim(p, &o, "pods", pods);
    struct jsn *active = jsn_array(p->arena);
    int64_t wanted = jsn_get_int(set, "spec.replicas", 1);
    int64_t have;

    JSN_FOR_ITEMS (pod, owned)
        if (pod_active(pod))
            jsn_append(p->arena, active, pod);
    have = (int64_t)jsn_len(active);
    if (!object_deleting(set) && have < wanted)
        make_pods(p, &o, MIN(wanted - have, pods_room(active)));
    else if (!object_deleting(set) && have > wanted)
        delete_pods(p, active, have - wanted);
    set_status(p, set, active);
}
