/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which change concerns whom.
 *
 *   Controller             itself; its NodeSets and Partitions if the spec changed (pods name its
 * host)
 *
 *   ConfigMap              also the Partitions of its owner whose line came or went
 *
 *   NodeSet                itself; its Controller if the spec changed (slurm.conf); NodeSets of the
 *                          same name in Slurm (one may take over); Partitions that name it
 *
 *   Partition              itself; its Controller if the spec changed (slurm.conf)
 *
 *   Pod                    the NodeSet that controls it; else the Controller or NodeSet that its
 *                          labels name
 *
 *   Secret, ConfigMap ...  whoever owns it; whoever refers to it
 *
 *   a Slurm node           the NodeSet of its pod, or that has its name
 *
 *   a Slurm partition      the Partition of that name
 *
 *   drift                  the Controller; the NodeSet or Partition that has drifted
 *
 *   a configuration's fate the Controller; Partitions that wait for something
 *
 * Statuses change with every pod; only a new generation tells that others are concerned.
 */
#include "src/operator/routes.h"

#include "src/base/alloc.h"
#include "src/base/map.h"
#include "src/build/labels.h"

static void add(const struct routes *r, const char *kind, const char *ns, const char *name)
{
    AUTO(free) char *key = xasprintf("%s/%s/%s", kind, ns, name);

    queue_add(r->queue, key);
}

static void add_slice(const struct routes *r, const char *kind, struct kube_slice s)
{
    for (size_t i = 0; i < s.n; i++)
        add(r, kind, s.items[i]->namespace, s.items[i]->name);
}

static void add_index(const struct routes *r, const char *kind, const char *ns, const char *index,
                      const char *value)
{
    if (r->world)
        add_slice(r, kind, world_find(r->world, kind, ns, index, value));
}

static void follow_nodeset(const struct routes *r, const struct kube_object *o)
{
    const struct world_nodeset *n = o->value;
    AUTO(free) char *reference = xasprintf("NodeSet/%s", o->name);

    if (!n)
        return;
    add(r, "Controller", o->namespace, n->controller);
    add_index(r, "NodeSet", o->namespace, WORLD_BY_SLURM_NAME, n->slurm_name);
    add_index(r, "Partition", o->namespace, WORLD_BY_REFERENCE, reference);
}

static bool same_spec(const struct kube_object *old, const struct kube_object *now)
{
    const struct world_nodeset *a = old ? old->value : NULL;
    const struct world_nodeset *b = now ? now->value : NULL;

    return a && b && a->generation == b->generation && a->deleting == b->deleting;
}

static void nodeset_changed(const struct routes *r, const struct kube_object *old,
                            const struct kube_object *now)
{
    if (same_spec(old, now))
        return;
    if (old)
        follow_nodeset(r, old);
    if (now)
        follow_nodeset(r, now);
}

static void partition_changed(const struct routes *r, const struct kube_object *old,
                              const struct kube_object *now)
{
    const struct world_partition *a = old ? old->value : NULL;
    const struct world_partition *b = now ? now->value : NULL;

    if (a && b && a->part.meta.generation == b->part.meta.generation &&
        !a->part.meta.deleted_us == !b->part.meta.deleted_us)
        return;
    if (a)
        add(r, "Controller", old->namespace, a->part.spec.controller_ref.name);
    if (b)
        add(r, "Controller", now->namespace, b->part.spec.controller_ref.name);
}

void routes_partitions(const struct routes *r, const char *ns, const char *controller)
{
    add_index(r, "Partition", ns, WORLD_BY_CONTROLLER, controller);
}

/* A configuration was written: for Partitions that wait for it, and those whose line it lacks. */
static void config_changed(const struct routes *r, const char *ns, const char *controller,
                           const char *conf)
{
    AUTO(map_done) struct map lines = {0};
    struct kube_slice s = {0};
    struct str rest = str_of(conf);
    struct str line;

    if (r->world)
        s = world_find(r->world, "Partition", ns, WORLD_BY_CONTROLLER, controller);
    while (s.n && str_split(&rest, '\n', &line))
        if (str_starts(line, "PartitionName="))
            map_put(&lines, line, (void *)(uintptr_t)conf);
    for (size_t i = 0; i < s.n; i++) {
        const struct world_partition *p = s.items[i]->value;

        if (!p || !p->settled || !map_get(&lines, str_of(p->part.status.line)))
            add(r, "Partition", s.items[i]->namespace, s.items[i]->name);
    }
}

static int64_t generation(const struct kube_object *o)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v = NULL;
    struct err e = {0};

    if (!o || kube_object_parse(o, &a, &v, &e) < 0)
        return -1;
    return jsn_get_int(v, "metadata.generation", -1);
}

static void controller_changed(const struct routes *r, const struct kube_object *old,
                               const struct kube_object *now)
{
    const struct kube_object *o = now ? now : old;

    if (generation(old) == generation(now))
        return;
    add_index(r, "NodeSet", o->namespace, WORLD_BY_CONTROLLER, o->name);
    routes_partitions(r, o->namespace, o->name);
}

