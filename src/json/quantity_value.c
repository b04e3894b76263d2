/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Quantities as values: printing, comparing, adding.
 *
 * The canonical text has no fraction and the largest suffix that allows that; a binary quantity
 * below 1Ki, or one that is not whole, is printed with decimal suffixes.  Sums stop at the ends of
 * the range instead of wrapping round.  Rounding is away from zero: who asks for some of a resource
 * gets some.
 */
#include "src/json/quantity.h"

#define GIGA 1000000000

struct quantity quantity_of(int64_t value, enum quantity_format format)
{
    return (struct quantity){.nano = (__int128)value * GIGA, .format = format};
}

/* A 128-bit number in decimal; the last digits of text[], which is returned. */
static const char *number_text(unsigned __int128 v, char text[48])
{
    char *p = text + 47;

    *p = '\0';
    do
        *--p = (char)('0' + (int)(v % 10));
    while ((v /= 10));
    return p;
}

static void print_binary(struct buf *b, unsigned __int128 value)
{
    static const char *const suffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    char text[48];
    size_t i = 0;

    while (i + 1 < ARRAY_LEN(suffixes) && value >= 1024 && value % 1024 == 0) {
        value /= 1024;
        i++;
    }
    buf_printf(b, "%s%s", number_text(value, text), suffixes[i]);
}

/* No fraction, and an exponent that is a multiple of three. */
static void print_decimal(struct buf *b, unsigned __int128 nano, enum quantity_format format)
{
    static const char *const suffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    char text[48];
    int exponent = -9;

    while (nano % 1000 == 0 && (exponent < 18 || format == QUANTITY_EXPONENT)) {
        nano /= 1000;
        exponent += 3;
    }
    buf_adds(b, number_text(nano, text));
    if (format == QUANTITY_DECIMAL)
        buf_adds(b, suffixes[exponent / 3 + 3]);
    else if (exponent)
        buf_printf(b, "e%d", exponent);
}

void quantity_print(struct buf *b, const struct quantity *q)
{
    unsigned __int128 nano = q->nano < 0 ? -(unsigned __int128)q->nano : (unsigned __int128)q->nano;

    if (nano == 0) {
        buf_addc(b, '0');
        return;
    }
    if (q->nano < 0)
        buf_addc(b, '-');
    if (q->format != QUANTITY_BINARY)
        print_decimal(b, nano, q->format);
    else if (nano < (unsigned __int128)1024 * GIGA || nano % GIGA != 0)
        print_decimal(b, nano, QUANTITY_DECIMAL);
    else
        print_binary(b, nano / GIGA);
}

int quantity_cmp(const struct quantity *x, const struct quantity *y)
{
    return x->nano < y->nano ? -1 : x->nano > y->nano;
}

struct quantity quantity_add(const struct quantity *x, const struct quantity *y)
{
    struct quantity sum = {.format = x->nano ? x->format : y->format};

    if (__builtin_add_overflow(x->nano, y->nano, &sum.nano))
        sum.nano = x->nano;
    return sum;
}

struct quantity quantity_sub(const struct quantity *x, const struct quantity *y)
{
    struct quantity negative = {.nano = -y->nano, .format = y->format};

    return quantity_add(x, &negative);
}

static int64_t scaled(const struct quantity *q, int64_t unit)
{
    __int128 v = q->nano / unit;

    if (q->nano % unit)
        v += q->nano < 0 ? -1 : 1;
    return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

int64_t quantity_value(const struct quantity *q) { return scaled(q, GIGA); }

int64_t quantity_milli(const struct quantity *q) { return scaled(q, GIGA / 1000); }
