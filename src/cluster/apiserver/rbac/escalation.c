/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Escalation.
 *
 * Who writes a role must hold every right in it, or have the verb "escalate" on it; who writes a
 * binding must hold every right of the role that it gives, or have the verb "bind" on that role.
 * An aggregationRule may bring in anything, so it needs all rights there are.  A change of nothing
 * but finalizers and owner references is always fine: garbage collection must go on.
 */
#include "src/cluster/apiserver/rbac/escalation.h"

#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/rbac/authorize.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/status.h"

static const struct jsn *without_bookkeeping(struct arena *a, const struct jsn *object)
{
    static const char *const left_out[] = {"finalizers", "ownerReferences", "managedFields",
                                           "resourceVersion", "generation"};
    struct jsn *copy = jsn_clone(a, object);

    for (size_t i = 0; i < ARRAY_LEN(left_out); i++)
        (void)jsn_del(jsn_key(copy, "metadata"), left_out[i]);
    return copy;
}

static bool is_bookkeeping(struct api_call *c, const struct jsn *object, const struct jsn *old)
{
    return old &&
           jsn_equal(without_bookkeeping(&c->arena, object), without_bookkeeping(&c->arena, old));
}

static const char *groups_text(struct api_call *c)
{
    AUTO(buf_done) struct buf b = {0};

    for (const char *const *g = c->user.groups; g && *g; g++) {
        buf_adds(&b, b.n ? " " : "");
        jsn_print_string(&b, str_of(*g));
    }
    return arena_str(&c->arena, buf_view(&b));
}

/* 1: the user holds all of these rights; 0 and *ret_missing, or -E2BIG. */
static int holds(struct api_call *c, const struct rbac_rules *wanted,
                 struct rbac_rules *ret_missing)
{
    struct rbac_rules held = rbac_rules_of(c->server->rbac, &c->arena, &c->user, c->ns);

    return rbac_rules_cover(&c->arena, &held, wanted, ret_missing);
}

static int confirm(struct api_call *c, const char *name, const struct rbac_rules *wanted)
{
    struct rbac_rules missing;
    int r = holds(c, wanted, &missing);

    if (r == 1)
        return 0;
    if (r == -E2BIG)
        return status_forbidden(c, name,
                                "its rules name more than %d rights one by one; use fewer lists, "
                                "or have somebody write it who may escalate",
                                RBAC_MOST_SMALLEST);
    return status_forbidden(c, name,
                            "user \"%s\" (groups=[%s]) is attempting to grant RBAC permissions not "
                            "currently held:\n%s",
                            c->user.name, groups_text(c), rbac_rules_text(&c->arena, &missing));
}

static bool has_all_rights(struct api_call *c)
{
    static const char *all[] = {"*", NULL};
    static const char *none[] = {NULL};
    struct rbac_rule everything[] = {{all, all, all, none, none}, {all, none, none, none, all}};
    struct rbac_rules wanted = {everything, ARRAY_LEN(everything), 0};
    struct rbac_rules missing;

    return holds(c, &wanted, &missing) == 1;
}

static bool may_escalate(struct api_call *c)
{
    struct rbac_request q = rbac_request_of_call(c, "escalate");

    return rbac_allows(c->server->rbac, &c->user, &q);
}

int escalation_check_role(struct api_call *c, const struct jsn *role, const struct jsn *old)
{
    const char *name = object_name(role);
    struct rbac_rules wanted;
    int r;

    if (rbac_user_is_master(&c->user) || may_escalate(c) || is_bookkeeping(c, role, old))
        return 0;
    rbac_rules_read(&c->arena, jsn_key(role, "rules"), &wanted);
    r = confirm(c, name, &wanted);
    if (r < 0)
        return r;
    if ((jsn_key(role, "aggregationRule") || jsn_key(old, "aggregationRule")) && !has_all_rights(c))
        return status_forbidden(c, name,
                                "must have cluster-admin privileges to use the aggregationRule");
    return 0;
}

int escalation_check_binding(struct api_call *c, const struct jsn *binding, const struct jsn *old)
{
    const struct jsn *ref = jsn_key(binding, "roleRef");
    bool cluster = streq(kind_text(ref, "kind"), "ClusterRole");
    const char *plural = cluster ? "clusterroles" : "roles";
    const struct rbac_rules *rules;
    struct rbac_request q = {.verb = "bind",
                             .group = RBAC_GROUP,
                             .resource = plural,
                             .sub = "",
                             .ns = c->ns,
                             .name = kind_text(ref, "name"),
                             .path = ""};

    if (rbac_user_is_master(&c->user) || is_bookkeeping(c, binding, old) ||
        rbac_allows(c->server->rbac, &c->user, &q))
        return 0;
    rules = rbac_index_role(c->server->rbac, cluster ? "" : c->ns, kind_text(ref, "name"));
    if (!rules)
        return status_missing(c, RBAC_GROUP, c->res->plural, q.name);
    return confirm(c, object_name(binding), rules);
}
