/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PUT /v1/config and POST /v1/plan.
 *
 * The answer comes when the declaration has been applied, or as far as it can be.  A client that
 * goes away before does not stop it.
 */
#include "src/agent/routes.h"

#include "src/base/alloc.h"

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

static int policy_decode(const char *text, bool *ret_revert, struct err *e)
{
    if (text && !streq(text, "Report") && !streq(text, "Revert"))
        return err_bad(e, "driftPolicy: '%s' is neither Report nor Revert", text);
    *ret_revert = streq(text, "Revert");
    return 0;
}

static int record_decode(const struct jsn *body, struct record **ret, struct err *e)
{
    AUTO(record_free) struct record *r = record_new();
    int ret_code = fileset_decode(body, &r->files, e);

    if (ret_code == 0)
        ret_code = policy_decode(jsn_get_str(body, "driftPolicy"), &r->revert, e);
    if (ret_code < 0)
        return ret_code;
    r->generation = jsn_get_int(body, "generation", 0);
    r->declared = xstrdup_null(jsn_get_str(body, "declared"));
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
