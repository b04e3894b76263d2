/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tokens in the operator.
 *
 * Kept as text.  A Token is planned for when its key changes (by the index of references), when its
 * own Secret does (by the owner), and when its plan has asked for that: in time before the token
 * expires.
 */
#include "src/api/token.h"

#include "src/base/encode.h"
#include "src/operator/kinds.h"
#include "src/operator/references.h"
#include "src/operator/snapshot.h"
#include "src/plan/failure.h"
#include "src/plan/token.h"

static void refer(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    AUTO(arena_done) struct arena a = {0};
    struct api_token t = {0};
    struct api_key_ref place;
    struct err e = {0};

    (void)arg;
    if (api_token_decode(&a, object, &t, &e) < 0)
        return;
    place = api_token_secret(&a, &t);
    references_emit_key(&a, out, api_namespace(&t.meta), "Secret", api_token_jwt_ref(&t));
    references_emit_key(&a, out, api_namespace(&t.meta), "Secret", &place);
}

static const char *fresh_id(struct arena *a)
{
    char text[ENCODE_UUID_LEN + 1];

    encode_uuid(text);
    return arena_strdup(a, text);
}

static void plan(struct reconcile *r)
{
    struct api_token *t = arena_calloc(&r->arena, 1, sizeof(*t));
    struct plan_token in = {
        .object = r->object, .t = t, .id = fresh_id(&r->arena), .now_us = r->now_us};
    struct world_view view = {r->world, &r->arena};
    struct api_lookup lookup = world_lookup(&view);
    struct err e = {0};

    if (api_token_decode(&r->arena, r->object, t, &e) < 0) {
        plan_failure(r->kind, r->object, "Invalid", e.text, r->now_us, &r->actions);
        return;
    }
    in.lookup = &lookup;
    plan_token(&in, &r->actions);
}

static const struct kube_index indexes[] = {
    {WORLD_BY_CONTROLLER, references_to_controller, NULL},
    {WORLD_BY_REFERENCE, refer, NULL},
    {NULL},
};

const struct operator_kind operator_token = {
    .api = &api_kind_token,
    .decoder = NULL,
    .indexes = indexes,
    .changed = operator_changes_nobody,
    .slurm_changed = operator_ignores_slurm,
    .config_written = operator_ignores_config,
    .join = operator_joins_nothing,
    .plan = plan,
    .gone = operator_keeps_nothing,
};
