/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sackd: what signs the requests of the machine's own Slurm commands where the cluster has
 * auth/slurm. */
#pragma once

#include "src/base/arena.h"
#include "src/local/daemon.h"

struct sack_options {
    const char *supervise; /* our program that keeps a daemon of Slurm in the foreground */
    uint32_t release;      /* of the machine's Slurm */
    const char *cluster;   /* its name in Slurm */
    const char *own;       /* name of a directory in /run that nobody else has */
    const char *conf;      /* slurm.conf; the key lies beside it */
    const char *name;      /* for messages */
    const char *log;
};

/*
 * Start one, kept running.  If somebody else's answers where commands look by themselves, it has
 * its socket elsewhere: *ret_socket is that path, in the arena, and commands need it as
 * SLURM_SACK_SOCKET; NULL: they find it.  -EBUSY before Slurm 25.05, where there is room for one on
 * a machine.
 */
int sack_start(struct loop *l, struct arena *a, const struct sack_options *o, struct daemon **ret,
               const char **ret_socket, struct err *e) MUST_CHECK;
