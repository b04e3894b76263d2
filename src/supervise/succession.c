/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon as a row of processes.
 *
 * A reconfigure leaves another process, which the present one names just before it ends.  The name
 * comes by a socket and the end by a signal, so that either may be seen first: the end of the
 * present process counts only after the socket was read, and a process that ends before it was
 * named is remembered.
 */
#include "src/supervise/succession.h"

#include <stddef.h>
#include <sys/wait.h>

void succession_end(struct succession *s, pid_t pid, int status)
{
    if (pid == s->main) {
        s->ended = true;
        s->status = status;
        return;
    }
    s->ends[s->n_ends++ % SUCCESSION_ENDS_KEPT] = (struct succession_end){pid, status};
}

static const struct succession_end *end_of(const struct succession *s, pid_t pid)
{
    for (unsigned i = 0; i < SUCCESSION_ENDS_KEPT; i++)
        if (s->ends[i].pid == pid)
            return &s->ends[i];
    return NULL;
}

bool succession_knows(const struct succession *s, pid_t pid)
{
    return end_of(s, pid) != NULL;
}

void succession_take(struct succession *s, pid_t pid, bool alive)
{
    const struct succession_end *end = alive ? NULL : end_of(s, pid);

    if (pid == s->main)
        return;
    s->main = pid;
    s->ended = end != NULL;
    if (end)
        s->status = end->status;
}

int succession_status(const struct succession *s)
{
    return WIFSIGNALED(s->status) ? 128 + WTERMSIG(s->status) : WEXITSTATUS(s->status);
}
