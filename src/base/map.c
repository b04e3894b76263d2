/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open-addressing hash map from strings to pointers.
 *
 * Linear probing; a removed slot leaves a mark until the next growth, which rehashes.  The hash is
 * SipHash-1-3 under a key drawn once per process, so that names chosen by an adversary do not pile
 * up in one place.
 */
#include "src/base/map.h"

#include "src/base/alloc.h"
#include "src/base/hash.h"

struct map_slot {
    char *key; /* NULL: never used; &removed_mark: removed */
    size_t key_n;
    uint64_t hash;
    void *value;
};

static char removed_mark;

void map_init(struct map *m, void (*free_value)(void *value))
{
    *m = (struct map){.free_value = free_value};
}

static bool slot_live(const struct map_slot *s)
{
    return s->key && s->key != &removed_mark;
}

void map_done(struct map *m)
{
    for (size_t i = 0; i < m->cap; i++) {
        if (!slot_live(&m->slots[i]))
            continue;
        free(m->slots[i].key);
        if (m->free_value)
            m->free_value(m->slots[i].value);
    }
    free(m->slots);
    *m = (struct map){.free_value = m->free_value};
}

static struct map_slot *find(const struct map *m, struct str key, uint64_t hash)
{
    if (m->cap == 0)
        return NULL;
    for (size_t i = hash & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
        struct map_slot *s = &m->slots[i];

        if (!s->key)
            return NULL;
        if (slot_live(s) && s->hash == hash && s->key_n == key.n &&
            (key.n == 0 || memcmp(s->key, key.p, key.n) == 0))
            return s;
    }
}

/* The first slot where a key of this hash can go; the map has room. */
static struct map_slot *free_slot(const struct map *m, uint64_t hash)
{
    size_t i = hash & (m->cap - 1);

    while (slot_live(&m->slots[i]))
        i = (i + 1) & (m->cap - 1);
    return &m->slots[i];
}

static void grow(struct map *m)
{
    struct map old = *m;

    m->cap = 16;
    while (m->cap < (old.n + 1) * 2)
        m->cap *= 2;
    m->slots = xcalloc(m->cap, sizeof(*m->slots));
    m->used = old.n;
    for (size_t i = 0; i < old.cap; i++)
        if (slot_live(&old.slots[i]))
            *free_slot(m, old.slots[i].hash) = old.slots[i];
    free(old.slots);
}

bool map_put(struct map *m, struct str key, void *value)
{
    uint64_t hash = hash_str(key);
    struct map_slot *s = find(m, key, hash);

    assert(value);
    if (s) {
        if (m->free_value && s->value != value)
            m->free_value(s->value);
        s->value = value;
        return false;
    }
    if ((m->used + 1) * 4 > m->cap * 3)
        grow(m);
    s = free_slot(m, hash);
    if (!s->key)
        m->used++;
    *s = (struct map_slot){str_dup(key), key.n, hash, value};
    m->n++;
    return true;
}

void *map_get(const struct map *m, struct str key)
{
    struct map_slot *s = find(m, key, hash_str(key));

    return s ? s->value : NULL;
}

void *map_take(struct map *m, struct str key)
{
    struct map_slot *s = find(m, key, hash_str(key));
    void *value;

    if (!s)
        return NULL;
    value = s->value;
    free(s->key);
    *s = (struct map_slot){.key = &removed_mark};
    m->n--;
    return value;
}

bool map_del(struct map *m, struct str key)
{
    void *value = map_take(m, key);

    if (value && m->free_value)
        m->free_value(value);
    return value != NULL;
}

bool map_next(const struct map *m, size_t *at, struct str *ret_key, void *ret_value)
{
    for (; *at < m->cap; (*at)++) {
        struct map_slot *s = &m->slots[*at];

        if (!slot_live(s))
            continue;
        if (ret_key)
            *ret_key = (struct str){s->key, s->key_n};
        if (ret_value)
            *(void **)ret_value = s->value;
        (*at)++;
        return true;
    }
    return false;
}
