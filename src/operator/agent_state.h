/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a Slurm cluster, kept up to date from an agent's answers. */
#pragma once

#include "src/json/jsn.h"
#include "src/plan/slurm_state.h"
#include "src/wire/outcome.h"

struct agent_state;

struct agent_state *agent_state_new(void);
struct agent_state *agent_state_free(struct agent_state *s);
DEFINE_AUTO(struct agent_state, agent_state_free);

/* What an answer has changed. */
struct agent_change {
    bool full;      /* anything may be different */
    bool slurmctld; /* it is up, or down, or of another release */
    bool drift;
    bool releases;                /* a node's slurmd is of another release of Slurm */
    bool config;                  /* what waits for jobs; how the configuration fares: agent_push */
    const struct map *held_lines; /* as in struct slurm_state */
    const char *const *nodes;     /* names of those that changed or are gone; in the arena given */
    size_t n_nodes;
    const char *const *partitions; /* whose settings, nodes or jobs changed; likewise */
    size_t n_partitions;
    const char *const *drifted; /* partitions that have drifted, or had; likewise */
    size_t n_drifted;
};

/*
 * Take in an answer of GET /v1/state: whole, or what changed since.  -EBADMSG if it is not one;
 * then nothing has changed, and the next question should be for the whole.
 */
int agent_state_update(struct agent_state *s, const struct jsn *answer, struct arena *a,
                       struct agent_change *ret, struct err *e) MUST_CHECK;

/* What to ask for changes since; "" before the first answer. */
const char *agent_state_version(const struct agent_state *s);
/* Another number after each start of the agent. */
const char *agent_state_boot(const struct agent_state *s);

/* The state, borrowed until the next update; its `applied` is left empty. */
const struct slurm_state *agent_state_view(const struct agent_state *s);

/* slurmctld answers its agent. */
bool agent_state_up(const struct agent_state *s);
/* "22.05.8", or NULL. */
const char *agent_state_release(const struct agent_state *s);
/* Of the keys that slurmctld has: "3-accept"; NULL: not known. */
const char *agent_state_key_stage(const struct agent_state *s);
/* Why slurmctld cannot be talked to, where the agent knows; or NULL. */
const char *agent_state_error(const struct agent_state *s);

/* What the agent says of the last declaration; without a result: nothing. */
const struct wire_outcome *agent_state_config(const struct agent_state *s);
