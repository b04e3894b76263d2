/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lease objects.
 *
 * Times in a Lease are for people: an election compares whether the spec has changed, and measures
 * on its own clock how long it has not.  Everything in the object that is not ours (labels, newer
 * fields) goes back as it came.
 */
#include "src/kube/lease_record.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"

void lease_record_done(struct lease_record *r)
{
    free(r->holder);
    free(r->spec);
    free(r->object);
    *r = (struct lease_record){0};
}

static char *print(const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    if (v)
        jsn_print(&b, v);
    return buf_take(&b);
}

void lease_record_read(struct lease_record *r, const struct jsn *lease)
{
    const char *holder = jsn_get_str(lease, "spec.holderIdentity");
    int64_t seconds = jsn_get_int(lease, "spec.leaseDurationSeconds", 0);

    lease_record_done(r);
    r->holder = xstrdup(holder ? holder : "");
    r->spec = print(jsn_key(lease, "spec"));
    r->object = print(lease);
    r->lease_ms = MIN(MAX(seconds, (int64_t)0), (int64_t)86400) * 1000;
}

static void set_time(struct arena *a, struct jsn *spec, const char *key, int64_t wall_us)
{
    char text[CLOCK_RFC3339_LEN];

    clock_rfc3339_micro(wall_us, text);
    jsn_set_str(a, spec, key, text);
}

struct jsn *lease_record_create(struct arena *a, const char *namespace, const char *name,
                                const char *identity, int64_t lease_ms, int64_t wall_us)
{
    struct jsn *lease = jsn_object(a);
    struct jsn *metadata;
    struct jsn *spec;

    jsn_set_str(a, lease, "apiVersion", "coordination.k8s.io/v1");
    jsn_set_str(a, lease, "kind", "Lease");
    metadata = jsn_ensure_object(a, lease, "metadata");
    jsn_set_str(a, metadata, "name", name);
    jsn_set_str(a, metadata, "namespace", namespace);
    spec = jsn_ensure_object(a, lease, "spec");
    jsn_set_str(a, spec, "holderIdentity", identity);
    jsn_set_int(a, spec, "leaseDurationSeconds", lease_ms / 1000);
    set_time(a, spec, "acquireTime", wall_us);
    set_time(a, spec, "renewTime", wall_us);
    jsn_set_int(a, spec, "leaseTransitions", 0);
    return lease;
}

static struct jsn *parse(const struct lease_record *r, struct arena *a)
{
    struct jsn *lease = NULL;

    if (!r->object || jsn_parse(a, str_of(r->object), NULL, &lease, NULL) < 0)
        return NULL;
    return jsn_is(lease, JSN_OBJECT) ? lease : NULL;
}

struct jsn *lease_record_hold(const struct lease_record *r, struct arena *a, const char *identity,
                              int64_t lease_ms, int64_t wall_us)
{
    struct jsn *lease = parse(r, a);
    struct jsn *spec;

    if (!lease)
        return NULL;
    spec = jsn_ensure_object(a, lease, "spec");
    if (!streq(r->holder, identity)) {
        set_time(a, spec, "acquireTime", wall_us);
        jsn_set_int(a, spec, "leaseTransitions", jsn_get_int(spec, "leaseTransitions", 0) + 1);
    }
    jsn_set_str(a, spec, "holderIdentity", identity);
    jsn_set_int(a, spec, "leaseDurationSeconds", lease_ms / 1000);
    set_time(a, spec, "renewTime", wall_us);
    return lease;
}

struct jsn *lease_record_release(const struct lease_record *r, struct arena *a, int64_t wall_us)
{
    struct jsn *lease = parse(r, a);
    struct jsn *spec;

    if (!lease)
        return NULL;
    spec = jsn_ensure_object(a, lease, "spec");
    (void)jsn_del(spec, "holderIdentity");
    jsn_set_int(a, spec, "leaseDurationSeconds", 1);
    set_time(a, spec, "acquireTime", wall_us);
    set_time(a, spec, "renewTime", wall_us);
    return lease;
}
