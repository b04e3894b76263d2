/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happens to a container while it runs: hooks, probes, and its orderly end.
 *
 * After the start its postStart hook runs; a hook that fails condemns the container.  Then the
 * startup probe, if there is one, until it succeeds; then readiness and liveness side by side.  To
 * stop it: the preStop hook, then its stop signal, and SIGKILL when the time is up, whatever the
 * hook does meanwhile, and also if somebody in it has frozen it.
 */
#include <poll.h>
#include <signal.h>

#include "src/base/clock.h"
#include "src/cluster/node/pods/container.h"
#include "src/cluster/node/pods/worker.h"
#include "src/cluster/node/runtime/bundle.h"

#define HOOK_TIMEOUT_MS 600000

static void on_probe(void *arg, enum probe_kind kind, enum probe_verdict verdict, bool ok,
                     const char *output);

static void probe(struct container *c, enum probe_kind kind, const struct probe_spec *p,
                  int64_t running_ms)
{
    (void)prober_free(c->probers[kind]);
    c->probers[kind] = prober_new(c, kind, p, running_ms, on_probe, c);
}

static int64_t running_ms(const struct container *c)
{
    return MAX(0, (clock_wall_us() - c->started_us) / 1000);
}

static void set_started(struct container *c)
{
    const struct ctr_spec *s = container_spec(c);

    c->started = true;
    if (s->readiness.handler.kind == HANDLER_NONE)
        c->ready = true;
    else
        probe(c, PROBE_READINESS, &s->readiness, running_ms(c));
    if (s->liveness.handler.kind != HANDLER_NONE)
        probe(c, PROBE_LIVENESS, &s->liveness, running_ms(c));
    worker_wake(c->worker);
}

static void condemn(struct container *c, int64_t grace_s)
{
    c->condemned = true;
    c->condemned_grace_s = grace_s;
    c->ready = false;
    worker_wake(c->worker);
}

static void on_readiness(struct container *c, enum probe_verdict verdict)
{
    if (verdict == PROBE_UNDECIDED || c->ready == (verdict == PROBE_GOOD))
        return;
    c->ready = verdict == PROBE_GOOD;
    worker_wake(c->worker);
}

static void on_probe(void *arg, enum probe_kind kind, enum probe_verdict verdict, bool ok,
                     const char *output)
{
    struct container *c = arg;
    struct worker *w = c->worker;
    const struct ctr_spec *s = container_spec(c);

    if (!ok)
        node_event(w->node, w->spec, s->name, KUBE_EVENT_WARNING, "Unhealthy",
                   "%s probe failed: %s", probe_kind_name(kind), output);
    if (kind == PROBE_READINESS) {
        on_readiness(c, verdict);
    } else if (verdict == PROBE_BAD) {
        node_event(w->node, w->spec, s->name, KUBE_EVENT_NORMAL, "Killing",
                   "Container %s failed %s probe, will be restarted", s->name,
                   kind == PROBE_STARTUP ? "startup" : "liveness");
        condemn(c, kind == PROBE_STARTUP ? s->startup.grace_s : s->liveness.grace_s);
    } else if (kind == PROBE_STARTUP && verdict == PROBE_GOOD) {
        c->probers[kind] = prober_free(c->probers[kind]);
        set_started(c);
    }
}

static void begin_probes(struct container *c)
{
    const struct ctr_spec *s = container_spec(c);

    if (s->startup.handler.kind != HANDLER_NONE && !c->started)
        probe(c, PROBE_STARTUP, &s->startup, running_ms(c));
    else
        set_started(c);
}

static bool has_ended(const struct container *c)
{
    AUTO(close) int fd = process_watch(c->process.pid, c->process.start);
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return fd < 0 || poll(&p, 1, 0) > 0;
}

/* A hook that failed because its container ended has nothing to tell: the container has. */
static void on_post_start(void *arg, bool ok, const char *output)
{
    struct container *c = arg;
    struct worker *w = c->worker;

    c->hook = NULL;
    if (c->phase != CTR_UP || (!ok && has_ended(c)))
        return;
    if (ok) {
        begin_probes(c);
        return;
    }
    node_event(w->node, w->spec, container_spec(c)->name, KUBE_EVENT_WARNING, "FailedPostStartHook",
               "PostStartHook failed: %s", output);
    condemn(c, -1);
}

void container_care_begin(struct container *c)
{
    const struct ctr_spec *s = container_spec(c);

    if (s->post_start.kind != HANDLER_NONE && !c->started)
        c->hook = handler_start(c, &s->post_start, HOOK_TIMEOUT_MS, on_post_start, c);
    else
        begin_probes(c);
}

static void on_kill_time(void *arg)
{
    struct container *c = arg;
    AUTO(free) char *group = bundle_cgroup(c);

    c->hook = handler_cancel(c->hook);
    cgroup_thaw(c->worker->node->cgroups, group);
    (void)!process_signal(&c->process, SIGKILL);
    loop_timer_arm(c->kill_timer, 1000); /* until it is seen to be gone */
}

static void tell(struct container *c)
{
    if (!c->told)
        (void)!process_signal(&c->process, container_spec(c)->stop_signal);
    c->told = true;
}

static void on_pre_stop(void *arg, bool ok, const char *output)
{
    struct container *c = arg;
    struct worker *w = c->worker;

    c->hook = NULL;
    if (!ok)
        node_event(w->node, w->spec, container_spec(c)->name, KUBE_EVENT_WARNING,
                   "FailedPreStopHook", "PreStopHook failed: %s", output);
    tell(c);
}

static void begin_stop(struct container *c, int64_t left_ms)
{
    struct worker *w = c->worker;
    const struct ctr_spec *s = container_spec(c);

    if (!c->condemned)
        node_event(w->node, w->spec, s->name, KUBE_EVENT_NORMAL, "Killing", "Stopping container %s",
                   s->name);
    c->phase = CTR_STOPPING;
    c->ready = false;
    c->probers[PROBE_LIVENESS] = prober_free(c->probers[PROBE_LIVENESS]);
    c->probers[PROBE_STARTUP] = prober_free(c->probers[PROBE_STARTUP]);
    c->probers[PROBE_READINESS] = prober_free(c->probers[PROBE_READINESS]);
    c->hook = handler_cancel(c->hook);
    c->kill_timer = loop_add_timer(w->node->loop, on_kill_time, c);
    if (s->pre_stop.kind != HANDLER_NONE && left_ms > 0)
        c->hook = handler_start(c, &s->pre_stop, left_ms, on_pre_stop, c);
    else
        tell(c);
}

void container_stop(struct container *c, int64_t kill_ms)
{
    int64_t now = loop_now_ms(c->worker->node->loop);

    if (c->phase != CTR_UP && c->phase != CTR_STOPPING)
        return; /* one that is starting is stopped when it is up */
    if (c->phase == CTR_STOPPING && kill_ms >= c->kill_ms)
        return;
    c->kill_ms = kill_ms;
    if (c->phase == CTR_UP)
        begin_stop(c, kill_ms - now);
    loop_timer_arm(c->kill_timer, MAX(0, kill_ms - now));
}
