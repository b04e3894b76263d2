/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The strategies of all built-in kinds, and what their files share. */
#pragma once

#include "src/cluster/apiserver/checks.h"
#include "src/cluster/apiserver/strategy.h"

extern const struct strategy strategy_autoscalers;
extern const struct strategy strategy_clusterrolebindings;
extern const struct strategy strategy_clusterroles;
extern const struct strategy strategy_configmaps;
extern const struct strategy strategy_controllerrevisions;
extern const struct strategy strategy_crds;
extern const struct strategy strategy_cronjobs;
extern const struct strategy strategy_daemonsets;
extern const struct strategy strategy_deployments;
extern const struct strategy strategy_endpoints;
extern const struct strategy strategy_endpointslices;
extern const struct strategy strategy_events;
extern const struct strategy strategy_ingresses;
extern const struct strategy strategy_jobs;
extern const struct strategy strategy_leases;
extern const struct strategy strategy_limitranges;
extern const struct strategy strategy_mutatingwebhooks;
extern const struct strategy strategy_namespaces;
extern const struct strategy strategy_networkpolicies;
extern const struct strategy strategy_nodes;
extern const struct strategy strategy_persistentvolumeclaims;
extern const struct strategy strategy_persistentvolumes;
extern const struct strategy strategy_poddisruptionbudgets;
extern const struct strategy strategy_pods;
extern const struct strategy strategy_podtemplates;
extern const struct strategy strategy_priorityclasses;
extern const struct strategy strategy_replicasets;
extern const struct strategy strategy_replicationcontrollers;
extern const struct strategy strategy_resourcequotas;
extern const struct strategy strategy_rolebindings;
extern const struct strategy strategy_roles;
extern const struct strategy strategy_secrets;
extern const struct strategy strategy_serviceaccounts;
extern const struct strategy strategy_services;
extern const struct strategy strategy_statefulsets;
extern const struct strategy strategy_storageclasses;
extern const struct strategy strategy_validatingwebhooks;

/* metadata.name and metadata.namespace, "" where absent. */
static inline const char *kind_text(const struct jsn *object, const char *path)
{
    const char *s = jsn_get_str(object, path);

    return s ? s : "";
}

/* Copy a member from the old object, or remove it where the old one has none. */
void kind_keep(struct arena *a, struct jsn *object, const struct jsn *old, const char *key);

/* What differs between two objects, one line each: "\n\tspec.a: 1 -> 2"; for refusals of updates.
 */
const char *kind_difference(struct arena *a, const struct jsn *object, const struct jsn *old,
                            const char *path);
