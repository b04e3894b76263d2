/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plan for a NodeSet: its pods and what they need. */
#pragma once

#include "src/build/cluster.h"
#include "src/plan/action.h"
#include "src/plan/pods.h"

/* At most so many pods are made by one plan; the next goes on. */
#define PLAN_PODS_AT_ONCE 250

/* A snapshot; everything is borrowed and stays as it is. */
struct plan_nodeset {
    const struct jsn *object; /* as the API has it */
    const struct nodeset *ns; /* the same, decoded */
    /* The cluster it belongs to.  Its controller is NULL where there is no such Controller. */
    const struct build_cluster *cluster;
    const struct plan_pod *const *pods; /* that it controls */
    size_t n_pods;
    const struct plan_pod *const *orphans; /* that bear its name, and that nobody controls */
    size_t n_orphans;
    const struct jsn *const *revisions; /* ControllerRevisions that it controls */
    size_t n_revisions;
    const struct slurm_state *slurm; /* NULL: nothing is known */
    const char *twin;                /* an older NodeSet with the same name in Slurm; NULL: none */
    const char *const *gone; /* Kubernetes nodes that pods are pinned to, and that are not there */
    size_t n_gone;
    int64_t now_us;
};

/*
 * Plan.  A NodeSet that cannot be acted on (its Controller missing, its name taken, bad) gets a
 * condition that says what to do, and what runs goes on running.  One that is being deleted lets
 * its pods go as they become free, and then itself.
 */
void plan_nodeset(const struct plan_nodeset *in, struct actions *to);
