/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON into structs by field tables, and defaults into JSON.
 *
 * Rows are taken one by one; each finds its value by its path.  A value that is absent (null counts
 * as that) gets the row's default, as if it had been written; a struct of its own that is absent is
 * still filled with its defaults.  What is required is looked for only where the object around it
 * is there, or has no row that makes it optional.
 */
#include "src/json/fields_value.h"

struct decoder {
    struct arena *a;
    struct buf path; /* to what is being decoded; stays where it failed */
    struct err *e;
};

static int decode_table(struct decoder *d, const struct jsn_field *table, const struct jsn *v,
                        bool present, char *out);

static void enter(struct decoder *d, const char *path)
{
    if (d->path.n)
        buf_addc(&d->path, '.');
    buf_adds(&d->path, path);
}

static void leave(struct decoder *d, size_t before)
{
    d->path.n = before;
    d->path.p[before] = '\0';
}

static bool is_absent(const struct jsn *v)
{
    return !v || v->type == JSN_NULL;
}

static const struct jsn *default_of(struct arena *a, const struct jsn_field *f)
{
    struct err e = {0};
    struct jsn *v;

    if (!f->def)
        return NULL;
    if (jsn_parse(a, str_of(f->def), NULL, &v, &e) < 0)
        abort(); /* a table is code: its defaults are JSON */
    return v;
}

/* Is a field excused from being there, because an optional object around it is not? */
static bool is_excused(const struct jsn_field *table, const struct jsn_field *f,
                       const struct jsn *v)
{
    for (const struct jsn_field *g = table; g->kind != JSN_NOTHING; g++) {
        size_t n = strlen(g->path);

        if (g->kind == JSN_GROUP && !(g->flags & JSN_REQ) && starts_with(f->path, g->path) &&
            f->path[n] == '.' && is_absent(jsn_get(v, g->path)))
            return true;
    }
    return false;
}

static const char *shown(struct arena *a, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    jsn_print(&b, v);
    return arena_printf(a, "%.60s", buf_str(&b));
}

/* Where the value itself goes: the member, or memory of its own that the member points to. */
static char *place_of(struct decoder *d, const struct jsn_field *f, char *out)
{
    size_t size = f->kind == JSN_SUB ? f->size : fields_value_size(f->kind);
    char *at = out + f->offset;

    if (f->flags & JSN_PTR) {
        void *own = arena_calloc(d->a, 1, size);

        memcpy(at, &own, sizeof(own));
        at = own;
    }
    return at;
}

static int decode_list(struct decoder *d, const struct jsn_field *f, const struct jsn *v, char *at)
{
    struct jsn_subs {
        char *items;
        size_t n;
    } list = {0};

    if (v->type != JSN_ARRAY)
        return err_bad(d->e, "%s is not a list", shown(d->a, v));
    list.items = arena_calloc(d->a, v->a.n + 1, f->size);
    JSN_FOR_ITEMS (item, v) {
        size_t before = d->path.n;
        int r;

        buf_printf(&d->path, "[%zu]", list.n);
        r = decode_table(d, f->sub, item, true, list.items + list.n * f->size);
        if (r < 0)
            return r;
        leave(d, before);
        list.n++;
    }
    memcpy(at, &list, sizeof(list));
    return fields_value_count(f, list.n, "items", d->e);
}

static int decode_present(struct decoder *d, const struct jsn_field *f, const struct jsn *v,
                          char *out)
{
    char *at = place_of(d, f, out);
    int r;

    if (f->kind == JSN_SUBS)
        r = decode_list(d, f, v, at);
    else if (f->kind == JSN_SUB)
        r = decode_table(d, f->sub, v, true, at);
    else
        r = fields_value_decode(d->a, f, v, at, d->e);
    if (r == 0 && f->check)
        r = f->check(at, d->e);
    return r;
}

static int decode_absent(struct decoder *d, const struct jsn_field *f, char *out)
{
    int none = -1;

    if (f->kind == JSN_ENUM && !(f->flags & JSN_PTR))
        memcpy(out + f->offset, &none, sizeof(none));
    if (f->kind == JSN_SUB && !(f->flags & JSN_PTR))
        return decode_table(d, f->sub, NULL, false, out + f->offset);
    return 0;
}

static int decode_table(struct decoder *d, const struct jsn_field *table, const struct jsn *v,
                        bool present, char *out)
{
    if (v && v->type != JSN_OBJECT)
        return err_bad(d->e, "%s is not an object", shown(d->a, v));
    for (const struct jsn_field *f = table; f->kind != JSN_NOTHING; f++) {
        const struct jsn *value = jsn_get(v, f->path);
        size_t before = d->path.n;
        int r = 0;

        enter(d, f->path);
        if (is_absent(value))
            value = default_of(d->a, f);
        if (value)
            r = f->kind == JSN_GROUP ? fields_value_decode(d->a, f, value, NULL, d->e)
                                     : decode_present(d, f, value, out);
        else if (f->flags & JSN_REQ && present && !is_excused(table, f, v))
            r = err_bad(d->e, "is required");
        else
            r = decode_absent(d, f, out);
        if (r < 0)
            return r;
        leave(d, before);
    }
    return 0;
}

int fields_decode(struct arena *a, const struct jsn_field *table, const struct jsn *v, void *out,
                  struct err *e)
{
    struct err own = {0};
    struct decoder d = {.a = a, .e = e ? e : &own};
    int r = decode_table(&d, table, is_absent(v) ? NULL : v, true, out);

    if (r < 0 && d.path.n)
        r = err_wrap(d.e, r, "%s", buf_str(&d.path));
    buf_done(&d.path);
    return r;
}

const char *jsn_map_get(const struct jsn_map *map, const char *key)
{
    for (size_t i = 0; i < map->n; i++)
        if (streq(map->items[i].key, key))
            return map->items[i].value;
    return NULL;
}
