/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Partitions in the operator.
 *
 * They are kept decoded as a whole: a Controller's plan needs all of them at once.  A changed spec
 * concerns the Controller (slurm.conf); a configuration that was written concerns the Partitions
 * whose line came or went; its fate those that wait for something.
 */
#include "src/api/partition.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/map.h"
#include "src/build/config_memo.h"
#include "src/build/labels.h"
#include "src/operator/kinds.h"
#include "src/operator/references.h"
#include "src/operator/snapshot.h"
#include "src/plan/failure.h"
#include "src/plan/partition.h"
#include "src/plan/status.h"

struct kept {
    struct arena arena;
    struct api_partition part;
    int64_t changed_us; /* when this state of it was seen first */
    bool settled;       /* its status says that all is well with this very generation */
};

static void kept_release(void *value)
{
    struct kept *p = value;

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

static void *kept_decode(void *arg, const struct jsn *object, struct err *e)
{
    struct kept *p = xcalloc(1, sizeof(*p));

    (void)arg;
    if (api_partition_decode(&p->arena, object, &p->part, e) < 0) {
        kept_release(p);
        return NULL;
    }
    p->part.digest = config_memo_digest(&p->part);
    p->changed_us = clock_wall_us();
    p->settled = is_settled(&p->part);
    return p;
}

/* By its NodeSets. */
static void refer(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    AUTO(arena_done) struct arena a = {0};

    (void)arg;
    JSN_FOR_ITEMS (ref, jsn_get(object, "spec.nodeSetRefs"))
        references_emit(&a, out, jsn_get_str(object, "metadata.namespace"), "NodeSet",
                        jsn_get_str(ref, "name"));
}

static void index_slurm_name(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    AUTO(arena_done) struct arena a = {0};
    const char *name = jsn_get_str(object, "spec.partitionName");

    (void)arg;
    kube_index_emit(
        out, str_of(arena_printf(&a, "%s/%s", jsn_get_str(object, "metadata.namespace"),
                                 name && name[0] ? name : jsn_get_str(object, "metadata.name"))));
}

static void changed(const struct routes *r, const struct kube_object *old,
                    const struct kube_object *now)
{
    const struct kept *a = old ? old->value : NULL;
    const struct kept *b = now ? now->value : NULL;

    if (a && b && a->part.meta.generation == b->part.meta.generation &&
        !a->part.meta.deleted_us == !b->part.meta.deleted_us)
        return;
    if (a)
        routes_add(r, "Controller", old->namespace, a->part.spec.controller_ref.name);
    if (b)
        routes_add(r, "Controller", now->namespace, b->part.spec.controller_ref.name);
}

/* Is something amiss with it or on its way, or is its line not among these (NULL: lines do not
 * count)? */
static bool is_concerned(const void *kept, const void *lines)
{
    const struct kept *p = kept;

    return !p || !p->settled || (lines && !map_get(lines, str_of(p->part.status.line)));
}

/* Was it changed or deleted some moments ago, and has nothing been said of that yet? */
static bool is_new(const struct kept *p)
{
    return (p->part.meta.deleted_us ||
            p->part.status.observed_generation != p->part.meta.generation) &&
           clock_wall_us() < p->changed_us + STATUS_PATIENCE_US;
}

/*
 * Does it wait for the outcome of a configuration?  A new one does if slurmctld has another line of
 * it than it had; else its own plan looks again in time.  Of hundreds that are made at once, all
 * would be looked at after each push.
 */
static bool awaits_outcome(const void *kept, const void *held_lines)
{
    const struct kept *p = kept;
    const char *line;

    if (!p || !is_new(p))
        return is_concerned(kept, NULL);
    line = held_lines ? map_get(held_lines, str_of(api_partition_slurm_name(&p->part))) : NULL;
    return line && !p->part.meta.deleted_us && !streq(line, p->part.status.line);
}

static void config_written(const struct routes *r, const char *ns, const char *controller,
                           const char *conf)
{
    AUTO(map_done) struct map lines = {0};
    struct str rest = str_of(conf);
    struct str line;

    while (str_split(&rest, '\n', &line))
        if (str_starts(line, "PartitionName="))
            map_put(&lines, line, (void *)(uintptr_t)conf);
    routes_add_some(r, "Partition", ns, controller, is_concerned, &lines);
}

static void slurm_changed(const struct routes *r, const char *ns, const char *controller,
                          const struct agent_change *c)
{
    routes_add_named(r, "Partition", ns, c->partitions, c->n_partitions);
    routes_add_named(r, "Partition", ns, c->drifted, c->n_drifted);
    if (c->config)
        routes_add_some(r, "Partition", ns, controller, awaits_outcome, c->held_lines);
}

/* All Partitions of a Controller that stay. */
static void join(struct reconcile *r, const char *controller, struct build_cluster *cluster)
{
    struct kube_slice s =
        world_find(r->world, "Partition", r->namespace, WORLD_BY_CONTROLLER, controller);
    const struct api_partition **list = arena_calloc(&r->arena, s.n + 1, sizeof(*list));
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        const struct kept *p = s.items[i]->value;

        if (p && !p->part.meta.deleted_us)
            list[n++] = &p->part;
    }
    cluster->partitions = list;
    cluster->n_partitions = n;
}

static int64_t changed_us(const struct reconcile *r)
{
    const struct kube_object *o = world_get(r->world, "Partition", r->namespace, r->name);
    const struct kept *p = o ? o->value : NULL;

    return p ? p->changed_us : 0;
}

/* Its line in the ConfigMap. */
static const char *written_line(struct reconcile *r, const char *controller, const char *name)
{
    const struct kube_object *map =
        world_get(r->world, "ConfigMap", r->namespace, labels_config(&r->arena, controller));
    struct memos own = {0};
    const char *line = memos_written(r->memos ? r->memos : &own, controller, map, name);

    line = line ? arena_strdup(&r->arena, line) : NULL;
    memos_done(&own);
    return line;
}

static void plan(struct reconcile *r)
{
    struct api_partition *part = arena_calloc(&r->arena, 1, sizeof(*part));
    struct plan_partition in = {.object = r->object, .part = part, .now_us = r->now_us};
    struct build_cluster *cluster;
    const char *controller;
    struct err e = {0};

    if (api_partition_decode(&r->arena, r->object, part, &e) < 0) {
        plan_failure(r->kind, r->object, "Invalid", e.text, r->now_us, &r->actions);
        return;
    }
    controller = part->spec.controller_ref.name;
    cluster = snapshot_cluster(r, controller);
    in.controller = cluster->controller;
    in.lookup = cluster->lookup;
    in.written = written_line(r, controller, api_partition_slurm_name(part));
    in.slurm = snapshot_slurm(r, controller);
    in.changed_us = changed_us(r);
    if (plan_partition_needs_cluster(&r->arena, &in)) {
        snapshot_members(r, controller, cluster);
        in.cluster = cluster;
    }
    plan_partition(&in, &r->actions);
}

static const struct kube_decoder decoder = {kept_decode, kept_release, NULL};
static const struct kube_index indexes[] = {
    {WORLD_BY_CONTROLLER, references_to_controller, NULL},
    {WORLD_BY_SLURM_NAME, index_slurm_name, NULL},
    {WORLD_BY_REFERENCE, refer, NULL},
    {NULL},
};

const struct operator_kind operator_partition = {
    .api = &api_kind_partition,
    .decoder = &decoder,
    .indexes = indexes,
    .changed = changed,
    .slurm_changed = slurm_changed,
    .config_written = config_written,
    .join = join,
    .plan = plan,
    .gone = operator_keeps_nothing,
};
