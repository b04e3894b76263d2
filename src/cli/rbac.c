/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper rbac: print the identity and the permissions that the operator needs, for `kubectl
 * apply -f -`.
 *
 * The rules come from the tables by which the operator works (src/operator/rights.c), so that it is
 * allowed what it does and nothing else.  deploy/rbac/operator.yaml is printed by this verb, and a
 * test holds it against it.
 */
#include <stdio.h>

#include "src/cli/verbs.h"
#include "src/json/yaml.h"
#include "src/local/users.h"
#include "src/operator/rights.h"

#define NAME "slurmkeeper-operator"
#define NAMESPACE "slurmkeeper"
#define GROUP "rbac.authorization.k8s.io"

static struct jsn *make_object(struct arena *a, const char *version, const char *kind,
                               const char *ns)
{
    struct jsn *o = jsn_object(a);
    struct jsn *meta;

    jsn_set_str(a, o, "apiVersion", version);
    jsn_set_str(a, o, "kind", kind);
    meta = jsn_ensure_object(a, o, "metadata");
    jsn_set_str(a, meta, "name", NAME);
    if (ns)
        jsn_set_str(a, meta, "namespace", ns);
    return o;
}

static struct jsn *make_role(struct arena *a, const char *kind, const char *ns,
                             enum right_scope scope)
{
    struct jsn *role = make_object(a, GROUP "/v1", kind, ns);

    jsn_set(a, role, "rules", rights_rules(a, scope));
    return role;
}

/* Gives the role of that kind to the account. */
static struct jsn *make_binding(struct arena *a, const char *kind, const char *ns, const char *role,
                                const char *account_ns)
{
    struct jsn *binding = make_object(a, GROUP "/v1", kind, ns);
    struct jsn *ref = jsn_ensure_object(a, binding, "roleRef");
    struct jsn *subject = jsn_object(a);
    struct jsn *subjects = jsn_array(a);

    jsn_set_str(a, ref, "apiGroup", GROUP);
    jsn_set_str(a, ref, "kind", role);
    jsn_set_str(a, ref, "name", NAME);
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

int verb_rbac_run(const struct cli_args *args)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    const char *ns = cli_has(args, "namespace") ? cli_get(args, "namespace") : NAMESPACE;

    if (!users_name_ok(ns))
        return cli_usage_error("rbac: '%s' cannot be a namespace: use at most 63 lower-case "
                               "letters, digits and dashes",
                               ns);
    buf_adds(&b, "# SPDX-License-Identifier: GPL-2.0-or-later\n"
                 "# Printed by `slurmkeeper rbac` from the tables of kinds; not edited.\n");
    print(&b, make_object(&a, "v1", "ServiceAccount", ns));
    print(&b, make_role(&a, "ClusterRole", NULL, RIGHT_EVERYWHERE));
    print(&b, make_binding(&a, "ClusterRoleBinding", NULL, "ClusterRole", ns));
    print(&b, make_role(&a, "Role", ns, RIGHT_AT_HOME));
    print(&b, make_binding(&a, "RoleBinding", ns, "Role", ns));
    return fputs(buf_str(&b), stdout) < 0 || fflush(stdout) != 0 ? 1 : 0;
}
