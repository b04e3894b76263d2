/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deprecated versions of a definition: the warning that every answer carries.
 *
 * The definition may bring its own sentence; else it names the best version that is newer, served
 * and not deprecated, if there is one.
 */
#include "src/cluster/apiserver/crd/custom.h"
#include "src/cluster/apiserver/types/custom.h"
#include "src/cluster/apiserver/types/registry.h"

static bool flag(const struct resource *r, const char *key)
{
    return jsn_get_bool(r->crd_version, key, false);
}

/* The best version that is newer, served and not deprecated itself; NULL: none. */
static const struct resource *successor(const struct resource *res)
{
    const struct resource *best = NULL;

    for (size_t i = 0; i < res->owner->n_resources; i++) {
        const struct resource *r = &res->owner->resources[i];

        if (r->unserved || flag(r, "deprecated") ||
            registry_version_cmp(r->version, res->version) >= 0)
            continue;
        if (!best || registry_version_cmp(r->version, best->version) < 0)
            best = r;
    }
    return best;
}

const char *custom_deprecation(struct arena *a, const struct resource *res)
{
    const char *text = jsn_get_str(res->crd_version, "deprecationWarning");
    const struct resource *next;

    if (!res->custom || !flag(res, "deprecated"))
        return NULL;
    if (text)
        return text;
    next = successor(res);
    if (!next)
        return arena_printf(a, "%s/%s %s is deprecated", res->group, res->version, res->kind);
    return arena_printf(a, "%s/%s %s is deprecated; use %s/%s %s", res->group, res->version,
                        res->kind, next->group, next->version, next->kind);
}
