/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON values: making, copying and comparing them; arrays.
 *
 * Everything lives in an arena and is never freed alone.  Members of objects are in member.c.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "src/json/jsn.h"

static struct jsn *make(struct arena *a, enum jsn_type type)
{
    struct jsn *v = arena_calloc(a, 1, sizeof(*v));

    v->type = type;
    return v;
}

struct jsn *jsn_null(struct arena *a)
{
    return make(a, JSN_NULL);
}

struct jsn *jsn_bool(struct arena *a, bool b)
{
    struct jsn *v = make(a, JSN_BOOL);

    v->b = b;
    return v;
}

struct jsn *jsn_int(struct arena *a, int64_t i)
{
    struct jsn *v = make(a, JSN_INT);

    v->i = i;
    return v;
}

struct jsn *jsn_real(struct arena *a, double d)
{
    struct jsn *v = make(a, JSN_REAL);

    v->d = isfinite(d) ? d : 0; /* JSON has no other numbers */
    return v;
}

struct jsn *jsn_str(struct arena *a, struct str s)
{
    struct jsn *v = make(a, JSN_STRING);

    v->s = (struct str){arena_str(a, s), s.n};
    return v;
}

struct jsn *jsn_string(struct arena *a, const char *s)
{
    return jsn_str(a, str_of(s));
}

struct jsn *jsn_stringf(struct arena *a, const char *fmt, ...)
{
    AUTO(buf_done) struct buf b = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    return jsn_str(a, buf_view(&b));
}

struct jsn *jsn_array(struct arena *a)
{
    return make(a, JSN_ARRAY);
}

struct jsn *jsn_object(struct arena *a)
{
    return make(a, JSN_OBJECT);
}

struct jsn *jsn_clone(struct arena *a, const struct jsn *v)
{
    struct jsn *copy = make(a, v->type);

    switch (v->type) {
    case JSN_STRING:
        copy->s = (struct str){arena_str(a, v->s), v->s.n};
        break;
    case JSN_ARRAY:
        JSN_FOR_ITEMS (item, v)
            jsn_append(a, copy, jsn_clone(a, item));
        break;
    case JSN_OBJECT:
        JSN_FOR_MEMBERS (m, v)
            jsn_set_member(a, copy, m->key, jsn_clone(a, m->value));
        break;
    case JSN_NULL:
    case JSN_BOOL:
    case JSN_INT:
    case JSN_REAL:
        *copy = *v;
        break;
    }
    return copy;
}

const char *jsn_type_name(enum jsn_type type)
{
    static const char *const names[] = {"null",   "boolean", "integer", "number",
                                        "string", "array",   "object"};

    return names[type];
}

static bool number_equal(const struct jsn *a, const struct jsn *b)
{
    if (a->type == JSN_INT && b->type == JSN_INT)
        return a->i == b->i;
    return (a->type == JSN_INT ? (double)a->i : a->d) == (b->type == JSN_INT ? (double)b->i : b->d);
}

static bool array_equal(const struct jsn *a, const struct jsn *b)
{
    if (a->a.n != b->a.n)
        return false;
    for (size_t i = 0; i < a->a.n; i++)
        if (!jsn_equal(a->a.items[i], b->a.items[i]))
            return false;
    return true;
}

static bool object_equal(const struct jsn *a, const struct jsn *b)
{
    if (a->o.n != b->o.n)
        return false;
    JSN_FOR_MEMBERS (m, a) {
        const struct jsn *other = jsn_member(b, m->key);

        if (!other || !jsn_equal(m->value, other))
            return false;
    }
    return true;
}

static bool is_number(const struct jsn *v)
{
    return v->type == JSN_INT || v->type == JSN_REAL;
}

bool jsn_equal(const struct jsn *a, const struct jsn *b)
{
    if (!a || !b || a == b)
        return a == b;
    if (is_number(a) && is_number(b))
        return number_equal(a, b);
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case JSN_BOOL:
        return a->b == b->b;
    case JSN_STRING:
        return str_eq(a->s, b->s);
    case JSN_ARRAY:
        return array_equal(a, b);
    case JSN_OBJECT:
        return object_equal(a, b);
    case JSN_NULL:
    case JSN_INT:
    case JSN_REAL:
        break;
    }
    return true;
}

const char *jsn_text(const struct jsn *v)
{
    return jsn_is(v, JSN_STRING) ? v->s.p : NULL;
}

size_t jsn_len(const struct jsn *v)
{
    if (jsn_is(v, JSN_ARRAY))
        return v->a.n;
    return jsn_is(v, JSN_OBJECT) ? v->o.n : 0;
}

struct jsn *jsn_item(const struct jsn *array, size_t i)
{
    return jsn_is(array, JSN_ARRAY) && i < array->a.n ? array->a.items[i] : NULL;
}

void jsn_insert(struct arena *a, struct jsn *array, size_t at, struct jsn *item)
{
    if (!jsn_is(array, JSN_ARRAY) || at > array->a.n || !item)
        return;
    arena_reserve(a, &array->a.items, &array->a.cap, array->a.n + 1, sizeof(struct jsn *));
    memmove(array->a.items + at + 1, array->a.items + at, (array->a.n - at) * sizeof(struct jsn *));
    array->a.items[at] = item;
    array->a.n++;
}

void jsn_append(struct arena *a, struct jsn *array, struct jsn *item)
{
    jsn_insert(a, array, jsn_len(array), item);
}

void jsn_remove_at(struct jsn *array, size_t at)
{
    if (!jsn_is(array, JSN_ARRAY) || at >= array->a.n)
        return;
    array->a.n--;
    memmove(array->a.items + at, array->a.items + at + 1, (array->a.n - at) * sizeof(struct jsn *));
}
