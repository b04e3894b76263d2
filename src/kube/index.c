/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Indexes.
 *
 * An index maps a value (an owner's uid, whatever a function of the object gives) to a bucket: an
 * array of the objects that have it.  Each object remembers its places, so that it is taken out in
 * constant time: the bucket's last object moves into the gap and is told its new place.  A bucket
 * goes with its last object.
 */
#include "src/kube/index.h"

#include "src/base/alloc.h"

#define OWNER "owner"

struct kube_index_out {
    struct index *index;
    struct kept_object *object;
    size_t cap;
};

static void bucket_free(void *p)
{
    struct bucket *b = p;

    free(b->value);
    free(b->items);
    free(b);
}

static void index_owner(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    (void)arg;
    JSN_FOR_ITEMS (owner, jsn_get(object, "metadata.ownerReferences"))
        kube_index_emit(out, str_of(jsn_get_str(owner, "uid")));
}

static void index_add(struct index_set *s, const char *name, kube_index_fn fn, void *arg)
{
    struct index *x = &s->indexes[s->n++];

    x->name = xstrdup(name);
    x->fn = fn;
    x->arg = arg;
    map_init(&x->buckets, bucket_free);
}

void index_set_init(struct index_set *s, const struct kube_cache_options *o)
{
    size_t n = o->by_owner ? 1 : 0;

    for (const struct kube_index *x = o->indexes; x && x->name; x++)
        n++;
    *s = (struct index_set){.indexes = xcalloc(n + 1, sizeof(*s->indexes))};
    if (o->by_owner)
        index_add(s, OWNER, index_owner, NULL);
    for (const struct kube_index *x = o->indexes; x && x->name; x++)
        index_add(s, x->name, x->fn, x->arg);
}

void index_set_done(struct index_set *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->indexes[i].name);
        map_done(&s->indexes[i].buckets);
    }
    free(s->indexes);
    *s = (struct index_set){0};
}

static struct bucket *bucket_of(struct index *x, struct str value)
{
    struct bucket *b = map_get(&x->buckets, value);

    if (b)
        return b;
    b = xcalloc(1, sizeof(*b));
    b->index = x;
    b->value = str_dup(value);
    (void)map_put(&x->buckets, value, b);
    return b;
}

void kube_index_emit(struct kube_index_out *out, struct str value)
{
    struct kept_object *k = out->object;
    struct bucket *b;

    if (value.n == 0)
        return;
    b = bucket_of(out->index, value);
    if (b->n > 0 && b->items[b->n - 1] == k)
        return; /* said twice */
    array_reserve(&b->items, &b->cap, b->n + 1, sizeof(struct kept_object *));
    array_reserve(&k->places, &out->cap, k->n_places + 1, sizeof(*k->places));
    k->places[k->n_places++] = (struct place){b, b->n};
    b->items[b->n++] = k;
}

void index_set_add(struct index_set *s, struct kept_object *k, const struct jsn *object)
{
    struct kube_index_out out = {.object = k};

    assert(!k->places);
    for (size_t i = 0; i < s->n; i++) {
        out.index = &s->indexes[i];
        out.index->fn(out.index->arg, object, &out);
    }
    if (k->n_places > 0)
        k->places = xrealloc(k->places, k->n_places * sizeof(*k->places));
}

/* The bucket's last object goes to place `at`. */
static void fill_gap(struct bucket *b, size_t at)
{
    struct kept_object *last = b->items[--b->n];

    if (at == b->n)
        return;
    b->items[at] = last;
    for (size_t i = 0; i < last->n_places; i++) {
        if (last->places[i].bucket == b)
            last->places[i].at = at;
    }
}

void index_set_remove(struct kept_object *k)
{
    for (size_t i = 0; i < k->n_places; i++) {
        struct bucket *b = k->places[i].bucket;

        fill_gap(b, k->places[i].at);
        if (b->n == 0) {
            AUTO(free) char *value = TAKE(b->value);

            (void)map_del(&b->index->buckets, str_of(value));
        }
    }
    free(TAKE(k->places));
    k->n_places = 0;
}

struct kube_slice index_set_find(const struct index_set *s, const char *name, struct str value)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct index *x = &s->indexes[i];
        const struct bucket *b;

        if (!streq(x->name, name))
            continue;
        b = map_get(&x->buckets, value);
        if (!b)
            return (struct kube_slice){0};
        return (struct kube_slice){(const struct kube_object *const *)b->items, b->n};
    }
    abort(); /* the cache was not told to keep it */
}

size_t index_set_bytes(const struct index_set *s)
{
    size_t bytes = 0;

    for (size_t i = 0; i < s->n; i++) {
        struct bucket *b;
        size_t at = 0;

        while (map_next(&s->indexes[i].buckets, &at, NULL, &b))
            bytes += sizeof(*b) + strlen(b->value) * 2 + b->cap * sizeof(struct kept_object *) +
                     b->n * sizeof(struct place) + 96;
    }
    return bytes;
}
