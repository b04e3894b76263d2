/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trees with slots.
 *
 * Kubernetes objects are deep and mostly constant; made by calls, one for each member, nobody could
 * see their shape.  Here a builder writes the object down and names the places that vary.  What
 * comes from outside goes in as values, never as text, so nothing needs escaping.
 */
#include "src/build/tree.h"

static const struct build_slot *find_slot(const struct build_slot *slots, const char *name)
{
    for (; slots && slots->name; slots++)
        if (streq(slots->name, name))
            return slots;
    abort(); /* a template is code */
}

static bool is_slot(const struct jsn *v)
{
    return jsn_is(v, JSN_STRING) && v->s.n > 1 && v->s.p[0] == '$';
}

static struct jsn *fill(struct arena *a, struct jsn *v, const struct build_slot *slots);

static struct jsn *fill_object(struct arena *a, struct jsn *v, const struct build_slot *slots)
{
    struct jsn *out = jsn_object(a);

    JSN_FOR_MEMBERS (m, v) {
        struct jsn *value = fill(a, m->value, slots);

        if (value)
            jsn_set_member(a, out, m->key, value);
    }
    return out;
}

static struct jsn *fill_array(struct arena *a, struct jsn *v, const struct build_slot *slots)
{
    struct jsn *out = jsn_array(a);

    JSN_FOR_ITEMS (item, v) {
        struct jsn *value = fill(a, item, slots);

        if (value)
            jsn_append(a, out, value);
    }
    return out;
}

static struct jsn *fill(struct arena *a, struct jsn *v, const struct build_slot *slots)
{
    if (is_slot(v))
        return (struct jsn *)(uintptr_t)find_slot(slots, v->s.p + 1)->value;
    if (v->type == JSN_OBJECT)
        return fill_object(a, v, slots);
    if (v->type == JSN_ARRAY)
        return fill_array(a, v, slots);
    return v;
}

struct jsn *build_tree(struct arena *a, const char *text, const struct build_slot *slots)
{
    char *json = arena_strdup(a, text);
    struct jsn *v;

    for (char *p = json; *p; p++)
        if (*p == '\'')
            *p = '"';
    if (jsn_parse(a, str_of(json), NULL, &v, NULL) < 0)
        abort(); /* a template is code */
    return fill(a, v, slots);
}

struct jsn *build_map(struct arena *a, const struct jsn_map *map)
{
    struct jsn *object = jsn_object(a);

    build_add_map(a, object, map);
    return object;
}

void build_add_map(struct arena *a, struct jsn *object, const struct jsn_map *map)
{
    for (size_t i = 0; i < map->n; i++)
        jsn_set_str(a, object, map->items[i].key, map->items[i].value);
}

void build_append_all(struct arena *a, struct jsn *array, const struct jsn *items)
{
    JSN_FOR_ITEMS (item, items)
        jsn_append(a, array, item);
}

bool build_has_string(const struct jsn *array, const char *text)
{
    JSN_FOR_ITEMS (item, array)
        if (streq(jsn_text(item), text))
            return true;
    return false;
}
