/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How server-side apply sees a value: its shape by schema, and what tells list items apart. */
#pragma once

#include "src/json/fieldset.h"

/* What is known of a value's type.  Without a schema everything is deduced from the value. */
struct apply_type {
    const struct schema *schema;
    bool open; /* fields that are not declared are allowed, here and below */
};

enum apply_shape {
    APPLY_LEAF,  /* owned as a whole: scalars, atomic lists and objects */
    APPLY_MAP,   /* owned member by member */
    APPLY_KEYED, /* a list of objects, owned item by item, told apart by key fields */
    APPLY_SET,   /* a list of scalars, owned item by item */
};

struct apply_type apply_type_of(const struct schema *root);

/* The type of values as clients write them: a quantity may be a number, for one. */
enum schema_type apply_value_type(struct apply_type t);

/* The shape that this value has under its type.  null has the shape that the type alone gives. */
enum apply_shape apply_shape_of(struct apply_type t, const struct jsn *v);

/* Do the two values have the same type?  Only where a schema leaves it open can they differ. */
bool apply_same_type(struct apply_type t, const struct jsn *x, const struct jsn *y);

/* Is it an object, or a list, with anything in it? */
bool apply_has_parts(const struct jsn *v, enum jsn_type type);

/* The type of a member or an item; *ret_declared tells whether the schema names the member. */
struct apply_type apply_member_type(struct apply_type t, struct str key, bool *ret_declared);
struct apply_type apply_item_type(struct apply_type t);
/* May the member stand there at all? */
bool apply_member_allowed(struct apply_type t, struct str key);

/* What tells this item of a keyed list or set from the others; the element borrows from the item.
 */
int apply_item_element(struct arena *a, struct apply_type list, const struct jsn *item,
                       struct fieldset_element *ret_element, struct err *e) MUST_CHECK;

/* The items of a list with their elements. */
struct apply_item {
    struct fieldset_element element;
    struct jsn *value;
    size_t position;
    size_t times; /* how many items have this element; counted at the first of them */
    size_t first; /* position of the first of them */
};

struct apply_items {
    struct apply_item *items; /* in list order */
    size_t *sorted;           /* positions, sorted by element and then by position */
    size_t n;
};

/* v may be NULL or no list: no items. */
int apply_items(struct arena *a, struct apply_type list, const struct jsn *v,
                struct apply_items *ret_items, struct err *e) MUST_CHECK;
/* The first item with this element, or NULL. */
const struct apply_item *apply_items_find(const struct apply_items *x,
                                          const struct fieldset_element *element);

/* The members of one or two objects by key, sorted, each key once; either may be NULL or no object.
 */
struct apply_pair {
    struct str key;
    struct jsn *left;
    struct jsn *right;
};
struct apply_pair *apply_pairs(struct arena *a, const struct jsn *left, const struct jsn *right,
                               size_t *ret_n);
