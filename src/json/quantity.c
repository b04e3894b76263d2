/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resource quantities.
 *
 * A quantity is a whole number of billionths in 128 bits, so that every suffix is exact.  Parsing
 * splits the digits at the decimal point (moved by exponents below a billionth), multiplies the
 * whole part and folds the fraction in digit by digit from its end, which is exact without wider
 * numbers.
 */
#include "src/json/quantity.h"

#define GIGA 1000000000
#define FORMAT_RULE                                                                                \
    "quantities must match the regular expression "                                                \
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

/* A text, taken apart. */
struct parts {
    bool negative;
    struct str whole;    /* digits before the point */
    struct str fraction; /* digits behind it */
    struct str suffix;
};

struct scale {
    enum quantity_format format;
    int exponent; /* of ten, or of two */
};

static struct str take_digits(struct str *s)
{
    struct str digits = {s->p, 0};

    while (digits.n < s->n && s->p[digits.n] >= '0' && s->p[digits.n] <= '9')
        digits.n++;
    s->p += digits.n;
    s->n -= digits.n;
    return digits;
}

static int split(struct str text, struct parts *ret)
{
    *ret = (struct parts){0};
    if (text.n && (text.p[0] == '-' || text.p[0] == '+')) {
        ret->negative = text.p[0] == '-';
        text = (struct str){text.p + 1, text.n - 1};
    }
    ret->whole = take_digits(&text);
    if (text.n && text.p[0] == '.') {
        text = (struct str){text.p + 1, text.n - 1};
        ret->fraction = take_digits(&text);
    }
    ret->suffix = text;
    return ret->whole.n + ret->fraction.n ? 0 : -EINVAL;
}

/* The exponent of "e3", "E-6"; far ones are cut to what no number reaches. */
static bool read_exponent(struct str s, struct scale *ret)
{
    int64_t v;

    if (s.n < 2 || (s.p[0] != 'e' && s.p[0] != 'E'))
        return false;
    s = (struct str){s.p + 1, s.n - 1};
    if (s.p[0] == '+')
        s = (struct str){s.p + 1, s.n - 1};
    if (str_to_i64(s, &v) < 0)
        return false;
    *ret = (struct scale){QUANTITY_EXPONENT, (int)MAX(MIN(v, (int64_t)1000), (int64_t)-1000)};
    return true;
}

static bool read_scale(struct str suffix, struct scale *ret)
{
    static const struct {
        const char *suffix;
        struct scale scale;
    } known[] = {
        {"", {QUANTITY_DECIMAL, 0}},   {"n", {QUANTITY_DECIMAL, -9}}, {"u", {QUANTITY_DECIMAL, -6}},
        {"m", {QUANTITY_DECIMAL, -3}}, {"k", {QUANTITY_DECIMAL, 3}},  {"M", {QUANTITY_DECIMAL, 6}},
        {"G", {QUANTITY_DECIMAL, 9}},  {"T", {QUANTITY_DECIMAL, 12}}, {"P", {QUANTITY_DECIMAL, 15}},
        {"E", {QUANTITY_DECIMAL, 18}}, {"Ki", {QUANTITY_BINARY, 10}}, {"Mi", {QUANTITY_BINARY, 20}},
        {"Gi", {QUANTITY_BINARY, 30}}, {"Ti", {QUANTITY_BINARY, 40}}, {"Pi", {QUANTITY_BINARY, 50}},
        {"Ei", {QUANTITY_BINARY, 60}},
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (str_eqz(suffix, known[i].suffix)) {
            *ret = known[i].scale;
            return true;
        }
    }
    return read_exponent(suffix, ret);
}

/* [eEinumkKMGTP]*[-+]?[0-9]* */
static bool suffix_form(struct str s)
{
    size_t i = 0;

    while (i < s.n && strchr("eEinumkKMGTP", s.p[i]) && s.p[i])
        i++;
    if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
        i++;
    while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
        i++;
    return i == s.n;
}

/* Digit number i of whole and fraction together. */
static unsigned int digit_at(const struct parts *p, size_t i)
{
    char c = i < p->whole.n ? p->whole.p[i] : p->fraction.p[i - p->whole.n];

    return (unsigned int)(c - '0');
}

/* unit * 0.000ddd, the digits being those from `from` on; rounded up. */
static __int128 fold_fraction(const struct parts *p, size_t from, size_t zeros, __int128 unit)
{
    __int128 sum = 0;
    bool rest = false;

    for (size_t i = p->whole.n + p->fraction.n; i > from; i--) {
        sum += digit_at(p, i - 1) * unit;
        rest = rest || sum % 10 != 0;
        sum /= 10;
    }
    for (size_t i = 0; i < zeros && sum; i++) {
        rest = rest || sum % 10 != 0;
        sum /= 10;
    }
    return sum + rest;
}

