/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper rbac: print the identity and the permissions that the operator needs, for `kubectl
 * apply -f -`.
 *
 * In the whole cluster, or, with --watch, in the named namespaces alone; then it may not touch what
 * has no namespace, and there is no webhook.  The operator's own namespace holds its lease.
 *
 * The rules come from the tables by which the operator works (src/operator/rights.c), so that it is
 * allowed what it does and nothing else.  What deploy/ has of it is printed by this verb, and a
 * test holds them against it.
 */
#include <stdio.h>

#include "src/cli/verbs.h"
#include "src/json/yaml.h"
#include "src/local/users.h"
#include "src/operator/rights.h"

#define NAME "slurmkeeper-operator"
#define NAMESPACE "slurmkeeper"
#define WATCHED NAME "-clusters"
#define GROUP "rbac.authorization.k8s.io"

/* Where the rules of a role hold, and which they are. */
struct grant {
    const char *kind; /* of the role */
    const char *name;
    const char *namespace; /* NULL: everywhere */
    enum right_scope scopes[2];
};

static struct jsn *make_object(struct arena *a, const char *version, const char *kind,
                               const char *name, const char *ns)
{
    struct jsn *o = jsn_object(a);
    struct jsn *meta;

    jsn_set_str(a, o, "apiVersion", version);
    jsn_set_str(a, o, "kind", kind);
    meta = jsn_ensure_object(a, o, "metadata");
    jsn_set_str(a, meta, "name", name);
    if (ns)
        jsn_set_str(a, meta, "namespace", ns);
    return o;
}

static struct jsn *make_role(struct arena *a, const struct grant *g)
{
    struct jsn *role = make_object(a, GROUP "/v1", g->kind, g->name, g->namespace);
    struct jsn *rules = jsn_array(a);

    rights_add_rules(a, g->scopes[0], rules);
    if (g->scopes[1] != g->scopes[0])
        rights_add_rules(a, g->scopes[1], rules);
    jsn_set(a, role, "rules", rules);
    return role;
}

/* Gives the role to the account. */
static struct jsn *make_binding(struct arena *a, const struct grant *g, const char *account_ns)
{
    struct jsn *binding =
        make_object(a, GROUP "/v1", arena_printf(a, "%sBinding", g->kind), g->name, g->namespace);
    struct jsn *ref = jsn_ensure_object(a, binding, "roleRef");
    struct jsn *subject = jsn_object(a);
    struct jsn *subjects = jsn_array(a);

    jsn_set_str(a, ref, "apiGroup", GROUP);
    jsn_set_str(a, ref, "kind", g->kind);
    jsn_set_str(a, ref, "name", g->name);
    jsn_set_str(a, subject, "kind", "ServiceAccount");
    jsn_set_str(a, subject, "name", NAME);
    jsn_set_str(a, subject, "namespace", account_ns);
    jsn_append(a, subjects, subject);
    jsn_set(a, binding, "subjects", subjects);
    return binding;
}

static void print(struct buf *b, const struct jsn *object)
{
    buf_adds(b, "---\n");
    yaml_print(b, object);
}

static void print_grant(struct arena *a, struct buf *b, const struct grant *g, const char *home)
{
    print(b, make_role(a, g));
    print(b, make_binding(a, g, home));
}

static void print_grants(struct arena *a, struct buf *b, const struct cli_args *args,
                         const char *home)
{
    const struct grant at_home = {"Role", NAME, home, {RIGHT_AT_HOME, RIGHT_AT_HOME}};
    const struct grant everywhere = {"ClusterRole", NAME, NULL, {RIGHT_EVERYWHERE, RIGHT_CLUSTER}};
    const char *watched;

    if (!cli_has(args, "watch"))
        print_grant(a, b, &everywhere, home);
    for (size_t i = 0; (watched = cli_get_at(args, "watch", i)); i++) {
        const struct grant g = {"Role", WATCHED, watched, {RIGHT_EVERYWHERE, RIGHT_EVERYWHERE}};

        print_grant(a, b, &g, home);
    }
    print_grant(a, b, &at_home, home);
}

static const char *bad_name(const struct cli_args *args, const char *home)
{
    const char *watched;

    if (!users_name_ok(home))
        return home;
    for (size_t i = 0; (watched = cli_get_at(args, "watch", i)); i++)
        if (!users_name_ok(watched))
            return watched;
    return NULL;
}

int verb_rbac_run(const struct cli_args *args)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    const char *ns = cli_has(args, "namespace") ? cli_get(args, "namespace") : NAMESPACE;
    const char *bad = bad_name(args, ns);

    if (bad)
        return cli_usage_error("rbac: '%s' cannot be a namespace: use at most 63 lower-case "
                               "letters, digits and dashes",
                               bad);
    buf_adds(&b, "# SPDX-License-Identifier: GPL-2.0-or-later\n"
                 "# Printed by `slurmkeeper rbac` from the tables of kinds; not edited.\n");
    print(&b, make_object(&a, "v1", "ServiceAccount", NAME, ns));
    print_grants(&a, &b, args, ns);
    return fputs(buf_str(&b), stdout) < 0 || fflush(stdout) != 0 ? 1 : 0;
}
