/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which change concerns whom.
 *
 *   one of our kinds       itself; whom its kind says (kind_controller.c, ...)
 *
 *   Pod                    the NodeSet that controls it; else the object that its labels name,
 *                          of the kind whose program it runs (labels_app)
 *
 *   Node                   the NodeSets that have pods there
 *
 *   Secret, ConfigMap ...  whoever controls it; whoever refers to it
 *
 *   Slurm's state          whom the kinds say: see there
 *
 * Statuses change with every pod; only a new generation tells that others are concerned.
 */
#include "src/operator/routes.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/build/labels.h"
#include "src/operator/kinds.h"
#include "src/plan/machine.h"

#define OWN_WRITE_MS 200

void routes_add(const struct routes *r, const char *kind, const char *ns, const char *name)
{
    AUTO(free) char *key = xasprintf("%s/%s/%s", kind, ns, name);

    queue_add(r->queue, key);
}

void routes_add_index(const struct routes *r, const char *kind, const char *ns, const char *index,
                      const char *value)
{
    struct kube_slice s = {0};

    if (r->world)
        s = world_find(r->world, kind, ns, index, value);
    for (size_t i = 0; i < s.n; i++)
        routes_add(r, kind, s.items[i]->namespace, s.items[i]->name);
}

void routes_add_named(const struct routes *r, const char *kind, const char *ns,
                      const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        routes_add_index(r, kind, ns, WORLD_BY_SLURM_NAME, names[i]);
}

void routes_add_some(const struct routes *r, const char *kind, const char *ns,
                     const char *controller, routes_pick_fn wanted, const void *arg)
{
    struct kube_slice s = {0};

    if (r->world)
        s = world_find(r->world, kind, ns, WORLD_BY_CONTROLLER, controller);
    for (size_t i = 0; i < s.n; i++)
        if (wanted(s.items[i]->value, arg))
            routes_add(r, kind, s.items[i]->namespace, s.items[i]->name);
}

void routes_add_members(const struct routes *r, const char *ns, const char *controller)
{
    API_FOR_KINDS (k)
        if (k->id != KIND_CONTROLLER)
            routes_add_index(r, k->kind, ns, WORLD_BY_CONTROLLER, controller);
}

void routes_add_pod_owner(const struct routes *r, const struct kube_object *o)
{
    const struct plan_pod *p = o ? o->value : NULL;

    const char *name = p && p->of == KIND_NODESET && p->owner_name ? p->owner_name
                       : p                                         ? p->instance
                                                                   : NULL;

    if (name)
        routes_add(r, api_kinds[p->of]->kind, o->namespace, name);
}

/* A ConfigMap of a Controller's: its configuration was written. */
static void config_written(const struct routes *r, const char *ns, const char *controller,
                           const struct jsn *map)
{
    const char *conf = jsn_text(jsn_key(jsn_key(map, "data"), "slurm.conf"));

    for (size_t i = 0; i < API_N_KINDS; i++)
        operator_kinds[i]->config_written(r, ns, controller, conf);
}

/* The keys of a cluster's pods have changed: slurmdbd has them, too. */
static void keys_written(const struct routes *r, const char *ns)
{
    const struct kube_object *o;
    size_t at = 0;

    while (r->world && (o = world_next(r->world, "Accounting", ns, &at)))
        routes_add(r, "Accounting", ns, o->name);
}

/*
 * Who controls an object that has changed.  A ConfigMap of a Controller changes as a rule because
 * the Controller's plan has written it: whether somebody else did is looked at a little later, when
 * nobody waits for the Controller.
 */
static void add_owner(const struct routes *r, const struct api_kind *of, const char *kind,
                      const struct kube_object *o, const char *name, bool changed)
{
    AUTO(free) char *key = xasprintf("%s/%s/%s", of->kind, o->namespace, name);

    if (changed && of->id == KIND_CONTROLLER && streq(kind, "ConfigMap"))
        queue_add_at(r->queue, key, clock_mono_ms() + OWN_WRITE_MS);
    else
        queue_add(r->queue, key);
}

/* The object of ours that controls it; one of several owners does not: a label names the cluster.
 * `changed`: it was there before, and is there now. */
