/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Look-ups over an array of objects, for tests of what asks for other objects. */
#pragma once

#include "src/api/lookup.h"

static inline bool lookup_is_of(const struct jsn *object, const char *kind, const char *ns)
{
    const char *own = jsn_get_str(object, "metadata.namespace");

    return streq(jsn_get_str(object, "kind"), kind) &&
           (!ns || streq(own && own[0] ? own : "default", ns));
}

static inline int lookup_array_get(void *ctx, const char *kind, const char *ns, const char *name,
                                   const struct jsn **ret_object)
{
    const struct jsn *array = ctx;

    *ret_object = NULL;
    JSN_FOR_ITEMS (object, array)
        if (lookup_is_of(object, kind, ns) && streq(jsn_get_str(object, "metadata.name"), name))
            *ret_object = object;
    return 0;
}

static inline int lookup_array_each(void *ctx, const char *kind, const char *ns, api_visit_fn visit,
                                    void *arg)
{
    const struct jsn *array = ctx;

    JSN_FOR_ITEMS (object, array)
        if (lookup_is_of(object, kind, ns) && !visit(arg, object))
            return 0;
    return 0;
}

/* Objects without a namespace count as in "default". */
static inline struct api_lookup api_lookup_over(const struct jsn *array)
{
    return (struct api_lookup){
        .get = lookup_array_get, .each = lookup_array_each, .ctx = (void *)(uintptr_t)array};
}
