/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Children: a pidfd per child, readable when it has ended.
 *
 * No SIGCHLD handler and no wait for "any" child: each source reaps its own process alone, so that
 * libraries which start processes are left in peace.  Where no pidfd can be had (out of
 * descriptors), a timer asks for the child instead.  A child that somebody else has reaped is
 * reported as exit code 255.
 */
#include <sys/syscall.h>
#include <sys/wait.h>

#include "src/loop/internal.h"

#define POLL_MS 50
#define STATUS_LOST (255 << 8) /* as waitpid tells exit code 255 */

static void child_close(struct loop_source *s)
{
    s->child.wait = loop_source_free(s->child.wait);
    if (s->child.pidfd >= 0)
        (void)close(TAKE_FD(s->child.pidfd));
}

static void child_look(struct loop_source *s)
{
    int status = STATUS_LOST;
    pid_t r;

    do {
        r = waitpid(s->child.pid, &status, WNOHANG);
    } while (r < 0 && errno == EINTR);
    if (r == 0) {
        if (s->child.pidfd < 0)
            loop_timer_arm(s->child.wait, POLL_MS);
        return;
    }
    child_close(s);
    s->child.fn(s->arg, s->child.pid, status);
}

static void child_ready(void *arg, int fd, uint32_t events)
{
    (void)fd;
    (void)events;
    child_look(arg);
}

static void child_poll(void *arg)
{
    child_look(arg);
}

struct loop_source *loop_add_child(struct loop *l, pid_t pid, loop_child_fn fn, void *arg)
{
    struct loop_source *s = source_new(l, SOURCE_CHILD, arg);

    s->child.fn = fn;
    s->child.pid = pid;
    s->child.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (s->child.pidfd >= 0) {
        s->child.wait = loop_add_fd(l, s->child.pidfd, EPOLLIN, child_ready, s);
    } else {
        s->child.wait = loop_add_timer(l, child_poll, s);
        loop_timer_arm(s->child.wait, 0);
    }
    return s;
}

void child_forget(struct loop_source *s)
{
    child_close(s);
}
