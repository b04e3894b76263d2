/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a pod has before its first container: volumes, and the sandbox with its network.
 *
 * Either may fail for a while (a ConfigMap that comes later, a full disk); then it is tried again,
 * less and less often, and an event says why.  Volumes follow the objects that they come from as
 * long as the pod is there.
 */
#include "src/cluster/node/pods/strangers.h"
#include "src/cluster/node/pods/worker_private.h"
#include "src/cluster/node/runtime/etc_files.h"
#include "src/cluster/node/volumes/claims.h"
#include "src/cluster/node/volumes/tokens.h"

#define RETRY_FIRST_MS 500
#define RETRY_MAX_MS 30000

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
        .shares = rootfs_shares(w->node->rootfs),
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

void worker_make_volumes(struct worker *w)
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

struct sandbox_events worker_sandbox_events(struct worker *w)
{
    return (struct sandbox_events){on_sandbox_ready, on_sandbox_failed, on_sandbox_lost, w};
}

void worker_make_sandbox(struct worker *w)
{
    struct sandbox_events events = worker_sandbox_events(w);

    for (size_t i = 0; i < w->n; i++)
        container_reset(&w->ctrs[i]);
    w->sandbox = sandbox_new(w->node, w->spec, w->dir, &events);
}

void worker_refresh_volumes(struct worker *w)
{
    AUTO(arena_done) struct arena a = {0};
    struct field_context fields;
    struct volumes_context x;
    struct err e = {0};
    bool changed;

    /* what another store has under the same names is not for this pod */
    if (w->unknown || w->missing || !strangers_ready(w->node->strangers))
        return;
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
