/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hash map from strings to pointers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/str.h"

/*
 * Keys are copied; values are borrowed unless map_init was given a `free_value`.  {0} is a valid
 * empty map that owns no value.  Order of iteration is unspecified.  Keyed hashing: a map of names
 * from outside cannot be made slow by choosing them.
 */
struct map {
    struct map_slot *slots;
    size_t n;
    size_t used; /* live and deleted slots */
    size_t cap;  /* power of two */
    void (*free_value)(void *value);
};

void map_init(struct map *m, void (*free_value)(void *value));
void map_done(struct map *m);
DEFINE_AUTO_DONE(struct map, map_done);

/* Put a value (not NULL); what stood there is freed by free_value.  Returns true if it was new. */
bool map_put(struct map *m, struct str key, void *value);
void *map_get(const struct map *m, struct str key);
/* Remove the key; returns its value, no longer owned by the map, or NULL. */
void *map_take(struct map *m, struct str key);
/* Remove the key and free its value; false if it was not there. */
bool map_del(struct map *m, struct str key);

/*
 * Iterate: `size_t at = 0; while (map_next(&m, &at, &key, &value))`.  Removing the current key
 * inside the loop is fine; adding is not.  key and value may be NULL.
 */
bool map_next(const struct map *m, size_t *at, struct str *ret_key, void *ret_value);
