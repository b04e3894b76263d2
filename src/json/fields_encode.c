/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Structs into JSON by field tables, and members that no table knows.
 *
 * What is absent, zero or empty is left out, unless the row says to keep it or has a default that
 * would come back instead.
 */
#include "src/base/clock.h"
#include "src/json/duration.h"
#include "src/json/fields_value.h"

/* Is it what a zeroed struct holds? */
static bool fields_value_zero(const struct jsn_field *field, const void *at)
{
    static const char zeros[sizeof(struct quantity) + sizeof(struct jsn_int_or_str)] = {0};
    size_t n = fields_value_size(field->kind);
    struct jsn_strs list;
    struct quantity q;
    int position;

    if (field->kind == JSN_STRS || field->kind == JSN_MAP || field->kind == JSN_SUBS) {
        memcpy(&list, at, sizeof(list));
        return list.n == 0;
    }
    if (field->kind == JSN_QUANTITY) {
        memcpy(&q, at, sizeof(q));
        return q.nano == 0;
    }
    if (field->kind == JSN_ENUM) {
        memcpy(&position, at, sizeof(position));
        return position < 0;
    }
    return memcmp(at, zeros, n) == 0;
}

static struct jsn *encode_strings(struct arena *a, const void *at)
{
    struct jsn *v = jsn_array(a);
    struct jsn_strs list;

    memcpy(&list, at, sizeof(list));
    for (size_t i = 0; i < list.n; i++)
        jsn_append(a, v, jsn_string(a, list.items[i]));
    return v;
}

static struct jsn *encode_map(struct arena *a, const void *at)
{
    struct jsn *v = jsn_object(a);
    struct jsn_map map;

    memcpy(&map, at, sizeof(map));
    for (size_t i = 0; i < map.n; i++)
        jsn_set_str(a, v, map.items[i].key, map.items[i].value);
    return v;
}

static struct jsn *encode_int(struct arena *a, const struct jsn_field *f, const void *at)
{
    uint32_t u32;
    int32_t i32;
    int64_t i64;

    memcpy(&i32, at, sizeof(i32));
    memcpy(&u32, at, sizeof(u32));
    if (f->kind != JSN_I64)
        return jsn_int(a, f->kind == JSN_I32 ? i32 : (int64_t)u32);
    memcpy(&i64, at, sizeof(i64));
    return jsn_int(a, i64);
}

/* Kinds that are text on the wire. */
static struct jsn *encode_text(struct arena *a, const struct jsn_field *f, const void *at)
{
    AUTO(buf_done) struct buf b = {0};
    char text[CLOCK_RFC3339_LEN];
    char number[QUANTITY_LEN];
    struct quantity q;
    int64_t t;

    if (f->kind == JSN_QUANTITY) {
        memcpy(&q, at, sizeof(q));
        quantity_print(&q, number);
        return jsn_string(a, number);
    }
    memcpy(&t, at, sizeof(t));
    if (f->kind == JSN_DURATION) {
        duration_print(&b, t);
        return jsn_str(a, buf_view(&b));
    }
    clock_rfc3339(t, text);
    return jsn_string(a, text);
}

static struct jsn *encode_int_or_str(struct arena *a, const void *at)
{
    struct jsn_int_or_str v;

    memcpy(&v, at, sizeof(v));
    return v.str ? jsn_string(a, v.str) : jsn_int(a, v.i);
}

static struct jsn *encode_pointer(struct arena *a, const struct jsn_field *f, const void *at)
{
    const struct jsn *raw;
    const char *text;

    if (f->kind == JSN_RAW) {
        memcpy(&raw, at, sizeof(raw));
        return raw ? jsn_clone(a, raw) : NULL;
    }
    memcpy(&text, at, sizeof(text));
    return text ? jsn_string(a, text) : NULL;
}

static struct jsn *encode_scalar(struct arena *a, const struct jsn_field *f, const void *at)
{
    int position;
    double d;
    bool b;

    if (f->kind == JSN_FLAG) {
        memcpy(&b, at, sizeof(b));
        return jsn_bool(a, b);
    }
    if (f->kind == JSN_DOUBLE) {
        memcpy(&d, at, sizeof(d));
        return jsn_real(a, d);
    }
    memcpy(&position, at, sizeof(position));
    return position < 0 ? NULL : jsn_string(a, f->names[position]);
}

