/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of kinds.
 *
 * Our own come from the list in src/api/kinds.h; what plans do with them is the same for all.  The
 * others are Kubernetes' and its neighbours': whoever makes or reads an object of a further kind
 * adds a row.  The operator watches exactly what is here, refuses to write anything else, and asks
 * for exactly these permissions (src/operator/rights.c).
 *
 * The listed fields are those that Slinky's operator patches, too.  Whatever else stands in an
 * object (a Service's cluster address, the claim templates of a StatefulSet) belongs to the API
 * server, cannot be changed or was put there by somebody else.
 */
#include "src/plan/kind.h"

#include <assert.h>

#include "src/api/kinds.h"
#include "src/build/labels.h"

static const char *const config_map_fields[] = {"data", "binaryData", NULL};
static const char *const deployment_fields[] = {"spec.minReadySeconds", "spec.replicas",
                                                "spec.strategy", "spec.template", NULL};
static const char *const monitor_fields[] = {"spec", NULL};
static const char *const budget_fields[] = {"spec.maxUnavailable", "spec.minAvailable",
                                            "spec.selector", NULL};
static const char *const service_fields[] = {"spec.type",
                                             "spec.selector",
                                             "spec.ports",
                                             "spec.externalIPs",
                                             "spec.loadBalancerIP",
                                             "spec.loadBalancerSourceRanges",
                                             "spec.externalName",
                                             "spec.publishNotReadyAddresses",
                                             NULL};
static const char *const stateful_set_fields[] = {"spec.minReadySeconds",
                                                  "spec.ordinals",
                                                  "spec.persistentVolumeClaimRetentionPolicy",
                                                  "spec.replicas",
                                                  "spec.template",
                                                  "spec.updateStrategy",
                                                  NULL};

#define WORKERS LABEL_NAME "=slurmd"
#define DEPLOYED LABEL_NAME " in (login,slurmrestd)"
#define DAEMONS LABEL_NAME " in (login,mariadb,slurmctld,slurmd,slurmdbd)"
#define SETS LABEL_NAME " in (mariadb,slurmctld,slurmdbd)"

#define OWN_ROW(ID, name)                                                                          \
    {API_##ID##_NAMES, .uses = PLAN_READ | PLAN_PATCH | PLAN_STATUS | PLAN_OWN,                    \
     .sight = SIGHT_AWAITED},
#define MADE (PLAN_READ | PLAN_CREATE | PLAN_PATCH)

const struct plan_kind plan_kinds[] = {
    API_KINDS(OWN_ROW) /* the others: */
    {"ConfigMap", "configmaps", "", "v1", NULL, MADE, SIGHT_NEEDED, false, NULL, config_map_fields},
    {"ControllerRevision", "controllerrevisions", "apps", "v1", NULL,
     PLAN_READ | PLAN_CREATE | PLAN_DELETE, SIGHT_NEEDED, true, WORKERS, NULL},
    {"Deployment", "deployments", "apps", "v1", NULL, MADE, SIGHT_NEEDED, false, DEPLOYED,
     deployment_fields},
    {"Node", "nodes", "", "v1", NULL, PLAN_READ, SIGHT_OPTIONAL, false, NULL, NULL, true},
    {"PersistentVolumeClaim", "persistentvolumeclaims", "", "v1", NULL, MADE | PLAN_DELETE,
     SIGHT_NEEDED, false, WORKERS, NULL},
    {"Pod", "pods", "", "v1", NULL, MADE | PLAN_DELETE | PLAN_STATUS, SIGHT_NEEDED, true, DAEMONS,
     NULL},
    {"PodDisruptionBudget", "poddisruptionbudgets", "policy", "v1", "v1beta1", MADE, SIGHT_NEEDED,
     false, NULL, budget_fields},
    {"Secret", "secrets", "", "v1", NULL, MADE, SIGHT_NEEDED, false, NULL, NULL},
    {"Service", "services", "", "v1", NULL, MADE, SIGHT_NEEDED, false, NULL, service_fields},
    {"ServiceMonitor", "servicemonitors", "monitoring.coreos.com", "v1", NULL, MADE | PLAN_DELETE,
     SIGHT_OPTIONAL, false, NULL, monitor_fields},
    {"StatefulSet", "statefulsets", "apps", "v1", NULL, MADE, SIGHT_NEEDED, false, SETS,
     stateful_set_fields},
    {NULL},
};
const size_t plan_n_kinds = ARRAY_LEN(plan_kinds) - 1;

enum plan_sight plan_kind_sight(const struct plan_kind *kind)
{
    const struct api_kind *own = api_kind_find(kind->kind);

    return own && own->needed ? SIGHT_NEEDED : kind->sight;
}

const struct plan_kind *plan_kind_find(const char *kind)
{
    for (const struct plan_kind *k = plan_kinds; k->kind; k++)
        if (streq(k->kind, kind))
            return k;
    abort(); /* a kind that plans do not know */
}
