/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pods stand behind a service.
 *
 * A port may be named in the service and numbered in each pod, so pods of one service can differ in
 * the numbers; they are grouped by them.  A pod that lacks a named port is not in the group that
 * has it, but still behind the service with the ports it has.
 */
#include "src/cluster/workloads/backing.h"

#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/pod.h"

bool backing_is_foreign(const struct jsn *service)
{
    return jsn_len(jsn_get(service, "spec.selector")) == 0 ||
           streq(jsn_get_str(service, "spec.type"), "ExternalName");
}

bool backing_is_headless(const struct jsn *service)
{
    return streq(jsn_get_str(service, "spec.clusterIP"), "None");
}

static bool same_protocol(const struct jsn *a, const struct jsn *b)
{
    const char *pa = jsn_get_str(a, "protocol");
    const char *pb = jsn_get_str(b, "protocol");

    return streq(pa ? pa : "TCP", pb ? pb : "TCP");
}

/* The number of a named port in the pod; 0 if no container has it. */
static int64_t named_port(const struct jsn *pod, const struct jsn *port, const char *name)
{
    JSN_FOR_ITEMS (container, jsn_get(pod, "spec.containers"))
        JSN_FOR_ITEMS (have, jsn_key(container, "ports"))
            if (streq(jsn_get_str(have, "name"), name) && same_protocol(have, port))
                return jsn_get_int(have, "containerPort", 0);
    return 0;
}

static int64_t target_of(const struct jsn *pod, const struct jsn *port)
{
    const struct jsn *target = jsn_key(port, "targetPort");
    int64_t number = jsn_is(target, JSN_INT) ? target->i : 0;

    if (jsn_is(target, JSN_STRING))
        return named_port(pod, port, jsn_text(target));
    return number > 0 ? number : jsn_get_int(port, "port", 0);
}

static struct jsn *ports_of(struct arena *a, const struct jsn *service, const struct jsn *pod)
{
    struct jsn *list = jsn_array(a);

    JSN_FOR_ITEMS (port, jsn_get(service, "spec.ports")) {
        static const char *const kept[] = {"name", "protocol", "appProtocol"};
        int64_t number = target_of(pod, port);
        struct jsn *o = jsn_object(a);

        if (number == 0)
            continue;
        for (size_t i = 0; i < ARRAY_LEN(kept); i++)
            if (jsn_key(port, kept[i]))
                jsn_set(a, o, kept[i], jsn_key(port, kept[i]));
        jsn_set_int(a, o, "port", number);
        jsn_append(a, list, o);
    }
    return list;
}

static struct backing_group *group_for(struct arena *a, struct backing *b, struct jsn *ports)
{
    for (size_t i = 0; i < b->n; i++)
        if (jsn_equal(b->groups[i].ports, ports))
            return &b->groups[i];
    arena_reserve(a, &b->groups, &b->cap, b->n + 1, sizeof(*b->groups));
    b->groups[b->n] = (struct backing_group){ports, jsn_array(a)};
    return &b->groups[b->n++];
}

static int by_address(const void *pa, const void *pb)
{
    const struct jsn *const *a = pa;
    const struct jsn *const *b = pb;

    return strcmp(jsn_get_str(*a, "status.podIP"), jsn_get_str(*b, "status.podIP"));
}

bool backing_has(const struct jsn *service, const struct jsn *pod)
{
    const char *ip = jsn_get_str(pod, "status.podIP");
    const char *node = jsn_get_str(pod, "spec.nodeName");

    return ip && ip[0] && node && node[0] && !pod_over(pod) &&
           labelmap_match(jsn_get(service, "spec.selector"), jsn_get(pod, "metadata.labels"));
}

struct backing backing_of(struct arena *a, const struct jsn *service, const struct jsn *pods)
{
    struct backing b = {0};

    JSN_FOR_ITEMS (pod, pods) {
        struct jsn *ports;

        if (!backing_has(service, pod))
            continue;
        ports = ports_of(a, service, pod);
        if (jsn_len(ports) > 0 || jsn_len(jsn_get(service, "spec.ports")) == 0)
            jsn_append(a, group_for(a, &b, ports)->pods, pod);
    }
    for (size_t i = 0; i < b.n; i++)
        qsort(b.groups[i].pods->a.items, jsn_len(b.groups[i].pods), sizeof(struct jsn *),
              by_address);
    return b;
}

bool backing_is_ready(const struct jsn *service, const struct jsn *pod)
{
    return jsn_get_bool(service, "spec.publishNotReadyAddresses", false) ||
           (pod_ready(pod) && !object_deleting(pod));
}

/* {"kind": "Pod", "name": ...} */
static struct jsn *reference_to(struct arena *a, const struct jsn *pod)
{
    struct jsn *o = jsn_object(a);

    jsn_set_str(a, o, "kind", "Pod");
    jsn_set_str(a, o, "namespace", object_namespace(pod));
    jsn_set_str(a, o, "name", object_name(pod));
    jsn_set_str(a, o, "uid", object_uid(pod));
    return o;
}

/* The pod's host name in the service's domain; NULL if it has none there. */
static const char *hostname_of(const struct jsn *service, const struct jsn *pod)
{
    const char *hostname = jsn_get_str(pod, "spec.hostname");

    if (!hostname || !hostname[0] ||
        !streq(jsn_get_str(pod, "spec.subdomain"), object_name(service)))
        return NULL;
    return hostname;
}

void backing_describe(struct arena *a, struct jsn *address, const struct jsn *service,
                      const struct jsn *pod)
{
    const char *node = jsn_get_str(pod, "spec.nodeName");
    const char *hostname = hostname_of(service, pod);

    if (hostname)
        jsn_set_str(a, address, "hostname", hostname);
    if (node && node[0])
        jsn_set_str(a, address, "nodeName", node);
    jsn_set(a, address, "targetRef", reference_to(a, pod));
}
