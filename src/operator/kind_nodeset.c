/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NodeSets in the operator.
 *
 * They are kept in short beside their text.  A changed spec concerns the Controller (slurm.conf),
 * NodeSets of the same name in Slurm (one may take over), and Partitions that name it; a Slurm node
 * concerns the NodeSet of its pod, or that has its name; the fate of a configuration those whose
 * partition is not known to be as declared.  The plan reads pods, revisions, and what is known of
 * Slurm's nodes and the partition.
 */
#include "src/api/nodeset.h"

#include "src/base/alloc.h"
#include "src/build/labels.h"
#include "src/operator/kinds.h"
#include "src/operator/references.h"
#include "src/operator/snapshot.h"
#include "src/plan/failure.h"
#include "src/plan/finalizer.h"
#include "src/plan/nodeset.h"

/* What is kept ready, to find those that belong together. */
struct kept {
    struct arena arena;
    struct nodeset brief; /* for a Controller's plan, which needs all of them at once */
    const char *controller;
    const char *slurm_name;
    int64_t generation;
    int64_t created_us;
    bool deleting;
    bool settled; /* its status says that the partition of this very generation is live */
};

static void kept_release(void *value)
{
    struct kept *n = value;

    arena_done(&n->arena);
    free(n);
}

static bool is_settled(const struct nodeset *ns)
{
    const struct api_condition *c = api_condition_find(&ns->status.conditions, "PartitionApplied");

    return !nodeset_has_partition(ns) || ns->meta.deleted_us ||
           (c && streq(c->status, "True") && c->generation == ns->meta.generation);
}

static void *kept_decode(void *arg, const struct jsn *object, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    struct kept *n;
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
    n->settled = is_settled(&ns);
    nodeset_brief(&n->arena, &ns, &n->brief);
    return n;
}

static void refer(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    AUTO(arena_done) struct arena a = {0};
    struct nodeset ns = {0};
    struct err e = {0};

    (void)arg;
    if (nodeset_decode(&a, object, &ns, &e) < 0)
        return;
    if (ns.spec.ssh)
        references_emit_key(&a, out, api_namespace(&ns.meta), "Secret",
                            &ns.spec.ssh->sssd_conf_ref);
}

static void index_slurm_name(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    AUTO(arena_done) struct arena a = {0};
    const char *ns = jsn_get_str(object, "metadata.namespace");
    const char *name = api_kind_nodeset.slurm_name(&a, object);

    (void)arg;
    if (name)
        kube_index_emit(out, str_of(arena_printf(&a, "%s/%s", ns ? ns : "default", name)));
}

static void follow(const struct routes *r, const struct kube_object *o)
{
    const struct kept *n = o->value;
    AUTO(free) char *reference = xasprintf("NodeSet/%s", o->name);

    if (!n)
        return;
    routes_add(r, "Controller", o->namespace, n->controller);
    routes_add_index(r, "NodeSet", o->namespace, WORLD_BY_SLURM_NAME, n->slurm_name);
    routes_add_index(r, "Partition", o->namespace, WORLD_BY_REFERENCE, reference);
}

static bool same_spec(const struct kube_object *old, const struct kube_object *now)
{
    const struct kept *a = old ? old->value : NULL;
    const struct kept *b = now ? now->value : NULL;

    return a && b && a->generation == b->generation && a->deleting == b->deleting;
}

static void changed(const struct routes *r, const struct kube_object *old,
                    const struct kube_object *now)
{
    if (same_spec(old, now))
        return;
    if (old)
        follow(r, old);
    if (now)
        follow(r, now);
}

/* A node whose pod is gone: the NodeSet whose name it has, without the number.  Returns whether
 * there is one; if not, any may have had pods of that name before. */
static bool follow_lost_node(const struct routes *r, const char *ns, const char *node)
{
    AUTO(free) char *name = xstrdup(node);
    size_t n = strlen(name);

    while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9')
        n--;
    while (n > 0 && name[n - 1] == '-')
        n--;
    name[n] = '\0';
    if (node[n] == '\0')
        return true; /* it has no number: no pod's */
    if (n == 0 ||
        (r->world && world_find(r->world, "NodeSet", ns, WORLD_BY_SLURM_NAME, name).n == 0))
        return false;
    routes_add_index(r, "NodeSet", ns, WORLD_BY_SLURM_NAME, name);
    return true;
}

static bool is_any(const void *kept, const void *arg)
{
    (void)arg;
    return kept != NULL;
}

static void follow_node(const struct routes *r, const char *ns, const char *controller,
                        const char *node)
{
    struct kube_slice s = {0};

    if (r->world)
        s = world_find(r->world, "Pod", ns, WORLD_BY_SLURM_NAME, node);
    for (size_t i = 0; i < s.n; i++)
        routes_add_pod_owner(r, s.items[i]);
    if (s.n == 0 && !follow_lost_node(r, ns, node))
        routes_add_some(r, "NodeSet", ns, controller, is_any, NULL);
}

static bool is_unsettled(const void *kept, const void *arg)
{
    const struct kept *n = kept;

    (void)arg;
    return n && !n->settled;
}

static void slurm_changed(const struct routes *r, const char *ns, const char *controller,
                          const struct agent_change *c)
{
    for (size_t i = 0; i < c->n_nodes; i++)
        follow_node(r, ns, controller, c->nodes[i]);
    routes_add_named(r, "NodeSet", ns, c->drifted, c->n_drifted);
    if (c->config)
        routes_add_some(r, "NodeSet", ns, controller, is_unsettled, NULL);
}

