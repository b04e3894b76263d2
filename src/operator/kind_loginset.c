/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LoginSets in the operator.
 *
 * They are kept as text: there are few.  A plan reads the Deployment, its pods (for what keeps them
 * from running), and the Secrets whose contents the pods are made again for.  Host keys are made
 * beside the loop (host_keys.c) for one that has none.
 */
#include "src/api/loginset.h"

#include "src/build/labels.h"
#include "src/operator/host_keys.h"
#include "src/operator/kinds.h"
#include "src/operator/references.h"
#include "src/operator/snapshot.h"
#include "src/plan/failure.h"
#include "src/plan/loginset.h"

static void refer(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    AUTO(arena_done) struct arena a = {0};
    struct loginset l = {0};
    struct err e = {0};
    const char *ns;

    (void)arg;
    if (loginset_decode(&a, object, &l, &e) < 0)
        return;
    ns = api_namespace(&l.meta);
    references_emit_key(&a, out, ns, "Secret", &l.spec.sssd_conf_ref);
    references_emit(&a, out, ns, "Secret", login_keys_name(&a, &l));
    if (l.spec.initconf)
        references_emit(&a, out, ns, "Secret", labels_keys(&a, l.spec.controller_ref.name));
}

/* How many there are: they have the cluster's keys, too. */
static void join(struct reconcile *r, const char *controller, struct build_cluster *cluster)
{
    struct kube_slice s =
        world_find(r->world, "LoginSet", r->namespace, WORLD_BY_CONTROLLER, controller);

    cluster->n_loginsets = (unsigned)s.n;
}

static void read_pods(struct reconcile *r, struct plan_loginset *in)
{
    const struct plan_pod **pods =
        arena_calloc(&r->arena, world_count(r->world, "Pod") + 1, sizeof(*pods));
    const struct kube_object *o;
    size_t at = 0;

    while ((o = world_next(r->world, "Pod", r->namespace, &at))) {
        const struct plan_pod *p = o->value;

        if (p->of == KIND_LOGINSET && streq(p->instance, in->l->meta.name))
            pods[in->n_pods++] = snapshot_pod(r, p);
    }
    in->pods = pods;
}

static void find_keys(struct reconcile *r, struct plan_loginset *in)
{
    const char *key = arena_printf(&r->arena, "%s/%s/%s", r->kind, r->namespace, r->name);

    if (!r->host_keys)
        return;
    if (plan_loginset_needs_keys(&r->arena, in))
        in->fresh = host_keys_get(r->host_keys, key);
    else
        host_keys_drop(r->host_keys, key);
}

static void plan(struct reconcile *r)
{
    struct loginset *l = arena_calloc(&r->arena, 1, sizeof(*l));
    struct plan_loginset in = {.object = r->object, .l = l, .now_us = r->now_us};
    struct err e = {0};

    if (loginset_decode(&r->arena, r->object, l, &e) < 0) {
        plan_failure(r->kind, r->object, "Invalid", e.text, r->now_us, &r->actions);
        return;
    }
    in.cluster = snapshot_cluster(r, l->spec.controller_ref.name);
    read_pods(r, &in);
    find_keys(r, &in);
    plan_loginset(&in, &r->actions);
}

static void gone(struct reconcile *r)
{
    if (r->host_keys)
        host_keys_drop(r->host_keys,
                       arena_printf(&r->arena, "%s/%s/%s", r->kind, r->namespace, r->name));
}

static const struct kube_index indexes[] = {
    {WORLD_BY_CONTROLLER, references_to_controller, NULL},
    {WORLD_BY_REFERENCE, refer, NULL},
    {NULL},
};

const struct operator_kind operator_loginset = {
    .api = &api_kind_loginset,
    .decoder = NULL,
    .indexes = indexes,
    .changed = operator_changes_nobody,
    .slurm_changed = operator_ignores_slurm,
    .config_written = operator_ignores_config,
    .join = join,
    .plan = plan,
    .gone = gone,
};
