/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that plan for Partitions. */
#pragma once

#include "src/plan/partition.h"
#include "src/plan/status.h"

/* partition_live.c: put into the status what slurmctld has, and what has drifted. */
void partition_live_plan(const struct plan_partition *in, struct api_partition_status *st,
                         struct status_scribe *s);

/* partition_end.c: the plan for one that is being deleted. */
void partition_end_plan(const struct plan_partition *in, struct actions *to);

/*
 * Was it seen to change a moment ago, or some moments ago and configurations are on their way to
 * slurmctld?  Then what its change leads to may be under way: nobody needs to be told before it
 * lasts, and partition_look_again has it planned for again in time.
 */
bool partition_is_young(const struct plan_partition *in);
void partition_look_again(const struct plan_partition *in, struct actions *to);

/* Write the status with these conditions. */
void partition_status_plan(const struct plan_partition *in, struct api_partition_status *st,
                           struct actions *to);
/* A copy of the status at hand, whose conditions may be changed. */
struct api_partition_status partition_status_copy(struct arena *a, const struct plan_partition *in);
