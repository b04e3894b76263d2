/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where programs are.
 *
 * Ours are found beside the running one: installed (LIBEXEC/slurmkeeper) or in the tree they were
 * built in, so that nothing needs to be installed for trying it out.  The runtime is runc; crun
 * where runc is missing and the control groups are of one kind (crun 1.8 refuses a hybrid tree).
 * SLURMKEEPER_RUNTIME names another, SLURMKEEPER_ENTRYPOINTS another directory of start scripts.
 */
#include "src/cluster/node/runtime/programs.h"

#include <dirent.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/which.h"

#ifndef SLURMKEEPER_LIBEXEC_DIR
#define SLURMKEEPER_LIBEXEC_DIR "/usr/local/libexec/slurmkeeper"
#endif
#ifndef SLURMKEEPER_SOURCE_DIR
#define SLURMKEEPER_SOURCE_DIR ""
#endif

static int find_runtime(struct node *n, struct err *e)
{
    const char *named = getenv("SLURMKEEPER_RUNTIME");

    if (named && named[0]) {
        n->runtime = xstrdup(named);
        return 0;
    }
    n->runtime = which_program("runc", NULL);
    if (!n->runtime && !cgroup_is_hybrid(n->cgroups))
        n->runtime = which_program("crun", NULL);
    if (!n->runtime)
        return err_set(e, -ENOENT, ERR_PERMANENT,
                       "there is no container runtime: install the package runc");
    return 0;
}

/* The directory of the running program, owned. */
static char *own_dir(void)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    char *slash;

    if (n <= 0)
        return xstrdup("/nonexistent");
    path[n] = '\0';
    slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    return xstrdup(path);
}

/* Where a program of ours is: beside us, in the build tree, or installed; owned, or NULL. */
static char *find_own(const char *built, const char *name)
{
    AUTO(free) char *dir = own_dir();
    char *places[] = {xasprintf("%s/%s", dir, name), xasprintf("%s/../%s/%s", dir, built, name),
                      xasprintf("%s/../libexec/slurmkeeper/%s", dir, name),
                      xasprintf(SLURMKEEPER_LIBEXEC_DIR "/%s", name)};
    char *found = NULL;

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        if (!found && access(places[i], X_OK) == 0)
            found = realpath(places[i], NULL);
        free(places[i]);
    }
    return found;
}

int programs_find(struct node *n, struct err *e)
{
    int r = find_runtime(n, e);

    if (r < 0)
        return r;
    n->shim = find_own("cluster/node/shim", "slurmkeeper-shim");
    if (!n->shim)
        return err_set(e, -ENOENT, ERR_PERMANENT,
                       "slurmkeeper-shim is neither beside this program nor in '%s'",
                       SLURMKEEPER_LIBEXEC_DIR);
    return 0;
}

/* The start scripts: of the source tree while the program runs in its build tree. */
static char *find_entrypoints(void)
{
    AUTO(free) char *dir = own_dir();
    AUTO(free) char *installed = xasprintf("%s/../libexec/slurmkeeper/entrypoint", dir);
    const char *named = getenv("SLURMKEEPER_ENTRYPOINTS");
    const char *const places[] = {
        named ? named : "",
        ends_with(dir, "/src/cli") ? SLURMKEEPER_SOURCE_DIR "/images/entrypoint" : "", installed,
        SLURMKEEPER_LIBEXEC_DIR "/entrypoint"};

    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (places[i][0] && access(places[i], R_OK | X_OK) == 0)
            return realpath(places[i], NULL);
    return NULL;
}

#define MAX_PROGRAMS 32
#define WORKER "slurmkeeper-agent-worker"

/* The agent's children beside this one: there is one for each libslurm. */
static size_t find_workers(const char *worker, char **ret, size_t max)
{
    AUTO(free) char *dir = xstrdup(worker);
    struct dirent *entry;
    size_t n = 0;
    DIR *d;

    *strrchr(dir, '/') = '\0';
    d = opendir(dir);
    while (d && n < max && (entry = readdir(d))) {
        AUTO(free) char *path = xasprintf("%s/%s", dir, entry->d_name);
        struct stat st;

        if (starts_with(entry->d_name, WORKER "-") && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
            access(path, X_OK) == 0)
            ret[n++] = TAKE(path);
    }
    if (d)
        (void)closedir(d);
    return n;
}

static size_t find_programs(char **ret)
{
    char *worker = find_own("agent/worker", WORKER);
    char *own[] = {find_own("cli", "slurmkeeper"), find_own("agent", "slurmkeeper-agent"),
                   find_own("munge", "slurmkeeper-munge"),
                   find_own("supervise", "slurmkeeper-supervise"), worker};
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (own[i])
            ret[n++] = own[i];
    if (worker)
        n += find_workers(worker, ret + n, MAX_PROGRAMS - n);
    return n;
}

int programs_rootfs(struct node *n, const struct node_options *o, struct err *e)
{
    AUTO(free) char *entrypoints = find_entrypoints();
    char *programs[MAX_PROGRAMS + 1] = {NULL};
    size_t count = find_programs(programs);
    struct rootfs_options of = {.state_dir = n->state_dir,
                                .node_dir = n->dir,
                                .entrypoint_dir = entrypoints,
                                .programs = (const char *const *)programs,
                                .slurm = o->slurm,
                                .shares = o->shares};
    int r = rootfs_new(&of, &n->rootfs, e);

    for (size_t i = 0; i < count; i++)
        free(programs[i]);
    return r;
}
