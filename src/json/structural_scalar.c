/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of strings and numbers.
 *
 * Lengths count code points.  Of a string's length and pattern only the first fault is named, as in
 * Kubernetes.  Bounds of integers compare as integers (a bound of 0.5 counts as 0, as it does in
 * Go), saturated where a bound does not fit.
 */
#include <math.h>

#include "src/json/format.h"
#include "src/json/structural_check.h"

static int64_t count_runes(struct str s)
{
    int64_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

static void check_pattern(struct checker *k, const struct schema *s, const struct jsn *v,
                          struct check_result *r)
{
    struct err e = {0};
    const struct pattern *p = pattern_cached(k->how->patterns, s->pattern, &e);
    int m;

    if (!p) {
        check_invalid(k, r, v, "should match '%s, but pattern is invalid: %s'", s->pattern, e.text);
        return;
    }
    m = pattern_match(p, v->s, &k->budget);
    if (m == 0)
        check_invalid(k, r, v, "should match '%s'", s->pattern);
    else if (m < 0)
        check_invalid(k, r, v, "should match '%s', but telling takes too many steps", s->pattern);
}

static void check_format(struct checker *k, const struct schema *s, const struct jsn *v,
                         struct check_result *r)
{
    AUTO(buf_done) struct buf b = {0};

    if (format_ok(s->format, v->s))
        return;
    schema_print_go_string(&b, v->s);
    check_fault(k, r, "FieldValueTypeInvalid", NULL,
                "Invalid value: %s: %s in body must be of type %s: %s", buf_str(&b),
                buf_str(&k->path), s->format, buf_str(&b));
}

void check_string(struct checker *k, const struct schema *s, const struct jsn *v,
                  struct check_result *r)
{
    int64_t n = count_runes(v->s);
    bool may_be_string =
        s->type == SCHEMA_STRING || s->type == SCHEMA_ANY || s->type == SCHEMA_INT_OR_STRING;

    if (s->max_length >= 0 && n > s->max_length)
        check_fault(k, r, "FieldValueTooLong", NULL, "Too long: may not be more than %lld byte%s",
                    (long long)s->max_length, s->max_length == 1 ? "" : "s");
    else if (s->min_length >= 0 && n < s->min_length)
        check_invalid(k, r, v, "should be at least %lld chars long", (long long)s->min_length);
    else if (s->pattern && *s->pattern)
        check_pattern(k, s, v, r);
    if (!may_be_string || !format_known(s->format))
        return;
    check_format(k, s, v, r);
    r->matches++;
}

static int64_t to_int(double d)
{
    if (d >= 9223372036854775807.0)
        return INT64_MAX;
    return d <= -9223372036854775808.0 ? INT64_MIN : (int64_t)d;
}

/* A bound as messages show it for this value. */
static const char *bound_text(struct checker *k, const struct jsn *v, double bound)
{
    AUTO(buf_done) struct buf b = {0};

    if (v->type == JSN_INT)
        buf_printf(&b, "%lld", (long long)to_int(bound));
    else
        schema_print_go_real(&b, bound);
    return arena_str(k->arena, buf_view(&b));
}

/* Negative, zero or positive as the value stands to the bound. */
static int compare(const struct jsn *v, double bound)
{
    if (v->type == JSN_INT) {
        int64_t limit = to_int(bound);

        return v->i < limit ? -1 : v->i > limit;
    }
    return v->d < bound ? -1 : v->d > bound;
}

static bool is_multiple(const struct jsn *v, double factor)
{
    double q;

    if (v->type == JSN_INT && factor >= 1 && factor == floor(factor)) {
        int64_t f = to_int(factor);

        return v->i % f == 0;
    }
    q = v->type == JSN_INT ? (double)v->i : v->d;
    q = factor < 1 ? 1 / factor * q : q / factor;
    return fabs(q - round(q)) <= 1e-9 * MAX(1.0, fabs(q));
}

static void check_multiple(struct checker *k, const struct schema *s, const struct jsn *v,
                           struct check_result *r)
{
    if (s->multiple_of <= 0)
        check_fault(k, r, "FieldValueInvalid", NULL,
                    "Invalid value: %s: factor MultipleOf declared for %s must be positive: %s",
                    bound_text(k, v, s->multiple_of), buf_str(&k->path),
                    bound_text(k, v, s->multiple_of));
    else if (!is_multiple(v, s->multiple_of))
        check_invalid(k, r, v, "should be a multiple of %s", bound_text(k, v, s->multiple_of));
}

void check_number(struct checker *k, const struct schema *s, const struct jsn *v,
                  struct check_result *r)
{
    if (s->has_multiple_of)
        check_multiple(k, s, v, r);
    if (s->has_minimum) {
        int d = compare(v, s->minimum);

        if (d < 0 || (d == 0 && s->exclusive_minimum))
            check_invalid(k, r, v, "should be greater than %s%s",
                          s->exclusive_minimum ? "" : "or equal to ", bound_text(k, v, s->minimum));
    }
    if (s->has_maximum) {
        int d = compare(v, s->maximum);

        if (d > 0 || (d == 0 && s->exclusive_maximum))
            check_invalid(k, r, v, "should be less than %s%s",
                          s->exclusive_maximum ? "" : "or equal to ", bound_text(k, v, s->maximum));
    }
    r->matches++;
}
