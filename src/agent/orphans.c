/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes whose parents have ended before them.
 *
 * The agent is the first process of its container, and inherits what others leave: a slurmctld of a
 * rehearsal leaves its slurmscriptd.  Nobody waits for those, and each would keep its place in the
 * table of processes for good.
 *
 * Children of our own are reaped by the loop as soon as they end.  So one that has ended and is
 * still there at the next call is nobody's, and is reaped here.
 */
#include "src/agent/orphans.h"

#include <sys/wait.h>

/* Any child that has ended, which stays as it is; 0: none. */
static pid_t find_ended(void)
{
    siginfo_t info = {0};

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 ? info.si_pid : 0;
}

void orphans_reap(struct orphans *o)
{
    pid_t pid = find_ended();

    if (pid > 0 && pid == o->seen) {
        (void)waitpid(pid, NULL, WNOHANG);
        pid = find_ended();
    }
    o->seen = pid;
}
