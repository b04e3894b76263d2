/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of actions.
 *
 * A plan appends what it wants in the order of its steps.  Nothing here decides; the verbs are a
 * closed set so that an executor, a test and a simulator can each carry them out in their way.
 */
#include "src/plan/action.h"

#include <stdarg.h>
#include <stdio.h>

#include "src/base/alloc.h"

void actions_step(struct actions *to, const char *step)
{
    to->step = step;
    to->stage++;
}

struct action *actions_add(struct actions *to, enum action_verb verb)
{
    struct action *a;

    arena_reserve(to->arena, &to->items, &to->cap, to->n + 1, sizeof(*to->items));
    a = &to->items[to->n++];
    *a = (struct action){.verb = verb, .step = to->step, .stage = to->stage};
    return a;
}

static PRINTF(2, 0) const char *format(struct arena *a, const char *fmt, va_list ap)
{
    AUTO(free) char *text = xvasprintf(fmt, ap);

    return arena_strdup(a, text);
}

void actions_create(struct actions *to, const struct jsn *object, const char *reason,
                    const char *fmt, ...)
{
    struct action *a = actions_add(to, ACTION_CREATE);
    va_list ap;

    a->kind = plan_kind_find(jsn_get_str(object, "kind"));
    a->namespace = jsn_get_str(object, "metadata.namespace");
    a->name = jsn_get_str(object, "metadata.name");
    a->body = object;
    a->reason = reason;
    va_start(ap, fmt);
    a->text = format(to->arena, fmt, ap);
    va_end(ap);
}

void actions_try_pod(struct actions *to, const struct jsn *pod, bool same_size)
{
    struct action *a = actions_add(to, ACTION_TRY);
    struct jsn *body = jsn_clone(to->arena, pod);
    struct jsn *meta = jsn_key(body, "metadata");
    const char *name = jsn_get_str(meta, "name");

    if (name)
        jsn_set(to->arena, meta, "generateName", jsn_stringf(to->arena, "%s-", name));
    jsn_del(meta, "name");
    a->kind = plan_kind_find("Pod");
    a->namespace = jsn_get_str(meta, "namespace");
    a->name = name ? name : jsn_get_str(meta, "generateName");
    a->body = body;
    a->same_size = same_size;
}

struct action *actions_delete(struct actions *to, const char *kind, const char *ns,
                              const char *name, const char *uid, const char *reason,
                              const char *fmt, ...)
{
    struct action *a = actions_add(to, ACTION_DELETE);
    va_list ap;

    a->kind = plan_kind_find(kind);
    a->namespace = ns;
    a->name = name;
    a->uid = uid;
    a->reason = reason;
    va_start(ap, fmt);
    a->text = format(to->arena, fmt, ap);
    va_end(ap);
    return a;
}

void actions_event(struct actions *to, bool warning, const char *reason, const char *fmt, ...)
{
    struct action *a = actions_add(to, ACTION_EVENT);
    va_list ap;

    a->warning = warning;
    a->reason = reason;
    va_start(ap, fmt);
    a->text = format(to->arena, fmt, ap);
    va_end(ap);
}

void actions_requeue(struct actions *to, int64_t at_us)
{
    actions_add(to, ACTION_REQUEUE)->at_us = at_us;
}

void actions_push(struct actions *to, const char *ns, const char *controller,
                  const struct jsn *body)
{
    struct action *a = actions_add(to, ACTION_PUSH);

    a->namespace = ns;
    a->name = controller;
    a->body = body;
}

static void add_node(struct actions *to, const char *ns, const char *controller, const char *node,
                     const char *what, struct jsn *body)
{
    struct action *a = actions_add(to, ACTION_NODE);

    jsn_set_str(to->arena, body, "action", what);
    a->namespace = ns;
    a->name = arena_strdup(to->arena, controller);
    a->node = arena_strdup(to->arena, node);
    a->body = body;
}

void actions_node(struct actions *to, const char *ns, const char *controller, const char *node,
                  const char *what, const char *reason, const char *only_if)
{
    struct jsn *body = jsn_object(to->arena);

    if (reason)
        jsn_set_str(to->arena, body, "reason", reason);
    if (only_if)
        jsn_set_str(to->arena, body, "onlyIfReason", only_if);
    add_node(to, ns, controller, node, what, body);
}

void actions_node_update(struct actions *to, const char *ns, const char *controller,
                         const char *node, struct jsn *body)
{
    add_node(to, ns, controller, node, "update", body);
}

bool action_is_allowed(const struct action *a)
{
    static const unsigned uses[] = {[ACTION_CREATE] = PLAN_CREATE,
                                    [ACTION_PATCH] = PLAN_PATCH,
                                    [ACTION_DELETE] = PLAN_DELETE,
                                    [ACTION_STATUS] = PLAN_STATUS,
                                    [ACTION_TRY] = PLAN_CREATE};

    return a->verb >= ARRAY_LEN(uses) || !uses[a->verb] || (a->kind->uses & uses[a->verb]) != 0;
}
