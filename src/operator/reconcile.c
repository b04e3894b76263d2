/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots.
 *
 * The caches hold texts and small structs; a plan wants decoded objects.  Here an object and what
 * it needs are put together in an arena that lives as long as the plan's actions.  An object that
 * does not decode (the API server should not have taken it) gets a condition instead of a plan.
 */
#include "src/operator/reconcile.h"

#include "src/base/encode.h"
#include "src/build/labels.h"
#include "src/build/secrets.h"
#include "src/operator/agent_target.h"
#include "src/plan/controller.h"
#include "src/plan/failure.h"
#include "src/plan/finalizer.h"
#include "src/plan/nodeset.h"
#include "src/plan/partition.h"

void reconcile_done(struct reconcile *r)
{
    arena_done(&r->arena);
}

void reconcile_open(struct reconcile *r, const char *key)
{
    struct str rest = str_of(key);
    struct str kind = {0};
    struct str ns = {0};

    *r = (struct reconcile){0};
    r->actions.arena = &r->arena;
    assert(str_split(&rest, '/', &kind) && str_split(&rest, '/', &ns) && rest.n > 0);
    r->kind = arena_str(&r->arena, kind);
    r->namespace = arena_str(&r->arena, ns);
    r->name = arena_str(&r->arena, rest);
}

static const struct jsn *read_object(struct reconcile *r, const struct world *w, const char *kind,
                                     const char *name)
{
    const struct kube_object *o = world_get(w, kind, r->namespace, name);
    struct jsn *v = NULL;
    struct err e = {0};

    return o && kube_object_parse(o, &r->arena, &v, &e) == 0 ? v : NULL;
}

/* NULL if there is none, or if it does not decode. */
static const struct controller *read_controller(struct reconcile *r, const struct world *w,
                                                const char *name)
{
    const struct jsn *v = read_object(r, w, "Controller", name);
    struct controller *c = arena_calloc(&r->arena, 1, sizeof(*c));
    struct err e = {0};

    return v && controller_decode(&r->arena, v, c, &e) == 0 ? c : NULL;
}

static const struct accounting *read_accounting(struct reconcile *r, const struct world *w,
                                                const struct controller *c)
{
    struct accounting *acct = arena_calloc(&r->arena, 1, sizeof(*acct));
    struct err e = {0};
    const struct jsn *v;

    if (!c || !c->spec.accounting_ref)
        return NULL;
    v = read_object(r, w, "Accounting", c->spec.accounting_ref->name);
    return v && accounting_decode(&r->arena, v, acct, &e) == 0 ? acct : NULL;
}

/* All NodeSets of a Controller that decode, in short; borrowed from the cache for this turn. */
static void read_nodesets(struct reconcile *r, const struct world *w, const char *controller,
                          struct build_cluster *cluster)
{
    struct kube_slice s = world_find(w, "NodeSet", r->namespace, WORLD_BY_CONTROLLER, controller);
    const struct nodeset **list = arena_calloc(&r->arena, s.n + 1, sizeof(struct nodeset *));
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        const struct world_nodeset *ns = s.items[i]->value;

        if (ns)
            list[n++] = &ns->brief;
    }
    cluster->nodesets = list;
    cluster->n_nodesets = n;
}

/* All Partitions of a Controller that stay; borrowed from the cache for this turn. */
static void read_partitions(struct reconcile *r, const struct world *w, const char *controller,
                            struct build_cluster *cluster)
{
    struct kube_slice s = world_find(w, "Partition", r->namespace, WORLD_BY_CONTROLLER, controller);
    const struct api_partition **list = arena_calloc(&r->arena, s.n + 1, sizeof(*list));
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        const struct world_partition *p = s.items[i]->value;

        if (p && !p->part.meta.deleted_us)
            list[n++] = &p->part;
    }
    cluster->partitions = list;
    cluster->n_partitions = n;
}

static struct build_cluster *read_cluster(struct reconcile *r, const struct world *w,
                                          const struct build_env *env, const char *controller)
{
    struct build_cluster *cluster = arena_calloc(&r->arena, 1, sizeof(*cluster));
    struct world_view *view = arena_calloc(&r->arena, 1, sizeof(*view));
    struct api_lookup *lookup = arena_calloc(&r->arena, 1, sizeof(*lookup));

    *view = (struct world_view){w, &r->arena};
    *lookup = world_lookup(view);
    cluster->env = env;
    cluster->lookup = lookup;
    cluster->controller = read_controller(r, w, controller);
    cluster->accounting = read_accounting(r, w, cluster->controller);
    if (r->memos && cluster->controller)
        cluster->memo = memos_get(r->memos, r->namespace, controller);
    return cluster;
}

