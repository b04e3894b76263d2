/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON merge patch.
 *
 * Objects are merged member by member; every other value of the patch replaces what stood there.
 * The target is copied first and the copy changed in place, so that members keep their order and
 * new ones come last.
 */
#include "src/json/patch_merge.h"

static bool is_not_null(const struct jsn_member *m, const void *context)
{
    (void)context;
    return m->value->type != JSN_NULL;
}

void patch_prune_nulls(struct jsn *v)
{
    JSN_FOR_ITEMS (item, v)
        patch_prune_nulls(item);
    if (!jsn_is(v, JSN_OBJECT))
        return;
    jsn_keep_members(v, is_not_null, NULL);
    JSN_FOR_MEMBERS (m, v)
        patch_prune_nulls(m->value);
}

static bool is_not_deleted(const struct jsn_member *m, const void *context)
{
    return !jsn_is(jsn_member(context, m->key), JSN_NULL);
}

static struct jsn *pruned_copy(struct arena *a, const struct jsn *v)
{
    struct jsn *copy = jsn_clone(a, v);

    patch_prune_nulls(copy);
    return copy;
}

/* Merge into a tree of one's own; returns it or what takes its place. */
static struct jsn *merge(struct arena *a, struct jsn *own, const struct jsn *patch)
{
    if (!jsn_is(own, JSN_OBJECT))
        return pruned_copy(a, patch);
    if (!jsn_is(patch, JSN_OBJECT))
        return jsn_clone(a, patch);
    jsn_keep_members(own, is_not_deleted, patch);
    JSN_FOR_MEMBERS (m, patch)
        if (m->value->type != JSN_NULL)
            jsn_set_member(a, own, m->key, merge(a, jsn_member(own, m->key), m->value));
    return own;
}

struct jsn *patch_merge(struct arena *a, const struct jsn *target, const struct jsn *patch)
{
    return merge(a, target ? jsn_clone(a, target) : NULL, patch);
}
