/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that are not our children: told apart from others that get the same number later. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "src/base/str.h"

/* When it started, in clock ticks since boot; 0: there is no such process. */
uint64_t process_start_time(pid_t pid);
/* Of this boot; borrowed. */
const char *process_boot_id(void);
/* A descriptor that is readable when the process has ended; -1 if it has, or is another one. */
int process_watch(pid_t pid, uint64_t start_time);
