/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names in Slurm.
 *
 * A new NodeSet or Partition may not have a name in Slurm that another one has, which may come from
 * its metadata or its spec.  To decode all others for that takes 20 ms where there are a thousand;
 * so it is noted who has which name.  Two may hold one name: they can belong to different clusters.
 */
#include "src/admission/name_index.h"

#include "src/api/kinds.h"
#include "src/base/alloc.h"

struct holders {
    char **objects;
    size_t n;
    size_t cap;
};

static void holders_free(void *arg)
{
    struct holders *h = arg;

    for (size_t i = 0; i < h->n; i++)
        free(h->objects[i]);
    free(h->objects);
    free(h);
}

void name_index_init(struct name_index *x)
{
    map_init(&x->names, free);
    map_init(&x->holders, holders_free);
}

void name_index_done(struct name_index *x)
{
    map_done(&x->names);
    map_done(&x->holders);
}

static char *key_of(const char *kind, const char *ns, const char *name)
{
    return xasprintf("%s/%s/%s", kind, ns, name);
}

static void add_holder(struct name_index *x, const char *key, const char *object)
{
    struct holders *h = map_get(&x->holders, str_of(key));

    if (!h) {
        h = xcalloc(1, sizeof(*h));
        (void)map_put(&x->holders, str_of(key), h);
    }
    array_reserve(&h->objects, &h->cap, h->n + 1, sizeof(*h->objects));
    h->objects[h->n++] = xstrdup(object);
}

static void del_holder(struct name_index *x, const char *key, const char *object)
{
    struct holders *h = map_get(&x->holders, str_of(key));

    for (size_t i = 0; h && i < h->n; i++) {
        if (!streq(h->objects[i], object))
            continue;
        free(h->objects[i]);
        h->objects[i] = h->objects[--h->n];
        break;
    }
    if (h && h->n == 0)
        (void)map_del(&x->holders, str_of(key));
}

void name_index_drop(struct name_index *x, const char *kind, const char *ns, const char *object)
{
    AUTO(free) char *key = key_of(kind, ns, object);
    AUTO(free) char *name = map_take(&x->names, str_of(key));

    if (name) {
        AUTO(free) char *holder_key = key_of(kind, ns, name);

        del_holder(x, holder_key, object);
    }
}

void name_index_put(struct name_index *x, const char *kind, const char *ns,
                    const struct jsn *object)
{
    AUTO(arena_done) struct arena a = {0};
    const char *self = jsn_get_str(object, "metadata.name");
    const char *name = api_kind_find(kind)->slurm_name(&a, object);

    if (!self)
        return;
    name_index_drop(x, kind, ns, self);
    if (name) {
        AUTO(free) char *key = key_of(kind, ns, self);
        AUTO(free) char *holder_key = key_of(kind, ns, name);

        (void)map_put(&x->names, str_of(key), xstrdup(name));
        add_holder(x, holder_key, self);
    }
}

void name_index_each(const struct name_index *x, const char *kind, const char *ns, const char *name,
                     name_index_fn fn, void *arg)
{
    AUTO(free) char *key = key_of(kind, ns, name);
    const struct holders *h = map_get(&x->holders, str_of(key));

    for (size_t i = 0; h && i < h->n; i++)
        if (!fn(arg, h->objects[i]))
            return;
}
