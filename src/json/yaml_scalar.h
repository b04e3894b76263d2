/* SPDX-License-Identifier: GPL-2.0-or-later */
/* YAML scalars: what one stands for, as a value and as a key. */
#pragma once

#include "src/json/jsn.h"

/* NOT_JSON: infinity, or not a number. */
enum yaml_kind { YAML_STRING, YAML_NULL, YAML_BOOL, YAML_INT, YAML_REAL, YAML_NOT_JSON };

struct yaml_scalar {
    enum yaml_kind kind;
    bool b;
    int64_t i;
    double d;
};

/* What a plain (unquoted) scalar without a tag stands for. */
struct yaml_scalar yaml_resolve(struct str text);

/* A scalar as it stands in a text; `tag` is NULL where there is none. */
struct yaml_token {
    const char *tag;
    struct str text;
    bool plain; /* not quoted and no block */
    size_t line;
};

/* The value of a scalar; and what it becomes as a key (numbers and booleans become strings). */
int yaml_scalar_value(struct arena *a, const struct yaml_token *t, struct jsn **ret_value,
                      struct err *e) MUST_CHECK;
int yaml_scalar_key(struct arena *a, const struct yaml_token *t, struct str *ret_key,
                    struct err *e) MUST_CHECK;
/* A value that an alias stands for, as a key. */
int yaml_value_key(struct arena *a, const struct jsn *v, size_t line, struct str *ret_key,
                   struct err *e) MUST_CHECK;
