/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values with a form of their own: times, quantities, base64, number-or-text.
 *
 * Each check accepts what the Go type accepts, refuses with its sentence, and leaves the text that
 * the Go type would write: times in UTC, quantities canonical, base64 with padding.
 */
#include "src/cluster/apiserver/types/type.h"

#include <ctype.h>
#include <limits.h>

#include "src/base/clock.h"
#include "src/base/encode.h"
#include "src/json/quantity.h"

#define LAYOUT_TIME "2006-01-02T15:04:05Z07:00"
#define LAYOUT_MICRO "2006-01-02T15:04:05.000000Z07:00"

static const char *json_type(const struct jsn *v)
{
    switch (v->type) {
    case JSN_BOOL:
        return "bool";
    case JSN_INT:
    case JSN_REAL:
        return "number";
    case JSN_STRING:
        return "string";
    case JSN_ARRAY:
        return "array";
    case JSN_OBJECT:
        return "object";
    case JSN_NULL:
        break;
    }
    return "null";
}

static int no_go_value(struct err *e, const struct jsn *v, const char *type)
{
    return err_bad(e, "json: cannot unmarshal %s into Go value of type %s", json_type(v), type);
}

/*
 * Where Go's time parser would stop, and what it would have wanted there.  `text` is known to be
 * wrong; the pieces of the layout are tried in turn.
 */
static int bad_time(struct err *e, struct str text, const char *layout)
{
    static const struct {
        const char *layout;
        size_t digits; /* 0: the piece itself */
    } pieces[] = {
        {"2006", 4}, {"-", 0}, {"01", 2}, {"-", 0}, {"02", 2}, {"T", 0},
        {"15", 2},   {":", 0}, {"04", 2}, {":", 0}, {"05", 2},
    };
    struct str rest = text;

    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        size_t want = pieces[i].digits ? pieces[i].digits : 1, n = 0;

        while (
            n < want && n < rest.n &&
            (pieces[i].digits ? isdigit((unsigned char)rest.p[n]) : rest.p[n] == *pieces[i].layout))
            n++;
        if (n < want)
            return err_bad(
                e, "parsing time \"" STR_FMT "\" as \"%s\": cannot parse \"" STR_FMT "\" as \"%s\"",
                STR_ARG(text), layout, STR_ARG(rest), pieces[i].layout);
        rest = (struct str){rest.p + n, rest.n - n};
    }
    return err_bad(e,
                   "parsing time \"" STR_FMT "\" as \"%s\": cannot parse \"" STR_FMT "\" as \"%s\"",
                   STR_ARG(text), layout, STR_ARG(rest),
                   streq(layout, LAYOUT_MICRO) && !str_starts(rest, ".") ? ".000000" : "Z07:00");
}

/* The layout with six decimals wants exactly these. */
static bool has_micros(struct str text)
{
    size_t dot = str_find(text, '.'), n = 0;

    while (dot + 1 + n < text.n && isdigit((unsigned char)text.p[dot + 1 + n]))
        n++;
    return n == 6;
}

static int check_time(struct arena *a, const struct schema *s, struct jsn *v, struct err *e)
{
    bool micro = s->codec == SCHEMA_MICRO_TIME;
    const char *layout = micro ? LAYOUT_MICRO : LAYOUT_TIME;
    char text[CLOCK_RFC3339_LEN];
    int64_t wall_us;

    if (v->type == JSN_NULL)
        return 0;
    if (v->type != JSN_STRING)
        return no_go_value(e, v, "string");
    if (clock_parse_rfc3339(v->s, &wall_us) < 0 || (micro && !has_micros(v->s)))
        return bad_time(e, v->s, layout);
    if (micro)
        clock_rfc3339_micro(wall_us, text);
    else
        clock_rfc3339(wall_us, text);
    *v = *jsn_string(a, text);
    return 0;
}

static int check_quantity(struct arena *a, struct jsn *v, struct err *e)
{
    AUTO(buf_done) struct buf b = {0};
    char text[QUANTITY_LEN];
    int r;

    if (v->type == JSN_NULL) {
        *v = *jsn_string(a, "0");
        return 0;
    }
    if (v->type == JSN_STRING)
        buf_addstr(&b, str_trim(v->s));
    else
        jsn_print(&b, v);
    r = quantity_canonical(buf_view(&b), text, e);
    if (r < 0)
        return r;
    *v = *jsn_string(a, text);
    return 0;
}

static int check_int_or_string(struct jsn *v, struct err *e)
{
    AUTO(buf_done) struct buf b = {0};

    if (v->type == JSN_STRING || v->type == JSN_NULL)
        return 0;
    if (v->type != JSN_INT && v->type != JSN_REAL)
        return no_go_value(e, v, "int32");
    if (v->type == JSN_INT && v->i >= INT32_MIN && v->i <= INT32_MAX)
        return 0;
    jsn_print(&b, v);
    return err_bad(e, "json: cannot unmarshal number %s into Go value of type int32", buf_str(&b));
}

static bool is_base64(char c)
{
    return isalnum((unsigned char)c) || c == '+' || c == '/';
}

/*
 * Go's base64 reader: line breaks are skipped, padding is needed.  Returns the offset of what is
 * wrong, or -1.  The good characters are left in `b`.
 */
static int64_t scan_base64(struct str text, struct buf *b)
{
    size_t pad = 0, quantum = 0;

    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (c == '\n' || c == '\r')
            continue;
        if (b->n % 4 == 0) {
            if (pad > 0)
                return (int64_t)i;
            quantum = i;
        }
        if (c == '=' && b->n % 4 >= 2)
            pad++;
        else if (!is_base64(c) || pad > 0)
            return (int64_t)i;
        buf_addc(b, c);
    }
    return b->n % 4 == 0 ? -1 : (int64_t)quantum;
}

static int check_bytes(struct arena *a, struct jsn *v, struct err *e)
{
    AUTO(buf_done) struct buf b = {0}, raw = {0}, text = {0};
    int64_t bad;

    if (v->type != JSN_STRING)
        return -ENOTSUP;
    bad = scan_base64(v->s, &b);
    if (bad >= 0)
        return err_bad(e, "illegal base64 data at input byte %lld", (long long)bad);
    if (decode_base64(&raw, buf_view(&b)) < 0)
        return err_bad(e, "illegal base64 data at input byte 0");
    if (b.n != v->s.n) {
        encode_base64(&text, buf_view(&raw));
        *v = *jsn_str(a, buf_view(&text));
    }
    return 0;
}

int type_value_check(struct arena *a, const struct schema *s, struct jsn *v, struct err *e)
{
    if (s->codec == SCHEMA_TIME || s->codec == SCHEMA_MICRO_TIME)
        return check_time(a, s, v, e);
    if (s->codec == SCHEMA_QUANTITY)
        return check_quantity(a, v, e);
    if (s->codec == SCHEMA_IS_INT_OR_STRING)
        return check_int_or_string(v, e);
    if (s->codec == SCHEMA_BYTES)
        return check_bytes(a, v, e);
    return 0;
}
