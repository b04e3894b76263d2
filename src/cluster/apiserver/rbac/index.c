/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index of rights.
 *
 * Every request asks what its user may do, so nothing is read from the store for that: roles and
 * bindings are kept here as lists of texts, and follow the store's commits.  Bindings are found by
 * namespace and subject; a request looks at its user's name and groups, once for the namespace and
 * once for the whole cluster, however many bindings there are.
 *
 * Roles are looked up by name when they are needed: a binding may come before its role, and a role
 * may go and come back.
 */
#include "src/cluster/apiserver/rbac/index.h"

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/cluster/apiserver/kinds/kinds.h"

struct role {
    struct arena arena;
    struct rbac_rules rules;
};

struct binding {
    struct arena arena;
    struct rbac_grant *grants; /* one a subject */
    const char **keys;         /* of each in `subjects` */
    size_t n;
};

/* Who is bound: the grants of one subject in one namespace. */
struct holder {
    const struct rbac_grant **grants;
    size_t n;
    size_t cap;
};

struct rbac_index {
    struct map roles;    /* "NAMESPACE/NAME" -> struct role; "/NAME" of the cluster's */
    struct map bindings; /* the same -> struct binding */
    struct map subjects; /* "NAMESPACE/u:NAME", "NAMESPACE/g:NAME" -> struct holder */
};

static void free_role(void *p)
{
    struct role *r = p;

    arena_done(&r->arena);
    free(r);
}

static void free_binding(void *p)
{
    struct binding *b = p;

    arena_done(&b->arena);
    free(b);
}

static void free_holder(void *p)
{
    struct holder *h = p;

    free(h->grants);
    free(h);
}

struct rbac_index *rbac_index_new(void)
{
    struct rbac_index *x = xcalloc(1, sizeof(*x));

    map_init(&x->roles, free_role);
    map_init(&x->bindings, free_binding);
    map_init(&x->subjects, free_holder);
    return x;
}

struct rbac_index *rbac_index_free(struct rbac_index *x)
{
    if (!x)
        return NULL;
    map_done(&x->subjects);
    map_done(&x->bindings);
    map_done(&x->roles);
    free(x);
    return NULL;
}

static void add_grant(struct rbac_index *x, const char *key, const struct rbac_grant *g)
{
    struct holder *h = map_get(&x->subjects, str_of(key));

    if (!h) {
        h = xcalloc(1, sizeof(*h));
        (void)map_put(&x->subjects, str_of(key), h);
    }
    array_reserve(&h->grants, &h->cap, h->n + 1, sizeof(*h->grants));
    h->grants[h->n++] = g;
}

static void drop_grant(struct rbac_index *x, const char *key, const struct rbac_grant *g)
{
    struct holder *h = map_get(&x->subjects, str_of(key));
    size_t kept = 0;

    if (!h)
        return;
    for (size_t i = 0; i < h->n; i++)
        if (h->grants[i] != g)
            h->grants[kept++] = h->grants[i];
    h->n = kept;
    if (h->n == 0)
        (void)map_del(&x->subjects, str_of(key));
}

/* "NAMESPACE/u:NAME"; a service account is the user of its long name. */
static const char *subject_key(struct arena *a, const struct rbac_grant *g)
{
    if (streq(g->subject_kind, "ServiceAccount"))
        return arena_printf(a, "%s/u:system:serviceaccount:%s:%s", g->ns, g->subject_ns,
                            g->subject_name);
    return arena_printf(a, "%s/%s:%s", g->ns, streq(g->subject_kind, "Group") ? "g" : "u",
                        g->subject_name);
}

static struct binding *read_binding(const char *ns, const char *name, struct str data)
{
    struct binding *b = xcalloc(1, sizeof(*b));
    struct jsn *v = NULL;
    const struct jsn *ref;
    const struct jsn *subjects;

    (void)!jsn_parse(&b->arena, data, NULL, &v, NULL);
    ref = jsn_key(v, "roleRef");
    subjects = jsn_key(v, "subjects");
    b->grants = arena_calloc(&b->arena, jsn_len(subjects) + 1, sizeof(*b->grants));
    b->keys = arena_calloc(&b->arena, jsn_len(subjects) + 1, sizeof(*b->keys));
    ns = arena_strdup(&b->arena, ns);
    name = arena_strdup(&b->arena, name);
    JSN_FOR_ITEMS (s, subjects) {
        const char *account_ns = kind_text(s, "namespace");

        b->grants[b->n] = (struct rbac_grant){
            .ns = ns,
            .binding = name,
            .cluster_role = streq(kind_text(ref, "kind"), "ClusterRole"),
            .role = kind_text(ref, "name"),
            .subject_kind = kind_text(s, "kind"),
            .subject_name = kind_text(s, "name"),
            .subject_ns = account_ns[0] ? account_ns : ns,
        };
        b->keys[b->n] = subject_key(&b->arena, &b->grants[b->n]);
        b->n++;
    }
    return b;
}

