/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executor.
 *
 * A failure (a template that validation refuses, a quota) becomes an Event of the workload, one for
 * each distinct message, counted up; the caller tries again later.
 */
#include "src/cluster/workloads/execute.h"

#include "src/base/hash.h"
#include "src/base/log.h"
#include "src/cluster/apiserver/inside.h"

static int act(struct apiserver *s, const struct action *x, struct err *e)
{
    switch (x->verb) {
    case ACTION_CREATE:
        return inside_create(s, x->resource, x->object, e);
    case ACTION_UPDATE:
        return inside_update(s, x->resource, x->object, e);
    case ACTION_STATUS:
        return inside_update_status(s, x->resource, x->object, e);
    case ACTION_DELETE:
        break;
    }
    return inside_delete(s, x->resource, x->object, e);
}

/* Where the Event says that it comes from, and which object it is about. */
static struct jsn *new_event(const struct plan *p, const struct inside_type *type, const char *name,
                             const struct jsn *subject, const char *reason)
{
    struct arena *a = p->arena;
    struct jsn *event = jsn_object(a);
    struct jsn *about = jsn_object(a);

    jsn_set_str(a, about, "apiVersion", type->api_version);
    jsn_set_str(a, about, "kind", type->kind);
    jsn_set_str(a, about, "namespace", object_namespace(subject));
    jsn_set_str(a, about, "name", object_name(subject));
    jsn_set_str(a, about, "uid", object_uid(subject));
    jsn_set_path(a, event, "metadata.name", jsn_string(a, name));
    jsn_set_path(a, event, "metadata.namespace", jsn_string(a, object_namespace(subject)));
    jsn_set(a, event, "involvedObject", about);
    jsn_set_str(a, event, "type", "Warning");
    jsn_set_str(a, event, "reason", reason);
    jsn_set_path(a, event, "source.component", jsn_string(a, "workloads"));
    jsn_set_str(a, event, "firstTimestamp", plan_now(p));
    return event;
}

static void tell(struct apiserver *s, const struct plan *p, const struct inside_type *type,
                 const struct jsn *subject, const char *reason, const char *message)
{
    const char *name =
        arena_printf(p->arena, "%s.%08x%08x", object_name(subject),
                     hash_stable32(str_of(object_uid(subject))), hash_stable32(str_of(message)));
    const struct store_key k = {"events", object_namespace(subject), name};
    struct jsn *event = NULL;
    struct err e = {0};
    bool known = inside_get(s, p->arena, &k, &event, &e) == 0;

    if (!known)
        event = new_event(p, type, name, subject, reason);
    jsn_set_str(p->arena, event, "message", arena_printf(p->arena, "%.1000s", message));
    jsn_set_str(p->arena, event, "lastTimestamp", plan_now(p));
    jsn_set_int(p->arena, event, "count", jsn_get_int(event, "count", 0) + 1);
    if ((known ? inside_update(s, "events", event, &e) : inside_create(s, "events", event, &e)) < 0)
        log_debug("the event about %s '%s' could not be written: %s", type->kind,
                  object_name(subject), e.text);
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
    struct inside_type about = inside_type(s, p->arena, resource);
    int result = 0;

    for (size_t i = 0; i < p->n; i++) {
        const struct action *x = &p->items[i];
        struct err e = {0};

        /* What could not be made once will not be a moment later, and pods need their claims. */
        if (result < 0 && x->verb == ACTION_CREATE)
            continue;
        if (act(s, x, &e) == 0)
            continue;
        log_warn("%s '%s/%s': %s %s '%s' failed, trying again: %s", about.kind,
                 object_namespace(subject), object_name(subject), verbs[x->verb].doing,
                 inside_type(s, p->arena, x->resource).kind, object_name(x->object), e.text);
        if (result == 0 && subject)
            tell(s, p, &about, subject, verbs[x->verb].reason, e.text);
        result = -EIO;
    }
    return result;
}
