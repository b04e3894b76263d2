/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Slurm beside which the agent runs: its slurmctld, and the child that speaks with it. */
#pragma once

#include "src/agent/options.h"

struct installed {
    char *slurmctld;    /* NULL: there is none here */
    uint32_t release;   /* of it; 0: not known */
    char *worker;       /* program for libslurm's calls */
    char *library_path; /* where its libslurm is; NULL: where the worker was built for */
};

/* What the options name, and what is found for the rest; asks slurmctld for its release. */
void installed_find(const struct agent_options *o, struct installed *ret);
void installed_done(struct installed *i);
DEFINE_AUTO_DONE(struct installed, installed_done);

/*
 * The worker for a release in these directories (NULL-terminated): the one of its own series, else
 * of the next older one that such a slurmctld answers, else the one without a release in its name.
 * Owned; NULL: there is none.
 */
char *installed_worker(const char *const *dirs, uint32_t release);
