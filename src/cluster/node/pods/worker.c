/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pod on this machine.
 *
 * Everything that happens (the API's object changes, a container ends, a probe answers, a timer
 * fires) only wakes the worker; at the end of the turn it looks at the whole pod, asks
 * lifecycle_plan what to do, begins that, and tells the API how the pod is.  So there is one place
 * where decisions are made, and it is a pure function.
 *
 * On disk, in NODE/pods/UID: pod.json (the object, so that a node process without an API server
 * still knows what it runs), state.json (what was decided and is not to be decided again), etc/,
 * volumes/, logs/, and containers/NAME/NUMBER for each run.
 */
#include "src/cluster/node/pods/worker_private.h"

#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/cluster/node/pods/lifecycle.h"
#include "src/cluster/node/pods/strangers.h"
#include "src/cluster/node/pods/worker_state.h"
#include "src/cluster/node/record.h"
#include "src/cluster/node/volumes/tokens.h"

#define MIN_FORCED_GRACE_S 2

static void worker_sync(struct worker *w);

static void on_wake(void *arg)
{
    struct worker *w = arg;

    w->queued = false;
    if (!w->dead)
        worker_sync(w);
}

void worker_wake(struct worker *w)
{
    if (w->queued || w->dead)
        return;
    w->queued = true;
    loop_timer_arm(w->timer, 0);
}

static void on_status_gone(void *arg)
{
    struct worker *w = arg;

    strangers_missing(w->node->strangers, w);
}

/* Everything but what decides the pod's present state. */
static struct worker *make(struct node *n, const char *uid)
{
    struct worker *w = xcalloc(1, sizeof(*w));

    w->node = n;
    w->uid = xstrdup(uid);
    w->dir = xasprintf("%s/pods/%s", n->dir, uid);
    w->timer = loop_add_timer(n->loop, on_wake, w);
    return w;
}

static void make_writer(struct worker *w)
{
    (void)status_writer_free(w->writer);
    w->writer =
        status_writer_new(w->node->client, w->spec->ns, w->spec->name, w->uid, on_status_gone, w);
}

static void set_up_containers(struct worker *w)
{
    w->n = w->spec->n;
    w->ctrs = xcalloc(w->n ? w->n : 1, sizeof(*w->ctrs));
    for (size_t i = 0; i < w->n; i++)
        container_init(&w->ctrs[i], w, i);
    make_writer(w);
}

struct worker *worker_free(struct worker *w)
{
    if (!w)
        return NULL;
    w->dead = true;
    for (size_t i = 0; w->ctrs && i < w->n; i++)
        container_done(&w->ctrs[i]);
    (void)job_cancel(w->removal);
    if (w->deletion)
        kube_call_cancel(w->deletion);
    (void)sandbox_free(w->sandbox);
    (void)status_writer_free(w->writer);
    (void)loop_source_free(w->timer);
    tokens_forget(w->node->tokens, w->uid);
    free(w->ctrs);
    free(w->reason);
    free(w->message);
    free(w->uid);
    free(w->dir);
    arena_done(&w->arena);
    arena_done(&w->object_arena);
    free(w);
    return NULL;
}

struct worker *worker_new(struct node *n, const struct kube_object *o, struct err *e)
{
    struct worker *w = make(n, o->uid);

    if (worker_state_load_object(w, o->text, e) < 0 || file_make_dirs(w->dir, 0700, e) < 0 ||
        worker_state_save_object(w, o->text, e) < 0)
        return worker_free(w);
    w->start_us = clock_wall_us();
    set_up_containers(w);
    worker_wake(w);
    return w;
}

struct worker *worker_adopt(struct node *n, const char *uid, struct err *e)
{
    struct worker *w = make(n, uid);
    struct sandbox_events events = worker_sandbox_events(w);

    if (worker_state_load(w, e) < 0)
        return worker_free(w);
    set_up_containers(w);
    w->sandbox = sandbox_adopt(n, w->spec, w->dir, &events);
    w->volumes = w->sandbox != NULL;
    for (size_t i = 0; i < w->n; i++)
        container_adopt(&w->ctrs[i]);
    worker_wake(w);
    return w;
}

struct worker *worker_take_over(struct node *n, const struct kube_object *o, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/pods/%s/pod.json", n->dir, o->uid);

    if (record_write(path, o->text, 0600, e) < 0)
        return NULL;
    log_info("pod %s/%s is taken over with what the API server has of it", o->namespace, o->name);
    return worker_adopt(n, o->uid, e);
}

static void tell_host_image(struct worker *w, const struct ctr_spec *s)
{
    if (w->host_image_told)
        return;
    w->host_image_told = true;
    node_event(w->node, w->spec, NULL, KUBE_EVENT_NORMAL, "HostSoftware",
               "the software installed on this machine runs instead of image %s", s->image);
}

static void start_container(struct worker *w, size_t i)
{
    struct container *c = &w->ctrs[i];
    const struct ctr_spec *s = &w->spec->ctrs[i];
    struct err e = {0};

    tell_host_image(w, s);
    if (container_start(c, &e) == 0)
        return;
    node_event(w->node, w->spec, s->name, KUBE_EVENT_WARNING, "Failed", "Error: %s", e.text);
    c->retry_ms = loop_now_ms(w->node->loop) + (e.class == ERR_RETRY ? 2000 : 10000);
    worker_wake_at(w, c->retry_ms);
}

