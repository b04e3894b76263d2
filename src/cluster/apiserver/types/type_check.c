/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decoding of built-in objects: types, unknown fields, nulls.
 *
 * The walk follows the document, and stops at the first value of a wrong type, as the Go decoder's
 * answer does.  Go names the innermost struct and the path of fields to it; list indexes and map
 * keys are no part of that path, but they are of the paths of unknown fields.  Both are read off a
 * chain of frames on the stack, only when something is wrong.
 */
#include "src/cluster/apiserver/types/type.h"

/* One step from the root. */
struct frame {
    const struct frame *up;
    const char *owner; /* Go struct that the field belongs to; NULL: a list item or map member */
    struct str key;    /* field or map key; p == NULL: list item */
    size_t index;
};

struct walk {
    struct arena *a;
    struct type_notes *notes;
    struct err *e;
};

static int check(struct walk *w, const struct frame *at, const struct schema *s, struct jsn *v);

/* "spec.containers[0].image" */
static void strict_path(struct buf *b, const struct frame *at)
{
    if (!at)
        return;
    strict_path(b, at->up);
    if (!at->key.p) {
        buf_printf(b, "[%zu]", at->index);
        return;
    }
    if (b->n)
        buf_addc(b, '.');
    buf_addstr(b, at->key);
}

/* "spec.containers.image" */
static void go_path(struct buf *b, const struct frame *at)
{
    if (!at)
        return;
    go_path(b, at->up);
    if (!at->owner)
        return;
    if (b->n)
        buf_addc(b, '.');
    buf_addstr(b, at->key);
}

static void note(struct walk *w, const char *what, const struct frame *at)
{
    AUTO(buf_done) struct buf b = {0};
    struct type_notes *n = w->notes;

    if (!n || n->n_texts >= TYPE_MAX_NOTES)
        return;
    strict_path(&b, at);
    arena_reserve(w->a, &n->texts, &n->cap_texts, n->n_texts + 1, sizeof(*n->texts));
    n->texts[n->n_texts++] = arena_printf(w->a, "%s field \"%s\"", what, buf_str(&b));
}

static void note_duplicate(struct walk *w, const struct frame *at)
{
    const struct jsn_notes *parsed = w->notes ? w->notes->parsed : NULL;
    AUTO(buf_done) struct buf b = {0};

    if (!parsed || parsed->n_duplicates == 0)
        return;
    strict_path(&b, at);
    for (size_t i = 0; i < parsed->n_duplicates; i++) {
        if (streq(parsed->duplicates[i], buf_str(&b))) {
            note(w, "duplicate", at);
            return;
        }
    }
}

static void go_type(struct buf *b, const struct schema *s)
{
    if (s->go_type) {
        buf_adds(b, s->go_type);
    } else if (s->type == SCHEMA_ARRAY) {
        buf_adds(b, "[]");
        go_type(b, s->items);
    } else if (s->additional) {
        buf_adds(b, "map[string]");
        go_type(b, s->additional);
    } else {
        buf_adds(b, "interface {}");
    }
}

/* What Go calls the JSON value; a number that does not fit is shown. */
static void go_value(struct buf *b, const struct schema *s, const struct jsn *v)
{
    static const char *const names[] = {
        [JSN_NULL] = "null",     [JSN_BOOL] = "bool",     [JSN_INT] = "number",
        [JSN_REAL] = "number",   [JSN_STRING] = "string", [JSN_ARRAY] = "array",
        [JSN_OBJECT] = "object",
    };

    buf_adds(b, names[v->type]);
    if ((v->type == JSN_INT || v->type == JSN_REAL) && s->type == SCHEMA_INTEGER) {
        buf_addc(b, ' ');
        jsn_print(b, v);
    }
}

static int wrong_type(struct walk *w, const struct frame *at, const struct schema *s,
                      const struct jsn *v)
{
    AUTO(buf_done) struct buf value = {0}, type = {0}, path = {0};
    const struct frame *owner = at;

    while (owner && !owner->owner)
        owner = owner->up;
    go_value(&value, s, v);
    go_type(&type, s);
    go_path(&path, at);
    if (!owner)
        return err_bad(w->e, "json: cannot unmarshal %s into Go value of type %s", buf_str(&value),
                       buf_str(&type));
    return err_bad(w->e, "json: cannot unmarshal %s into Go struct field %s.%s of type %s",
                   buf_str(&value), owner->owner, buf_str(&path), buf_str(&type));
}

