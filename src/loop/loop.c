/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event loop: turns, sources, descriptors, hooks.
 *
 * A turn waits on epoll for as long as the first timer allows, reads the clock, marks every source
 * that is ready, then calls them back by priority: first all of LOOP_FIRST, then LOOP_NORMAL, then
 * LOOP_LAST.  Deferred calls follow, then the end-of-turn hooks, then burials.
 *
 * The point of own code here is that all ready sources are served before the hooks run.  Libraries
 * that dispatch one source per iteration would make the store sync once per request; here a
 * thousand requests that arrived together share one sync.
 *
 * A source that is freed in a turn is marked dead, taken off epoll and kept until the end of the
 * turn; the passes below skip the dead.  So no callback needs to care who else is in the turn.
 */
#include "src/loop/loop.h"

#include <limits.h>
#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/loop/internal.h"

#define EVENTS_AT_LEAST 64

static void calls_add(struct calls *c, loop_defer_fn fn, void *arg)
{
    array_reserve(&c->items, &c->cap, c->n + 1, sizeof(*c->items));
    c->items[c->n++] = (struct call){fn, arg};
}

/* Run what is queued now; what these calls queue stays.  Returns how many ran. */
static size_t calls_run(struct calls *c)
{
    struct calls mine = *c;

    *c = (struct calls){0};
    for (size_t i = 0; i < mine.n; i++)
        mine.items[i].fn(mine.items[i].arg);
    if (c->items)
        free(mine.items);
    else
        *c = (struct calls){.items = mine.items, .cap = mine.cap};
    return mine.n;
}

struct loop_source *source_new(struct loop *l, enum source_kind kind, void *arg)
{
    struct loop_source *s = xcalloc(1, sizeof(*s));

    s->loop = l;
    s->kind = kind;
    s->priority = LOOP_NORMAL;
    s->arg = arg;
    list_append(&l->sources, &s->all);
    return s;
}

int loop_new(struct loop **ret_loop, struct err *e)
{
    AUTO(loop_free) struct loop *l = xcalloc(1, sizeof(*l));

    (void)signal(SIGPIPE, SIG_IGN);
    l->signal_fd = -1;
    list_init(&l->sources);
    list_init(&l->dead);
    list_init(&l->hooks);
    list_init(&l->due);
    list_init(&l->signals);
    l->now_ms = clock_mono_ms();
    l->epfd = epoll_create1(EPOLL_CLOEXEC);
    if (l->epfd < 0)
        return err_errno(e, errno, "cannot make an epoll descriptor");
    *ret_loop = TAKE(l);
    return 0;
}

static void bury_sources(struct loop *l)
{
    LIST_FOR_EACH (s, &l->dead, struct loop_source, all) {
        list_remove(&s->group);
        list_remove(&s->all);
        free(s);
    }
}

struct loop *loop_free(struct loop *l)
{
    if (!l)
        return NULL;
    l->signal_source = loop_source_free(l->signal_source);
    while (calls_run(&l->burials) > 0)
        ;
    bury_sources(l);
    LIST_FOR_EACH (s, &l->sources, struct loop_source, all) {
        list_remove(&s->group);
        list_remove(&s->all);
        s->loop = NULL;
    }
    if (l->epfd >= 0)
        (void)close(l->epfd);
    if (l->signal_fd >= 0)
        (void)close(l->signal_fd);
    free(l->events);
    free(l->heap);
    free(l->deferred.items);
    free(l->burials.items);
    free(l);
    return NULL;
}

static void fd_interest(struct loop_source *s, uint32_t events)
{
    struct epoll_event ev = {.events = events, .data.ptr = s};
    struct loop *l = s->loop;
    int op = EPOLL_CTL_MOD;

    if (s->fd.events == events)
        return;
    if (s->fd.events == 0)
        op = EPOLL_CTL_ADD;
    else if (events == 0)
        op = EPOLL_CTL_DEL;
    if (epoll_ctl(l->epfd, op, s->fd.fd, &ev) < 0 && op != EPOLL_CTL_DEL) {
        (void)fprintf(stderr, "epoll refuses descriptor %d: %s\n", s->fd.fd, strerror(errno));
        abort();
    }
    l->n_fds += (op == EPOLL_CTL_ADD);
    l->n_fds -= (op == EPOLL_CTL_DEL);
    s->fd.events = events;
}

struct loop_source *loop_add_fd(struct loop *l, int fd, uint32_t events, loop_fd_fn fn, void *arg)
{
    struct loop_source *s = source_new(l, SOURCE_FD, arg);

    s->fd.fn = fn;
    s->fd.fd = fd;
    fd_interest(s, events);
    return s;
}

void loop_fd_set_events(struct loop_source *s, uint32_t events)
{
    assert(s->kind == SOURCE_FD && !s->dead);
    if (s->loop)
        fd_interest(s, events);
}

