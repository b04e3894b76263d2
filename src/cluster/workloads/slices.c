/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EndpointSlices: the addresses of a service in pieces, one family of addresses and one set of
 * ports to a slice.
 *
 * Their names follow from the service's uid and the slice's place, so that making them twice is
 * making them once.  Slices of this service that are not wanted any more are deleted; those of
 * other makers (other label managed-by) are left alone.
 */
#include "src/base/hash.h"
#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/backing.h"
#include "src/cluster/workloads/owned.h"
#include "src/cluster/workloads/pod.h"

#define RESOURCE "endpointslices.discovery.k8s.io"
#define SERVICE_NAME "kubernetes.io/service-name"
#define MANAGED_BY "endpointslice.kubernetes.io/managed-by"
#define MANAGER "endpointslice-controller.k8s.io"
#define SLICE_MAX 100

static struct jsn *endpoint(struct arena *a, const struct jsn *service, const struct jsn *pod)
{
    struct jsn *o = jsn_object(a);
    struct jsn *addresses = jsn_array(a);
    struct jsn *conditions = jsn_object(a);

    jsn_append(a, addresses, jsn_key(jsn_key(pod, "status"), "podIP"));
    jsn_set(a, o, "addresses", addresses);
    jsn_set_bool(a, conditions, "ready", backing_is_ready(service, pod));
    jsn_set_bool(a, conditions, "serving", pod_ready(pod));
    jsn_set_bool(a, conditions, "terminating", object_deleting(pod));
    jsn_set(a, o, "conditions", conditions);
    backing_describe(a, o, service, pod);
    return o;
}

static struct jsn *ports_of(struct arena *a, const struct backing_group *g)
{
    struct jsn *list = jsn_array(a);

    JSN_FOR_ITEMS (port, g ? g->ports : NULL) {
        struct jsn *o = jsn_clone(a, port);

        if (!jsn_key(o, "name"))
            jsn_set_str(a, o, "name", "");
        jsn_append(a, list, o);
    }
    return list;
}

static const char *slice_name(struct arena *a, const struct jsn *service, size_t place)
{
    struct jsn *seed = jsn_stringf(a, "%s/%zu", object_uid(service), place);

    return arena_printf(a, "%.52s-%s", object_name(service), template_hash(a, seed, 0));
}

/* A slice without endpoints. */
static struct jsn *new_slice(struct arena *a, const struct jsn *service,
                             const struct backing_group *g, const char *family, size_t place)
{
    const struct owner o = {"v1", "Service", service, NULL, NULL};
    const struct jsn *have = jsn_get(service, "metadata.labels");
    struct jsn *labels = have ? jsn_clone(a, have) : jsn_object(a);
    struct jsn *slice = jsn_object(a);

    jsn_set_str(a, labels, SERVICE_NAME, object_name(service));
    jsn_set_str(a, labels, MANAGED_BY, MANAGER);
    if (backing_is_headless(service))
        jsn_set_str(a, labels, "service.kubernetes.io/headless", "");
    jsn_set_path(a, slice, "metadata.name", jsn_string(a, slice_name(a, service, place)));
    jsn_set_path(a, slice, "metadata.namespace", jsn_string(a, object_namespace(service)));
    jsn_set_path(a, slice, "metadata.labels", labels);
    owned_set(a, slice, &o);
    jsn_set_str(a, slice, "addressType", family);
    jsn_set(a, slice, "endpoints", jsn_array(a));
    jsn_set(a, slice, "ports", ports_of(a, g));
    return slice;
}

static void cut(struct arena *a, const struct jsn *service, const struct backing_group *g,
                const char *family, struct jsn *slices)
{
    bool six = streq(family, "IPv6");
    struct jsn *slice = NULL;

    JSN_FOR_ITEMS (pod, g->pods) {
        if ((strchr(jsn_get_str(pod, "status.podIP"), ':') != NULL) != six)
            continue;
        if (!slice || jsn_len(jsn_key(slice, "endpoints")) >= SLICE_MAX) {
            slice = new_slice(a, service, g, family, jsn_len(slices));
            jsn_append(a, slices, slice);
        }
        jsn_append(a, jsn_key(slice, "endpoints"), endpoint(a, service, pod));
    }
}

static bool is_ours(const struct jsn *slice, const struct jsn *service)
{
    const struct jsn *labels = jsn_get(slice, "metadata.labels");

    return streq(jsn_text(jsn_key(labels, SERVICE_NAME)), object_name(service)) &&
           streq(jsn_text(jsn_key(labels, MANAGED_BY)), MANAGER);
}

static const struct jsn *find(const struct jsn *list, const char *name)
{
    JSN_FOR_ITEMS (o, list)
        if (streq(object_name(o), name))
            return o;
    return NULL;
}

static void put(struct plan *p, struct jsn *wanted, const struct jsn *old)
{
    static const char *const ours[] = {"endpoints", "ports"};
    struct jsn *changed;

    if (!old) {
        plan_add(p, ACTION_CREATE, RESOURCE, wanted);
        return;
    }
    changed = jsn_clone(p->arena, old);
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        jsn_set(p->arena, changed, ours[i], jsn_key(wanted, ours[i]));
    jsn_set_path(p->arena, changed, "metadata.labels", jsn_get(wanted, "metadata.labels"));
    if (!jsn_equal(changed, old))
        plan_add(p, ACTION_UPDATE, RESOURCE, changed);
}

void slices_plan(struct plan *p, const struct jsn *service, const struct jsn *pods,
                 const struct jsn *old)
{
    struct arena *a = p->arena;
    struct jsn *slices = jsn_array(a);
    struct backing b;

    if (backing_is_foreign(service) || object_deleting(service))
        return;
    b = backing_of(a, service, pods);
    for (size_t i = 0; i < b.n; i++) {
        cut(a, service, &b.groups[i], "IPv4", slices);
        cut(a, service, &b.groups[i], "IPv6", slices);
    }
    if (jsn_len(slices) == 0)
        jsn_append(a, slices, new_slice(a, service, NULL, "IPv4", 0));
    JSN_FOR_ITEMS (wanted, slices)
        put(p, wanted, find(old, object_name(wanted)));
    JSN_FOR_ITEMS (o, old)
        if (is_ours(o, service) && !find(slices, object_name(o)))
            plan_add(p, ACTION_DELETE, RESOURCE, o);
}
