/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From keys to plans.
 *
 * The kind of a key says how its snapshot is read and its plan made (kinds.h).  An object that does
 * not decode (the API server should not have taken it) gets a condition instead of a plan.
 */
#include "src/operator/reconcile.h"

#include "src/operator/kinds.h"
#include "src/operator/snapshot.h"
#include "src/plan/failure.h"

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

void reconcile_plan(struct reconcile *r, const struct world *w, const struct build_env *env,
                    int64_t now_us)
{
    const struct operator_kind *kind = operator_kind_find(r->kind);

    r->world = w;
    r->env = env;
    r->now_us = now_us;
    r->object = snapshot_object(r, r->kind, r->name);
    if (r->object)
        kind->plan(r);
    else
        kind->gone(r);
}

void reconcile_plan_failure(struct reconcile *r, const struct world *w, const char *step,
                            const char *why, int64_t now_us)
{
    r->world = w;
    r->object = snapshot_object(r, r->kind, r->name);
    if (r->object)
        plan_failure(r->kind, r->object, "SyncFailed",
                     arena_printf(&r->arena, "step \"%s\" failed: %s", step, why), now_us,
                     &r->actions);
}