struct loop_source *loop_add_turn_hook(struct loop *l, loop_defer_fn fn, void *arg)
{
    struct loop_source *s = source_new(l, SOURCE_HOOK, arg);

    s->hook.fn = fn;
    list_append(&l->hooks, &s->group);
    return s;
}

struct loop_source *loop_source_free(struct loop_source *s)
{
    if (!s)
        return NULL;
    assert(!s->dead);
    if (!s->loop) {
        free(s);
        return NULL;
    }
    s->dead = true;
    switch (s->kind) {
    case SOURCE_FD:
        fd_interest(s, 0);
        break;
    case SOURCE_TIMER:
        timer_forget(s);
        break;
    case SOURCE_SIGNAL:
        signal_forget(s);
        break;
    case SOURCE_CHILD:
        child_forget(s);
        break;
    case SOURCE_HOOK:
        break;
    }
    list_remove(&s->all);
    list_append(&s->loop->dead, &s->all);
    return NULL;
}

void loop_source_set_priority(struct loop_source *s, enum loop_priority p)
{
    s->priority = p;
}

int64_t loop_now_ms(const struct loop *l)
{
    return l->now_ms;
}

void loop_defer(struct loop *l, loop_defer_fn fn, void *arg)
{
    calls_add(&l->deferred, fn, arg);
}

void loop_defer_free(struct loop *l, loop_defer_fn fn, void *arg)
{
    calls_add(&l->burials, fn, arg);
}

void loop_want_hooks(struct loop *l)
{
    l->want_hooks = true;
}

int64_t loop_wait_ms(const struct loop *l)
{
    return l->deferred.n > 0 || l->want_hooks ? 0 : timers_wait_ms(l);
}

static int wait_ms(const struct loop *l, int max_wait_ms)
{
    int64_t timer = timers_wait_ms(l);

    if (l->deferred.n > 0 || l->want_hooks)
        return 0;
    if (timer < 0 || (max_wait_ms >= 0 && timer > max_wait_ms))
        return max_wait_ms;
    return (int)MIN(timer, INT_MAX);
}

/* Wait, and mark what is ready.  Room for every descriptor: none is left for another turn. */
static size_t poll_fds(struct loop *l, int max_wait_ms)
{
    int n;

    array_reserve(&l->events, &l->events_cap, MAX(l->n_fds, (size_t)EVENTS_AT_LEAST),
                  sizeof(*l->events));
    n = epoll_wait(l->epfd, l->events, (int)l->events_cap, wait_ms(l, max_wait_ms));
    if (n < 0) {
        assert(errno == EINTR);
        return 0;
    }
    for (int i = 0; i < n; i++) {
        struct loop_source *s = l->events[i].data.ptr;

        s->fd.ready = l->events[i].events;
    }
    return (size_t)n;
}

static void fd_fire(struct loop_source *s)
{
    uint32_t events = s->fd.ready & (s->fd.events | EPOLLERR | EPOLLHUP);

    s->fd.ready = 0;
    if (s->dead || s->fd.events == 0 || events == 0)
        return;
    s->loop->called = true;
    s->fd.fn(s->arg, s->fd.fd, events);
}

static void dispatch(struct loop *l, size_t n_ready, enum loop_priority p)
{
    for (size_t i = 0; i < n_ready; i++) {
        struct loop_source *s = l->events[i].data.ptr;

        if (s->priority == p && s->fd.ready)
            fd_fire(s);
    }
    /* A callback may take any timer off the list; so look from the front each time. */
    for (struct list *at = l->due.next; at != &l->due;) {
        struct loop_source *s = LIST_ENTRY(at, struct loop_source, group);

        at = at->next;
        if (s->priority != p)
            continue;
        timer_fire(s);
        at = l->due.next;
    }
}

static void run_hooks(struct loop *l)
{
    for (int p = 0; p < LOOP_PRIORITIES; p++) {
        if (p == LOOP_LAST)
            l->want_hooks = false;
        LIST_FOR_EACH (s, &l->hooks, struct loop_source, group) {
            if ((int)s->priority == p && !s->dead)
                s->hook.fn(s->arg);
        }
    }
}

int loop_turn(struct loop *l, int max_wait_ms)
{
    size_t n_ready = poll_fds(l, max_wait_ms);

    l->called = false;
    l->now_ms = clock_mono_ms();
    timers_collect(l);
    for (int p = 0; p < LOOP_PRIORITIES; p++)
        dispatch(l, n_ready, (enum loop_priority)p);
    if (calls_run(&l->deferred) > 0 || l->want_hooks)
        l->called = true;
    if (l->called)
        run_hooks(l);
    (void)calls_run(&l->burials);
    bury_sources(l);
    return l->called ? 1 : 0;
}

int loop_run(struct loop *l)
{
    l->stop = false;
    while (!l->stop)
        (void)loop_turn(l, -1);
    return l->stop_code;
}

void loop_stop(struct loop *l, int code)
{
    l->stop = true;
    l->stop_code = code;
}
