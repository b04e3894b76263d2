/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages that are about the server itself.
 *
 * Discovery and OpenAPI documents come from caches that follow the registry; they carry an ETag,
 * and a client that has the current one gets 304.  The release that /version names decides what
 * newer clients dare to use: it is the Kubernetes release whose behaviour this server follows.
 */
#include "src/cluster/apiserver/pages.h"

#include <sys/utsname.h>

#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/status.h"
#include "src/cluster/apiserver/types/discovery.h"
#include "src/cluster/apiserver/types/openapi.h"
#include "src/cluster/apiserver/watch.h"

#define KUBERNETES_MINOR "32"
#define KUBERNETES_RELEASE "v1.32.0"

static void plain(struct api_call *c, int code, const char *text)
{
    answer_text(c, code, "text/plain; charset=utf-8", str_of(text));
}

static void serve_document(struct api_call *c, const struct document *d)
{
    const char *have = http_request_header(c->exchange, "If-None-Match");
    AUTO(buf_done) struct buf h = {0};

    if (!d) {
        plain(c, 404, "404 page not found\n");
        return;
    }
    buf_printf(&h, "ETag: %s\r\n%s%s", d->etag, d->vary_accept ? "Vary: Accept\r\n" : "",
               d->immutable ? "Cache-Control: public, immutable\r\n" : "Cache-Control: public\r\n");
    if (have && strstr(have, d->etag))
        http_reply(c->exchange, 304, d->content_type, buf_str(&h), (struct str){"", 0});
    else
        http_reply(c->exchange, 200, d->content_type, buf_str(&h), d->body);
    call_free(c);
}

/* An old hash names a document that is no more: send the client to the present one. */
static void redirect_to_hash(struct api_call *c, const char *path, const struct document *d)
{
    AUTO(buf_done) struct buf h = {0};

    buf_printf(&h, "Location: /openapi/v3/%s?hash=%.*s\r\n", path, (int)strlen(d->etag) - 2,
               d->etag + 1);
    http_reply(c->exchange, 301, "text/plain", buf_str(&h), (struct str){"", 0});
    call_free(c);
}

static void serve_version(struct api_call *c)
{
    struct arena *a = &c->arena;
    struct jsn *v = jsn_object(a);
    struct utsname u = {0};

    (void)uname(&u);
    jsn_set_str(a, v, "major", "1");
    jsn_set_str(a, v, "minor", KUBERNETES_MINOR);
    jsn_set_str(a, v, "gitVersion", KUBERNETES_RELEASE "+slurmkeeper-" SLURMKEEPER_VERSION);
    jsn_set_str(a, v, "gitCommit", "");
    jsn_set_str(a, v, "gitTreeState", "clean");
    jsn_set_str(a, v, "buildDate", "2026-01-01T00:00:00Z");
    jsn_set_str(a, v, "goVersion", "none");
    jsn_set_str(a, v, "compiler", "gcc");
    jsn_set(a, v, "platform",
            jsn_stringf(a, "linux/%s", streq(u.machine, "x86_64") ? "amd64" : u.machine));
    answer_json(c, 200, v);
}

