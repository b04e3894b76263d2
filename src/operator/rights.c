/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rights.
 *
 * What is done with objects is written in one place, the table of kinds (src/plan/kind.c): the
 * executor refuses to do more, so this is all that the operator asks for.  Beside that there are
 * events about objects, logs of pods that do not come up, the lease by which one of several
 * operators leads, and the webhook: its certificate, and the configuration that tells the API
 * server to trust it.
 *
 * blockOwnerDeletion in an owner reference needs `update` of the owner's finalizers where the
 * admission plugin OwnerReferencesPermissionEnforcement runs (OpenShift).
 */
#include "src/operator/rights.h"

#include "src/operator/webhook.h"
#include "src/plan/kind.h"

struct rights {
    struct arena *a;
    struct right *items;
    size_t n;
    size_t cap;
};

static const char *const patch[] = {"patch", NULL};
static const char *const update[] = {"update", NULL};

static void add(struct rights *r, struct right right)
{
    arena_reserve(r->a, &r->items, &r->cap, r->n + 1, sizeof(*r->items));
    r->items[r->n++] = right;
}

static const char *const *verbs_of(struct arena *a, unsigned uses)
{
    static const struct {
        unsigned use;
        const char *verb;
    } verbs[] = {{PLAN_READ, "get"},      {PLAN_READ, "list"},   {PLAN_READ, "watch"},
                 {PLAN_CREATE, "create"}, {PLAN_PATCH, "patch"}, {PLAN_DELETE, "delete"}};
    const char **list = arena_calloc(a, ARRAY_LEN(verbs) + 1, sizeof(*list));
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (uses & verbs[i].use)
            list[n++] = verbs[i].verb;
    return list;
}

static void add_kind(struct rights *r, const struct plan_kind *k)
{
    add(r, (struct right){k->cluster ? RIGHT_CLUSTER : RIGHT_EVERYWHERE, k->group, k->plural,
                          verbs_of(r->a, k->uses), NULL});
    if (k->uses & PLAN_STATUS)
        add(r, (struct right){RIGHT_EVERYWHERE, k->group,
                              arena_printf(r->a, "%s/status", k->plural), patch, NULL});
    if (k->uses & PLAN_OWN)
        add(r, (struct right){RIGHT_EVERYWHERE, k->group,
                              arena_printf(r->a, "%s/finalizers", k->plural), update, NULL});
}

size_t rights_list(struct arena *a, const struct right **ret_list)
{
    static const char *const record[] = {"create", "patch", NULL};
    static const char *const lead[] = {"get", "create", "update", NULL};
    static const char *const look[] = {"get", NULL};
    static const char *const make[] = {"create", NULL};
    static const char *const keep[] = {"get", "update", NULL};
    static const char *const trust[] = {"get", "patch", NULL};
    struct rights r = {.a = a};

    for (const struct plan_kind *k = plan_kinds; k->kind; k++)
        add_kind(&r, k);
    add(&r, (struct right){RIGHT_EVERYWHERE, "", "events", record, NULL});
    add(&r, (struct right){RIGHT_EVERYWHERE, "", "pods/log", look, NULL});
    add(&r, (struct right){RIGHT_AT_HOME, "coordination.k8s.io", "leases", lead, NULL});
    add(&r, (struct right){RIGHT_AT_HOME, "", "secrets", make, NULL});
    add(&r, (struct right){RIGHT_AT_HOME, "", "secrets", keep, WEBHOOK_NAME});
    add(&r, (struct right){RIGHT_CLUSTER, "admissionregistration.k8s.io",
                           "validatingwebhookconfigurations", trust, WEBHOOK_NAME});
    *ret_list = r.items;
    return r.n;
}

static struct jsn *one(struct arena *a, const char *text)
{
    struct jsn *list = jsn_array(a);

    jsn_append(a, list, jsn_string(a, text));
    return list;
}

static struct jsn *make_rule(struct arena *a, const struct right *r)
{
    struct jsn *rule = jsn_object(a);
    struct jsn *verbs = jsn_array(a);

    for (const char *const *v = r->verbs; *v; v++)
        jsn_append(a, verbs, jsn_string(a, *v));
    jsn_set(a, rule, "apiGroups", one(a, r->group));
    jsn_set(a, rule, "resources", one(a, r->resource));
    if (r->name)
        jsn_set(a, rule, "resourceNames", one(a, r->name));
    jsn_set(a, rule, "verbs", verbs);
    return rule;
}

void rights_add_rules(struct arena *a, enum right_scope scope, struct jsn *rules)
{
    const struct right *list;
    size_t n = rights_list(a, &list);

    for (size_t i = 0; i < n; i++)
        if (list[i].scope == scope)
            jsn_append(a, rules, make_rule(a, &list[i]));
}
