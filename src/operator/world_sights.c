/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of what is watched.
 *
 * Pods are kept as small structs (there may be ten thousand), NodeSets in short beside
 * their text, Partitions decoded as a whole, the rest as text.
 */
#include "src/operator/world_sights.h"

#include "src/api/nodeset.h"
#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/operator/references.h"
#include "src/operator/world.h"

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

static void nodeset_release(void *value)
{
    struct world_nodeset *n = value;

    arena_done(&n->arena);
    free(n);
}

static void *nodeset_decode_brief(void *arg, const struct jsn *object, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    struct world_nodeset *n;
    struct nodeset ns = {0};

    (void)arg;
    if (nodeset_decode(&a, object, &ns, e) < 0)
        return NULL;
    n = xcalloc(1, sizeof(*n));
    n->controller =
        arena_strdup(&n->arena, ns.spec.controller_ref.name ? ns.spec.controller_ref.name : "");
    n->slurm_name = arena_strdup(&n->arena, nodeset_slurm_name(&a, &ns));
    n->generation = ns.meta.generation;
    n->created_us = ns.meta.created_us;
    n->deleting = ns.meta.deleted_us != 0;
    nodeset_brief(&n->arena, &ns, &n->brief);
    return n;
}

static void partition_release(void *value)
{
    struct world_partition *p = value;

    arena_done(&p->arena);
    free(p);
}

static bool is_settled(const struct api_partition *part)
{
    const struct api_condition *ready = api_condition_find(&part->status.conditions, "Ready");

    return ready && !streq(ready->status, "False") && !part->meta.deleted_us &&
           !api_condition_find(&part->status.conditions, "Default") &&
           part->status.observed_generation == part->meta.generation;
}

static void *partition_decode_whole(void *arg, const struct jsn *object, struct err *e)
{
    struct world_partition *p = xcalloc(1, sizeof(*p));

    (void)arg;
    if (api_partition_decode(&p->arena, object, &p->part, e) < 0) {
        partition_release(p);
        return NULL;
    }
    p->changed_us = clock_wall_us();
    p->settled = is_settled(&p->part);
    return p;
}

static const struct kube_decoder pod_decoder = {pod_decode, pod_release, NULL};
static const struct kube_decoder nodeset_decoder = {nodeset_decode_brief, nodeset_release, NULL};
static const struct kube_decoder partition_decoder = {partition_decode_whole, partition_release,
                                                      NULL};

static const struct kube_index controller_indexes[] = {
    {WORLD_BY_REFERENCE, references_of_controller, NULL},
    {NULL},
};
static const struct kube_index nodeset_indexes[] = {
    {WORLD_BY_CONTROLLER, references_to_controller, NULL},
    {WORLD_BY_SLURM_NAME, references_nodeset_slurm_name, NULL},
    {WORLD_BY_REFERENCE, references_of_nodeset, NULL},
    {NULL},
};

static const struct kube_index pod_indexes[] = {
    {WORLD_BY_SLURM_NAME, references_pod_slurm_name, NULL},
    {NULL},
};
static const struct kube_index partition_indexes[] = {
    {WORLD_BY_CONTROLLER, references_to_controller, NULL},
    {WORLD_BY_SLURM_NAME, references_partition_slurm_name, NULL},
    {WORLD_BY_REFERENCE, references_of_partition, NULL},
    {NULL},
};

#define WORKERS "app.kubernetes.io/name=slurmd"
#define DAEMONS "app.kubernetes.io/name in (slurmctld,slurmd)"

const struct world_sight world_sights[] = {
    {"Controller", SIGHT_NEEDED, NULL, NULL, false, controller_indexes},
    {"NodeSet", SIGHT_NEEDED, NULL, &nodeset_decoder, true, nodeset_indexes},
    {"Partition", SIGHT_AWAITED, NULL, &partition_decoder, true, partition_indexes},
    {"Accounting", 0, NULL, NULL, false, NULL},
    {"ConfigMap", SIGHT_NEEDED, NULL, NULL, false, NULL},
    {"Secret", SIGHT_NEEDED, NULL, NULL, false, NULL},
    {"Service", SIGHT_NEEDED, NULL, NULL, false, NULL},
    {"StatefulSet", SIGHT_NEEDED, "app.kubernetes.io/name=slurmctld", NULL, false, NULL},
    {"PodDisruptionBudget", SIGHT_NEEDED, NULL, NULL, false, NULL},
    {"ControllerRevision", SIGHT_NEEDED | SIGHT_OWNED, WORKERS, NULL, false, NULL},
    {"PersistentVolumeClaim", SIGHT_NEEDED, WORKERS, NULL, false, NULL},
    {"Pod", SIGHT_NEEDED | SIGHT_OWNED, DAEMONS, &pod_decoder, false, pod_indexes},
    {"ServiceMonitor", 0, NULL, NULL, false, NULL},
};
const size_t world_n_sights = ARRAY_LEN(world_sights);
