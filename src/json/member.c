/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON objects: finding, setting and removing members.
 *
 * An object is an array of members in insertion order; up to INDEX_FROM members a lookup compares
 * them one by one, beyond that an index of hashes is kept, so that an object with very many keys
 * (from outside) stays linear to build.  Removing one member moves all after it; jsn_keep_members
 * removes many in one pass.
 */
#include "src/base/hash.h"
#include "src/json/jsn.h"

#define INDEX_FROM 24

/* Open addressing; a slot holds member position + 1, 0 is free. */
struct jsn_index {
    uint32_t *slots;
    size_t cap; /* power of two, at least twice the members */
};

static void index_add(struct jsn_index *x, struct str key, size_t position)
{
    size_t i = hash_str(key) & (x->cap - 1);

    while (x->slots[i])
        i = (i + 1) & (x->cap - 1);
    x->slots[i] = (uint32_t)position + 1;
}

/* (Re)build the index of an object that has grown past INDEX_FROM. */
static void index_build(struct arena *a, struct jsn *v)
{
    struct jsn_index *x = arena_calloc(a, 1, sizeof(*x));

    x->cap = 64;
    while (x->cap < v->o.n * 4)
        x->cap *= 2;
    x->slots = arena_calloc(a, x->cap, sizeof(*x->slots));
    for (size_t i = 0; i < v->o.n; i++)
        index_add(x, v->o.members[i].key, i);
    v->o.index = x;
}

/* The slot of a key that is there, or a free slot. */
static size_t index_slot(const struct jsn *v, struct str key)
{
    const struct jsn_index *x = v->o.index;
    size_t i = hash_str(key) & (x->cap - 1);

    while (x->slots[i] && !str_eq(v->o.members[x->slots[i] - 1].key, key))
        i = (i + 1) & (x->cap - 1);
    return i;
}

static struct jsn_member *find_indexed(const struct jsn *v, struct str key)
{
    uint32_t slot = v->o.index->slots[index_slot(v, key)];

    return slot ? &v->o.members[slot - 1] : NULL;
}

/* Take a member out of the index while it still stands at its position. */
static void index_del(struct jsn *v, size_t position)
{
    struct jsn_index *x = v->o.index;
    size_t hole = index_slot(v, v->o.members[position].key);
    size_t mask = x->cap - 1;

    /* Close the gap: whoever would no longer be found past it moves into it. */
    for (size_t i = (hole + 1) & mask; x->slots[i]; i = (i + 1) & mask) {
        size_t home = hash_str(v->o.members[x->slots[i] - 1].key) & mask;

        if (((i - home) & mask) >= ((i - hole) & mask)) {
            x->slots[hole] = x->slots[i];
            hole = i;
        }
    }
    x->slots[hole] = 0;
    for (size_t i = 0; i < x->cap; i++)
        x->slots[i] -= x->slots[i] > position;
}

static struct jsn_member *find(const struct jsn *v, struct str key)
{
    if (!jsn_is(v, JSN_OBJECT))
        return NULL;
    if (v->o.index)
        return find_indexed(v, key);
    for (size_t i = 0; i < v->o.n; i++)
        if (str_eq(v->o.members[i].key, key))
            return &v->o.members[i];
    return NULL;
}

struct jsn *jsn_member(const struct jsn *object, struct str key)
{
    struct jsn_member *m = find(object, key);

    return m ? m->value : NULL;
}

struct jsn *jsn_key(const struct jsn *object, const char *key)
{
    return jsn_member(object, str_of(key));
}

struct jsn *jsn_get(const struct jsn *v, const char *path)
{
    struct str rest = str_of(path);
    struct jsn_member *m = NULL;
    struct str key;

    while (str_split(&rest, '.', &key)) {
        m = find(v, key);
        if (!m)
            return NULL;
        v = m->value;
    }
    return m ? m->value : NULL;
}

const char *jsn_get_str(const struct jsn *v, const char *path)
{
    return jsn_text(jsn_get(v, path));
}

int64_t jsn_get_int(const struct jsn *v, const char *path, int64_t otherwise)
{
    const struct jsn *at = jsn_get(v, path);

    return jsn_is(at, JSN_INT) ? at->i : otherwise;
}

