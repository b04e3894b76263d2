/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of a running Slurm cluster.  A plan without it (NULL) knows nothing. */
#pragma once

#include "src/slurm/nodestate.h"

struct slurm_node {
    const char *name;
    uint32_t state; /* base and flags, as slurm/nodestate.h reads them */
    const char *reason;
    bool jobs_known;
    unsigned jobs; /* running, suspended or completing on it */
};

/* All nodes that slurmctld has, by name (strcmp). */
struct slurm_state {
    const struct slurm_node *nodes;
    size_t n;
};

/* NULL: it has no such node, or `s` is NULL. */
const struct slurm_node *slurm_state_node(const struct slurm_state *s, const char *name);

/*
 * Is it certain that no job runs on the node, and that none can start?  Only of a node that is
 * drained and has no jobs.  Without a state, or of a node that Slurm does not have: never.
 */
bool slurm_state_is_free(const struct slurm_state *s, const char *name);

/* Does nothing run on it at this moment?  Not knowing is a no. */
bool slurm_state_is_idle(const struct slurm_state *s, const char *name);
