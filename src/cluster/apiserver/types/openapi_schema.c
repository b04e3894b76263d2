/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Schemas of built-in types as OpenAPI.
 *
 * Named types become definitions and are referred to; a field's own description goes beside the
 * reference, which version 3 allows only around an allOf.  Merge keys and list types are published
 * as kubectl and other clients expect them: they compute strategic merge patches with these.
 */
#include "src/cluster/apiserver/types/openapi_build.h"

static const char *type_name(enum schema_type type)
{
    static const char *const names[] = {
        [SCHEMA_OBJECT] = "object",   [SCHEMA_ARRAY] = "array",      [SCHEMA_STRING] = "string",
        [SCHEMA_INTEGER] = "integer", [SCHEMA_NUMBER] = "number",    [SCHEMA_BOOLEAN] = "boolean",
        [SCHEMA_ANY] = NULL,          [SCHEMA_INT_OR_STRING] = NULL,
    };

    return names[type];
}

struct jsn *openapi_gvk(struct arena *a, const char *group, const char *version, const char *kind)
{
    struct jsn *o = jsn_object(a);

    jsn_set_str(a, o, "group", group);
    jsn_set_str(a, o, "kind", kind);
    jsn_set_str(a, o, "version", version);
    return o;
}

static void set_text(struct arena *a, struct jsn *o, const char *key, const char *text)
{
    if (text)
        jsn_set_str(a, o, key, text);
}

static struct jsn *strings(struct arena *a, const char *const *list)
{
    struct jsn *v = jsn_array(a);

    for (; list && *list; list++)
        jsn_append(a, v, jsn_string(a, *list));
    return v;
}

static void set_patch(struct arena *a, struct jsn *o, const struct schema *s)
{
    bool merge = s->patch & SCHEMA_PATCH_MERGE, retain = s->patch & SCHEMA_PATCH_RETAIN_KEYS;

    set_text(a, o, "x-kubernetes-patch-merge-key", s->patch_key);
    if (s->patch & SCHEMA_PATCH_REPLACE)
        jsn_set_str(a, o, "x-kubernetes-patch-strategy", "replace");
    else if (merge || retain)
        jsn_set_str(a, o, "x-kubernetes-patch-strategy",
                    merge && retain ? "merge,retainKeys"
                    : merge         ? "merge"
                                    : "retainKeys");
}

/* The extensions about merging. */
static void set_merge(struct arena *a, struct jsn *o, const struct schema *s)
{
    bool list = s->type == SCHEMA_ARRAY;

    if (s->merge == SCHEMA_MERGE_MAP) {
        jsn_set(a, o, "x-kubernetes-list-map-keys", strings(a, s->list_keys));
        jsn_set_str(a, o, "x-kubernetes-list-type", "map");
    } else if (s->merge == SCHEMA_MERGE_SET) {
        jsn_set_str(a, o, "x-kubernetes-list-type", "set");
    } else if (s->merge == SCHEMA_MERGE_ATOMIC) {
        jsn_set_str(a, o, list ? "x-kubernetes-list-type" : "x-kubernetes-map-type", "atomic");
    } else if (s->merge == SCHEMA_MERGE_GRANULAR) {
        jsn_set_str(a, o, "x-kubernetes-map-type", "granular");
    }
    set_patch(a, o, s);
}

/* A number or a text: version 2 has no oneOf. */
static struct jsn *either(struct openapi_build *b, const char *other)
{
    struct jsn *list = jsn_array(b->a);
    const char *const names[] = {other, "string"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct jsn *o = jsn_object(b->a);

        jsn_set_str(b->a, o, "type", names[i]);
        jsn_append(b->a, list, o);
    }
    return list;
}

