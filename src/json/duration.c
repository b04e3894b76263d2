/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Durations: a sign, then numbers with units, largest first or not ("1h15m30.5s").
 *
 * A number may have a fraction; a bare 0 needs no unit.  Everything is kept in milliseconds: nobody
 * here waits for less.
 */
#include "src/json/duration.h"

#include <stdlib.h>

#define NS_PER_MS 1000000

static int64_t unit_ns(struct str unit)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {
        {"ns", 1},         {"us", 1000},       {"\xc2\xb5s", 1000},  {"ms", 1000000},
        {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000},
    };

    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_eqz(unit, units[i].name))
            return units[i].ns;
    return 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* One number and its unit; the rest stays in *s. */
static int take_term(struct str *s, int64_t *ret_ns)
{
    int64_t whole = 0;
    double fraction = 0;
    double place = 0.1;
    size_t digits = 0;
    size_t n = 0;
    int64_t unit;

    for (; n < s->n && is_digit(s->p[n]); n++, digits++)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, s->p[n] - '0', &whole))
            return -EINVAL;
    if (n < s->n && s->p[n] == '.')
        for (n++; n < s->n && is_digit(s->p[n]); n++, digits++, place /= 10)
            fraction += (s->p[n] - '0') * place;
    *s = (struct str){s->p + n, s->n - n};
    for (n = 0; n < s->n && !is_digit(s->p[n]) && s->p[n] != '.';)
        n++;
    unit = unit_ns((struct str){s->p, n});
    *s = (struct str){s->p + n, s->n - n};
    if (digits == 0 || unit == 0 || __builtin_mul_overflow(whole, unit, &whole) ||
        __builtin_add_overflow(whole, (int64_t)(fraction * (double)unit + 0.5), ret_ns))
        return -EINVAL;
    return 0;
}

int duration_parse(struct str text, int64_t *ret_ms)
{
    bool negative = text.n && text.p[0] == '-';
    int64_t sum = 0;

    if (text.n && (text.p[0] == '-' || text.p[0] == '+'))
        text = (struct str){text.p + 1, text.n - 1};
    if (text.n == 0)
        return -EINVAL;
    if (str_eq(text, STR("0")))
        text.n = 0;
    while (text.n) {
        int64_t ns;

        if (take_term(&text, &ns) < 0 || __builtin_add_overflow(sum, ns, &sum))
            return -EINVAL;
    }
    *ret_ms = sum / NS_PER_MS * (negative ? -1 : 1);
    return 0;
}

/* Seconds with up to three decimals, no zeros at the end. */
static void print_seconds(struct buf *b, uint64_t ms)
{
    buf_printf(b, "%llu", (unsigned long long)(ms / 1000));
    if (ms % 1000 == 0)
        return;
    buf_printf(b, ".%03llu", (unsigned long long)(ms % 1000));
    while (b->n && b->p[b->n - 1] == '0')
        b->p[--b->n] = '\0';
}

void duration_print(struct buf *b, int64_t ms)
{
    uint64_t left = ms < 0 ? -(uint64_t)ms : (uint64_t)ms;

    if (ms < 0)
        buf_addc(b, '-');
    if (left > 0 && left < 1000) {
        buf_printf(b, "%llums", (unsigned long long)left);
        return;
    }
    if (left >= 3600000)
        buf_printf(b, "%lluh", (unsigned long long)(left / 3600000));
    if (left >= 60000)
        buf_printf(b, "%llum", (unsigned long long)(left % 3600000 / 60000));
    print_seconds(b, left % 60000);
    buf_addc(b, 's');
}
