/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the JSON parser share. */
#pragma once

#include "src/json/jsn.h"

struct parser {
    struct arena *a;
    struct str text;
    size_t at;
    int depth;
    struct jsn_notes *notes;
    struct err *e;
};

/* Fail with what is wrong at p->at, by line and column; returns -EINVAL. */
int parse_fail(struct parser *p, const char *what);

/* At the opening quote, then past the closing one.  The result is terminated, in the arena. */
int parse_string(struct parser *p, struct str *ret) MUST_CHECK;