static bool scalar_fits(const struct schema *s, const struct jsn *v)
{
    if (s->type == SCHEMA_STRING)
        return v->type == JSN_STRING;
    if (s->type == SCHEMA_BOOLEAN)
        return v->type == JSN_BOOL;
    if (s->type == SCHEMA_NUMBER)
        return v->type == JSN_INT || v->type == JSN_REAL;
    if (s->type == SCHEMA_INTEGER && streq(s->format, "int32"))
        return v->type == JSN_INT && v->i >= INT32_MIN && v->i <= INT32_MAX;
    if (s->type == SCHEMA_INTEGER)
        return v->type == JSN_INT;
    return true;
}

/* An item or a map's value that is null becomes the zero value, as in Go. */
static struct jsn *not_null(struct walk *w, const struct schema *s, struct jsn *v)
{
    return v->type == JSN_NULL && s->type != SCHEMA_ANY ? type_zero(w->a, s) : v;
}

static int check_array(struct walk *w, const struct frame *at, const struct schema *s,
                       struct jsn *v)
{
    if (v->type != JSN_ARRAY)
        return wrong_type(w, at, s, v);
    for (size_t i = 0; i < jsn_len(v); i++) {
        struct frame here = {.up = at, .index = i};
        int r;

        v->a.items[i] = not_null(w, s->items, v->a.items[i]);
        r = check(w, &here, s->items, v->a.items[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_map(struct walk *w, const struct frame *at, const struct schema *s, struct jsn *v)
{
    JSN_FOR_MEMBERS (m, v) {
        struct frame here = {.up = at, .key = m->key};
        int r;

        note_duplicate(w, &here);
        m->value = not_null(w, s->additional, m->value);
        r = check(w, &here, s->additional, m->value);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_struct(struct walk *w, const struct frame *at, const struct schema *s,
                        struct jsn *v)
{
    size_t i = 0;

    while (i < jsn_len(v)) {
        struct jsn_member m = v->o.members[i];
        struct frame here = {.up = at, .owner = s->short_name, .key = m.key};
        const struct schema_property *p = schema_property(s, m.key);
        int r;

        if (!p)
            note(w, "unknown", &here);
        else
            note_duplicate(w, &here);
        if (!p || m.value->type == JSN_NULL) {
            (void)jsn_del_member(v, m.key);
            continue;
        }
        r = check(w, &here, p->schema, m.value);
        if (r < 0)
            return r;
        i++;
    }
    return 0;
}

/* A schema of a CRD, or something simpler in its place. */
static int check_union(struct walk *w, const struct frame *at, const struct schema *s,
                       struct jsn *v)
{
    const struct schema *strings = s->codec == SCHEMA_OR_STRINGS ? s->items : NULL;

    if (v->type == JSN_OBJECT)
        return check(w, at, s->items, v);
    if (s->codec == SCHEMA_OR_BOOL && v->type == JSN_BOOL)
        return 0;
    if (s->codec == SCHEMA_OR_BOOL)
        return err_bad(w->e, "boolean or JSON schema expected");
    if (v->type != JSN_ARRAY)
        return wrong_type(w, at, s, v);
    JSN_FOR_ITEMS (item, v) {
        struct frame here = {.up = at, .index = item_i};
        int r = 0;

        if (strings && item->type != JSN_STRING)
            return wrong_type(w, &here, s, item);
        if (!strings)
            r = check(w, &here, s->items, item);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check(struct walk *w, const struct frame *at, const struct schema *s, struct jsn *v)
{
    assert(s);
    if (s->codec == SCHEMA_OR_BOOL || s->codec == SCHEMA_OR_ARRAY || s->codec == SCHEMA_OR_STRINGS)
        return check_union(w, at, s, v);
    if (s->codec != SCHEMA_PLAIN) {
        int r = type_value_check(w->a, s, v, w->e);

        return r == -ENOTSUP ? wrong_type(w, at, s, v) : r;
    }
    if (s->type == SCHEMA_ARRAY)
        return check_array(w, at, s, v);
    if (s->type == SCHEMA_OBJECT && v->type != JSN_OBJECT)
        return wrong_type(w, at, s, v);
    if (s->type == SCHEMA_OBJECT && s->additional)
        return check_map(w, at, s, v);
    if (s->type == SCHEMA_OBJECT)
        return s->preserve_unknown ? 0 : check_struct(w, at, s, v);
    return scalar_fits(s, v) ? 0 : wrong_type(w, at, s, v);
}

int type_check(struct arena *a, const struct schema *s, struct jsn *object,
               struct type_notes *notes, struct err *e)
{
    struct walk w = {.a = a, .notes = notes, .e = e};

    return check(&w, NULL, s, object);
}
