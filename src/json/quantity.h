/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kubernetes quantities: numbers with a suffix, such as "500m", "1.5Gi" or "2e3". */
#pragma once

#include <stdint.h>

#include "src/base/str.h"

enum quantity_format { QUANTITY_DECIMAL, QUANTITY_BINARY, QUANTITY_EXPONENT };

/* Exact to a billionth; what is finer is rounded away from zero, as Kubernetes does. */
struct quantity {
    __int128 nano;
    enum quantity_format format;
};

#define QUANTITY_LEN 48

/*
 * Parse.  The error is Kubernetes' own sentence.  Numbers beyond 2^63-1 are cut down to it with a
 * binary suffix and refused otherwise.
 */
int quantity_parse(struct str text, struct quantity *ret, struct err *e) MUST_CHECK;

/* The canonical text: no fraction, the largest suffix that loses nothing. */
void quantity_print(const struct quantity *q, char ret_text[QUANTITY_LEN]);

/*
 * Parse and print as a Kubernetes API server does when it reads and writes an object: a text that
 * is canonical enough ("+5", "1025Ki") stays as it is.
 */
int quantity_canonical(struct str text, char ret_text[QUANTITY_LEN], struct err *e) MUST_CHECK;

/* Whole units and thousandths, rounded up and cut to what an int64_t holds. */
int64_t quantity_value(const struct quantity *q);
int64_t quantity_milli(const struct quantity *q);
int quantity_cmp(const struct quantity *a, const struct quantity *b);
