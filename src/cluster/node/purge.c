/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking everything down that a node process has made, also one that is long dead.
 *
 * Needs nothing but the state directory and the cluster's name: containers are those that the
 * runtime knows below its root; sandboxes, mounts, interfaces, rules and control groups have names
 * that are derived.  What the pods kept (claims, logs) stays, unless the caller removes the
 * directory.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/base/name_claim.h"
#include "src/cluster/node/network/redirect.h"
#include "src/cluster/node/network/sandbox.h"
#include "src/cluster/node/network/services.h"
#include "src/cluster/node/node_private.h"
#include "src/cluster/node/pods/ending.h"
#include "src/cluster/node/runtime/programs.h"
#include "src/cluster/node/volumes/volumes.h"

#define LOCK_WAIT_MS 10000

/* Calls fn with the path of each entry of a directory. */
static void each_entry(const char *dir, void (*fn)(void *arg, const char *path, const char *name),
                       void *arg)
{
    DIR *d = opendir(dir);
    struct dirent *entry;

    while (d && (entry = readdir(d))) {
        AUTO(free) char *path = xasprintf("%s/%s", dir, entry->d_name);

        if (entry->d_name[0] != '.')
            fn(arg, path, entry->d_name);
    }
    if (d)
        (void)closedir(d);
}

struct purge {
    const char *runtime;
    const char *runtime_root;
    int signal;
    size_t alive;
};

/* pods/UID/containers/NAME/NUMBER.  After a boot, or when its shim was killed, the number in the
 * file may be anybody's: only the process that was noted is signalled.  Whatever else is in the
 * cluster's control groups is killed at the end. */
static void signal_run(void *arg, const char *path, const char *name)
{
    struct purge *p = arg;
    struct process_id process;
    int64_t started;

    (void)name;
    if (ending_is_known(path) || ending_started(path, &process, &started) < 0)
        return;
    if (process_signal(&process, p->signal) == 0)
        p->alive++;
}
static void signal_container(void *arg, const char *path, const char *name)
{
    (void)name;
    each_entry(path, signal_run, arg);
}
static void signal_pod(void *arg, const char *path, const char *name)
{
    AUTO(free) char *dir = xasprintf("%s/containers", path);

    (void)name;
    each_entry(dir, signal_container, arg);
}

static size_t signal_all(const char *pods, int signo)
{
    struct purge p = {.signal = signo};

    each_entry(pods, signal_pod, &p);
    return p.alive;
}

bool node_pods_run(const char *state_dir)
{
    AUTO(free) char *pods = xasprintf("%s/node/pods", state_dir);

    return signal_all(pods, 0) > 0;
}

/* Ask containers to end; those that have not by then are killed. */
static void stop_containers(const char *pods, int64_t grace_s)
{
    int64_t until = clock_mono_ms() + grace_s * 1000;

    if (grace_s > 0 && signal_all(pods, SIGTERM) > 0)
        while (clock_mono_ms() < until && signal_all(pods, 0) > 0)
            (void)usleep(50000);
    (void)signal_all(pods, SIGKILL);
    until = clock_mono_ms() + 5000;
    while (clock_mono_ms() < until && signal_all(pods, 0) > 0)
        (void)usleep(20000);
}

static void delete_container(void *arg, const char *path, const char *name)
{
    struct purge *p = arg;
    const char *const argv[] = {p->runtime, "--root", p->runtime_root, "delete", "--force",
                                name,       NULL};
    pid_t pid = fork();

    (void)path;
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        redirect(null, 1);
        redirect(null, 2);
        (void)execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
}

static void end_pod(void *arg, const char *path, const char *name)
{
    struct bridge *b = arg;

    sandbox_end_at(path);
    bridge_unplug(b, name);
    volumes_unmount(path);
    if (file_remove_tree(path, NULL) < 0)
        log_warn("'%s' is not removed completely", path);
}

/* What is found by the cluster's name alone.  It is another cluster's if that one has the name. */
static int end_named(struct node *n, const char *group, struct err *e)
{
    int r;

    if (name_claim_is_anothers(NAME_CLAIM_DIR, n->cluster, n->state_dir))
        return 0;
    cgroup_kill(n->cgroups, group);
    services_purge(n->cluster);
    for (int i = 0; i < 20; i++) {
        cgroup_remove(n->cgroups, group);
        (void)usleep(5000);
    }
    r = bridge_remove(n->cluster, e);
    if (r == 0)
        name_claim_release(NAME_CLAIM_DIR, n->cluster, n->state_dir);
    return r;
}

/* The node process goes first: whoever holds the lock would start everything again. */
static int wait_for_lock(const struct node *n, int *ret_fd, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/lock", n->dir);
    AUTO(close) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int64_t until = clock_mono_ms() + LOCK_WAIT_MS;

    if (fd < 0)
        return err_errno(e, errno, "cannot open '%s'", path);
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (clock_mono_ms() > until)
            return err_set(e, -EBUSY, ERR_PERMANENT, "a node process runs on '%s': stop it first",
                           n->state_dir);
        (void)usleep(50000);
    }
    *ret_fd = TAKE_FD(fd);
    return 0;
}

int node_purge(const struct node_options *o, int64_t grace_s, struct err *e)
{
    AUTO(node_free) struct node *n = xcalloc(1, sizeof(*n));
    AUTO(free) char *pods = NULL;
    AUTO(free) char *group = NULL;
    struct purge p;
    int r;

    n->lock_fd = -1;
    n->cluster = xstrdup(o->cluster ? o->cluster : "default");
    n->state_dir = realpath(o->state_dir, NULL);
    if (!n->state_dir)
        return err_errno(e, errno, "state directory '%s'", o->state_dir);
    n->dir = xasprintf("%s/node", n->state_dir);
    n->runtime_root = xasprintf("%s/runtime", n->dir);
    pods = xasprintf("%s/pods", n->dir);
    group = xasprintf("/slurmkeeper-%s", n->cluster);
    r = file_make_dirs(n->dir, 0700, e);
    if (r == 0)
        r = wait_for_lock(n, &n->lock_fd, e);
    if (r == 0)
        r = cgroup_tree_new(group, &n->cgroups, e);
    if (r == 0)
        r = programs_find(n, e);
    if (r < 0)
        return r;
    stop_containers(pods, grace_s);
    if (!name_claim_is_anothers(NAME_CLAIM_DIR, n->cluster, n->state_dir))
        cgroup_thaw(n->cgroups, group);
    p = (struct purge){.runtime = n->runtime, .runtime_root = n->runtime_root};
    each_entry(n->runtime_root, delete_container, &p);
    each_entry(pods, end_pod, &n->bridge);
    r = end_named(n, group, e);
    return r < 0 ? r : file_remove_tree(n->runtime_root, e);
}
