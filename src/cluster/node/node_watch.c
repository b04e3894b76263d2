/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the node sees of the API, and whom it tells.
 *
 * Pods begin, change and end; changes of ConfigMaps and Secrets go to the pods that use them,
 * changes of Services and pods to names and addresses, those of claims to whoever waits for one.  A
 * pod that cannot even be begun is told of in an event and tried again.
 */
#include "src/base/log.h"
#include "src/cluster/node/machine.h"
#include "src/cluster/node/network/services.h"
#include "src/cluster/node/node_private.h"
#include "src/cluster/node/pods/binder.h"
#include "src/cluster/node/pods/strangers.h"
#include "src/cluster/node/pods/worker.h"
#include "src/cluster/node/volumes/claims.h"

#define RETRY_MS 3000

/* The node name of an object's text, without parsing all of it twice: caches keep texts alone. */
static bool is_ours(const struct node *n, const struct kube_object *o)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *pod;

    return kube_object_parse(o, &a, &pod, NULL) == 0 &&
           streq(jsn_get_str(pod, "spec.nodeName"), n->name);
}

/* A pod that could not even be begun: its author is told, and it is tried again. */
static void put_off(struct node *n, const struct kube_object *o, const struct err *e)
{
    struct kube_reference about = {.api_version = "v1",
                                   .kind = "Pod",
                                   .namespace = o->namespace,
                                   .name = o->name,
                                   .uid = o->uid};

    log_error("pod %s/%s cannot be begun, trying again: %s", o->namespace, o->name, e->text);
    kube_recorder_emit(n->recorder, &about, KUBE_EVENT_WARNING, "FailedCreatePodSandBox", "%s",
                       e->text);
    loop_timer_arm(n->retry, RETRY_MS);
}

/* Two pods of one name would be two of one Slurm node: the jobs of the first would die. */
static bool hold_back(struct node *n, const struct kube_object *o)
{
    struct err e = {0};

    if (!strangers_hold(n->strangers, o->namespace, o->name, o->uid))
        return false;
    (void)err_set(&e, -EBUSY, ERR_RETRY,
                  "a pod of this name runs here that the API server does not know; 'slurmkeeper "
                  "recover' adopts it or gives it up");
    if (strangers_ready(n->strangers))
        put_off(n, o, &e);
    return true;
}

/* One that runs already, but whose record was damaged, gets its record from the API. */
static struct worker *begin_worker(struct node *n, const struct kube_object *o, struct err *e)
{
    return strangers_take_unrecorded(n->strangers, o->uid) ? worker_take_over(n, o, e)
                                                           : worker_new(n, o, e);
}

static void begin_pod(struct node *n, const struct kube_object *o)
{
    struct err e = {0};
    struct worker *w = is_ours(n, o) && !hold_back(n, o) ? begin_worker(n, o, &e) : NULL;

    if (w)
        (void)map_put(&n->workers, str_of(w->uid), w);
    else if (e.num < 0)
        put_off(n, o, &e);
}

void node_begin_pods(struct node *n)
{
    const struct kube_object *o;
    size_t at = 0;

    while ((o = kube_cache_next(n->pods, &at)))
        if (!map_get(&n->workers, str_of(o->uid)))
            begin_pod(n, o);
}

static void see_pod(struct node *n, const struct kube_object *o)
{
    struct worker *w = map_get(&n->workers, str_of(o->uid));

    binder_changed(n->binder);
    services_changed(n->services);
    strangers_note_version(n->strangers, o->version);
    if (w) {
        strangers_found(n->strangers, w);
        worker_update(w, o);
    } else {
        begin_pod(n, o);
    }
}

static void on_pod_added(void *arg, const struct kube_object *o)
{
    see_pod(arg, o);
}

static void on_pod_updated(void *arg, const struct kube_object *old, const struct kube_object *o)
{
    (void)old;
    see_pod(arg, o);
}

static void on_pod_deleted(void *arg, const struct kube_object *o, bool is_final)
{
    struct node *n = arg;
    struct worker *w = map_get(&n->workers, str_of(o->uid));

    strangers_note_version(n->strangers, o->version);
    binder_forget(n->binder, o->uid);
    binder_changed(n->binder);
    services_changed(n->services);
    if (w && is_final)
        worker_object_gone(w);
    else if (w)
        strangers_missing(n->strangers, w);
}

/* Pods on disk that the API does not have: deleted while nobody looked, or of another store. */
static void on_pods_synced(void *arg)
{
    struct node *n = arg;
    struct worker *w;
    size_t at = 0;

    while (map_next(&n->workers, &at, NULL, &w)) {
        const struct kube_object *o = kube_cache_get(n->pods, w->spec->ns, w->spec->name);

        if (!o || !streq(o->uid, w->uid))
            strangers_missing(n->strangers, w);
    }
    strangers_look(n->strangers);
    binder_changed(n->binder);
}

static void tell_config(struct node *n, const char *plural, const struct kube_object *o)
{
    struct worker *w;
    size_t at = 0;

    while (map_next(&n->workers, &at, NULL, &w))
        worker_config_changed(w, plural, o->namespace, o->name);
}

