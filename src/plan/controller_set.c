/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The StatefulSet of slurmctld.
 *
 * A changed template ends slurmctld's pod, and the next one is made of the new template.  So the
 * API server is asked first whether it would make that one (a dry run); if it says no, the
 * StatefulSet stays as it is and slurmctld goes on, and the refusal shows as the Controller's
 * condition.
 */
#include "src/build/set_pod.h"
#include "src/plan/controller_private.h"
#include "src/plan/sync.h"

static bool same_resources(const struct jsn *old, const struct jsn *now, const char *path)
{
    const struct jsn *x = jsn_get(old, path);
    const struct jsn *y = jsn_get(now, path);
    size_t n = jsn_len(x);

    for (size_t i = 0; i < n && n == jsn_len(y); i++) {
        const struct jsn *a = jsn_key(jsn_item(x, i), "resources");
        const struct jsn *b = jsn_key(jsn_item(y, i), "resources");

        if (jsn_len(a) || jsn_len(b) ? !a || !b || !jsn_equal(a, b) : false)
            return false;
    }
    return n == jsn_len(y);
}

/* Does any of these actions end the pod that is there? */
static bool ends_pod(const struct actions *list, size_t from)
{
    for (size_t i = from; i < list->n; i++)
        if (list->items[i].verb == ACTION_PATCH && jsn_get(list->items[i].body, "spec.template"))
            return true;
    return false;
}

void controller_plan_set(struct actions *to, const struct api_lookup *l, struct jsn *set)
{
    struct actions trial = {.arena = to->arena};
    const struct jsn *old = sync_built(&trial, l, set);
    bool ends = old && ends_pod(&trial, 0);
    size_t from;

    if (ends) {
        actions_step(to, "Successor");
        actions_try_pod(to, build_set_pod(to->arena, set),
                        same_resources(old, set, "spec.template.spec.containers") &&
                            same_resources(old, set, "spec.template.spec.initContainers"));
    }
    actions_step(to, "StatefulSet");
    from = to->n;
    (void)sync_built(to, l, set);
    for (size_t i = from; ends && i < to->n; i++)
        to->items[i].guarded = true;
}
