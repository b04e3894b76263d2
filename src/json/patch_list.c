/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lists of strategic merge patch.
 *
 * Items are the same if their merge keys (or, in lists of scalars, they themselves) are equal.
 * Looking them up goes through a hash index, so that merging long lists stays linear.  The order of
 * the result follows two rules at once: the patch's order among its own items, the old order among
 * all others; the two sequences are then woven together by the old positions as far as those are
 * known.
 */
#include "src/json/patch_list.h"

#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/map.h"

int patch_list_items(const struct jsn *x, const struct jsn *y, enum patch_items *ret, struct err *e)
{
    const struct jsn *lists[] = {x, y};
    const struct jsn *first = NULL;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        JSN_FOR_ITEMS (item, lists[i]) {
            bool number = item->type == JSN_INT || item->type == JSN_REAL;

            if (item->type == JSN_ARRAY)
                return err_bad(e, "lists of lists are not supported");
            if (!first)
                first = item;
            if (item->type != first->type &&
                !(number && (first->type == JSN_INT || first->type == JSN_REAL)))
                return err_bad(e, "list element types are not identical: %s and %s",
                               jsn_type_name(first->type), jsn_type_name(item->type));
        }
    }
    *ret = !first                      ? PATCH_ITEMS_EMPTY
           : first->type == JSN_OBJECT ? PATCH_ITEMS_OBJECTS
                                       : PATCH_ITEMS_SCALARS;
    return 0;
}

static int compare_members(const void *x, const void *y)
{
    const struct jsn_member *const *a = x;
    const struct jsn_member *const *b = y;

    return str_cmp((*a)->key, (*b)->key);
}

static void print_go_map(struct buf *b, const struct jsn *v)
{
    AUTO(free) struct jsn_member **sorted = xcalloc(v->o.n + 1, sizeof(struct jsn_member *));

    for (size_t i = 0; i < v->o.n; i++)
        sorted[i] = &v->o.members[i];
    qsort(sorted, v->o.n, sizeof(struct jsn_member *), compare_members);
    buf_adds(b, "map[");
    for (size_t i = 0; i < v->o.n; i++) {
        buf_printf(b, "%s" STR_FMT ":", i ? " " : "", STR_ARG(sorted[i]->key));
        patch_print_go(b, sorted[i]->value);
    }
    buf_addc(b, ']');
}

void patch_print_go(struct buf *b, const struct jsn *v)
{
    if (v->type == JSN_OBJECT) {
        print_go_map(b, v);
    } else if (v->type == JSN_ARRAY) {
        buf_addc(b, '[');
        for (size_t i = 0; i < v->a.n; i++) {
            if (i > 0)
                buf_addc(b, ' ');
            patch_print_go(b, v->a.items[i]);
        }
        buf_addc(b, ']');
    } else if (v->type == JSN_STRING) {
        buf_addstr(b, v->s);
    } else if (v->type == JSN_NULL) {
        buf_adds(b, "<nil>");
    } else {
        jsn_print(b, v);
    }
}

int patch_list_check_key(const struct jsn *list, const char *key, struct err *e)
{
    AUTO(buf_done) struct buf b = {0};

    JSN_FOR_ITEMS (item, list) {
        if (item->type != JSN_OBJECT)
            return err_bad(e, "expected a map[string]interface {}, but received a %s",
                           jsn_type_name(item->type));
        if (jsn_key(item, key))
            continue;
        patch_print_go(&b, item);
        return err_bad(e, "map: %.200s does not contain declared merge key: %s", buf_str(&b), key);
    }
    return 0;
}

/* The text that two items share if and only if they are the same item. */
static void identity(const struct patch_index *x, const struct jsn *item, struct buf *b)
{
    const struct jsn *v = x->key ? jsn_key(item, x->key) : item;

    buf_clear(b);
    if (v)
        jsn_print(b, v);
}

void patch_index_put(struct patch_index *x, const struct jsn *item, size_t position)
{
    AUTO(buf_done) struct buf b = {0};

    identity(x, item, &b);
    if (!map_get(x->positions, buf_view(&b)))
        (void)map_put(x->positions, buf_view(&b), (void *)(uintptr_t)(position + 1));
}

struct patch_index patch_index_new(const struct jsn *list, const char *key)
{
    struct patch_index x = {xcalloc(1, sizeof(struct map)), key};
    size_t position = 0;

    JSN_FOR_ITEMS (item, list)
        patch_index_put(&x, item, position++);
    return x;
}

void patch_index_done(struct patch_index *x)
{
    if (x->positions)
        map_done(x->positions);
    free(x->positions);
    x->positions = NULL;
}

int64_t patch_index_find(const struct patch_index *x, const struct jsn *item)
{
    AUTO(buf_done) struct buf b = {0};

    identity(x, item, &b);
    return (int64_t)(uintptr_t)map_get(x->positions, buf_view(&b)) - 1;
}

/* An item with the two positions that decide its place. */
struct placed {
    struct jsn *item;
    int64_t rank; /* in the order it has to keep; what is not in it comes first, deletions last */
    int64_t old;  /* in the old list, -1 if it was not there */
    size_t at;    /* keeps the sort stable */
};

