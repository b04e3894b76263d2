/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pods and Kubernetes nodes in the cache.
 *
 * There may be ten thousand of each, and they change often: only what plans read is kept, without
 * the text.
 */
#include "src/operator/kept_pods.h"

#include "src/base/alloc.h"
#include "src/operator/world.h"
#include "src/plan/machine.h"

struct kept_pod {
    struct arena arena;
    struct plan_pod pod;
};

static void *pod_decode(void *arg, const struct jsn *object, struct err *e)
{
    struct kept_pod *k = xcalloc(1, sizeof(*k));

    (void)arg;
    (void)e;
    plan_pod_decode(&k->arena, object, &k->pod);
    return &k->pod;
}

static void pod_release(void *value)
{
    struct kept_pod *k = CONTAINER_OF(value, struct kept_pod, pod);

    arena_done(&k->arena);
    free(k);
}

static void index_slurm_name(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan_pod p;

    (void)arg;
    plan_pod_decode(&a, object, &p);
    if (p.slurm_name && p.of == KIND_NODESET)
        kube_index_emit(out, str_of(arena_printf(&a, "%s/%s", p.namespace, p.slurm_name)));
}

static void index_lost(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan_pod p;

    (void)arg;
    plan_pod_decode(&a, object, &p);
    if (!p.owner_uid && p.instance && p.of == KIND_NODESET)
        kube_index_emit(out, str_of(arena_printf(&a, "%s/%s", p.namespace, p.instance)));
}

/* Under no namespace: a machine has pods of all of them.  "all/" has those without a machine. */
static void index_machine(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    AUTO(arena_done) struct arena a = {0};
    const char *name = jsn_get_str(object, "spec.nodeName");

    (void)arg;
    kube_index_emit(out, str_of(arena_printf(&a, "all/%s", name ? name : "")));
}

struct kept_machine {
    struct arena arena;
    struct plan_machine machine;
};

static void *machine_decode(void *arg, const struct jsn *object, struct err *e)
{
    struct kept_machine *k = xcalloc(1, sizeof(*k));

    (void)arg;
    (void)e;
    plan_machine_decode(&k->arena, object, &k->machine);
    return &k->machine;
}

static void machine_release(void *value)
{
    struct kept_machine *k = CONTAINER_OF(value, struct kept_machine, machine);

    arena_done(&k->arena);
    free(k);
}

const struct kube_decoder kept_machines_decoder = {machine_decode, machine_release, NULL};
const struct kube_decoder kept_pods_decoder = {pod_decode, pod_release, NULL};
const struct kube_index kept_pods_indexes[] = {
    {WORLD_BY_SLURM_NAME, index_slurm_name, NULL},
    {WORLD_BY_LOST, index_lost, NULL},
    {WORLD_BY_MACHINE, index_machine, NULL},
    {NULL},
};