static void add_owners(const struct routes *r, const struct kube_object *o)
{
    AUTO(arena_done) struct arena a = {0};
    const char *cluster;
    struct jsn *v = NULL;
    struct err e = {0};

    if (!o || o->text.n == 0 || kube_object_parse(o, &a, &v, &e) < 0)
        return;
    JSN_FOR_ITEMS (owner, jsn_get(v, "metadata.ownerReferences")) {
        const char *kind = jsn_get_str(owner, "kind");

        if (streq(kind, "NodeSet") && !jsn_get_bool(owner, "controller", false))
            continue; /* one of many: the label names the cluster */
        if (streq(kind, "Controller") || streq(kind, "NodeSet"))
            add(r, kind, o->namespace, jsn_get_str(owner, "name"));
        if (streq(kind, "Controller") && streq(jsn_get_str(v, "kind"), "ConfigMap"))
            config_changed(r, o->namespace, jsn_get_str(owner, "name"),
                           jsn_text(jsn_key(jsn_key(v, "data"), "slurm.conf")));
    }
    cluster = jsn_text(jsn_member(jsn_get(v, "metadata.labels"), STR(LABEL_CLUSTER)));
    if (cluster)
        add(r, "Controller", o->namespace, cluster);
}

static void add_referrers(const struct routes *r, const char *kind, const struct kube_object *o)
{
    AUTO(free) char *value = xasprintf("%s/%s", kind, o->name);

    add_index(r, "Controller", o->namespace, WORLD_BY_REFERENCE, value);
    add_index(r, "NodeSet", o->namespace, WORLD_BY_REFERENCE, value);
}

static void add_pod_owner(const struct routes *r, const struct kube_object *o)
{
    const struct plan_pod *p = o ? o->value : NULL;

    if (p && p->is_slurmctld && p->instance)
        add(r, "Controller", o->namespace, p->instance);
    else if (p && (p->owner_name || p->instance))
        add(r, "NodeSet", o->namespace, p->owner_name ? p->owner_name : p->instance);
}

void routes_follow(const struct routes *r, const char *kind, const struct kube_object *old,
                   const struct kube_object *now)
{
    const struct kube_object *o = now ? now : old;

    if (streq(kind, "Pod")) {
        add_pod_owner(r, old);
        add_pod_owner(r, now);
        return;
    }
    if (streq(kind, "Partition")) /* its Controller first: that is what its author waits for */
        partition_changed(r, old, now);
    if (streq(kind, "Controller") || streq(kind, "NodeSet") || streq(kind, "Partition"))
        add(r, kind, o->namespace, o->name);
    if (streq(kind, "Controller"))
        controller_changed(r, old, now);
    else if (streq(kind, "NodeSet"))
        nodeset_changed(r, old, now);
    else if (!streq(kind, "Partition"))
        add_referrers(r, kind, o);
    add_owners(r, old);
    add_owners(r, now);
}

void routes_follow_cluster(const struct routes *r, const char *ns, const char *controller)
{
    add(r, "Controller", ns, controller);
    add_index(r, "NodeSet", ns, WORLD_BY_CONTROLLER, controller);
    routes_partitions(r, ns, controller);
}

/* A node whose pod is gone: the NodeSet whose name it has, without the number. */
static void follow_lost_node(const struct routes *r, const char *ns, const char *node)
{
    AUTO(free) char *name = xstrdup(node);
    size_t n = strlen(name);

    while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9')
        n--;
    while (n > 0 && name[n - 1] == '-')
        n--;
    name[n] = '\0';
    if (n > 0)
        add_index(r, "NodeSet", ns, WORLD_BY_SLURM_NAME, name);
}

static void follow_node(const struct routes *r, const char *ns, const char *node)
{
    struct kube_slice s = {0};

    if (r->world)
        s = world_find(r->world, "Pod", ns, WORLD_BY_SLURM_NAME, node);
    for (size_t i = 0; i < s.n; i++)
        add_pod_owner(r, s.items[i]);
    if (s.n == 0)
        follow_lost_node(r, ns, node);
}

/* Those that something is amiss with, or on its way: a configuration has come further. */
static void unsettled_partitions(const struct routes *r, const char *ns, const char *controller)
{
    struct kube_slice s = {0};

    if (r->world)
        s = world_find(r->world, "Partition", ns, WORLD_BY_CONTROLLER, controller);
    for (size_t i = 0; i < s.n; i++) {
        const struct world_partition *p = s.items[i]->value;

        if (!p || !p->settled)
            add(r, "Partition", s.items[i]->namespace, s.items[i]->name);
    }
}

void routes_follow_slurm(const struct routes *r, const char *ns, const char *controller,
                         const struct agent_change *c)
{
    if (c->full || c->slurmctld) {
        routes_follow_cluster(r, ns, controller);
        return;
    }
    for (size_t i = 0; i < c->n_nodes; i++)
        follow_node(r, ns, c->nodes[i]);
    for (size_t i = 0; i < c->n_partitions; i++)
        add_index(r, "Partition", ns, WORLD_BY_SLURM_NAME, c->partitions[i]);
    for (size_t i = 0; i < c->n_drifted; i++) {
        add_index(r, "NodeSet", ns, WORLD_BY_SLURM_NAME, c->drifted[i]);
        add_index(r, "Partition", ns, WORLD_BY_SLURM_NAME, c->drifted[i]);
    }
    if (c->drift || c->config)
        add(r, "Controller", ns, controller);
    if (c->config)
        unsettled_partitions(r, ns, controller);
}
