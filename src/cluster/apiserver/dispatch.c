/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an HTTP request to its verb: who asks, what the path names, what the method does there.
 *
 * Whoever sends credentials that are not good is refused (401); who sends none is system:anonymous.
 * Then the roles decide, before anybody looks whether there is such a thing (403).  A request that
 * is refused before it is a call (a bad head, a body too large) gets a Status object as well.
 */
#include "src/cluster/apiserver/dispatch.h"

#include <stdio.h>

#include "src/base/log.h"
#include "src/cluster/apiserver/access.h"
#include "src/cluster/apiserver/admin.h"
#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/crd/custom.h"
#include "src/cluster/apiserver/impersonate.h"
#include "src/cluster/apiserver/list.h"
#include "src/cluster/apiserver/pages.h"
#include "src/cluster/apiserver/rbac/authorize.h"
#include "src/cluster/apiserver/review.h"
#include "src/cluster/apiserver/route.h"
#include "src/cluster/apiserver/status.h"
#include "src/cluster/apiserver/subresource.h"
#include "src/cluster/apiserver/verbs.h"
#include "src/cluster/apiserver/watch.h"
#include "src/http/url.h"

/* The verbs as Kubernetes names them in discovery. */
static const char *const verb_names[] = {
    [VERB_GET] = "get",       [VERB_LIST] = "list",
    [VERB_WATCH] = "watch",   [VERB_CREATE] = "create",
    [VERB_UPDATE] = "update", [VERB_PATCH] = "patch",
    [VERB_DELETE] = "delete", [VERB_DELETE_COLLECTION] = "deletecollection",
};

static int read_verb(struct api_call *c, const char *method, const struct route *r)
{
    bool one = r->name[0] != '\0';

    if (streq(method, "GET") || streq(method, "HEAD")) {
        bool watch = call_param_true(c, "watch") || r->legacy_watch;

        c->verb = one && !watch ? VERB_GET : watch && !r->sub[0] ? VERB_WATCH : VERB_LIST;
        if (one && r->sub[0])
            c->verb = VERB_GET;
    } else if (streq(method, "POST")) {
        c->verb = VERB_CREATE;
    } else if (streq(method, "PUT")) {
        c->verb = VERB_UPDATE;
    } else if (streq(method, "PATCH")) {
        c->verb = VERB_PATCH;
    } else if (streq(method, "DELETE")) {
        c->verb = one ? VERB_DELETE : VERB_DELETE_COLLECTION;
    } else {
        return status_method_not_allowed(c);
    }
    return 0;
}

/* POST goes to collections, PUT and PATCH to objects; both to subresources. */
static bool verb_fits(const struct api_call *c, const struct route *r)
{
    bool one = r->name[0] != '\0';

    if (c->sub)
        return strings_have(c->sub->verbs, verb_names[c->verb]);
    if (c->verb == VERB_CREATE && one)
        return false;
    if ((c->verb == VERB_UPDATE || c->verb == VERB_PATCH) && !one)
        return false;
    return resource_has_verb(c->res, verb_names[c->verb]);
}

static void warn_deprecated(struct api_call *c)
{
    const char *text = c->res->custom ? custom_deprecation(&c->arena, c->res) : NULL;

    if (text)
        call_warn(c, "%s", text);
}

static int find_resource(struct api_call *c, const struct route *r)
{
    const struct resource *res = registry_find(c->server->registry, str_of(r->group),
                                               str_of(r->version), str_of(r->resource));

    if (!res)
        return status_no_resource(c);
    c->res = resource_ref(res);
    c->stored = res->stored ? res->stored : res;
    c->ns = res->namespaced ? r->ns : "";
    c->name = r->name[0] ? r->name : NULL;
    if ((r->ns_given && !res->namespaced) || (c->name && review_is(res)))
        return status_no_resource(c);
    if (r->sub[0]) {
        c->sub = resource_sub(res, str_of(r->sub));
        if (!c->sub)
            return res->custom && c->name ? status_not_found(c, c->name) : status_no_resource(c);
    }
    /* Objects in namespaces are written and read one by one only with their namespace named. */
    if (res->namespaced && !r->ns_given && c->name && !r->legacy_watch)
        return status_no_resource(c);
    warn_deprecated(c);
    return 0;
}

