/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurmkeeper-agent in slurmctld's pod. */
#pragma once

#include "src/api/problems.h"
#include "src/build/cluster.h"
#include "src/build/tree.h"

/* The files as slurmctld reads them; the declared ones are in "slurm-etc". */
#define AGENT_LIVE_VOLUME "slurm-live"

/* What the pod needs for it; NULL where there is no agent. */
struct jsn *agent_live_volume(struct arena *a, const struct build_cluster *c);
struct jsn *agent_key_volume(struct arena *a, const struct build_cluster *c);

/* The container `reconfigure`, the Controller's settings laid over it.  `munge` is the mount of
 * munge's socket, or NULL. */
struct jsn *agent_container(struct arena *a, const struct build_cluster *c, const struct jsn *munge,
                            struct api_problems *p);
/* A list with the one that fills the live files before anything starts. */
struct jsn *agent_init_containers(struct arena *a, const struct build_cluster *c);
