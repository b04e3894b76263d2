/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pods in the cache: as small structs, found by their name in Slurm and by their machine. */
#pragma once

#include "src/kube/cache.h"

/* Values are struct plan_pod. */
extern const struct kube_decoder kept_pods_decoder;
extern const struct kube_index kept_pods_indexes[];
/* Of Kubernetes nodes: struct plan_machine. */
extern const struct kube_decoder kept_machines_decoder;
