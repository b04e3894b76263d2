/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One munged.
 *
 * Its key, seed and log are in a directory of its own below a private one; only its socket is where
 * others reach it.  It ends with the program that started it, however that ends.
 */
#include "src/munge/daemon.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "src/base/alloc.h"
#include "src/base/file.h"

#define TALK_S 10
#define LOOK_MS 20

int munged_connect(const char *socket_path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct timeval limit = {.tv_sec = TALK_S};
    int fd;

    if (strlen(socket_path) >= sizeof(a.sun_path))
        return -ENAMETOOLONG;
    memcpy(a.sun_path, socket_path, strlen(socket_path));
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0 ||
        connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
        int r = -errno;

        (void)close(fd);
        return r;
    }
    return fd;
}

static NORETURN void become(const struct munged *m)
{
    char *argv[] = {xstrdup("munged"),
                    xstrdup("--foreground"),
                    xstrdup("--force"),
                    xasprintf("--key-file=%s/key", m->dir),
                    xasprintf("--socket=%s", m->socket),
                    xasprintf("--pid-file=%s/pid", m->dir),
                    xasprintf("--seed-file=%s/seed", m->dir),
                    xasprintf("--log-file=%s/log", m->dir),
                    NULL};
    sigset_t none;

    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)execvp(argv[0], argv);
    _exit(127);
}

int munged_again(struct munged *m, struct err *e)
{
    pid_t pid = fork();

    if (pid < 0)
        return err_errno(e, errno, "no new process");
    if (pid == 0)
        become(m);
    m->pid = pid;
    return 0;
}

int munged_start(struct munged *m, const char *base, const char *socket_path, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/key", base);
    int r;

    m->dir = xstrdup(base);
    m->socket = xstrdup(socket_path);
    r = file_make_dirs(base, 0700, e);
    if (r == 0)
        r = file_write(path, buf_view(&m->key), 0400, e);
    return r == 0 ? munged_again(m, e) : r;
}

bool munged_answers(const struct munged *m, int wait_ms)
{
    struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};

    for (;;) {
        int fd = munged_connect(m->socket);

        if (fd >= 0) {
            (void)close(fd);
            return true;
        }
        if (wait_ms <= 0)
            return false;
        wait_ms -= LOOK_MS;
        (void)nanosleep(&pause, NULL);
    }
}

void munged_end(struct munged *m)
{
    struct err ignored = {0};

    if (m->pid > 0) {
        (void)kill(m->pid, SIGTERM);
        (void)waitpid(m->pid, NULL, 0);
    }
    if (m->socket) {
        AUTO(free) char *lock = xasprintf("%s.lock", m->socket);

        (void)unlink(m->socket);
        (void)unlink(lock);
    }
    if (m->dir)
        (void)!file_remove_tree(m->dir, &ignored);
    if (m->key.p)
        explicit_bzero(m->key.p, m->key.n);
    buf_done(&m->key);
    free(m->dir);
    free(m->socket);
    *m = (struct munged){0};
}
