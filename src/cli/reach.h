/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cluster of this machine that a command line means, and its Slurm clusters. */
#pragma once

#include "src/cli/cli.h"
#include "src/local/layout.h"

/* --state, else SLURMKEEPER_STATE, else the usual one.  Borrowed. */
const char *reach_state(const struct cli_args *args);
/* Say for a verb that nobody serves the cluster, and what to do; returns the exit status. */
int reach_not_served(const char *verb, const struct cli_args *args, const struct layout *l);
/* Say for a verb that it failed; where the files are root's and somebody else asks, what to do.
 * Returns the exit status. */
int reach_failure(const char *verb, const struct layout *l, const struct err *e);

/* Have this process find the commands of the cluster's Slurm first. */
void reach_use_slurm(const struct layout *l);

struct arena;

/* The API server that --kubeconfig names, or the environment; or else that of the machine's
 * cluster. NULL: as ask_new finds it.  In `a`. */
const char *reach_kubeconfig(const struct cli_args *args, struct arena *a);

/* A Controller whose commands work here. */
struct reach_client {
    char *ns;
    char *name;
    char *conf; /* its slurm.conf */
    char *sack; /* the socket of its sackd; NULL: commands find it, or need none */
};

/* What a command of its Slurm prints; as command_output. */
int reach_command(const struct reach_client *c, const char *const *argv, int64_t timeout_ms,
                  char **ret_text, struct err *e) MUST_CHECK;

struct reach_clients {
    struct reach_client *items; /* by namespace and name */
    size_t n;
};

void reach_list(const struct layout *l, struct reach_clients *ret);
void reach_clients_done(struct reach_clients *c);
DEFINE_AUTO_DONE(struct reach_clients, reach_clients_done);

/*
 * The one that `wish` ("name", "namespace/name", or NULL where there is one alone) means; borrowed
 * from the list.  NULL with `e` set, which names those that there are.
 */
const struct reach_client *reach_pick(const struct reach_clients *c, const char *wish,
                                      struct err *e);
