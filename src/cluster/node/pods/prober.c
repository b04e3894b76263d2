/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes: a timer, one question at a time, and a tally of the answers.
 *
 * The first question comes after the initial delay, counted from the container's start; the next
 * one a period after the last began, or at once if that took longer.  A container that has just
 * been started is asked more often, so that nobody waits a second for one that needs a tenth; a no
 * then does not count.
 */
#include "src/cluster/node/pods/prober.h"

#include "src/base/alloc.h"
#include "src/cluster/node/pods/container.h"
#include "src/cluster/node/pods/worker.h"

#define EAGER_MS 100
#define EAGER_FOR_MS 2000

struct prober {
    struct container *ctr;
    enum probe_kind kind;
    const struct probe_spec *spec;
    struct probe_tally tally;
    struct loop_source *timer;
    struct handler_run *run;
    int64_t began_ms;
    int64_t eager_until_ms;
    prober_fn fn;
    void *arg;
};

enum probe_verdict probe_note(struct probe_tally *t, const struct probe_spec *p, bool ok)
{
    if (ok) {
        t->failures = 0;
        t->successes++;
        return t->successes >= p->successes ? PROBE_GOOD : PROBE_UNDECIDED;
    }
    t->successes = 0;
    t->failures++;
    return t->failures >= p->failures ? PROBE_BAD : PROBE_UNDECIDED;
}

const char *probe_kind_name(enum probe_kind kind)
{
    static const char *const names[] = {"Startup", "Readiness", "Liveness"};

    return names[kind];
}

static void on_answer(void *arg, bool ok, const char *output)
{
    struct prober *p = arg;
    struct loop *l = p->ctr->worker->node->loop;
    int64_t next = p->began_ms + p->spec->period_s * 1000 - loop_now_ms(l);

    p->run = NULL;
    if (!ok && loop_now_ms(l) < p->eager_until_ms) {
        loop_timer_arm(p->timer, EAGER_MS);
        return;
    }
    loop_timer_arm(p->timer, MAX(0, next));
    p->fn(p->arg, p->kind, probe_note(&p->tally, p->spec, ok), ok, output);
}

static void on_time(void *arg)
{
    struct prober *p = arg;

    p->began_ms = loop_now_ms(p->ctr->worker->node->loop);
    p->run = handler_start(p->ctr, &p->spec->handler, p->spec->timeout_s * 1000, on_answer, p);
}

struct prober *prober_new(struct container *c, enum probe_kind kind, const struct probe_spec *spec,
                          int64_t running_ms, prober_fn fn, void *arg)
{
    struct prober *p = xcalloc(1, sizeof(*p));

    p->ctr = c;
    p->kind = kind;
    p->spec = spec;
    p->fn = fn;
    p->arg = arg;
    p->timer = loop_add_timer(c->worker->node->loop, on_time, p);
    if (kind == PROBE_STARTUP && running_ms < EAGER_FOR_MS)
        p->eager_until_ms =
            loop_now_ms(c->worker->node->loop) + spec->delay_s * 1000 + EAGER_FOR_MS;
    loop_timer_arm(p->timer, MAX(0, spec->delay_s * 1000 - running_ms));
    return p;
}

struct prober *prober_free(struct prober *p)
{
    if (!p)
        return NULL;
    (void)handler_cancel(p->run);
    (void)loop_source_free(p->timer);
    free(p);
    return NULL;
}
