/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared directories, as mounts see them.
 *
 * Root in a pod writes shared directories as it likes.  It can move a directory in one away and put
 * a link to / in its place.  The runtime follows links in what it mounts: the next container would
 * have the machine's own root, writable.  So nothing in a share is mounted by its path:
 *
 * - a share in another share is seen through that one, and needs no mount;
 * - a hostPath volume in a share is found below the share by the kernel, as a subPath is;
 * - one that leads through a share by a link is not mounted at all.
 */
#include "src/cluster/node/runtime/shares.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/alloc.h"
#include "src/base/path.h"
#include "src/base/texts.h"

/* The length of `dir` without slashes at its end if `path` lies below it, else 0. */
static size_t below(const char *path, const char *dir)
{
    size_t n = strlen(dir);

    while (n > 0 && dir[n - 1] == '/')
        n--;
    return path_is_below(path, dir) ? n : 0;
}

static bool is_inner(const char *const *list, const char *path)
{
    for (const char *const *s = list; *s; s++)
        if (path_is_below(path, *s))
            return true;
    return false;
}

char **shares_outer(const char *const *list)
{
    char **all = texts_copy(list);
    size_t kept = 0;

    for (size_t i = 0; all[i]; i++) {
        char *s = all[i];

        if (is_inner(list, s))
            free(s);
        else
            all[kept++] = s;
    }
    all[kept] = NULL;
    return all;
}

size_t shares_above(char *const *shares, const char *path)
{
    size_t found = 0;

    for (char *const *s = shares; s && *s; s++) {
        AUTO(free) char *real = realpath(*s, NULL);
        size_t n = below(path, *s);

        if (n == 0 && real)
            n = below(path, real);
        if (n && (!found || n < found))
            found = n;
    }
    return found;
}

int shares_keep_out(char *const *shares, const char *path, struct err *e)
{
    for (char *const *s = shares; s && *s; s++)
        if (path_enters(path, *s))
            return err_bad(e,
                           "'%s' leads through '%s', which jobs may write, by a link: name it by "
                           "its path without links",
                           path, *s);
    return 0;
}
