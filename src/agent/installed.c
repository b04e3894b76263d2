/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which Slurm the agent has to do with.
 *
 * The first slurmctld of PATH is the one that runs here: in a pod of the embedded node PATH begins
 * with the prefix of the cluster's Slurm, in an image there is only one.  It tells its release, and
 * that decides which of the workers is started: each is built for one libslurm, and slurmctld
 * answers those of its own series and of a few before it.  A worker takes the libslurm of
 * slurmctld's own prefix, where that is not the system's; plugins must be of the same series.
 */
#include "src/agent/installed.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/which.h"
#include "src/slurm/profile.h"

#define WORKER "slurmkeeper-agent-worker"

/* The release that a slurmctld says it is of; 0: it does not say. */
static uint32_t release_of(const char *slurmctld)
{
    AUTO(free) char *program = xstrdup(slurmctld);
    char ask[] = "-V";
    char *const argv[] = {program, ask, NULL};
    posix_spawn_file_actions_t files;
    char said[256] = "";
    uint32_t release = 0;
    int pipes[2];
    pid_t pid = -1;
    ssize_t n = -1;

    if (pipe2(pipes, O_CLOEXEC) < 0)
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
    if (n <= 0 || release_parse(str_of(said), &release, NULL) < 0)
        return 0;
    return release;
}

static char *find_in(const char *const *dirs, const char *name)
{
    for (; *dirs; dirs++) {
        AUTO(free) char *path = xasprintf("%s/%s", *dirs, name);

        if (access(path, X_OK) == 0)
            return TAKE(path);
    }
    return NULL;
}

char *installed_worker(const char *const *dirs, uint32_t release)
{
    char *found = NULL;

    for (const uint32_t *series = profile_series; *series && release && !found; series++) {
        AUTO(free) char *name = NULL;
        char text[RELEASE_TEXT_LEN];

        if (!profile_client_accepted(release, *series))
            continue;
        release_series_text(*series, text);
        name = xasprintf(WORKER "-%s", text);
        found = find_in(dirs, name);
    }
    return found ? found : find_in(dirs, WORKER);
}

/* Beside this very program, or where the build has it. */
static char *worker_path(uint32_t release)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    AUTO(free) char *built = NULL;
    char *slash;
    char *found;

    self[n > 0 ? n : 0] = '\0';
    slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    built = xasprintf("%s/worker", self);
    found = installed_worker((const char *const[]){self, built, NULL}, release);
    return found ? found : xasprintf("%s/" WORKER, self);
}

static char *library_path(const char *slurmctld)
{
    AUTO(free) char *prefix = which_prefix(slurmctld);

    if (streq(prefix, "/usr"))
        return NULL;
    return xasprintf("%s/lib:%s/lib64", prefix, prefix);
}

void installed_find(const struct agent_options *o, struct installed *ret)
{
    *ret = (struct installed){0};
    if (!o->slurmctld)
        ret->slurmctld = which_program("slurmctld", getenv("PATH"));
    else if (access(o->slurmctld, X_OK) == 0)
        ret->slurmctld = xstrdup(o->slurmctld);
    if (ret->slurmctld) {
        ret->release = release_of(ret->slurmctld);
        ret->library_path = library_path(ret->slurmctld);
    }
    ret->worker = o->worker ? xstrdup(o->worker) : worker_path(ret->release);
}

void installed_done(struct installed *i)
{
    free(i->slurmctld);
    free(i->worker);
    free(i->library_path);
    *i = (struct installed){0};
}
