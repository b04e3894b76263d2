/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Single values of field tables.
 *
 * Decoding checks type, range, length and pattern, and says of a bad value what it is not.  Members
 * are written through memcpy, since a table knows only where they are.
 */
#include "src/json/fields_value.h"

#include "src/base/clock.h"
#include "src/json/duration.h"
#include "src/json/pattern.h"

#define SHOWN_BYTES 60

size_t fields_value_size(enum jsn_kind kind)
{
    static const size_t sizes[] = {
        [JSN_STR] = sizeof(const char *),
        [JSN_FLAG] = sizeof(bool),
        [JSN_I32] = sizeof(int32_t),
        [JSN_U32] = sizeof(uint32_t),
        [JSN_I64] = sizeof(int64_t),
        [JSN_DOUBLE] = sizeof(double),
        [JSN_ENUM] = sizeof(int),
        [JSN_STRS] = sizeof(struct jsn_strs),
        [JSN_MAP] = sizeof(struct jsn_map),
        [JSN_INT_OR_STR] = sizeof(struct jsn_int_or_str),
        [JSN_QUANTITY] = sizeof(struct quantity),
        [JSN_TIME] = sizeof(int64_t),
        [JSN_DURATION] = sizeof(int64_t),
        [JSN_RAW] = sizeof(const struct jsn *),
        [JSN_SUBS] = sizeof(struct jsn_strs),
    };

    return kind < ARRAY_LEN(sizes) ? sizes[kind] : 0;
}

/* "-1 is not an unsigned 32-bit integer" */
static int is_not(const struct jsn *v, const char *what, struct err *e)
{
    AUTO(buf_done) struct buf b = {0};

    jsn_print(&b, v);
    return err_bad(e, "%.*s%s is not %s", (int)MIN(b.n, (size_t)SHOWN_BYTES), buf_str(&b),
                   b.n > SHOWN_BYTES ? "..." : "", what);
}

static int check_range(const struct jsn_field *f, int64_t n, struct err *e)
{
    if (f->flags & JSN_HAS_MIN && n < f->min)
        return err_bad(e, "%lld is below %lld", (long long)n, (long long)f->min);
    if (f->flags & JSN_HAS_MAX && n > f->max)
        return err_bad(e, "%lld is above %lld", (long long)n, (long long)f->max);
    return 0;
}

int fields_value_count(const struct jsn_field *field, size_t n, const char *unit, struct err *e)
{
    if (field->flags & JSN_HAS_MIN && (int64_t)n < field->min)
        return err_bad(e, "has %zu %s and needs %lld", n, unit, (long long)field->min);
    if (field->flags & JSN_HAS_MAX && (int64_t)n > field->max)
        return err_bad(e, "has %zu %s and may have %lld", n, unit, (long long)field->max);
    return 0;
}

static int check_pattern(struct arena *a, const struct jsn_field *f, const struct jsn *v,
                         struct err *e)
{
    struct pattern_budget budget = {PATTERN_BUDGET_STEPS};
    AUTO(pattern_free) struct pattern *pattern = NULL;

    if (!f->pattern)
        return 0;
    if (pattern_compile(f->pattern, &pattern, NULL) < 0)
        abort(); /* a table is code */
    if (pattern_match(pattern, v->s, &budget) == 1)
        return 0;
    return is_not(v, arena_printf(a, "of the form %s", f->pattern), e);
}

static int decode_string(struct arena *a, const struct jsn_field *f, const struct jsn *v, void *at,
                         struct err *e)
{
    const char *text;
    int r;

    if (v->type != JSN_STRING)
        return is_not(v, "a string", e);
    if (strlen(v->s.p) != v->s.n)
        return is_not(v, "a string without NUL", e);
    r = fields_value_count(f, v->s.n, "bytes", e);
    if (r == 0)
        r = check_pattern(a, f, v, e);
    if (r < 0)
        return r;
    text = arena_str(a, v->s);
    memcpy(at, &text, sizeof(text));
    return 0;
}

static int decode_int(const struct jsn_field *f, const struct jsn *v, void *at, struct err *e)
{
    int32_t i32 = (int32_t)v->i;
    uint32_t u32 = (uint32_t)v->i;

    if (f->kind == JSN_I32 && (v->type != JSN_INT || v->i != i32))
        return is_not(v, "a 32-bit integer", e);
    if (f->kind == JSN_U32 && (v->type != JSN_INT || v->i != u32))
        return is_not(v, "an unsigned 32-bit integer", e);
    if (v->type != JSN_INT)
        return is_not(v, "a 64-bit integer", e);
    if (f->kind == JSN_I64)
        memcpy(at, &v->i, sizeof(v->i));
    else
        memcpy(at, f->kind == JSN_I32 ? (const void *)&i32 : (const void *)&u32, sizeof(i32));
    return check_range(f, v->i, e);
}

static int decode_enum(struct arena *a, const struct jsn_field *f, const struct jsn *v, void *at,
                       struct err *e)
{
    AUTO(buf_done) struct buf b = {0};

    for (int i = 0; f->names[i]; i++) {
        if (streq(jsn_text(v), f->names[i])) {
            memcpy(at, &i, sizeof(i));
            return 0;
        }
        buf_printf(&b, "%s%s", i ? ", " : "", f->names[i]);
    }
    return is_not(v, arena_printf(a, "one of %s", buf_str(&b)), e);
}

