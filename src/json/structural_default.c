/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Defaulting by a structural schema.
 *
 * Two passes, as kube-apiserver does it.  The first takes null away where it is neither allowed nor
 * replaced by a default; items of lists keep it, so that validation names them.  The second fills
 * in: an object gets the defaults of the properties that it lacks (or has as null where that is not
 * allowed), then every member is visited, those just filled in included.
 */
#include "src/json/structural.h"

static bool may_not_be_null(const struct jsn *v, const struct schema *s)
{
    return jsn_is(v, JSN_NULL) && s && !s->nullable;
}

static bool has_default(const struct schema *s)
{
    return s->default_value && !jsn_is(s->default_value, JSN_NULL);
}

static void drop_nulls(struct jsn *v, const struct schema *s);

static bool keep_unless_null(const struct jsn_member *m, const void *context)
{
    const struct schema *s = schema_member(context, m->key);

    if (may_not_be_null(m->value, s) && !has_default(s))
        return false;
    drop_nulls(m->value, s);
    return true;
}

static void drop_nulls(struct jsn *v, const struct schema *s)
{
    if (!s || s->codec != SCHEMA_PLAIN)
        return;
    if (jsn_is(v, JSN_OBJECT))
        jsn_keep_members(v, keep_unless_null, s);
    JSN_FOR_ITEMS (item, v)
        drop_nulls(item, s->items);
}

static void fill(struct arena *a, struct jsn *v, const struct schema *s);

static void fill_properties(struct arena *a, struct jsn *v, const struct schema *s)
{
    for (size_t i = 0; i < s->n_properties; i++) {
        const struct schema_property *p = &s->properties[i];
        const struct jsn *now;

        if (!p->schema || !has_default(p->schema))
            continue;
        now = jsn_member(v, p->name);
        if (!now || may_not_be_null(now, p->schema))
            jsn_set_member(a, v, p->name, jsn_clone(a, p->schema->default_value));
    }
}

static void fill_object(struct arena *a, struct jsn *v, const struct schema *s)
{
    fill_properties(a, v, s);
    JSN_FOR_MEMBERS (m, v) {
        const struct schema *child = schema_member(s, m->key);

        if (may_not_be_null(m->value, child) && has_default(child))
            m->value = jsn_clone(a, child->default_value);
        fill(a, m->value, child);
    }
}

static void fill(struct arena *a, struct jsn *v, const struct schema *s)
{
    if (!s || s->codec != SCHEMA_PLAIN)
        return;
    if (jsn_is(v, JSN_OBJECT))
        fill_object(a, v, s);
    for (size_t i = 0; s->items && jsn_is(v, JSN_ARRAY) && i < v->a.n; i++) {
        if (may_not_be_null(v->a.items[i], s->items) && has_default(s->items))
            v->a.items[i] = jsn_clone(a, s->items->default_value);
        fill(a, v->a.items[i], s->items);
    }
}

/* metadata has a schema of its own, which is not the resource's to apply. */
static const struct schema *root_member(const struct schema *s, struct str key)
{
    return str_eqz(key, "metadata") ? NULL : schema_member(s, key);
}

static bool keep_in_root(const struct jsn_member *m, const void *context)
{
    const struct schema *s = root_member(context, m->key);

    if (may_not_be_null(m->value, s) && !has_default(s))
        return false;
    drop_nulls(m->value, s);
    return true;
}

void schema_drop_nulls(struct jsn *object, const struct schema *s)
{
    if (jsn_is(object, JSN_OBJECT) && s)
        jsn_keep_members(object, keep_in_root, s);
}

void schema_default(struct arena *a, struct jsn *object, const struct schema *s)
{
    if (!jsn_is(object, JSN_OBJECT) || !s)
        return;
    schema_drop_nulls(object, s);
    fill_properties(a, object, s);
    JSN_FOR_MEMBERS (m, object)
        fill(a, m->value, root_member(s, m->key));
}
