/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decision on a resource quota.
 *
 * What is used is counted at the moment of the decision, from the objects themselves: two creates
 * in one turn cannot both take the last place, and a status that is behind misleads nobody.  Only
 * objects of the kind that is created are read, and only where a quota of the namespace counts
 * them; so a namespace without quotas pays for one empty list.
 */
#include "src/cluster/apiserver/quota.h"

#include "src/cluster/apiserver/call.h"
#include "src/cluster/apiserver/kinds/lookup.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/status.h"

struct decision {
    struct api_call *c;
    const char *resource;
    const struct jsn *object;
    const struct jsn *old; /* NULL: it is new */
    struct jsn *quotas;    /* of the namespace */
    const struct jsn *quota;
    struct quota_use wanted; /* by the object as it would be */
    struct quota_use before; /* by its state before */
    struct quota_use used;   /* by the others */
};

static bool add_quota(void *arg, struct jsn *quota)
{
    struct decision *d = arg;

    jsn_append(&d->c->arena, d->quotas, quota);
    return true;
}

static bool add_other(void *arg, struct jsn *other)
{
    struct decision *d = arg;

    if (!(d->old && streq(object_uid(other), object_uid(d->old))) &&
        quota_covers(d->quota, d->resource, other))
        quota_use_add(&d->used, d->resource, other);
    return true;
}

/* A name of the quota of which the object wants any, and more than before. */
static bool concerns(const struct decision *d, const char *name)
{
    const struct quantity *wanted = quota_use_find(&d->wanted, name);
    const struct quantity *before = quota_use_find(&d->before, name);

    return wanted && wanted->nano > (before ? before->nano : 0);
}

static const char *const *sorted_names(struct arena *a, const struct jsn *hard, size_t *ret_n)
{
    const char **list = arena_calloc(a, jsn_len(hard) + 1, sizeof(*list));
    size_t n = 0;

    JSN_FOR_MEMBERS (m, hard) {
        size_t at = n++;

        for (; at > 0 && strcmp(list[at - 1], m->key.p) > 0; at--)
            list[at] = list[at - 1];
        list[at] = m->key.p;
    }
    *ret_n = n;
    return list;
}

static void print(struct buf *b, const char *name, const struct quantity *q)
{
    char text[QUANTITY_LEN] = "0";

    if (q)
        quantity_print(q, text);
    buf_printf(b, "%s%s=%s", b->n ? "," : "", name, text);
}

/* Containers must say what a quota counts: else nobody knows what they use. */
static bool must_be_said(const char *name)
{
    static const char *const names[] = {
        "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (streq(name, names[i]))
            return true;
    return false;
}

static bool says(const struct jsn *container, const char *name)
{
    const char *dot = strchr(name, '.');
    const char *list = starts_with(name, "limits.") ? "limits" : "requests";
    const struct jsn *resources = jsn_key(container, "resources");

    return jsn_member(jsn_key(resources, list), str_of(dot ? dot + 1 : name)) != NULL;
}

static void who_is_silent(const struct decision *d, const char *name, struct buf *out)
{
    static const char *const lists[] = {"containers", "initContainers"};
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        JSN_FOR_ITEMS (c, jsn_key(jsn_key(d->object, "spec"), lists[i]))
            if (!says(c, name))
                buf_printf(out, "%s%s", n++ ? "," : "", jsn_get_str(c, "name"));
}

static int check_said(const struct decision *d, const char *const *names, size_t n)
{
    AUTO(buf_done) struct buf b = {0};

    if (!streq(d->resource, "pods") || jsn_get(d->object, "spec.resources"))
        return 0;
    for (size_t i = 0; i < n; i++) {
        AUTO(buf_done) struct buf who = {0};

        if (must_be_said(names[i]))
            who_is_silent(d, names[i], &who);
        if (who.n)
            buf_printf(&b, "%s%s for: %s", b.n ? "; " : "", names[i], buf_str(&who));
    }
    if (b.n == 0)
        return 0;
    return status_forbidden(d->c, object_name(d->object), "failed quota: %s: must specify %s",
                            object_name(d->quota), buf_str(&b));
}

static int check_room(const struct decision *d, const char *const *names, size_t n)
{
    const struct jsn *hard = jsn_get(d->quota, "spec.hard");
    AUTO(buf_done) struct buf requested = {0};
    AUTO(buf_done) struct buf used = {0};
    AUTO(buf_done) struct buf limited = {0};

    for (size_t i = 0; i < n; i++) {
        const char *limit = jsn_text(jsn_member(hard, str_of(names[i])));
        const struct quantity *wanted = quota_use_find(&d->wanted, names[i]);
        const struct quantity *others = quota_use_find(&d->used, names[i]);
        struct quantity most;

        if (!concerns(d, names[i]) || !limit || quantity_parse(str_of(limit), &most, NULL) < 0 ||
            (others ? others->nano : 0) + wanted->nano <= most.nano)
            continue;
        print(&requested, names[i], wanted);
        print(&used, names[i], others);
        print(&limited, names[i], &most);
    }
    if (requested.n == 0)
        return 0;
    return status_forbidden(
        d->c, object_name(d->object), "exceeded quota: %s, requested: %s, used: %s, limited: %s",
        object_name(d->quota), buf_str(&requested), buf_str(&used), buf_str(&limited));
}

static int decide(struct decision *d)
{
    const struct jsn *hard = jsn_get(d->quota, "spec.hard");
    const char *const *names;
    bool any = false;
    size_t n;
    int r;

    if (!quota_covers(d->quota, d->resource, d->object))
        return 0;
    names = sorted_names(&d->c->arena, hard, &n);
    r = check_said(d, names, n);
    for (size_t i = 0; i < n; i++)
        any = any || concerns(d, names[i]);
    if (r < 0 || !any)
        return r;
    d->used = (struct quota_use){.a = &d->c->arena};
    r = lookup_each_object(d->c, d->resource, object_namespace(d->object), add_other, d);
    return r < 0 ? r : check_room(d, names, n);
}

int quota_admit(struct api_call *c, const struct jsn *object, const struct jsn *old)
{
    struct decision d = {.c = c,
                         .resource = call_store_name(c),
                         .object = object,
                         .old = old,
                         .quotas = jsn_array(&c->arena),
                         .wanted = {.a = &c->arena},
                         .before = {.a = &c->arena}};
    int r = lookup_each_object(c, "resourcequotas", object_namespace(object), add_quota, &d);

    if (r < 0 || jsn_len(d.quotas) == 0)
        return r;
    quota_use_add(&d.wanted, d.resource, object);
    if (old)
        quota_use_add(&d.before, d.resource, old);
    JSN_FOR_ITEMS (quota, d.quotas) {
        d.quota = quota;
        if (r == 0)
            r = decide(&d);
    }
    return r;
}
