/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reviews.
 *
 *   TokenReview               whose token is this, and is it good?
 *   SelfSubjectReview         who am I?
 *   SelfSubjectRulesReview    what may I do in that namespace?
 *
 * Those about single rights are in review_access.c.  The answers come from the very code that
 * decides about requests (access.h, rbac/authorize.h).
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
    jsn_set_path(&c->arena, review, "metadata.creationTimestamp",
                 jsn_string(&c->arena, call_now(c)));
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
    int r = options_read_write(c, "CreateOptions", false);

    if (r == 0)
        r = body_read_object(c, &review);
    if (r == 0)
        r = fill_status(c, review);
    if (r < 0) {
        answer_failure(c);
        return;
    }
    answer_object(c, 201, object_present(c, review));
}
