/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A container under its shim: what run.c and runtime.c share. */
#pragma once

#include "src/cluster/node/shim/shim.h"

#define MAX_PROCS 32
#define MAX_INPUT ((size_t)1 << 20)

struct run {
    const char *runtime;
    const char *root;
    const char *id;
    const char *dir;
    const char *oom_file;
    const char *procs[MAX_PROCS];
    size_t n_procs;
    bool tty;
    bool stdin_open;
    bool stdin_once;
    bool open_limits;
    bool filtered; /* by shim_filter */

    int input_fd; /* of a terminal the same as output_fd */
    int output_fd;
    int error_fd;
    int signal_fd;
    struct buf input; /* what the container has not read yet */
    bool input_ends;
    struct shim_log log;
    struct shim_status status;
    struct shim_peers *peers;
};

/* Make and start the container; fills streams and status.  On failure status.error says why. */
int run_create(struct run *r) MUST_CHECK;
/* Kill what is left of it and have the runtime forget it. */
void run_delete(struct run *r);