static int decode_strings(struct arena *a, const struct jsn_field *f, const struct jsn *v, void *at,
                          struct err *e)
{
    struct jsn_strs list = {0};

    if (v->type != JSN_ARRAY)
        return is_not(v, "a list of strings", e);
    list.items = arena_calloc(a, v->a.n + 1, sizeof(*list.items));
    JSN_FOR_ITEMS (item, v) {
        if (item->type != JSN_STRING)
            return is_not(item, "a string", e);
        list.items[list.n++] = arena_str(a, item->s);
    }
    memcpy(at, &list, sizeof(list));
    return fields_value_count(f, list.n, "items", e);
}

static int decode_map(struct arena *a, const struct jsn_field *f, const struct jsn *v, void *at,
                      struct err *e)
{
    struct jsn_map map = {0};

    if (v->type != JSN_OBJECT)
        return is_not(v, "an object of strings", e);
    map.items = arena_calloc(a, v->o.n + 1, sizeof(*map.items));
    JSN_FOR_MEMBERS (m, v) {
        if (m->value->type != JSN_STRING)
            return is_not(m->value, "a string", e);
        map.items[map.n++] = (struct jsn_pair){arena_str(a, m->key), arena_str(a, m->value->s)};
    }
    memcpy(at, &map, sizeof(map));
    return fields_value_count(f, map.n, "members", e);
}

static int decode_int_or_str(struct arena *a, const struct jsn *v, void *at, struct err *e)
{
    struct jsn_int_or_str value = {.set = true};

    if (v->type == JSN_STRING)
        value.str = arena_str(a, v->s);
    else if (v->type == JSN_INT && v->i == (int32_t)v->i)
        value.i = (int32_t)v->i;
    else
        return is_not(v, "a 32-bit integer or a string", e);
    memcpy(at, &value, sizeof(value));
    return 0;
}

/* A string, or a number as it would be written. */
static int decode_quantity(const struct jsn *v, void *at, struct err *e)
{
    AUTO(buf_done) struct buf b = {0};
    struct quantity q;

    if (v->type == JSN_INT || v->type == JSN_REAL)
        jsn_print(&b, v);
    else if (v->type == JSN_STRING)
        buf_addstr(&b, str_trim(v->s));
    if (quantity_parse(buf_view(&b), &q, NULL) < 0)
        return is_not(v, "a quantity", e);
    memcpy(at, &q, sizeof(q));
    return 0;
}

static int decode_time(const struct jsn_field *f, const struct jsn *v, void *at, struct err *e)
{
    int64_t t;

    if (f->kind == JSN_TIME && (v->type != JSN_STRING || clock_parse_rfc3339(v->s, &t) < 0))
        return is_not(v, "a time such as 2026-01-09T10:00:00Z", e);
    if (f->kind == JSN_DURATION && (v->type != JSN_STRING || duration_parse(v->s, &t) < 0))
        return is_not(v, "a duration such as 1h30m", e);
    memcpy(at, &t, sizeof(t));
    return 0;
}

static int decode_flag(const struct jsn *v, void *at, struct err *e)
{
    if (v->type != JSN_BOOL)
        return is_not(v, "true or false", e);
    memcpy(at, &v->b, sizeof(v->b));
    return 0;
}

static int decode_double(const struct jsn *v, void *at, struct err *e)
{
    double d = v->type == JSN_INT ? (double)v->i : v->d;

    if (v->type != JSN_INT && v->type != JSN_REAL)
        return is_not(v, "a number", e);
    memcpy(at, &d, sizeof(d));
    return 0;
}

static int decode_raw(struct arena *a, const struct jsn_field *f, const struct jsn *v, void *at,
                      struct err *e)
{
    const struct jsn *copy;

    if (!(f->flags & JSN_ANY) && v->type != JSN_OBJECT)
        return is_not(v, "an object", e);
    copy = jsn_clone(a, v);
    memcpy(at, &copy, sizeof(copy));
    return 0;
}

int fields_value_decode(struct arena *a, const struct jsn_field *field, const struct jsn *v,
                        void *at, struct err *e)
{
    switch (field->kind) {
    case JSN_STR:
        return decode_string(a, field, v, at, e);
    case JSN_FLAG:
        return decode_flag(v, at, e);
    case JSN_I32:
    case JSN_U32:
    case JSN_I64:
        return decode_int(field, v, at, e);
    case JSN_DOUBLE:
        return decode_double(v, at, e);
    case JSN_ENUM:
        return decode_enum(a, field, v, at, e);
    case JSN_STRS:
        return decode_strings(a, field, v, at, e);
    case JSN_MAP:
        return decode_map(a, field, v, at, e);
    case JSN_INT_OR_STR:
        return decode_int_or_str(a, v, at, e);
    case JSN_QUANTITY:
        return decode_quantity(v, at, e);
    case JSN_TIME:
    case JSN_DURATION:
        return decode_time(field, v, at, e);
    case JSN_RAW:
        return decode_raw(a, field, v, at, e);
    case JSN_NOTHING:
    case JSN_GROUP:
    case JSN_SUB:
    case JSN_SUBS:
        break;
    }
    return v->type == JSN_OBJECT ? 0 : is_not(v, "an object", e);
}
