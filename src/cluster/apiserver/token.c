/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TokenRequest: a signed token for a service account.
 *
 * A token may be bound to a pod that runs with the account, to a Secret, or to a node: it is then
 * good as long as that very object is there.  How long a token lives is limited; a longer wish is
 * cut short with a warning, and the answer says what was given, as kube-apiserver does it with
 * --service-account-max-token-expiration.  Our own node process gets tokens for pods alone.
 */
#include "src/cluster/apiserver/token.h"

#include "src/base/clock.h"
#include "src/base/encode.h"
#include "src/cluster/apiserver/access.h"
#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/body.h"
#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/kinds/lookup.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/options.h"
#include "src/cluster/apiserver/status.h"

#define GROUP "authentication.k8s.io"
#define TOKEN_DEFAULT_S 3600
#define TOKEN_LEAST_S 600
#define TOKEN_MOST_S (1LL << 32)
#define TOKEN_GIVEN_S (365LL * 24 * 3600)
#define NODE_USER "system:slurmkeeper:node"

static int check_expiry(struct api_call *c, int64_t *seconds)
{
    struct causes cs = {.arena = &c->arena};

    if (*seconds < TOKEN_LEAST_S)
        cause_invalid(&cs, "spec.expirationSeconds", jsn_int(&c->arena, *seconds),
                      "may not specify a duration less than 10 minutes");
    else if (*seconds > TOKEN_MOST_S)
        cause_invalid(&cs, "spec.expirationSeconds", jsn_int(&c->arena, *seconds),
                      "may not specify a duration larger than 2^32 seconds");
    if (cs.n)
        return status_invalid_kind(c, "TokenRequest", GROUP, "", &cs);
    if (*seconds > TOKEN_GIVEN_S) {
        call_warn(c, "requested expiration of %lld seconds shortened to %lld seconds",
                  (long long)*seconds, (long long)TOKEN_GIVEN_S);
        *seconds = TOKEN_GIVEN_S;
    }
    return 0;
}

/* A pod lends its life only to tokens of its own account. */
static int bind_pod(struct api_call *c, const struct jsn *pod, struct account_token *t)
{
    const char *node = kind_text(pod, "spec.nodeName");
    struct jsn *object = NULL;

    if (!streq(kind_text(pod, "spec.serviceAccountName"), c->name))
        return status_bad_request(c,
                                  "cannot bind token for serviceaccount \"%s\" to pod running with "
                                  "different serviceaccount name.",
                                  c->name);
    if (!node[0])
        return 0;
    t->node_name = node;
    if (lookup_get(c, "nodes", "", node, &object) == 0)
        t->node_uid = object_uid(object);
    return 0;
}

static int other_uid(struct api_call *c, const struct jsn *ref)
{
    const char *kind = kind_text(ref, "kind");
    const char *name = kind_text(ref, "name");
    int r = status_fail(c, 409, "Conflict",
                        "Operation cannot be fulfilled on %s \"%s\": the UID in the bound object "
                        "reference (%s) does not match the UID in record. The object might have "
                        "been deleted and then recreated",
                        kind, name, kind_text(ref, "uid"));

    jsn_set_str(&c->arena, status_details(c), "name", name);
    jsn_set_str(&c->arena, status_details(c), "kind", kind);
    return r;
}

static int bind_object(struct api_call *c, const struct jsn *ref, const char *kind,
                       const char *plural, struct account_token *t)
{
    const char *name = kind_text(ref, "name");
    const char *uid = kind_text(ref, "uid");
    struct jsn *object = NULL;
    int r;

    if (!name[0])
        return status_bad_request(c, "Name parameter required.");
    r = lookup_get(c, plural, streq(kind, "node") ? "" : c->ns, name, &object);
    if (r == -ENOENT)
        return status_missing(c, "", plural, name);
    if (r < 0)
        return r;
    if (streq(kind, "pod"))
        r = bind_pod(c, object, t);
    if (r == 0 && uid[0] && !streq(uid, object_uid(object)))
        r = other_uid(c, ref);
    t->bound_kind = kind;
    t->bound_name = name;
    t->bound_uid = object_uid(object);
    return r;
}

static int bind_token(struct api_call *c, const struct jsn *ref, struct account_token *t)
{
    static const struct {
        const char *kind, *claim, *plural;
    } known[] = {
        {"Pod", "pod", "pods"}, {"Secret", "secret", "secrets"}, {"Node", "node", "nodes"}};

    if (streq(c->user.name, NODE_USER) && !streq(kind_text(ref, "kind"), "Pod"))
        return status_forbidden(c, c->name, "node requested token not bound to a pod");
    if (!jsn_is(ref, JSN_OBJECT))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (streq(kind_text(ref, "kind"), known[i].kind) &&
            !strchr(kind_text(ref, "apiVersion"), '/'))
            return bind_object(c, ref, known[i].claim, known[i].plural, t);
    return status_bad_request(c, "cannot bind token to object of type %s%s, Kind=%s",
                              strchr(kind_text(ref, "apiVersion"), '/') ? "" : "/",
                              kind_text(ref, "apiVersion"), kind_text(ref, "kind"));
}

