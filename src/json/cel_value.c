/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of CEL.
 *
 * They are those of JSON; the schema at hand decides what a number or a text is: a whole number of
 * type number is a double, and a text with the format date-time is a time, of which only equality
 * is known here.  Lists that are sets or maps by their schema have no order when they are compared.
 */
#include <math.h>
#include <stdarg.h>

#include "src/base/alloc.h"
#include "src/json/cel_node.h"
#include "src/json/structural.h"

struct cel_value cel_error(struct cel_run *r, const char *fmt, ...)
{
    AUTO(buf_done) struct buf b = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    return (struct cel_value){.kind = CEL_IS_ERROR, .text = arena_str(r->a, buf_view(&b))};
}

struct cel_value cel_no_overload(struct cel_run *r)
{
    return cel_error(r, "no such overload");
}

bool cel_bad(const struct cel_value *v)
{
    return v->kind == CEL_IS_ERROR || v->kind == CEL_IS_BEYOND;
}

static bool is_opaque(const struct schema *s)
{
    static const char *const formats[] = {"date-time", "datetime", "date", "duration", "byte"};

    for (size_t i = 0; s && i < ARRAY_LEN(formats); i++)
        if (streq(s->format, formats[i]))
            return true;
    return false;
}

static struct cel_value number_of(const struct jsn *v, const struct schema *s)
{
    double d = v->type == JSN_INT ? (double)v->i : v->d;

    if (s && s->type == SCHEMA_NUMBER)
        return (struct cel_value){.kind = CEL_IS_DOUBLE, .d = d};
    if (v->type == JSN_INT)
        return cel_int(v->i);
    if (s && (s->type == SCHEMA_INTEGER || s->type == SCHEMA_INT_OR_STRING) && d == floor(d) &&
        fabs(d) < 9e15)
        return cel_int((int64_t)d);
    return (struct cel_value){.kind = CEL_IS_DOUBLE, .d = d};
}

struct cel_value cel_value_of(const struct jsn *v, const struct schema *s)
{
    if (!v || v->type == JSN_NULL)
        return (struct cel_value){.kind = CEL_IS_NULL};
    switch (v->type) {
    case JSN_BOOL:
        return cel_bool(v->b);
    case JSN_INT:
    case JSN_REAL:
        return number_of(v, s);
    case JSN_STRING:
        return (struct cel_value){
            .kind = CEL_IS_STRING, .s = v->s, .schema = s, .opaque = is_opaque(s)};
    case JSN_ARRAY:
        return (struct cel_value){.kind = CEL_IS_LIST, .v = v, .schema = s};
    case JSN_OBJECT:
        return (struct cel_value){.kind = CEL_IS_OBJECT, .v = v, .schema = s};
    case JSN_NULL:
        break;
    }
    return (struct cel_value){.kind = CEL_IS_NULL};
}

struct jsn *cel_to_jsn(struct cel_run *r, const struct cel_value *v)
{
    switch (v->kind) {
    case CEL_IS_BOOL:
        return jsn_bool(r->a, v->b);
    case CEL_IS_INT:
        return jsn_int(r->a, v->i);
    case CEL_IS_DOUBLE:
        return jsn_real(r->a, isfinite(v->d) ? v->d : 0);
    case CEL_IS_STRING:
        return jsn_str(r->a, v->s);
    case CEL_IS_LIST:
    case CEL_IS_OBJECT:
        /* Shared: nobody changes it. */
        return (struct jsn *)(uintptr_t)v->v;
    case CEL_IS_NULL:
    case CEL_IS_TYPE:
    case CEL_IS_ERROR:
    case CEL_IS_BEYOND:
        break;
    }
    return jsn_null(r->a);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Items as canonical texts, sorted; owned. */
static char **sorted_items(const struct jsn *v)
{
    char **list = xcalloc(jsn_len(v) + 1, sizeof(char *));
    size_t n = 0;

    JSN_FOR_ITEMS (item, v) {
        struct buf b = {0};

        schema_print_canonical(&b, item);
        list[n++] = buf_take(&b);
    }
    qsort(list, n, sizeof(char *), by_text);
    return list;
}

/* Sets, and lists with keys, have no order. */
static bool same_items(const struct jsn *a, const struct jsn *b)
{
    char **x, **y;
    bool same = jsn_len(a) == jsn_len(b);

    if (!same)
        return false;
    x = sorted_items(a);
    y = sorted_items(b);
    for (size_t i = 0; i < jsn_len(a); i++) {
        same = same && streq(x[i], y[i]);
        free(x[i]);
        free(y[i]);
    }
    free(x);
    free(y);
    return same;
}

static bool is_unordered(const struct cel_value *v)
{
    return v->schema &&
           (v->schema->merge == SCHEMA_MERGE_SET || v->schema->merge == SCHEMA_MERGE_MAP);
}

static double as_double(const struct cel_value *v)
{
    return v->kind == CEL_IS_INT ? (double)v->i : v->d;
}

static bool is_number(const struct cel_value *v)
{
    return v->kind == CEL_IS_INT || v->kind == CEL_IS_DOUBLE;
}

bool cel_equal(const struct cel_value *a, const struct cel_value *b)
{
    if (is_number(a) && is_number(b))
        return a->kind == CEL_IS_INT && b->kind == CEL_IS_INT ? a->i == b->i
                                                              : as_double(a) == as_double(b);
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case CEL_IS_BOOL:
        return a->b == b->b;
    case CEL_IS_STRING:
        return str_eq(a->s, b->s);
    case CEL_IS_LIST:
        return is_unordered(a) || is_unordered(b) ? same_items(a->v, b->v) : jsn_equal(a->v, b->v);
    case CEL_IS_OBJECT:
        return jsn_equal(a->v, b->v);
    case CEL_IS_TYPE:
        return streq(a->text, b->text);
    case CEL_IS_NULL:
        return true;
    case CEL_IS_INT:
    case CEL_IS_DOUBLE:
    case CEL_IS_ERROR:
    case CEL_IS_BEYOND:
        break;
    }
    return false;
}

bool cel_compare(const struct cel_value *a, const struct cel_value *b, int *ret)
{
    if (a->kind == CEL_IS_INT && b->kind == CEL_IS_INT)
        *ret = a->i < b->i ? -1 : a->i > b->i;
    else if (is_number(a) && is_number(b))
        *ret = as_double(a) < as_double(b) ? -1 : as_double(a) > as_double(b);
    else if (a->kind == CEL_IS_STRING && b->kind == CEL_IS_STRING && !a->opaque && !b->opaque)
        *ret = str_cmp(a->s, b->s);
    else if (a->kind == CEL_IS_BOOL && b->kind == CEL_IS_BOOL)
        *ret = (int)a->b - (int)b->b;
    else
        return false;
    return true;
}
