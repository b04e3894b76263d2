/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decisions.
 *
 * A request is allowed if one rule of one role that its user has, by name or by group, allows it.
 * There is no rule that denies.  Whoever writes through the API server's own code (controllers in
 * this process) is system:apiserver, a member of system:masters, as in kube-apiserver.
 *
 * What a request wants is read from its path alone, before anybody looks whether such a resource
 * exists: who may see nothing learns nothing.
 */
#include "src/cluster/apiserver/rbac/authorize.h"

#include "src/base/log.h"
#include "src/cluster/apiserver/route.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/status.h"
#include "src/json/selector.h"

#define MASTERS "system:masters"
#define MAX_MISSING 8

bool rbac_user_is_master(const struct api_user *u)
{
    return u->groups && strings_have(u->groups, MASTERS);
}

struct decision {
    const struct rbac_request *request;
    const struct rbac_grant *found;
    struct rbac_grant grant;
    struct arena *arena; /* NULL: nobody asks why */
    struct buf missing;
    size_t n_missing;
};

/* A binding to a role that is not there explains many a refusal. */
static void note_missing(struct decision *d, const struct rbac_grant *g)
{
    if (!d->arena || d->n_missing == MAX_MISSING)
        return;
    buf_printf(&d->missing, "%s%s." RBAC_GROUP " \"%s\" not found", d->n_missing ? ", " : "",
               g->cluster_role ? "clusterrole" : "role", g->role);
    d->n_missing++;
}

static bool look_at_grant(void *arg, const struct rbac_grant *g)
{
    struct decision *d = arg;

    if (!g->rules) {
        note_missing(d, g);
        return true;
    }
    for (size_t i = 0; i < g->rules->n; i++) {
        if (rbac_rule_allows(&g->rules->items[i], d->request)) {
            d->grant = *g;
            d->found = &d->grant;
            return false;
        }
    }
    return true;
}

bool rbac_allows(const struct rbac_index *x, const struct api_user *u, const struct rbac_request *q)
{
    struct decision d = {.request = q};

    if (rbac_user_is_master(u))
        return true;
    rbac_index_visit(x, u, q->ns, look_at_grant, &d);
    return d.found != NULL;
}

static const char *grant_text(struct arena *a, const struct rbac_grant *g)
{
    const char *binding = g->ns[0] ? arena_printf(a, "%s/%s", g->binding, g->ns) : g->binding;
    const char *subject = streq(g->subject_kind, "ServiceAccount")
                              ? arena_printf(a, "%s/%s", g->subject_name, g->subject_ns)
                              : g->subject_name;

    return arena_printf(a, "RBAC: allowed by %s \"%s\" of %s \"%s\" to %s \"%s\"",
                        g->ns[0] ? "RoleBinding" : "ClusterRoleBinding", binding,
                        g->cluster_role ? "ClusterRole" : "Role", g->role, g->subject_kind,
                        subject);
}

bool rbac_explain(const struct rbac_index *x, struct arena *a, const struct api_user *u,
                  const struct rbac_request *q, const char **ret_reason)
{
    struct decision d = {.request = q, .arena = a};
    bool several;

    *ret_reason = "";
    if (rbac_user_is_master(u))
        return true;
    rbac_index_visit(x, u, q->ns, look_at_grant, &d);
    several = d.n_missing > 1;
    if (d.found)
        *ret_reason = grant_text(a, d.found);
    else if (d.n_missing)
        *ret_reason = arena_printf(a, "RBAC: %s%s%s", several ? "[" : "", buf_str(&d.missing),
                                   several ? "]" : "");
    buf_done(&d.missing);
    return d.found != NULL;
}

struct collecting {
    struct arena *arena;
    struct rbac_rules rules;
};

static bool collect(void *arg, const struct rbac_grant *g)
{
    struct collecting *t = arg;

    if (g->rules)
        rbac_rules_add(t->arena, &t->rules, g->rules);
    return true;
}

struct rbac_rules rbac_rules_of(const struct rbac_index *x, struct arena *a,
                                const struct api_user *u, const char *ns)
{
    struct collecting t = {.arena = a};

    rbac_index_visit(x, u, ns, collect, &t);
    return t.rules;
}

static const char *lower(struct arena *a, const char *method)
{
    char *text = arena_strdup(a, method);

    for (char *p = text; *p; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p - 'A' + 'a');
    return text;
}