static void on_config_added(void *arg, const struct kube_object *o)
{
    tell_config(arg, "configmaps", o);
}
static void on_config_updated(void *arg, const struct kube_object *old, const struct kube_object *o)
{
    (void)old;
    tell_config(arg, "configmaps", o);
}
static void on_secret_added(void *arg, const struct kube_object *o)
{
    tell_config(arg, "secrets", o);
}
static void on_secret_updated(void *arg, const struct kube_object *old, const struct kube_object *o)
{
    (void)old;
    tell_config(arg, "secrets", o);
}

/* Everything that waits for claims and volumes. */
static void tell_claims(struct node *n)
{
    struct worker *w;
    size_t at = 0;

    claims_changed(n->claims);
    while (map_next(&n->workers, &at, NULL, &w)) {
        if (!w->volumes) {
            w->retry_ms = 0;
            worker_wake(w);
        }
    }
}
/* A claim may have come before the list of volumes, which need not bring any. */
static void on_claims_synced(void *arg)
{
    tell_claims(arg);
}
static void on_claim_added(void *arg, const struct kube_object *o)
{
    (void)o;
    tell_claims(arg);
}
static void on_claim_updated(void *arg, const struct kube_object *old, const struct kube_object *o)
{
    (void)old;
    (void)o;
    tell_claims(arg);
}
static void on_claim_deleted(void *arg, const struct kube_object *o, bool is_final)
{
    (void)o;
    (void)is_final;
    tell_claims(arg);
}

static void tell_services(struct node *n)
{
    services_changed(n->services);
}
static void on_services_synced(void *arg)
{
    tell_services(arg);
}
static void on_service_added(void *arg, const struct kube_object *o)
{
    (void)o;
    tell_services(arg);
}
static void on_service_updated(void *arg, const struct kube_object *old,
                               const struct kube_object *o)
{
    (void)old;
    (void)o;
    tell_services(arg);
}
static void on_service_deleted(void *arg, const struct kube_object *o, bool is_final)
{
    (void)o;
    (void)is_final;
    tell_services(arg);
}

static void on_node_added(void *arg, const struct kube_object *o)
{
    struct node *n = arg;

    (void)o;
    binder_changed(n->binder);
}
static void on_node_updated(void *arg, const struct kube_object *old, const struct kube_object *o)
{
    (void)old;
    on_node_added(arg, o);
}
static void on_node_deleted(void *arg, const struct kube_object *o, bool is_final)
{
    struct node *n = arg;

    (void)is_final;
    if (streq(o->name, n->name))
        machine_register(n->machine);
}

static void on_trouble(void *arg, const struct kube_failure *f, int64_t retry_ms)
{
    (void)arg;
    log_debug("API: trying again in %lld ms: %s", (long long)retry_ms, f->err.text);
}

static struct kube_cache *cache(struct node *n, const char *plural, const struct kube_handler *h)
{
    struct kube_cache_options o = {
        .reflector = {.scope = {.resource = {"", "v1", plural}}, .backoff_max_ms = 2000},
        .keep_text = true,
        .trouble = on_trouble,
        .trouble_arg = n,
    };
    struct kube_cache *c = kube_cache_new(n->client, &o);

    kube_cache_add_handler(c, h);
    return c;
}

void node_open_caches(struct node *n)
{
    struct kube_handler pods = {on_pod_added, on_pod_updated, on_pod_deleted, on_pods_synced, n};
    struct kube_handler configs = {on_config_added, on_config_updated, NULL, NULL, n};
    struct kube_handler secrets = {on_secret_added, on_secret_updated, NULL, NULL, n};
    struct kube_handler claims = {on_claim_added, on_claim_updated, on_claim_deleted,
                                  on_claims_synced, n};
    struct kube_handler services = {on_service_added, on_service_updated, on_service_deleted,
                                    on_services_synced, n};
    struct kube_handler nodes = {on_node_added, on_node_updated, on_node_deleted, NULL, n};

    n->configs = cache(n, "configmaps", &configs);
    n->secrets = cache(n, "secrets", &secrets);
    n->claims_cache = cache(n, "persistentvolumeclaims", &claims);
    n->volumes_cache = cache(n, "persistentvolumes", &claims);
    n->services_cache = cache(n, "services", &services);
    n->endpoints = cache(n, "endpoints", &services);
    n->nodes = cache(n, "nodes", &nodes);
    n->pods = cache(n, "pods", &pods);
}

static const struct jsn *get_object(void *arg, struct arena *a, const char *plural, const char *ns,
                                    const char *name)
{
    struct node *n = arg;
    const struct kube_cache *c = streq(plural, "secrets") ? n->secrets : n->configs;
    const struct kube_object *o = c ? kube_cache_get(c, ns, name) : NULL;
    struct jsn *v = NULL;

    if (!o || kube_object_parse(o, a, &v, NULL) < 0)
        return NULL;
    return v;
}

struct object_source node_object_source(struct node *n)
{
    return (struct object_source){get_object, n};
}

void node_free_caches(struct node *n)
{
    struct kube_cache **all[] = {&n->pods,           &n->configs,   &n->secrets,
                                 &n->services_cache, &n->endpoints, &n->claims_cache,
                                 &n->volumes_cache,  &n->nodes};

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        *all[i] = kube_cache_free(*all[i]);
}
