/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which strategy a resource has.
 *
 * Built-in kinds are found by their store name in a table.  Custom resources have one of their own
 * (crd/strategy.c); everything else about them is in their schema.
 */
#include "src/cluster/apiserver/strategy.h"

#include "src/cluster/apiserver/crd/custom.h"
#include "src/cluster/apiserver/kinds/kinds.h"

static const struct strategy *const built_in[] = {
    &strategy_autoscalers,
    &strategy_clusterrolebindings,
    &strategy_clusterroles,
    &strategy_configmaps,
    &strategy_controllerrevisions,
    &strategy_crds,
    &strategy_cronjobs,
    &strategy_daemonsets,
    &strategy_deployments,
    &strategy_endpoints,
    &strategy_endpointslices,
    &strategy_events,
    &strategy_ingresses,
    &strategy_jobs,
    &strategy_leases,
    &strategy_limitranges,
    &strategy_mutatingwebhooks,
    &strategy_namespaces,
    &strategy_networkpolicies,
    &strategy_nodes,
    &strategy_persistentvolumeclaims,
    &strategy_persistentvolumes,
    &strategy_poddisruptionbudgets,
    &strategy_pods,
    &strategy_podtemplates,
    &strategy_priorityclasses,
    &strategy_replicasets,
    &strategy_replicationcontrollers,
    &strategy_resourcequotas,
    &strategy_rolebindings,
    &strategy_roles,
    &strategy_secrets,
    &strategy_serviceaccounts,
    &strategy_services,
    &strategy_statefulsets,
    &strategy_storageclasses,
    &strategy_validatingwebhooks,
};

static const struct strategy plain = {.resource = ""};

const struct strategy *strategy_of(const struct resource *stored)
{
    if (stored->custom)
        return custom_strategy(stored);
    for (size_t i = 0; i < ARRAY_LEN(built_in); i++)
        if (resource_is_stored_as(stored, built_in[i]->resource))
            return built_in[i];
    return &plain;
}
