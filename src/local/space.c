/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Room on the disk that holds a cluster's state.
 *
 * A full disk cannot even take the log line that tells of it, so it is looked for before a cluster
 * is started, and when somebody asks what is wrong.  The state directory need not be there yet:
 * then the nearest directory above it counts.
 */
#include "src/local/space.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/statvfs.h>

#include "src/base/alloc.h"

/* Cut the last part off; false if nothing is left. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash || !path[1])
        return false;
    slash[slash == path] = '\0';
    return true;
}

int space_check(const char *path, int64_t wanted_bytes, struct err *e)
{
    AUTO(free) char *at = xstrdup(path);
    struct statvfs st;
    int64_t left;

    while (statvfs(at, &st) < 0)
        if (errno != ENOENT || !go_up(at))
            return 0;
    left = (int64_t)(st.f_bavail * st.f_frsize);
    if (left >= wanted_bytes)
        return 0;
    return err_set(
        e, -ENOSPC, ERR_RETRY,
        "the disk that holds '%s' is full: %lld KiB are left, %lld are needed; make room", path,
        (long long)(left >> 10), (long long)(wanted_bytes >> 10));
}
