/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which Slurm: one answer for everything that a cluster of this machine runs. */
#pragma once

#include "src/base/str.h"

/* A Slurm that is installed here.  {0} is none. */
struct install {
    char *prefix; /* "/usr", "/opt/slurm-26.05": daemons in sbin, commands in bin; owned */
    uint32_t release;
};

void install_done(struct install *i);
DEFINE_AUTO_DONE(struct install, install_done);

/* What decides, in this order. */
struct install_wish {
    const char *named; /* --slurm; or NULL */
    const char *kept;  /* what the cluster was brought up with; or NULL */
    const char *path;  /* PATH; or NULL */
};

/*
 * The directory itself, where a link leads to it; as it is where there is none.  Owned.  A link
 * like /opt/slurm that is turned to another Slurm would change a cluster pod by pod, out of Slurm's
 * order: so clusters keep what it led to when it was named.
 */
char *install_resolve(const char *prefix);

/*
 * Find it, with all programs that a cluster needs of it.  Everything is taken from one prefix:
 * daemons and commands of two Slurms do not speak to each other.  Fails with what is missing and
 * what to do.
 */
int install_find(const struct install_wish *wish, struct install *ret, struct err *e) MUST_CHECK;

/*
 * May a cluster whose state was written by one release go on with another?  Slurm reads the state
 * of its own series and of a few before it, and never of a later one.
 */
int install_check_step(uint32_t from, uint32_t to, struct err *e) MUST_CHECK;

/* Have this process, and whatever it starts, find the programs of that Slurm first. */
void install_use(const char *prefix);

/* A PATH in which the programs of that Slurm come first, in front of `path` (or NULL); owned. */
char *install_path(const char *prefix, const char *path);