static const char *resource_verb(const struct api_call *c, const char *method,
                                 const struct route *r)
{
    bool one = r->name[0] != '\0';

    if (r->legacy_watch)
        return "watch";
    if (streq(method, "GET") || streq(method, "HEAD")) {
        if (!r->sub[0] && call_param_true(c, "watch"))
            return "watch";
        return one ? "get" : "list";
    }
    if (streq(method, "DELETE"))
        return one ? "delete" : "deletecollection";
    return streq(method, "POST")    ? "create"
           : streq(method, "PUT")   ? "update"
           : streq(method, "PATCH") ? "patch"
                                    : "";
}

/* A list of the one object of a name is about that object. */
static const char *selected_name(struct api_call *c)
{
    const char *fields = call_param(c, "fieldSelector");
    struct selector *s;
    struct str name;

    if (!fields || selector_parse_fields(&c->arena, str_of(fields), &s, NULL) < 0 ||
        !selector_exact(s, "metadata.name", &name))
        return "";
    return arena_str(&c->arena, name);
}

void rbac_request_of_route(struct api_call *c, const struct route *r,
                           struct rbac_request *ret_request)
{
    const struct http_request *h = http_exchange_request(c->exchange);
    struct rbac_request q = {.group = r->group, .sub = r->sub, .ns = r->ns, .name = r->name};

    q.path = h->path;
    if (r->kind != ROUTE_RESOURCE) {
        q = (struct rbac_request){lower(&c->arena, h->method), "", NULL, "", "", "", h->path};
    } else {
        q.resource = r->resource;
        q.verb = resource_verb(c, h->method, r);
        /* A namespace is in itself: who has a role there may be given the right to look at it. */
        if (streq(r->resource, "namespaces") && !r->group[0] && !r->ns_given)
            q.ns = r->name;
        if (!q.name[0] && (streq(q.verb, "list") || streq(q.verb, "watch")))
            q.name = selected_name(c);
    }
    *ret_request = q;
}

static const char *wish_text(struct api_call *c, const struct rbac_request *q)
{
    struct arena *a = &c->arena;
    const char *what;

    if (!q->resource)
        return arena_printf(a, "User \"%s\" cannot %s path \"%s\"", c->user.name, q->verb, q->path);
    what = arena_printf(a, "User \"%s\" cannot %s resource \"%s%s%s\" in API group \"%s\"",
                        c->user.name, q->verb, q->resource, q->sub[0] ? "/" : "", q->sub, q->group);
    if (!q->ns[0])
        return arena_printf(a, "%s at the cluster scope", what);
    return arena_printf(a, "%s in the namespace \"%s\"", what, q->ns);
}

/* What is asked about: "pods", "leases.coordination.k8s.io", with the name after it. */
static const char *thing_text(struct arena *a, const struct rbac_request *q)
{
    const char *what;

    if (!q->resource)
        return "";
    what = q->group[0] ? arena_printf(a, "%s.%s", q->resource, q->group) : q->resource;
    return q->name[0] ? arena_printf(a, "%s \"%s\" is ", what, q->name)
                      : arena_printf(a, "%s is ", what);
}

/* 403 in kube-apiserver's words, with the user of the call. */
static int rbac_forbid(struct api_call *c, const struct rbac_request *q)
{
    struct arena *a = &c->arena;
    const char *why = "";
    struct jsn *details;
    int r;

    (void)rbac_explain(c->server->rbac, a, &c->user, q, &why);
    r = status_fail(c, 403, "Forbidden", "%sforbidden: %s%s%s", thing_text(a, q), wish_text(c, q),
                    why[0] ? ": " : "", why);
    details = status_details(c);
    if (q->name[0])
        jsn_set_str(a, details, "name", q->name);
    if (q->group[0])
        jsn_set_str(a, details, "group", q->group);
    if (q->resource)
        jsn_set_str(a, details, "kind", q->resource);
    return r;
}

/* A process of ours that is refused lacks a rule in bootstrap_roles.c: a fault of ours. */
static void note_refused_component(const struct api_call *c)
{
    if (starts_with(c->user.name, "system:slurmkeeper:"))
        log_warn("a process of this cluster was refused: %s", jsn_get_str(c->failure, "message"));
}

int rbac_check(struct api_call *c, const struct rbac_request *q)
{
    int r;

    if (rbac_allows(c->server->rbac, &c->user, q))
        return 0;
    r = rbac_forbid(c, q);
    note_refused_component(c);
    return r;
}

struct rbac_request rbac_request_of_call(const struct api_call *c, const char *verb)
{
    return (struct rbac_request){.verb = verb,
                                 .group = c->res->group,
                                 .resource = c->res->plural,
                                 .sub = "",
                                 .ns = c->ns,
                                 .name = c->name ? c->name : "",
                                 .path = ""};
}

int rbac_check_verb(struct api_call *c, const char *verb)
{
    struct rbac_request q = rbac_request_of_call(c, verb);

    return rbac_check(c, &q);
}
