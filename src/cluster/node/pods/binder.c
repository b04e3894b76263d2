/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler of a cluster with one node.
 *
 * Every pod without a node is held against what is left; one that fits is bound, in the order of
 * age.  One that does not fit gets an event and the condition that says why, and is looked at again
 * whenever a pod goes or the Node changes.  Pods that name another scheduler are left alone.
 */
#include "src/cluster/node/pods/binder.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/cluster/node/pods/schedule.h"

#define SETTLE_MS 2

struct binding {
    struct binder *binder;
    char *uid;
    char *ns;
    char *name;
    char *told; /* why it does not fit, as it was told last */
    struct kube_call *call;
    bool bound;
};

struct binder {
    struct node *node;
    struct loop_source *timer;
    struct map bindings; /* uid -> struct binding, owned */
};

static void free_binding(void *p)
{
    struct binding *b = p;

    if (b->call)
        kube_call_cancel(b->call);
    free(b->uid);
    free(b->ns);
    free(b->name);
    free(b->told);
    free(b);
}

static struct kube_reference reference(const struct binding *b)
{
    return (struct kube_reference){
        .api_version = "v1", .kind = "Pod", .namespace = b->ns, .name = b->name, .uid = b->uid};
}

static void on_bound(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct binding *b = arg;
    struct kube_reference about = reference(b);

    (void)a;
    b->call = NULL;
    if (!f) {
        kube_recorder_emit(b->binder->node->recorder, &about, KUBE_EVENT_NORMAL, "Scheduled",
                           "Successfully assigned %s/%s to %s", b->ns, b->name,
                           b->binder->node->name);
        return;
    }
    b->bound = false;
    if (f->err.num != -ENOENT && f->err.num != -EEXIST && f->err.num != -ESTALE)
        log_warn("pod %s/%s: not bound, trying again: %s", b->ns, b->name, f->err.text);
    loop_timer_arm(b->binder->timer, 1000);
}

static void bind_pod(struct binding *b)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *body = jsn_object(&a);
    struct kube_request r = {.verb = KUBE_CREATE,
                             .resource = {"", "v1", "pods"},
                             .namespace = b->ns,
                             .name = b->name,
                             .subresource = "binding",
                             .body = body,
                             .fn = on_bound,
                             .arg = b};

    jsn_set_str(&a, body, "apiVersion", "v1");
    jsn_set_str(&a, body, "kind", "Binding");
    jsn_set_path(&a, body, "metadata.name", jsn_string(&a, b->name));
    jsn_set_path(&a, body, "metadata.uid", jsn_string(&a, b->uid));
    jsn_set_path(&a, body, "target.kind", jsn_string(&a, "Node"));
    jsn_set_path(&a, body, "target.name", jsn_string(&a, b->binder->node->name));
    b->bound = true;
    b->call = kube_call_start(b->binder->node->client, &r);
}

static void on_told(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct binding *b = arg;

    (void)a;
    (void)f;
    b->call = NULL;
}

/* The event and the condition PodScheduled=False. */
static void tell_why(struct binding *b, const char *why)
{
    AUTO(arena_done) struct arena a = {0};
    struct kube_reference about = reference(b);
    struct jsn *body = jsn_object(&a);
    struct jsn *list = jsn_array(&a);
    struct jsn *c = jsn_object(&a);
    char now[CLOCK_RFC3339_LEN];
    struct kube_request r = {.verb = KUBE_PATCH_STRATEGIC,
                             .resource = {"", "v1", "pods"},
                             .namespace = b->ns,
                             .name = b->name,
                             .subresource = "status",
                             .body = body,
                             .fn = on_told,
                             .arg = b};

    if (b->call || streq(b->told, why))
        return;
    free(b->told);
    b->told = xstrdup(why);
    kube_recorder_emit(b->binder->node->recorder, &about, KUBE_EVENT_WARNING, "FailedScheduling",
                       "%s", why);
    clock_rfc3339(clock_wall_us(), now);
    jsn_set_str(&a, c, "type", "PodScheduled");
    jsn_set_str(&a, c, "status", "False");
    jsn_set_str(&a, c, "reason", "Unschedulable");
    jsn_set_str(&a, c, "message", why);
    jsn_set_str(&a, c, "lastTransitionTime", now);
    jsn_append(&a, list, c);
    jsn_set_path(&a, body, "metadata.uid", jsn_string(&a, b->uid));
    jsn_set_path(&a, body, "status.conditions", list);
    b->call = kube_call_start(b->binder->node->client, &r);
}

