/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records by name in one sorted array, each with an arena of its own. */
#pragma once

#include "src/base/arena.h"

/* {.size = sizeof(record)} is an empty one.  A record's first member is its name. */
struct shelf {
    size_t size;
    char *items;
    struct arena *arenas;
    size_t n;
    size_t cap_items;
    size_t cap_arenas;
};

void shelf_done(struct shelf *s);
void shelf_clear(struct shelf *s);

/*
 * A record of zeros for that name, and its arena; what stood there is gone.  The caller sets the
 * name to a copy in the arena.  Valid until the next change.
 */
void *shelf_put(struct shelf *s, const char *name, struct arena **ret_arena);
/* False if there was none. */
bool shelf_del(struct shelf *s, const char *name);
