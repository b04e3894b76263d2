/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots.
 *
 * The caches hold texts and small structs; a plan wants decoded objects.  Here an object and what
 * it needs are put together in an arena that lives as long as the plan's actions.  What only plans
 * of one kind need is read by that kind (kind_nodeset.c, ...).
 */
#include "src/operator/snapshot.h"

#include "src/api/accounting.h"
#include "src/operator/kinds.h"
#include "src/plan/machine.h"

const struct jsn *snapshot_object(struct reconcile *r, const char *kind, const char *name)
{
    const struct kube_object *o = world_get(r->world, kind, r->namespace, name);
    struct jsn *v = NULL;
    struct err e = {0};

    return o && kube_object_parse(o, &r->arena, &v, &e) == 0 ? v : NULL;
}

/* NULL if there is none, or if it does not decode. */
static const struct controller *read_controller(struct reconcile *r, const char *name)
{
    const struct jsn *v = snapshot_object(r, "Controller", name);
    struct controller *c = arena_calloc(&r->arena, 1, sizeof(*c));
    struct err e = {0};

    return v && controller_decode(&r->arena, v, c, &e) == 0 ? c : NULL;
}

static const struct accounting *read_accounting(struct reconcile *r, const struct controller *c)
{
    struct accounting *acct = arena_calloc(&r->arena, 1, sizeof(*acct));
    struct err e = {0};
    const struct jsn *v;

    if (!c || !c->spec.accounting_ref)
        return NULL;
    v = snapshot_object(r, "Accounting", c->spec.accounting_ref->name);
    return v && accounting_decode(&r->arena, v, acct, &e) == 0 ? acct : NULL;
}

struct build_cluster *snapshot_cluster(struct reconcile *r, const char *controller)
{
    struct build_cluster *cluster = arena_calloc(&r->arena, 1, sizeof(*cluster));
    struct world_view *view = arena_calloc(&r->arena, 1, sizeof(*view));
    struct api_lookup *lookup = arena_calloc(&r->arena, 1, sizeof(*lookup));

    *view = (struct world_view){r->world, &r->arena};
    *lookup = world_lookup(view);
    cluster->env = r->env;
    cluster->lookup = lookup;
    cluster->controller = read_controller(r, controller);
    cluster->accounting = read_accounting(r, cluster->controller);
    if (r->memos && cluster->controller)
        cluster->memo = memos_get(r->memos, r->namespace, controller);
    return cluster;
}

void snapshot_members(struct reconcile *r, const char *controller, struct build_cluster *cluster)
{
    for (size_t i = 0; i < API_N_KINDS; i++)
        operator_kinds[i]->join(r, controller, cluster);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct plan_pod *const *)a)->name,
                  (*(const struct plan_pod *const *)b)->name);
}

static const char *copy(struct reconcile *r, const char *text)
{
    return text ? arena_strdup(&r->arena, text) : NULL;
}

/* Why the pod's machine is to have no jobs; NULL: it may, or nobody can tell. */
static const char *machine_drains(struct reconcile *r, const char *machine)
{
    const struct kube_object *o = machine ? world_get(r->world, "Node", "", machine) : NULL;

    return o && o->value ? plan_machine_drains(&r->arena, o->value, r->env->node_conditions) : NULL;
}

/* Copied: the execution outlives the turn that these are borrowed for. */
const struct plan_pod *snapshot_pod(struct reconcile *r, const struct plan_pod *from)
{
    struct plan_pod *p = arena_calloc(&r->arena, 1, sizeof(*p));

    *p = *from;
    p->namespace = r->namespace;
    p->name = copy(r, p->name);
    p->uid = copy(r, p->uid);
    p->version = copy(r, p->version);
    p->hash = copy(r, p->hash);
    p->owner_uid = p->owner_name = p->instance = NULL;
    p->node_name = copy(r, p->node_name);
    p->node_drain = machine_drains(r, p->node_name);
    p->slurm_name = copy(r, p->slurm_name);
    p->trouble = copy(r, p->trouble);
    p->slurm_message = copy(r, p->slurm_message);
    p->ip = copy(r, p->ip);
    return p;
}

const struct plan_pod **snapshot_pods(struct reconcile *r, const char *owner_uid, size_t *ret_n)
{
    struct kube_slice s = world_owned(r->world, "Pod", r->namespace, owner_uid);
    const struct plan_pod **pods = arena_calloc(&r->arena, s.n + 1, sizeof(struct plan_pod *));
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        const struct plan_pod *p = s.items[i]->value;

        if (streq(p->owner_uid, owner_uid)) /* others own it, but do not manage it */
            pods[n++] = snapshot_pod(r, p);
    }
    qsort(pods, n, sizeof(*pods), by_name);
    *ret_n = n;
    return pods;
}

const struct slurm_state *snapshot_slurm(struct reconcile *r, const char *controller)
{
    struct agent_link *link = r->agents ? agents_find(r->agents, r->namespace, controller) : NULL;

    return link ? agent_link_view(link) : NULL;
}
