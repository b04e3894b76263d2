/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which object refers to which, as indexes of caches: "namespace/name", "namespace/Secret/name". */
#pragma once

#include "src/kube/cache.h"

void references_of_controller(void *arg, const struct jsn *object, struct kube_index_out *out);
void references_of_nodeset(void *arg, const struct jsn *object, struct kube_index_out *out);
void references_of_partition(void *arg, const struct jsn *object, struct kube_index_out *out);
void references_partition_slurm_name(void *arg, const struct jsn *object,
                                     struct kube_index_out *out);
/* Of NodeSets and Partitions. */
void references_to_controller(void *arg, const struct jsn *object, struct kube_index_out *out);
void references_nodeset_slurm_name(void *arg, const struct jsn *object, struct kube_index_out *out);
void references_pod_slurm_name(void *arg, const struct jsn *object, struct kube_index_out *out);
