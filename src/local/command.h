/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Run a program and wait for what it prints; for the command line, never on a loop. */
#pragma once

#include "src/base/str.h"

/*
 * `env` (NAME=value, NULL-terminated, or NULL) is added to ours.  *ret_output is what it printed,
 * owned.  Fails if it cannot be started, does not end in time (it is killed), or ends with another
 * status than 0; the error then carries the last line of its complaints.
 */
int command_output(const char *const *argv, const char *const *env, int64_t timeout_ms,
                   char **ret_output, struct err *e) MUST_CHECK;
