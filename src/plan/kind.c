/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of kinds.
 *
 * The listed fields are those that Slinky's operator patches, too.  Whatever else stands in an
 * object (a Service's cluster address, the claim templates of a StatefulSet) belongs to the API
 * server, cannot be changed or was put there by somebody else.
 */
#include "src/plan/kind.h"

#include <assert.h>

#include "src/base/str.h"

static const char *const config_map_fields[] = {"data", "binaryData", NULL};
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

const struct plan_kind plan_kinds[] = {
    {"Accounting", "slinky.slurm.net", "v1beta1", "accountings", NULL},
    {"ConfigMap", "", "v1", "configmaps", config_map_fields},
    {"Controller", "slinky.slurm.net", "v1beta1", "controllers", NULL},
    {"ControllerRevision", "apps", "v1", "controllerrevisions", NULL},
    {"NodeSet", "slinky.slurm.net", "v1beta1", "nodesets", NULL},
    {"PersistentVolumeClaim", "", "v1", "persistentvolumeclaims", NULL},
    {"Pod", "", "v1", "pods", NULL},
    {"PodDisruptionBudget", "policy", "v1", "poddisruptionbudgets", budget_fields},
    {"Secret", "", "v1", "secrets", NULL},
    {"Service", "", "v1", "services", service_fields},
    {"ServiceMonitor", "monitoring.coreos.com", "v1", "servicemonitors", monitor_fields},
    {"StatefulSet", "apps", "v1", "statefulsets", stateful_set_fields},
    {NULL},
};

const struct plan_kind *plan_kind_find(const char *kind)
{
    for (const struct plan_kind *k = plan_kinds; k->kind; k++)
        if (streq(k->kind, kind))
            return k;
    assert(!"a kind that plans know");
    return NULL;
}
