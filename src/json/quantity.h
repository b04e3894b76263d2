/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resource quantities as Kubernetes writes them: 100m, 1.5Gi, 1e3. */
#pragma once

#include "src/json/jsn.h"

/* How a quantity was written, and so how it is printed. */
enum quantity_format {
    QUANTITY_DECIMAL,  /* n u m "" k M G T P E */
    QUANTITY_BINARY,   /* Ki Mi Gi Ti Pi Ei */
    QUANTITY_EXPONENT, /* 1e3 */
};

/* In billionths: nothing finer can be said.  {0} is zero. */
struct quantity {
    __int128 nano;
    enum quantity_format format;
};

/*
 * Parse the whole text.  What is finer than a billionth is rounded up (away from zero); binary ones
 * are capped at 2^63-1.  -EINVAL with Kubernetes' sentence; -ERANGE above 10^28, which Kubernetes
 * takes.
 */
int quantity_parse(struct str text, struct quantity *ret_quantity, struct err *e) MUST_CHECK;
/* From a string or a number. */
int quantity_read(const struct jsn *v, struct quantity *ret_quantity, struct err *e) MUST_CHECK;

struct quantity quantity_of(int64_t value, enum quantity_format format);

/* The canonical text: no fraction, the largest suffix that allows it. */
void quantity_print(struct buf *b, const struct quantity *q);
/* What the API server makes of a text: canonical unless it is close to it ("+5", "1.001" stay). */
int quantity_normalize(struct buf *b, struct str text, struct err *e) MUST_CHECK;

int quantity_cmp(const struct quantity *x, const struct quantity *y);
struct quantity quantity_add(const struct quantity *x, const struct quantity *y);
struct quantity quantity_sub(const struct quantity *x, const struct quantity *y);

/* Rounded up (away from zero) to units and thousandths; too large ones become the largest. */
int64_t quantity_value(const struct quantity *q);
int64_t quantity_milli(const struct quantity *q);
