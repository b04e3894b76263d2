/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A map that forgets what was not used for longest. */
#pragma once

#include "src/base/list.h"
#include "src/base/map.h"

/* First member of what is kept. */
struct lru_node {
    struct list link;
    char *key;
    bool pinned; /* not to be forgotten now */
};

struct lru {
    struct map nodes;  /* key -> struct lru_node */
    struct list order; /* least recently used first */
    size_t max;
    void (*free_node)(struct lru_node *n); /* the key is freed by the lru */
};

void lru_init(struct lru *l, size_t max, void (*free_node)(struct lru_node *n));
void lru_done(struct lru *l);

/* Find, and mark as just used; or NULL. */
struct lru_node *lru_get(struct lru *l, const char *key);
/* Keep a node, which is taken; the key is new.  Forgets the oldest that is not pinned if there are
 * too many. */
void lru_put(struct lru *l, const char *key, struct lru_node *n);
