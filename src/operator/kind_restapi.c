/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RestApis in the operator.
 *
 * Kept as text: there are few.  A change of its Controller reaches it by the index; what it owns
 * (Deployment, Service) by the owner; a Secret that it names in its pods by the kubelet.
 */
#include "src/api/restapi.h"

#include "src/operator/kinds.h"
#include "src/operator/references.h"
#include "src/operator/snapshot.h"
#include "src/plan/failure.h"
#include "src/plan/restapi.h"

/* Whether there is an Accounting decides which plugins it has: the Controller says which one. */
static void refer(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    (void)arg;
    (void)object;
    (void)out;
}

static void plan(struct reconcile *r)
{
    struct restapi *api = arena_calloc(&r->arena, 1, sizeof(*api));
    struct plan_restapi in = {.object = r->object, .r = api, .now_us = r->now_us};
    struct err e = {0};

    if (restapi_decode(&r->arena, r->object, api, &e) < 0) {
        plan_failure(r->kind, r->object, "Invalid", e.text, r->now_us, &r->actions);
        return;
    }
    in.cluster = snapshot_cluster(r, api->spec.controller_ref.name);
    plan_restapi(&in, &r->actions);
}

static const struct kube_index indexes[] = {
    {WORLD_BY_CONTROLLER, references_to_controller, NULL},
    {WORLD_BY_REFERENCE, refer, NULL},
    {NULL},
};

const struct operator_kind operator_restapi = {
    .api = &api_kind_restapi,
    .decoder = NULL,
    .indexes = indexes,
    .changed = operator_changes_nobody,
    .slurm_changed = operator_ignores_slurm,
    .config_written = operator_ignores_config,
    .join = operator_joins_nothing,
    .plan = plan,
    .gone = operator_keeps_nothing,
};
