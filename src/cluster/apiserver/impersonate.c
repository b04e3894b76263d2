/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Impersonation.
 *
 * `kubectl --as` sends headers that name another user, groups, a uid, and further attributes.  Each
 * of them is a thing of its own that the caller must have a right to; from then on the request is
 * the other user's, with the rights of that one alone.  There are two kinds of rights, and either
 * will do, as in Kubernetes 1.36:
 *
 *   plain         the verb "impersonate" on users, groups and serviceaccounts of the core group,
 * and on uids and userextras/KEY of authentication.k8s.io constrained   the verb "impersonate:MODE"
 * on the same things, all of authentication.k8s.io, and "impersonate-on:MODE:VERB" on what is asked
 * for: who may act as others for some requests alone.  MODE is user-info, serviceaccount, or, for
 * system:node:NAME, arbitrary-node, or associated-node of a service account whose token says that
 * it runs there.
 *
 * A refusal names the plain right that is missing.  Each such request that writes is logged with
 * both names.
 */
#include "src/cluster/apiserver/impersonate.h"

#include "src/base/encode.h"
#include "src/base/log.h"
#include "src/cluster/apiserver/access.h"
#include "src/cluster/apiserver/rbac/authorize.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/status.h"
#include "src/json/names.h"

#define EXTRA_PREFIX "Impersonate-Extra-"
#define ACCOUNT_PREFIX "system:serviceaccount:"
#define NODE_PREFIX "system:node:"
#define NODE_NAME_EXTRA "authentication.kubernetes.io/node-name"
#define IDENTITY_GROUP "authentication.k8s.io"
#define ANONYMOUS "system:anonymous"

/* Who is wanted, and by which right; a mode of NULL is the plain one. */
struct wish {
    struct api_call *call;
    const struct api_user *user;
    const char *mode;
    const char *verb;
};

/* "system:serviceaccount:NS:NAME" cut in its parts. */
static bool is_account(struct arena *a, const char *user, const char **ret_ns,
                       const char **ret_name)
{
    struct str rest =
        str_of(user + (starts_with(user, ACCOUNT_PREFIX) ? strlen(ACCOUNT_PREFIX) : strlen(user)));
    struct str ns = {0};

    if (!rest.n || !str_split(&rest, ':', &ns))
        return false;
    *ret_ns = arena_str(a, ns);
    *ret_name = arena_str(a, rest);
    return names_good(FORM_DNS_LABEL, *ret_ns) && names_good(FORM_DNS_SUBDOMAIN, *ret_name);
}

/* The node's name in "system:node:NAME", or NULL. */
static const char *node_name(const char *user)
{
    const char *name = user + strlen(NODE_PREFIX);

    return starts_with(user, NODE_PREFIX) && names_good(FORM_DNS_SUBDOMAIN, name) ? name : NULL;
}

/* The plain right fails the call where it is missing; a mode only says so. */
static int may(const struct wish *w, const char *resource, const char *sub, const char *ns,
               const char *name)
{
    bool core = !w->mode && !streq(resource, "uids") && !streq(resource, "userextras");
    struct rbac_request q = {.verb = w->verb,
                             .group = core ? "" : IDENTITY_GROUP,
                             .resource = resource,
                             .sub = sub,
                             .ns = ns,
                             .name = name,
                             .path = ""};

    if (w->mode)
        return rbac_allows(w->call->server->rbac, &w->call->user, &q) ? 0 : -1;
    return rbac_check(w->call, &q);
}

static int check_name(const struct wish *w)
{
    const char *node = node_name(w->user->name);
    const char *ns, *account;

    if (is_account(&w->call->arena, w->user->name, &ns, &account))
        return may(w, "serviceaccounts", "", ns, account);
    if (w->mode && node)
        return may(w, "nodes", "", "", streq(w->mode, "associated-node") ? "*" : node);
    return may(w, "users", "", "", w->user->name);
}

/* What a mode gives nobody: all rights, and groups without a name. */
static bool is_open_to_modes(const char *group)
{
    return group[0] && !streq(group, "system:masters");
}

static int check_groups(const struct wish *w)
{
    for (const char *const *g = w->user->groups; g && *g; g++)
        if ((w->mode && !is_open_to_modes(*g)) || may(w, "groups", "", "", *g) < 0)
            return -1;
    return 0;
}

/* "example.com/key", as modes want it. */
static bool is_domain_path(struct arena *a, struct str key)
{
    struct str rest = key;
    struct str domain;

    return str_split(&rest, '/', &domain) && domain.n != key.n && rest.n &&
           names_good(FORM_DNS_SUBDOMAIN, arena_str(a, domain));
}

static int check_extra(const struct wish *w)
{
    struct arena *a = &w->call->arena;

    JSN_FOR_MEMBERS (m, w->user->extra) {
        if (w->mode && !is_domain_path(a, m->key))
            return -1;
        JSN_FOR_ITEMS (value, m->value)
            if ((w->mode && !jsn_text(value)[0]) ||
                may(w, "userextras", arena_str(a, m->key), "", jsn_text(value)) < 0)
                return -1;
    }
    return 0;
}

