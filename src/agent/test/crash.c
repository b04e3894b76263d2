/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Crash points that crash.
 *
 * SLURMKEEPER_CRASH_FILE names a file with a number: the process kills itself, as kill -9 does, at
 * that crash point, counted from 1 since the file is there; it removes the file first, so that the
 * next process lives.  The points that are passed meanwhile stand in SLURMKEEPER_CRASH_LOG.
 */
#include "src/agent/crash.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>

#include "src/base/file.h"

static void tell(const char *name, unsigned count)
{
    const char *path = getenv("SLURMKEEPER_CRASH_LOG");
    FILE *f = path ? fopen(path, "ae") : NULL;

    if (!f)
        return;
    (void)fprintf(f, "%u %s\n", count, name);
    (void)fclose(f);
}

void crash_point(const char *name)
{
    static unsigned count;
    const char *path = getenv("SLURMKEEPER_CRASH_FILE");
    AUTO(free) char *text = NULL;
    uint32_t wanted;
    size_t n;

    if (!path || file_read(path, 64, &text, &n, NULL) < 0) {
        count = 0;
        return;
    }
    tell(name, ++count);
    if (str_to_u32(str_trim((struct str){text, n}), &wanted) == 0 && wanted == count) {
        (void)unlink(path);
        (void)kill(getpid(), SIGKILL);
    }
}
