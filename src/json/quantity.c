/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Quantities.
 *
 * A quantity is held as an integer of billionths in 128 bits, which has room for 2^63-1 units with
 * nine decimals and a few digits to spare.  Parsing collects the digits, then scales by the suffix:
 * powers of ten, powers of 1024, or an exponent.  Printing divides as often as nothing is lost.
 */
#include "src/json/quantity.h"

#include <ctype.h>
#include <stdio.h>

#define NANO 1000000000
#define MAX_NANO ((__int128)INT64_MAX * NANO)

static const char format_error[] =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
static const char suffix_error[] = "unable to parse quantity's suffix";
static const char number_error[] = "unable to parse numeric part of quantity";

struct suffix {
    const char *text;
    int exponent; /* of ten, or of two where the format is binary */
    enum quantity_format format;
};

static const struct suffix suffixes[] = {
    {"", 0, QUANTITY_DECIMAL},   {"n", -9, QUANTITY_DECIMAL}, {"u", -6, QUANTITY_DECIMAL},
    {"m", -3, QUANTITY_DECIMAL}, {"k", 3, QUANTITY_DECIMAL},  {"M", 6, QUANTITY_DECIMAL},
    {"G", 9, QUANTITY_DECIMAL},  {"T", 12, QUANTITY_DECIMAL}, {"P", 15, QUANTITY_DECIMAL},
    {"E", 18, QUANTITY_DECIMAL}, {"Ki", 10, QUANTITY_BINARY}, {"Mi", 20, QUANTITY_BINARY},
    {"Gi", 30, QUANTITY_BINARY}, {"Ti", 40, QUANTITY_BINARY}, {"Pi", 50, QUANTITY_BINARY},
    {"Ei", 60, QUANTITY_BINARY},
};

static int bad(struct err *e, const char *sentence)
{
    (void)err_bad(e, "%s", sentence);
    return -EINVAL;
}

/* The parts of a text. */
struct parts {
    bool negative;
    struct str whole;    /* digits without leading zeros */
    struct str fraction; /* digits after the point */
    struct str suffix;
};

static struct str take_digits(struct str *s)
{
    struct str digits = {s->p, 0};

    while (digits.n < s->n && isdigit((unsigned char)s->p[digits.n]))
        digits.n++;
    *s = (struct str){s->p + digits.n, s->n - digits.n};
    return digits;
}

static int split(struct str s, struct parts *ret)
{
    struct parts p = {0};
    size_t i = 0;

    if (s.n == 0)
        return -EINVAL;
    p.negative = *s.p == '-';
    if (*s.p == '-' || *s.p == '+')
        s = (struct str){s.p + 1, s.n - 1};
    p.whole = take_digits(&s);
    if (s.n && *s.p == '.') {
        s = (struct str){s.p + 1, s.n - 1};
        p.fraction = take_digits(&s);
    }
    p.suffix = s;
    while (i < s.n && strchr("eEinumkKMGTP", s.p[i]))
        i++;
    if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
        i++;
    while (i < s.n && isdigit((unsigned char)s.p[i]))
        i++;
    if (i < s.n)
        return -EINVAL;
    for (; p.whole.n && *p.whole.p == '0'; p.whole.n--)
        p.whole.p++;
    *ret = p;
    return 0;
}

static int read_suffix(struct str text, struct suffix *ret)
{
    int64_t exponent;

    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        if (str_eqz(text, suffixes[i].text)) {
            *ret = suffixes[i];
            return 0;
        }
    }
    if (text.n < 2 || (*text.p != 'e' && *text.p != 'E'))
        return -EINVAL;
    text = (struct str){text.p + 1, text.n - 1};
    if (*text.p == '+')
        text = (struct str){text.p + 1, text.n - 1};
    if (str_to_i64(text, &exponent) < 0 || exponent < -64 || exponent > 64)
        return -EINVAL;
    *ret = (struct suffix){"", (int)exponent, QUANTITY_EXPONENT};
    return 0;
}

/* value * 10^power, rounded up where digits are lost; false on overflow. */
static bool scale_ten(__int128 *value, int power)
{
    bool lost = false;

    for (; power > 0; power--)
        if (__builtin_mul_overflow(*value, (__int128)10, value))
            return false;
    for (; power < 0; power++) {
        lost = lost || *value % 10 != 0;
        *value /= 10;
    }
    *value += lost ? 1 : 0;
    return true;
}

/* All digits as one number; false on overflow. */
static bool read_digits(const struct parts *p, __int128 *ret)
{
    const struct str both[] = {p->whole, p->fraction};
    __int128 v = 0;

    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < both[k].n; i++)
            if (__builtin_mul_overflow(v, (__int128)10, &v) ||
                __builtin_add_overflow(v, (__int128)(both[k].p[i] - '0'), &v))
                return false;
    *ret = v;
    return true;
}

static bool to_nano(const struct parts *p, const struct suffix *s, __int128 *ret)
{
    __int128 v;
    int power = 9 - (int)p->fraction.n;

    if (!read_digits(p, &v))
        return false;
    if (s->format == QUANTITY_BINARY) {
        if (__builtin_mul_overflow(v, (__int128)1 << s->exponent, &v))
            return false;
    } else {
        power += s->exponent;
    }
    if (v != 0 && !scale_ten(&v, power))
        return false;
    *ret = v;
    return true;
}

