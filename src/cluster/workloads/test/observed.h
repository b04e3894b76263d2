/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of the plans share: objects from short texts, and a plan as a line of text. */
#pragma once

#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/plan.h"
#include "src/json/test/json_text.h"

#define NOW_US (1767261600LL * 1000000) /* 2026-01-01T10:00:00Z */
#define OWNED_BY(kind, uid)                                                                        \
    "'ownerReferences':[{'apiVersion':'v1','kind':'" kind "','name':'o','uid':'" uid               \
    "','controller':true}]"

/* "create pods web-0; delete pods web-2", without the actions on statuses. */
static inline const char *plan_text(const struct plan *p)
{
    static const char *const verbs[] = {"create", "update", "status", "delete"};
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < p->n; i++) {
        const struct action *x = &p->items[i];
        const char *name = object_name(x->object);

        if (x->verb == ACTION_STATUS)
            continue;
        if (!name[0] && jsn_get_str(x->object, "metadata.generateName"))
            name = jsn_get_str(x->object, "metadata.generateName");
        buf_printf(&b, "%s%s %.*s %s", b.n ? "; " : "", verbs[x->verb],
                   (int)str_find(str_of(x->resource), '.'), x->resource, name);
    }
    return arena_strdup(p->arena, buf_str(&b));
}

/* The first object that an action of this kind is about, or NULL. */
static inline const struct jsn *plan_object(const struct plan *p, enum action_verb verb,
                                            const char *resource)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->items[i].verb == verb && streq(p->items[i].resource, resource))
            return p->items[i].object;
    return NULL;
}

static inline const char *print(struct arena *a, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    if (v)
        jsn_print(&b, v);
    return arena_strdup(a, buf_str(&b));
}

/*
 * The status of a pod by a letter: Ready, Down (runs, not ready), Pending, Failed, Succeeded; and
 * whether it is on its way out: Terminating.
 */
static inline void pod_set_state(struct arena *a, struct jsn *pod, char state)
{
    const char *phase = state == 'P'   ? "Pending"
                        : state == 'F' ? "Failed"
                        : state == 'S' ? "Succeeded"
                                       : "Running";
    const char *ready = state == 'R' || state == 'T' ? "True" : "False";

    jsn_set(a, pod, "status",
            json_of(a, arena_printf(a,
                                    "{'phase':'%s','conditions':[{'type':'Ready','status':'%s',"
                                    "'lastTransitionTime':'2026-01-01T09:59:55Z'}]}",
                                    phase, ready)));
    if (state == 'T')
        jsn_set_path(a, pod, "metadata.deletionTimestamp", jsn_string(a, "2026-01-01T09:59:59Z"));
}
