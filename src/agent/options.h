/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of slurmkeeper-agent. */
#pragma once

#include <stdbool.h>

#include "src/base/buf.h"

enum agent_mode { AGENT_RUN, AGENT_SEED, AGENT_HELP, AGENT_VERSION };

/* All strings are borrowed from argv or constants. */
struct agent_options {
    enum agent_mode mode;
    const char *live;      /* directory that slurmctld reads */
    const char *mount;     /* directory of the declared files as they are mounted */
    const char *proven;    /* directory of what outlives the pod; "" for none */
    const char *listen;    /* address:port of the HTTPS server; "" for none */
    const char *identity;  /* directory with tls.crt, tls.key and token */
    const char *socket;    /* Unix socket without TLS and token; NULL for none */
    const char *key_stage; /* file that tells which keys slurmctld has; "" for none */
    const char *marker;    /* file that has slurmctld started again; "" for none */
    const char *worker;    /* libslurm's program; NULL: the one that fits slurmctld */
    const char *slurmctld; /* NULL: the first of PATH; "" for none */
};

/* Fill with defaults and what is given.  -EINVAL with a sentence for what cannot be understood. */
int options_parse(int argc, char **argv, struct agent_options *ret, struct err *e) MUST_CHECK;
void options_help(struct buf *out);
