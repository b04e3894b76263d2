/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accountings in the operator.
 *
 * An Accounting belongs to the cluster of the Controller that refers to it; of several the first by
 * name counts.  Each of them is planned for when the Accounting changes, since slurm.conf names
 * slurmdbd as soon as it answers.  Its plan reads the pods of slurmdbd and of the database, and
 * the ends of their logs while they are not ready.
 */
#include "src/base/encode.h"
#include "src/build/labels.h"
#include "src/operator/kinds.h"
#include "src/operator/references.h"
#include "src/operator/snapshot.h"
#include "src/plan/accounting.h"

static void refer(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    AUTO(arena_done) struct arena a = {0};
    struct accounting acct = {0};
    struct err e = {0};
    const char *ns;

    (void)arg;
    if (accounting_decode(&a, object, &acct, &e) < 0)
        return;
    ns = api_namespace(&acct.meta);
    references_emit_key(&a, out, ns, "Secret", acct.spec.slurm_key_ref);
    references_emit_key(&a, out, ns, "Secret", accounting_jwt_key(&acct));
    references_emit_key(&a, out, ns, "ConfigMap", acct.spec.jwks_key_ref);
    if (acct.spec.storage)
        references_emit_key(&a, out, ns, "Secret", acct.spec.storage->password_key_ref);
}

static void changed(const struct routes *r, const struct kube_object *old,
                    const struct kube_object *now)
{
    AUTO(arena_done) struct arena a = {0};
    const struct kube_object *o = now ? now : old;

    routes_add_index(r, "Controller", o->namespace, WORLD_BY_REFERENCE,
                     arena_printf(&a, "Accounting/%s", o->name));
}

/* The first by name; NULL: none refers to it. */
static const char *find_controller(struct reconcile *r)
{
    const char *value = arena_printf(&r->arena, "Accounting/%s", r->name);
    struct kube_slice s =
        world_find(r->world, "Controller", r->namespace, WORLD_BY_REFERENCE, value);
    const char *first = NULL;

    for (size_t i = 0; i < s.n; i++)
        if (!first || strcmp(s.items[i]->name, first) < 0)
            first = s.items[i]->name;
    return first ? arena_strdup(&r->arena, first) : NULL;
}

static const struct plan_pod *find_pod(struct reconcile *r, const char *set)
{
    const struct kube_object *o =
        world_get(r->world, "Pod", r->namespace, arena_printf(&r->arena, "%s-0", set));

    return o && o->value ? snapshot_pod(r, o->value) : NULL;
}

static const char *read_log(struct reconcile *r, const struct plan_pod *pod, const char *container)
{
    const char *text;

    if (!r->tails || !plan_accounting_reads_log(pod))
        return NULL;
    text = log_tails_get(r->tails, r->namespace, pod->name, pod->uid, container,
                         arena_printf(&r->arena, "%s/%s/%s", r->kind, r->namespace, r->name));
    return text ? arena_strdup(&r->arena, text) : NULL;
}

static void plan(struct reconcile *r)
{
    struct accounting *acct = arena_calloc(&r->arena, 1, sizeof(*acct));
    unsigned char *random = arena_alloc(&r->arena, ACCOUNTING_PASSWORD_RANDOM);
    const char *controller = find_controller(r);
    struct plan_accounting in = {.object = r->object,
                                 .cluster = snapshot_cluster(r, controller ? controller : ""),
                                 .random = random,
                                 .now_us = r->now_us};
    const struct slurm_state *slurm;
    struct err e = {0};

    if (accounting_decode(&r->arena, r->object, acct, &e) == 0)
        in.acct = acct;
    encode_random(random, ACCOUNTING_PASSWORD_RANDOM);
    slurm = controller ? snapshot_slurm(r, controller) : NULL;
    in.slurmctld_release = slurm ? slurm->release : NULL;
    in.slurmdbd = find_pod(r, labels_accounting(&r->arena, r->name));
    in.database = find_pod(r, labels_database(&r->arena, r->name));
    in.slurmdbd_log = read_log(r, in.slurmdbd, "slurmdbd");
    in.database_log = read_log(r, in.database, "mariadb");
    plan_accounting(&in, &r->actions);
}

static const struct kube_index indexes[] = {
    {WORLD_BY_CONTROLLER, references_to_controller, NULL},
    {WORLD_BY_REFERENCE, refer, NULL},
    {NULL},
};

const struct operator_kind operator_accounting = {
    .api = &api_kind_accounting,
    .decoder = NULL,
    .indexes = indexes,
    .changed = changed,
    .slurm_changed = operator_ignores_slurm,
    .config_written = operator_ignores_config,
    .join = operator_joins_nothing,
    .plan = plan,
    .gone = operator_keeps_nothing,
};
