/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reviews.
 *
 *   TokenReview               whose token is this, and is it good?
 *   SelfSubjectReview         who am I?
 *   SelfSubjectAccessReview   may I do that?
 *   SubjectAccessReview       may they, in any namespace (Local...: in one)?
 *   SelfSubjectRulesReview    what may I do in that namespace?
 *
 * The answers come from the very code that decides about requests (access.h, rbac/authorize.h).
 */
#include "src/cluster/apiserver/review.h"

#include "src/cluster/apiserver/access.h"
#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/body.h"
#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/options.h"
#include "src/cluster/apiserver/rbac/authorize.h"
#include "src/cluster/apiserver/status.h"

bool review_is(const struct resource *res)
{
    return streq(res->group, "authorization.k8s.io") || streq(res->group, "authentication.k8s.io");
}

static struct jsn *string_list(struct arena *a, const char *const *items)
{
    struct jsn *list = jsn_array(a);

    for (; items && *items; items++)
        jsn_append(a, list, jsn_string(a, *items));
    return list;
}

static struct jsn *user_info(struct arena *a, const struct api_user *user)
{
    struct jsn *u = jsn_object(a);

    jsn_set_str(a, u, "username", user->name);
    if (user->uid && user->uid[0])
        jsn_set_str(a, u, "uid", user->uid);
    jsn_set(a, u, "groups", string_list(a, user->groups));
    if (jsn_len(user->extra) > 0)
        jsn_set(a, u, "extra", jsn_clone(a, user->extra));
    return u;
}

static int review_self(struct api_call *c, struct jsn *review)
{
    jsn_set_path(&c->arena, review, "status.userInfo", user_info(&c->arena, &c->user));
    return 0;
}

static int review_token(struct api_call *c, struct jsn *review)
{
    struct arena *a = &c->arena;
    const char *token = kind_text(review, "spec.token");
    struct jsn *status = jsn_object(a);
    struct jsn *audiences = NULL;
    struct api_user user;

    if (!token[0])
        return status_bad_request(c, "token is required for TokenReview in authentication");
    jsn_set(a, review, "status", status);
    if (access_check_token(c->server->access, a, str_of(token), jsn_get(review, "spec.audiences"),
                           &user, &audiences)) {
        jsn_set_bool(a, status, "authenticated", true);
        jsn_set(a, status, "user", user_info(a, &user));
        jsn_set(a, status, "audiences", audiences);
    } else {
        jsn_set(a, status, "user", jsn_object(a));
        jsn_set_str(a, status, "error", "invalid bearer token");
    }
    return 0;
}

static void resource_rule(struct arena *a, const struct rbac_rule *r, struct jsn *list)
{
    struct jsn *o = jsn_object(a);

    jsn_set(a, o, "verbs", string_list(a, (const char *const *)r->verbs));
    jsn_set(a, o, "apiGroups", string_list(a, (const char *const *)r->groups));
    jsn_set(a, o, "resources", string_list(a, (const char *const *)r->resources));
    if (r->names[0])
        jsn_set(a, o, "resourceNames", string_list(a, (const char *const *)r->names));
    jsn_append(a, list, o);
}

static void path_rule(struct arena *a, const struct rbac_rule *r, struct jsn *list)
{
    struct jsn *o = jsn_object(a);

    jsn_set(a, o, "verbs", string_list(a, (const char *const *)r->verbs));
    jsn_set(a, o, "nonResourceURLs", string_list(a, (const char *const *)r->urls));
    jsn_append(a, list, o);
}

static int review_rules(struct api_call *c, struct jsn *review)
{
    struct arena *a = &c->arena;
    const char *ns = kind_text(review, "spec.namespace");
    struct rbac_rules rules = rbac_rules_of(c->server->rbac, a, &c->user, ns);
    struct jsn *status = jsn_object(a);
    struct jsn *resources = jsn_array(a);
    struct jsn *paths = jsn_array(a);

    if (!ns[0])
        return status_bad_request(c, "no namespace on request");
    for (size_t i = 0; i < rules.n; i++) {
        if (rules.items[i].resources[0])
            resource_rule(a, &rules.items[i], resources);
        if (rules.items[i].urls[0])
            path_rule(a, &rules.items[i], paths);
    }
    jsn_set(a, status, "resourceRules", resources);
    jsn_set(a, status, "nonResourceRules", paths);
    jsn_set_bool(a, status, "incomplete", false);
    jsn_set(a, review, "status", status);
    return 0;
}

