/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Look-ups of other objects.
 *
 * The caller must be ready for three answers: there, not there, nobody knows (no look-up was given,
 * or it failed).  The last one is never held against an object: the same check runs again when its
 * configuration is built.
 */
#include "src/api/lookup.h"

enum api_found api_lookup_get(const struct api_lookup *l, const char *kind, const char *ns,
                              const char *name, const struct jsn **ret_object)
{
    const struct jsn *object = NULL;

    if (!l || l->get(l->ctx, kind, ns, name, &object) < 0)
        return API_UNKNOWN;
    if (ret_object)
        *ret_object = object;
    return object ? API_PRESENT : API_ABSENT;
}

bool api_lookup_each(const struct api_lookup *l, const char *kind, const char *ns,
                     api_visit_fn visit, void *arg)
{
    return l && l->each(l->ctx, kind, ns, visit, arg) >= 0;
}

bool api_lookup_each_named(const struct api_lookup *l, const char *kind, const char *ns,
                           const char *name, api_visit_fn visit, void *arg)
{
    if (!l || !l->each_named)
        return api_lookup_each(l, kind, ns, visit, arg);
    return l->each_named(l->ctx, kind, ns, name, visit, arg) >= 0;
}
