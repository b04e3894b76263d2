/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Roles and bindings of every server.
 *
 * The first part is Kubernetes' own: what clients and people expect to find (cluster-admin, admin,
 * edit, view, and what everybody may ask).  admin, edit and view have no rules of their own; they
 * take those of all roles with a certain label, so that whoever adds a kind adds a role for it:
 * ours are system:slurmkeeper:aggregate-to-edit and -view.
 *
 * The second part is for our own processes.  Each has the rights that its code uses and no other.
 * The server warns of each request of theirs that it refuses, and the suites in tests/e2e fail on
 * such a line.
 */
#include "src/cluster/apiserver/rbac/bootstrap_roles.h"

#include <stddef.h>

#define READ "get list watch"
#define WRITE "create delete deletecollection patch update"
#define TO_ADMIN "rbac.authorization.k8s.io/aggregate-to-admin"
#define TO_EDIT "rbac.authorization.k8s.io/aggregate-to-edit"
#define TO_VIEW "rbac.authorization.k8s.io/aggregate-to-view"
#define TO_SLURM_EDIT "slurmkeeper.dev/aggregate-to-slurm-edit"
#define OUR_GROUPS "slinky.slurm.net slurmkeeper.dev"
#define HEALTH "/healthz /livez /readyz /version /version/"

const struct bootstrap_role bootstrap_roles[] = {
    {"cluster-admin", NULL, NULL},
    {"admin", NULL, TO_ADMIN},
    {"edit", TO_ADMIN, TO_EDIT},
    {"view", TO_EDIT " " TO_SLURM_EDIT, TO_VIEW},
    {"slurm-edit", NULL, TO_SLURM_EDIT},
    {"system:aggregate-to-admin", TO_ADMIN, NULL},
    {"system:aggregate-to-edit", TO_EDIT, NULL},
    {"system:aggregate-to-view", TO_VIEW, NULL},
    {"system:auth-delegator", NULL, NULL},
    {"system:basic-user", NULL, NULL},
    {"system:discovery", NULL, NULL},
    {"system:monitoring", NULL, NULL},
    {"system:public-info-viewer", NULL, NULL},
    {"system:slurmkeeper:aggregate-to-edit", TO_EDIT, NULL},
    {"system:slurmkeeper:aggregate-to-slurm-edit", TO_SLURM_EDIT, NULL},
    {"system:slurmkeeper:aggregate-to-view", TO_VIEW, NULL},
    {"system:slurmkeeper:node", NULL, NULL},
    {"system:slurmkeeper:operator", NULL, NULL},
    {"system:slurmkeeper:serve", NULL, NULL},
    {NULL},
};

#define RULE(role, verbs, groups, resources) {role, verbs, groups, resources, NULL, NULL}
#define PATHS(role, urls) {role, "get", NULL, NULL, NULL, urls}

