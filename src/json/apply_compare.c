/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The difference of two values, as sets of fields.
 *
 * Both are walked side by side.  A leaf that only one side has is added or removed, one that both
 * have and that differs is modified; an object or item that only one side has counts itself, too,
 * besides all that is in it.  Where a schema leaves the type open and it changed, the path itself
 * is modified and what is below it comes or goes.
 */
#include "src/json/apply.h"
#include "src/json/apply_type.h"

struct comparer {
    struct arena *a;
    struct apply_comparison out;
    struct err *e;
};

static int compare(struct comparer *c, struct apply_type t, const struct fieldset_path *path,
                   const struct jsn *l, const struct jsn *r);

static void leaf(struct comparer *c, const struct fieldset_path *path, const struct jsn *l,
                 const struct jsn *r)
{
    if (!l)
        fieldset_insert(c->a, c->out.added, path);
    else if (!r)
        fieldset_insert(c->a, c->out.removed, path);
    else if (!jsn_equal(l, r))
        fieldset_insert(c->a, c->out.modified, path);
}

static int compare_members(struct comparer *c, struct apply_type t,
                           const struct fieldset_path *path, const struct jsn *l,
                           const struct jsn *r)
{
    size_t n;
    struct apply_pair *pairs = apply_pairs(c->a, l, r, &n);

    for (size_t i = 0; i < n; i++) {
        struct fieldset_path here = {path, {.kind = FIELDSET_FIELD, .field = pairs[i].key}};
        int rc = compare(c, apply_member_type(t, pairs[i].key, NULL), &here, pairs[i].left,
                         pairs[i].right);

        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Two groups of items with the same element, which at least one side has more than once. */
static bool same_group(const struct apply_items *lx, const struct apply_item *l,
                       const struct apply_items *rx, const struct apply_item *r)
{
    size_t j = r->position;

    if (l->times != r->times)
        return false;
    for (size_t i = l->position; i < lx->n; i++) {
        if (lx->items[i].first != l->position)
            continue;
        while (rx->items[j].first != r->position)
            j++;
        if (!jsn_equal(lx->items[i].value, rx->items[j++].value))
            return false;
    }
    return true;
}

static int compare_group(struct comparer *c, struct apply_type item_type,
                         const struct fieldset_path *here, const struct apply_items *lx,
                         const struct apply_item *l, const struct apply_items *rx,
                         const struct apply_item *r)
{
    size_t l_times = l ? l->times : 0;
    size_t r_times = r ? r->times : 0;
    int rc = 0;

    if (l_times <= 1 && r_times <= 1)
        return compare(c, item_type, here, l ? l->value : NULL, r ? r->value : NULL);
    if (l_times > 1 && r_times > 1) {
        if (!same_group(lx, l, rx, r))
            fieldset_insert(c->a, c->out.modified, here);
    } else if (l_times > 1) {
        if (r)
            rc = compare(c, item_type, here, NULL, r->value);
        fieldset_insert(c->a, c->out.removed, here);
    } else {
        if (l)
            rc = compare(c, item_type, here, l->value, NULL);
        fieldset_insert(c->a, c->out.added, here);
    }
    return rc;
}

/* Visit the elements of both lists in order, each once. */
static int compare_items(struct comparer *c, struct apply_type t, const struct fieldset_path *path,
                         const struct jsn *l, const struct jsn *r)
{
    struct apply_items lx;
    struct apply_items rx;
    size_t i = 0;
    size_t j = 0;
    int rc = apply_items(c->a, t, l, &lx, c->e);

    if (rc == 0)
        rc = apply_items(c->a, t, r, &rx, c->e);
    while (rc == 0 && (i < lx.n || j < rx.n)) {
        const struct apply_item *left = i < lx.n ? &lx.items[lx.sorted[i]] : NULL;
        const struct apply_item *right = j < rx.n ? &rx.items[rx.sorted[j]] : NULL;
        int order = !left ? 1 : !right ? -1 : fieldset_element_cmp(&left->element, &right->element);
        const struct apply_item *item = order <= 0 ? left : right;
        struct fieldset_path here = {.up = path};

        assert(item);
        here.element = item->element;
        left = order <= 0 ? left : NULL;
        right = order >= 0 ? right : NULL;
        i += left ? left->times : 0;
        j += right ? right->times : 0;
        rc = compare_group(c, apply_item_type(t), &here, &lx, left, &rx, right);
    }
    return rc;
}

/* Compare as values of one shape; *ret_leaf tells whether it was settled at this very path. */
static int compare_as(struct comparer *c, struct apply_type t, enum apply_shape shape,
                      const struct fieldset_path *path, const struct jsn *l, const struct jsn *r,
                      bool *ret_leaf)
{
    enum jsn_type type = shape == APPLY_MAP ? JSN_OBJECT : JSN_ARRAY;

    *ret_leaf = shape == APPLY_LEAF || (!apply_has_parts(l, type) && !apply_has_parts(r, type));
    if (*ret_leaf) {
        leaf(c, path, l, r);
        return 0;
    }
    if (shape == APPLY_MAP)
        return compare_members(c, t, path, l, r);
    return compare_items(c, t, path, l, r);
}

/* At least one of l and r is there. */
static int compare(struct comparer *c, struct apply_type t, const struct fieldset_path *path,
                   const struct jsn *l, const struct jsn *r)
{
    bool is_leaf;
    int rc = 0;

    if (l && r && l == r)
        return 0;
    if (l && r && !apply_same_type(t, l, r))
        rc = compare_as(c, t, apply_shape_of(t, l), path, l, r, &is_leaf);
    if (rc == 0)
        rc = compare_as(c, t, apply_shape_of(t, r ? r : l), path, l, r, &is_leaf);
    if (rc == 0 && !is_leaf && (!l || !r))
        fieldset_insert(c->a, l ? c->out.removed : c->out.added, path);
    return rc;
}

int apply_compare(struct arena *a, const struct schema *schema, const struct jsn *before,
                  const struct jsn *after, struct apply_comparison *ret_comparison, struct err *e)
{
    struct comparer c = {.a = a, .e = e};
    int r;

    c.out.added = arena_calloc(a, 1, sizeof(struct fieldset));
    c.out.modified = arena_calloc(a, 1, sizeof(struct fieldset));
    c.out.removed = arena_calloc(a, 1, sizeof(struct fieldset));
    r = compare(&c, apply_type_of(schema), NULL, before, after);
    if (r < 0)
        return r;
    *ret_comparison = c.out;
    return 0;
}
