/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How server-side apply sees a value.
 *
 * The schema says how lists and objects are owned; where it says nothing (custom fields that are
 * kept unknown, free-form objects) the value itself decides: objects member by member, lists as a
 * whole. A list of Kubernetes' own types without a list type of its own follows its strategic merge
 * key.
 */
#include "src/json/apply_type.h"

#include <stdlib.h>

struct apply_type apply_type_of(const struct schema *root)
{
    return (struct apply_type){.schema = root, .open = root && root->preserve_unknown};
}

enum schema_type apply_value_type(struct apply_type t)
{
    if (!t.schema)
        return SCHEMA_ANY;
    switch (t.schema->codec) {
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
    case SCHEMA_QUANTITY:
    case SCHEMA_IS_INT_OR_STRING:
        return SCHEMA_INT_OR_STRING;
    case SCHEMA_JSON:
    case SCHEMA_OR_BOOL:
    case SCHEMA_OR_ARRAY:
    case SCHEMA_OR_STRINGS:
        return SCHEMA_ANY;
    case SCHEMA_PLAIN:
    case SCHEMA_BYTES:
    case SCHEMA_RAW:
    case SCHEMA_FIELDS_V1:
        break;
    }
    return t.schema->type;
}

static enum apply_shape list_shape(const struct schema *s)
{
    if (!s)
        return APPLY_LEAF;
    switch (s->merge) {
    case SCHEMA_MERGE_SET:
        return APPLY_SET;
    case SCHEMA_MERGE_MAP:
        return s->list_keys && s->list_keys[0] ? APPLY_KEYED : APPLY_LEAF;
    case SCHEMA_MERGE_DEFAULT:
        if (s->patch & SCHEMA_PATCH_MERGE)
            return s->patch_key ? APPLY_KEYED : APPLY_SET;
        return APPLY_LEAF;
    case SCHEMA_MERGE_ATOMIC:
    case SCHEMA_MERGE_GRANULAR:
        break;
    }
    return APPLY_LEAF;
}

static enum apply_shape map_shape(const struct schema *s)
{
    return s && (s->merge == SCHEMA_MERGE_ATOMIC || s->codec == SCHEMA_RAW) ? APPLY_LEAF
                                                                            : APPLY_MAP;
}

enum apply_shape apply_shape_of(struct apply_type t, const struct jsn *v)
{
    enum schema_type type = apply_value_type(t);

    if (type == SCHEMA_ARRAY || (type == SCHEMA_ANY && jsn_is(v, JSN_ARRAY)))
        return list_shape(t.schema);
    if (type == SCHEMA_OBJECT ||
        (type == SCHEMA_ANY && (!v || v->type == JSN_OBJECT || v->type == JSN_NULL)))
        return map_shape(t.schema);
    return APPLY_LEAF;
}

/* Scalars are one class; null is one of its own. */
static int type_class(const struct jsn *v)
{
    if (v->type == JSN_NULL || v->type == JSN_ARRAY || v->type == JSN_OBJECT)
        return (int)v->type;
    return (int)JSN_STRING;
}

bool apply_same_type(struct apply_type t, const struct jsn *x, const struct jsn *y)
{
    return apply_value_type(t) != SCHEMA_ANY || type_class(x) == type_class(y);
}

bool apply_has_parts(const struct jsn *v, enum jsn_type type)
{
    return jsn_is(v, type) && jsn_len(v) > 0;
}

static bool is_embedded_field(const struct schema *s, struct str key)
{
    return s->embedded_resource && (str_eq(key, STR("apiVersion")) || str_eq(key, STR("kind")) ||
                                    str_eq(key, STR("metadata")));
}

struct apply_type apply_member_type(struct apply_type t, struct str key, bool *ret_declared)
{
    const struct schema_property *p = schema_property(t.schema, key);
    const struct schema *s = p ? p->schema : t.schema ? t.schema->additional : NULL;

    if (ret_declared)
        *ret_declared = p != NULL;
    return (struct apply_type){.schema = s, .open = t.open || (s && s->preserve_unknown)};
}

struct apply_type apply_item_type(struct apply_type t)
{
    const struct schema *s = t.schema ? t.schema->items : NULL;

    return (struct apply_type){.schema = s, .open = t.open || (s && s->preserve_unknown)};
}

bool apply_member_allowed(struct apply_type t, struct str key)
{
    const struct schema *s = t.schema;

    return !s || apply_value_type(t) == SCHEMA_ANY || t.open || s->preserve_unknown ||
           s->additional || s->n_properties == 0 || schema_property(s, key) ||
           is_embedded_field(s, key);
}

/* The value of a key field: the item's own, or the default that it will get. */
static const struct jsn *key_value(struct apply_type list, const struct jsn *item, const char *key)
{
    const struct jsn *v = jsn_key(item, key);
    const struct schema_property *p;

    if (v)
        return v;
    p = schema_property(list.schema->items, str_of(key));
    return p && p->schema ? p->schema->default_value : NULL;
}

static int compare_keys(const void *x, const void *y)
{
    return str_cmp(((const struct jsn_member *)x)->key, ((const struct jsn_member *)y)->key);
}

