/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where programs are.
 *
 * Everybody who needs a program of the machine asks here, so that all of them find the same one.
 */
#include "src/base/which.h"

#include <sys/stat.h>
#include <unistd.h>

#include "src/base/alloc.h"
#include "src/base/str.h"

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static char *in_directory(struct str dir, const char *name)
{
    AUTO(free) char *path = xasprintf(STR_FMT "/%s", STR_ARG(dir), name);

    return is_program(path) ? TAKE(path) : NULL;
}

/* "/x/bin" -> "/x/sbin" */
static char *beside(struct str dir, const char *name)
{
    AUTO(free) char *sbin = NULL;

    if (!str_ends(dir, "/bin"))
        return NULL;
    sbin = xasprintf("%.*s/sbin", (int)(dir.n - strlen("/bin")), dir.p);
    return in_directory(str_of(sbin), name);
}

static char *in_list(const char *list, const char *name)
{
    struct str rest = str_of(list);
    struct str dir;
    char *found = NULL;

    while (!found && str_split(&rest, ':', &dir)) {
        while (dir.n > 1 && dir.p[dir.n - 1] == '/')
            dir.n--;
        if (dir.n == 0 || dir.p[0] != '/')
            continue;
        found = in_directory(dir, name);
        if (!found)
            found = beside(dir, name);
    }
    return found;
}

char *which_program(const char *name, const char *path)
{
    char *found = path ? in_list(path, name) : NULL;

    return found ? found : in_list(WHICH_USUAL, name);
}

char *which_prefix(const char *program)
{
    AUTO(free) char *path = xstrdup(program);

    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(path, '/');

        if (slash)
            *slash = '\0';
    }
    return path[0] ? TAKE(path) : xstrdup("/usr");
}
