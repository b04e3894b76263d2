/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * default/kubernetes: client libraries in pods look for the API server there.
 *
 * The Service has the first address of the range, which the server's certificate names; where it
 * leads is decided in services.c.  A Service of that name that is there already is left alone.
 */
#include "src/cluster/node/network/api_service.h"

#include "src/base/alloc.h"
#include "src/base/log.h"

#define RETRY_MS 5000

struct api_service {
    struct node *node;
    struct kube_call *call;
    struct loop_source *timer;
};

static void on_done(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct api_service *s = arg;

    (void)a;
    s->call = NULL;
    if (f && f->err.num != -EEXIST) {
        log_debug("service default/kubernetes: %s", f->err.text);
        loop_timer_arm(s->timer, RETRY_MS);
    }
}

static void on_timer(void *arg)
{
    api_service_changed(arg);
}

struct api_service *api_service_new(struct node *n)
{
    struct api_service *s = xcalloc(1, sizeof(*s));

    s->node = n;
    s->timer = loop_add_timer(n->loop, on_timer, s);
    return s;
}

struct api_service *api_service_free(struct api_service *s)
{
    if (!s)
        return NULL;
    if (s->call)
        kube_call_cancel(s->call);
    (void)loop_source_free(s->timer);
    free(s);
    return NULL;
}

void api_service_changed(struct api_service *s)
{
    static const char object[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"kubernetes\","
        "\"labels\":{\"component\":\"apiserver\",\"provider\":\"kubernetes\"}},\"spec\":{"
        "\"clusterIP\":\"" API_SERVICE_IP "\",\"ports\":[{\"name\":\"https\",\"port\":443,"
        "\"protocol\":\"TCP\",\"targetPort\":6443}]}}";
    AUTO(arena_done) struct arena a = {0};
    struct kube_request r = {.verb = KUBE_CREATE,
                             .resource = {"", "v1", "services"},
                             .namespace = "default",
                             .fn = on_done,
                             .arg = s};
    struct jsn *body;

    if (s->call || !kube_cache_synced(s->node->services_cache) ||
        kube_cache_get(s->node->services_cache, "default", "kubernetes"))
        return;
    if (jsn_parse(&a, str_of(object), NULL, &body, NULL) < 0)
        abort();
    r.body = body;
    s->call = kube_call_start(s->node->client, &r);
}
