/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timers: a binary heap of armed timers, earliest first.
 *
 * Each timer knows its slot, so that disarming and arming again cost a logarithm: an HTTP server
 * moves a timer with every request.  At the start of a turn all timers whose time has come move
 * from the heap to the list of the due, in order; each is called once from there.  A timer armed
 * inside a turn waits for the next one, even with no delay, so that no timer can hold up a turn.
 *
 * Delays count from the true clock, not from the turn's: a slow callback does not shorten them.
 */
#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/loop/internal.h"

static bool earlier(const struct loop_source *a, const struct loop_source *b)
{
    if (a->timer.at_ms != b->timer.at_ms)
        return a->timer.at_ms < b->timer.at_ms;
    return a->timer.order < b->timer.order;
}

static void heap_put(struct loop *l, size_t slot, struct loop_source *s)
{
    l->heap[slot] = s;
    s->timer.slot = slot;
}

static void heap_rise(struct loop *l, struct loop_source *s)
{
    size_t at = s->timer.slot;

    while (at > 1 && earlier(s, l->heap[at / 2])) {
        heap_put(l, at, l->heap[at / 2]);
        at /= 2;
    }
    heap_put(l, at, s);
}

static void heap_sink(struct loop *l, struct loop_source *s)
{
    size_t at = s->timer.slot;

    for (;;) {
        size_t child = at * 2;

        if (child > l->heap_n)
            break;
        if (child < l->heap_n && earlier(l->heap[child + 1], l->heap[child]))
            child++;
        if (!earlier(l->heap[child], s))
            break;
        heap_put(l, at, l->heap[child]);
        at = child;
    }
    heap_put(l, at, s);
}

static void heap_add(struct loop *l, struct loop_source *s)
{
    array_reserve(&l->heap, &l->heap_cap, l->heap_n + 2, sizeof(struct loop_source *));
    l->heap_n++;
    heap_put(l, l->heap_n, s);
    heap_rise(l, s);
}

static void heap_remove(struct loop *l, struct loop_source *s)
{
    size_t slot = s->timer.slot;
    struct loop_source *last = l->heap[l->heap_n--];

    s->timer.slot = 0;
    if (last == s)
        return;
    heap_put(l, slot, last);
    heap_rise(l, last);
    heap_sink(l, last);
}

struct loop_source *loop_add_timer(struct loop *l, loop_timer_fn fn, void *arg)
{
    struct loop_source *s = source_new(l, SOURCE_TIMER, arg);

    s->timer.fn = fn;
    return s;
}

void timer_forget(struct loop_source *s)
{
    if (s->timer.slot)
        heap_remove(s->loop, s);
    list_remove(&s->group);
}

void loop_timer_disarm(struct loop_source *s)
{
    assert(s->kind == SOURCE_TIMER && !s->dead);
    if (s->loop)
        timer_forget(s);
}

void loop_timer_arm(struct loop_source *s, int64_t delay_ms)
{
    struct loop *l = s->loop;
    int64_t now = clock_mono_ms();

    assert(s->kind == SOURCE_TIMER && !s->dead);
    if (!l)
        return;
    timer_forget(s);
    if (delay_ms < 0)
        delay_ms = 0;
    s->timer.at_ms = delay_ms < INT64_MAX - now ? now + delay_ms : INT64_MAX;
    s->timer.order = l->timer_order++;
    heap_add(l, s);
}

bool loop_timer_armed(const struct loop_source *s)
{
    return s->timer.slot || s->group.next;
}

int64_t timers_wait_ms(const struct loop *l)
{
    int64_t wait;

    if (l->heap_n == 0)
        return -1;
    wait = l->heap[1]->timer.at_ms - clock_mono_ms();
    return MAX(wait, 0);
}

void timers_collect(struct loop *l)
{
    while (l->heap_n > 0 && l->heap[1]->timer.at_ms <= l->now_ms) {
        struct loop_source *s = l->heap[1];

        heap_remove(l, s);
        list_append(&l->due, &s->group);
    }
}

void timer_fire(struct loop_source *s)
{
    list_remove(&s->group);
    s->loop->called = true;
    s->timer.fn(s->arg);
}
