/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which process is the daemon, and has it ended? */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define SUCCESSION_ENDS_KEPT 16

struct succession_end {
    pid_t pid;
    int status; /* as of waitpid */
};

struct succession {
    pid_t main; /* the present process */
    bool ended;
    int status;
    struct succession_end
        ends[SUCCESSION_ENDS_KEPT]; /* of others: one may be named after its end */
    unsigned n_ends;
};

/* A child has ended. */
void succession_end(struct succession *s, pid_t pid, int status);

/* The daemon says that it goes on as another process.  That may have ended meanwhile, unless it is
 * known to be alive, and so may the one before it. */
void succession_take(struct succession *s, pid_t pid, bool alive);

/* Has a process of this number ended that was not the daemon then? */
bool succession_knows(const struct succession *s, pid_t pid);

/* The status to exit with. */
int succession_status(const struct succession *s);
