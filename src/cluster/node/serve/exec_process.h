/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Another command in a running container: what the runtime's exec is given. */
#pragma once

#include "src/cluster/node/pods/container.h"

/* The descriptor's number in the runtime's process, and the path by which it finds it. */
#define EXEC_PROCESS_FD 3
#define EXEC_PROCESS_PATH "/proc/self/fd/3"

/* The process as JSON, in memory: a descriptor, owned.  `command` is an array of strings. */
int exec_process_open(const struct container *c, const struct jsn *command, bool tty, int *ret_fd,
                      struct err *e) MUST_CHECK;

/* Does the runtime run under the shim's filter for it? */
bool exec_process_is_filtered(const struct container *c);

/* Kill the command that this runtime process runs, and that itself. */
void exec_process_kill(pid_t runtime);
