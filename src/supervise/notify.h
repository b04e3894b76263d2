/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The socket on which a daemon tells its service manager who it is (sd_notify). */
#pragma once

#include <sys/types.h>

#include "src/base/str.h"

struct notify {
    int fd;
    char *dir;  /* nobody else's */
    char *path; /* for NOTIFY_SOCKET */
};

/* Make it, below /run or where temporary files go. */
int notify_open(struct notify *n, struct err *e) MUST_CHECK;
/* Take it away again; safe on one that was never opened. */
void notify_done(struct notify *n);

/* The next process that is named on it, by the same user or root; 0 when nothing is left to read.
 */
pid_t notify_read(struct notify *n);

/* The process in a message such as "READY=1\nMAINPID=12"; 0: it names none. */
pid_t notify_main_pid(struct str message);
