/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests: a schema from the text of an OpenAPI schema, with Kubernetes' extensions. */
#pragma once

#include "src/json/schema.h"

/* `definitions` resolves "$ref"; may be NULL. */
struct schema_source {
    struct arena *a;
    const struct jsn *definitions;
    struct jsn *done; /* name -> its schema, as a string of the pointer's bytes */
};

static inline const struct schema *schema_from(struct schema_source *src, const struct jsn *v);

static inline enum schema_type schema_from_type(const struct jsn *v)
{
    static const char *const names[] = {"any",     "object", "array",  "string",
                                        "integer", "number", "boolean"};
    const char *type = jsn_get_str(v, "type");

    if (jsn_get_bool(v, "x-kubernetes-int-or-string", false))
        return SCHEMA_INT_OR_STRING;
    for (size_t i = 0; type && i < ARRAY_LEN(names); i++)
        if (streq(type, names[i]))
            return (enum schema_type)i;
    return SCHEMA_ANY;
}

static inline void schema_from_merge(struct schema_source *src, const struct jsn *v,
                                     struct schema *s)
{
    static const char *const names[] = {"", "atomic", "set", "map", "granular"};
    const char *list = jsn_get_str(v, "x-kubernetes-list-type");
    const char *map = jsn_get_str(v, "x-kubernetes-map-type");
    const char *patch = jsn_get_str(v, "x-kubernetes-patch-strategy");
    const struct jsn *keys = jsn_key(v, "x-kubernetes-list-map-keys");

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (streq(list ? list : map, names[i]))
            s->merge = (enum schema_merge)i;
    s->list_keys = arena_calloc(src->a, jsn_len(keys) + 1, sizeof(char *));
    for (size_t i = 0; i < jsn_len(keys); i++)
        s->list_keys[i] = jsn_text(jsn_item(keys, i));
    if (patch && strstr(patch, "merge"))
        s->patch |= SCHEMA_PATCH_MERGE;
    if (patch && strstr(patch, "replace"))
        s->patch |= SCHEMA_PATCH_REPLACE;
    if (patch && strstr(patch, "retainKeys"))
        s->patch |= SCHEMA_PATCH_RETAIN_KEYS;
    s->patch_key = jsn_get_str(v, "x-kubernetes-patch-merge-key");
}

static inline void schema_from_children(struct schema_source *src, const struct jsn *v,
                                        struct schema *s)
{
    const struct jsn *properties = jsn_key(v, "properties");

    s->properties = arena_calloc(src->a, jsn_len(properties) + 1, sizeof(*s->properties));
    JSN_FOR_MEMBERS (m, properties) {
        struct schema_property *p = &s->properties[s->n_properties++];

        p->name = m->key;
        p->schema = schema_from(src, m->value);
    }
    if (jsn_is(jsn_key(v, "additionalProperties"), JSN_OBJECT))
        s->additional = schema_from(src, jsn_key(v, "additionalProperties"));
    if (jsn_key(v, "items"))
        s->items = schema_from(src, jsn_key(v, "items"));
}

/* A definition is read once, so that recursive ones end. */
static inline const struct schema *schema_from_ref(struct schema_source *src, const char *ref)
{
    const char *name = strrchr(ref, '/') + 1;
    const struct jsn *seen = jsn_key(src->done, name);
    const struct schema *s;

    if (!seen) {
        struct schema *copy = arena_calloc(src->a, 1, sizeof(*copy));

        s = copy;
        jsn_set(src->a, src->done, name, jsn_str(src->a, (struct str){(char *)&s, sizeof(s)}));
        *copy = *schema_from(src, jsn_key(src->definitions, name));
        return s;
    }
    memcpy(&s, seen->s.p, sizeof(s));
    return s;
}

static inline const struct schema *schema_from(struct schema_source *src, const struct jsn *v)
{
    const char *ref = jsn_get_str(v, "$ref");
    struct schema *s = arena_calloc(src->a, 1, sizeof(*s));

    if (!src->done)
        src->done = jsn_object(src->a);
    if (ref)
        *s = *schema_from_ref(src, ref);
    else
        s->type = schema_from_type(v);
    s->format = ref ? s->format : jsn_get_str(v, "format");
    if (!ref) {
        s->preserve_unknown = jsn_get_bool(v, "x-kubernetes-preserve-unknown-fields", false);
        s->embedded_resource = jsn_get_bool(v, "x-kubernetes-embedded-resource", false);
        s->nullable = jsn_get_bool(v, "nullable", false);
        s->default_value = jsn_key(v, "default");
        schema_from_children(src, v, s);
    }
    if (!ref || jsn_key(v, "x-kubernetes-patch-strategy"))
        schema_from_merge(src, v, s);
    return s;
}

static inline const struct schema *schema_from_text(struct arena *a, const char *text)
{
    struct schema_source src = {.a = a};
    struct err e = {0};
    struct jsn *v;

    if (jsn_parse(a, str_of(text), NULL, &v, &e) < 0)
        abort();
    return schema_from(&src, v);
}
