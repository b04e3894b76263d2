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
    {"Accounting", "slinky.slurm.net", "v1beta1", NULL, "accountings", NULL},
    {"ConfigMap", "", "v1", NULL, "configmaps", config_map_fields},
    {"Controller", "slinky.slurm.net", "v1beta1", NULL, "controllers", NULL},
    {"ControllerRevision", "apps", "v1", NULL, "controllerrevisions", NULL},
    {"NodeSet", "slinky.slurm.net", "v1beta1", NULL, "nodesets", NULL},
    {"Partition", "slurmkeeper.dev", "v1alpha1", NULL, "partitions", NULL},
    {"PersistentVolumeClaim", "", "v1", NULL, "persistentvolumeclaims", NULL},
    {"Pod", "", "v1", NULL, "pods", NULL},
    {"PodDisruptionBudget", "policy", "v1", "v1beta1", "poddisruptionbudgets", budget_fields},
    {"Secret", "", "v1", NULL, "secrets", NULL},
    {"Service", "", "v1", NULL, "services", service_fields},
    {"ServiceMonitor", "monitoring.coreos.com", "v1", NULL, "servicemonitors", monitor_fields},
    {"StatefulSet", "apps", "v1", NULL, "statefulsets", stateful_set_fields},
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
