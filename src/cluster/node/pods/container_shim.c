/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shim of a run: started with a socket to us, and reached again by a later process.
 *
 * It is our child only until one of us ends; what it is told stands in its arguments, and nothing
 * secret is among them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "src/base/alloc.h"
#include "src/cluster/node/network/redirect.h"
#include "src/cluster/node/pods/container.h"
#include "src/cluster/node/pods/worker.h"
#include "src/cluster/node/runtime/bundle.h"
#include "src/cluster/node/runtime/confine.h"

#define MAX_ARGS 96

static void on_shim_child(void *arg, pid_t pid, int status)
{
    struct container *c = arg;

    (void)pid;
    (void)status;
    c->shim_pid = 0;
    c->shim_child = loop_source_free(c->shim_child);
}

static void shim_args(const struct container *c, struct arena *a, const char **argv)
{
    struct node *n = c->worker->node;
    const struct ctr_spec *s = container_spec(c);
    AUTO(free) char *log = container_log_path(c, c->attempt);
    AUTO(free) char *group = bundle_cgroup(c);
    AUTO(free) char *oom = cgroup_oom_file(n->cgroups, group);
    const char *const fixed[] = {n->shim,  "run",           "--runtime", n->runtime,
                                 "--root", n->runtime_root, "--id",      c->id,
                                 "--dir",  c->dir,          "--log",     arena_strdup(a, log)};
    size_t k = ARRAY_LEN(fixed);

    memcpy(argv, fixed, sizeof(fixed));
    if (s->tty)
        argv[k++] = "--tty";
    if (s->stdin_open)
        argv[k++] = "--stdin";
    if (s->stdin_once)
        argv[k++] = "--stdin-once";
    if (confine_is_filtered(c->worker->spec, s))
        argv[k++] = "--filter";
    if (confine_is_confined(c->worker->spec, s))
        argv[k++] = "--open-limits";
    if (oom) {
        argv[k++] = "--oom";
        argv[k++] = arena_strdup(a, oom);
    }
    for (const char *const *f = cgroup_shim_procs(n->cgroups); *f && k + 2 < MAX_ARGS; f++) {
        argv[k++] = "--procs";
        argv[k++] = *f;
    }
    argv[k] = NULL;
}

int container_spawn_shim(struct container *c, int *ret_fd, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    const char *argv[MAX_ARGS + 1];
    const char *log = arena_printf(&a, "%s/shim.log", c->dir);
    int fds[2];
    pid_t pid;

    shim_args(c, &a, argv);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return err_errno(e, errno, "cannot make a socket pair");
    pid = fork();
    if (pid == 0) {
        int out = open(log, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

        loop_signals_reset();
        redirect(fds[1], 0);
        redirect(out, 1);
        redirect(out, 2);
        (void)execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    (void)close(fds[1]);
    if (pid < 0) {
        (void)close(fds[0]);
        return err_errno(e, errno, "cannot start a process");
    }
    c->shim_pid = pid;
    (void)loop_source_free(c->shim_child);
    c->shim_child = loop_add_child(c->worker->node->loop, pid, on_shim_child, c);
    *ret_fd = fds[0];
    return 0;
}

int container_connect(const char *dir, const char *hello)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    AUTO(close) int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO(close) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || dir_fd < 0)
        return -1;
    (void)snprintf(un.sun_path, sizeof(un.sun_path), "/proc/self/fd/%d/shim.sock", dir_fd);
    if (connect(fd, (struct sockaddr *)&un, sizeof(un)) < 0 ||
        send(fd, hello, strlen(hello), MSG_NOSIGNAL) < 0)
        return -1;
    return TAKE_FD(fd);
}