static void serve_health(struct api_call *c, const struct route *r)
{
    static const char *const checks[] = {"ping", "store", "watches"};
    bool ready = c->server->ready || streq(r->name, "livez");
    AUTO(buf_done) struct buf b = {0};

    if (!ready) {
        plain(c, 500, "not ready\n");
        return;
    }
    if (!call_param(c, "verbose")) {
        plain(c, 200, "ok");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        buf_printf(&b, "[+]%s ok\n", checks[i]);
    buf_printf(&b, "%s check passed\n", r->name);
    plain(c, 200, buf_str(&b));
}

static void serve_root(struct api_call *c)
{
    static const char *const fixed[] = {"/api",        "/api/v1",  "/apis",
                                        "/livez",      "/metrics", "/openapi/v2",
                                        "/openapi/v3", "/readyz",  "/version"};
    struct jsn *v = jsn_object(&c->arena);
    struct jsn *paths = jsn_array(&c->arena);
    size_t n;
    const struct registry_gv *gvs = registry_gvs(c->server->registry, &n);

    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        jsn_append(&c->arena, paths, jsn_string(&c->arena, fixed[i]));
    for (size_t i = 0; i < n; i++)
        if (gvs[i].group[0])
            jsn_append(&c->arena, paths,
                       jsn_stringf(&c->arena, "/apis/%s/%s", gvs[i].group, gvs[i].version));
    jsn_set(&c->arena, v, "paths", paths);
    answer_json(c, 200, v);
}

static void gauge(struct buf *b, const char *name, const char *help, int64_t value)
{
    buf_printf(b, "# HELP %s %s\n# TYPE %s gauge\n%s %lld\n", name, help, name, name,
               (long long)value);
}

static void serve_metrics(struct api_call *c)
{
    struct apiserver *s = c->server;
    AUTO(buf_done) struct buf b = {0};

    gauge(&b, "slurmkeeper_apiserver_version", "Newest resourceVersion.", store_version(s->store));
    gauge(&b, "slurmkeeper_apiserver_compacted_version", "Oldest version that can be watched from.",
          store_compacted(s->store));
    gauge(&b, "slurmkeeper_apiserver_watches", "Open watches.",
          (int64_t)watch_hub_count(s->watches));
    gauge(&b, "slurmkeeper_apiserver_connections", "Open connections.",
          (int64_t)http_server_connections(s->http));
    answer_text(c, 200, "text/plain; version=0.0.4", buf_view(&b));
}

static void serve_openapi(struct api_call *c, const struct route *r)
{
    const char *accept = http_request_header(c->exchange, "Accept");
    const char *path = r->group[0] ? arena_printf(&c->arena, "apis/%s/%s", r->group, r->version)
                                   : arena_printf(&c->arena, "api/%s", r->version);
    const char *hash = call_param(c, "hash");
    const struct document *d;

    if (r->kind == ROUTE_OPENAPI2) {
        serve_document(c, openapi_v2(c->server->openapi, accept));
        return;
    }
    if (r->kind == ROUTE_OPENAPI3) {
        serve_document(c, openapi_v3_root(c->server->openapi));
        return;
    }
    d = openapi_v3(c->server->openapi, str_of(path));
    if (d && hash && !strstr(d->etag, hash))
        redirect_to_hash(c, path, d);
    else
        serve_document(c, d);
}

/* A version that a known group does not have is refused as an object would be. */
static void serve_discovery(struct api_call *c, const struct route *r)
{
    const struct document *d =
        discovery_get(c->server->discovery, str_of(http_exchange_request(c->exchange)->path),
                      http_request_header(c->exchange, "Accept"));

    if (d && c->pretty && streq(d->content_type, "application/json")) {
        answer_text(c, 200, d->content_type, d->body);
        return;
    }
    if (d || r->kind != ROUTE_GV || !registry_has_group(c->server->registry, str_of(r->group))) {
        serve_document(c, d);
        return;
    }
    (void)status_no_resource(c);
    answer_failure(c);
}

void pages_serve(struct api_call *c, const struct route *r)
{
    const struct http_request *q = http_exchange_request(c->exchange);

    if (!streq(q->method, "GET") && !streq(q->method, "HEAD") && r->kind != ROUTE_NONE) {
        (void)status_method_not_allowed(c);
        answer_failure(c);
        return;
    }
    switch (r->kind) {
    case ROUTE_HEALTH:
        serve_health(c, r);
        break;
    case ROUTE_VERSION:
        serve_version(c);
        break;
    case ROUTE_METRICS:
        serve_metrics(c);
        break;
    case ROUTE_ROOT:
        serve_root(c);
        break;
    case ROUTE_API:
    case ROUTE_APIS:
    case ROUTE_GROUP:
    case ROUTE_GV:
        serve_discovery(c, r);
        break;
    case ROUTE_OPENAPI2:
    case ROUTE_OPENAPI3:
    case ROUTE_OPENAPI3_GV:
        serve_openapi(c, r);
        break;
    case ROUTE_NONE:
    case ROUTE_RESOURCE:
        plain(c, 404, "404 page not found\n");
        break;
    }
}
