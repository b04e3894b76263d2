/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Partitions between slurm.conf's words and the message of the update RPC. */
#pragma once

#include <slurm/slurm.h>

#include "src/json/jsn.h"
#include "src/slurm/partition.h"

/* What a loaded partition has, as the model of src/slurm; *ret is owned by the caller and need not
 * be initialised. */
void partmap_read(const partition_info_t *info, struct partition *ret);

/* The same as an object of all keys that are set: {"MaxTime":"1-00:00:00","State":"UP",...}. */
struct jsn *partmap_config(struct arena *a, const partition_info_t *info);

/*
 * Put the keys of `set` ({Key:"value"} as in a partition line; "" takes a setting back to its
 * default) into a message.  Texts in it live in `a`.  -EINVAL with a sentence for a key that no
 * partition has, a bad value, and what the RPC of this release cannot do.
 *
 * DefCPUPerGPU and DefMemPerGPU are one text in the RPC: where just one of them is among the keys
 * (partmap_needs_live), `live` is the partition that the other one is taken from; NULL if there is
 * none yet.
 */
int partmap_write(struct arena *a, const struct jsn *set, const partition_info_t *live,
                  update_part_msg_t *message, struct err *e) MUST_CHECK;
bool partmap_needs_live(const struct jsn *set);
