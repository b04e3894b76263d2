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
#include "src/cluster/node/worker.h"

#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/cluster/node/claims.h"
#include "src/cluster/node/etc_files.h"
#include "src/cluster/node/lifecycle.h"
#include "src/cluster/node/tokens.h"
#include "src/cluster/node/worker_state.h"

#define RETRY_FIRST_MS 500
#define RETRY_MAX_MS 30000
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
    worker_object_gone(arg);
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

static void set_up_containers(struct worker *w)
{
    w->n = w->spec->n;
    w->ctrs = xcalloc(w->n ? w->n : 1, sizeof(*w->ctrs));
    for (size_t i = 0; i < w->n; i++)
        container_init(&w->ctrs[i], w, i);
    w->writer =
        status_writer_new(w->node->client, w->spec->ns, w->spec->name, w->uid, on_status_gone, w);
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

static void on_sandbox_ready(void *arg);
static void on_sandbox_failed(void *arg, const struct err *e);
static void on_sandbox_lost(void *arg);

static struct sandbox_events sandbox_events(struct worker *w)
{
    return (struct sandbox_events){on_sandbox_ready, on_sandbox_failed, on_sandbox_lost, w};
}

struct worker *worker_adopt(struct node *n, const char *uid, struct err *e)
{
    struct worker *w = make(n, uid);
    struct sandbox_events events = sandbox_events(w);

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

void worker_fields(const struct worker *w, struct field_context *ret)
{
    *ret = (struct field_context){.pod_ip = w->sandbox ? sandbox_ip(w->sandbox) : "",
                                  .host_ip = w->node->host_ip,
                                  .cpu_milli = w->node->cpu_milli,
                                  .memory_bytes = w->node->memory_bytes};
}

static const char *get_token(void *arg, struct arena *a, const char *audience, int64_t seconds)
{
    struct worker *w = arg;
    const char *account = jsn_get_str(w->spec->json, "spec.serviceAccountName");

    return tokens_get(w->node->tokens, a, w->spec, account ? account : "default", audience,
                      seconds);
}

static const char *get_claim(void *arg, struct arena *a, const char *ns, const char *name,
                             struct err *e)
{
    struct worker *w = arg;

    return claims_directory(w->node->claims, a, ns, name, e);
}

void worker_volumes(struct worker *w, const struct field_context *fields,
                    struct volumes_context *ret)
{
    *ret = (struct volumes_context){
        .dir = w->dir,
        .payload = {.pod = w->spec,
                    .fields = fields,
                    .source = &w->node->source,
                    .token = get_token,
                    .token_arg = w},
        .fs_group = jsn_get_int(w->spec->json, "spec.securityContext.fsGroup", -1),
        .claim = get_claim,
        .claim_arg = w,
    };
}

/* Something that a pod needs failed: try again later, and say so unless that was the first time:
 * objects that belong together are made one after the other. */
static void set_back(struct worker *w, const char *reason, const struct err *e)
{
    int64_t delay = RETRY_FIRST_MS;

    for (unsigned int i = 0; i < w->trouble && delay < RETRY_MAX_MS; i++)
        delay *= 2;
    w->trouble++;
    delay = MIN(delay, RETRY_MAX_MS);
    w->retry_ms = loop_now_ms(w->node->loop) + delay;
    if (w->trouble > 1)
        node_event(w->node, w->spec, NULL, KUBE_EVENT_WARNING, reason, "%s", e->text);
    worker_wake_at(w, w->retry_ms);
}

static void make_volumes(struct worker *w)
{
    AUTO(arena_done) struct arena a = {0};
    struct field_context fields;
    struct volumes_context x;
    struct err e = {0};
    int r;

    worker_fields(w, &fields);
    worker_volumes(w, &fields, &x);
    r = volumes_make(&a, &x, &e);
    if (r == 0 && !w->spec->host_ipc)
        r = volumes_make_shm(w->dir, &e);
    if (r == -EAGAIN)
        return; /* a token is on its way and wakes us */
    if (r < 0) {
        set_back(w, "FailedMount", &e);
        return;
    }
    w->volumes = true;
    w->trouble = 0;
    w->retry_ms = 0;
    worker_wake(w);
}

static void on_sandbox_ready(void *arg)
{
    struct worker *w = arg;
    struct err e = {0};

    if (etc_files_write(w->dir, w->spec, sandbox_ip(w->sandbox), w->node->bridge.gateway, &e) < 0) {
        w->sandbox = sandbox_end(w->sandbox);
        set_back(w, "FailedCreatePodSandBox", &e);
        return;
    }
    w->trouble = 0;
    w->retry_ms = 0;
    worker_refresh_volumes(w); /* the address is known now */
    worker_wake(w);
}

static void on_sandbox_failed(void *arg, const struct err *e)
{
    struct worker *w = arg;

    w->sandbox = NULL;
    set_back(w, "FailedCreatePodSandBox", e);
}

static void on_sandbox_lost(void *arg)
{
    struct worker *w = arg;

    w->sandbox = NULL;
    w->initialized = false;
    if (!w->spec->deleting && w->outcome == POD_GOES_ON)
        node_event(w->node, w->spec, NULL, KUBE_EVENT_NORMAL, "SandboxChanged",
                   "Pod sandbox changed, it will be killed and re-created.");
    worker_wake(w);
}

static void make_sandbox(struct worker *w)
{
    struct sandbox_events events = sandbox_events(w);

    for (size_t i = 0; i < w->n; i++)
        container_reset(&w->ctrs[i]);
    w->sandbox = sandbox_new(w->node, w->spec, w->dir, &events);
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

static void on_removed(void *arg, int r, const struct err *e)
{
    struct worker *w = arg;

    w->removal = NULL;
    if (r < 0)
        log_warn("pod %s: its directory is not removed: %s", w->uid, e->text);
    node_forget(w->node, w);
}

static int remove_dir(void *arg, struct err *e)
{
    return file_remove_tree(arg, e);
}

/* Nothing of the pod is left in the API: nor shall there be on the machine. */
static void vanish(struct worker *w)
{
    if (w->removal || w->dead)
        return;
    w->removal = job_fork(w->node->loop, remove_dir, w->dir, on_removed, w);
}

static void on_deleted(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct worker *w = arg;

    (void)a;
    w->deletion = NULL;
    if (!f || f->err.num == -ENOENT || f->err.num == -ESTALE || f->err.num == -EEXIST) {
        w->object_gone = true;
        worker_wake(w);
        return;
    }
    log_warn("pod %s/%s: not deleted, trying again: %s", w->spec->ns, w->spec->name, f->err.text);
    w->deletion_sent = false;
    worker_wake_at(w, loop_now_ms(w->node->loop) + 2000);
}

/* Everything has ended: the API may forget the pod. */
static void delete_object(struct worker *w)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *body = jsn_object(&a);
    struct kube_request r = {.verb = KUBE_DELETE,
                             .resource = {"", "v1", "pods"},
                             .namespace = w->spec->ns,
                             .name = w->spec->name,
                             .body = body,
                             .fn = on_deleted,
                             .arg = w};

    if (w->deletion_sent)
        return;
    jsn_set_str(&a, body, "kind", "DeleteOptions");
    jsn_set_str(&a, body, "apiVersion", "v1");
    jsn_set_int(&a, body, "gracePeriodSeconds", 0);
    jsn_set_path(&a, body, "preconditions.uid", jsn_string(&a, w->uid));
    w->deletion_sent = true;
    w->deletion = kube_call_start(w->node->client, &r);
}

static void release(struct worker *w)
{
    AUTO(free) char *group = NULL;

    if (!w->released) {
        group = xasprintf("%s/pod%s", cgroup_root(w->node->cgroups), w->uid);
        w->sandbox = sandbox_end(w->sandbox);
        volumes_unmount(w->dir);
        cgroup_remove(w->node->cgroups, group);
        ipam_release(&w->node->bridge.ipam, w->uid);
        w->volumes = false;
        w->released = true;
        w->retry_ms = 0;
    }
    if (w->object_gone)
        vanish(w);
    else if (w->spec->deleting && status_writer_settled(w->writer))
        delete_object(w);
    else if (w->spec->deleting)
        worker_wake_at(w, loop_now_ms(w->node->loop) + 50);
}

static void perform(struct worker *w, const struct pod_action *act)
{
    bool may_retry = loop_now_ms(w->node->loop) >= w->retry_ms;

    switch (act->act) {
    case ACT_MAKE_VOLUMES:
        if (may_retry)
            make_volumes(w);
        break;
    case ACT_MAKE_SANDBOX:
        if (may_retry && !w->sandbox)
            make_sandbox(w);
        break;
    case ACT_START:
        start_container(w, act->ctr);
        break;
    case ACT_STOP:
        container_stop(&w->ctrs[act->ctr], kill_time(w, &w->ctrs[act->ctr]));
        break;
    case ACT_RELEASE:
        release(w);
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
    if (!w->object_gone)
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

void worker_object_gone(struct worker *w)
{
    w->object_gone = true;
    worker_wake(w);
}

void worker_refresh_volumes(struct worker *w)
{
    AUTO(arena_done) struct arena a = {0};
    struct field_context fields;
    struct volumes_context x;
    struct err e = {0};
    bool changed;

    if (!w->volumes) {
        w->retry_ms = 0;
        worker_wake(w);
        return;
    }
    worker_fields(w, &fields);
    worker_volumes(w, &fields, &x);
    if (volumes_refresh(&a, &x, &changed, &e) < 0 && e.num != -EAGAIN && !w->spec->deleting)
        node_event(w->node, w->spec, NULL, KUBE_EVENT_WARNING, "FailedMount", "%s", e.text);
}

void worker_config_changed(struct worker *w, const char *plural, const char *ns, const char *name)
{
    bool uses = false;

    if (!streq(ns, w->spec->ns))
        return;
    JSN_FOR_ITEMS (v, jsn_get(w->spec->json, "spec.volumes"))
        uses = uses || payload_uses(v, plural, name);
    if (uses)
        worker_refresh_volumes(w);
    for (size_t i = 0; i < w->n; i++) {
        struct container *c = &w->ctrs[i];

        if (c->waiting_reason && streq(c->waiting_reason, "CreateContainerConfigError")) {
            c->retry_ms = 0;
            worker_wake(w);
        }
    }
}
