/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A rehearsal: does a slurmctld start on these files?  A scratch one tells. */
#pragma once

#include "src/agent/candidate.h"
#include "src/loop/loop.h"

struct rehearse_options {
    const char *slurmctld;                /* its program */
    const char *live;                     /* the directory with the keys */
    const struct host_set *dynamic_nodes; /* that the running slurmctld has; or NULL */
};

struct rehearsal;

/*
 * r is 0 when slurmctld got so far that it would serve; -EINVAL when it ended before, with what it
 * said; -ETIMEDOUT when it did neither in half a minute.
 */
typedef void (*rehearse_fn)(void *arg, int r, const struct err *e);

/* A table, so that a test can bring its own. */
struct rehearse_ops {
    /*
     * The scratch slurmctld has a network of its own where that is allowed, and ports that reach
     * nobody in any case; its own state directory; no programs of the site, no accounting.  Fails
     * if it cannot be started.  fn is called once, and the rehearsal is gone then.
     */
    int (*start)(struct loop *l, const struct rehearse_options *o, const struct candidate *c,
                 rehearse_fn fn, void *arg, struct rehearsal **ret, struct err *e);
    /* Give up; nobody is called. */
    struct rehearsal *(*stop)(struct rehearsal *r);
};
extern const struct rehearse_ops rehearse_slurmctld;

/* slurm.conf of the rehearsal; for tests. */
void rehearse_conf(const struct candidate *c, const char *dir, const char *host, unsigned port,
                   const struct host_set *dynamic_nodes, struct buf *out);

/* Of what a slurmctld said before it ended, the words that tell why; borrowed, nothing if it did
 * not say. */
struct str rehearse_why(struct str said) MUST_CHECK;
