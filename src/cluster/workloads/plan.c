/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plans.
 *
 * Each controller is a pure function from what is there, and the time, to a plan; so a test is a
 * table of objects and the actions they lead to.  A plan need not be complete: every write makes an
 * event, and an event leads to another look.  What matters is that each plan is right for what was
 * seen, and that a plan for a settled state is empty.
 */
#include "src/cluster/workloads/plan.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"

void plan_add(struct plan *p, enum action_verb verb, const char *resource, struct jsn *object)
{
    arena_reserve(p->arena, &p->items, &p->cap, p->n + 1, sizeof(*p->items));
    p->items[p->n++] = (struct action){verb, resource, object};
}

void plan_again(struct plan *p, int64_t delay_ms)
{
    delay_ms = MAX(delay_ms, 1);
    p->again_ms = p->again_ms ? MIN(p->again_ms, delay_ms) : delay_ms;
}

void plan_status(struct plan *p, const char *resource, const struct jsn *object, struct jsn *status)
{
    struct jsn *changed;

    if (jsn_equal(jsn_key(object, "status"), status))
        return;
    changed = jsn_clone(p->arena, object);
    jsn_set(p->arena, changed, "status", status);
    plan_add(p, ACTION_STATUS, resource, changed);
}

const char *plan_now(const struct plan *p)
{
    char text[CLOCK_RFC3339_LEN];

    clock_rfc3339(p->now_us, text);
    return arena_strdup(p->arena, text);
}
