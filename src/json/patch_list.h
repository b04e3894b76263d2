/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lists of strategic merge patch: telling items apart, and their order. */
#pragma once

#include "src/json/jsn.h"

#define PATCH_DIRECTIVE "$patch"
#define PATCH_ORDER_PREFIX "$setElementOrder"

/* What the items of one or two lists are; EMPTY where there is none. */
enum patch_items { PATCH_ITEMS_EMPTY, PATCH_ITEMS_OBJECTS, PATCH_ITEMS_SCALARS };

/* Fails on lists of lists and on lists of mixed types.  Either list may be NULL. */
int patch_list_items(const struct jsn *x, const struct jsn *y, enum patch_items *ret,
                     struct err *e) MUST_CHECK;

/* Every item is an object that has the member `key`. */
int patch_list_check_key(const struct jsn *list, const char *key, struct err *e) MUST_CHECK;

/* The first position of each item, found by merge key (or by the item itself if key is NULL). */
struct patch_index {
    struct map *positions;
    const char *key;
};
struct patch_index patch_index_new(const struct jsn *list, const char *key);
void patch_index_done(struct patch_index *x);
DEFINE_AUTO_DONE(struct patch_index, patch_index_done);
void patch_index_put(struct patch_index *x, const struct jsn *item, size_t position);
/* -1 if it is not there. */
int64_t patch_index_find(const struct patch_index *x, const struct jsn *item);

/*
 * The items of `merged` in their final order: those that `wanted` names stand in its order, the
 * others in that of `old`; the two are woven together as they stood in `old`.
 */
struct jsn *patch_list_order(struct arena *a, const struct jsn *merged, const struct jsn *wanted,
                             const struct jsn *old, const char *key);

/* Items of the patch must stand in $setElementOrder, in the same order; deletions need not. */
int patch_list_check_order(const struct jsn *patch, const struct jsn *order, const char *key,
                           struct err *e) MUST_CHECK;

/*
 * The old order that a merged list is held against: where the patch deletes items, those it adds
 * take their places after all that stay.
 */
struct jsn *patch_list_order_before(struct arena *a, const struct jsn *old, const struct jsn *patch,
                                    const char *key);

/* The items of `list` that `deleted` does not name. */
struct jsn *patch_list_without(struct arena *a, const struct jsn *list, const struct jsn *deleted,
                               const char *key);

/* Two lists of scalars: all values, each once, in the order of a merged list. */
struct jsn *patch_list_union(struct arena *a, const struct jsn *original, const struct jsn *patch);

/* fmt's %v of a value in Go, as messages show it: map[a:1 b:[x y]]. */
void patch_print_go(struct buf *b, const struct jsn *v);
