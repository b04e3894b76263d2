/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logging to standard error: for whoever handles an error, once; libraries return it instead. */
#pragma once

#include "src/base/cleanup.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Lines above "info" are dropped, unless SLURMKEEPER_LOG in the environment names another level. */

/* The component name that stands in every line ("apiserver"); borrowed. */
void log_set_name(const char *name);

/* One line: time, level, component, text.  Line breaks in the text become blanks. */
void log_line(enum log_level level, const char *fmt, ...) PRINTF(2, 3);

#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...) log_line(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)
