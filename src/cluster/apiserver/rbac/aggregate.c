/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aggregation of ClusterRoles.
 *
 * A ClusterRole with an aggregationRule has the rules of all ClusterRoles that its selectors find,
 * in the order of selectors and names, each once; whatever else is written into its rules is
 * replaced.  It may itself be found by another (view by edit, edit by admin).  What a role should
 * have is taken from the roles that do not aggregate, through all that do: so one look settles
 * everything, and roles that find each other do not chase each other's rules for ever.
 */
#include "src/cluster/apiserver/rbac/aggregate.h"

#include "src/base/alloc.h"
#include "src/base/log.h"
#include "src/cluster/apiserver/kinds/labelselector.h"
#include "src/cluster/apiserver/kinds/lookup.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/rbac/index.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/workset.h"
#include "src/cluster/apiserver/write.h"

#define BATCH 8
#define RETRY_MS 1000

struct rbac_aggregate {
    struct apiserver *server;
    struct workset work;
};

/* All ClusterRoles are in `roles`, by name. */
struct gathering {
    struct arena *arena;
    struct jsn *roles;
};

static bool add_role(void *arg, struct jsn *role)
{
    struct gathering *t = arg;

    jsn_append(t->arena, t->roles, role);
    return true;
}

/* The roles on the way to the one at hand. */
struct trail {
    const struct jsn *role;
    const struct trail *up;
};

static bool on_trail(const struct trail *t, const struct jsn *role)
{
    for (; t; t = t->up)
        if (t->role == role)
            return true;
    return false;
}

static void gather(const struct gathering *t, const struct trail *at, struct jsn *rules);

static void add_rules(const struct gathering *t, const struct trail *at, const struct jsn *other,
                      struct jsn *rules)
{
    struct trail next = {other, at};

    if (jsn_key(other, "aggregationRule")) {
        gather(t, &next, rules);
        return;
    }
    JSN_FOR_ITEMS (rule, jsn_key(other, "rules"))
        if (!rbac_listed(rules, rule))
            jsn_append(t->arena, rules, rule);
}

static void gather(const struct gathering *t, const struct trail *at, struct jsn *rules)
{
    JSN_FOR_ITEMS (selector, jsn_get(at->role, "aggregationRule.clusterRoleSelectors"))
        JSN_FOR_ITEMS (other, t->roles)
            if (!on_trail(at, other) &&
                labelselector_match(t->arena, selector, jsn_get(other, "metadata.labels")))
                add_rules(t, at, other, rules);
}

static int update(struct api_call *c, const struct jsn *role, struct jsn *rules)
{
    struct write_update how = {.unconditional = true};
    struct jsn *changed = jsn_clone(&c->arena, role);

    jsn_set(&c->arena, changed, "rules", rules);
    return write_update(c, role, changed, &how);
}

static bool same_rules(const struct jsn *a, const struct jsn *b)
{
    return jsn_len(a) == 0 ? jsn_len(b) == 0 : jsn_equal(a, b);
}

static int look_at_all(struct apiserver *s)
{
    AUTO(call_done_inner) struct api_call c;
    struct gathering t = {.arena = &c.arena};
    int r;

    call_init_inner(&c, s,
                    registry_find(s->registry, STR(RBAC_GROUP), STR("v1"), STR("clusterroles")));
    t.roles = jsn_array(&c.arena);
    r = lookup_each_object(&c, RBAC_CLUSTER_ROLES, NULL, add_role, &t);
    JSN_FOR_ITEMS (role, t.roles) {
        struct trail at = {role, NULL};
        struct jsn *rules = jsn_array(&c.arena);

        if (r < 0 || !jsn_key(role, "aggregationRule") || object_deleting(role))
            continue;
        gather(&t, &at, rules);
        if (same_rules(rules, jsn_key(role, "rules")))
            continue;
        r = update(&c, role, rules);
        if (r < 0)
            log_warn("cluster role '%s' could not be brought up to date: %s", object_name(role),
                     jsn_get_str(c.failure, "message"));
    }
    return r;
}

static void look(void *arg, const char *key)
{
    struct rbac_aggregate *g = arg;

    if (look_at_all(g->server) < 0)
        workset_add_later(&g->work, key, RETRY_MS);
}

void rbac_aggregate_event(struct rbac_aggregate *g, const struct store_event *ev)
{
    if (streq(ev->row.key.resource, RBAC_CLUSTER_ROLES))
        workset_add(&g->work, "all");
}

int rbac_aggregate_start(struct rbac_aggregate *g, struct err *e)
{
    if (look_at_all(g->server) < 0)
        return err_set(e, -EIO, ERR_RETRY, "the default cluster roles could not be made");
    return 0;
}

struct rbac_aggregate *rbac_aggregate_new(struct apiserver *s)
{
    struct rbac_aggregate *g = xcalloc(1, sizeof(*g));

    g->server = s;
    workset_init(&g->work, s->loop, BATCH, look, g);
    return g;
}

struct rbac_aggregate *rbac_aggregate_free(struct rbac_aggregate *g)
{
    if (!g)
        return NULL;
    workset_done(&g->work);
    free(g);
    return NULL;
}
