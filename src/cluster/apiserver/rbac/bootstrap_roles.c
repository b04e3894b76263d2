/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Roles and bindings of our own.
 *
 * admin, edit and view take the rules of all roles with a certain label (bootstrap_people.c),
 * so our kinds are added to them by system:slurmkeeper:aggregate-to-edit and -view.
 *
 * The rest is for our own processes.  Each has the rights that its code uses and no other.  The
 * server warns of each request of theirs that it refuses, and the suites in tests/e2e fail on such
 * a line.
 */
#include "src/cluster/apiserver/rbac/bootstrap_roles.h"

#include <stddef.h>

#define OUR_GROUPS API_GROUP " " API_OWN_GROUP

static const struct bootstrap_role roles[] = {
    {"slurm-edit", NULL, TO_SLURM_EDIT},
    {"system:slurmkeeper:aggregate-to-edit", TO_EDIT, NULL},
    {"system:slurmkeeper:aggregate-to-slurm-edit", TO_SLURM_EDIT, NULL},
    {"system:slurmkeeper:aggregate-to-view", TO_VIEW, NULL},
    {"system:slurmkeeper:node", NULL, NULL},
    {"system:slurmkeeper:operator", NULL, NULL},
    {"system:slurmkeeper:serve", NULL, NULL},
    {NULL},
};

static const struct bootstrap_rule rules[] = {
    RULE("system:slurmkeeper:aggregate-to-edit", WRITE, OUR_GROUPS, "*"),
    RULE("system:slurmkeeper:aggregate-to-view", READ, OUR_GROUPS, "*"),
    RULE("system:slurmkeeper:aggregate-to-slurm-edit", WRITE, API_OWN_GROUP, "partitions"),
    RULE("system:slurmkeeper:aggregate-to-slurm-edit", "patch update", API_GROUP,
         "loginsets/scale nodesets/scale"),

    /* Runs pods on this machine: takes them, mounts what they name, tells how they are. */
    RULE("system:slurmkeeper:node", READ, "-",
         "configmaps endpoints nodes persistentvolumeclaims persistentvolumes pods secrets "
         "services"),
    /* Is it the store that it knows?  See strangers.c of the node. */
    {"system:slurmkeeper:node", "list", "-", "namespaces", "kube-system", NULL},
    RULE("system:slurmkeeper:node", "create", "-",
         "nodes persistentvolumes pods/binding serviceaccounts/token"),
    RULE("system:slurmkeeper:node", "patch", "-",
         "nodes/status persistentvolumeclaims persistentvolumeclaims/status persistentvolumes "
         "persistentvolumes/status pods/status"),
    RULE("system:slurmkeeper:node", "delete", "-", "persistentvolumes pods"),
    RULE("system:slurmkeeper:node", "create patch", "-", "events"),
    RULE("system:slurmkeeper:node", "create patch", "coordination.k8s.io", "leases"),

    /* Makes clusters as declared: what src/operator/rights.c lists, without what a webhook and
     * OpenShift need; tests/client/rights.c holds the two against each other. */
    RULE("system:slurmkeeper:operator", READ " patch", API_GROUP,
         "accountings controllers loginsets nodesets restapis tokens"),
    RULE("system:slurmkeeper:operator", READ " patch", API_OWN_GROUP, "partitions"),
    RULE("system:slurmkeeper:operator", "patch", API_GROUP,
         "accountings/status controllers/status loginsets/status nodesets/status restapis/status "
         "tokens/status"),
    RULE("system:slurmkeeper:operator", "patch", API_OWN_GROUP, "partitions/status"),
    RULE("system:slurmkeeper:operator", READ " create patch", "-", "configmaps secrets services"),
    RULE("system:slurmkeeper:operator", READ " create patch delete", "-",
         "persistentvolumeclaims pods"),
    RULE("system:slurmkeeper:operator", READ, "-", "nodes"),
    RULE("system:slurmkeeper:operator", "patch", "-", "pods/status"),
    RULE("system:slurmkeeper:operator", "get", "-", "pods/log"),
    RULE("system:slurmkeeper:operator", READ " create delete", "apps", "controllerrevisions"),
    RULE("system:slurmkeeper:operator", READ " create patch", "apps", "deployments statefulsets"),
    RULE("system:slurmkeeper:operator", READ " create patch", "policy", "poddisruptionbudgets"),
    RULE("system:slurmkeeper:operator", READ " create patch delete", "monitoring.coreos.com",
         "servicemonitors"),
    RULE("system:slurmkeeper:operator", "create patch", "-", "events"),
    RULE("system:slurmkeeper:operator", "create get update", "coordination.k8s.io", "leases"),

    /* Defines our kinds, and keeps the machine's Slurm commands in step with what is declared. */
    RULE("system:slurmkeeper:serve", "create patch", "apiextensions.k8s.io",
         "customresourcedefinitions"),
    RULE("system:slurmkeeper:serve", READ, API_GROUP, "controllers"),
    RULE("system:slurmkeeper:serve", READ, "-", "configmaps pods secrets services"),
    {NULL},
};

static const struct bootstrap_binding bindings[] = {
    {"system:slurmkeeper:node", "User", "system:slurmkeeper:node"},
    {"system:slurmkeeper:operator", "User", "system:slurmkeeper:operator"},
    {"system:slurmkeeper:serve", "User", "system:slurmkeeper:serve"},
    {NULL},
};

const struct bootstrap_set bootstrap_own = {roles, rules, bindings};
