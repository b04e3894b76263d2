/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The spec of a pod, wherever it stands: in pods and in the templates of workloads. */
#pragma once

#include "src/base/map.h"
#include "src/cluster/apiserver/checks.h"

/* Defaults that the tables cannot express; `pod`: also those that templates do not get. */
void podspec_default(struct arena *a, struct jsn *spec, bool pod);
/* Defaults of a template at object[key]: its spec, and creationTimestamp null as Go prints it. */
void podtemplate_default(struct arena *a, struct jsn *object, const char *key);

/* Everything in a pod spec; `pod`: also what holds for pods but not for templates. */
void podspec_check(struct causes *cs, const struct place *spec, bool pod);
/* Labels, annotations and spec of a template. */
void podtemplate_check(struct causes *cs, const struct place *template);

/* "Guaranteed", "Burstable" or "BestEffort". */
const char *podspec_qos(const struct jsn *spec);

/* --- between the files --- */

/* Volumes at a place; good ones go into the map by name (values are their jsn). */
void volumes_check(struct causes *cs, const struct place *volumes, struct map *ret_volumes);
void container_check(struct causes *cs, const struct place *container, const struct map *volumes);
void container_env_check(struct causes *cs, const struct place *container);
void container_mounts_check(struct causes *cs, const struct place *container,
                            const struct map *volumes);
void container_resources_check(struct causes *cs, const struct place *resources);
void container_security_check(struct causes *cs, const struct place *context);
void pod_security_check(struct causes *cs, const struct place *spec);
void pod_affinity_check(struct causes *cs, const struct place *affinity);
void pod_tolerations_check(struct causes *cs, const struct place *tolerations);
void pod_spread_check(struct causes *cs, const struct place *constraints);
void pod_dns_check(struct causes *cs, const struct place *spec);

/* fieldRef and resourceFieldRef of environments and volumes. */
void field_ref_check(struct causes *cs, const struct place *ref, const char *const *fields);
void resource_ref_check(struct causes *cs, const struct place *ref, bool in_volume);

/* The terms of a node selector; also used by persistent volumes. */
void node_selector_check(struct causes *cs, const struct place *selector);

/* Names and amounts of resources; shared by nodes, quotas and claims. */
void resource_name_check(struct causes *cs, const struct place *at);
void resource_quantity_check(struct causes *cs, const struct place *at);
