/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conditions and status writes.
 *
 * A status is written by merge patch, with what differs alone, and not at all if nothing does:
 * otherwise every look would cause the change that causes the next look.
 */
#include "src/plan/status.h"

#include <stdarg.h>

#include "src/base/alloc.h"
#include "src/plan/compare.h"

void status_set(struct status_scribe *s, const char *type, enum status_value value, bool warn,
                const char *reason, const char *fmt, ...)
{
    static const char *const values[] = {"False", "True", "Unknown"};
    const struct api_condition *was = api_condition_find(s->conditions, type);
    bool news = !was || !streq(was->status, values[value]) || !streq(was->reason, reason);
    AUTO(free) char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    text = xvasprintf(fmt, ap);
    va_end(ap);
    if (warn && news)
        actions_event(s->to, true, reason, "%s", text);
    (void)api_condition_set(s->to->arena, s->conditions,
                            &(struct api_condition){.type = type,
                                                    .status = values[value],
                                                    .generation = s->generation,
                                                    .since_us = s->now_us,
                                                    .reason = reason,
                                                    .message = text});
}

void status_unknown(struct status_scribe *s, const char *type, const char *why)
{
    if (api_condition_find(s->conditions, type))
        status_set(s, type, STATUS_UNKNOWN, false, "SlurmUnknown", "%s", why);
}

void status_look_again(struct status_scribe *s, const char *type)
{
    static const int64_t least = STATUS_LOOK_AGAIN_US;
    static const int64_t most = 60000000;
    int64_t age = s->now_us - api_condition_find(s->conditions, type)->since_us;

    actions_requeue(s->to, s->now_us + MIN(MAX(age, least), most));
}

void status_write(struct actions *to, const char *kind, const struct api_meta *m,
                  const struct jsn *observed, const struct jsn *wanted)
{
    struct jsn *patch = compare_patch(to->arena, observed, wanted);
    struct jsn *body = jsn_object(to->arena);
    struct action *a;

    if (!patch)
        return;
    jsn_set(to->arena, body, "status", patch);
    a = actions_add(to, ACTION_STATUS);
    a->kind = plan_kind_find(kind);
    a->namespace = api_namespace(m);
    a->name = m->name;
    a->body = body;
}
