/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON values: trees in an arena, with parse, print, lookup and change. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/arena.h"
#include "src/base/buf.h"

enum jsn_type { JSN_NULL, JSN_BOOL, JSN_INT, JSN_REAL, JSN_STRING, JSN_ARRAY, JSN_OBJECT };

struct jsn_member {
    struct str key; /* terminated */
    struct jsn *value;
};

/*
 * A value and all below it live in the arena they were made in.  A subtree may hang in two trees at
 * once as long as nobody changes it; jsn_clone gives one's own.  Objects keep insertion order and
 * hold each key once.  Code that reads uses the functions below and not the union.
 */
struct jsn {
    enum jsn_type type;
    union {
        bool b;
        int64_t i;
        double d;
        struct str s; /* terminated; may hold NUL inside */
        struct {
            struct jsn **items;
            size_t n;
            size_t cap;
        } a;
        struct {
            struct jsn_member *members;
            size_t n;
            size_t cap;
            struct jsn_index *index; /* of large objects; NULL until needed */
        } o;
    };
};

/* Make values. */
struct jsn *jsn_null(struct arena *a);
struct jsn *jsn_bool(struct arena *a, bool b);
struct jsn *jsn_int(struct arena *a, int64_t i);
struct jsn *jsn_real(struct arena *a, double d);
struct jsn *jsn_string(struct arena *a, const char *s); /* copies */
struct jsn *jsn_str(struct arena *a, struct str s);     /* copies */
struct jsn *jsn_stringf(struct arena *a, const char *fmt, ...) PRINTF(2, 3);
struct jsn *jsn_array(struct arena *a);
struct jsn *jsn_object(struct arena *a);
struct jsn *jsn_clone(struct arena *a, const struct jsn *v);

/* Type tests; NULL is nothing. */
static inline bool jsn_is(const struct jsn *v, enum jsn_type type)
{
    return v && v->type == type;
}
const char *jsn_type_name(enum jsn_type type); /* "object", as JSON schema names them */

/* Equality by meaning: members in any order; 1 and 1.0 are equal.  Two NULLs are equal. */
bool jsn_equal(const struct jsn *a, const struct jsn *b);

/*
 * Read.  `path` is keys joined by '.', e.g. "metadata.name"; a key that holds a dot needs
 * jsn_member.  Everything tolerates NULL and wrong types by answering "not there".
 */
struct jsn *jsn_member(const struct jsn *object, struct str key);
struct jsn *jsn_key(const struct jsn *object, const char *key);
struct jsn *jsn_get(const struct jsn *v, const char *path);
const char *jsn_get_str(const struct jsn *v, const char *path); /* NULL if absent or no string */
int64_t jsn_get_int(const struct jsn *v, const char *path, int64_t otherwise);
bool jsn_get_bool(const struct jsn *v, const char *path, bool otherwise);
size_t jsn_len(const struct jsn *v); /* items or members; 0 for everything else */
struct jsn *jsn_item(const struct jsn *array, size_t i);
const char *jsn_text(const struct jsn *v); /* of a string value, else NULL */

#define JSN_FOR_ITEMS(item, array)                                                                 \
    for (size_t item##_i = 0, item##_n = jsn_is((array), JSN_ARRAY) ? (array)->a.n : 0;            \
         item##_i < item##_n; item##_i = item##_n)                                                 \
        for (struct jsn *item = NULL;                                                              \
             item##_i < item##_n && ((item = (array)->a.items[item##_i]), 1); item##_i++)

#define JSN_FOR_MEMBERS(member, object)                                                            \
    for (size_t member##_i = 0, member##_n = jsn_is((object), JSN_OBJECT) ? (object)->o.n : 0;     \
         member##_i < member##_n; member##_i = member##_n)                                         \
        for (struct jsn_member *member = NULL;                                                     \
             member##_i < member##_n && ((member = &(object)->o.members[member##_i]), 1);          \
             member##_i++)

/*
 * Change.  New values must live at least as long as the tree they are put into (same arena, as a
 * rule).  jsn_set replaces in place or appends.  What has the wrong type, or is NULL, is left as it
 * is: values come from requests, and none of them may end the process.  Callers that need an object
 * check for one, or take what jsn_ensure_object gives.
 */
void jsn_set(struct arena *a, struct jsn *object, const char *key, struct jsn *value);
void jsn_set_member(struct arena *a, struct jsn *object, struct str key, struct jsn *value);
/* The key is not copied: it must be terminated and live as long as the tree. */
void jsn_put_member(struct arena *a, struct jsn *object, struct str key, struct jsn *value);
void jsn_set_str(struct arena *a, struct jsn *object, const char *key, const char *text);
void jsn_set_int(struct arena *a, struct jsn *object, const char *key, int64_t i);
void jsn_set_bool(struct arena *a, struct jsn *object, const char *key, bool b);
/* "a.b.c": makes the objects on the way where they are missing; replaces what is no object. */
void jsn_set_path(struct arena *a, struct jsn *object, const char *path, struct jsn *value);
/* The object at key, made if it is missing or not an object. */
struct jsn *jsn_ensure_object(struct arena *a, struct jsn *object, const char *key);
/* Remove; false if it was not there. */
bool jsn_del(struct jsn *object, const char *key);
bool jsn_del_member(struct jsn *object, struct str key);
bool jsn_del_path(struct jsn *object, const char *path);
/* Remove all members of an object but those that `keep` answers true for; in one pass, in order. */
typedef bool (*jsn_keep_fn)(const struct jsn_member *member, const void *context);
void jsn_keep_members(struct jsn *object, jsn_keep_fn keep, const void *context);
void jsn_append(struct arena *a, struct jsn *array, struct jsn *item);
void jsn_insert(struct arena *a, struct jsn *array, size_t at, struct jsn *item); /* at <= n */
void jsn_remove_at(struct jsn *array, size_t at);

#define JSN_MAX_DEPTH 512

/* Are lists and objects nested deeper than that?  Goes no deeper itself. */
bool jsn_deeper_than(const struct jsn *v, int depth);

/* What the parser saw that is no error: each duplicate key, as a path ("data.a", "items[3].x"). */
struct jsn_notes {
    struct arena *arena;
    const char **duplicates;
    size_t n_duplicates;
    size_t cap_duplicates;
};

/*
 * Parse one JSON text (RFC 8259, UTF-8, nothing after it).  Depth is capped at JSN_MAX_DEPTH; the
 * size is the caller's to cap.  The last of two equal keys wins; with `notes` the duplicates are
 * listed (at most 64).  The error names line and column.
 */
int jsn_parse(struct arena *a, struct str text, struct jsn_notes *notes, struct jsn **ret_value,
              struct err *e) MUST_CHECK;

/* Compact text; and one for people, with two blanks of indent a level. */
void jsn_print(struct buf *b, const struct jsn *v);
void jsn_print_pretty(struct buf *b, const struct jsn *v);
/* A string as a JSON string literal, with quotes. */
void jsn_print_string(struct buf *b, struct str s);
