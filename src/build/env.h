/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What objects are built for: the Slurm release, the machines, the Kubernetes release. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How the nodes' control groups are arranged; Slurm cannot tell by itself in a container. */
enum build_cgroup {
    BUILD_CGROUP_V2,
    BUILD_CGROUP_V1,
    BUILD_CGROUP_HYBRID, /* v2 mounted beside v1: Slurm needs the v1 plugin */
    BUILD_CGROUP_NONE,   /* slurmd may not touch them */
    BUILD_CGROUP_AUTO,   /* each slurmd looks by itself: nodes may differ */
};

struct build_env {
    uint32_t release; /* of Slurm, where a Controller does not name one; 0: the newest */
    enum build_cgroup cgroup;
    int64_t slurm_uid; /* of the user slurm in the images; 0: 401 */
    int64_t slurm_gid;
    bool munge;          /* where a Controller does not say: munge, though Slurm has auth/slurm */
    bool host_slurm;     /* pods run the machine's Slurm, whatever their images are called */
    bool no_http;        /* Slurm's daemons do not answer HTTP, though the release could */
    bool no_agent;       /* slurmctld is not looked after by slurmkeeper-agent, but by a script */
    bool no_sidecars;    /* Kubernetes before 1.29: init containers cannot stay */
    bool policy_v1beta1; /* Kubernetes before 1.21: PodDisruptionBudget of v1beta1 */
    const char *cluster_domain;  /* NULL: cluster.local */
    const char *node_conditions; /* of Kubernetes nodes, that drain the Slurm nodes there: with
                                    commas between; NULL: none */
    const char *images;          /* prefix of default images; NULL: "slurmkeeper/" */
};
