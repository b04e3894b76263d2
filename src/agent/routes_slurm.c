/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes and reservations: requests that go to slurmctld as they are.
 *
 * The link's child checks them and reads back what it did; here the names of the interface become
 * those of the link, and its errors become HTTP's.
 */
#include "src/agent/routes.h"

#include "src/base/alloc.h"

#define CALL_TIMEOUT_MS 30000
#define NODE_DELETE "node-delete"
#define ESLURM_INVALID_NODE_NAME 2018
#define ESLURM_RESERVATION_INVALID 2053

struct open_call {
    struct routes *routes;
    struct http_exchange *x; /* NULL: the client has left */
    const char *route;
    bool deletes_node;
};

static int status_of(int r, const struct jsn *answer)
{
    int64_t code = jsn_get_int(answer, "error.code", 0);

    switch (r) {
    case 0:
        return 200;
    case -EREMOTEIO:
        return code == ESLURM_INVALID_NODE_NAME || code == ESLURM_RESERVATION_INVALID ? 404 : 409;
    case -EACCES:
        return 403;
    case -EINVAL:
        return 400;
    default:
        return 503;
    }
}

static void on_answer(void *arg, int r, const struct jsn *answer, const struct err *e)
{
    struct open_call *c = arg;
    int status = status_of(r, answer);

    /* slurmctld 22.05 says that no node has changed when one was deleted */
    if (c->deletes_node && (status == 200 || status == 404))
        hub_doubt(c->routes->hub, HUB_NODES);
    if (status == 200 || c->deletes_node)
        hub_touch(c->routes->hub);
    if (!c->x) {
        free(c);
        return;
    }
    http_exchange_on_close(c->x, NULL, NULL);
    if (status == 200)
        reply_json(c->routes, c->x, c->route, status, answer);
    else
        reply_error(c->routes, c->x, c->route, status, "%s", e ? e->text : "no answer");
    free(c);
}

static void on_close(void *arg)
{
    struct open_call *c = arg;

    c->x = NULL;
}

static void call_start(struct routes *r, struct http_exchange *x, const char *route,
                       const struct jsn *request)
{
    struct open_call *c = xcalloc(1, sizeof(*c));

    *c = (struct open_call){.routes = r, .x = x, .route = route};
    c->deletes_node = streq(jsn_get_str(request, "call"), NODE_DELETE);
    http_exchange_on_close(x, on_close, c);
    if (link_call(r->link, LANE_WRITE, request, CALL_TIMEOUT_MS, on_answer, c) == 0)
        return;
    http_exchange_on_close(x, NULL, NULL);
    free(c);
    reply_error(r, x, route, 503, "too many calls wait for slurmctld; try again");
}

/* The body's members, with the call and the name put in. */
static void request_complete(struct arena *a, struct jsn *request, const char *call,
                             const char *name)
{
    jsn_set_str(a, request, "call", call);
    jsn_set_str(a, request, "name", name);
}

static bool action_decode(struct arena *a, struct jsn *request)
{
    static const char *const states[] = {"drain", "undrain", "resume", "down"};
    const char *action = jsn_get_str(request, "action");

    if (!action)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        if (streq(action, states[i]))
            jsn_set_str(a, request, "state", states[i]);
    if (!streq(action, "update") && !jsn_get_str(request, "state"))
        return false;
    (void)jsn_del(request, "action");
    return true;
}

void route_node(struct routes *r, struct http_exchange *x, const char *name, bool delete)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *request = jsn_object(&a);

    if (!delete) {
        if (!body_take(r, x, "nodes", &a, &request))
            return;
        (void)jsn_del(request, "state");
        if (!action_decode(&a, request)) {
            reply_error(r, x, "nodes", 400,
                        "action: is none of drain, undrain, resume, down, update");
            return;
        }
    }
    request_complete(&a, request, delete ? NODE_DELETE : "node-update", name);
    call_start(r, x, "nodes", request);
}

void route_reservation(struct routes *r, struct http_exchange *x, const char *name, bool delete)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *request = jsn_object(&a);

    if (!delete && !body_take(r, x, "reservations", &a, &request))
        return;
    request_complete(&a, request, delete ? "reservation-delete" : "reservation-put", name);
    call_start(r, x, "reservations", request);
}
