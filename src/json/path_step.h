/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a compiled path is made of. */
#pragma once

#include "src/json/path.h"

struct path {
    struct path_step *steps; /* NULL: the value itself */
};

enum path_kind {
    PATH_FIELD,
    PATH_INDEX,
    PATH_SLICE,
    PATH_ALL,     /* [*] */
    PATH_FILTER,  /* [?(...)] */
    PATH_DESCENT, /* .. */
};

enum path_op {
    PATH_EXISTS,
    PATH_EQUAL,
    PATH_NOT_EQUAL,
    PATH_LESS,
    PATH_LESS_OR_EQUAL,
    PATH_GREATER,
    PATH_GREATER_OR_EQUAL,
};

/* Both paths start at the item that is looked at. */
struct path_filter {
    enum path_op op;
    struct path left;
    struct path right;
    const struct jsn *literal; /* instead of `right` */
};

struct path_step {
    struct path_step *next;
    enum path_kind kind;
    struct str field;
    int64_t from; /* of slices; the position of an index */
    int64_t to;
    bool has_from;
    bool has_to;
    struct path_filter *filter;
};
