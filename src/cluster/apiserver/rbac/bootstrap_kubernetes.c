/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Roles and bindings that every Kubernetes has: what clients, charts and people expect to find.
 *
 * admin, edit and view have no rules of their own; they take those of all roles with a certain
 * label, so that whoever adds a kind adds a role for it.  Left out are the roles of
 * kube-controller-manager's controllers (system:controller:...), since these run in this process
 * and need no right.  tests/api/test_beside_rbac.py holds the table against a real kube-apiserver.
 */
#include "src/cluster/apiserver/rbac/bootstrap_roles.h"

#include <stddef.h>

#define ALL "create delete deletecollection get list patch update watch"
#define TELL "create patch update"
#define CSR "system:certificates.k8s.io:"

static const struct bootstrap_role roles[] = {
    {"admin", NULL, TO_ADMIN},
    {"cluster-admin", NULL, NULL},
    {"edit", TO_ADMIN, TO_EDIT},
    {"system:aggregate-to-admin", TO_ADMIN, NULL},
    {"system:aggregate-to-edit", TO_EDIT, NULL},
    {"system:aggregate-to-view", TO_VIEW, NULL},
    {"system:auth-delegator", NULL, NULL},
    {"system:basic-user", NULL, NULL},
    {CSR "certificatesigningrequests:nodeclient", NULL, NULL},
    {CSR "certificatesigningrequests:selfnodeclient", NULL, NULL},
    {CSR "kube-apiserver-client-approver", NULL, NULL},
    {CSR "kube-apiserver-client-kubelet-approver", NULL, NULL},
    {CSR "kubelet-serving-approver", NULL, NULL},
    {CSR "legacy-unknown-approver", NULL, NULL},
    {"system:discovery", NULL, NULL},
    {"system:heapster", NULL, NULL},
    {"system:kube-aggregator", NULL, NULL},
    {"system:kube-controller-manager", NULL, NULL},
    {"system:kube-dns", NULL, NULL},
    {"system:kube-scheduler", NULL, NULL},
    {"system:kubelet-api-admin", NULL, NULL},
    {"system:monitoring", NULL, NULL},
    {"system:node", NULL, NULL},
    {"system:node-bootstrapper", NULL, NULL},
    {"system:node-problem-detector", NULL, NULL},
    {"system:node-proxier", NULL, NULL},
    {"system:persistent-volume-provisioner", NULL, NULL},
    {"system:public-info-viewer", NULL, NULL},
    {"system:service-account-issuer-discovery", NULL, NULL},
    {"system:volume-scheduler", NULL, NULL},
    {"view", TO_EDIT " " TO_SLURM_EDIT, TO_VIEW},
    {NULL},
};

