/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals as events: one signalfd for a loop, its mask the union of what its sources want.
 *
 * A signal is blocked in the thread that adds its source (start worker threads later: they inherit
 * the mask) and unblocked when the last source for it is freed.  Several sources may share one.
 */
#include <string.h>
#include <sys/signalfd.h>

#include "src/base/alloc.h"
#include "src/loop/internal.h"

static void tell(struct loop *l, int signo)
{
    LIST_FOR_EACH (s, &l->signals, struct loop_source, group) {
        if (!s->dead && s->signal.signo == signo)
            s->signal.fn(s->arg, signo);
    }
}

static void signals_ready(void *arg, int fd, uint32_t events)
{
    struct signalfd_siginfo info;
    struct loop *l = arg;

    (void)events;
    while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
        tell(l, (int)info.ssi_signo);
}

/* The signals that living sources want. */
static sigset_t wanted(const struct loop *l)
{
    sigset_t set;

    (void)sigemptyset(&set);
    LIST_FOR_EACH (s, &l->signals, struct loop_source, group) {
        if (!s->dead)
            (void)sigaddset(&set, s->signal.signo);
    }
    return set;
}

static void signals_apply(struct loop *l)
{
    sigset_t set = wanted(l);
    int fd = signalfd(l->signal_fd, &set, SFD_NONBLOCK | SFD_CLOEXEC);

    assert(fd >= 0);
    if (l->signal_fd < 0) {
        l->signal_fd = fd;
        l->signal_source = loop_add_fd(l, fd, EPOLLIN, signals_ready, l);
        loop_source_set_priority(l->signal_source, LOOP_FIRST);
    }
}

static void mask(int how, int signo)
{
    sigset_t one;

    (void)sigemptyset(&one);
    (void)sigaddset(&one, signo);
    (void)pthread_sigmask(how, &one, NULL);
}

struct loop_source *loop_add_signal(struct loop *l, int signo, loop_signal_fn fn, void *arg)
{
    struct loop_source *s = source_new(l, SOURCE_SIGNAL, arg);

    s->signal.fn = fn;
    s->signal.signo = signo;
    list_append(&l->signals, &s->group);
    mask(SIG_BLOCK, signo);
    signals_apply(l);
    return s;
}

void signal_forget(struct loop_source *s)
{
    sigset_t still = wanted(s->loop);

    signals_apply(s->loop);
    if (!sigismember(&still, s->signal.signo))
        mask(SIG_UNBLOCK, s->signal.signo);
}

void loop_signals_reset(void)
{
    struct sigaction dfl = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int i = 1; i < NSIG; i++)
        (void)sigaction(i, &dfl, NULL);
    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
}
