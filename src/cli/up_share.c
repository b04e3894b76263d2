/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which directories of the machine pods see, and may write.
 *
 * What --share names is declared: it is kept with the cluster until --share names others.  Beside
 * that, for the convenience of who tries it out, come the users' homes, /srv and the directory that
 * `up` was started in, for as long as the cluster runs; the last is told, since nobody asked for
 * it. root's home is never among them: it has keys of the machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/cli/up.h"

/* Does it belong to the machine itself?  Then it is not shared unless somebody says so. */
static bool is_machines(const char *dir)
{
    static const char *const own[] = {"/root", "/usr", "/etc",  "/var", "/run", "/tmp", "/proc",
                                      "/sys",  "/dev", "/boot", "/bin", "/lib", "/sbin"};

    if (streq(dir, "/"))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (starts_with(dir, own[i]) && strchr("/", dir[strlen(own[i])]))
            return true;
    return false;
}

static bool may_share(const char *dir)
{
    struct stat st;

    return stat(dir, &st) == 0 && S_ISDIR(st.st_mode) && !is_machines(dir);
}

static bool is_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);

    return strncmp(path, dir, n) == 0 && (path[n] == '/' || !path[n]);
}

static const char *const usual[] = {"/home", "/srv"};

bool up_shares_here(const struct cli_args *args, const char *here)
{
    if (!here || !may_share(here))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        if (is_below(here, usual[i]))
            return false;
    for (size_t i = 0; cli_get_at(args, "share", i); i++)
        if (is_below(here, cli_get_at(args, "share", i)))
            return false;
    return true;
}

static size_t add(const char **argv, size_t n, size_t max, const char *option, const char *dir)
{
    if (n + 2 > max)
        return n;
    argv[n] = option;
    argv[n + 1] = dir;
    return n + 2;
}

size_t up_share_args(const struct cli_args *args, const char *here, const char **argv, size_t n,
                     size_t max)
{
    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        if (may_share(usual[i]))
            n = add(argv, n, max, "--share-now", usual[i]);
    if (up_shares_here(args, here))
        n = add(argv, n, max, "--share-now", here);
    for (size_t i = 0; cli_get_at(args, "share", i); i++)
        n = add(argv, n, max, "--share", cli_get_at(args, "share", i));
    return n;
}

static int check_link(const char *dir, const char *outer, struct err *e)
{
    AUTO(free) char *real = realpath(dir, NULL);
    AUTO(free) char *top = realpath(outer, NULL);

    if (streq(dir, outer) || !is_below(dir, outer) || !real || !top || is_below(real, top))
        return 0;
    return err_bad(e,
                   "--share '%s' lies in '%s', which jobs may write, and leads out of it: name "
                   "'%s' instead",
                   dir, outer, real);
}

int up_share_links(const struct cli_args *args, struct err *e)
{
    int r = 0;

    for (size_t i = 0; r == 0 && cli_get_at(args, "share", i); i++) {
        const char *dir = cli_get_at(args, "share", i);

        for (size_t k = 0; r == 0 && k < ARRAY_LEN(usual); k++)
            r = check_link(dir, usual[k], e);
        for (size_t k = 0; r == 0 && cli_get_at(args, "share", k); k++)
            r = check_link(dir, cli_get_at(args, "share", k), e);
    }
    return r;
}

int up_share_check(const struct cli_args *args, const struct choices *c, struct err *e)
{
    for (size_t i = 0; cli_get_at(args, "share", i); i++) {
        const char *dir = cli_get_at(args, "share", i);
        bool known = false;

        for (char **s = c->shares; s && *s; s++)
            known = known || streq(*s, dir);
        if (!known)
            return err_bad(e,
                           "the cluster runs and does not share '%s': take it down first "
                           "('slurmkeeper down'), then bring it up with --share",
                           dir);
    }
    return 0;
}
