/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether slurmctld has a partition as it is declared, be it a Partition's or a NodeSet's. */
#pragma once

#include "src/base/arena.h"
#include "src/plan/slurm_state.h"

/*
 * What slurmctld lacks of a partition as a line of its slurm.conf declares it, in words; NULL:
 * nothing.  What has drifted does not count.  Partitions have to be known.
 */
const char *partition_live_lag(struct arena *a, const struct slurm_state *s, const char *name,
                               const char *line);

/* A setting of the line that slurmctld does not show, so that only the agent's word tells whether
 * it has it; NULL: there is none. */
const char *partition_live_hidden(struct arena *a, const struct slurm_state *s, const char *name,
                                  const char *line);

/* "State is DRAIN, declared UP", of each setting that somebody changed in slurmctld; NULL: nobody
 * did. */
const char *partition_live_drift(struct arena *a, const struct slurm_state *s, const char *name);
