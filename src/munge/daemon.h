/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One munged with one key. */
#pragma once

#include <sys/types.h>

#include "src/base/buf.h"

/* {0}: none. */
struct munged {
    struct buf key; /* empty: none is wanted */
    char *dir;      /* its private files: key, seed, pid, log */
    char *socket;
    pid_t pid; /* 0: it does not run */
};

/* Write its files and start it.  `base` is a private directory, `socket` where it will listen. */
int munged_start(struct munged *m, const char *base, const char *socket, struct err *e) MUST_CHECK;

/* Start the one of before again, which has ended. */
int munged_again(struct munged *m, struct err *e) MUST_CHECK;

/* Does it take connections?  Waits for that for so long. */
bool munged_answers(const struct munged *m, int wait_ms);

/* End it and forget its key. */
void munged_end(struct munged *m);

/* Connect to a Unix socket, with a limit for each read and write.  A descriptor, or -errno. */
int munged_connect(const char *socket);
