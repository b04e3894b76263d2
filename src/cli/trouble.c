/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is wrong in a cluster: conditions that do not hold, containers that do not run, and the
 * warnings that were given in the last minutes, each said once.
 */
#include "src/cli/trouble.h"

#include <stdio.h>

#include "src/api/kinds.h"
#include "src/base/clock.h"
#include "src/base/map.h"
#include "src/cli/trouble_conditions.h"

#define RECENT_US (10LL * 60 * 1000000)
#define STARTING_US (30LL * 1000000)
#define LOG_LINES "8"

const struct kube_resource resource_controllers = {API_GROUP, API_VERSION, "controllers"};
const struct kube_resource resource_nodesets = {API_GROUP, API_VERSION, "nodesets"};
const struct kube_resource resource_pods = {"", "v1", "pods"};
static const struct kube_resource resource_nodes = {"", "v1", "nodes"};

struct finder {
    struct ask *k;
    struct arena *a;
    struct jsn *list;
    bool logs;
    struct map unwell; /* "NAMESPACE/NAME" of pods that are there and not ready */
};

static const char *key_of(struct finder *f, const char *ns, const char *name)
{
    return arena_printf(f->a, "%s/%s", ns ? ns : "", name ? name : "");
}

static int64_t since_us(const struct jsn *v, const char *path)
{
    const char *text = jsn_get_str(v, path);
    int64_t when;

    if (!text || clock_parse_rfc3339(str_of(text), &when) < 0)
        return INT64_MAX;
    return clock_wall_us() - when;
}

static bool is_ready(const struct jsn *pod)
{
    JSN_FOR_ITEMS (c, jsn_get(pod, "status.conditions"))
        if (streq(jsn_get_str(c, "type"), "Ready"))
            return streq(jsn_get_str(c, "status"), "True");
    return false;
}

static void say(struct finder *f, const char *kind, const struct jsn *object, const char *what)
{
    trouble_say(f->a, f->list, kind, object, what);
}

/* The last lines of a container, as they are. */
static void add_log(struct finder *f, const struct jsn *pod, const char *container, bool previous)
{
    const char *query[] = {
        "container", container, "tailLines", LOG_LINES, previous ? "previous" : NULL, "true", NULL};
    struct kube_request r = {.verb = KUBE_GET,
                             .resource = resource_pods,
                             .namespace = jsn_get_str(pod, "metadata.namespace"),
                             .name = jsn_get_str(pod, "metadata.name"),
                             .subresource = "log",
                             .query = query,
                             .plain = true};
    struct jsn *text = NULL;
    struct str rest;
    struct str line;

    if (!f->logs || ask_call(f->k, &r, f->a, &text, NULL) < 0 || !jsn_text(text))
        return;
    rest = str_trim(text->s);
    while (rest.n && str_split(&rest, '\n', &line))
        jsn_append(f->a, f->list, jsn_stringf(f->a, "    %s: " STR_FMT, container, STR_ARG(line)));
}

static void look_at_container(struct finder *f, const struct jsn *pod, const struct jsn *c)
{
    const char *name = jsn_get_str(c, "name");
    const struct jsn *waiting = jsn_get(c, "state.waiting");
    const struct jsn *ended = jsn_get(c, "state.terminated");
    const struct jsn *last = jsn_get(c, "lastState.terminated");
    const char *message = jsn_get_str(waiting, "message");
    const char *reason = jsn_get_str(waiting, "reason");

    if (jsn_get_bool(c, "ready", false) || (ended && jsn_get_int(ended, "exitCode", 1) == 0))
        return;
    if (!waiting && !ended && !last) {
        if (f->logs && jsn_get(c, "state.running")) {
            say(f, "Pod", pod, arena_printf(f->a, "container %s runs, but is not ready", name));
            add_log(f, pod, name, false);
        }
        return;
    }
    if (reason && (streq(reason, "ContainerCreating") || streq(reason, "PodInitializing")))
        return;
    if (waiting)
        say(f, "Pod", pod,
            arena_printf(f->a, "container %s waits: %s%s%s", name, reason ? reason : "unknown",
                         message ? ": " : "", message ? message : ""));
    else
        say(f, "Pod", pod,
            arena_printf(f->a, "container %s ended with status %lld", name,
                         (long long)jsn_get_int(ended ? ended : last, "exitCode", -1)));
    add_log(f, pod, name, waiting && last);
}

