/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logging.
 *
 * A line is "2026-01-09T10:00:00.123456Z info apiserver: text", written with one write(2), so that
 * processes that share a file do not mix their lines.  Control characters are replaced: what comes
 * from outside cannot forge lines or drive a terminal.
 */
#include "src/base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "src/base/buf.h"
#include "src/base/clock.h"

#define LOG_LINE_MAX_BYTES 8192

static enum log_level max_level = LOG_LEVEL_INFO;
static bool level_set;
static const char *component = "slurmkeeper";

void log_set_name(const char *name)
{
    component = name;
}

static void level_from_environment(void)
{
    const char *text = getenv("SLURMKEEPER_LOG");

    level_set = true;
    if (streq(text, "debug"))
        max_level = LOG_LEVEL_DEBUG;
    else if (streq(text, "warn"))
        max_level = LOG_LEVEL_WARN;
    else if (streq(text, "error"))
        max_level = LOG_LEVEL_ERROR;
}

void log_line(enum log_level level, const char *fmt, ...)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    char line[LOG_LINE_MAX_BYTES];
    char when[CLOCK_RFC3339_LEN];
    va_list ap;
    size_t n;
    int r;

    if (!level_set)
        level_from_environment();
    if (level > max_level)
        return;
    clock_rfc3339_micro(clock_wall_us(), when);
    r = snprintf(line, sizeof(line), "%s %s %s: ", when, names[level], component);
    n = r < 0 ? 0 : (size_t)r;
    va_start(ap, fmt);
    r = vsnprintf(line + n, sizeof(line) - n, fmt, ap);
    va_end(ap);
    n = MIN(n + (r < 0 ? 0 : (size_t)r), sizeof(line) - 2);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7F)
            line[i] = ' ';
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, n) < 0)
        return; /* nowhere left to say so */
}
