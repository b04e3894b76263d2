/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions about identity.
 *
 * Everyone who gets in may do everything, so access reviews are always allowed; they exist because
 * kubectl and other clients ask.  Tokens for service accounts are real: they are signed, expire,
 * and let in.
 */
#include "src/cluster/apiserver/token.h"

#include "src/base/clock.h"
#include "src/cluster/apiserver/access.h"
#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/body.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/options.h"
#include "src/cluster/apiserver/status.h"

#define TOKEN_DEFAULT_S 3600
#define TOKEN_LEAST_S 600
#define TOKEN_MOST_S (1LL << 32)

static int check_expiry(struct api_call *c, int64_t seconds)
{
    struct causes cs = {.arena = &c->arena};

    if (seconds < TOKEN_LEAST_S)
        cause_invalid(&cs, "spec.expirationSeconds", jsn_int(&c->arena, seconds),
                      "may not specify a duration less than 10 minutes");
    else if (seconds > TOKEN_MOST_S)
        cause_invalid(&cs, "spec.expirationSeconds", jsn_int(&c->arena, seconds),
                      "may not specify a duration larger than 2^32 seconds");
    return cs.n ? status_invalid_kind(c, "TokenRequest", "authentication.k8s.io", "", &cs) : 0;
}

void token_serve(struct api_call *c)
{
    char when[CLOCK_RFC3339_LEN];
    struct jsn *request = NULL;
    struct jsn *account = NULL;
    int64_t seconds = TOKEN_DEFAULT_S;
    int64_t expires;
    int r = body_read_subresource(c, &request);

    if (r == 0) {
        seconds = jsn_get_int(request, "spec.expirationSeconds", TOKEN_DEFAULT_S);
        r = check_expiry(c, seconds);
    }
    if (r == 0)
        r = object_load(c, c->ns, c->name, &account);
    if (r < 0) {
        answer_failure(c);
        return;
    }
    expires = clock_wall_us() / 1000000 + seconds;
    clock_rfc3339(expires * 1000000, when);
    jsn_set_str(&c->arena, request, "kind", "TokenRequest");
    jsn_set_str(&c->arena, request, "apiVersion", "authentication.k8s.io/v1");
    jsn_set_path(&c->arena, request, "metadata.name", jsn_string(&c->arena, c->name));
    jsn_set_path(&c->arena, request, "metadata.namespace", jsn_string(&c->arena, c->ns));
    jsn_set_path(&c->arena, request, "spec.expirationSeconds", jsn_int(&c->arena, seconds));
    jsn_set_path(&c->arena, request, "status.token",
                 jsn_string(&c->arena, access_make_token(c->server->access, &c->arena, c->ns,
                                                         c->name, object_uid(account), expires)));
    jsn_set_path(&c->arena, request, "status.expirationTimestamp", jsn_string(&c->arena, when));
    answer_json(c, 201, request);
}

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

static struct jsn *user_info(struct api_call *c)
{
    struct jsn *u = jsn_object(&c->arena);

    jsn_set_str(&c->arena, u, "username", c->user.name);
    jsn_set(&c->arena, u, "groups", string_list(&c->arena, c->user.groups));
    return u;
}

/* Everything on everything. */
static void fill_rules(struct api_call *c, struct jsn *review)
{
    static const char *const any[] = {"*", NULL};
    struct arena *a = &c->arena;
    struct jsn *resource = jsn_object(a);
    struct jsn *other = jsn_object(a);
    struct jsn *status = jsn_object(a);

    jsn_set(a, resource, "verbs", string_list(a, any));
    jsn_set(a, resource, "apiGroups", string_list(a, any));
    jsn_set(a, resource, "resources", string_list(a, any));
    jsn_set(a, other, "verbs", string_list(a, any));
    jsn_set(a, other, "nonResourceURLs", string_list(a, any));
    jsn_set(a, status, "resourceRules", jsn_array(a));
    jsn_append(a, jsn_key(status, "resourceRules"), resource);
    jsn_set(a, status, "nonResourceRules", jsn_array(a));
    jsn_append(a, jsn_key(status, "nonResourceRules"), other);
    jsn_set_bool(a, status, "incomplete", false);
    jsn_set(a, review, "status", status);
}

static void fill_status(struct api_call *c, struct jsn *review)
{
    struct arena *a = &c->arena;

    if (streq(c->res->kind, "SelfSubjectRulesReview"))
        fill_rules(c, review);
    else if (streq(c->res->kind, "SelfSubjectReview"))
        jsn_set_path(a, review, "status.userInfo", user_info(c));
    else if (streq(c->res->kind, "TokenReview"))
        jsn_set_path(a, review, "status.authenticated", jsn_bool(a, false));
    else
        jsn_set_path(a, review, "status.allowed", jsn_bool(a, true));
}

/* What is asked must be said: a resource or a path. */
static int check_review(struct api_call *c, const struct jsn *review)
{
    struct causes cs = {.arena = &c->arena};

    if (ends_with(c->res->kind, "AccessReview") && !jsn_get(review, "spec.resourceAttributes") &&
        !jsn_get(review, "spec.nonResourceAttributes"))
        cause_invalid(&cs, "spec.resourceAttributes", NULL,
                      "exactly one of nonResourceAttributes or resourceAttributes must be "
                      "specified");
    return status_invalid(c, "", &cs);
}

void review_serve(struct api_call *c)
{
    struct jsn *review = NULL;
    int r = c->verb == VERB_CREATE ? options_read_write(c, "CreateOptions", false)
                                   : status_method_not_allowed(c);

    if (r == 0)
        r = body_read_object(c, &review);
    if (r == 0)
        r = check_review(c, review);
    if (r < 0) {
        answer_failure(c);
        return;
    }
    jsn_set(&c->arena, jsn_key(review, "metadata"), "creationTimestamp", jsn_null(&c->arena));
    fill_status(c, review);
    answer_object(c, 201, object_present(c, review));
}
