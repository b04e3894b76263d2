/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What made objects are called, how they are labelled, and whose they are. */
#pragma once

#include "src/api/accounting.h"
#include "src/api/controller.h"
#include "src/api/kinds.h"
#include "src/api/nodeset.h"
#include "src/build/tree.h"

#define LABEL_NAME "app.kubernetes.io/name"
#define LABEL_INSTANCE "app.kubernetes.io/instance"
#define LABEL_COMPONENT "app.kubernetes.io/component"
#define LABEL_CLUSTER API_GROUP "/cluster"
#define LABEL_OLD_COMPONENT API_GROUP "/component" /* older manifests and habits select by it */
#define LABEL_ACTIVE "controller." API_GROUP "/active"
#define LABEL_SERVICE API_OWN_GROUP "/service"
#define LABEL_POD_NAME API_NODESET_PREFIX "pod-name"
#define LABEL_POD_INDEX API_NODESET_PREFIX "pod-index"
#define LABEL_POD_HOSTNAME API_NODESET_PREFIX "pod-hostname"
#define LABEL_POD_PROTECT API_NODESET_PREFIX "pod-protect"
#define LABEL_SCALING_MODE API_NODESET_PREFIX "scaling-mode"
#define LABEL_HASH "controller.kubernetes.io/hash"

#define ANNOTATION_SLURM_KEY_HASH API_GROUP "/slurm-key-hash"
#define ANNOTATION_JWT_KEY_HASH API_GROUP "/jwt-key-hash"
#define ANNOTATION_CONFIG_HASH API_GROUP "/slurm-config-hash"
#define ANNOTATION_DBD_HASH API_GROUP "/slurmdbd-conf-hash"
#define ANNOTATION_DEFAULT_CONTAINER "kubectl.kubernetes.io/default-container"
/* Of a Controller: "Report" (default) what was changed past the declaration, or "Revert" it. */
#define ANNOTATION_DRIFT_POLICY API_DRIFT_ANNOTATION
/* On a worker's pod: its node's record is one that fits (see src/plan/nodeset_nodes.c). */
#define ANNOTATION_RECORD_CHECKED API_OWN_GROUP "/record-checked"
/* On a pod: when its slurmd was asked to register again; the pod has it as /etc/slurm/register. */
#define ANNOTATION_REGISTER API_OWN_GROUP "/register"
#define ANNOTATION_TOPOLOGY "topology." API_GROUP "/spec"

#define TAINT_WORKER API_NODESET_PREFIX "worker"

/* Names of what is made from a Controller; in `a`. */
const char *labels_controller(struct arena *a, const char *controller); /* StatefulSet, Service */
const char *labels_internal(struct arena *a, const char *controller);   /* headless Service */
const char *labels_config(struct arena *a, const char *controller);     /* ConfigMap */
const char *labels_agent(struct arena *a, const char *controller);      /* Secret of the agent */
const char *labels_keys(struct arena *a, const char *controller);       /* Secret that pods mount */
/* The name that the agent's certificate is for. */
const char *labels_agent_host(struct arena *a, const char *controller, const char *ns);
const char *labels_workers(struct arena *a, const char *controller);     /* Service, subdomain */
const char *labels_workers_pdb(struct arena *a, const char *controller); /* disruption budget */

/* Names of what is made from an Accounting; in `a`. */
const char *labels_accounting(struct arena *a, const char *acct); /* StatefulSet, Service, Secret */
const char *labels_database(struct arena *a, const char *acct);   /* likewise, of its database */

/* A program of a cluster: app.kubernetes.io/name and app.kubernetes.io/component of its objects,
 * and the kind whose object app.kubernetes.io/instance names. */
struct labels_app {
    const char *name;
    const char *component;
    enum api_kind_id kind;
};
extern const struct labels_app labels_slurmctld;
extern const struct labels_app labels_slurmd;
extern const struct labels_app labels_login;
extern const struct labels_app labels_slurmrestd;
extern const struct labels_app labels_slurmdbd;
extern const struct labels_app labels_mariadb;
#define APP_ACCOUNTING (&labels_slurmdbd)
#define APP_CONTROLLER (&labels_slurmctld)
#define APP_DATABASE (&labels_mariadb)
#define APP_WORKER (&labels_slurmd)
#define APP_LOGIN (&labels_login)

/* By app.kubernetes.io/name; NULL: none of ours. */
const struct labels_app *labels_app_find(const char *name);

/* All labels of an app's objects; those that select its pods; in `a`, free to be changed. */
struct jsn *labels_all(struct arena *a, const struct labels_app *app, const char *instance);
struct jsn *labels_selector(struct arena *a, const struct labels_app *app, const char *instance);
/* "a=b,c=d" of the latter, for a status. */
const char *labels_selector_text(struct arena *a, const struct labels_app *app,
                                 const char *instance);

/* An owner reference to an object of ours; `controller`: it alone manages the object.  NULL without
 * a uid. */
struct jsn *labels_owner(struct arena *a, const char *kind, const struct api_meta *m,
                         bool controller);

/*
 * Metadata: name, namespace, labels, then annotations and owners unless they are NULL or empty.
 */
struct jsn *labels_meta(struct arena *a, const char *name, const char *ns, struct jsn *labels,
                        struct jsn *annotations, struct jsn *owner);

/*
 * The user's annotations of an object that its pods get, too, so that changing one starts them
 * again: all but those of tools and of ours.
 */
void labels_add_annotations(struct arena *a, struct jsn *annotations, const struct jsn_map *from);