static int check(struct api_call *c, const struct api_user *u, const char *mode)
{
    struct wish w = {c, u, mode, "impersonate"};

    if (mode)
        w.verb = arena_printf(&c->arena, "impersonate:%s", mode);
    if (check_name(&w) < 0 || (u->uid && may(&w, "uids", "", "", u->uid) < 0) ||
        check_groups(&w) < 0)
        return -1;
    return check_extra(&w);
}

static bool is_bare(const struct api_user *u)
{
    return !u->uid && !u->groups && !u->extra;
}

static bool runs_on(const struct api_call *c, const char *node)
{
    const struct jsn *names = jsn_key(c->user.extra, NODE_NAME_EXTRA);
    const char *ns, *account;
    struct arena a = {0};
    bool is = node && jsn_len(names) == 1 && streq(jsn_text(jsn_item(names, 0)), node) &&
              is_account(&a, c->user.name, &ns, &account);

    arena_done(&a);
    return is;
}

static bool fits(struct api_call *c, const struct api_user *u, const char *mode)
{
    const char *node = node_name(u->name);
    const char *ns, *account;
    bool is = is_account(&c->arena, u->name, &ns, &account);

    if (streq(mode, "user-info"))
        return !node && !is;
    return is_bare(u) && (streq(mode, "serviceaccount")    ? is
                          : streq(mode, "associated-node") ? runs_on(c, node)
                                                           : node != NULL);
}

/* The mode in which the caller may be that user for this request, or NULL. */
static const char *find_mode(struct api_call *c, const struct api_user *u,
                             const struct rbac_request *asked)
{
    static const char *const modes[] = {"associated-node", "arbitrary-node", "serviceaccount",
                                        "user-info"};

    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        struct rbac_request q = *asked;

        if (!fits(c, u, modes[i]))
            continue;
        q.verb = arena_printf(&c->arena, "impersonate-on:%s:%s", modes[i], asked->verb);
        if (rbac_allows(c->server->rbac, &c->user, &q) && check(c, u, modes[i]) == 0)
            return modes[i];
    }
    return NULL;
}

static const char *const *read_groups(struct api_call *c)
{
    const struct http_exchange *x = c->exchange;
    const char **groups;
    const char *group;
    size_t n = 0;

    while (http_request_header_at(x, "Impersonate-Group", n))
        n++;
    if (n == 0)
        return NULL;
    groups = arena_calloc(&c->arena, n + 1, sizeof(*groups));
    for (size_t i = 0; (group = http_request_header_at(x, "Impersonate-Group", i)); i++)
        groups[i] = arena_strdup(&c->arena, group);
    return (const char *const *)groups;
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

static const struct jsn *read_extra(struct api_call *c)
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
        list = jsn_key(extra, key);
        if (!list) {
            list = jsn_array(a);
            jsn_set(a, extra, key, list);
        }
        jsn_append(a, list, jsn_string(a, value));
    }
    return jsn_len(extra) ? extra : NULL;
}

static const char *read_header(struct api_call *c, const char *name)
{
    const char *value = http_request_header(c->exchange, name);

    return value && value[0] ? arena_strdup(&c->arena, value) : NULL;
}

/* Everybody is in one group more: of those who are known, or of those who are not. */
static void join_everybody(struct arena *a, struct api_user *u)
{
    static const char *const none[] = {NULL};
    const char *const *had = u->groups ? u->groups : none;
    bool anonymous = streq(u->name, ANONYMOUS);
    const char *all = anonymous ? "system:unauthenticated" : "system:authenticated";
    const char **groups;
    size_t n = 0;

    if (strings_have(had, all) || (!anonymous && strings_have(had, "system:unauthenticated")))
        return;
    while (had[n])
        n++;
    groups = arena_calloc(a, n + 2, sizeof(*groups));
    for (size_t i = 0; i < n; i++)
        groups[i] = had[i];
    groups[n] = all;
    u->groups = (const char *const *)groups;
}

/* The groups that follow from the name, where none were named. */
static void set_groups(struct api_call *c, struct api_user *u, const char *mode)
{
    static const char *const nodes[] = {"system:nodes", NULL};
    const char *ns, *account;

    if (!u->groups && is_account(&c->arena, u->name, &ns, &account))
        u->groups = access_account_user(&c->arena, ns, account).groups;
    if (mode && node_name(u->name))
        u->groups = nodes;
    join_everybody(&c->arena, u);
}

static void take_note(const struct api_call *c, const struct api_user *u)
{
    const struct http_request *q = http_exchange_request(c->exchange);

    if (!streq(q->method, "GET") && !streq(q->method, "HEAD"))
        log_info("%s acts as %s: %s %s", c->user.name, u->name, q->method, q->path);
}

int impersonate(struct api_call *c, const struct rbac_request *asked)
{
    struct api_user u = {.name = read_header(c, "Impersonate-User"),
                         .uid = read_header(c, "Impersonate-Uid"),
                         .groups = read_groups(c),
                         .extra = read_extra(c)};
    const char *mode;

    if (!u.name)
        return is_bare(&u) ? 0
                           : status_bad_request(c, "requested groups, extra or uid without "
                                                   "impersonating a user name");
    mode = find_mode(c, &u, asked);
    if (!mode && check(c, &u, NULL) < 0)
        return -1;
    set_groups(c, &u, mode);
    take_note(c, &u);
    c->user = u;
    return 0;
}
