/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of CEL share: the tree of a rule, and values. */
#pragma once

#include "src/json/cel.h"
#include "src/json/pattern.h"

enum cel_op {
    CEL_LITERAL,
    CEL_NAME,
    CEL_SELECT, /* a.name */
    CEL_HAS,    /* has(a.name) */
    CEL_INDEX,  /* a[b] */
    CEL_CALL,   /* fn(args), args[0] being the target of a.fn(...) */
    CEL_LIST,
    CEL_MAP, /* args are keys and values in turn */
    CEL_COND,
    CEL_AND,
    CEL_OR,
    CEL_NOT,
    CEL_NEGATE,
    CEL_EQ,
    CEL_NE,
    CEL_LT,
    CEL_LE,
    CEL_GT,
    CEL_GE,
    CEL_IN,
    CEL_ADD,
    CEL_SUB,
    CEL_MUL,
    CEL_DIV,
    CEL_MOD,
    CEL_ALL, /* macros: a is the list or map, name the variable, b the predicate */
    CEL_EXISTS,
    CEL_EXISTS_ONE,
    CEL_FILTER,
    CEL_TRANSFORM, /* map(): b the filter or NULL, c what becomes of an item */
};

struct cel_node {
    enum cel_op op;
    size_t at; /* where it begins in the text */
    struct str name;
    const struct jsn *literal;
    struct cel_node *a, *b, *c;
    struct cel_node **args;
    size_t n_args;
    const struct cel_function *fn;
    bool member; /* of a call: written a.fn() */
};

struct cel {
    const char *text;
    struct cel_node *root;
    bool uses_old;
};

/* Parse; syntax only.  Same failures as cel_compile. */
int cel_parse(struct arena *a, const char *text, struct cel_node **ret, struct err *e) MUST_CHECK;

/* "ERROR: <input>:1:6: ..." with the line and a mark below it. */
int cel_fail(struct err *e, const char *text, size_t at, const char *fmt, ...) PRINTF(4, 5);

enum cel_kind {
    CEL_IS_NULL,
    CEL_IS_BOOL,
    CEL_IS_INT,
    CEL_IS_DOUBLE,
    CEL_IS_STRING,
    CEL_IS_LIST,
    CEL_IS_OBJECT,
    CEL_IS_TYPE,
    CEL_IS_ERROR,  /* text says what */
    CEL_IS_BEYOND, /* not known here */
};

struct cel_value {
    enum cel_kind kind;
    bool opaque; /* a text that is a time or the like in CEL: only equality is known here */
    bool b;
    int64_t i;
    double d;
    struct str s;
    const struct jsn *v; /* of lists and objects */
    const struct schema *schema;
    const char *text; /* of errors and types */
};

struct cel_run {
    const struct cel_input *in;
    struct arena *a;
};

struct cel_value cel_value_of(const struct jsn *v, const struct schema *s);
struct jsn *cel_to_jsn(struct cel_run *r, const struct cel_value *v);
struct cel_value cel_error(struct cel_run *r, const char *fmt, ...) PRINTF(2, 3);
/* The error of arguments whose kinds do not fit. */
struct cel_value cel_no_overload(struct cel_run *r);
bool cel_bad(const struct cel_value *v); /* an error, or beyond */
bool cel_equal(const struct cel_value *a, const struct cel_value *b);
/* Order of two values of comparable kinds; false: they have none. */
bool cel_compare(const struct cel_value *a, const struct cel_value *b, int *ret);
/* Take steps; false: there are none left. */
bool cel_spend(struct cel_run *r, size_t steps);
struct cel_value cel_in(struct cel_run *r, const struct cel_value *x, const struct cel_value *in);
struct cel_value cel_order(struct cel_run *r, enum cel_op op, const struct cel_value *a,
                           const struct cel_value *b);
struct cel_value cel_arithmetic(struct cel_run *r, enum cel_op op, const struct cel_value *a,
                                const struct cel_value *b);

static inline struct cel_value cel_bool(bool b)
{
    return (struct cel_value){.kind = CEL_IS_BOOL, .b = b};
}
static inline struct cel_value cel_int(int64_t i)
{
    return (struct cel_value){.kind = CEL_IS_INT, .i = i};
}
static inline struct cel_value cel_string(struct str s)
{
    return (struct cel_value){.kind = CEL_IS_STRING, .s = s};
}

/* A function: by name, as a member or not, with so many arguments (the target included). */
typedef struct cel_value (*cel_fn)(struct cel_run *r, const struct cel_value *args, size_t n);
struct cel_function {
    const char *name;
    bool member;
    size_t n_args;
    cel_fn fn;
};

const struct cel_function *cel_find_function(struct str name, bool member, size_t n_args);
/* Is it the name of a type? */
bool cel_is_type(struct str name);

struct cel_value cel_list_min(struct cel_run *r, const struct cel_value *args, size_t n);
struct cel_value cel_list_max(struct cel_run *r, const struct cel_value *args, size_t n);
struct cel_value cel_list_is_sorted(struct cel_run *r, const struct cel_value *args, size_t n);
struct cel_value cel_list_sum(struct cel_run *r, const struct cel_value *args, size_t n);
