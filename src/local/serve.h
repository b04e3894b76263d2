/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A whole cluster on this machine: API server, operator, node, and the means to reach it. */
#pragma once

#include "src/local/layout.h"
#include "src/loop/loop.h"

struct serve;

/* What a new cluster is given; one that was served before keeps what it has where a field is NULL
 * or empty.  Strings are borrowed during serve_new. */
struct serve_options {
    const char *state;
    const char *name;          /* of its bridge and control groups */
    const char *pod_cidr;      /* addresses of its pods */
    const char *const *shares; /* directories that all pods share with the machine: kept */
    const char *const *now;    /* more of them, until it ends */
    const char *slurm;         /* prefix of its Slurm: kept */
    const char *program;       /* slurmkeeper itself */
    bool no_agent;             /* slurmctld is reconfigured by a script that looks at its files */
};

/*
 * Starts everything and keeps it running: apiserver, then the definitions of our kinds, then
 * operator and node.  -EBUSY if the state directory is served already.
 */
int serve_new(struct loop *l, const struct serve_options *o, struct serve **ret_serve,
              struct err *e) MUST_CHECK;
/* Ends the processes, the API server last; the pods run on.  `ended` is called once. */
void serve_stop(struct serve *s, void (*ended)(void *arg), void *arg);
struct serve *serve_free(struct serve *s);
DEFINE_AUTO(struct serve, serve_free);
