/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who sent a request?
 *
 * There are two ways in: a client certificate of our own authority, checked by TLS already, or a
 * bearer token of a service account (account_token.h).  The certificate counts where both come, as
 * in kube-apiserver.  Who has neither is system:anonymous.  What each may do is not decided here,
 * but by their roles (rbac/).
 *
 * A token is good as long as the account that it was made for, and the pod, Secret or node that it
 * is bound to: these are looked up in the store at each request, and compared by uid.
 */
#include "src/base/clock.h"
#include "src/cluster/apiserver/access_private.h"

#define AUTHENTICATED "system:authenticated"
#define ANONYMOUS "system:anonymous"
#define UNAUTHENTICATED "system:unauthenticated"
#define EXTRA "authentication.kubernetes.io/"
#define LEEWAY_S 60 /* after the deletion that an object waits for */

/* Is the object of that uid there, and not past its deletion? */
static bool still_there(const struct access *a, struct arena *arena, const char *resource,
                        const char *ns, const char *name, const char *uid)
{
    struct store_key k = {resource, ns, name};
    struct store_row row;
    struct jsn *object;
    const char *deleted;
    int64_t when_us;

    if (!a->store || store_get(a->store, &k, arena, &row, NULL) < 0 ||
        jsn_parse(arena, row.data, NULL, &object, NULL) < 0 ||
        !streq(jsn_get_str(object, "metadata.uid"), uid))
        return false;
    deleted = jsn_get_str(object, "metadata.deletionTimestamp");
    return !deleted || (clock_parse_rfc3339(str_of(deleted), &when_us) == 0 &&
                        when_us / 1000000 + LEEWAY_S > clock_wall_us() / 1000000);
}

static bool is_live(const struct access *a, struct arena *arena, const struct account_token *t)
{
    static const struct {
        const char *kind;
        const char *resource;
        bool namespaced;
    } bound[] = {{"pod", "pods", true}, {"secret", "secrets", true}, {"node", "nodes", false}};

    if (!still_there(a, arena, "serviceaccounts", t->ns, t->account, t->uid))
        return false;
    if (!t->bound_kind)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(bound); i++)
        if (streq(bound[i].kind, t->bound_kind))
            return still_there(a, arena, bound[i].resource, bound[i].namespaced ? t->ns : "",
                               t->bound_name, t->bound_uid);
    return false;
}

/* Which of the wanted audiences the token is for; nothing wanted is the API. */
static struct jsn *shared_audiences(struct arena *arena, const struct account_token *t,
                                    const struct jsn *wanted)
{
    struct jsn *both = jsn_array(arena);

    JSN_FOR_ITEMS (item, t->audiences) {
        bool found = jsn_len(wanted) == 0 && streq(jsn_text(item), ACCESS_AUDIENCE);

        JSN_FOR_ITEMS (w, wanted)
            found = found || streq(jsn_text(w), jsn_text(item));
        if (found)
            jsn_append(arena, both, item);
    }
    return both;
}

static void add_extra(struct arena *arena, struct jsn *extra, const char *key, const char *value)
{
    struct jsn *list = jsn_array(arena);

    if (!value)
        return;
    jsn_append(arena, list, jsn_string(arena, value));
    jsn_set(arena, extra, key, list);
}

static void set_account_user(struct arena *arena, const struct account_token *t, struct api_user *u)
{
    bool pod = streq(t->bound_kind, "pod");
    struct jsn *extra = jsn_object(arena);

    *u = access_account_user(arena, t->ns, t->account);
    u->uid = t->uid;
    if (t->id)
        add_extra(arena, extra, EXTRA "credential-id", arena_printf(arena, "JTI=%s", t->id));
    add_extra(arena, extra, EXTRA "pod-name", pod ? t->bound_name : NULL);
    add_extra(arena, extra, EXTRA "pod-uid", pod ? t->bound_uid : NULL);
    add_extra(arena, extra, EXTRA "node-name", t->node_name);
    add_extra(arena, extra, EXTRA "node-uid", t->node_uid);
    u->extra = extra;
}

bool access_check_token(const struct access *a, struct arena *arena, struct str token,
                        const struct jsn *audiences, struct api_user *ret_user,
                        struct jsn **ret_audiences)
{
    struct account_token t;
    struct jsn *both;

    if (account_token_read(&a->own.token_key, arena, token, &t) < 0 ||
        (t.expires_s && t.expires_s <= clock_wall_us() / 1000000))
        return false;
    both = shared_audiences(arena, &t, audiences);
    if (jsn_len(both) == 0 || !is_live(a, arena, &t))
        return false;
    set_account_user(arena, &t, ret_user);
    *ret_audiences = both;
    return true;
}

/* "Bearer TOKEN"; what has another form names nobody, and is passed over. */
static bool has_token(const struct http_exchange *x, struct str *ret_token)
{
    const char *header = http_request_header(x, "Authorization");
    struct str rest = str_trim(str_of(header));
    struct str scheme;

    return header && str_split(&rest, ' ', &scheme) && str_eq_nocase(scheme, STR("bearer")) &&
           str_split(&rest, ' ', ret_token) && ret_token->n > 0;
}

/* Everybody who is known is in one group more. */
static const char *const *with_authenticated(struct arena *arena, const char *const *groups)
{
    const char **all;
    size_t n = 0;

    while (groups && groups[n])
        n++;
    all = arena_calloc(arena, n + 2, sizeof(*all));
    for (size_t i = 0; i < n; i++)
        all[i] = arena_strdup(arena, groups[i]);
    all[n] = AUTHENTICATED;
    return (const char *const *)all;
}

static struct api_user certificate_user(struct arena *arena, const struct http_request *q)
{
    struct jsn *extra = jsn_object(arena);

    if (q->tls_sha256)
        add_extra(arena, extra, EXTRA "credential-id",
                  arena_printf(arena, "X509SHA256=%s", q->tls_sha256));
    return (struct api_user){.name = arena_strdup(arena, q->tls_cn),
                             .groups = with_authenticated(arena, q->tls_orgs),
                             .extra = extra};
}

bool access_identify(const struct access *a, struct arena *arena, const struct http_exchange *x,
                     struct api_user *ret_user)
{
    const struct http_request *q = http_exchange_request(x);
    struct jsn *audiences;
    struct str token;

    if (q->tls_cn) {
        *ret_user = certificate_user(arena, q);
        return true;
    }
    return has_token(x, &token) && access_check_token(a, arena, token, NULL, ret_user, &audiences);
}

bool access_offered(const struct http_exchange *x)
{
    struct str token;

    return http_exchange_request(x)->tls_cn || has_token(x, &token);
}

struct api_user access_anonymous(void)
{
    static const char *const groups[] = {UNAUTHENTICATED, NULL};

    return (struct api_user){.name = ANONYMOUS, .groups = groups};
}

struct api_user access_account_user(struct arena *arena, const char *ns, const char *account)
{
    const char **groups = arena_calloc(arena, 4, sizeof(*groups));

    groups[0] = "system:serviceaccounts";
    groups[1] = arena_printf(arena, "system:serviceaccounts:%s", ns);
    groups[2] = AUTHENTICATED;
    return (struct api_user){.name =
                                 arena_printf(arena, "system:serviceaccount:%s:%s", ns, account),
                             .groups = (const char *const *)groups};
}

bool access_is_administrator(const struct api_user *u)
{
    for (const char *const *g = u->groups; g && *g; g++)
        if (streq(*g, "system:masters"))
            return true;
    return false;
}