static struct binding *binding_of(struct binder *x, const struct kube_object *o)
{
    struct binding *b = map_get(&x->bindings, str_of(o->uid));

    if (b)
        return b;
    b = xcalloc(1, sizeof(*b));
    *b = (struct binding){
        .binder = x, .uid = xstrdup(o->uid), .ns = xstrdup(o->namespace), .name = xstrdup(o->name)};
    (void)map_put(&x->bindings, str_of(o->uid), b);
    return b;
}

struct waiting {
    const struct kube_object *object;
    const struct jsn *pod;
    const char *created;
};

static int by_age(const void *x, const void *y)
{
    const struct waiting *a = x;
    const struct waiting *b = y;
    int r = strcmp(a->created, b->created);

    return r ? r : strcmp(a->object->name, b->object->name);
}

static bool waits(const struct jsn *pod)
{
    const char *node = jsn_get_str(pod, "spec.nodeName");
    const char *scheduler = jsn_get_str(pod, "spec.schedulerName");

    return (!node || !node[0]) && !jsn_get(pod, "metadata.deletionTimestamp") &&
           jsn_len(jsn_get(pod, "spec.schedulingGates")) == 0 &&
           (!scheduler || streq(scheduler, "default-scheduler"));
}

static void consider(struct binder *x, const struct waiting *w, struct schedule_view *v)
{
    AUTO(buf_done) struct buf why = {0};
    struct binding *b = binding_of(x, w->object);
    struct pod_demand ask = limits_demand(jsn_key(w->pod, "spec"));

    if (!b->bound && schedule_fits(w->pod, v, &why) != 0) {
        tell_why(b, buf_str(&why));
        return;
    }
    if (!b->bound && !b->call)
        bind_pod(b);
    v->pods++;
    v->used.cpu_milli += ask.cpu_milli;
    v->used.memory_bytes += ask.memory_bytes;
}

/* What counts already, and who waits. */
static struct waiting *collect(struct binder *x, struct arena *a, struct schedule_view *v,
                               size_t *ret_n)
{
    const struct kube_object *o;
    struct waiting *list = NULL;
    size_t cap = 0;
    size_t at = 0;

    *ret_n = 0;
    while ((o = kube_cache_next(x->node->pods, &at))) {
        struct jsn *pod;

        if (kube_object_parse(o, a, &pod, NULL) < 0)
            continue;
        if (schedule_counts(pod)) {
            struct pod_demand ask = limits_demand(jsn_key(pod, "spec"));

            v->pods++;
            v->used.cpu_milli += ask.cpu_milli;
            v->used.memory_bytes += ask.memory_bytes;
        } else if (waits(pod)) {
            const char *created = jsn_get_str(pod, "metadata.creationTimestamp");

            arena_reserve(a, &list, &cap, *ret_n + 1, sizeof(*list));
            list[(*ret_n)++] = (struct waiting){o, pod, created ? created : ""};
        }
    }
    return list;
}

static void on_timer(void *arg)
{
    AUTO(arena_done) struct arena a = {0};
    struct binder *x = arg;
    const struct kube_object *own = kube_cache_get(x->node->nodes, "", x->node->name);
    struct schedule_view v = {0};
    struct waiting *list;
    struct jsn *node = NULL;
    size_t n;

    if (!kube_cache_synced(x->node->pods) || !own || kube_object_parse(own, &a, &node, NULL) < 0)
        return;
    v.node = node;
    list = collect(x, &a, &v, &n);
    if (n > 1)
        qsort(list, n, sizeof(*list), by_age);
    for (size_t i = 0; i < n; i++)
        consider(x, &list[i], &v);
}

struct binder *binder_new(struct node *n)
{
    struct binder *b = xcalloc(1, sizeof(*b));

    b->node = n;
    b->timer = loop_add_timer(n->loop, on_timer, b);
    map_init(&b->bindings, free_binding);
    return b;
}

struct binder *binder_free(struct binder *b)
{
    if (!b)
        return NULL;
    (void)loop_source_free(b->timer);
    map_done(&b->bindings);
    free(b);
    return NULL;
}

void binder_changed(struct binder *b)
{
    if (!loop_timer_armed(b->timer))
        loop_timer_arm(b->timer, SETTLE_MS);
}

void binder_forget(struct binder *b, const char *uid)
{
    (void)map_del(&b->bindings, str_of(uid));
}
