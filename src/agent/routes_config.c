/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PUT /v1/config and POST /v1/plan.
 *
 * The answer comes when the declaration has been applied, or as far as it can be.  A client that
 * goes away before does not stop it.
 */
#include "src/agent/routes.h"

#include "src/base/alloc.h"
#include "src/base/log.h"
#include "src/wire/declaration.h"

struct open_push {
    struct routes *routes;
    struct http_exchange *x;
    struct engine_waiter *waiter;
    const char *route;
};

static void on_answer(void *arg, int status, const struct jsn *answer)
{
    struct open_push *p = arg;

    http_exchange_on_close(p->x, NULL, NULL);
    reply_json(p->routes, p->x, p->route, status, answer);
    free(p);
}

static void on_close(void *arg)
{
    struct open_push *p = arg;

    engine_forget(p->waiter);
    free(p);
}

static int record_decode(const struct jsn *body, struct record **ret, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(record_free) struct record *r = record_new();
    struct wire_declaration d = {0};
    int ret_code = wire_declaration_decode(&a, body, &d, e);

    if (ret_code == 0)
        ret_code = fileset_decode(body, &r->files, e);
    if (ret_code < 0)
        return ret_code;
    r->revert = d.drift_policy == WIRE_DRIFT_REVERT;
    r->restarts = !d.in_place;
    r->generation = d.generation;
    r->declared = xstrdup_null(d.declared);
    fileset_hash(&r->files, r->hash);
    *ret = TAKE(r);
    return 0;
}

void route_config(struct routes *r, struct http_exchange *x, bool plan_only)
{
    const char *route = plan_only ? "plan" : "config";
    AUTO(arena_done) struct arena a = {0};
    struct record *record = NULL;
    struct open_push *p;
    struct jsn *body;
    struct err e = {0};

    log_debug("declaration received");
    if (!body_take(r, x, route, &a, &body))
        return;
    if (record_decode(body, &record, &e) < 0) {
        reply_error(r, x, route, 400, "%s", e.text);
        return;
    }
    p = xcalloc(1, sizeof(*p));
    *p = (struct open_push){.routes = r, .x = x, .route = route};
    http_exchange_on_close(x, on_close, p);
    if (plan_only)
        p->waiter = engine_plan(r->engine, record, on_answer, p);
    else
        p->waiter = engine_push(r->engine, record, on_answer, p);
}
