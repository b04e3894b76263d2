/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a Slurm node as conditions of its pod. */
#pragma once

#include "src/plan/action.h"
#include "src/plan/pods.h"

/*
 * SlurmNodeStateIdle, SlurmNodeStateDrain, ...: one for the base state and one for each flag that
 * is set, with the node's reason as message.  Read those that a pod has (`list` is its conditions);
 * plan to make them match the node.  A pod without a node in Slurm has none.
 */
uint32_t pod_conditions_read(struct arena *a, const struct jsn *list, const char **ret_message);
void pod_conditions_plan(struct actions *to, const struct plan_pod *p, const struct slurm_node *n,
                         int64_t now_us);
