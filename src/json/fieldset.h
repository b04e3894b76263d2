/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of fields of an object, as metadata.managedFields records them (FieldsV1). */
#pragma once

#include "src/json/schema.h"

/* How to step from a value into one below it; the order of the kinds is the order of printing. */
enum fieldset_kind {
    FIELDSET_FIELD, /* f:name   a member of an object */
    FIELDSET_KEY,   /* k:{...}  the list item whose key fields have these values */
    FIELDSET_VALUE, /* v:"x"    the item of a list of scalars that is a set */
    FIELDSET_INDEX, /* i:0      the item at a position */
};

struct fieldset_element {
    enum fieldset_kind kind;
    struct str field;
    const struct jsn *value; /* KEY: an object with its keys sorted; VALUE: a scalar */
    int64_t index;
};

/* A path, held from its end: the last step, and the path that leads to it (NULL: the root). */
struct fieldset_path {
    const struct fieldset_path *up;
    struct fieldset_element element;
};

/*
 * A tree of elements, each level sorted.  A node that is a member stands for its own path; children
 * are paths through it.  Every node is a member or has children.  Sets live in the arena they were
 * made in and share parts with one another; once built they are not changed.
 */
struct fieldset_node {
    struct fieldset_element element;
    bool member;
    struct fieldset *children; /* NULL: none */
};

struct fieldset {
    struct fieldset_node *nodes;
    size_t n;
    size_t cap;
};

int fieldset_element_cmp(const struct fieldset_element *a, const struct fieldset_element *b);

/* A set from paths: fieldset_of(a, "spec", "metadata.name", NULL). */
#define fieldset_of(a, ...) fieldset_from_paths((a), (const char *const[]){__VA_ARGS__})
struct fieldset *fieldset_from_paths(struct arena *a, const char *const *paths);

/* Only while a set is being built; the path's strings and values are borrowed. */
void fieldset_insert(struct arena *a, struct fieldset *s, const struct fieldset_path *path);

/* NULL stands for the empty set everywhere below. */
bool fieldset_empty(const struct fieldset *s);
bool fieldset_equal(const struct fieldset *x, const struct fieldset *y);
bool fieldset_has(const struct fieldset *s, const struct fieldset_path *path);
/* What the set holds below and at one step; NULL if nothing. */
const struct fieldset_node *fieldset_find(const struct fieldset *s,
                                          const struct fieldset_element *element);

struct fieldset *fieldset_union(struct arena *a, const struct fieldset *x,
                                const struct fieldset *y);
struct fieldset *fieldset_intersection(struct arena *a, const struct fieldset *x,
                                       const struct fieldset *y);
/* The members of x that are not members of y. */
struct fieldset *fieldset_difference(struct arena *a, const struct fieldset *x,
                                     const struct fieldset *y);
/* The members of x that are neither members of y nor below one. */
struct fieldset *fieldset_difference_below(struct arena *a, const struct fieldset *x,
                                           const struct fieldset *y);

/* Call `fn` with each member; the path is valid during the call only. */
typedef void (*fieldset_fn)(void *context, const struct fieldset_path *path);
void fieldset_each(const struct fieldset *s, fieldset_fn fn, void *context);

/* From and to a FieldsV1 value.  Elements of unknown kinds are ignored. */
int fieldset_from_jsn(struct arena *a, const struct jsn *fields, struct fieldset **ret_set,
                      struct err *e) MUST_CHECK;
struct jsn *fieldset_to_jsn(struct arena *a, const struct fieldset *s);

/* As people read it: .spec.ports[port=80,protocol="TCP"].name, .metadata.finalizers[="x"] */
void fieldset_element_print(struct buf *b, const struct fieldset_element *element);
void fieldset_path_print(struct buf *b, const struct fieldset_path *path);
