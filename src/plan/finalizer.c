/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finalizers.
 *
 * Without one, the garbage collector deletes the pods of a deleted NodeSet at once, jobs and all.
 * The list is written as a whole (a merge patch cannot do otherwise), bound to the version that was
 * read, so that nobody else's finalizer is lost.
 */
#include "src/plan/finalizer.h"

bool finalizer_has(const struct api_meta *m, const char *name)
{
    for (size_t i = 0; i < m->finalizers.n; i++)
        if (streq(m->finalizers.items[i], name))
            return true;
    return false;
}

bool finalizer_is_forced(const struct api_meta *m)
{
    return streq(api_annotation(m, FORCE_DELETE), "true");
}

static void write_list(struct actions *to, const char *kind, const struct api_meta *m,
                       struct jsn *list)
{
    struct action *action = actions_add(to, ACTION_PATCH);
    struct jsn *body = jsn_object(to->arena);
    struct jsn *meta = jsn_ensure_object(to->arena, body, "metadata");

    if (m->resource_version)
        jsn_set_str(to->arena, meta, "resourceVersion", m->resource_version);
    jsn_set(to->arena, meta, "finalizers", list);
    action->kind = plan_kind_find(kind);
    action->namespace = api_namespace(m);
    action->name = m->name;
    action->body = body;
}

static struct jsn *list_without(struct arena *a, const struct api_meta *m, const char *name)
{
    struct jsn *list = jsn_array(a);

    for (size_t i = 0; i < m->finalizers.n; i++)
        if (!streq(m->finalizers.items[i], name))
            jsn_append(a, list, jsn_string(a, m->finalizers.items[i]));
    return list;
}

void finalizer_add(struct actions *to, const char *kind, const struct api_meta *m, const char *name)
{
    struct jsn *list = list_without(to->arena, m, name);

    jsn_append(to->arena, list, jsn_string(to->arena, name));
    write_list(to, kind, m, list);
}

void finalizer_drop(struct actions *to, const char *kind, const struct api_meta *m,
                    const char *name)
{
    write_list(to, kind, m, list_without(to->arena, m, name));
}
