/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Default roles for the programs of a Kubernetes cluster.
 *
 * Nothing of ours needs them.  Charts and manifests of other people bind accounts to them by name
 * (system:auth-delegator for a webhook, system:persistent-volume-provisioner for storage), and a
 * real scheduler or kubelet that is pointed at this server expects its role.  Left out are the
 * roles of kube-controller-manager's controllers (system:controller:...): these run in this process
 * and ask nobody.
 *
 * Most programs do a few things in the same way, so these have macros: they report events, they ask
 * the server who sent a request, they elect a leader by a lease.
 *
 * tests/api/test_beside_rbac.py holds what these roles allow against a real kube-apiserver.
 */
#include "src/cluster/apiserver/rbac/bootstrap_roles.h"

#include <stddef.h>

#define FOLLOW "list watch"
#define CHANGE "patch update"

#define CORE(role, verbs, kinds) RULE(role, verbs, "-", kinds)
#define STORAGE(role, verbs, kinds) RULE(role, verbs, "storage.k8s.io", kinds)
#define DEVICES(role, verbs, kinds) RULE(role, verbs, "resource.k8s.io", kinds)
#define CERTIFICATES(role, verbs, kinds) RULE(role, verbs, "certificates.k8s.io", kinds)

#define REPORTS_EVENTS(role) RULE(role, "create " CHANGE, "- events.k8s.io", "events")
/* Authentication and authorization of its own callers are left to the server. */
#define ASKS_WHO_CALLS(role)                                                                       \
    RULE(role, "create", "authentication.k8s.io", "tokenreviews"),                                 \
        RULE(role, "create", "authorization.k8s.io", "subjectaccessreviews")
/* A lease cannot be made by name: the name of an object that is not there is not known yet. */
#define LEADS(role, verbs, lease)                                                                  \
    RULE(role, "create", "coordination.k8s.io", "leases"),                                         \
        NAMED(role, verbs, "coordination.k8s.io", "leases", lease)

#define NODE "system:node"
#define PROXY "system:node-proxier"
#define SCHEDULER "system:kube-scheduler"
#define MANAGER "system:kube-controller-manager"
#define PROVISIONER "system:persistent-volume-provisioner"
#define VOLUMES "system:volume-scheduler"
#define DETECTOR "system:node-problem-detector"
#define KUBELET_ADMIN "system:kubelet-api-admin"

#define CSR "system:certificates.k8s.io:"
#define REQUESTS CSR "certificatesigningrequests:"
/* Approves requests to one signer, and to no other. */
#define APPROVES(what)                                                                             \
    NAMED(CSR what "-approver", "approve", "certificates.k8s.io", "signers", "kubernetes.io/" what)

#define KEYS "/.well-known/openid-configuration"
#define JWKS "/openid/v1/jwks"

static const struct bootstrap_role roles[] = {
    /* nodes */
    {NODE, NULL, NULL},
    {"system:node-bootstrapper", NULL, NULL},
    {PROXY, NULL, NULL},
    {DETECTOR, NULL, NULL},
    {KUBELET_ADMIN, NULL, NULL},
    /* scheduling, controllers, storage */
    {SCHEDULER, NULL, NULL},
    {VOLUMES, NULL, NULL},
    {MANAGER, NULL, NULL},
    {PROVISIONER, NULL, NULL},
    /* names, measurements, further API servers */
    {"system:kube-dns", NULL, NULL},
    {"system:heapster", NULL, NULL},
    {"system:monitoring", NULL, NULL},
    {"system:kube-aggregator", NULL, NULL},
    {"system:auth-delegator", NULL, NULL},
    {"system:service-account-issuer-discovery", NULL, NULL},
    /* certificates */
    {REQUESTS "nodeclient", NULL, NULL},
    {REQUESTS "selfnodeclient", NULL, NULL},
    {CSR "kube-apiserver-client-approver", NULL, NULL},
    {CSR "kube-apiserver-client-kubelet-approver", NULL, NULL},
    {CSR "kubelet-serving-approver", NULL, NULL},
    {CSR "legacy-unknown-approver", NULL, NULL},
    {NULL},
};

