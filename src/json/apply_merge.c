/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merging a configuration into the live value, and removing fields from a value.
 *
 * Of two leaves the configuration's wins.  A list that is owned item by item takes its order from
 * the configuration where that names items, and items that only the live list has stay before the
 * next one that both have.  Items that the live list holds twice give way to the configuration's
 * one.
 */
#include "src/json/apply.h"
#include "src/json/apply_type.h"

struct merger {
    struct arena *a;
    struct err *e;
};

static int merge(const struct merger *m, struct apply_type t, const struct jsn *live,
                 const struct jsn *config, struct jsn **ret);

static int merge_members(const struct merger *m, struct apply_type t, const struct jsn *live,
                         const struct jsn *config, struct jsn **ret)
{
    struct jsn *out = jsn_object(m->a);

    JSN_FOR_MEMBERS (l, live) {
        struct jsn *value;
        int r = merge(m, apply_member_type(t, l->key, NULL), l->value, jsn_member(config, l->key),
                      &value);

        if (r < 0)
            return r;
        jsn_set_member(m->a, out, l->key, value);
    }
    JSN_FOR_MEMBERS (c, config)
        if (!jsn_member(out, c->key))
            jsn_set_member(m->a, out, c->key, jsn_clone(m->a, c->value));
    *ret = out;
    return 0;
}

/* The lists being merged, and how far. */
struct weaver {
    const struct merger *m;
    struct apply_type item_type;
    struct apply_items live;
    struct apply_items config;
    bool *merged;  /* of the configuration's items */
    size_t shared; /* position of the next item of the configuration that both lists have */
    struct jsn *out;
};

static void next_shared(struct weaver *w, size_t from)
{
    w->shared = from;
    while (w->shared < w->config.n &&
           !apply_items_find(&w->live, &w->config.items[w->shared].element))
        w->shared++;
}

/* Append an item of the configuration, merged with the live one unless that stands twice. */
static int take_config(struct weaver *w, const struct apply_item *item)
{
    const struct apply_item *live = apply_items_find(&w->live, &item->element);
    struct jsn *value;
    int r = merge(w->m, w->item_type, live && live->times == 1 ? live->value : NULL, item->value,
                  &value);

    if (r < 0)
        return r;
    jsn_append(w->m->a, w->out, value);
    w->merged[item->position] = true;
    if (w->shared == item->position)
        next_shared(w, w->shared + 1);
    return 0;
}

static int weave(struct weaver *w)
{
    size_t i = 0;
    size_t j = 0;
    int r = 0;

    while (r == 0 && (i < w->live.n || j < w->config.n)) {
        const struct apply_item *left = i < w->live.n ? &w->live.items[i] : NULL;
        const struct apply_item *right = j < w->config.n ? &w->config.items[j] : NULL;
        const struct apply_item *twin = left ? apply_items_find(&w->config, &left->element) : NULL;

        if (left && !twin) {
            jsn_append(w->m->a, w->out, jsn_clone(w->m->a, left->value));
            i++;
        } else if (left && right && twin == right) {
            r = take_config(w, right);
            i++;
            j++;
        } else if (left && right && w->shared < w->config.n && twin->position != w->shared) {
            i++;
        } else {
            i += left && w->merged[twin->position];
            if (right)
                r = take_config(w, right);
            j += right != NULL;
        }
    }
    return r;
}

static int merge_items(const struct merger *m, struct apply_type t, const struct jsn *live,
                       const struct jsn *config, struct jsn **ret)
{
    struct weaver w = {.m = m, .item_type = apply_item_type(t), .out = jsn_array(m->a)};
    int r = apply_items(m->a, t, live, &w.live, m->e);

    if (r == 0)
        r = apply_items(m->a, t, config, &w.config, m->e);
    if (r < 0)
        return r;
    w.merged = arena_calloc(m->a, w.config.n + 1, sizeof(*w.merged));
    next_shared(&w, 0);
    r = weave(&w);
    if (r < 0)
        return r;
    *ret = w.out;
    return 0;
}