static int no_key(const char *const *keys, struct err *e)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; keys[i]; i++)
        buf_printf(&b, "%s\"%s\"", i ? " " : "", keys[i]);
    return err_bad(e,
                   "associative list with keys has an element that omits all key fields [%s] (and "
                   "doesn't have default values for any key fields)",
                   buf_str(&b));
}

/* A key that is missing and has no default is left out: another element may have it. */
static int keyed_element(struct arena *a, struct apply_type list, const struct jsn *item,
                         struct fieldset_element *ret, struct err *e)
{
    const char *single[] = {list.schema->patch_key, NULL};
    const char **keys = list.schema->merge == SCHEMA_MERGE_MAP ? list.schema->list_keys : single;
    struct jsn *values = jsn_object(a);

    if (item->type == JSN_NULL)
        return err_bad(e, "associative list with keys may not have a null element");
    if (item->type != JSN_OBJECT)
        return err_bad(e, "associative list with keys may not have non-map elements");
    for (const char **key = keys; *key; key++) {
        const struct jsn *v = key_value(list, item, *key);

        if (v)
            jsn_set(a, values, *key, jsn_clone(a, v));
    }
    if (values->o.n == 0)
        return no_key((const char *const *)keys, e);
    qsort(values->o.members, values->o.n, sizeof(*values->o.members), compare_keys);
    *ret = (struct fieldset_element){.kind = FIELDSET_KEY, .value = values};
    return 0;
}

int apply_item_element(struct arena *a, struct apply_type list, const struct jsn *item,
                       struct fieldset_element *ret_element, struct err *e)
{
    if (list_shape(list.schema) == APPLY_KEYED)
        return keyed_element(a, list, item, ret_element, e);
    if (item->type == JSN_OBJECT)
        return err_bad(e, "associative list without keys has an element that's a map type");
    if (item->type == JSN_ARRAY)
        return err_bad(e, "not supported: associative list with lists as elements");
    if (item->type == JSN_NULL)
        return err_bad(e, "associative list without keys has an element that's an explicit null");
    *ret_element = (struct fieldset_element){.kind = FIELDSET_VALUE, .value = item};
    return 0;
}

static int compare_positions(const void *x, const void *y, void *context)
{
    const struct apply_item *items = context;
    const struct apply_item *a = &items[*(const size_t *)x];
    const struct apply_item *b = &items[*(const size_t *)y];
    int c = fieldset_element_cmp(&a->element, &b->element);

    return c ? c : a->position < b->position ? -1 : 1;
}

static bool same_element(const struct apply_items *x, size_t i, size_t j)
{
    return fieldset_element_cmp(&x->items[x->sorted[i]].element, &x->items[x->sorted[j]].element) ==
           0;
}

int apply_items(struct arena *a, struct apply_type list, const struct jsn *v,
                struct apply_items *ret_items, struct err *e)
{
    struct apply_items x = {.n = jsn_is(v, JSN_ARRAY) ? v->a.n : 0};

    x.items = arena_calloc(a, x.n + 1, sizeof(*x.items));
    x.sorted = arena_calloc(a, x.n + 1, sizeof(*x.sorted));
    for (size_t i = 0; i < x.n; i++) {
        int r = apply_item_element(a, list, v->a.items[i], &x.items[i].element, e);

        if (r < 0)
            return err_wrap(e, r, "element %zu", i);
        x.items[i].value = v->a.items[i];
        x.items[i].position = i;
        x.sorted[i] = i;
    }
    qsort_r(x.sorted, x.n, sizeof(*x.sorted), compare_positions, x.items);
    for (size_t i = 0, first = 0; i < x.n; i++) {
        if (i > 0 && !same_element(&x, i - 1, i))
            first = i;
        x.items[x.sorted[i]].first = x.sorted[first];
        x.items[x.sorted[first]].times++;
    }
    *ret_items = x;
    return 0;
}

const struct apply_item *apply_items_find(const struct apply_items *x,
                                          const struct fieldset_element *element)
{
    size_t low = 0;
    size_t high = x->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (fieldset_element_cmp(&x->items[x->sorted[middle]].element, element) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == x->n || fieldset_element_cmp(&x->items[x->sorted[low]].element, element) != 0)
        return NULL;
    return &x->items[x->sorted[low]];
}

static int compare_pairs(const void *x, const void *y)
{
    return str_cmp(((const struct apply_pair *)x)->key, ((const struct apply_pair *)y)->key);
}

struct apply_pair *apply_pairs(struct arena *a, const struct jsn *left, const struct jsn *right,
                               size_t *ret_n)
{
    size_t most =
        (jsn_is(left, JSN_OBJECT) ? left->o.n : 0) + (jsn_is(right, JSN_OBJECT) ? right->o.n : 0);
    struct apply_pair *pairs = arena_calloc(a, most + 1, sizeof(*pairs));
    size_t n = 0;

    JSN_FOR_MEMBERS (m, left)
        pairs[n++] = (struct apply_pair){m->key, m->value, jsn_member(right, m->key)};
    JSN_FOR_MEMBERS (m, right)
        if (!jsn_member(left, m->key))
            pairs[n++] = (struct apply_pair){m->key, NULL, m->value};
    qsort(pairs, n, sizeof(*pairs), compare_pairs);
    *ret_n = n;
    return pairs;
}
