/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accepting connections.
 *
 * Connections are accepted in batches.  Where descriptors have run out, a listening socket stays
 * readable and accept fails: whoever just returned would be called again at once, for ever.  So the
 * owner is asked to free one; if it cannot, the listener is not looked at for a moment.
 */
#include "src/loop/acceptor.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "src/base/alloc.h"

#define BATCH 256
#define PAUSE_MS 100

struct acceptor {
    int listener;
    struct loop_source *source;
    struct loop_source *timer;
    acceptor_fn fn;
    acceptor_full_fn full;
    void *arg;
};

static bool is_shortage(int errnum)
{
    return errnum == EMFILE || errnum == ENFILE || errnum == ENOBUFS || errnum == ENOMEM;
}

static void pause_for_a_moment(struct acceptor *a)
{
    loop_fd_set_events(a->source, 0);
    loop_timer_arm(a->timer, PAUSE_MS);
}

static void go_on(void *arg)
{
    struct acceptor *a = arg;

    loop_fd_set_events(a->source, EPOLLIN);
}

static void on_ready(void *arg, int listener, uint32_t events)
{
    struct acceptor *a = arg;

    (void)events;
    for (int i = 0; i < BATCH; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0) {
            a->fn(a->arg, fd);
        } else if (errno == EAGAIN) {
            return;
        } else if (is_shortage(errno) && !(a->full && a->full(a->arg))) {
            pause_for_a_moment(a);
            return;
        }
        /* Anything else is the fate of one connection (ECONNABORTED and kin): take the next. */
    }
}

struct acceptor *acceptor_new(struct loop *l, int listener, acceptor_fn fn, acceptor_full_fn full,
                              void *arg)
{
    struct acceptor *a = xcalloc(1, sizeof(*a));

    *a = (struct acceptor){.listener = listener, .fn = fn, .full = full, .arg = arg};
    a->source = loop_add_fd(l, listener, EPOLLIN, on_ready, a);
    a->timer = loop_add_timer(l, go_on, a);
    return a;
}

struct acceptor *acceptor_free(struct acceptor *a)
{
    if (!a)
        return NULL;
    (void)loop_source_free(a->source);
    (void)loop_source_free(a->timer);
    free(a);
    return NULL;
}