static void set_type(struct openapi_build *b, struct jsn *o, const struct schema *s)
{
    bool number = s->codec == SCHEMA_IS_INT_OR_STRING, quantity = s->codec == SCHEMA_QUANTITY;

    set_text(b->a, o, "format", s->format);
    if ((number || quantity) && b->v3)
        jsn_set(b->a, o, "oneOf", either(b, number ? "integer" : "number"));
    else if (number)
        jsn_set_str(b->a, o, "type", "string");
    else
        set_text(b->a, o, "type", type_name(s->type));
}

static void set_properties(struct openapi_build *b, struct jsn *o, const struct schema *s)
{
    struct jsn *props = jsn_object(b->a), *required = jsn_array(b->a);

    for (size_t i = 0; i < s->n_properties; i++) {
        const struct schema_property *p = &s->properties[i];

        jsn_set_member(b->a, props, p->name, openapi_use(b, p->schema));
        if (p->required)
            jsn_append(b->a, required, jsn_str(b->a, p->name));
    }
    if (jsn_len(props))
        jsn_set(b->a, o, "properties", props);
    if (jsn_len(required))
        jsn_set(b->a, o, "required", required);
}

/* The schema itself, as a definition or where it is used. */
static struct jsn *write_schema(struct openapi_build *b, const struct schema *s)
{
    struct jsn *o = jsn_object(b->a);

    set_text(b->a, o, "description", s->description);
    set_type(b, o, s);
    if (s->codec == SCHEMA_PLAIN) {
        set_properties(b, o, s);
        if (s->additional)
            jsn_set(b->a, o, "additionalProperties", openapi_use(b, s->additional));
        if (s->items)
            jsn_set(b->a, o, "items", openapi_use(b, s->items));
    }
    if (b->v3 && s->enum_values)
        jsn_set(b->a, o, "enum", jsn_clone(b->a, s->enum_values));
    if (b->v3 && s->default_value)
        jsn_set(b->a, o, "default", jsn_clone(b->a, s->default_value));
    if (s->preserve_unknown && s->codec == SCHEMA_PLAIN)
        jsn_set_bool(b->a, o, "x-kubernetes-preserve-unknown-fields", true);
    set_merge(b->a, o, s);
    return o;
}

static void add_definition(struct openapi_build *b, const struct schema *s)
{
    struct jsn *def, *gvk;

    if (map_get(&b->seen, str_of(s->name)))
        return;
    map_put(&b->seen, str_of(s->name), b);
    def = s->source ? openapi_custom(b, s) : write_schema(b, s);
    if (s->group) {
        gvk = jsn_array(b->a);
        jsn_append(b->a, gvk, openapi_gvk(b->a, s->group, s->version, s->short_name));
        jsn_set(b->a, def, "x-kubernetes-group-version-kind", gvk);
    }
    jsn_set(b->a, b->definitions, s->name, def);
}

static struct jsn *reference(struct openapi_build *b, const struct schema *s)
{
    struct jsn *o = jsn_object(b->a);

    add_definition(b, s);
    jsn_set(b->a, o, "$ref",
            jsn_stringf(b->a, "#/%s/%s", b->v3 ? "components/schemas" : "definitions", s->name));
    return o;
}

/* A reference with what a field says about itself. */
static struct jsn *refined(struct openapi_build *b, const struct schema *s)
{
    const struct schema *base = s->refines;
    struct jsn *o = reference(b, base), *list;

    if (b->v3) {
        list = jsn_array(b->a);
        jsn_append(b->a, list, o);
        o = jsn_object(b->a);
        jsn_set(b->a, o, "allOf", list);
        if (s->default_value)
            jsn_set(b->a, o, "default", jsn_clone(b->a, s->default_value));
    }
    if (s->description != base->description)
        set_text(b->a, o, "description", s->description);
    if (s->merge != base->merge)
        set_merge(b->a, o, s);
    else
        set_patch(b->a, o, s);
    return o;
}

struct jsn *openapi_use(struct openapi_build *b, const struct schema *s)
{
    if (s->refines)
        return refined(b, s);
    return s->name ? reference(b, s) : write_schema(b, s);
}
