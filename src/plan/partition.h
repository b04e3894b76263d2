/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plan for a Partition: what is said of it, and when it may go. */
#pragma once

#include "src/build/cluster.h"
#include "src/plan/action.h"
#include "src/plan/slurm_state.h"

/* A snapshot; everything is borrowed and stays as it is. */
struct plan_partition {
    const struct jsn *object; /* as the API has it */
    const struct api_partition *part;
    const struct controller *controller; /* NULL: there is none, or it does not decode */
    const char *written; /* the line of this name in the ConfigMap's slurm.conf; NULL: none */
    const struct api_lookup *lookup;
    /* All of it, where plan_partition_needs_cluster; else NULL. */
    const struct build_cluster *cluster;
    const struct slurm_state *slurm; /* NULL: nothing is known */
    int64_t changed_us;              /* when the object was last seen to change; 0: long ago */
    int64_t now_us;
};

/*
 * Is its line not in the configuration as it should be?  Only then the whole cluster has to be
 * looked at to tell why; it costs as much as a plan for the Controller.
 */
bool plan_partition_needs_cluster(struct arena *a, const struct plan_partition *in);

/*
 * Plan.  Steps: Finalizer, Status; of one that is deleted: Status, Release.  The line of slurm.conf
 * is written by the Controller's plan.
 */
void plan_partition(const struct plan_partition *in, struct actions *to);
