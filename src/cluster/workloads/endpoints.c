/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Endpoints: one object a service, of the service's name, with all its addresses.
 *
 * Pods that are going are left out, unless the service publishes addresses that are not ready.
 * Where a person has made the object first, its subsets are replaced and the rest is kept.
 */
#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/backing.h"

#define RESOURCE "endpoints"
#define HEADLESS "service.kubernetes.io/headless"

static struct jsn *address(struct arena *a, const struct jsn *service, const struct jsn *pod)
{
    struct jsn *o = jsn_object(a);

    jsn_set_str(a, o, "ip", jsn_get_str(pod, "status.podIP"));
    backing_describe(a, o, service, pod);
    return o;
}

static struct jsn *subset(struct arena *a, const struct jsn *service, const struct backing_group *g)
{
    struct jsn *o = jsn_object(a);
    struct jsn *ready = jsn_array(a);
    struct jsn *waiting = jsn_array(a);

    JSN_FOR_ITEMS (pod, g->pods) {
        if (backing_is_ready(service, pod))
            jsn_append(a, ready, address(a, service, pod));
        else if (!object_deleting(pod))
            jsn_append(a, waiting, address(a, service, pod));
    }
    if (jsn_len(ready) + jsn_len(waiting) == 0)
        return NULL;
    if (jsn_len(ready))
        jsn_set(a, o, "addresses", ready);
    if (jsn_len(waiting))
        jsn_set(a, o, "notReadyAddresses", waiting);
    if (jsn_len(g->ports))
        jsn_set(a, o, "ports", g->ports);
    return o;
}

static struct jsn *subsets(struct arena *a, const struct jsn *service, const struct jsn *pods)
{
    struct backing b = backing_of(a, service, pods);
    struct jsn *list = jsn_array(a);

    for (size_t i = 0; i < b.n; i++) {
        struct jsn *s = subset(a, service, &b.groups[i]);

        if (s)
            jsn_append(a, list, s);
    }
    return list;
}

static struct jsn *labels_of(struct arena *a, const struct jsn *service)
{
    const struct jsn *have = jsn_get(service, "metadata.labels");
    struct jsn *labels = have ? jsn_clone(a, have) : jsn_object(a);

    if (backing_is_headless(service))
        jsn_set_str(a, labels, HEADLESS, "");
    return labels;
}

void endpoints_plan(struct plan *p, const struct jsn *service, const struct jsn *pods,
                    const struct jsn *old)
{
    struct arena *a = p->arena;
    struct jsn *wanted;
    struct jsn *list;

    if (backing_is_foreign(service) || object_deleting(service))
        return;
    wanted = old ? jsn_clone(a, old) : jsn_object(a);
    list = subsets(a, service, pods);
    jsn_set_path(a, wanted, "metadata.name", jsn_string(a, object_name(service)));
    jsn_set_path(a, wanted, "metadata.namespace", jsn_string(a, object_namespace(service)));
    if (jsn_len(labels_of(a, service)))
        jsn_set_path(a, wanted, "metadata.labels", labels_of(a, service));
    else
        (void)jsn_del_path(wanted, "metadata.labels");
    if (jsn_len(list))
        jsn_set(a, wanted, "subsets", list);
    else
        (void)jsn_del(wanted, "subsets");
    if (!old)
        plan_add(p, ACTION_CREATE, RESOURCE, wanted);
    else if (!jsn_equal(old, wanted))
        plan_add(p, ACTION_UPDATE, RESOURCE, wanted);
}