static const struct bootstrap_rule rules[] = {
    RULE("cluster-admin", "*", "*", "*"),
    {"cluster-admin", "*", NULL, NULL, NULL, "*"},

    RULE("system:aggregate-to-admin", "create", "authorization.k8s.io",
         "localsubjectaccessreviews"),
    RULE("system:aggregate-to-admin", ALL, "rbac.authorization.k8s.io", "rolebindings roles"),

    RULE("system:aggregate-to-edit", READ, "-",
         "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy"),
    RULE("system:aggregate-to-edit", "impersonate", "-", "serviceaccounts"),
    RULE("system:aggregate-to-edit", WRITE, "-",
         "pods pods/attach pods/exec pods/portforward pods/proxy"),
    RULE("system:aggregate-to-edit", "create", "-", "pods/eviction"),
    RULE("system:aggregate-to-edit", WRITE, "-",
         "configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale "
         "secrets serviceaccounts services services/proxy"),
    RULE("system:aggregate-to-edit", "create", "-", "serviceaccounts/token"),
    RULE("system:aggregate-to-edit", WRITE, "- events.k8s.io", "events"),
    RULE("system:aggregate-to-edit", WRITE, "apps",
         "daemonsets deployments deployments/rollback deployments/scale replicasets "
         "replicasets/scale statefulsets statefulsets/scale"),
    RULE("system:aggregate-to-edit", WRITE, "autoscaling", "horizontalpodautoscalers"),
    RULE("system:aggregate-to-edit", WRITE, "batch", "cronjobs jobs"),
    RULE("system:aggregate-to-edit", WRITE, "extensions",
         "daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies "
         "replicasets replicasets/scale replicationcontrollers/scale"),
    RULE("system:aggregate-to-edit", WRITE, "policy", "poddisruptionbudgets"),
    RULE("system:aggregate-to-edit", WRITE, "networking.k8s.io", "ingresses networkpolicies"),
    RULE("system:aggregate-to-edit", ALL, "coordination.k8s.io", "leases"),
    RULE("system:aggregate-to-edit", WRITE, "resource.k8s.io",
         "resourceclaims resourceclaimtemplates"),

    RULE("system:aggregate-to-view", READ, "-",
         "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods "
         "replicationcontrollers replicationcontrollers/scale serviceaccounts services "
         "services/status"),
    RULE("system:aggregate-to-view", READ, "-",
         "bindings limitranges namespaces/status pods/log pods/status "
         "replicationcontrollers/status resourcequotas resourcequotas/status"),
    RULE("system:aggregate-to-view", READ, "-", "namespaces"),
    RULE("system:aggregate-to-view", READ, "- events.k8s.io", "events"),
    RULE("system:aggregate-to-view", READ, "discovery.k8s.io", "endpointslices"),
    RULE("system:aggregate-to-view", READ, "apps",
         "controllerrevisions daemonsets daemonsets/status deployments deployments/scale "
         "deployments/status replicasets replicasets/scale replicasets/status statefulsets "
         "statefulsets/scale statefulsets/status"),
    RULE("system:aggregate-to-view", READ, "autoscaling",
         "horizontalpodautoscalers horizontalpodautoscalers/status"),
    RULE("system:aggregate-to-view", READ, "batch", "cronjobs cronjobs/status jobs jobs/status"),
    RULE("system:aggregate-to-view", READ, "extensions",
         "daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses "
         "ingresses/status networkpolicies replicasets replicasets/scale replicasets/status "
         "replicationcontrollers/scale"),
    RULE("system:aggregate-to-view", READ, "policy",
         "poddisruptionbudgets poddisruptionbudgets/status"),
    RULE("system:aggregate-to-view", READ, "networking.k8s.io",
         "ingresses ingresses/status networkpolicies"),
    RULE("system:aggregate-to-view", READ, "resource.k8s.io",
         "resourceclaims resourceclaims/status resourceclaimtemplates"),

    RULE("system:auth-delegator", "create", "authentication.k8s.io", "tokenreviews"),
    RULE("system:auth-delegator", "create", "authorization.k8s.io", "subjectaccessreviews"),

    RULE("system:basic-user", "create", "authorization.k8s.io",
         "selfsubjectaccessreviews selfsubjectrulesreviews"),
    RULE("system:basic-user", "create", "authentication.k8s.io", "selfsubjectreviews"),

    RULE(CSR "certificatesigningrequests:nodeclient", "create", "certificates.k8s.io",
         "certificatesigningrequests/nodeclient"),

    RULE(CSR "certificatesigningrequests:selfnodeclient", "create", "certificates.k8s.io",
         "certificatesigningrequests/selfnodeclient"),

    NAMED(CSR "kube-apiserver-client-approver", "approve", "certificates.k8s.io", "signers",
          "kubernetes.io/kube-apiserver-client"),

    NAMED(CSR "kube-apiserver-client-kubelet-approver", "approve", "certificates.k8s.io", "signers",
          "kubernetes.io/kube-apiserver-client-kubelet"),

    NAMED(CSR "kubelet-serving-approver", "approve", "certificates.k8s.io", "signers",
          "kubernetes.io/kubelet-serving"),

    NAMED(CSR "legacy-unknown-approver", "approve", "certificates.k8s.io", "signers",
          "kubernetes.io/legacy-unknown"),

    PATHS(
        "system:discovery",
        "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/"),

    RULE("system:heapster", READ, "-", "events namespaces nodes pods"),
    RULE("system:heapster", READ, "extensions", "deployments"),

    RULE("system:kube-aggregator", READ, "-", "endpoints services"),

    RULE("system:kube-controller-manager", TELL, "- events.k8s.io", "events"),
    RULE("system:kube-controller-manager", "create", "coordination.k8s.io", "leases"),
    NAMED("system:kube-controller-manager", "get update", "coordination.k8s.io", "leases",
          "kube-controller-manager"),
    RULE("system:kube-controller-manager", "create", "-", "secrets serviceaccounts"),
    RULE("system:kube-controller-manager", "delete", "-", "secrets"),
    RULE("system:kube-controller-manager", "get", "-",
         "configmaps namespaces secrets serviceaccounts"),
    RULE("system:kube-controller-manager", "update", "-", "secrets serviceaccounts"),
    RULE("system:kube-controller-manager", "create", "authentication.k8s.io", "tokenreviews"),
    RULE("system:kube-controller-manager", "create", "authorization.k8s.io",
         "subjectaccessreviews"),
    RULE("system:kube-controller-manager", "list watch", "*", "*"),
    RULE("system:kube-controller-manager", "create", "-", "serviceaccounts/token"),

    RULE("system:kube-dns", "list watch", "-", "endpoints services"),

    RULE("system:kube-scheduler", TELL, "- events.k8s.io", "events"),
    RULE("system:kube-scheduler", "create", "coordination.k8s.io", "leases"),
    NAMED("system:kube-scheduler", "get list update watch", "coordination.k8s.io", "leases",
          "kube-scheduler"),
    RULE("system:kube-scheduler", ALL, "coordination.k8s.io", "leasecandidates"),
    RULE("system:kube-scheduler", READ, "-", "nodes"),
    RULE("system:kube-scheduler", "delete get list watch", "-", "pods"),
    RULE("system:kube-scheduler", "create", "-", "bindings pods/binding"),
    RULE("system:kube-scheduler", "patch update", "-", "pods/status"),
    RULE("system:kube-scheduler", READ, "-", "replicationcontrollers services"),
    RULE("system:kube-scheduler", READ, "apps extensions", "replicasets"),
    RULE("system:kube-scheduler", READ, "apps", "statefulsets"),
    RULE("system:kube-scheduler", READ, "policy", "poddisruptionbudgets"),
    RULE("system:kube-scheduler", READ, "-", "persistentvolumeclaims persistentvolumes"),
    RULE("system:kube-scheduler", "create", "authentication.k8s.io", "tokenreviews"),
    RULE("system:kube-scheduler", "create", "authorization.k8s.io", "subjectaccessreviews"),
    RULE("system:kube-scheduler", READ, "storage.k8s.io", "csinodes"),
    RULE("system:kube-scheduler", READ, "storage.k8s.io", "volumeattachments"),
    RULE("system:kube-scheduler", READ, "-", "namespaces"),
    RULE("system:kube-scheduler", READ, "storage.k8s.io", "csidrivers"),
    RULE("system:kube-scheduler", READ, "storage.k8s.io", "csistoragecapacities"),
    RULE("system:kube-scheduler", READ, "resource.k8s.io", "deviceclasses"),
    RULE("system:kube-scheduler", "get list patch update watch", "resource.k8s.io",
         "resourceclaims"),
    RULE("system:kube-scheduler", "get list patch update watch", "resource.k8s.io",
         "resourceclaims/status"),
    RULE("system:kube-scheduler", "update", "-", "pods/finalizers"),
    RULE("system:kube-scheduler", READ, "resource.k8s.io", "resourceslices"),
    RULE("system:kube-scheduler", "create delete", "resource.k8s.io", "resourceclaims"),
    RULE("system:kube-scheduler", "patch update", "resource.k8s.io", "resourceclaims/binding"),

    RULE("system:kubelet-api-admin", READ, "-", "nodes"),
    RULE("system:kubelet-api-admin", "proxy", "-", "nodes"),
    RULE("system:kubelet-api-admin", "*", "-", "nodes/log nodes/metrics nodes/proxy nodes/stats"),
    RULE("system:kubelet-api-admin", "*", "-", "nodes/configz nodes/healthz nodes/pods"),

    PATHS("system:monitoring", "/flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis "
                               "/readyz /readyz/* /statusz"),
    RULE("system:monitoring", "get", "-", "nodes/metrics"),

    RULE("system:node", "create", "authentication.k8s.io", "tokenreviews"),
    RULE("system:node", "create", "authorization.k8s.io",
         "localsubjectaccessreviews subjectaccessreviews"),
    RULE("system:node", READ, "-", "services"),
    RULE("system:node", "create get list watch", "-", "nodes"),
    RULE("system:node", "patch update", "-", "nodes/status"),
    RULE("system:node", "patch update", "-", "nodes"),
    RULE("system:node", TELL, "- events.k8s.io", "events"),
    RULE("system:node", READ, "-", "pods"),
    RULE("system:node", "create delete", "-", "pods"),
    RULE("system:node", "patch update", "-", "pods/status"),
    RULE("system:node", "create", "-", "pods/eviction"),
    RULE("system:node", READ, "-", "configmaps secrets"),
    RULE("system:node", "get", "-", "persistentvolumeclaims persistentvolumes"),
    RULE("system:node", "get", "-", "endpoints"),
    RULE("system:node", "create get list watch", "certificates.k8s.io",
         "certificatesigningrequests"),
    RULE("system:node", "create delete get patch update", "coordination.k8s.io", "leases"),
    RULE("system:node", "get", "storage.k8s.io", "volumeattachments"),
    RULE("system:node", "create", "-", "serviceaccounts/token"),
    RULE("system:node", "get patch update", "-", "persistentvolumeclaims/status"),
    RULE("system:node", READ, "storage.k8s.io", "csidrivers"),
    RULE("system:node", "create delete get patch update", "storage.k8s.io", "csinodes"),
    RULE("system:node", READ, "node.k8s.io", "runtimeclasses"),
    RULE("system:node", "get", "resource.k8s.io", "resourceclaims"),
    RULE("system:node", "deletecollection", "resource.k8s.io", "resourceslices"),
    RULE("system:node", "get", "-", "serviceaccounts"),

    RULE("system:node-bootstrapper", "create get list watch", "certificates.k8s.io",
         "certificatesigningrequests"),

    RULE("system:node-problem-detector", "get", "-", "nodes"),
    RULE("system:node-problem-detector", "patch", "-", "nodes/status"),
    RULE("system:node-problem-detector", TELL, "- events.k8s.io", "events"),

    RULE("system:node-proxier", "list watch", "-", "endpoints services"),
    RULE("system:node-proxier", READ, "-", "nodes"),
    RULE("system:node-proxier", TELL, "- events.k8s.io", "events"),
    RULE("system:node-proxier", "list watch", "networking.k8s.io", "servicecidrs"),
    RULE("system:node-proxier", "list watch", "discovery.k8s.io", "endpointslices"),

    RULE("system:persistent-volume-provisioner", "create delete get list watch", "-",
         "persistentvolumes"),
    RULE("system:persistent-volume-provisioner", "get list update watch", "-",
         "persistentvolumeclaims"),
    RULE("system:persistent-volume-provisioner", READ, "storage.k8s.io", "storageclasses"),
    RULE("system:persistent-volume-provisioner", "watch", "-", "events"),
    RULE("system:persistent-volume-provisioner", TELL, "- events.k8s.io", "events"),

    PATHS("system:public-info-viewer", "/healthz /livez /readyz /version /version/"),

    PATHS("system:service-account-issuer-discovery",
          "/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks "
          "/openid/v1/jwks/"),

    RULE("system:volume-scheduler", "get list patch update watch", "-", "persistentvolumes"),
    RULE("system:volume-scheduler", READ, "storage.k8s.io", "storageclasses"),
    RULE("system:volume-scheduler", "get list patch update watch", "-", "persistentvolumeclaims"),

    {NULL},
};

static const struct bootstrap_binding bindings[] = {
    {"cluster-admin", "Group", "system:masters"},
    {"system:basic-user", "Group", "system:authenticated"},
    {"system:discovery", "Group", "system:authenticated"},
    {"system:kube-controller-manager", "User", "system:kube-controller-manager"},
    {"system:kube-dns", "ServiceAccount", "kube-dns"},
    {"system:kube-scheduler", "User", "system:kube-scheduler"},
    {"system:monitoring", "Group", "system:monitoring"},
    {"system:node", "User", NULL},
    {"system:node-proxier", "User", "system:kube-proxy"},
    {"system:public-info-viewer", "Group", "system:authenticated system:unauthenticated"},
    {"system:service-account-issuer-discovery", "Group", "system:serviceaccounts"},
    {"system:volume-scheduler", "User", "system:kube-scheduler"},
    {NULL},
};

const struct bootstrap_set bootstrap_kubernetes = {roles, rules, bindings};
