/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Controllers in the operator.
 *
 * A changed spec concerns all that name the Controller: its pods' host is in their arguments.  Its
 * plan reads all NodeSets and Partitions of the cluster, slurmctld's pods, and what the agent
 * beside slurmctld says; and it is the Controller's plan that finds the agent.
 */
#include "src/base/encode.h"
#include "src/base/hash.h"
#include "src/build/labels.h"
#include "src/build/secrets.h"
#include "src/operator/agent_target.h"
#include "src/operator/kinds.h"
#include "src/operator/references.h"
#include "src/operator/snapshot.h"
#include "src/plan/controller.h"

static void refer(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    AUTO(arena_done) struct arena a = {0};
    struct controller_ref_list lists[CONTROLLER_REF_LISTS];
    struct api_key_ref slurm;
    struct api_key_ref jwt;
    struct controller c = {0};
    struct err e = {0};
    const char *ns;

    (void)arg;
    if (controller_decode(&a, object, &c, &e) < 0)
        return;
    ns = api_namespace(&c.meta);
    slurm = controller_slurm_key(&a, &c);
    jwt = controller_jwt_key(&a, &c);
    references_emit_key(&a, out, ns, "Secret", &slurm);
    references_emit_key(&a, out, ns, "Secret", &jwt);
    references_emit_key(&a, out, ns, "ConfigMap", c.spec.jwks_key_ref);
    controller_ref_lists(&c, lists);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (size_t k = 0; k < lists[i].refs->n; k++)
            references_emit(&a, out, ns, "ConfigMap", lists[i].refs->items[k].name);
    if (c.spec.accounting_ref)
        references_emit(&a, out, ns, "Accounting", c.spec.accounting_ref->name);
}

#define NAME_LEN 64

/* What its members' plans read of it: its spec, and whether drift of their nodes is put back. */
struct brief {
    int64_t generation;
    bool reverts;
    uint64_t release;          /* of the annotation that names one: a hash of it */
    char accounting[NAME_LEN]; /* ACCOUNTING_NAME_MAX is less */
};

static struct brief brief_of(const struct kube_object *o)
{
    AUTO(arena_done) struct arena a = {0};
    struct brief b = {.generation = -1};
    const struct jsn *annotations;
    const char *accounting;
    const char *release;
    struct jsn *v = NULL;
    struct err e = {0};

    if (!o || kube_object_parse(o, &a, &v, &e) < 0)
        return b;
    annotations = jsn_get(v, "metadata.annotations");
    release = jsn_text(jsn_member(annotations, STR(API_RELEASE_ANNOTATION)));
    b.generation = jsn_get_int(v, "metadata.generation", -1);
    b.reverts = streq(jsn_text(jsn_member(annotations, STR(ANNOTATION_DRIFT_POLICY))), "Revert");
    b.release = release ? hash_str(str_of(release)) : 0;
    accounting = jsn_get_str(v, "spec.accountingRef.name");
    (void)snprintf(b.accounting, sizeof(b.accounting), "%s", accounting ? accounting : "");
    return b;
}

/* Its slurmdbd has its keys, and authenticates as it does. */
static void add_accounting(const struct routes *r, const char *ns, const struct brief *b)
{
    if (b->accounting[0])
        routes_add(r, "Accounting", ns, b->accounting);
}

static void changed(const struct routes *r, const struct kube_object *old,
                    const struct kube_object *now)
{
    const struct kube_object *o = now ? now : old;
    struct brief was = brief_of(old);
    struct brief is = brief_of(now);

    if (was.generation != is.generation || was.reverts != is.reverts || was.release != is.release)
        routes_add_members(r, o->namespace, o->name);
    if (was.generation != is.generation || was.release != is.release) {
        add_accounting(r, o->namespace, &was);
        add_accounting(r, o->namespace, &is);
    }
}

static void slurm_changed(const struct routes *r, const char *ns, const char *controller,
                          const struct agent_change *c)
{
    if (c->drift || c->config || c->releases)
        routes_add(r, "Controller", ns, controller);
}

static const unsigned char *fresh_random(struct arena *a)
{
    unsigned char *bytes = arena_alloc(a, SECRET_KEY_BYTES);

    encode_random(bytes, SECRET_KEY_BYTES);
    return bytes;
}

/* Find the agent, and what is known through it. */
static void follow_agent(struct reconcile *r, struct plan_controller *in)
{
    struct agent_target t;
    struct agent_link *link;

    if (!r->agents)
        return;
    agents_set(r->agents, r->namespace, r->name,
               agent_target_find(&r->arena, r->world, in, &t) ? &t : NULL);
    link = agents_find(r->agents, r->namespace, r->name);
    in->slurm = snapshot_slurm(r, r->name);
    in->agent_trouble = link ? agent_link_trouble(link) : NULL;
}

static void plan(struct reconcile *r)
{
    const struct kube_object *set;
    struct build_cluster *cluster = snapshot_cluster(r, r->name);
    struct plan_controller in = {
        .object = r->object,
        .cluster = cluster,
        .serves_monitors = world_serves(r->world, "ServiceMonitor"),
        .fresh = {fresh_random(&r->arena), fresh_random(&r->arena),
                  agent_target_fresh_keys(&r->arena, r->world, cluster, r->memos)},
        .now_us = r->now_us,
    };

    snapshot_members(r, r->name, cluster);
    set = world_get(r->world, "StatefulSet", r->namespace, labels_controller(&r->arena, r->name));
    in.pods = snapshot_pods(r, set ? set->uid : NULL, &in.n_pods);
    follow_agent(r, &in);
    plan_controller(&in, &r->actions);
}

static void gone(struct reconcile *r)
{
    if (r->agents)
        agents_set(r->agents, r->namespace, r->name, NULL);
    if (r->memos)
        memos_drop(r->memos, r->namespace, r->name);
}

static const struct kube_index indexes[] = {
    {WORLD_BY_REFERENCE, refer, NULL},
    {NULL},
};

const struct operator_kind operator_controller = {
    .api = &api_kind_controller,
    .decoder = NULL,
    .indexes = indexes,
    .changed = changed,
    .slurm_changed = slurm_changed,
    .config_written = operator_ignores_config,
    .join = operator_joins_nothing,
    .plan = plan,
    .gone = gone,
};