static void drop_binding(struct rbac_index *x, const char *key)
{
    struct binding *b = map_take(&x->bindings, str_of(key));

    for (size_t i = 0; b && i < b->n; i++)
        drop_grant(x, b->keys[i], &b->grants[i]);
    if (b)
        free_binding(b);
}

static void put_binding(struct rbac_index *x, const char *key, struct binding *b)
{
    drop_binding(x, key);
    (void)map_put(&x->bindings, str_of(key), b);
    for (size_t i = 0; i < b->n; i++)
        add_grant(x, b->keys[i], &b->grants[i]);
}

static void put_role(struct rbac_index *x, const char *key, struct str data)
{
    struct role *r = xcalloc(1, sizeof(*r));
    struct jsn *v = NULL;

    (void)!jsn_parse(&r->arena, data, NULL, &v, NULL);
    rbac_rules_read(&r->arena, jsn_key(v, "rules"), &r->rules);
    (void)map_put(&x->roles, str_of(key), r);
}

static bool is_role(const char *resource)
{
    return streq(resource, RBAC_ROLES) || streq(resource, RBAC_CLUSTER_ROLES);
}

static bool is_binding(const char *resource)
{
    return streq(resource, RBAC_ROLE_BINDINGS) || streq(resource, RBAC_CLUSTER_ROLE_BINDINGS);
}

void rbac_index_put(struct rbac_index *x, const char *resource, const char *ns, const char *name,
                    struct str data)
{
    AUTO(buf_done) struct buf key = {0};

    if (!ends_with(resource, "." RBAC_GROUP))
        return;
    buf_printf(&key, "%s/%s", ns, name);
    if (is_role(resource))
        put_role(x, buf_str(&key), data);
    else if (is_binding(resource))
        put_binding(x, buf_str(&key), read_binding(ns, name, data));
}

void rbac_index_drop(struct rbac_index *x, const char *resource, const char *ns, const char *name)
{
    AUTO(buf_done) struct buf key = {0};

    if (!ends_with(resource, "." RBAC_GROUP))
        return;
    buf_printf(&key, "%s/%s", ns, name);
    if (is_role(resource))
        (void)map_del(&x->roles, buf_view(&key));
    else if (is_binding(resource))
        drop_binding(x, buf_str(&key));
}

/* Requests do this, and printf is slow. */
static void set_key(struct buf *key, const char *ns, const char *between, const char *name)
{
    buf_clear(key);
    buf_adds(key, ns);
    buf_adds(key, between);
    buf_adds(key, name);
}

const struct rbac_rules *rbac_index_role(const struct rbac_index *x, const char *ns,
                                         const char *name)
{
    AUTO(buf_done) struct buf key = {0};
    const struct role *r;

    set_key(&key, ns, "/", name);
    r = map_get(&x->roles, buf_view(&key));
    return r ? &r->rules : NULL;
}

static bool visit_holder(const struct rbac_index *x, struct str key, rbac_grant_fn fn, void *arg)
{
    const struct holder *h = map_get(&x->subjects, key);

    for (size_t i = 0; h && i < h->n; i++) {
        struct rbac_grant g = *h->grants[i];

        g.rules = rbac_index_role(x, g.cluster_role ? "" : g.ns, g.role);
        if (!fn(arg, &g))
            return false;
    }
    return true;
}

static bool visit_in(const struct rbac_index *x, const struct api_user *u, const char *ns,
                     rbac_grant_fn fn, void *arg)
{
    AUTO(buf_done) struct buf key = {0};

    set_key(&key, ns, "/u:", u->name);
    if (!visit_holder(x, buf_view(&key), fn, arg))
        return false;
    for (const char *const *group = u->groups; group && *group; group++) {
        set_key(&key, ns, "/g:", *group);
        if (!visit_holder(x, buf_view(&key), fn, arg))
            return false;
    }
    return true;
}

void rbac_index_visit(const struct rbac_index *x, const struct api_user *u, const char *ns,
                      rbac_grant_fn fn, void *arg)
{
    if (visit_in(x, u, "", fn, arg) && ns[0])
        (void)visit_in(x, u, ns, fn, arg);
}
