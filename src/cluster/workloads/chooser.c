/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Services and disruption budgets, as far as they choose pods.
 *
 * Every change of a pod asks which of them it concerns, and they can be large: the service that all
 * NodeSets of a cluster share names each of them as its owner.  So their specs, which are small,
 * are kept parsed in memory, and nothing is read from the store for the question.
 *
 * A service is concerned if the pod is behind it or was; without an address it is behind none.  A
 * budget is, if it selects the pod or did.
 */
#include "src/cluster/workloads/chooser.h"

#include "src/base/alloc.h"
#include "src/base/map.h"
#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/backing.h"

struct chooser {
    struct store_key key;
    struct arena arena;
    struct jsn *object; /* {"spec": ...} */
    bool (*concerns)(struct arena *a, const struct jsn *object, const struct jsn *pod);
};

struct choosers {
    struct map by_key; /* "resource/namespace/name" */
};

static bool is_behind(struct arena *a, const struct jsn *service, const struct jsn *pod)
{
    (void)a;
    return !backing_is_foreign(service) && backing_has(service, pod);
}

static const struct {
    const char *resource;
    bool (*concerns)(struct arena *a, const struct jsn *object, const struct jsn *pod);
} kinds[] = {
    {"services", is_behind},
    {"poddisruptionbudgets.policy", eviction_selects},
};

static void chooser_free(void *arg)
{
    struct chooser *c = arg;

    arena_done(&c->arena);
    free(c);
}

struct choosers *choosers_new(void)
{
    struct choosers *c = xcalloc(1, sizeof(*c));

    map_init(&c->by_key, chooser_free);
    return c;
}

struct choosers *choosers_free(struct choosers *c)
{
    if (!c)
        return NULL;
    map_done(&c->by_key);
    free(c);
    return NULL;
}

bool choosers_take(const char *resource)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (streq(kinds[i].resource, resource))
            return true;
    return false;
}

static char *text_of(const struct store_key *k)
{
    return xasprintf("%s/%s/%s", k->resource, k->ns, k->name);
}

void choosers_put(struct choosers *c, const struct store_row *row)
{
    AUTO(free) char *key = text_of(&row->key);
    AUTO(arena_done) struct arena scratch = {0};
    struct chooser *one = xcalloc(1, sizeof(*one));
    struct jsn *object = NULL;
    const struct jsn *spec;

    spec =
        jsn_parse(&scratch, row->data, NULL, &object, NULL) == 0 ? jsn_key(object, "spec") : NULL;
    one->key = (struct store_key){arena_strdup(&one->arena, row->key.resource),
                                  arena_strdup(&one->arena, row->key.ns),
                                  arena_strdup(&one->arena, row->key.name)};
    one->object = jsn_object(&one->arena);
    if (spec)
        jsn_set(&one->arena, one->object, "spec", jsn_clone(&one->arena, spec));
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (streq(kinds[i].resource, row->key.resource))
            one->concerns = kinds[i].concerns;
    assert(one->concerns);
    (void)map_put(&c->by_key, str_of(key), one);
}

void choosers_drop(struct choosers *c, const struct store_key *key)
{
    AUTO(free) char *text = text_of(key);

    (void)map_del(&c->by_key, str_of(text));
}

void choosers_each(const struct choosers *c, const char *ns, const struct jsn *before,
                   const struct jsn *now, chooser_fn fn, void *arg)
{
    AUTO(arena_done) struct arena a = {0};
    struct chooser *one;
    size_t at = 0;

    while (map_next(&c->by_key, &at, NULL, &one))
        if (streq(one->key.ns, ns) && ((before && one->concerns(&a, one->object, before)) ||
                                       (now && one->concerns(&a, one->object, now))))
            fn(arg, &one->key);
}