static int merge(const struct merger *m, struct apply_type t, const struct jsn *live,
                 const struct jsn *config, struct jsn **ret)
{
    enum apply_shape shape;
    enum jsn_type type;

    if (!live || !config) {
        *ret = jsn_clone(m->a, live ? live : config);
        return 0;
    }
    shape = apply_shape_of(t, config);
    type = shape == APPLY_MAP ? JSN_OBJECT : JSN_ARRAY;
    if (shape == APPLY_LEAF || (!apply_has_parts(live, type) && !apply_has_parts(config, type))) {
        *ret = jsn_clone(m->a, config);
        return 0;
    }
    if (shape == APPLY_MAP)
        return merge_members(m, t, live, config, ret);
    return merge_items(m, t, live, config, ret);
}

int apply_merge(struct arena *a, const struct schema *schema, const struct jsn *live,
                const struct jsn *config, struct jsn **ret_value, struct err *e)
{
    const struct merger m = {a, e};

    return merge(&m, apply_type_of(schema), live, config, ret_value);
}

static struct jsn *remove_from(struct arena *a, struct apply_type t, const struct jsn *v,
                               const struct fieldset *set);

/* One member or item after removal: NULL if it goes, null if nothing of it is left. */
static struct jsn *remove_part(struct arena *a, struct apply_type t, const struct jsn *v,
                               const struct fieldset_node *node)
{
    struct jsn *left;

    if (!node)
        return jsn_clone(a, v);
    if (node->member)
        return NULL;
    left = remove_from(a, t, v, node->children);
    return left ? left : jsn_null(a);
}

static struct jsn *remove_items(struct arena *a, struct apply_type t, const struct jsn *v,
                                const struct fieldset *set)
{
    struct jsn *out = jsn_array(a);

    JSN_FOR_ITEMS (item, v) {
        struct fieldset_element element;
        const struct fieldset_node *node = NULL;
        struct jsn *left;

        if (apply_item_element(a, t, item, &element, NULL) == 0)
            node = fieldset_find(set, &element);
        left = remove_part(a, apply_item_type(t), item, node);
        if (left)
            jsn_append(a, out, left);
    }
    return out;
}

static struct jsn *remove_members(struct arena *a, struct apply_type t, const struct jsn *v,
                                  const struct fieldset *set)
{
    struct jsn *out = jsn_object(a);

    JSN_FOR_MEMBERS (m, v) {
        struct fieldset_element element = {.kind = FIELDSET_FIELD, .field = m->key};
        struct jsn *left = remove_part(a, apply_member_type(t, m->key, NULL), m->value,
                                       fieldset_find(set, &element));

        if (left)
            jsn_set_member(a, out, m->key, left);
    }
    return out;
}

/* NULL if nothing is left.  What is owned as a whole goes when anything in it is to go. */
static struct jsn *remove_from(struct arena *a, struct apply_type t, const struct jsn *v,
                               const struct fieldset *set)
{
    enum apply_shape shape = apply_shape_of(t, v);
    struct jsn *out = NULL;

    if (v->type != JSN_ARRAY && v->type != JSN_OBJECT)
        return v->type == JSN_NULL ? NULL : jsn_clone(a, v);
    if (v->type == JSN_OBJECT && shape == APPLY_MAP)
        out = remove_members(a, t, v, set);
    else if (v->type == JSN_ARRAY && (shape == APPLY_KEYED || shape == APPLY_SET))
        out = remove_items(a, t, v, set);
    return jsn_len(out) ? out : NULL;
}

struct jsn *apply_remove(struct arena *a, const struct schema *schema, const struct jsn *v,
                         const struct fieldset *set)
{
    struct jsn *left;

    if (fieldset_empty(set))
        return jsn_clone(a, v);
    left = remove_from(a, apply_type_of(schema), v, set);
    return left ? left : jsn_null(a);
}