static const unsigned char *fresh_random(struct arena *a)
{
    unsigned char *bytes = arena_alloc(a, SECRET_KEY_BYTES);

    encode_random(bytes, SECRET_KEY_BYTES);
    return bytes;
}

/* The oldest other NodeSet of the cluster that has the same name in Slurm and came before. */
static const char *find_twin(struct reconcile *r, const struct world *w, const struct nodeset *ns)
{
    struct kube_slice s = world_find(w, "NodeSet", r->namespace, WORLD_BY_SLURM_NAME,
                                     nodeset_slurm_name(&r->arena, ns));

    for (size_t i = 0; i < s.n; i++) {
        const struct world_nodeset *other = s.items[i]->value;

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

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct plan_pod *const *)a)->name,
                  (*(const struct plan_pod *const *)b)->name);
}

/* Copied: the execution outlives the turn that these are borrowed for. */
static const struct plan_pod *copy_pod(struct reconcile *r, const struct plan_pod *from)
{
    struct plan_pod *p = arena_calloc(&r->arena, 1, sizeof(*p));

    *p = *from;
    p->namespace = r->namespace;
    p->name = arena_strdup(&r->arena, p->name);
    p->uid = arena_strdup(&r->arena, p->uid);
    p->hash = arena_strdup(&r->arena, p->hash);
    p->owner_uid = p->owner_name = p->instance = NULL;
    if (p->node_name)
        p->node_name = arena_strdup(&r->arena, p->node_name);
    if (p->slurm_name)
        p->slurm_name = arena_strdup(&r->arena, p->slurm_name);
    if (p->trouble)
        p->trouble = arena_strdup(&r->arena, p->trouble);
    if (p->slurm_message)
        p->slurm_message = arena_strdup(&r->arena, p->slurm_message);
    if (p->ip)
        p->ip = arena_strdup(&r->arena, p->ip);
    return p;
}

/* Those that an object controls, by name. */
static const struct plan_pod **read_pods(struct reconcile *r, const struct world *w,
                                         const char *owner_uid, size_t *ret_n)
{
    struct kube_slice s = world_owned(w, "Pod", r->namespace, owner_uid);
    const struct plan_pod **pods = arena_calloc(&r->arena, s.n + 1, sizeof(struct plan_pod *));
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        const struct plan_pod *p = s.items[i]->value;

        if (streq(p->owner_uid, owner_uid)) /* others own it, but do not manage it */
            pods[n++] = copy_pod(r, p);
    }
    qsort(pods, n, sizeof(*pods), by_name);
    *ret_n = n;
    return pods;
}

/* Pods that the garbage collector took from a NodeSet which is being deleted with all it has. */
static void read_lost_pods(struct reconcile *r, const struct world *w, struct plan_nodeset *in)
{
    const struct api_meta *m = &in->ns->meta;
    const struct plan_pod **pods;
    const struct kube_object *o;
    size_t at = 0;

    if (!m->deleted_us || !api_annotation(m, DELETE_CASCADE))
        return;
    pods = arena_calloc(&r->arena, in->n_pods + world_count(w, "Pod") + 1, sizeof(*pods));
    if (in->n_pods)
        memcpy(pods, in->pods, in->n_pods * sizeof(*pods));
    while ((o = world_next(w, "Pod", r->namespace, &at))) {
        const struct plan_pod *p = o->value;

        if (!p->owner_uid && !p->is_slurmctld && streq(p->instance, m->name))
            pods[in->n_pods++] = copy_pod(r, p);
    }
    in->pods = pods;
}

/* What is known of the Slurm of a Controller; NULL: nothing. */
static const struct slurm_state *read_slurm(struct reconcile *r, const char *controller)
{
    struct agent_link *link = r->agents ? agents_find(r->agents, r->namespace, controller) : NULL;

    return link ? agent_link_view(link) : NULL;
}

/* Find the agent, and what is known through it. */
static void follow_agent(struct reconcile *r, const struct world *w, struct plan_controller *in)
{
    struct agent_target t;
    struct agent_link *link;

    if (!r->agents)
        return;
    agents_set(r->agents, r->namespace, r->name,
               agent_target_find(&r->arena, w, in, &t) ? &t : NULL);
    link = agents_find(r->agents, r->namespace, r->name);
    in->slurm = read_slurm(r, r->name);
    in->agent_trouble = link ? agent_link_trouble(link) : NULL;
}

