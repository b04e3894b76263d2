/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cluster's slurm.conf, made fit for commands on a machine outside of its pods. */
#pragma once

#include "src/slurm/conf.h"

/* A dynamic node. */
struct client_node {
    const char *name;
    const char *address; /* where this machine reaches its slurmd */
};

struct client_place {
    const char *host;         /* slurmctld's name, as the cluster calls it */
    const char *address;      /* where this machine reaches it */
    const char *slurmdbd;     /* where this machine reaches it; NULL: at the name that it has */
    const char *munge_socket; /* NULL: the cluster does not use munge */
    struct client_node *nodes;
    size_t n_nodes;
};

/* Does the cluster's configuration (text of slurm.conf) authenticate by munge? */
bool client_conf_uses_munge(const struct conf *cluster);

/* The host that it reports to; NULL: it has no slurmdbd. */
const char *client_conf_slurmdbd(const struct conf *cluster);

/*
 * Print the client's file: settings and nodes as the cluster has them, the controller at its
 * address, so slurmdbd, munge by its socket.  Partitions are left out: commands ask slurmctld about
 * them.  The dynamic nodes, which no file of the cluster names, get a line each, sorted by name:
 * without one sattach, `scancel --signal` of a step and `srun --no-allocate` do not find a node
 * (Slurm before 23.02 at least).  Names and addresses that Slurm's file could not hold are left
 * out.
 */
void client_conf_print(const struct conf *cluster, struct client_place *p, struct buf *out);