static void add_owners(const struct routes *r, const char *kind, const struct kube_object *o,
                       bool changed)
{
    AUTO(arena_done) struct arena a = {0};
    const char *cluster;
    struct jsn *v = NULL;
    struct err e = {0};

    if (!o || o->text.n == 0 || kube_object_parse(o, &a, &v, &e) < 0)
        return;
    JSN_FOR_ITEMS (owner, jsn_get(v, "metadata.ownerReferences")) {
        const struct api_kind *of = api_kind_find(jsn_get_str(owner, "kind"));

        if (!of || !jsn_get_bool(owner, "controller", false))
            continue;
        add_owner(r, of, kind, o, jsn_get_str(owner, "name"), changed);
        if (of->id == KIND_CONTROLLER && streq(kind, "ConfigMap"))
            config_written(r, o->namespace, jsn_get_str(owner, "name"), v);
        if (of->id == KIND_CONTROLLER && streq(kind, "Secret"))
            keys_written(r, o->namespace);
    }
    cluster = jsn_text(jsn_member(jsn_get(v, "metadata.labels"), STR(LABEL_CLUSTER)));
    if (cluster)
        routes_add(r, "Controller", o->namespace, cluster);
}

static void add_referrers(const struct routes *r, const char *kind, const struct kube_object *o)
{
    AUTO(free) char *value = xasprintf("%s/%s", kind, o->name);

    API_FOR_KINDS (k)
        routes_add_index(r, k->kind, o->namespace, WORLD_BY_REFERENCE, value);
}

static void add_pod_owner(void *arg, const struct kube_object *o)
{
    routes_add_pod_owner(arg, o);
}

static void add_pods_of(const struct routes *r, const char *key)
{
    if (r->world)
        world_visit(r->world, "Pod", WORLD_BY_MACHINE, key, add_pod_owner, (void *)(uintptr_t)r);
}

static bool same_text(const char *a, const char *b)
{
    return streq(a ? a : "", b ? b : "");
}

/* Do both say the same of jobs?  Nodes tell every few seconds how they are. */
static bool same_machine(const struct plan_machine *a, const struct plan_machine *b)
{
    if (!a || !b || a->cordoned != b->cordoned || !same_text(a->reason, b->reason) ||
        a->n_conditions != b->n_conditions)
        return false;
    for (size_t i = 0; i < a->n_conditions; i++)
        if (!same_text(a->conditions[i].type, b->conditions[i].type) ||
            !same_text(a->conditions[i].reason, b->conditions[i].reason))
            return false;
    return true;
}

/* Whoever has pods there; of one that is gone, also who has pods that wait for it. */
static void follow_machine(const struct routes *r, const struct kube_object *old,
                           const struct kube_object *now)
{
    const char *name = now ? now->name : old ? old->name : "";
    AUTO(free) char *key = xasprintf("all/%s", name);

    if (old && now && same_machine(old->value, now->value))
        return;
    add_pods_of(r, key);
    if (!now)
        add_pods_of(r, "all/");
}

void routes_follow(const struct routes *r, const char *kind, const struct kube_object *old,
                   const struct kube_object *now)
{
    const struct operator_kind *own = operator_kind_find(kind);
    const struct kube_object *o = now ? now : old;

    if (streq(kind, "Pod")) {
        routes_add_pod_owner(r, old);
        routes_add_pod_owner(r, now);
        return;
    }
    if (streq(kind, "Node")) {
        follow_machine(r, old, now);
        return;
    }
    if (own) {
        routes_add(r, kind, o->namespace, o->name);
        own->changed(r, old, now);
    } else {
        add_referrers(r, kind, o);
    }
    add_owners(r, kind, old, now != NULL);
    add_owners(r, kind, now, old != NULL);
}

void routes_follow_cluster(const struct routes *r, const char *ns, const char *controller)
{
    routes_add(r, "Controller", ns, controller);
    routes_add_members(r, ns, controller);
}

void routes_follow_slurm(const struct routes *r, const char *ns, const char *controller,
                         const struct agent_change *c)
{
    if (c->full || c->slurmctld) {
        routes_follow_cluster(r, ns, controller);
        return;
    }
    for (size_t i = 0; i < API_N_KINDS; i++)
        operator_kinds[i]->slurm_changed(r, ns, controller, c);
}
