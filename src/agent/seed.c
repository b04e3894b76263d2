/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Seeding.
 *
 * slurmctld needs its files before the agent runs.
 *
 *   a pod whose containers were started again   has them; they may be newer than the mount, and
 * stay a new pod of a cluster that has run before  gets what slurmctld last served with (proven.c)
 *   the first pod                               gets what is mounted
 *
 * Keys always come from the mount: nobody else has them.
 */
#include "src/agent/seed.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#include "src/agent/proven.h"
#include "src/base/alloc.h"
#include "src/base/log.h"
#include "src/slurm/profile.h"

/* The release that a slurmctld says it is of; 0: there is none, or it does not say. */
static uint32_t release_of(const char *slurmctld)
{
    AUTO(free) char *program = xstrdup(slurmctld);
    char ask[] = "-V";
    char *const argv[] = {program, ask, NULL};
    posix_spawn_file_actions_t files;
    char said[256] = "";
    uint32_t release = 0;
    struct err e = {0};
    int pipes[2];
    pid_t pid = -1;
    ssize_t n = -1;

    if (!slurmctld[0] || pipe2(pipes, O_CLOEXEC) < 0)
        return 0;
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawn_file_actions_adddup2(&files, pipes[1], STDOUT_FILENO);
    if (posix_spawn(&pid, slurmctld, &files, NULL, argv, environ) != 0)
        pid = -1;
    (void)posix_spawn_file_actions_destroy(&files);
    (void)close(pipes[1]);
    if (pid > 0) {
        n = read(pipes[0], said, sizeof(said) - 1);
        (void)waitpid(pid, NULL, 0);
    }
    (void)close(pipes[0]);
    if (n <= 0 || release_parse(str_of(said), &release, &e) < 0)
        return 0;
    return release;
}

static int seed_mounted(struct store *s, struct fileset *declared, struct err *e)
{
    size_t changed = 0;

    fileset_open_modes(declared);
    return store_write(s, declared, &changed, e);
}

int seed_run(const struct agent_options *o, struct err *e)
{
    AUTO(store_free) struct store *s = NULL;
    AUTO(fileset_done) struct fileset declared = {0};
    AUTO(fileset_done) struct fileset there = {0};
    AUTO(fileset_done) struct fileset keys = {0};
    size_t changed = 0;
    int r = store_open(o->live, &s, e);

    if (r == 0)
        r = fileset_read(o->mount, &declared, e);
    if (r == 0)
        r = fileset_read(o->live, &there, e);
    if (r < 0)
        return r;
    fileset_split_keys(&declared, &keys);
    r = store_write_keys(s, &keys, &changed, e);
    if (r < 0)
        return r;
    if (fileset_get(&there, "slurm.conf")) {
        log_info("'%s' has a slurm.conf: left as it is", o->live);
        return 0;
    }
    if (o->proven[0]) {
        r = proven_restore(o->proven, s, release_of(o->slurmctld), e);
        if (r > 0)
            log_info("'%s' has the %zu files that slurmctld last served with", o->live,
                     store_good(s)->files.n);
        if (r != 0)
            return MIN(r, 0);
    }
    r = seed_mounted(s, &declared, e);
    if (r == 0)
        log_info("%zu files from '%s' to '%s'", declared.n, o->mount, o->live);
    return r;
}
