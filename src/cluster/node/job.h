/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work that would hold the loop up: in a child process, with an answer. */
#pragma once

#include "src/base/str.h"
#include "src/loop/loop.h"

struct job;

/* How it went, called exactly once unless cancelled; the job is gone.  `output` is what the program
 * wrote (stdout and stderr together), cut at max_output bytes.  status as waitpid gives it; -1: it
 * did not end in time and was killed. */
typedef void (*job_program_fn)(void *arg, int status, struct str output);

struct job_program {
    const char *const *argv; /* found by PATH */
    struct str input;        /* its standard input */
    int64_t timeout_ms;
    size_t max_output; /* 64 KiB */
    job_program_fn done;
    void *arg;
};

/* Everything is borrowed during the call.  A program that cannot be started ends with status 127.
 */
struct job *job_run(struct loop *l, const struct job_program *p);

/* Run `work` in a child of this process; `done` gets its result and its error. */
typedef int (*job_work_fn)(void *arg, struct err *e);
typedef void (*job_work_done_fn)(void *arg, int r, const struct err *e);
struct job *job_fork(struct loop *l, job_work_fn work, void *work_arg, job_work_done_fn done,
                     void *arg);

/* Kill it; nothing is called back.  NULL-safe. */
struct job *job_cancel(struct job *j);
