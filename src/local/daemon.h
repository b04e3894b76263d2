/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that is kept running: started again when it ends, with growing waits. */
#pragma once

#include "src/loop/loop.h"

struct daemon;

struct daemon_options {
    const char *name;        /* for messages and the log's name */
    const char *const *argv; /* NULL-terminated, the program first; copied */
    const char *log;         /* what it says goes to the end of this file; copied */
};

/* Starts at once.  It gets SIGTERM when this process dies. */
struct daemon *daemon_new(struct loop *l, const struct daemon_options *o);
/* Sends SIGTERM, and SIGKILL after grace_ms; `ended` is called once when it is gone. */
void daemon_stop(struct daemon *d, int64_t grace_ms, void (*ended)(void *arg), void *arg);
/* NULL-safe.  A process that still runs is killed. */
struct daemon *daemon_free(struct daemon *d);
DEFINE_AUTO(struct daemon, daemon_free);

/*
 * The last words, owned, and the name of a process of a cluster that ends as soon as it is started,
 * again and again; NULL if all are well.  Whoever keeps them running notes it beside their logs.
 */
char *daemon_ailing(const char *logs, const char **ret_name);
/* The last line of a log, without "slurmkeeper: NAME: "; owned, NULL if there is none. */
char *daemon_last_words(const char *log, const char *name);

/* The running process, 0 between two. */
pid_t daemon_pid(const struct daemon *d);