const struct bootstrap_rule bootstrap_rules[] = {
    RULE("cluster-admin", "*", "*", "*"),
    {"cluster-admin", "*", NULL, NULL, NULL, "*"},

    RULE("system:aggregate-to-admin", "create", "authorization.k8s.io",
         "localsubjectaccessreviews"),
    RULE("system:aggregate-to-admin", READ " " WRITE, "rbac.authorization.k8s.io",
         "roles rolebindings"),

    RULE("system:aggregate-to-edit", READ, "-",
         "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy"),
    RULE("system:aggregate-to-edit", "impersonate", "-", "serviceaccounts"),
    RULE("system:aggregate-to-edit", WRITE, "-",
         "pods pods/attach pods/exec pods/portforward pods/proxy"),
    RULE("system:aggregate-to-edit", "create", "-", "pods/eviction"),
    RULE("system:aggregate-to-edit", WRITE, "-",
         "configmaps events persistentvolumeclaims replicationcontrollers "
         "replicationcontrollers/scale secrets serviceaccounts services services/proxy"),
    RULE("system:aggregate-to-edit", "create", "-", "serviceaccounts/token"),
    RULE("system:aggregate-to-edit", WRITE, "apps",
         "daemonsets deployments deployments/rollback deployments/scale replicasets "
         "replicasets/scale statefulsets statefulsets/scale"),
    RULE("system:aggregate-to-edit", WRITE, "autoscaling", "horizontalpodautoscalers"),
    RULE("system:aggregate-to-edit", WRITE, "batch", "cronjobs jobs"),
    RULE("system:aggregate-to-edit", WRITE, "policy", "poddisruptionbudgets"),
    RULE("system:aggregate-to-edit", WRITE, "networking.k8s.io", "ingresses networkpolicies"),
    RULE("system:aggregate-to-edit", READ " " WRITE, "coordination.k8s.io", "leases"),

    RULE("system:aggregate-to-view", READ, "-",
         "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods "
         "replicationcontrollers replicationcontrollers/scale serviceaccounts services "
         "services/status"),
    RULE("system:aggregate-to-view", READ, "-",
         "bindings events limitranges namespaces/status pods/log pods/status "
         "replicationcontrollers/status resourcequotas resourcequotas/status"),
    RULE("system:aggregate-to-view", READ, "-", "namespaces"),
    RULE("system:aggregate-to-view", READ, "discovery.k8s.io", "endpointslices"),
    RULE("system:aggregate-to-view", READ, "apps",
         "controllerrevisions daemonsets daemonsets/status deployments deployments/scale "
         "deployments/status replicasets replicasets/scale replicasets/status statefulsets "
         "statefulsets/scale statefulsets/status"),
    RULE("system:aggregate-to-view", READ, "autoscaling",
         "horizontalpodautoscalers horizontalpodautoscalers/status"),
    RULE("system:aggregate-to-view", READ, "batch", "cronjobs cronjobs/status jobs jobs/status"),
    RULE("system:aggregate-to-view", READ, "policy",
         "poddisruptionbudgets poddisruptionbudgets/status"),
    RULE("system:aggregate-to-view", READ, "networking.k8s.io",
         "ingresses ingresses/status networkpolicies"),

    RULE("system:auth-delegator", "create", "authentication.k8s.io", "tokenreviews"),
    RULE("system:auth-delegator", "create", "authorization.k8s.io", "subjectaccessreviews"),

    RULE("system:basic-user", "create", "authorization.k8s.io",
         "selfsubjectaccessreviews selfsubjectrulesreviews"),
    RULE("system:basic-user", "create", "authentication.k8s.io", "selfsubjectreviews"),

    PATHS("system:discovery", "/api /api/* /apis /apis/* /openapi /openapi/* " HEALTH),
    PATHS("system:monitoring", "/healthz /healthz/* /livez /livez/* /metrics /readyz /readyz/*"),
    PATHS("system:public-info-viewer", HEALTH),

    RULE("system:slurmkeeper:aggregate-to-edit", WRITE, OUR_GROUPS, "*"),
    RULE("system:slurmkeeper:aggregate-to-view", READ, OUR_GROUPS, "*"),
    RULE("system:slurmkeeper:aggregate-to-slurm-edit", WRITE, "slurmkeeper.dev", "partitions"),
    RULE("system:slurmkeeper:aggregate-to-slurm-edit", "patch update", "slinky.slurm.net",
         "nodesets/scale"),

    /* Runs pods on this machine: takes them, mounts what they name, tells how they are. */
    RULE("system:slurmkeeper:node", READ, "-",
         "configmaps endpoints nodes persistentvolumeclaims persistentvolumes pods secrets "
         "services"),
    /* Is it the store that it knows?  See strangers.c of the node. */
    {"system:slurmkeeper:node", "list", "-", "namespaces", "kube-system", NULL},
    RULE("system:slurmkeeper:node", "create", "-",
         "nodes persistentvolumes pods/binding serviceaccounts/token services"),
    RULE("system:slurmkeeper:node", "patch", "-",
         "nodes/status persistentvolumeclaims persistentvolumeclaims/status persistentvolumes "
         "persistentvolumes/status pods/status"),
    RULE("system:slurmkeeper:node", "delete", "-", "persistentvolumes pods"),
    RULE("system:slurmkeeper:node", "create patch", "-", "events"),
    RULE("system:slurmkeeper:node", "create patch", "coordination.k8s.io", "leases"),

    /* Makes clusters as declared: what src/operator/rights.c lists, without what a webhook and
     * OpenShift need; tests/client/rights.c holds the two against each other. */
    RULE("system:slurmkeeper:operator", READ, "slinky.slurm.net", "accountings"),
    RULE("system:slurmkeeper:operator", READ " patch", "slinky.slurm.net", "controllers nodesets"),
    RULE("system:slurmkeeper:operator", READ " patch", "slurmkeeper.dev", "partitions"),
    RULE("system:slurmkeeper:operator", "patch", "slinky.slurm.net",
         "controllers/status nodesets/status"),
    RULE("system:slurmkeeper:operator", "patch", "slurmkeeper.dev", "partitions/status"),
    RULE("system:slurmkeeper:operator", READ " create patch", "-",
         "configmaps persistentvolumeclaims secrets services"),
    RULE("system:slurmkeeper:operator", READ " create patch delete", "-", "pods"),
    RULE("system:slurmkeeper:operator", "patch", "-", "pods/status"),
    RULE("system:slurmkeeper:operator", READ " create delete", "apps", "controllerrevisions"),
    RULE("system:slurmkeeper:operator", READ " create patch", "apps", "statefulsets"),
    RULE("system:slurmkeeper:operator", READ " create patch", "policy", "poddisruptionbudgets"),
    RULE("system:slurmkeeper:operator", READ " create patch delete", "monitoring.coreos.com",
         "servicemonitors"),
    RULE("system:slurmkeeper:operator", "create patch", "-", "events"),
    RULE("system:slurmkeeper:operator", "create get update", "coordination.k8s.io", "leases"),

    /* Defines our kinds, and keeps the machine's Slurm commands in step with what is declared. */
    RULE("system:slurmkeeper:serve", "create patch", "apiextensions.k8s.io",
         "customresourcedefinitions"),
    RULE("system:slurmkeeper:serve", READ, "slinky.slurm.net", "controllers"),
    RULE("system:slurmkeeper:serve", READ, "-", "configmaps secrets services"),
    {NULL},
};

const struct bootstrap_binding bootstrap_bindings[] = {
    {"cluster-admin", "Group", "system:masters"},
    {"system:basic-user", "Group", "system:authenticated"},
    {"system:discovery", "Group", "system:authenticated"},
    {"system:monitoring", "Group", "system:monitoring"},
    {"system:public-info-viewer", "Group", "system:authenticated system:unauthenticated"},
    {"system:slurmkeeper:node", "User", "system:slurmkeeper:node"},
    {"system:slurmkeeper:operator", "User", "system:slurmkeeper:operator"},
    {"system:slurmkeeper:serve", "User", "system:slurmkeeper:serve"},
    {NULL},
};