static void plan_for_controller(struct reconcile *r, const struct world *w,
                                const struct build_env *env, int64_t now_us)
{
    const struct kube_object *set;
    struct build_cluster *cluster = read_cluster(r, w, env, r->name);
    struct plan_controller in = {
        .object = r->object,
        .cluster = cluster,
        .serves_monitors = world_serves(w, "ServiceMonitor"),
        .fresh = {fresh_random(&r->arena), fresh_random(&r->arena),
                  agent_target_fresh_keys(&r->arena, w, cluster)},
        .now_us = now_us,
    };

    read_nodesets(r, w, r->name, cluster);
    read_partitions(r, w, r->name, cluster);
    set = world_get(w, "StatefulSet", r->namespace, labels_controller(&r->arena, r->name));
    in.pods = read_pods(r, w, set ? set->uid : NULL, &in.n_pods);
    follow_agent(r, w, &in);
    plan_controller(&in, &r->actions);
}

static void read_revisions(struct reconcile *r, const struct world *w, struct plan_nodeset *in)
{
    struct kube_slice s = world_owned(w, "ControllerRevision", r->namespace, in->ns->meta.uid);
    const struct jsn **list = arena_calloc(&r->arena, s.n + 1, sizeof(struct jsn *));

    for (size_t i = 0; i < s.n; i++) {
        struct jsn *v = NULL;
        struct err e = {0};

        if (kube_object_parse(s.items[i], &r->arena, &v, &e) == 0)
            list[in->n_revisions++] = v;
    }
    in->revisions = list;
}

static void plan_for_nodeset(struct reconcile *r, const struct world *w,
                             const struct build_env *env, int64_t now_us)
{
    struct nodeset *ns = arena_calloc(&r->arena, 1, sizeof(*ns));
    struct plan_nodeset in = {.object = r->object, .ns = ns, .now_us = now_us};
    struct err e = {0};

    if (nodeset_decode(&r->arena, r->object, ns, &e) < 0) {
        plan_failure(r->kind, r->object, "Invalid", e.text, now_us, &r->actions);
        return;
    }
    in.cluster = read_cluster(r, w, env, ns->spec.controller_ref.name);
    in.twin = find_twin(r, w, ns);
    in.pods = read_pods(r, w, ns->meta.uid, &in.n_pods);
    read_lost_pods(r, w, &in);
    in.slurm = read_slurm(r, ns->spec.controller_ref.name);
    read_revisions(r, w, &in);
    plan_nodeset(&in, &r->actions);
}

static int64_t partition_changed_us(const struct reconcile *r, const struct world *w)
{
    const struct kube_object *o = world_get(w, "Partition", r->namespace, r->name);
    const struct world_partition *p = o ? o->value : NULL;

    return p ? p->changed_us : 0;
}

static void plan_for_partition(struct reconcile *r, const struct world *w,
                               const struct build_env *env, int64_t now_us)
{
    struct api_partition *part = arena_calloc(&r->arena, 1, sizeof(*part));
    struct plan_partition in = {.object = r->object, .part = part, .now_us = now_us};
    struct build_cluster *cluster;
    const char *controller;
    struct err e = {0};

    if (api_partition_decode(&r->arena, r->object, part, &e) < 0) {
        plan_failure(r->kind, r->object, "Invalid", e.text, now_us, &r->actions);
        return;
    }
    controller = part->spec.controller_ref.name;
    cluster = read_cluster(r, w, env, controller);
    in.controller = cluster->controller;
    in.lookup = cluster->lookup;
    in.config_map = read_object(r, w, "ConfigMap", labels_config(&r->arena, controller));
    in.slurm = read_slurm(r, controller);
    in.changed_us = partition_changed_us(r, w);
    if (plan_partition_needs_cluster(&r->arena, &in)) {
        read_nodesets(r, w, controller, cluster);
        read_partitions(r, w, controller, cluster);
        in.cluster = cluster;
    }
    plan_partition(&in, &r->actions);
}

void reconcile_plan(struct reconcile *r, const struct world *w, const struct build_env *env,
                    int64_t now_us)
{
    r->object = read_object(r, w, r->kind, r->name);
    if (!r->object) {
        if (r->agents && streq(r->kind, "Controller"))
            agents_set(r->agents, r->namespace, r->name, NULL);
        if (r->memos && streq(r->kind, "Controller"))
            memos_drop(r->memos, r->namespace, r->name);
        return;
    }
    if (streq(r->kind, "NodeSet"))
        plan_for_nodeset(r, w, env, now_us);
    else if (streq(r->kind, "Partition"))
        plan_for_partition(r, w, env, now_us);
    else
        plan_for_controller(r, w, env, now_us);
}

void reconcile_plan_failure(struct reconcile *r, const struct world *w, const char *step,
                            const char *why, int64_t now_us)
{
    r->object = read_object(r, w, r->kind, r->name);
    if (r->object)
        plan_failure(r->kind, r->object, "SyncFailed",
                     arena_printf(&r->arena, "step \"%s\" failed: %s", step, why), now_us,
                     &r->actions);
}