/* All NodeSets of a Controller that decode, in short. */
static void join(struct reconcile *r, const char *controller, struct build_cluster *cluster)
{
    struct kube_slice s =
        world_find(r->world, "NodeSet", r->namespace, WORLD_BY_CONTROLLER, controller);
    const struct nodeset **list = arena_calloc(&r->arena, s.n + 1, sizeof(struct nodeset *));
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        const struct kept *ns = s.items[i]->value;

        if (ns)
            list[n++] = &ns->brief;
    }
    cluster->nodesets = list;
    cluster->n_nodesets = n;
}

/* The oldest other NodeSet of the cluster that has the same name in Slurm and came before. */
static const char *find_twin(struct reconcile *r, const struct nodeset *ns)
{
    struct kube_slice s = world_find(r->world, "NodeSet", r->namespace, WORLD_BY_SLURM_NAME,
                                     nodeset_slurm_name(&r->arena, ns));

    for (size_t i = 0; i < s.n; i++) {
        const struct kept *other = s.items[i]->value;

        if (!other || streq(s.items[i]->name, ns->meta.name) ||
            !streq(other->controller, ns->spec.controller_ref.name))
            continue;
        if (other->created_us < ns->meta.created_us ||
            (other->created_us == ns->meta.created_us &&
             strcmp(s.items[i]->name, ns->meta.name) < 0))
            return arena_strdup(&r->arena, s.items[i]->name);
    }
    return NULL;
}

/*
 * Pods that bear its name and that nobody controls.  Of a NodeSet that is being deleted with all it
 * has, the garbage collector took them from it, and they are its own still.  Otherwise they are
 * left from another one.
 */
static void read_lost_pods(struct reconcile *r, struct plan_nodeset *in)
{
    const struct api_meta *m = &in->ns->meta;
    struct kube_slice s = world_find(r->world, "Pod", r->namespace, WORLD_BY_LOST, m->name);
    const struct plan_pod **pods = arena_calloc(&r->arena, in->n_pods + s.n + 1, sizeof(*pods));

    for (size_t i = 0; i < s.n; i++)
        pods[i] = snapshot_pod(r, s.items[i]->value);
    if (!m->deleted_us) {
        in->orphans = pods;
        in->n_orphans = s.n;
    } else if (api_annotation(m, DELETE_CASCADE)) {
        if (in->n_pods)
            memcpy(pods + s.n, in->pods, in->n_pods * sizeof(*pods));
        in->pods = pods;
        in->n_pods += s.n;
    }
}

static void read_revisions(struct reconcile *r, struct plan_nodeset *in)
{
    struct kube_slice s =
        world_owned(r->world, "ControllerRevision", r->namespace, in->ns->meta.uid);
    const struct jsn **list = arena_calloc(&r->arena, s.n + 1, sizeof(struct jsn *));

    for (size_t i = 0; i < s.n; i++) {
        struct jsn *v = NULL;
        struct err e = {0};

        if (kube_object_parse(s.items[i], &r->arena, &v, &e) == 0)
            list[in->n_revisions++] = v;
    }
    in->revisions = list;
}

/* Machines that pods are pinned to, and that are seen not to be there. */
static void read_gone(struct reconcile *r, struct plan_nodeset *in)
{
    const struct jsn_map *pins = &in->ns->status.ordinal_to_node;
    const char **gone = arena_calloc(&r->arena, pins->n + 1, sizeof(*gone));

    for (size_t i = 0; i < pins->n && world_serves(r->world, "Node"); i++)
        if (!world_get(r->world, "Node", "", pins->items[i].value))
            gone[in->n_gone++] = pins->items[i].value;
    in->gone = gone;
}

static void plan(struct reconcile *r)
{
    struct nodeset *ns = arena_calloc(&r->arena, 1, sizeof(*ns));
    struct plan_nodeset in = {.object = r->object, .ns = ns, .now_us = r->now_us};
    struct err e = {0};

    if (nodeset_decode(&r->arena, r->object, ns, &e) < 0) {
        plan_failure(r->kind, r->object, "Invalid", e.text, r->now_us, &r->actions);
        return;
    }
    in.cluster = snapshot_cluster(r, ns->spec.controller_ref.name);
    in.twin = find_twin(r, ns);
    in.pods = snapshot_pods(r, ns->meta.uid, &in.n_pods);
    read_lost_pods(r, &in);
    in.slurm = snapshot_slurm(r, ns->spec.controller_ref.name);
    read_revisions(r, &in);
    read_gone(r, &in);
    plan_nodeset(&in, &r->actions);
}

static const struct kube_decoder decoder = {kept_decode, kept_release, NULL};
static const struct kube_index indexes[] = {
    {WORLD_BY_CONTROLLER, references_to_controller, NULL},
    {WORLD_BY_SLURM_NAME, index_slurm_name, NULL},
    {WORLD_BY_REFERENCE, refer, NULL},
    {NULL},
};

const struct operator_kind operator_nodeset = {
    .api = &api_kind_nodeset,
    .decoder = &decoder,
    .indexes = indexes,
    .changed = changed,
    .slurm_changed = slurm_changed,
    .config_written = operator_ignores_config,
    .join = join,
    .plan = plan,
    .gone = operator_keeps_nothing,
};