static int parse_parts(struct str text, struct parts *ret_parts, struct suffix *ret_suffix,
                       struct err *e)
{
    if (split(text, ret_parts) < 0)
        return bad(e, format_error);
    if (read_suffix(ret_parts->suffix, ret_suffix) < 0)
        return bad(e, suffix_error);
    if (ret_parts->whole.n + ret_parts->fraction.n > 64)
        return bad(e, number_error);
    return 0;
}

static int combine(const struct parts *p, const struct suffix *s, struct quantity *ret,
                   struct err *e)
{
    struct quantity q = {.format = s->format};
    bool fits = to_nano(p, s, &q.nano);

    if (!fits || q.nano > MAX_NANO) {
        if (s->format != QUANTITY_BINARY)
            return bad(e, number_error);
        q.nano = MAX_NANO;
    }
    if (q.format == QUANTITY_BINARY && q.nano > 0 && q.nano < NANO)
        q.format = QUANTITY_DECIMAL;
    if (p->negative)
        q.nano = -q.nano;
    *ret = q;
    return 0;
}

int quantity_parse(struct str text, struct quantity *ret, struct err *e)
{
    struct parts p;
    struct suffix s;
    int r = parse_parts(text, &p, &s, e);

    return r < 0 ? r : combine(&p, &s, ret, e);
}

static void print_number(__int128 v, const char *suffix, char ret_text[QUANTITY_LEN])
{
    char digits[44];
    size_t at = sizeof(digits) - 1;
    bool negative = v < 0;

    digits[at] = '\0';
    do {
        int d = (int)(v % 10);

        digits[--at] = (char)('0' + (d < 0 ? -d : d));
        v /= 10;
    } while (v != 0);
    if (negative)
        digits[--at] = '-';
    (void)snprintf(ret_text, QUANTITY_LEN, "%s%s", digits + at, suffix);
}

static const char *suffix_of(int exponent, enum quantity_format format)
{
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (suffixes[i].exponent == exponent && suffixes[i].format == format)
            return suffixes[i].text;
    return "";
}

static void print_binary(__int128 units, char ret_text[QUANTITY_LEN])
{
    int exponent = 0;

    while (exponent < 60 && units % 1024 == 0) {
        units /= 1024;
        exponent += 10;
    }
    print_number(units, exponent ? suffix_of(exponent, QUANTITY_BINARY) : "", ret_text);
}

void quantity_print(const struct quantity *q, char ret_text[QUANTITY_LEN])
{
    __int128 v = q->nano;
    char exponent_text[16] = "";
    int exponent = -9;

    if (v == 0) {
        print_number(0, "", ret_text);
        return;
    }
    if (q->format == QUANTITY_BINARY && v % NANO == 0 && (v / NANO >= 1024 || v / NANO <= -1024)) {
        print_binary(v / NANO, ret_text);
        return;
    }
    for (; exponent < 18 && v % 1000 == 0; exponent += 3)
        v /= 1000;
    if (q->format == QUANTITY_EXPONENT && exponent != 0)
        (void)snprintf(exponent_text, sizeof(exponent_text), "e%d", exponent);
    print_number(
        v, q->format == QUANTITY_EXPONENT ? exponent_text : suffix_of(exponent, QUANTITY_DECIMAL),
        ret_text);
}

/* Whether Kubernetes keeps the text as it came: what its fast path finds canonical. */
static bool keeps_text(const struct parts *p, const struct suffix *s)
{
    int scale = s->exponent - (int)p->fraction.n;
    __int128 v;

    if (p->whole.n + p->fraction.n > 15 || !read_digits(p, &v) || v == 0)
        return false;
    if (s->format == QUANTITY_BINARY)
        return p->fraction.n == 0 && (v & 7) != 0 && s->exponent <= 30;
    return p->whole.n > 0 && scale % 3 == 0 && scale >= -9 && v % 1000 != 0;
}

int quantity_canonical(struct str text, char ret_text[QUANTITY_LEN], struct err *e)
{
    struct quantity q;
    struct parts p;
    struct suffix s;
    int r = parse_parts(text, &p, &s, e);

    if (r == 0)
        r = combine(&p, &s, &q, e);
    if (r < 0)
        return r;
    if (keeps_text(&p, &s) && text.n < QUANTITY_LEN)
        (void)snprintf(ret_text, QUANTITY_LEN, STR_FMT, STR_ARG(text));
    else
        quantity_print(&q, ret_text);
    return 0;
}

static int64_t round_up(__int128 nano, int64_t unit)
{
    __int128 v = nano / unit;

    if (nano % unit > 0)
        v++;
    return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

int64_t quantity_value(const struct quantity *q)
{
    return round_up(q->nano, NANO);
}

int64_t quantity_milli(const struct quantity *q)
{
    return round_up(q->nano, NANO / 1000);
}

int quantity_cmp(const struct quantity *a, const struct quantity *b)
{
    return a->nano < b->nano ? -1 : a->nano > b->nano;
}