static void run_verb(struct api_call *c)
{
    static void (*const verbs[])(struct api_call *c) = {
        [VERB_GET] = verb_get,       [VERB_LIST] = verb_list,
        [VERB_WATCH] = verb_watch,   [VERB_CREATE] = verb_create,
        [VERB_UPDATE] = verb_update, [VERB_PATCH] = verb_patch,
        [VERB_DELETE] = verb_delete, [VERB_DELETE_COLLECTION] = verb_delete_collection,
    };

    if (c->sub && !streq(c->sub->name, "status"))
        subresource_serve(c);
    else if (review_is(c->res))
        review_serve(c);
    else
        verbs[c->verb](c);
}

/* What is written or deleted over all namespaces at once was meant for one: refuse. */
static bool names_its_namespace(const struct api_call *c)
{
    if (!c->res->namespaced || c->ns[0] || review_is(c->res))
        return true;
    return c->verb != VERB_CREATE && c->verb != VERB_DELETE_COLLECTION;
}

static void serve_resource(struct api_call *c, const struct route *r)
{
    int result;

    if (r->group[0] && !registry_has_group(c->server->registry, str_of(r->group))) {
        answer_text(c, 404, "text/plain; charset=utf-8", STR("404 page not found\n"));
        return;
    }
    result = find_resource(c, r);

    if (result == 0)
        result = read_verb(c, http_exchange_request(c->exchange)->method, r);
    if (result == 0 && !verb_fits(c, r))
        result = status_method_not_allowed(c);
    if (result == 0 && !names_its_namespace(c))
        result = c->res->custom && c->verb == VERB_DELETE_COLLECTION ? status_no_resource(c)
                                                                     : status_method_not_allowed(c);
    if (result < 0)
        answer_failure(c);
    else
        run_verb(c);
}

/* Who is the caller, and is the request allowed? */
static int admit(struct api_call *c, const struct route *route)
{
    struct rbac_request wish;
    int r;

    if (!access_identify(c->server->access, &c->arena, c->exchange, &c->user)) {
        if (access_offered(c->exchange))
            return status_fail(c, 401, "Unauthorized", "Unauthorized");
        c->user = access_anonymous();
    }
    rbac_request_of_route(c, route, &wish);
    r = impersonate(c, &wish);
    return r < 0 ? r : rbac_check(c, &wish);
}

void dispatch_request(void *arg, struct http_exchange *x)
{
    struct apiserver *s = arg;
    struct api_call *c = call_new(s, x);
    const struct http_request *q = http_exchange_request(x);
    struct route route;
    struct err e = {0};
    int r = route_parse(&c->arena, q->path, &route, &e);

    c->user_agent = http_request_header(x, "User-Agent");
    if (r == 0)
        r = url_query_parse(q->query, &c->query, &e);
    if (r < 0)
        (void)status_bad_request(c, "%s", e.text);
    c->pretty = call_is_by_hand(c);
    if (r == 0)
        r = admit(c, &route);
    if (r < 0)
        answer_failure(c);
    else if (admin_is(&route))
        admin_serve(c, &route);
    else if (route.kind == ROUTE_RESOURCE)
        serve_resource(c, &route);
    else
        pages_serve(c, &route);
}

void dispatch_head(void *arg, const struct http_exchange *x, struct http_verdict *v)
{
    const struct apiserver *s = arg;
    AUTO(arena_done) struct arena a = {0};
    struct api_user user = {0};

    v->known = access_identify(s->access, &a, x, &user) && !streq(user.name, "system:anonymous");
    if (v->known)
        (void)snprintf(v->identity, sizeof(v->identity), "%s", user.name);
}

void dispatch_refusal(void *arg, int status, const char *why, struct buf *body,
                      const char **ret_content_type)
{
    AUTO(arena_done) struct arena a = {0};

    (void)arg;
    if (status == 401)
        why = "Unauthorized";
    if (status == 413)
        why = "Request entity too large: limit is 3145728";
    jsn_print(body, status_object(&a, status, status_reason_of(status), why));
    *ret_content_type = "application/json";
}