/* Who has just been made may still be on the way, unless it is asked why nothing works. */
static void look_at_pod(struct finder *f, const struct jsn *pod)
{
    if (is_ready(pod) || (!f->logs && since_us(pod, "metadata.creationTimestamp") < STARTING_US))
        return;
    map_put(&f->unwell,
            str_of(key_of(f, jsn_get_str(pod, "metadata.namespace"),
                          jsn_get_str(pod, "metadata.name"))),
            (void *)(uintptr_t)pod);
    JSN_FOR_ITEMS (c, jsn_get(pod, "status.conditions"))
        if (streq(jsn_get_str(c, "type"), "PodScheduled") &&
            streq(jsn_get_str(c, "status"), "False"))
            say(f, "Pod", pod, jsn_get_str(c, "message"));
    JSN_FOR_ITEMS (c, jsn_get(pod, "status.initContainerStatuses"))
        look_at_container(f, pod, c);
    JSN_FOR_ITEMS (c, jsn_get(pod, "status.containerStatuses"))
        look_at_container(f, pod, c);
}

static bool is_recent(const struct jsn *event)
{
    const char *at = jsn_get_str(event, "lastTimestamp");
    int64_t when;

    if (!at)
        at = jsn_get_str(event, "eventTime");
    return at && clock_parse_rfc3339(str_of(at), &when) == 0 && clock_wall_us() - when < RECENT_US;
}

static int each(struct finder *f, const struct kube_resource *what,
                void (*look)(struct finder *f, const struct jsn *object), struct err *e)
{
    struct jsn *items;
    int r = ask_list(f->k, f->a, what, NULL, &items, e);

    JSN_FOR_ITEMS (item, items)
        look(f, item);
    return r;
}

/* Conditions tell how it is now; an event, how it was. */
static int look_at_ours(struct finder *f, struct err *e)
{
    int r = 0;

    API_FOR_KINDS (k) {
        struct kube_resource what = {k->group, k->version, k->plural};
        struct jsn *items = NULL;

        if (r == 0)
            r = ask_list(f->k, f->a, &what, NULL, &items, e);
        JSN_FOR_ITEMS (item, items)
            trouble_conditions(f->a, k->kind, item, clock_wall_us(), f->logs, f->list);
    }
    return r;
}

/* Pods that run here and that the API does not know: the node keeps them, and says so. */
static void look_at_node(struct finder *f, const struct jsn *object)
{
    JSN_FOR_ITEMS (c, jsn_get(object, "status.conditions"))
        if (streq(jsn_get_str(c, "type"), "UnknownPods") && streq(jsn_get_str(c, "status"), "True"))
            say(f, "Node", object, jsn_get_str(c, "message"));
}

/* The Node's condition tells how it is now. */
static bool is_told(const struct jsn *event)
{
    return streq(jsn_get_str(event, "reason"), "UnknownPod");
}

static void look_at_event(struct finder *f, const struct jsn *event)
{
    const struct jsn *of = jsn_key(event, "involvedObject");
    struct jsn *meta = jsn_object(f->a);
    struct jsn *object = jsn_object(f->a);

    if (!streq(jsn_get_str(event, "type"), "Warning") || !is_recent(event) ||
        api_kind_find(jsn_get_str(of, "kind")) || is_told(event))
        return;
    if (streq(jsn_get_str(of, "kind"), "Pod") &&
        !map_get(&f->unwell,
                 str_of(key_of(f, jsn_get_str(of, "namespace"), jsn_get_str(of, "name")))))
        return; /* that is over */
    jsn_set_str(f->a, meta, "namespace", jsn_get_str(of, "namespace"));
    jsn_set_str(f->a, meta, "name", jsn_get_str(of, "name"));
    jsn_set(f->a, object, "metadata", meta);
    say(f, jsn_get_str(of, "kind"), object, jsn_get_str(event, "message"));
}

int trouble_find(struct ask *k, struct arena *a, bool logs, struct jsn **ret_list, struct err *e)
{
    static const struct kube_resource events = {"", "v1", "events"};
    struct finder f = {.k = k, .a = a, .list = jsn_array(a), .logs = logs};
    int r = each(&f, &resource_nodes, look_at_node, e);

    if (r == 0)
        r = look_at_ours(&f, e);
    if (r == 0)
        r = each(&f, &resource_pods, look_at_pod, e);
    if (r == 0)
        r = each(&f, &events, look_at_event, e);
    *ret_list = f.list;
    map_done(&f.unwell);
    return r;
}
