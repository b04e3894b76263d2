/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which Slurm.
 *
 * A machine may have several: Debian's in /usr, others in /opt or /usr/local.  A cluster has one of
 * them: the one that --slurm names, else the one that it was brought up with, else the first
 * slurmctld of PATH.  The answer is kept with the cluster, and everything of it goes by that:
 * pods, rehearsals, the agent's child, the machine's own commands, `env` and `status`.
 */
#include "src/local/install.h"

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/which.h"
#include "src/local/command.h"
#include "src/slurm/upgrade.h"

#define VERSION_MS 5000

static const struct {
    const char *directory;
    const char *program;
    const char *package;
} needed[] = {
    {"sbin", "slurmctld", "slurmctld"},
    {"sbin", "slurmd", "slurmd"},
    {"bin", "sinfo", "slurm-client"},
};

void install_done(struct install *i)
{
    free(i->prefix);
    *i = (struct install){0};
}

static bool has(const char *prefix, const char *directory, const char *program)
{
    AUTO(free) char *path = xasprintf("%s/%s/%s", prefix, directory, program);

    return access(path, X_OK) == 0;
}

/* What every cluster needs; sackd is looked for where auth/slurm is declared (sack.c). */
static int check_programs(const char *prefix, struct err *e)
{
    AUTO(buf_done) struct buf programs = {0};
    AUTO(buf_done) struct buf packages = {0};

    for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
        if (has(prefix, needed[i].directory, needed[i].program))
            continue;
        buf_printf(&programs, "%s%s/%s", programs.n ? ", " : "", needed[i].directory,
                   needed[i].program);
        buf_printf(&packages, " %s", needed[i].package);
    }
    if (programs.n == 0)
        return 0;
    if (streq(prefix, "/usr"))
        return err_set(e, -ENOENT, ERR_PERMANENT,
                       "this machine lacks what a cluster runs: apt-get install "
                       "--no-install-recommends%s",
                       buf_str(&packages));
    return err_set(e, -ENOENT, ERR_PERMANENT,
                   "the Slurm in '%s' lacks %s; --slurm names the prefix of one that is whole",
                   prefix, buf_str(&programs));
}

static int ask_release(const char *prefix, uint32_t *ret, struct err *e)
{
    AUTO(free) char *program = xasprintf("%s/sbin/slurmctld", prefix);
    AUTO(free) char *version = NULL;
    int r =
        command_output((const char *const[]){program, "-V", NULL}, NULL, VERSION_MS, &version, e);

    return r < 0 ? r : release_parse(str_trim(str_of(version)), ret, e);
}

/* A prefix as it is kept: absolute, and without slashes at its end. */
static int clean(const char *named, char **ret, struct err *e)
{
    struct str s = str_of(named);

    while (s.n > 1 && s.p[s.n - 1] == '/')
        s.n--;
    if (s.n < 2 || s.p[0] != '/' || strpbrk(named, ":\n'\""))
        return err_bad(e, "--slurm: '%s' is not the absolute path of a prefix", named);
    *ret = str_dup(s);
    return 0;
}

char *install_resolve(const char *prefix)
{
    char *path = realpath(prefix, NULL);

    return path ? path : xstrdup(prefix);
}

static int choose(const struct install_wish *wish, char **ret, struct err *e)
{
    AUTO(free) char *program = NULL;
    AUTO(free) char *prefix = NULL;
    int r;

    if (wish->named) {
        r = clean(wish->named, &prefix, e);
        if (r == 0)
            *ret = install_resolve(prefix);
        return r;
    }
    if (wish->kept) {
        if (!has(wish->kept, "sbin", "slurmctld"))
            return err_set(e, -ENOENT, ERR_PERMANENT,
                           "the cluster was brought up with the Slurm in '%s', which is not there "
                           "any more; --slurm PREFIX names another",
                           wish->kept);
        *ret = xstrdup(wish->kept);
        return 0;
    }
    program = which_program("slurmctld", wish->path);
    prefix = program ? which_prefix(program) : xstrdup("/usr");
    *ret = install_resolve(prefix);
    return 0;
}

int install_find(const struct install_wish *wish, struct install *ret, struct err *e)
{
    AUTO(install_done) struct install i = {0};
    int r = choose(wish, &i.prefix, e);

    if (r == 0)
        r = check_programs(i.prefix, e);
    if (r == 0)
        r = ask_release(i.prefix, &i.release, e);
    if (r < 0)
        return r;
    *ret = i;
    i = (struct install){0};
    return 0;
}

int install_check_step(uint32_t from, uint32_t to, struct err *e)
{
    int r = from ? upgrade_check_step(from, to, e) : 0;

    return r < 0 ? err_wrap(e, r, "the state of this cluster was written by another release") : 0;
}

char *install_path(const char *prefix, const char *path)
{
    return xasprintf("%s/sbin:%s/bin:%s", prefix, prefix, path && path[0] ? path : WHICH_USUAL);
}

void install_use(const char *prefix)
{
    AUTO(free) char *path = install_path(prefix, getenv("PATH"));

    (void)setenv("PATH", path, 1);
}
