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

#include "src/base/alloc.h"

#ifndef SLURMKEEPER_LIBEXEC_DIR
#define SLURMKEEPER_LIBEXEC_DIR "/usr/local/libexec/slurmkeeper"
#endif
#ifndef SLURMKEEPER_SOURCE_DIR
#define SLURMKEEPER_SOURCE_DIR ""
#endif

/* A program in the usual places; owned, or NULL. */
static char *find_in_path(const char *name)
{
    static const char *const dirs[] = {"/usr/sbin",      "/usr/bin", "/usr/local/sbin",
                                       "/usr/local/bin", "/sbin",    "/bin"};

    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        char *path = xasprintf("%s/%s", dirs[i], name);

        if (access(path, X_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

static int find_runtime(struct node *n, struct err *e)
{
    const char *named = getenv("SLURMKEEPER_RUNTIME");

    if (named && named[0]) {
        n->runtime = xstrdup(named);
        return 0;
    }
    n->runtime = find_in_path("runc");
    if (!n->runtime && !cgroup_is_hybrid(n->cgroups))
        n->runtime = find_in_path("crun");
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

int programs_rootfs(struct node *n, const char *const *shares, struct err *e)
{
    AUTO(free) char *entrypoints = find_entrypoints();
    char *programs[] = {find_own("cli", "slurmkeeper"), find_own("agent", "slurmkeeper-agent"),
                        find_own("agent/worker", "slurmkeeper-agent-worker"),
                        find_own("supervise", "slurmkeeper-supervise")};
    const char *found[ARRAY_LEN(programs) + 1] = {NULL};
    struct rootfs_options o = {.state_dir = n->state_dir,
                               .node_dir = n->dir,
                               .entrypoint_dir = entrypoints,
                               .programs = found,
                               .shares = shares};
    size_t count = 0;
    int r;

    for (size_t i = 0; i < ARRAY_LEN(programs); i++)
        if (programs[i])
            found[count++] = programs[i];
    r = rootfs_new(&o, &n->rootfs, e);
    for (size_t i = 0; i < ARRAY_LEN(programs); i++)
        free(programs[i]);
    return r;
}
