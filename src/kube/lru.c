/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Least recently used first to go.
 *
 * Bounds what is remembered about things that others name: events, objects that events are about.
 * A node that is in use is pinned by its owner; then the next oldest goes, and if all are pinned
 * the map grows beyond its size for as long as that lasts.
 */
#include "src/kube/lru.h"

#include "src/base/alloc.h"

void lru_init(struct lru *l, size_t max, void (*free_node)(struct lru_node *n))
{
    *l = (struct lru){.max = max, .free_node = free_node};
    list_init(&l->order);
}

/* Forget one. */
static void lru_drop(struct lru *l, struct lru_node *n)
{
    AUTO(free) char *key = n->key;

    (void)map_take(&l->nodes, str_of(key));
    list_remove(&n->link);
    l->free_node(n);
}

void lru_done(struct lru *l)
{
    LIST_FOR_EACH (n, &l->order, struct lru_node, link)
        lru_drop(l, n);
    map_done(&l->nodes);
}

struct lru_node *lru_get(struct lru *l, const char *key)
{
    struct lru_node *n = map_get(&l->nodes, str_of(key));

    if (!n)
        return NULL;
    list_remove(&n->link);
    list_append(&l->order, &n->link);
    return n;
}

static void forget_oldest(struct lru *l)
{
    LIST_FOR_EACH (n, &l->order, struct lru_node, link) {
        if (!n->pinned) {
            lru_drop(l, n);
            return;
        }
    }
}

void lru_put(struct lru *l, const char *key, struct lru_node *n)
{
    if (l->nodes.n >= l->max)
        forget_oldest(l);
    n->key = xstrdup(key);
    (void)map_put(&l->nodes, str_of(key), n);
    list_append(&l->order, &n->link);
}
