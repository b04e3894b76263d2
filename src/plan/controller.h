/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plan for a Controller: slurmctld, its configuration, and how it is reached. */
#pragma once

#include "src/build/cluster.h"
#include "src/build/secrets.h"
#include "src/plan/action.h"
#include "src/plan/pods.h"

/* What the keys of Secrets that have to be made are made from: random, given from outside. */
struct plan_keys {
    const unsigned char *slurm; /* SECRET_KEY_BYTES each */
    const unsigned char *jwt;
    const struct build_agent_keys *agent; /* NULL: not needed, that Secret is good */
};

/* A snapshot; everything is borrowed and stays as it is. */
struct plan_controller {
    const struct jsn *object; /* as the API has it */
    /* The cluster with all NodeSets that name it.  Its controller is NULL where the object does not
     * decode. */
    const struct build_cluster *cluster;
    const struct plan_pod *const *pods; /* of slurmctld, by ordinal */
    size_t n_pods;
    bool serves_monitors;            /* the API has ServiceMonitors */
    const struct slurm_state *slurm; /* NULL: nothing is known */
    const char *agent_trouble;       /* why, or why a configuration is not there yet; or NULL */
    struct plan_keys fresh;
    int64_t now_us;
};

/*
 * Plan.  Steps, in order: Finalizer, Internal Service, Service, Config, Keys, StatefulSet,
 * ClusterWorkerService, ClusterWorkerPDB, Active, ServiceMonitor, Status.  A configuration that
 * Slurm would refuse is not written: the one at work stays, and a condition says what is wrong.
 *
 * One that is being deleted is kept as it is, slurmctld and all, until no NodeSet names it any
 * more; a condition says what it waits for.
 */
void plan_controller(const struct plan_controller *in, struct actions *to);
