/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that are not our children: told apart from others that get the same number later. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/buf.h"

#define PROCESS_BOOT_LEN 64

/* One process for ever: its number, when it started, and the boot it started in. */
struct process_id {
    pid_t pid;
    uint64_t start;              /* clock ticks since boot; 0: not known */
    char boot[PROCESS_BOOT_LEN]; /* empty: not known */
};

/* When it started, in clock ticks since boot; 0: there is no such process. */
uint64_t process_start_time(pid_t pid);
/* Of this boot; borrowed. */
const char *process_boot_id(void);
/* A descriptor that is readable when the process has ended; -1 if it has, or is another one. */
int process_watch(pid_t pid, uint64_t start_time);

/* The process that has this number now; all zero if there is none. */
struct process_id process_identify(pid_t pid);
/* Does that very process still run?  One of which the start is not known does not. */
bool process_runs(const struct process_id *id);
/* Send that very process a signal (0: none, only look).  -ESRCH if it has ended: whatever has its
 * number now gets nothing. */
int process_signal(const struct process_id *id, int signo) MUST_CHECK;
/* Its command line as people read it, cut at `max` bytes; "" where it cannot be seen. */
void process_command(pid_t pid, size_t max, struct buf *out);
