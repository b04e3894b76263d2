/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables that tie the fields of a struct to JSON: decode, defaults, encode, CRD schema. */
#pragma once

#include "src/json/jsn.h"
#include "src/json/quantity.h"

/*
 * One row for each field, in the order in which schema and JSON show them:
 *
 *     const struct jsn_field nodeset_fields[] = {
 *         {"metadata.name", JSN_STR, offsetof(struct nodeset, name), JSN_REQ},
 *         {"spec.replicas", JSN_U32, offsetof(struct nodeset, count), 0, .def = "1",
 *          .doc = "How many nodes to keep."},
 *         JSN_END,
 *     };
 *
 * A path may run through objects that have no struct of their own.  Such an object is taken to be
 * there; a JSN_GROUP row for it makes it optional (its required fields then count only where it is
 * there) and carries its description.
 */
enum jsn_kind {
    JSN_NOTHING,    /* ends the table */
    JSN_GROUP,      /* an object on the way to others; has no offset */
    JSN_STR,        /* const char *; NULL: absent */
    JSN_FLAG,       /* bool */
    JSN_I32,        /* int32_t */
    JSN_U32,        /* uint32_t */
    JSN_I64,        /* int64_t */
    JSN_DOUBLE,     /* double */
    JSN_ENUM,       /* int: position in `names`; -1: absent */
    JSN_STRS,       /* struct jsn_strs */
    JSN_MAP,        /* struct jsn_map: an object of strings */
    JSN_INT_OR_STR, /* struct jsn_int_or_str */
    JSN_QUANTITY,   /* struct quantity */
    JSN_TIME,       /* int64_t: microseconds since 1970; 0: absent */
    JSN_DURATION,   /* int64_t: milliseconds */
    JSN_RAW,        /* const struct jsn *: any value, a copy; NULL: absent */
    JSN_SUB,        /* a struct with a table of its own: `sub`, `size` */
    JSN_SUBS,       /* a list of them: struct { struct x *items; size_t n; } */
};

enum {
    JSN_REQ = 1 << 0,      /* must be there */
    JSN_PTR = 1 << 1,      /* the member is a pointer to the type above; NULL: absent */
    JSN_KEEP = 1 << 2,     /* encode it even if it is zero or empty */
    JSN_HAS_MIN = 1 << 3,  /* `min` holds: of a number, a string's length, a list's length */
    JSN_HAS_MAX = 1 << 4,  /* `max` likewise */
    JSN_NULLABLE = 1 << 5, /* schema: null is a value of its own */
    JSN_HIDDEN = 1 << 6,   /* not in the schema */
    JSN_ANY = 1 << 7,      /* RAW, schema: any type, not just an object */
};

struct jsn_strs {
    const char **items;
    size_t n;
};

struct jsn_pair {
    const char *key;
    const char *value;
};

struct jsn_map {
    struct jsn_pair *items;
    size_t n;
};

struct jsn_int_or_str {
    const char *str; /* NULL: it is the integer */
    int32_t i;
    bool set;
};

/* Checks one decoded field more closely; `value` points to the member.  The path is put before it.
 */
typedef int (*jsn_check_fn)(const void *value, struct err *e);

struct jsn_field {
    const char *path;
    enum jsn_kind kind;
    size_t offset;
    unsigned int flags;
    const char *def; /* JSON text of the default */
    const char *doc; /* description in the schema */
    const struct jsn_field *sub;
    size_t size; /* of one `sub` struct */
    const char *const *names;
    int64_t min;
    int64_t max;
    const char *pattern;   /* that strings match, as in schemas (pattern.h) */
    const char *list_type; /* atomic, set or map */
    const char *list_keys; /* of map, with commas */
    const char *format;    /* schema: overrides the kind's own */
    const char *extra;     /* schema: JSON text of an object whose members are added */
    jsn_check_fn check;
};

#define JSN_END {NULL, JSN_NOTHING, 0, 0}

/* "cpu" of a jsn_map, or NULL. */
const char *jsn_map_get(const struct jsn_map *map, const char *key);

/*
 * Fill the zeroed struct at `out` from v (NULL or null: an empty object).  All it comes to hold
 * lives in `a` and nothing points into v.  Defaults fill what is absent.  What no row names is
 * ignored.  The error names the path: "spec.replicas: -1 is not an unsigned 32-bit integer".
 */
int fields_decode(struct arena *a, const struct jsn_field *table, const struct jsn *v, void *out,
                  struct err *e) MUST_CHECK;

/* The path of the first member that no row names, or NULL; apiVersion, kind and metadata are known.
 */
const char *fields_unknown(struct arena *a, const struct jsn_field *table, const struct jsn *v);

/* The struct as an object in `a`; absent, zero and empty fields are left out unless JSN_KEEP. */
struct jsn *fields_encode(struct arena *a, const struct jsn_field *table, const void *in);

/* The OpenAPI schema of the table; and of a kind, with apiVersion, kind and metadata. */
struct jsn *fields_schema(struct arena *a, const struct jsn_field *table);
struct jsn *fields_kind_schema(struct arena *a, const struct jsn_field *table, const char *doc);
