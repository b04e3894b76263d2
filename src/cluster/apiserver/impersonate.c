/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Impersonation.
 *
 * `kubectl --as` sends headers that name another user, groups, a uid, and further attributes.  Each
 * of them is a thing of its own that the caller must have the verb "impersonate" on: users, groups
 * and serviceaccounts of the core group; uids and userextras/KEY of authentication.k8s.io.  From
 * then on the request is the other user's, with the rights of that one alone.
 *
 * Nobody is made less known than they are without a trace: each such request that writes is logged
 * with both names.
 */
#include "src/cluster/apiserver/impersonate.h"

#include "src/base/encode.h"
#include "src/base/log.h"
#include "src/cluster/apiserver/access.h"
#include "src/cluster/apiserver/rbac/authorize.h"
#include "src/cluster/apiserver/status.h"

#define PREFIX "Impersonate-"
#define EXTRA_PREFIX "Impersonate-Extra-"
#define ACCOUNT_PREFIX "system:serviceaccount:"
#define IDENTITY_GROUP "authentication.k8s.io"
#define ANONYMOUS "system:anonymous"

static int may(struct api_call *c, const char *group, const char *resource, const char *sub,
               const char *ns, const char *name)
{
    struct rbac_request q = {.verb = "impersonate",
                             .group = group,
                             .resource = resource,
                             .sub = sub,
                             .ns = ns,
                             .name = name,
                             .path = ""};

    return rbac_check(c, &q);
}

/* "system:serviceaccount:NS:NAME" cut in its parts. */
static bool is_account(struct arena *a, const char *user, const char **ret_ns,
                       const char **ret_name)
{
    struct str rest =
        str_of(user + (starts_with(user, ACCOUNT_PREFIX) ? strlen(ACCOUNT_PREFIX) : strlen(user)));
    struct str ns = {0};

    if (!rest.n || !str_split(&rest, ':', &ns) || !ns.n || !rest.n || str_find(rest, ':') != rest.n)
        return false;
    *ret_ns = arena_str(a, ns);
    *ret_name = arena_str(a, rest);
    return true;
}

static size_t count(const struct http_exchange *x, const char *name)
{
    size_t n = 0;

    while (http_request_header_at(x, name, n))
        n++;
    return n;
}

/* The groups that were named, and the one that everybody is in, known or not. */
static int read_groups(struct api_call *c, struct api_user *u)
{
    const struct http_exchange *x = c->exchange;
    bool anonymous = streq(u->name, ANONYMOUS);
    const char *all = anonymous ? "system:unauthenticated" : "system:authenticated";
    size_t n = count(x, "Impersonate-Group");
    const char **groups = arena_calloc(&c->arena, n + 2, sizeof(*groups));
    bool add = true;

    if (n == 0 && u->groups)
        return 0;
    for (size_t i = 0; i < n; i++) {
        const char *group = http_request_header_at(x, "Impersonate-Group", i);

        groups[i] = arena_strdup(&c->arena, group);
        add = add && !streq(group, all) && (anonymous || !streq(group, "system:unauthenticated"));
        if (may(c, "", "groups", "", "", groups[i]) < 0)
            return -1;
    }
    groups[n] = add ? all : NULL;
    u->groups = (const char *const *)groups;
    return 0;
}

/* Impersonate-Extra-KEY: the key may be percent-encoded, and is lower case. */
static const char *extra_key(struct arena *a, const char *header)
{
    AUTO(buf_done) struct buf b = {0};
    char *key;

    if (decode_url(&b, str_of(header + strlen(EXTRA_PREFIX)), false) < 0)
        buf_adds(&b, header + strlen(EXTRA_PREFIX));
    key = arena_str(a, buf_view(&b));
    for (char *p = key; *p; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p - 'A' + 'a');
    return key;
}

static int read_extra(struct api_call *c, struct api_user *u)
{
    struct arena *a = &c->arena;
    struct jsn *extra = jsn_object(a);
    const char *name, *value;

    for (size_t i = 0; (name = http_request_header_name(c->exchange, i, &value)); i++) {
        const char *key;
        struct jsn *list;

        if (!str_eq_nocase((struct str){name, strnlen(name, strlen(EXTRA_PREFIX))},
                           STR(EXTRA_PREFIX)))
            continue;
        key = extra_key(a, name);
        if (may(c, IDENTITY_GROUP, "userextras", key, "", value) < 0)
            return -1;
        list = jsn_key(extra, key);
        if (!list) {
            list = jsn_array(a);
            jsn_set(a, extra, arena_strdup(a, key), list);
        }
        jsn_append(a, list, jsn_string(a, value));
    }
    u->extra = jsn_len(extra) ? extra : NULL;
    return 0;
}

static int read_user(struct api_call *c, const char *name, struct api_user *u)
{
    const char *ns, *account;

    *u = (struct api_user){.name = arena_strdup(&c->arena, name)};
    if (!is_account(&c->arena, name, &ns, &account))
        return may(c, "", "users", "", "", u->name);
    *u = access_account_user(&c->arena, ns, account);
    return may(c, "", "serviceaccounts", "", ns, account);
}

static bool asks_for_more(const struct http_exchange *x)
{
    const char *name, *value;

    for (size_t i = 0; (name = http_request_header_name(x, i, &value)); i++)
        if (str_eq_nocase((struct str){name, strnlen(name, strlen(PREFIX))}, STR(PREFIX)))
            return true;
    return false;
}

static void take_note(const struct api_call *c, const struct api_user *u)
{
    const struct http_request *q = http_exchange_request(c->exchange);

    if (!streq(q->method, "GET") && !streq(q->method, "HEAD"))
        log_info("%s acts as %s: %s %s", c->user.name, u->name, q->method, q->path);
}

int impersonate(struct api_call *c)
{
    const char *name = http_request_header(c->exchange, "Impersonate-User");
    const char *uid = http_request_header(c->exchange, "Impersonate-Uid");
    struct api_user u;

    if (!name || !name[0]) {
        if (!asks_for_more(c->exchange))
            return 0;
        return status_fail(c, 500, "InternalError",
                           "Internal error occurred: requested groups, extra or uid without "
                           "impersonating a user");
    }
    if (read_user(c, name, &u) < 0 || read_groups(c, &u) < 0 || read_extra(c, &u) < 0)
        return -1;
    if (uid && uid[0]) {
        u.uid = arena_strdup(&c->arena, uid);
        if (may(c, IDENTITY_GROUP, "uids", "", "", u.uid) < 0)
            return -1;
    }
    take_note(c, &u);
    c->user = u;
    return 0;
}