bool jsn_get_bool(const struct jsn *v, const char *path, bool otherwise)
{
    const struct jsn *at = jsn_get(v, path);

    return jsn_is(at, JSN_BOOL) ? at->b : otherwise;
}

/* Put after the others a member that is not among them; the key is kept as it is. */
static void add_member(struct arena *a, struct jsn *object, struct str key, struct jsn *value)
{
    arena_reserve(a, &object->o.members, &object->o.cap, object->o.n + 1,
                  sizeof(*object->o.members));
    object->o.members[object->o.n++] = (struct jsn_member){key, value};
    if (object->o.index && object->o.n * 2 <= object->o.index->cap)
        index_add(object->o.index, key, object->o.n - 1);
    else if (object->o.n > INDEX_FROM)
        index_build(a, object);
}

void jsn_put_member(struct arena *a, struct jsn *object, struct str key, struct jsn *value)
{
    struct jsn_member *m = find(object, key);

    if (m && value)
        m->value = value;
    else if (jsn_is(object, JSN_OBJECT) && value)
        add_member(a, object, key, value);
}

void jsn_set_member(struct arena *a, struct jsn *object, struct str key, struct jsn *value)
{
    struct jsn_member *m = find(object, key);

    if (m && value)
        m->value = value;
    else if (jsn_is(object, JSN_OBJECT) && value)
        add_member(a, object, (struct str){arena_str(a, key), key.n}, value);
}

void jsn_set(struct arena *a, struct jsn *object, const char *key, struct jsn *value)
{
    jsn_set_member(a, object, str_of(key), value);
}

void jsn_set_str(struct arena *a, struct jsn *object, const char *key, const char *text)
{
    jsn_set(a, object, key, jsn_string(a, text));
}

void jsn_set_int(struct arena *a, struct jsn *object, const char *key, int64_t i)
{
    jsn_set(a, object, key, jsn_int(a, i));
}

void jsn_set_bool(struct arena *a, struct jsn *object, const char *key, bool b)
{
    jsn_set(a, object, key, jsn_bool(a, b));
}

static struct jsn *ensure_object(struct arena *a, struct jsn *object, struct str key)
{
    struct jsn *at = jsn_member(object, key);

    if (!jsn_is(at, JSN_OBJECT)) {
        at = jsn_object(a);
        jsn_set_member(a, object, key, at);
    }
    return at;
}

struct jsn *jsn_ensure_object(struct arena *a, struct jsn *object, const char *key)
{
    return ensure_object(a, object, str_of(key));
}

void jsn_set_path(struct arena *a, struct jsn *object, const char *path, struct jsn *value)
{
    struct str rest = str_of(path);
    struct str key;

    while (str_split(&rest, '.', &key)) {
        if (!rest.p)
            jsn_set_member(a, object, key, value);
        else
            object = ensure_object(a, object, key);
    }
}

bool jsn_del_member(struct jsn *object, struct str key)
{
    struct jsn_member *m = find(object, key);
    size_t at;

    if (!m)
        return false;
    at = (size_t)(m - object->o.members);
    if (object->o.index)
        index_del(object, at);
    object->o.n--;
    memmove(m, m + 1, (object->o.n - at) * sizeof(*m));
    return true;
}

void jsn_keep_members(struct jsn *object, jsn_keep_fn keep, const void *context)
{
    struct jsn_index *x;
    size_t n = 0;

    if (!jsn_is(object, JSN_OBJECT))
        return;
    x = object->o.index;
    for (size_t i = 0; i < object->o.n; i++)
        if (keep(&object->o.members[i], context))
            object->o.members[n++] = object->o.members[i];
    object->o.n = n;
    if (!x)
        return;
    memset(x->slots, 0, x->cap * sizeof(*x->slots));
    for (size_t i = 0; i < n; i++)
        index_add(x, object->o.members[i].key, i);
}

bool jsn_del(struct jsn *object, const char *key)
{
    return jsn_del_member(object, str_of(key));
}

bool jsn_del_path(struct jsn *object, const char *path)
{
    const char *dot = strrchr(path, '.');
    AUTO(free) char *parent = NULL;

    if (!dot)
        return jsn_del(object, path);
    parent = str_dup((struct str){path, (size_t)(dot - path)});
    return jsn_del(jsn_get(object, parent), dot + 1);
}