static int compare_placed(const void *x, const void *y)
{
    const struct placed *a = x;
    const struct placed *b = y;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

/* Weave `others` into `named`: each goes before the first that stood after it in the old list. */
static struct jsn *weave(struct arena *a, const struct placed *others, size_t n_others,
                         const struct placed *named, size_t n_named)
{
    struct jsn *out = jsn_array(a);
    size_t i = 0;
    size_t j = 0;

    while (i < n_others || j < n_named) {
        bool take_other =
            i < n_others && (j >= n_named || (others[i].old >= 0 && named[j].old >= 0 &&
                                              others[i].old < named[j].old));

        jsn_append(a, out, take_other ? others[i++].item : named[j++].item);
    }
    return out;
}

struct jsn *patch_list_order(struct arena *a, const struct jsn *merged, const struct jsn *wanted,
                             const struct jsn *old, const char *key)
{
    AUTO(patch_index_done) struct patch_index in_wanted = patch_index_new(wanted, key);
    AUTO(patch_index_done) struct patch_index in_old = patch_index_new(old, key);
    AUTO(free) struct placed *named = xcalloc(merged->a.n + 1, sizeof(*named));
    AUTO(free) struct placed *others = xcalloc(merged->a.n + 1, sizeof(*others));
    size_t n_named = 0;
    size_t n_others = 0;

    JSN_FOR_ITEMS (item, merged) {
        int64_t rank = patch_index_find(&in_wanted, item);
        int64_t was = patch_index_find(&in_old, item);

        bool last = streq(jsn_text(jsn_key(item, PATCH_DIRECTIVE)), "delete");

        if (rank >= 0)
            named[n_named] = (struct placed){item, last ? INT64_MAX : rank, was, n_named};
        else
            others[n_others] = (struct placed){item, last ? INT64_MAX : was, was, n_others};
        n_named += rank >= 0;
        n_others += rank < 0;
    }
    qsort(named, n_named, sizeof(*named), compare_placed);
    qsort(others, n_others, sizeof(*others), compare_placed);
    return weave(a, others, n_others, named, n_named);
}

struct jsn *patch_list_without(struct arena *a, const struct jsn *list, const struct jsn *deleted,
                               const char *key)
{
    AUTO(patch_index_done) struct patch_index gone = patch_index_new(deleted, key);
    struct jsn *out = jsn_array(a);

    JSN_FOR_ITEMS (item, list)
        if (patch_index_find(&gone, item) < 0)
            jsn_append(a, out, item);
    return out;
}

struct jsn *patch_list_union(struct arena *a, const struct jsn *original, const struct jsn *patch)
{
    const struct jsn *lists[] = {original, patch};
    struct jsn *merged = jsn_array(a);
    AUTO(patch_index_done) struct patch_index seen = patch_index_new(merged, NULL);

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        JSN_FOR_ITEMS (item, lists[i]) {
            if (patch_index_find(&seen, item) >= 0)
                continue;
            patch_index_put(&seen, item, merged->a.n);
            jsn_append(a, merged, item);
        }
    }
    return patch_list_order(a, merged, patch, original, NULL);
}

static bool same_item(const struct jsn *x, const struct jsn *y, const char *key)
{
    return key ? jsn_equal(jsn_key(x, key), jsn_key(y, key)) : jsn_equal(x, y);
}

static bool is_deletion(const struct jsn *item)
{
    return streq(jsn_text(jsn_key(item, PATCH_DIRECTIVE)), "delete");
}

int patch_list_check_order(const struct jsn *patch, const struct jsn *order, const char *key,
                           struct err *e)
{
    size_t at = 0;

    if (!patch || jsn_len(order) == 0)
        return 0;
    JSN_FOR_ITEMS (item, patch) {
        if (key && is_deletion(item))
            continue;
        while (at < order->a.n && !same_item(item, order->a.items[at], key) &&
               !(key && jsn_key(item, PATCH_DIRECTIVE)))
            at++;
        if (at == order->a.n)
            return err_bad(e, "The order in patch list doesn't match " PATCH_ORDER_PREFIX " list");
        at += !(key && jsn_key(item, PATCH_DIRECTIVE));
    }
    return 0;
}

struct jsn *patch_list_order_before(struct arena *a, const struct jsn *old, const struct jsn *patch,
                                    const char *key)
{
    struct jsn *deleted = jsn_array(a);
    struct jsn *out;

    if (!patch || !key)
        return patch_list_without(a, old, deleted, key);
    JSN_FOR_ITEMS (item, patch)
        if (is_deletion(item))
            jsn_append(a, deleted, item);
    out = patch_list_without(a, old, deleted, key);
    if (out->a.n < jsn_len(old)) {
        AUTO(patch_index_done) struct patch_index known = patch_index_new(out, key);

        JSN_FOR_ITEMS (item, patch)
            if (out->a.n < old->a.n && !jsn_key(item, PATCH_DIRECTIVE) &&
                patch_index_find(&known, item) < 0)
                jsn_append(a, out, item);
    }
    return out;
}
