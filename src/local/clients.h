/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine's own Slurm commands, made to work with the clusters that are declared here. */
#pragma once

#include "src/kube/client.h"
#include "src/local/layout.h"

struct clients;

/* In a Controller's directory while its commands cannot work here: a sentence that says why. */
#define CLIENTS_TROUBLE "signer.trouble"

struct clients_options {
    const char *name;        /* of the cluster on this machine.  Borrowed */
    uint32_t release;        /* of the machine's Slurm */
    const char *munge;       /* slurmkeeper-munge; NULL: it is not there.  Borrowed */
    const char *supervise;   /* slurmkeeper-supervise; NULL: it is not there.  Borrowed */
    const char *spank;       /* our plugin of Slurm's commands; NULL: there is none.  Borrowed */
    char *const *shares;     /* with pods; NULL-terminated, or NULL.  Borrowed */
    char *const *shares_now; /* likewise, until the cluster is taken down */
};

/*
 * From now on every Controller has a directory CLIENTS/NAMESPACE/NAME with a slurm.conf for
 * commands on this machine, kept in step with the cluster's, and a munged or sackd of its own.
 * Borrows client and layout.
 */
struct clients *clients_new(struct kube_client *c, const struct layout *l,
                            const struct clients_options *o);
/* The daemons end; the files stay. */
struct clients *clients_free(struct clients *c);
DEFINE_AUTO(struct clients, clients_free);