/* The digits as billionths; `unit` is what 1 stands for, `shift` moves the point to the left. */
static int sum_up(const struct parts *p, __int128 unit, size_t shift, __int128 *ret)
{
    size_t point = p->whole.n > shift ? p->whole.n - shift : 0;
    size_t zeros = shift > p->whole.n ? shift - p->whole.n : 0;
    __int128 sum = 0;

    for (size_t i = 0; i < point; i++)
        if (__builtin_mul_overflow(sum, (__int128)10, &sum) ||
            __builtin_add_overflow(sum, (__int128)digit_at(p, i), &sum))
            return -ERANGE;
    if (__builtin_mul_overflow(sum, unit, &sum) ||
        __builtin_add_overflow(sum, fold_fraction(p, point, zeros, unit), &sum))
        return -ERANGE;
    *ret = sum;
    return 0;
}

static __int128 power(__int128 base, int exponent)
{
    __int128 v = 1;

    while (exponent-- > 0)
        v *= base;
    return v;
}

static bool all_zeros(const struct parts *p)
{
    for (size_t i = 0; i < p->whole.n + p->fraction.n; i++)
        if (digit_at(p, i))
            return false;
    return true;
}

static int assemble(const struct parts *p, struct scale scale, struct quantity *ret)
{
    const __int128 max = (__int128)INT64_MAX * GIGA;
    int tens = scale.exponent + 9;
    int r;

    *ret = (struct quantity){.format = scale.format};
    if (all_zeros(p))
        return 0;
    if (scale.format == QUANTITY_BINARY) {
        r = sum_up(p, power(2, scale.exponent) * GIGA, 0, &ret->nano);
        if (r < 0 || ret->nano > max)
            ret->nano = max;
        if (ret->nano < GIGA)
            ret->format = QUANTITY_DECIMAL;
    } else {
        if (tens > 37)
            return -ERANGE;
        r = sum_up(p, power(10, MAX(tens, 0)), (size_t)MAX(-tens, 0), &ret->nano);
        if (r < 0 || ret->nano > power(10, 37))
            return -ERANGE;
    }
    if (p->negative)
        ret->nano = -ret->nano;
    return 0;
}

int quantity_parse(struct str text, struct quantity *ret_quantity, struct err *e)
{
    struct scale scale;
    struct parts p;

    if (split(text, &p) < 0 || !suffix_form(p.suffix))
        return err_bad(e, FORMAT_RULE);
    if (!read_scale(p.suffix, &scale))
        return err_bad(e, "unable to parse quantity's suffix");
    if (assemble(&p, scale, ret_quantity) < 0)
        return err_set(e, -ERANGE, ERR_PERMANENT, "the quantity %.*s is too large",
                       (int)MIN(text.n, (size_t)40), text.p);
    return 0;
}

int quantity_read(const struct jsn *v, struct quantity *ret_quantity, struct err *e)
{
    AUTO(buf_done) struct buf b = {0};

    if (jsn_is(v, JSN_STRING))
        return quantity_parse(str_trim(v->s), ret_quantity, e);
    if (!jsn_is(v, JSN_INT) && !jsn_is(v, JSN_REAL))
        return err_bad(e, "a quantity is a string or a number, not %s",
                       v ? jsn_type_name(v->type) : "nothing");
    jsn_print(&b, v);
    return quantity_parse(buf_view(&b), ret_quantity, e);
}

/*
 * Kubernetes reuses a text that looks canonical to it: a binary one without a point whose number is
 * no multiple of eight, a decimal one whose exponent is a multiple of three and whose digits
 * neither begin with zero nor end with three of them; both only while they fit 64 bits.
 */
static bool looks_canonical(struct parts p, struct scale scale)
{
    size_t n;
    int tens;

    while (p.whole.n && p.whole.p[0] == '0')
        p.whole = (struct str){p.whole.p + 1, p.whole.n - 1};
    n = p.whole.n + p.fraction.n;
    if (p.whole.n == 0)
        return false;
    if (scale.format == QUANTITY_BINARY) {
        int64_t value;

        return p.fraction.n == 0 && n + (size_t)(scale.exponent * 3 / 10) <= 14 &&
               str_to_i64(p.whole, &value) == 0 && value % 8 != 0;
    }
    tens = scale.exponent - (int)MIN(p.fraction.n, (size_t)100);
    if (n > 18 || tens < -9 || tens % 3 != 0)
        return false;
    return n < 3 || digit_at(&p, n - 1) || digit_at(&p, n - 2) || digit_at(&p, n - 3);
}

int quantity_normalize(struct buf *b, struct str text, struct err *e)
{
    struct scale scale;
    struct quantity q;
    struct parts p;
    int r = quantity_parse(text, &q, e);

    if (r < 0)
        return r;
    if (split(text, &p) == 0 && read_scale(p.suffix, &scale) && looks_canonical(p, scale))
        buf_addstr(b, text);
    else
        quantity_print(b, &q);
    return 0;
}
