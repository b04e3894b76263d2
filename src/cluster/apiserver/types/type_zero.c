/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Defaults and zero values of built-in objects.
 *
 * Go knows "not given" only where a field is a pointer.  Elsewhere an empty text, 0, false, an
 * empty list or map count as not given: a default fills them, and the encoder leaves them out or
 * writes them always, as the field's tag says.  The tables have these tags (ptr, always).  A struct
 * that is no pointer is always there, so defaults inside it apply even where nobody wrote it.
 */
#include "src/cluster/apiserver/types/type.h"

static bool is_struct(const struct schema *s)
{
    return s->type == SCHEMA_OBJECT && s->codec == SCHEMA_PLAIN && !s->additional &&
           !s->preserve_unknown;
}

bool type_is_zero(const struct schema *s, const struct jsn *v)
{
    if (!v)
        return true;
    switch (v->type) {
    case JSN_NULL:
        return true;
    case JSN_BOOL:
        return !v->b && s->codec == SCHEMA_PLAIN;
    case JSN_INT:
        return v->i == 0 && s->codec == SCHEMA_PLAIN;
    case JSN_REAL:
        return v->d == 0 && s->codec == SCHEMA_PLAIN;
    case JSN_STRING:
        return v->s.n == 0 && (s->codec == SCHEMA_PLAIN || s->codec == SCHEMA_BYTES);
    case JSN_ARRAY:
        return v->a.n == 0 && s->type == SCHEMA_ARRAY;
    case JSN_OBJECT:
        return v->o.n == 0 && s->type == SCHEMA_OBJECT && s->additional;
    }
    return false;
}

struct jsn *type_zero(struct arena *a, const struct schema *s)
{
    if (s->codec == SCHEMA_QUANTITY)
        return jsn_string(a, "0");
    if (s->codec == SCHEMA_IS_INT_OR_STRING)
        return jsn_int(a, 0);
    if (s->codec != SCHEMA_PLAIN && s->codec != SCHEMA_BYTES)
        return jsn_null(a);
    if (s->type == SCHEMA_STRING)
        return jsn_string(a, "");
    if (s->type == SCHEMA_INTEGER || s->type == SCHEMA_NUMBER)
        return jsn_int(a, 0);
    if (s->type == SCHEMA_BOOLEAN)
        return jsn_bool(a, false);
    return is_struct(s) ? jsn_object(a) : jsn_null(a);
}

static void each_child(struct arena *a, const struct schema *s, struct jsn *v,
                       void (*fn)(struct arena *, const struct schema *, struct jsn *))
{
    const struct schema *inner = s->type == SCHEMA_ARRAY ? s->items : s->additional;

    JSN_FOR_ITEMS (item, v)
        fn(a, inner, item);
    JSN_FOR_MEMBERS (m, v)
        fn(a, inner, m->value);
}

static bool is_container(const struct schema *s)
{
    return s->codec == SCHEMA_PLAIN &&
           ((s->type == SCHEMA_ARRAY && s->items) || (s->type == SCHEMA_OBJECT && s->additional));
}

static void default_property(struct arena *a, const struct schema_property *p, struct jsn *object)
{
    const struct jsn *given = jsn_member(object, p->name);
    const struct jsn *value = p->schema->default_value;

    if (given && (p->pointer || !type_is_zero(p->schema, given)))
        return;
    if (value && (p->pointer || p->always || !type_is_zero(p->schema, value)))
        jsn_set_member(a, object, p->name, jsn_clone(a, value));
    else if (!given && p->always && !p->pointer && is_struct(p->schema))
        jsn_set_member(a, object, p->name, jsn_object(a));
}

void type_default(struct arena *a, const struct schema *s, struct jsn *object)
{
    if (is_container(s)) {
        each_child(a, s, object, type_default);
        return;
    }
    if (!is_struct(s) || !jsn_is(object, JSN_OBJECT))
        return;
    for (size_t i = 0; i < s->n_properties; i++) {
        const struct schema_property *p = &s->properties[i];
        struct jsn *child;

        default_property(a, p, object);
        child = jsn_member(object, p->name);
        if (child)
            type_default(a, p->schema, child);
    }
}

static void encode_property(struct arena *a, const struct schema_property *p, struct jsn *object)
{
    struct jsn *v = jsn_member(object, p->name);

    if (v && !p->pointer && !p->always && type_is_zero(p->schema, v)) {
        (void)jsn_del_member(object, p->name);
        return;
    }
    if (!v && p->always) {
        v = p->pointer ? jsn_null(a) : type_zero(a, p->schema);
        jsn_set_member(a, object, p->name, v);
    }
    if (v)
        type_encode(a, p->schema, v);
}

void type_encode(struct arena *a, const struct schema *s, struct jsn *object)
{
    if (is_container(s)) {
        each_child(a, s, object, type_encode);
        return;
    }
    if (!is_struct(s) || !jsn_is(object, JSN_OBJECT))
        return;
    for (size_t i = 0; i < s->n_properties; i++)
        encode_property(a, &s->properties[i], object);
}
