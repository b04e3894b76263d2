/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which object refers to which, as indexes of caches. */
#pragma once

#include "src/kube/cache.h"

/*
 * Each is a kube_index_fn: it puts the keys of one object out; `arg` is not used.
 *
 * What an object names ("namespace/name", "namespace/Secret/name"), so that a change of that finds
 * the object.
 */
void references_of_controller(void *arg, const struct jsn *object, struct kube_index_out *out);
void references_of_nodeset(void *arg, const struct jsn *object, struct kube_index_out *out);
void references_of_partition(void *arg, const struct jsn *object, struct kube_index_out *out);
/* The Controller of a NodeSet or Partition. */
void references_to_controller(void *arg, const struct jsn *object, struct kube_index_out *out);

/* The name that it has in Slurm, behind its namespace: two of the same are in each other's way. */
void references_partition_slurm_name(void *arg, const struct jsn *object,
                                     struct kube_index_out *out);
void references_nodeset_slurm_name(void *arg, const struct jsn *object, struct kube_index_out *out);
void references_pod_slurm_name(void *arg, const struct jsn *object, struct kube_index_out *out);