/* What is asked must be said: a resource or a path. */
static void check_attributes(struct causes *cs, const struct jsn *review)
{
    const struct jsn *resource = jsn_get(review, "spec.resourceAttributes");
    const struct jsn *path = jsn_get(review, "spec.nonResourceAttributes");

    if (resource && path)
        cause_invalid(cs, "spec.nonResourceAttributes", path,
                      "cannot be specified in combination with resourceAttributes");
    else if (!resource && !path)
        cause_invalid(cs, "spec.resourceAttributes", NULL,
                      "exactly one of nonResourceAttributes or resourceAttributes must be "
                      "specified");
}

static void check_subject(struct causes *cs, const struct jsn *review)
{
    if (!kind_text(review, "spec.user")[0] && jsn_len(jsn_get(review, "spec.groups")) == 0)
        cause_invalid(cs, "spec.user", jsn_string(cs->arena, ""),
                      "at least one of user or group must be specified");
}

static void check_local(struct causes *cs, const struct api_call *c, const struct jsn *review)
{
    const char *ns = kind_text(review, "spec.resourceAttributes.namespace");

    if (jsn_get(review, "spec.nonResourceAttributes"))
        cause_invalid(cs, "spec.nonResourceAttributes",
                      jsn_get(review, "spec.nonResourceAttributes"),
                      "disallowed on this kind of request");
    else if (!streq(ns, c->ns))
        cause_invalid(cs, "spec.resourceAttributes.namespace", jsn_string(cs->arena, ns),
                      "must match metadata.namespace");
}

static struct rbac_request request_of(const struct jsn *review)
{
    const struct jsn *r = jsn_get(review, "spec.resourceAttributes");
    const struct jsn *path = jsn_get(review, "spec.nonResourceAttributes");

    if (!r)
        return (struct rbac_request){kind_text(path, "verb"), "", NULL, "", "", "",
                                     kind_text(path, "path")};
    return (struct rbac_request){.verb = kind_text(r, "verb"),
                                 .group = kind_text(r, "group"),
                                 .resource = kind_text(r, "resource"),
                                 .sub = kind_text(r, "subresource"),
                                 .ns = kind_text(r, "namespace"),
                                 .name = kind_text(r, "name"),
                                 .path = ""};
}

static struct api_user subject_of(struct arena *a, const struct jsn *review)
{
    const struct jsn *list = jsn_get(review, "spec.groups");
    const char **groups = arena_calloc(a, jsn_len(list) + 1, sizeof(*groups));
    size_t n = 0;

    JSN_FOR_ITEMS (item, list)
        if (jsn_text(item))
            groups[n++] = jsn_text(item);
    return (struct api_user){.name = kind_text(review, "spec.user"),
                             .groups = (const char *const *)groups};
}

static int review_access(struct api_call *c, struct jsn *review)
{
    struct arena *a = &c->arena;
    struct causes cs = {.arena = a};
    bool self = starts_with(c->res->kind, "Self");
    struct api_user user = self ? c->user : subject_of(a, review);
    struct rbac_request q = request_of(review);
    struct jsn *status = jsn_object(a);
    const char *why;
    bool allowed;

    check_attributes(&cs, review);
    if (!self)
        check_subject(&cs, review);
    if (cs.n == 0 && starts_with(c->res->kind, "Local"))
        check_local(&cs, c, review);
    if (cs.n)
        return status_invalid(c, "", &cs);
    allowed = rbac_explain(c->server->rbac, a, &user, &q, &why);
    jsn_set_bool(a, status, "allowed", allowed);
    if (why[0])
        jsn_set_str(a, status, "reason", why);
    jsn_set(a, review, "status", status);
    return 0;
}

static int fill_status(struct api_call *c, struct jsn *review)
{
    if (streq(c->res->kind, "SelfSubjectRulesReview"))
        return review_rules(c, review);
    if (streq(c->res->kind, "SelfSubjectReview"))
        return review_self(c, review);
    if (streq(c->res->kind, "TokenReview"))
        return review_token(c, review);
    return review_access(c, review);
}

void review_serve(struct api_call *c)
{
    struct jsn *review = NULL;
    int r = c->verb == VERB_CREATE ? options_read_write(c, "CreateOptions", false)
                                   : status_method_not_allowed(c);

    if (r == 0)
        r = body_read_object(c, &review);
    if (r == 0)
        r = fill_status(c, review);
    if (r < 0) {
        answer_failure(c);
        return;
    }
    jsn_set(&c->arena, jsn_ensure_object(&c->arena, review, "metadata"), "creationTimestamp",
            jsn_null(&c->arena));
    answer_object(c, 201, object_present(c, review));
}