static const struct bootstrap_rule rules[] = {
    /* A kubelet.  A real cluster's node authorizer gives it less, by what its own pods name, and
     * so nobody has this role by default.  First its node and certificate, then its pods, then what
     * pods name: settings, accounts, volumes, devices. */
    CORE(NODE, READ " create " CHANGE, "nodes"),
    CORE(NODE, CHANGE, "nodes/status"),
    RULE(NODE, "get create delete " CHANGE, "coordination.k8s.io", "leases"),
    CERTIFICATES(NODE, READ " create", "certificatesigningrequests"),
    CORE(NODE, READ " create delete", "pods"),
    CORE(NODE, CHANGE, "pods/status"),
    CORE(NODE, "create", "pods/eviction serviceaccounts/token"),
    RULE(NODE, READ, "node.k8s.io", "runtimeclasses"),
    CORE(NODE, READ, "configmaps secrets services"),
    CORE(NODE, "get", "endpoints persistentvolumeclaims persistentvolumes serviceaccounts"),
    CORE(NODE, "get " CHANGE, "persistentvolumeclaims/status"),
    STORAGE(NODE, READ, "csidrivers"),
    STORAGE(NODE, "get create delete " CHANGE, "csinodes"),
    STORAGE(NODE, "get", "volumeattachments"),
    DEVICES(NODE, "get", "resourceclaims"),
    DEVICES(NODE, "deletecollection", "resourceslices"),
    REPORTS_EVENTS(NODE),
    ASKS_WHO_CALLS(NODE),
    RULE(NODE, "create", "authorization.k8s.io", "localsubjectaccessreviews"),

    /* A machine that wants to become a node asks for its first certificate. */
    CERTIFICATES("system:node-bootstrapper", READ " create", "certificatesigningrequests"),

    /* kube-proxy: from Services to the rules of the machine's packet filter. */
    CORE(PROXY, FOLLOW, "endpoints services"),
    CORE(PROXY, READ, "nodes"),
    RULE(PROXY, FOLLOW, "discovery.k8s.io", "endpointslices"),
    RULE(PROXY, FOLLOW, "networking.k8s.io", "servicecidrs"),
    REPORTS_EVENTS(PROXY),

    /* Tells in a node's conditions what is wrong with the machine. */
    CORE(DETECTOR, "get", "nodes"),
    CORE(DETECTOR, "patch", "nodes/status"),
    REPORTS_EVENTS(DETECTOR),

    /* Everything that a kubelet serves, for who speaks to kubelets directly. */
    CORE(KUBELET_ADMIN, READ " proxy", "nodes"),
    CORE(KUBELET_ADMIN, "*",
         "nodes/configz nodes/healthz nodes/log nodes/metrics nodes/pods nodes/proxy nodes/stats"),

    /* kube-scheduler: reads what has a say in where a pod goes, binds pods, makes room for others,
     * and takes devices for them. */
    CORE(SCHEDULER, READ " delete", "pods"),
    CORE(SCHEDULER, "create", "bindings pods/binding"),
    CORE(SCHEDULER, CHANGE, "pods/status"),
    CORE(SCHEDULER, "update", "pods/finalizers"),
    CORE(SCHEDULER, READ, "namespaces nodes persistentvolumeclaims persistentvolumes"),
    CORE(SCHEDULER, READ, "replicationcontrollers services"),
    RULE(SCHEDULER, READ, "apps extensions", "replicasets"),
    RULE(SCHEDULER, READ, "apps", "statefulsets"),
    RULE(SCHEDULER, READ, "policy", "poddisruptionbudgets"),
    STORAGE(SCHEDULER, READ, "csidrivers csinodes csistoragecapacities volumeattachments"),
    DEVICES(SCHEDULER, READ, "deviceclasses resourceslices"),
    DEVICES(SCHEDULER, READ " create delete " CHANGE, "resourceclaims"),
    DEVICES(SCHEDULER, READ " " CHANGE, "resourceclaims/status"),
    DEVICES(SCHEDULER, CHANGE, "resourceclaims/binding"),
    LEADS(SCHEDULER, READ " update", "kube-scheduler"),
    RULE(SCHEDULER, ALL, "coordination.k8s.io", "leasecandidates"),
    REPORTS_EVENTS(SCHEDULER),
    ASKS_WHO_CALLS(SCHEDULER),

    /* Binds claims to volumes when a pod's node is known. */
    CORE(VOLUMES, READ " " CHANGE, "persistentvolumeclaims persistentvolumes"),
    STORAGE(VOLUMES, READ, "storageclasses"),

    /* kube-controller-manager: follows everything, and gives each controller the token of an
     * account of its own, which has that controller's rights. */
    RULE(MANAGER, FOLLOW, "*", "*"),
    CORE(MANAGER, "create get update", "secrets serviceaccounts"),
    CORE(MANAGER, "delete", "secrets"),
    CORE(MANAGER, "get", "configmaps namespaces"),
    CORE(MANAGER, "create", "serviceaccounts/token"),
    LEADS(MANAGER, "get update", "kube-controller-manager"),
    REPORTS_EVENTS(MANAGER),
    ASKS_WHO_CALLS(MANAGER),

    /* A provisioner from outside: makes volumes for claims. */
    CORE(PROVISIONER, READ " create delete", "persistentvolumes"),
    CORE(PROVISIONER, READ " update", "persistentvolumeclaims"),
    STORAGE(PROVISIONER, READ, "storageclasses"),
    CORE(PROVISIONER, "watch", "events"),
    REPORTS_EVENTS(PROVISIONER),

    /* Names of Services. */
    CORE("system:kube-dns", FOLLOW, "endpoints services"),

    /* Measurements: one program that is gone, and all that read what every program serves. */
    CORE("system:heapster", READ, "events namespaces nodes pods"),
    RULE("system:heapster", READ, "extensions", "deployments"),
    PATHS("system:monitoring", "/healthz /healthz/* /livez /livez/* /readyz /readyz/* /metrics "
                               "/metrics/slis /flagz /statusz"),
    CORE("system:monitoring", "get", "nodes/metrics"),

    /* Further API servers and webhooks. */
    CORE("system:kube-aggregator", READ, "endpoints services"),
    ASKS_WHO_CALLS("system:auth-delegator"),

    /* The keys that tokens of accounts are signed with, for who checks them elsewhere. */
    PATHS("system:service-account-issuer-discovery", KEYS " " KEYS "/ " JWKS " " JWKS "/"),

    /* Certificates: which requests are approved without a person, and which signer's at all. */
    CERTIFICATES(REQUESTS "nodeclient", "create", "certificatesigningrequests/nodeclient"),
    CERTIFICATES(REQUESTS "selfnodeclient", "create", "certificatesigningrequests/selfnodeclient"),
    APPROVES("kube-apiserver-client"),
    APPROVES("kube-apiserver-client-kubelet"),
    APPROVES("kubelet-serving"),
    APPROVES("legacy-unknown"),
    {NULL},
};

static const struct bootstrap_binding bindings[] = {
    {NODE, "User", NULL},
    {PROXY, "User", "system:kube-proxy"},
    {SCHEDULER, "User", "system:kube-scheduler"},
    {VOLUMES, "User", "system:kube-scheduler"},
    {MANAGER, "User", "system:kube-controller-manager"},
    {"system:kube-dns", "ServiceAccount", "kube-dns"},
    {"system:monitoring", "Group", "system:monitoring"},
    {"system:service-account-issuer-discovery", "Group", "system:serviceaccounts"},
    {NULL},
};

const struct bootstrap_set bootstrap_programs = {roles, rules, bindings};