/* The value at `at`; NULL if it is absent. */
static struct jsn *fields_value_encode(struct arena *a, const struct jsn_field *field,
                                       const void *at)
{
    switch (field->kind) {
    case JSN_STR:
    case JSN_RAW:
        return encode_pointer(a, field, at);
    case JSN_FLAG:
    case JSN_DOUBLE:
    case JSN_ENUM:
        return encode_scalar(a, field, at);
    case JSN_I32:
    case JSN_U32:
    case JSN_I64:
        return encode_int(a, field, at);
    case JSN_STRS:
        return encode_strings(a, at);
    case JSN_MAP:
        return encode_map(a, at);
    case JSN_INT_OR_STR:
        return encode_int_or_str(a, at);
    case JSN_QUANTITY:
    case JSN_TIME:
    case JSN_DURATION:
        return encode_text(a, field, at);
    case JSN_NOTHING:
    case JSN_GROUP:
    case JSN_SUB:
    case JSN_SUBS:
        break;
    }
    return NULL;
}

static struct jsn *encode_list(struct arena *a, const struct jsn_field *f, const char *at)
{
    struct jsn *v = jsn_array(a);
    struct {
        const char *items;
        size_t n;
    } list;

    memcpy(&list, at, sizeof(list));
    for (size_t i = 0; i < list.n; i++)
        jsn_append(a, v, fields_encode(a, f->sub, list.items + i * f->size));
    return v;
}

/* One row; NULL if it is left out. */
static struct jsn *encode_field(struct arena *a, const struct jsn_field *f, const char *in)
{
    const void *at = in + f->offset;
    bool keep = f->flags & (JSN_KEEP | JSN_PTR) || f->def;
    struct jsn *v;

    if (f->flags & JSN_PTR) {
        at = *(const void *const *)at;
        if (!at)
            return NULL;
    }
    if (f->kind == JSN_GROUP)
        return NULL;
    if (f->kind == JSN_SUB) {
        v = fields_encode(a, f->sub, at);
        return v->o.n || keep ? v : NULL;
    }
    if (!keep && fields_value_zero(f, at))
        return NULL;
    if (f->kind == JSN_SUBS)
        return encode_list(a, f, at);
    return fields_value_encode(a, f, at);
}

struct jsn *fields_encode(struct arena *a, const struct jsn_field *table, const void *in)
{
    struct jsn *out = jsn_object(a);

    for (const struct jsn_field *f = table; f->kind != JSN_NOTHING; f++) {
        struct jsn *v = encode_field(a, f, in);

        if (v)
            jsn_set_path(a, out, f->path, v);
    }
    return out;
}

/* The row that names a path, or that leads to it. */
static const struct jsn_field *find_row(const struct jsn_field *table, const char *path,
                                        bool *ret_inside)
{
    const struct jsn_field *leads = NULL;
    size_t n = strlen(path);

    *ret_inside = false;
    for (const struct jsn_field *f = table; f->kind != JSN_NOTHING; f++) {
        if (streq(f->path, path) && f->kind != JSN_GROUP)
            return f;
        if (starts_with(f->path, path) && f->path[n] == '.')
            leads = f;
    }
    *ret_inside = leads != NULL;
    return leads;
}

/* "prefix.key"; made for every member of every object, and so without printf. */
static const char *path_join(struct arena *a, const char *prefix, struct str key)
{
    size_t n = strlen(prefix);
    size_t dot = n > 0;
    char *path = arena_alloc(a, n + dot + key.n + 1);

    memcpy(path, prefix, n);
    memcpy(path + n, ".", dot);
    memcpy(path + n + dot, key.p, key.n);
    path[n + dot + key.n] = '\0';
    return path;
}

static const char *unknown_in(struct arena *a, const struct jsn_field *table, const struct jsn *v,
                              const char *prefix, const char *shown)
{
    JSN_FOR_MEMBERS (m, v) {
        const char *path = path_join(a, prefix, m->key);
        bool inside;
        const struct jsn_field *f = find_row(table, path, &inside);
        const char *found = NULL;
        const char *show;
        size_t i = 0;

        if (f && !inside && f->kind != JSN_SUB && f->kind != JSN_SUBS)
            continue;
        show = path_join(a, shown, m->key);
        if (!f)
            return show;
        if (inside)
            found = unknown_in(a, table, m->value, path, show);
        else if (f->kind == JSN_SUB)
            found = unknown_in(a, f->sub, m->value, "", show);
        if (!inside && f->kind == JSN_SUBS)
            JSN_FOR_ITEMS (item, m->value)
                if (!found)
                    found = unknown_in(a, f->sub, item, "", arena_printf(a, "%s[%zu]", show, i++));
        if (found)
            return found;
    }
    return NULL;
}

const char *fields_unknown(struct arena *a, const struct jsn_field *table, const struct jsn *v)
{
    struct jsn *rest = jsn_object(a);

    JSN_FOR_MEMBERS (m, v)
        if (!str_eq(m->key, STR("apiVersion")) && !str_eq(m->key, STR("kind")) &&
            !str_eq(m->key, STR("metadata")))
            jsn_set_member(a, rest, m->key, m->value);
    return unknown_in(a, table, rest, "", "");
}
