/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists that are sets or maps: nothing in them may stand twice.
 *
 * Of items that stand several times the second is named, once, as Kubernetes does.  Items are
 * compared by canonical text in a hash map, so that long lists stay linear.
 */
#include "src/base/alloc.h"
#include "src/base/map.h"
#include "src/json/structural.h"

struct lists {
    struct schema_faults *faults;
    struct buf path;
};

static void walk(struct lists *l, const struct schema *s, const struct jsn *v);

static void pop(struct lists *l, size_t before)
{
    l->path.n = before;
    if (l->path.p)
        l->path.p[before] = '\0';
}

static void duplicate(struct lists *l, size_t index, const struct jsn *value)
{
    AUTO(buf_done) struct buf b = {0};
    size_t before = l->path.n;

    schema_print_go(&b, value);
    buf_printf(&l->path, "[%zu]", index);
    schema_fault(l->faults, "FieldValueDuplicate", buf_str(&l->path), "Duplicate value: %s",
                 buf_str(&b));
    pop(l, before);
}

/* Counts how often each text was seen; says whether this is the second time. */
static bool seen_twice(struct map *seen, struct str text)
{
    size_t *n = map_get(seen, text);

    if (!n) {
        n = xcalloc(1, sizeof(*n));
        (void)map_put(seen, text, n);
    }
    return ++*n == 2;
}

static void check_set(struct lists *l, const struct jsn *v)
{
    AUTO(map_done) struct map seen;
    AUTO(buf_done) struct buf b = {0};

    map_init(&seen, free);
    for (size_t i = 0; i < jsn_len(v); i++) {
        buf_clear(&b);
        schema_print_canonical(&b, jsn_item(v, i));
        if (seen_twice(&seen, buf_view(&b)))
            duplicate(l, i, jsn_item(v, i));
    }
}

/* The keys of an item, as an object; an item that is null has none. */
static struct jsn *keys_of(struct arena *a, const struct schema *s, const struct jsn *item)
{
    struct jsn *keys = jsn_object(a);

    for (const char **key = s->list_keys; key && *key; key++)
        if (jsn_key(item, *key))
            jsn_set(a, keys, *key, jsn_key(item, *key));
    return keys;
}

static void check_map(struct lists *l, const struct schema *s, const struct jsn *v)
{
    AUTO(map_done) struct map seen;
    AUTO(buf_done) struct buf b = {0};
    AUTO(arena_done) struct arena a = {0};

    map_init(&seen, free);
    for (size_t i = 0; i < jsn_len(v); i++) {
        const struct jsn *item = jsn_item(v, i), *keys;

        if (!jsn_is(item, JSN_OBJECT) && !jsn_is(item, JSN_NULL)) {
            buf_clear(&b);
            schema_print_go(&b, item);
            schema_fault(
                l->faults, "FieldValueInvalid", arena_printf(&a, "%s[%zu]", buf_str(&l->path), i),
                "Invalid value: %s: must be an object for an array of list-type map", buf_str(&b));
            return;
        }
        keys = keys_of(&a, s, item);
        buf_clear(&b);
        schema_print_canonical(&b, keys);
        if (seen_twice(&seen, buf_view(&b)))
            duplicate(l, i, keys);
    }
}

static void walk_array(struct lists *l, const struct schema *s, const struct jsn *v)
{
    if (s->merge == SCHEMA_MERGE_SET)
        check_set(l, v);
    else if (s->merge == SCHEMA_MERGE_MAP)
        check_map(l, s, v);
    for (size_t i = 0; s->items && i < jsn_len(v); i++) {
        size_t before = l->path.n;

        buf_printf(&l->path, "[%zu]", i);
        walk(l, s->items, jsn_item(v, i));
        pop(l, before);
    }
}

static void walk(struct lists *l, const struct schema *s, const struct jsn *v)
{
    /* Built-in types (metadata) look after themselves. */
    if (!s || s->codec != SCHEMA_PLAIN || s->go_type)
        return;
    if (jsn_is(v, JSN_ARRAY))
        walk_array(l, s, v);
    JSN_FOR_MEMBERS (m, v) {
        const struct schema_property *p = schema_property(s, m->key);
        size_t before = l->path.n;

        if (p && before)
            buf_addc(&l->path, '.');
        buf_printf(&l->path, p ? STR_FMT : "[" STR_FMT "]", STR_ARG(m->key));
        walk(l, p ? p->schema : s->additional, m->value);
        pop(l, before);
    }
}

void schema_validate_lists(const struct schema *s, const struct jsn *v, const char *prefix,
                           struct schema_faults *faults)
{
    struct lists l = {.faults = faults};

    buf_adds(&l.path, prefix ? prefix : "");
    walk(&l, s, v);
    buf_done(&l.path);
}
