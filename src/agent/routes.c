/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to the agent: who may ask, and which route it is.
 *
 *   PUT    /v1/config              apply a declaration
 *   POST   /v1/plan                tell what that would do
 *   GET    /v1/state?since&wait    nodes, partitions, reservations; long poll
 *   POST   /v1/nodes/NAME          drain, undrain, resume, down, update;   DELETE
 *   PUT    /v1/reservations/NAME                                           DELETE
 *   GET    /metrics, /healthz      the latter for anybody
 */
#include "src/agent/routes.h"

#include <stdio.h>

#include "src/base/alloc.h"
#include "src/http/url.h"

void reply_json(struct routes *r, struct http_exchange *x, const char *route, int status,
                const struct jsn *body)
{
    AUTO(buf_done) struct buf text = {0};

    jsn_print(&text, body);
    buf_addc(&text, '\n');
    metrics_request(r->metrics, route, status);
    http_reply(x, status, "application/json", NULL, buf_view(&text));
}

void reply_error(struct routes *r, struct http_exchange *x, const char *route, int status,
                 const char *fmt, ...)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(free) char *text = NULL;
    struct jsn *body = jsn_object(&a);
    va_list ap;

    va_start(ap, fmt);
    text = xvasprintf(fmt, ap);
    va_end(ap);
    jsn_set_str(&a, body, "error", text);
    reply_json(r, x, route, status, body);
}

bool body_take(struct routes *r, struct http_exchange *x, const char *route, struct arena *a,
               struct jsn **ret)
{
    struct err e = {0};

    if (jsn_parse(a, http_exchange_request(x)->body, NULL, ret, &e) < 0) {
        reply_error(r, x, route, 400, "the body cannot be read: %s", e.text);
        return false;
    }
    if (!jsn_is(*ret, JSN_OBJECT)) {
        reply_error(r, x, route, 400, "the body is not a JSON object");
        return false;
    }
    return true;
}

/* "Bearer TOKEN", compared in constant time. */
static bool is_allowed(const struct routes *r, const struct http_exchange *x)
{
    AUTO(secret_done) struct secret given = {0};
    const char *header = http_request_header(x, "Authorization");

    if (!r->token)
        return true;
    if (!header || !starts_with(header, "Bearer "))
        return false;
    secret_set(&given, str_trim(str_of(header + strlen("Bearer "))));
    return !secret_empty(&given) && (secret_equal(&given, r->token) ||
                                     (r->next_token && secret_equal(&given, r->next_token)));
}

static void route_metrics(struct routes *r, struct http_exchange *x)
{
    AUTO(buf_done) struct buf text = {0};

    metrics_print(r->metrics, &text);
    http_reply(x, 200, PROMETHEUS_CONTENT_TYPE, NULL, buf_view(&text));
}

static bool is_route(const struct http_request *q, const char *method, const char *path)
{
    return streq(q->method, method) && streq(q->path, path);
}

/* /v1/nodes/NAME and /v1/reservations/NAME */
static bool named_route(struct routes *r, struct http_exchange *x, const struct url_path *path)
{
    const char *method = http_exchange_request(x)->method;
    bool delete = streq(method, "DELETE");

    if (path->n != 3 || !streq(path->segments[0], "v1"))
        return false;
    if (streq(path->segments[1], "nodes") && (delete || streq(method, "POST")))
        route_node(r, x, path->segments[2], delete);
    else if (streq(path->segments[1], "reservations") && (delete || streq(method, "PUT")))
        route_reservation(r, x, path->segments[2], delete);
    else
        return false;
    return true;
}

static bool is_for_anybody(const struct http_request *q)
{
    return is_route(q, "GET", "/healthz");
}

void routes_head(void *arg, const struct http_exchange *x, struct http_verdict *v)
{
    struct routes *r = arg;

    v->known = is_allowed(r, x);
    (void)snprintf(v->identity, sizeof(v->identity), "%s", "the token");
    if (v->known || is_for_anybody(http_exchange_request(x)))
        return;
    metrics_request(r->metrics, "refused", 401);
    v->refuse = 401;
    v->why = "a token is needed, and the right one";
}

void routes_refuse(void *arg, int status, const char *why, struct buf *body,
                   const char **ret_content_type)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *o = jsn_object(&a);

    (void)arg;
    (void)status;
    jsn_set_str(&a, o, "error", why);
    jsn_print(body, o);
    buf_addc(body, '\n');
    *ret_content_type = "application/json";
}

void routes_handle(void *arg, struct http_exchange *x)
{
    struct routes *r = arg;
    const struct http_request *q = http_exchange_request(x);
    AUTO(url_path_done) struct url_path path = {0};
    struct err e = {0};

    if (is_for_anybody(q)) {
        http_reply(x, 200, "text/plain", NULL, STR("ok\n"));
    } else if (!is_allowed(r, x)) {
        metrics_request(r->metrics, "refused", 401);
        http_reply(x, 401, "application/json", "WWW-Authenticate: Bearer\r\n",
                   STR("{\"error\":\"a token is needed, and the right one\"}\n"));
    } else if (is_route(q, "PUT", "/v1/config")) {
        route_config(r, x, false);
    } else if (is_route(q, "POST", "/v1/plan") || is_route(q, "GET", "/v1/plan")) {
        route_config(r, x, true);
    } else if (is_route(q, "GET", "/v1/state")) {
        route_state(r, x);
    } else if (is_route(q, "GET", "/metrics")) {
        route_metrics(r, x);
    } else if (url_path_parse(q->path, &path, &e) < 0) {
        reply_error(r, x, "none", 400, "%s", e.text);
    } else if (!named_route(r, x, &path)) {
        reply_error(r, x, "none", 404, "there is no %s %s", q->method, q->path);
    }
}
