/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields that a value sets, and sets of fields held against a schema.
 *
 * A leaf is in the set by itself.  Of what is owned part by part the parts are in the set, and an
 * item or a member that the schema does not name also stands there itself: it can come and go,
 * while a declared field is there by declaration.  Items that stand twice are in the set as a whole
 * only.
 */
#include "src/json/apply.h"
#include "src/json/apply_type.h"

struct extractor {
    struct arena *a;
    struct fieldset *set;
    struct err *e;
};

static int extract(struct extractor *x, struct apply_type t, const struct fieldset_path *path,
                   const struct jsn *v);

static bool is_empty_member(const struct jsn *v)
{
    return v->type == JSN_NULL || (v->type == JSN_OBJECT && v->o.n == 0);
}

static int extract_members(struct extractor *x, struct apply_type t,
                           const struct fieldset_path *path, const struct jsn *v)
{
    size_t n;
    struct apply_pair *members = apply_pairs(x->a, v, NULL, &n);

    for (size_t i = 0; i < n; i++) {
        struct fieldset_path here = {path, {.kind = FIELDSET_FIELD, .field = members[i].key}};
        bool declared;
        struct apply_type inner = apply_member_type(t, members[i].key, &declared);
        int r;

        if (is_empty_member(members[i].left) || !declared)
            fieldset_insert(x->a, x->set, &here);
        r = extract(x, inner, &here, members[i].left);
        if (r < 0)
            return r;
    }
    return 0;
}

static int extract_items(struct extractor *x, struct apply_type t, const struct fieldset_path *path,
                         const struct jsn *v)
{
    struct apply_items items;
    int r = apply_items(x->a, t, v, &items, x->e);

    if (r < 0)
        return r;
    for (size_t i = 0; i < items.n; i++) {
        const struct apply_item *item = &items.items[items.sorted[i]];
        struct fieldset_path here = {path, item->element};

        fieldset_insert(x->a, x->set, &here);
        if (items.items[item->first].times > 1)
            continue;
        r = extract(x, apply_item_type(t), &here, item->value);
        if (r < 0)
            return r;
    }
    return 0;
}

static int extract(struct extractor *x, struct apply_type t, const struct fieldset_path *path,
                   const struct jsn *v)
{
    switch (apply_shape_of(t, v)) {
    case APPLY_MAP:
        return extract_members(x, t, path, v);
    case APPLY_KEYED:
    case APPLY_SET:
        return extract_items(x, t, path, v);
    case APPLY_LEAF:
        break;
    }
    fieldset_insert(x->a, x->set, path);
    return 0;
}

int apply_extract(struct arena *a, const struct schema *schema, const struct jsn *v,
                  struct fieldset **ret_set, struct err *e)
{
    struct extractor x = {.a = a, .set = arena_calloc(a, 1, sizeof(struct fieldset)), .e = e};
    int r = extract(&x, apply_type_of(schema), NULL, v);

    if (r < 0)
        return r;
    *ret_set = x.set;
    return 0;
}

/* The type below one step, as far as the schema can tell without a value. */
static struct apply_type step_type(struct apply_type t, const struct fieldset_element *element,
                                   bool *ret_declared)
{
    *ret_declared = false;
    if (element->kind == FIELDSET_FIELD)
        return apply_member_type(t, element->field, ret_declared);
    if (element->kind == FIELDSET_KEY)
        return apply_item_type(t);
    return (struct apply_type){0};
}

static bool owned_as_a_whole(struct apply_type t)
{
    return t.schema && (t.schema->type == SCHEMA_OBJECT || t.schema->type == SCHEMA_ARRAY) &&
           apply_shape_of(t, NULL) == APPLY_LEAF;
}

/* What a walk along the schema does to a field of a set that has fields below it. */
enum retype { NAME_DECLARED, CUT_WHOLE };

static struct fieldset *retype(struct arena *a, struct apply_type t, const struct fieldset *set,
                               enum retype how)
{
    struct fieldset *out = arena_calloc(a, 1, sizeof(*out));

    out->n = out->cap = set->n;
    out->nodes = arena_calloc(a, set->n + 1, sizeof(*out->nodes));
    for (size_t i = 0; i < set->n; i++) {
        bool declared;
        struct apply_type inner = step_type(t, &set->nodes[i].element, &declared);
        bool cut = how == CUT_WHOLE && owned_as_a_whole(inner);

        out->nodes[i] = set->nodes[i];
        if (fieldset_empty(set->nodes[i].children))
            continue;
        if (cut || (how == NAME_DECLARED && declared))
            out->nodes[i].member = true;
        out->nodes[i].children = cut ? NULL : retype(a, inner, set->nodes[i].children, how);
    }
    return out;
}

struct fieldset *apply_name_fields(struct arena *a, const struct schema *schema,
                                   const struct fieldset *set)
{
    return retype(a, apply_type_of(schema), set, NAME_DECLARED);
}

struct fieldset *apply_fit(struct arena *a, const struct schema *schema, const struct fieldset *set)
{
    return retype(a, apply_type_of(schema), set, CUT_WHOLE);
}
