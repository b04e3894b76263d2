/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paths of directories: what lies in what, and what a path leads through.
 *
 * realpath() tells where a path ends today.  Who could change that is another question: every link
 * on the way may be exchanged by whoever writes the directory in which the link lies.  So the way
 * is walked link by link, as the kernel does.
 */
#include "src/base/path.h"

#include <limits.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/str.h"

#define MAX_LINKS 40 /* as Linux has it */

static size_t without_slashes(const char *dir)
{
    size_t n = strlen(dir);

    while (n > 0 && dir[n - 1] == '/')
        n--;
    return n;
}

bool path_is_in(const char *path, const char *dir)
{
    size_t n = without_slashes(dir);

    return strncmp(path, dir, n) == 0 && (path[n] == '/' || !path[n]);
}

bool path_is_below(const char *path, const char *dir)
{
    size_t n = without_slashes(dir);

    return path_is_in(path, dir) && path[n + strspn(path + n, "/")];
}

char *path_real(const char *path)
{
    AUTO(free) char *begin = xstrdup(path);
    char *real = realpath(begin, NULL);
    char *slash;

    while (!real && (slash = strrchr(begin, '/')) && slash != begin) {
        *slash = '\0';
        real = realpath(begin, NULL);
    }
    if (real) {
        AUTO(free) char *top = real;

        return xasprintf("%s%s", streq(top, "/") ? "" : top, path + strlen(begin));
    }
    return xstrdup(path);
}

/* The first part of `path` that is a link: where its name ends, 0 if there is none. */
static size_t first_link(const char *path)
{
    for (size_t n = strspn(path, "/"); path[n]; n += strspn(path + n, "/")) {
        AUTO(free) char *part = NULL;
        struct stat st;

        n += strcspn(path + n, "/");
        part = str_dup((struct str){path, n});
        if (lstat(part, &st) < 0)
            return 0;
        if (S_ISLNK(st.st_mode))
            return n;
    }
    return 0;
}

/* The real path of the link itself, not of what it leads to; owned, NULL if it is gone. */
static char *place_of_link(const char *link)
{
    const char *name = strrchr(link, '/') + 1;
    AUTO(free) char *parent = str_dup((struct str){link, (size_t)(name - link)});
    AUTO(free) char *real = realpath(parent, NULL);

    return real ? xasprintf("%s/%s", streq(real, "/") ? "" : real, name) : NULL;
}

/* The path behind the link that lies at `place`; owned, NULL if it cannot be read. */
static char *follow(const char *place, const char *rest)
{
    char to[PATH_MAX];
    ssize_t n = readlink(place, to, sizeof(to) - 1);

    if (n <= 0)
        return NULL;
    to[n] = '\0';
    if (to[0] == '/')
        return xasprintf("%s%s", to, rest);
    return xasprintf("%.*s/%s%s", (int)(strrchr(place, '/') - place), place, to, rest);
}

/* Does the way to `path` touch what is below `dir`, a real path: by a link there, or by its end,
 * also one that is not there yet? */
static bool touches(const char *path, const char *dir)
{
    AUTO(free) char *at = xstrdup(path);

    for (int i = 0; at && i < MAX_LINKS; i++) {
        size_t n = first_link(at);
        AUTO(free) char *link = str_dup((struct str){at, n});
        AUTO(free) char *place = n ? place_of_link(link) : path_real(at);
        char *next;

        if (!place || path_is_below(place, dir) || n == 0)
            return place && path_is_below(place, dir);
        next = follow(place, at + n);
        free(at);
        at = next;
    }
    return true; /* more links than the kernel follows, or one that went away */
}

bool path_enters(const char *path, const char *dir)
{
    AUTO(free) char *top = realpath(dir, NULL);

    if (!top || path[0] != '/' || path_is_in(path, dir) || path_is_below(path, top))
        return false;
    return touches(path, top);
}
