/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls from other threads: a queue under a lock, and an eventfd that wakes the loop.
 *
 * The loop takes the whole queue at once and runs it without the lock, so that a posted call may
 * post again.  Calls of one thread run in the order of posting.  This is the only function of the
 * loop that other threads may use.
 */
#include <sys/eventfd.h>

#include "src/base/alloc.h"
#include "src/loop/internal.h"

static void post_ready(void *arg, int fd, uint32_t events)
{
    struct loop *l = arg;
    struct calls mine;
    uint64_t count;

    (void)events;
    (void)!read(fd, &count, sizeof(count));
    (void)pthread_mutex_lock(&l->post_lock);
    mine = l->posted;
    l->posted = (struct calls){0};
    (void)pthread_mutex_unlock(&l->post_lock);
    (void)calls_run(&mine);
    free(mine.items);
}

int post_init(struct loop *l, struct err *e)
{
    (void)pthread_mutex_init(&l->post_lock, NULL);
    l->post_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (l->post_fd < 0)
        return err_errno(e, errno, "cannot make an event descriptor");
    l->post_source = loop_add_fd(l, l->post_fd, EPOLLIN, post_ready, l);
    return 0;
}

void post_done(struct loop *l)
{
    l->post_source = loop_source_free(l->post_source);
    if (l->post_fd >= 0)
        (void)close(TAKE_FD(l->post_fd));
    free(l->posted.items);
    (void)pthread_mutex_destroy(&l->post_lock);
}

void loop_post(struct loop *l, loop_defer_fn fn, void *arg)
{
    static const uint64_t one = 1;
    bool first;

    (void)pthread_mutex_lock(&l->post_lock);
    first = l->posted.n == 0;
    calls_add(&l->posted, fn, arg);
    (void)pthread_mutex_unlock(&l->post_lock);
    if (first)
        (void)!write(l->post_fd, &one, sizeof(one));
}