/* When the containers of the pod must be gone. */
static int64_t kill_time(struct worker *w, const struct container *c)
{
    int64_t now = loop_now_ms(w->node->loop);
    int64_t grace = w->spec->deleting ? w->spec->delete_grace_s : w->spec->grace_s;

    if (c->condemned && !w->spec->deleting)
        return now + clock_s_to_ms(c->condemned_grace_s >= 0 ? c->condemned_grace_s : grace);
    if (w->object_gone)
        grace = MIN(grace, MIN_FORCED_GRACE_S);
    if (!w->stop_ms)
        w->stop_ms = now + clock_s_to_ms(grace);
    w->stop_ms = MIN(w->stop_ms, now + clock_s_to_ms(grace));
    return w->stop_ms;
}

static void perform(struct worker *w, const struct pod_action *act)
{
    bool may_retry = loop_now_ms(w->node->loop) >= w->retry_ms;

    switch (act->act) {
    case ACT_MAKE_VOLUMES:
        if (may_retry)
            worker_make_volumes(w);
        break;
    case ACT_MAKE_SANDBOX:
        if (may_retry && !w->sandbox)
            worker_make_sandbox(w);
        break;
    case ACT_START:
        start_container(w, act->ctr);
        break;
    case ACT_STOP:
        container_stop(&w->ctrs[act->ctr], kill_time(w, &w->ctrs[act->ctr]));
        break;
    case ACT_RELEASE:
        worker_release(w);
        break;
    }
}

static void report(struct worker *w)
{
    AUTO(arena_done) struct arena a = {0};
    struct ctr_info *infos = arena_calloc(&a, w->n + 1, sizeof(*infos));
    struct pod_info info = {.outcome = w->outcome,
                            .initialized = w->initialized,
                            .sandbox = sandbox_is_ready(w->sandbox),
                            .reason = w->reason,
                            .message = w->message,
                            .ip = w->last_ip[0] ? w->last_ip : NULL,
                            .host_ip = w->node->host_ip,
                            .start_us = w->start_us,
                            .now_us = clock_wall_us()};
    struct jsn *status;

    if (sandbox_is_ready(w->sandbox)) {
        (void)snprintf(w->last_ip, sizeof(w->last_ip), "%s", sandbox_ip(w->sandbox));
        info.ip = w->last_ip;
    }
    for (size_t i = 0; i < w->n; i++)
        container_info(&w->ctrs[i], &infos[i]);
    status = status_build(&a, w->spec, &info, infos, w->api_status);
    if (!w->object_gone && !w->unknown && !w->missing)
        status_writer_set(w->writer, status);
    node_pod_changed(w->node, w);
}

/* activeDeadlineSeconds counts from the pod's start. */
static bool is_expired(struct worker *w)
{
    int64_t left_ms;

    if (w->spec->deadline_s < 0 || w->outcome != POD_GOES_ON)
        return false;
    left_ms = clock_s_to_ms(w->spec->deadline_s) - (clock_wall_us() - w->start_us) / 1000;
    if (left_ms > 0) {
        worker_wake_at(w, loop_now_ms(w->node->loop) + left_ms);
        return false;
    }
    free(w->reason);
    free(w->message);
    w->reason = xstrdup("DeadlineExceeded");
    w->message = xstrdup("Pod was active on the node longer than the specified deadline");
    node_event(w->node, w->spec, NULL, KUBE_EVENT_NORMAL, "DeadlineExceeded", "%s", w->message);
    return true;
}

/* New deadlines reach containers that are stopping already. */
static void hurry(struct worker *w)
{
    for (size_t i = 0; w->spec->deleting && i < w->n; i++)
        if (w->ctrs[i].phase == CTR_STOPPING)
            container_stop(&w->ctrs[i], kill_time(w, &w->ctrs[i]));
}

static void plan(struct worker *w, struct pod_plan *ret)
{
    struct ctr_view *views = xcalloc(w->n ? w->n : 1, sizeof(*views));
    struct pod_view v = {.sandbox = sandbox_is_ready(w->sandbox),
                         .volumes = w->volumes,
                         .initialized = w->initialized,
                         .deleting = w->spec->deleting || w->object_gone,
                         .expired = is_expired(w) || w->refused,
                         .outcome = w->outcome};

    for (size_t i = 0; i < w->n; i++)
        container_view(&w->ctrs[i], &views[i]);
    lifecycle_plan(w->spec, &v, views, loop_now_ms(w->node->loop), ret);
    free(views);
}

static void worker_sync(struct worker *w)
{
    static struct pod_plan p;

    w->wake_ms = 0;
    hurry(w);
    plan(w, &p);
    if (p.outcome != w->outcome || p.initialized != w->initialized) {
        w->outcome = p.outcome;
        w->initialized = p.initialized;
        worker_state_save(w);
    }
    report(w);
    for (size_t i = 0; i < p.n; i++)
        perform(w, &p.actions[i]);
    if (p.wake_ms)
        worker_wake_at(w, p.wake_ms);
    report(w);
}

void worker_wake_at(struct worker *w, int64_t when_ms)
{
    int64_t now = loop_now_ms(w->node->loop);

    if (w->queued || (w->wake_ms && w->wake_ms <= when_ms))
        return;
    w->wake_ms = when_ms;
    loop_timer_arm(w->timer, MAX(0, when_ms - now));
}

void worker_update(struct worker *w, const struct kube_object *o)
{
    struct err e = {0};

    if (worker_state_load_object(w, o->text, &e) < 0 ||
        worker_state_save_object(w, o->text, &e) < 0)
        log_warn("pod %s/%s: %s", o->namespace, o->name, e.text);
    worker_refresh_volumes(w); /* labels and annotations may be in one */
    worker_wake(w);
}

void worker_set_unknown(struct worker *w, bool unknown)
{
    w->unknown = unknown;
    worker_state_save(w);
    make_writer(w);
    worker_wake(w);
}

void worker_object_gone(struct worker *w)
{
    w->object_gone = true;
    worker_wake(w);
}
