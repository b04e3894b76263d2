/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which directories of the machine pods see, and may write.
 *
 * What --share names is declared: it is kept with the cluster until --share names others.  Beside
 * that, for the convenience of who tries it out, come the users' homes, /srv and the directory that
 * `up` was started in, for as long as the cluster runs; the last is told, since nobody asked for
 * it.  root's home is never among them: it has keys of the machine.  Nor is one that the rules of
 * shares would refuse (local/share_rules.c).
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/path.h"
#include "src/cli/up.h"
#include "src/local/share_rules.h"

#define MAX_TOLD 160

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

/* Would it stand against the rules, with the state directory and what --share names? */
static bool is_refused(const struct cli_args *args, const char *state, const char *dir)
{
    const char *pair[] = {dir, NULL, NULL};
    size_t i = 0;

    do {
        pair[1] = cli_get_at(args, "share", i++);
        if (share_rules_check(state, (char *const *)(uintptr_t)pair, NULL) < 0)
            return true;
    } while (pair[1]);
    return false;
}

static bool may_share(const struct cli_args *args, const char *state, const char *dir)
{
    struct stat st;

    return stat(dir, &st) == 0 && S_ISDIR(st.st_mode) && !is_machines(dir) &&
           !is_refused(args, state, dir);
}

static const char *const usual[] = {"/home", "/srv"};

bool up_shares_here(const struct cli_args *args, const char *state, const char *here)
{
    if (!here || !may_share(args, state, here))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        if (path_is_in(here, usual[i]))
            return false;
    for (size_t i = 0; cli_get_at(args, "share", i); i++)
        if (path_is_in(here, cli_get_at(args, "share", i)))
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

size_t up_share_args(const struct cli_args *args, const char *state, const char *here,
                     const char **argv, size_t n, size_t max)
{
    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        if (may_share(args, state, usual[i]))
            n = add(argv, n, max, "--share-now", usual[i]);
    if (up_shares_here(args, state, here))
        n = add(argv, n, max, "--share-now", here);
    for (size_t i = 0; cli_get_at(args, "share", i); i++)
        n = add(argv, n, max, "--share", cli_get_at(args, "share", i));
    return n;
}

/* One that lies where jobs write is theirs to exchange. */
static void tell_program(const struct cli_args *args, const char *state, const char *here,
                         const char *what, const char *path)
{
    const char *argv[MAX_TOLD + 1] = {NULL};
    char *shares[MAX_TOLD / 2 + 1] = {NULL};
    size_t n = up_share_args(args, state, here, argv, 0, MAX_TOLD);
    const char *share;

    for (size_t i = 0; i + 1 < n; i += 2)
        shares[i / 2] = (char *)(uintptr_t)argv[i + 1];
    share = path ? share_rules_program(path, shares) : NULL;
    if (share)
        (void)cli_failure("up: %s lies in '%s', which jobs may write: a job as root could exchange "
                          "programs that root runs here; install it elsewhere before others use "
                          "this cluster",
                          what, share);
}

void up_share_tell(const struct cli_args *args, const char *state, const char *slurm)
{
    char here[PATH_MAX];
    const char *at = getcwd(here, sizeof(here));

    tell_program(args, state, at, "slurmkeeper", "/proc/self/exe");
    tell_program(args, state, at, "Slurm", slurm);
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
