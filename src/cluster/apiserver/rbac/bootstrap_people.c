/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Default roles for people.
 *
 * view, edit and admin are meant to be bound in a namespace; cluster-admin in the whole cluster.
 * The first three have no rules of their own: they take those of all roles with a certain label, so
 * that whoever adds a kind adds a role for it.  Each includes the one before it, since view has the
 * label that edit looks for, and edit the one of admin.
 *
 * The table goes by concern.  What stands in BOTH is read by viewers and written by editors.  A
 * viewer sees no Secrets and enters no pods, because a token that lies there would make more of the
 * viewer; an editor may do both, and so acts as any account of the namespace.
 *
 * tests/api/test_beside_rbac.py holds what these roles allow against a real kube-apiserver.
 */
#include "src/cluster/apiserver/rbac/bootstrap_roles.h"

#include <stddef.h>

#define VIEW "system:aggregate-to-view"
#define EDIT "system:aggregate-to-edit"
#define ADMIN "system:aggregate-to-admin"

#define SEE(groups, kinds) RULE(VIEW, READ, groups, kinds)
#define CHANGE(groups, kinds) RULE(EDIT, WRITE, groups, kinds)
#define BOTH(groups, kinds) SEE(groups, kinds), CHANGE(groups, kinds)

/* Doors into pods and Services; to pass through one is a create or a get, by the client's protocol.
 */
#define DOORS "pods/attach pods/exec pods/portforward pods/proxy services/proxy"

#define SCALED "deployments deployments/scale replicasets replicasets/scale"
#define HEALTH "/healthz /livez /readyz /version /version/"

static const struct bootstrap_role roles[] = {
    {"cluster-admin", NULL, NULL},
    {"admin", NULL, TO_ADMIN},
    {"edit", TO_ADMIN, TO_EDIT},
    {"view", TO_EDIT " " TO_SLURM_EDIT, TO_VIEW},
    {ADMIN, TO_ADMIN, NULL},
    {EDIT, TO_EDIT, NULL},
    {VIEW, TO_VIEW, NULL},
    {"system:basic-user", NULL, NULL},
    {"system:discovery", NULL, NULL},
    {"system:public-info-viewer", NULL, NULL},
    {NULL},
};

static const struct bootstrap_rule rules[] = {
    RULE("cluster-admin", "*", "*", "*"),
    {"cluster-admin", "*", NULL, NULL, NULL, "*"},

    /* Pods. */
    BOTH("-", "pods"),
    SEE("-", "bindings pods/log pods/status"),
    RULE(EDIT, ALL, "-", DOORS),
    RULE(EDIT, "create", "-", "pods/eviction"),

    /* What makes pods, and what keeps them. */
    BOTH("apps", SCALED " daemonsets statefulsets statefulsets/scale"),
    CHANGE("apps", "deployments/rollback"),
    SEE("apps", "controllerrevisions daemonsets/status deployments/status replicasets/status "
                "statefulsets/status"),
    BOTH("-", "replicationcontrollers replicationcontrollers/scale"),
    SEE("-", "replicationcontrollers/status"),
    BOTH("batch", "cronjobs jobs"),
    SEE("batch", "cronjobs/status jobs/status"),
    BOTH("autoscaling", "horizontalpodautoscalers"),
    SEE("autoscaling", "horizontalpodautoscalers/status"),
    BOTH("policy", "poddisruptionbudgets"),
    SEE("policy", "poddisruptionbudgets/status"),
    BOTH("resource.k8s.io", "resourceclaims resourceclaimtemplates"),
    SEE("resource.k8s.io", "resourceclaims/status"),

    /* Configuration and storage. */
    BOTH("-", "configmaps persistentvolumeclaims"),
    SEE("-", "persistentvolumeclaims/status"),
    RULE(EDIT, ALL, "-", "secrets"),

    /* Network.  Endpoints are written by controllers; by hand they would lead traffic astray. */
    BOTH("-", "services"),
    SEE("-", "endpoints services/status"),
    SEE("discovery.k8s.io", "endpointslices"),
    BOTH("networking.k8s.io", "ingresses networkpolicies"),
    SEE("networking.k8s.io", "ingresses/status"),

    /* Accounts: an editor may act as any of them already, by a pod of its own. */
    BOTH("-", "serviceaccounts"),
    RULE(EDIT, "impersonate", "-", "serviceaccounts"),
    RULE(EDIT, "create", "-", "serviceaccounts/token"),

    /* The namespace itself: its limits are set by somebody else. */
    SEE("-", "limitranges namespaces namespaces/status resourcequotas resourcequotas/status"),
    BOTH("- events.k8s.io", "events"),
    RULE(EDIT, ALL, "coordination.k8s.io", "leases"),

    /* Where some of these kinds were before Kubernetes 1.16. */
    BOTH("extensions", SCALED " daemonsets ingresses networkpolicies replicationcontrollers/scale"),
    CHANGE("extensions", "deployments/rollback"),
    SEE("extensions", "daemonsets/status deployments/status ingresses/status replicasets/status"),

    /* An administrator of a namespace gives its rights to others, and asks what they have. */
    RULE(ADMIN, ALL, "rbac.authorization.k8s.io", "rolebindings roles"),
    RULE(ADMIN, "create", "authorization.k8s.io", "localsubjectaccessreviews"),

    /* Everybody with credentials: who am I, what may I do, what is served? */
    RULE("system:basic-user", "create", "authentication.k8s.io", "selfsubjectreviews"),
    RULE("system:basic-user", "create", "authorization.k8s.io",
         "selfsubjectaccessreviews selfsubjectrulesreviews"),
    PATHS("system:discovery", HEALTH " /api /api/* /apis /apis/* /openapi /openapi/*"),

    /* Without credentials, too. */
    PATHS("system:public-info-viewer", HEALTH),
    {NULL},
};

static const struct bootstrap_binding bindings[] = {
    {"cluster-admin", "Group", "system:masters"},
    {"system:basic-user", "Group", "system:authenticated"},
    {"system:discovery", "Group", "system:authenticated"},
    {"system:public-info-viewer", "Group", "system:authenticated system:unauthenticated"},
    {NULL},
};

const struct bootstrap_set bootstrap_people = {roles, rules, bindings};
