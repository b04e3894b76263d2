/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executor.
 *
 * Every write goes the way a client's would: defaults, admission, validation.  The state that an
 * update starts from is read anew, so two actions on one object in a plan add up; nothing else can
 * come between a look and its writes, since both happen in one turn.
 *
 * A failure (a template that validation refuses, a quota) becomes an Event of the workload, one for
 * each distinct message, counted up; the caller tries again later.
 */
#include "src/cluster/workloads/execute.h"

#include "src/base/hash.h"
#include "src/base/log.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/write.h"

static const char *failure_of(const struct api_call *c)
{
    const char *text = jsn_get_str(c->failure, "message");

    return text ? text : "the store failed";
}

/* The object as it is now, if it is still the one that the plan meant. */
static int find_same(struct api_call *c, const struct jsn *object, struct jsn **ret_now)
{
    int r = object_find(c, object_namespace(object), object_name(object), ret_now);

    if (r == 0 && !streq(object_uid(*ret_now), object_uid(object)))
        return -ENOENT;
    return r;
}

/* An earlier action of the same plan may have moved what the server itself keeps in metadata. */
static void keep_own(struct arena *a, struct jsn *wanted, const struct jsn *now)
{
    static const char *const own[] = {"managedFields", "resourceVersion"};
    struct jsn *meta = jsn_ensure_object(a, wanted, "metadata");

    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        struct jsn *v = jsn_key(jsn_key(now, "metadata"), own[i]);

        if (v)
            jsn_set(a, meta, own[i], jsn_clone(a, v));
    }
}

static int update(struct api_call *c, const struct action *x)
{
    struct write_update how = {.unconditional = true};
    struct jsn *now;
    struct jsn *wanted;
    int r = find_same(c, x->object, &now);

    if (r < 0)
        return r == -ENOENT ? 0 : r;
    if (x->verb == ACTION_STATUS) {
        c->sub = resource_sub(c->res, STR("status"));
        wanted = jsn_clone(&c->arena, now);
        jsn_set(&c->arena, wanted, "status", jsn_clone(&c->arena, jsn_key(x->object, "status")));
        if (jsn_get(x->object, "metadata.annotations"))
            jsn_set_path(&c->arena, wanted, "metadata.annotations",
                         jsn_clone(&c->arena, jsn_get(x->object, "metadata.annotations")));
    } else {
        wanted = jsn_clone(&c->arena, x->object);
        keep_own(&c->arena, wanted, now);
    }
    return write_update(c, now, wanted, &how);
}

static int delete(struct api_call *c, const struct action *x)
{
    struct delete_options o = {.grace_s = -1, .propagation = PROPAGATE_BACKGROUND};
    struct jsn *answer;
    struct jsn *now;
    int r = find_same(c, x->object, &now);

    if (r < 0)
        return r == -ENOENT ? 0 : r;
    return object_deleting(now) ? 0 : write_delete(c, now, &o, &answer);
}

static int act(struct api_call *c, const struct action *x)
{
    c->ns = object_namespace(x->object);
    if (x->verb == ACTION_CREATE)
        return write_create(c, jsn_clone(&c->arena, x->object));
    return x->verb == ACTION_DELETE ? delete (c, x) : update(c, x);
}

/* Where the Event says that it comes from, and which object it is about. */
static struct jsn *new_event(struct api_call *c, const struct resource *res, const char *name,
                             const struct jsn *subject, const char *reason)
{
    struct arena *a = &c->arena;
    struct jsn *event = jsn_object(a);
    struct jsn *about = jsn_object(a);

    jsn_set_str(a, about, "apiVersion", object_api_version(a, res));
    jsn_set_str(a, about, "kind", res->kind);
    jsn_set_str(a, about, "namespace", object_namespace(subject));
    jsn_set_str(a, about, "name", object_name(subject));
    jsn_set_str(a, about, "uid", object_uid(subject));
    jsn_set_path(a, event, "metadata.name", jsn_string(a, name));
    jsn_set_path(a, event, "metadata.namespace", jsn_string(a, object_namespace(subject)));
    jsn_set(a, event, "involvedObject", about);
    jsn_set_str(a, event, "type", "Warning");
    jsn_set_str(a, event, "reason", reason);
    jsn_set_path(a, event, "source.component", jsn_string(a, "workloads"));
    jsn_set_str(a, event, "firstTimestamp", call_now(c));
    return event;
}

static void tell(struct apiserver *s, const struct resource *res, const struct jsn *subject,
                 const char *reason, const char *message)
{
    struct write_update how = {.unconditional = true};
    AUTO(call_done_inner) struct api_call c;
    struct jsn *old = NULL;
    struct jsn *event;
    const char *name;

    call_init_inner(&c, s, registry_find_stored(s->registry, "events"));
    c.ns = object_namespace(subject);
    name = arena_printf(&c.arena, "%s.%08x%08x", object_name(subject),
                        hash_stable32(str_of(object_uid(subject))), hash_stable32(str_of(message)));
    if (object_find(&c, c.ns, name, &old) == 0)
        event = jsn_clone(&c.arena, old);
    else
        event = new_event(&c, res, name, subject, reason);
    jsn_set_str(&c.arena, event, "message", arena_printf(&c.arena, "%.1000s", message));
    jsn_set_str(&c.arena, event, "lastTimestamp", call_now(&c));
    jsn_set_int(&c.arena, event, "count", jsn_get_int(event, "count", 0) + 1);
    if ((old ? write_update(&c, old, event, &how) : write_create(&c, event)) < 0)
        log_debug("the event about %s '%s' could not be written: %s", res->kind,
                  object_name(subject), failure_of(&c));
}

static const struct {
    const char *reason; /* of the Event */
    const char *doing;  /* in the log */
} verbs[] = {
    [ACTION_CREATE] = {"FailedCreate", "creating"},
    [ACTION_UPDATE] = {"FailedUpdate", "updating"},
    [ACTION_STATUS] = {"FailedUpdate", "updating the status of"},
    [ACTION_DELETE] = {"FailedDelete", "deleting"},
};

int execute_plan(struct apiserver *s, const struct plan *p, const char *resource,
                 const struct jsn *subject)
{
    const struct resource *about = registry_find_stored(s->registry, resource);
    int result = 0;

    for (size_t i = 0; i < p->n; i++) {
        const struct action *x = &p->items[i];
        AUTO(call_done_inner) struct api_call c = {0};

        /* What could not be made once will not be a moment later, and pods need their claims. */
        if (result < 0 && x->verb == ACTION_CREATE)
            continue;
        call_init_inner(&c, s, registry_find_stored(s->registry, x->resource));
        if (act(&c, x) == 0)
            continue;
        log_warn("%s '%s/%s': %s %s '%s' failed, trying again: %s", about->kind,
                 object_namespace(subject), object_name(subject), verbs[x->verb].doing, c.res->kind,
                 object_name(x->object), failure_of(&c));
        if (result == 0 && subject)
            tell(s, about, subject, verbs[x->verb].reason, failure_of(&c));
        result = -EIO;
    }
    return result;
}
