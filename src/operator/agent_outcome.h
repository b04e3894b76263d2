/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What became of a configuration that an agent was handed. */
#pragma once

#include "src/plan/slurm_state.h"
#include "src/wire/outcome.h"

/* {0}: there is none. */
struct agent_outcome {
    struct arena arena;
    struct slurm_applied applied; /* without a hash: none */
    char *tried;                  /* its slurm.conf, until slurmctld is known to have it */
    char *held;                   /* the one that slurmctld has */
    struct map lines;             /* its partitions, by name */
};

void agent_outcome_done(struct agent_outcome *p);

/* What became of the declaration of this name; takes its slurm.conf, `conf`, which may be NULL. */
void agent_outcome_take(struct agent_outcome *p, const char *hash, bool reverts, char *conf,
                        const struct wire_outcome *o);
/* What the agent says later of the same one.  Returns whether something has changed. */
bool agent_outcome_update(struct agent_outcome *p, const struct wire_outcome *o);
/* What was said counts no more. */
void agent_outcome_forget(struct agent_outcome *p);
