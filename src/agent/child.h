/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One libslurm child process: started, spoken with in frames, killed, reaped. */
#pragma once

#include "src/base/buf.h"
#include "src/base/list.h"
#include "src/loop/loop.h"

struct agent_child;

struct child_events {
    /* A whole frame came; borrowed until return. */
    void (*on_frame)(void *arg, struct str body);
    /*
     * It has ended (-EPIPE), or talks nonsense and was killed (-EBADMSG): the sentence in `e` says
     * how, with the last lines of its standard error.  Nothing is called after this, and the child
     * is not the owner's any more.
     */
    void (*on_end)(void *arg, int r, const struct err *e);
};

/*
 * Start a program; argv and envp end in NULL.  Its standard input is the socket, its standard error
 * is kept for the sentences, and it dies with this process.  The child joins `family`, the list of
 * all that have not been reaped.  *ret_child is the caller's until child_abandon or on_end.
 */
int child_start(struct loop *l, struct list *family, char *const argv[], char *const envp[],
                const struct child_events *events, void *arg, struct agent_child **ret_child,
                struct err *e) MUST_CHECK;

/* Send a frame; what does not fit into the socket now goes later. */
void child_send(struct agent_child *c, struct str body);

/* Nobody is called back any more; the child is killed and goes away by itself. */
void child_abandon(struct agent_child *c);

/* Ask it to leave by closing its socket; killed if it has not left soon.  Otherwise as above. */
void child_dismiss(struct agent_child *c);

/* Kill all that are left of a family, and wait for their end. */
void child_family_end(struct list *family);

/* The end of what it wrote to standard error since child_forget_said, on one line, at most
 * max_bytes of it; "" if nothing.  Borrowed until the next call. */
const char *child_said(struct agent_child *c, size_t max_bytes);
void child_forget_said(struct agent_child *c);
