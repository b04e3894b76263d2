/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects out of JSON text with slots, so that a builder reads like the object it builds. */
#pragma once

#include "src/json/fields.h"

/* What is put where the text has the string "$name"; a NULL value removes the member or item. */
struct build_slot {
    const char *name;
    const struct jsn *value; /* shared, not copied: nobody may change it afterwards */
};

/*
 * A tree in `a` from a text in which ' stands for ".  The text is code: bad JSON or an unknown slot
 * aborts.  `slots` ends with a NULL name and may be NULL.
 */
struct jsn *build_tree(struct arena *a, const char *text, const struct build_slot *slots);

/* Slots in place: build_tree(a, text, SLOTS({"port", jsn_int(a, 1)})). */
#define SLOTS(...) ((const struct build_slot[]){__VA_ARGS__, {NULL, NULL}})

/* A map of strings as an object. */
struct jsn *build_map(struct arena *a, const struct jsn_map *map);
/* Put a map's pairs over an object's members. */
void build_add_map(struct arena *a, struct jsn *object, const struct jsn_map *map);
/* Append the items of one array to another. */
void build_append_all(struct arena *a, struct jsn *array, const struct jsn *items);
/* True if an array of strings holds the text. */
bool build_has_string(const struct jsn *array, const char *text);