static void set_audiences(struct api_call *c, struct jsn *request, struct account_token *t)
{
    struct jsn *list = jsn_get(request, "spec.audiences");

    if (jsn_len(list) == 0) {
        list = jsn_array(&c->arena);
        jsn_append(&c->arena, list, jsn_string(&c->arena, ACCESS_AUDIENCE));
        jsn_set_path(&c->arena, request, "spec.audiences", list);
    }
    t->audiences = list;
}

static void answer_token(struct api_call *c, struct jsn *request, const struct account_token *t)
{
    struct arena *a = &c->arena;
    char when[CLOCK_RFC3339_LEN];
    char uid[ENCODE_UUID_LEN + 1];

    encode_uuid(uid);
    clock_rfc3339(t->expires_s * 1000000, when);
    jsn_set_str(a, request, "kind", "TokenRequest");
    jsn_set_str(a, request, "apiVersion", GROUP "/v1");
    jsn_set_path(a, request, "metadata.name", jsn_string(a, c->name));
    jsn_set_path(a, request, "metadata.namespace", jsn_string(a, c->ns));
    jsn_set_path(a, request, "metadata.uid", jsn_string(a, uid));
    jsn_set_path(a, request, "metadata.creationTimestamp", jsn_string(a, call_now(c)));
    jsn_set_path(a, request, "spec.expirationSeconds", jsn_int(a, t->expires_s - t->issued_s));
    jsn_set_path(a, request, "status.token",
                 jsn_string(a, access_make_token(c->server->access, a, t)));
    jsn_set_path(a, request, "status.expirationTimestamp", jsn_string(a, when));
    answer_json(c, 201, request);
}

/* The request may name the account and its namespace again, but no others. */
static int check_meta(struct api_call *c, const struct jsn *request)
{
    const char *version = kind_text(request, "apiVersion");
    const char *name = kind_text(request, "metadata.name");
    const char *ns = kind_text(request, "metadata.namespace");
    struct causes cs = {.arena = &c->arena};

    if (version[0] && !streq(version, GROUP "/v1"))
        return status_bad_request(c,
                                  "TokenRequest in version \"%s\" cannot be handled as a "
                                  "TokenRequest: no kind \"TokenRequest\" is registered for "
                                  "version \"%s\"",
                                  strrchr(version, '/') ? strrchr(version, '/') + 1 : version,
                                  version);
    if (ns[0] && !streq(ns, c->ns))
        return status_bad_request(c, "the namespace of the provided object does not match the "
                                     "namespace sent on the request");
    if (name[0] && !streq(name, c->name))
        cause_invalid(&cs, "metadata.name", jsn_string(&c->arena, name),
                      "must match the service account name if specified");
    return status_invalid_kind(c, "TokenRequest", GROUP, c->name, &cs);
}

static int read_request(struct api_call *c, struct jsn **ret_request, int64_t *ret_seconds)
{
    struct answer_wish wish;
    int r = answer_wish_read(c, &wish);

    if (r == 0)
        r = options_read_write(c, "CreateOptions", false);
    if (r == 0)
        r = body_read_subresource(c, ret_request);
    if (r == 0)
        r = check_meta(c, *ret_request);
    if (r < 0)
        return r;
    *ret_seconds = jsn_get_int(*ret_request, "spec.expirationSeconds", TOKEN_DEFAULT_S);
    return check_expiry(c, ret_seconds);
}

static int load_account(struct api_call *c, struct jsn **ret_account)
{
    struct jsn *ns;
    int r = object_find(c, c->ns, c->name, ret_account);

    if (r != -ENOENT)
        return r;
    if (lookup_get(c, "namespaces", "", c->ns, &ns) == -ENOENT)
        return status_missing(c, "", "namespaces", c->ns);
    return status_not_found(c, c->name);
}

void token_serve(struct api_call *c)
{
    struct account_token t = {.ns = c->ns, .account = c->name};
    char id[ENCODE_UUID_LEN + 1];
    struct jsn *request = NULL;
    struct jsn *account = NULL;
    int64_t seconds = TOKEN_DEFAULT_S;
    int r = read_request(c, &request, &seconds);

    if (r == 0)
        r = load_account(c, &account);
    if (r == 0)
        r = bind_token(c, jsn_get(request, "spec.boundObjectRef"), &t);
    if (r < 0) {
        answer_failure(c);
        return;
    }
    encode_uuid(id);
    t.id = id;
    t.uid = object_uid(account);
    t.issued_s = clock_wall_us() / 1000000;
    t.expires_s = t.issued_s + seconds;
    set_audiences(c, request, &t);
    answer_token(c, request, &t);
}
