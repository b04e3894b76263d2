/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kinds from CRDs as OpenAPI.
 *
 * Version 3 shows the CRD's own schema.  Version 2 cannot say everything that a CRD can, and
 * kubectl stumbles over some of the rest, so there: the junctors (allOf, anyOf, oneOf, not),
 * and defaults of CRDs go; what is nullable loses its type and all below it; what preserves unknown
 * fields loses items and properties, and its type if that is object; an array without items loses
 * its type.  Of a kind that preserves unknown fields as a whole it only says that it is an object.
 * apiVersion, kind and metadata are Kubernetes' own in both.
 */
#include "src/cluster/apiserver/types/openapi_build.h"

static struct jsn *v2_node(struct openapi_build *b, const struct schema *s);

/* Keywords that are copied to version 2 as they are. */
static bool is_plain_keyword(struct str key)
{
    static const char *const names[] = {
        "title",      "description", "format",        "pattern",          "maximum",
        "minimum",    "maxLength",   "minLength",     "exclusiveMaximum", "exclusiveMinimum",
        "maxItems",   "minItems",    "maxProperties", "minProperties",    "uniqueItems",
        "multipleOf", "enum",
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eqz(key, names[i]))
            return true;
    return str_starts(key, "x-kubernetes-");
}

static void copy_keywords(struct openapi_build *b, struct jsn *o, const struct jsn *source)
{
    JSN_FOR_MEMBERS (m, source)
        if (is_plain_keyword(m->key))
            jsn_set_member(b->a, o, m->key, m->value);
}

/* Required names, without those of nullable properties. */
static void v2_required(struct openapi_build *b, struct jsn *o, const struct schema *s)
{
    struct jsn *list = jsn_array(b->a);

    for (const char **name = s->required; name && *name; name++) {
        const struct schema *member = schema_member(s, str_of(*name));

        if (!member || !member->nullable)
            jsn_append(b->a, list, jsn_string(b->a, *name));
    }
    if (jsn_len(list))
        jsn_set(b->a, o, "required", list);
}

static void v2_properties(struct openapi_build *b, struct jsn *o, const struct schema *s)
{
    struct jsn *props = jsn_object(b->a);

    for (size_t i = 0; i < s->n_properties; i++) {
        const struct schema *p = s->properties[i].schema;

        jsn_set_member(b->a, props, s->properties[i].name,
                       p->source ? v2_node(b, p) : openapi_use(b, p));
    }
    if (jsn_len(props))
        jsn_set(b->a, o, "properties", props);
}

static struct jsn *v2_node(struct openapi_build *b, const struct schema *s)
{
    const char *type = jsn_get_str(s->source, "type");
    struct jsn *o = jsn_object(b->a);
    bool below = !s->nullable && !s->preserve_unknown;

    copy_keywords(b, o, s->source);
    if (s->nullable || (s->preserve_unknown && streq(type, "object")) ||
        (streq(type, "array") && (!s->items || !below)))
        type = NULL;
    if (type && s->type != SCHEMA_INT_OR_STRING)
        jsn_set_str(b->a, o, "type", type);
    v2_required(b, o, s);
    if (!below)
        return o;
    v2_properties(b, o, s);
    if (s->items)
        jsn_set(b->a, o, "items", v2_node(b, s->items));
    if (s->additional && s->additional->source)
        jsn_set(b->a, o, "additionalProperties", v2_node(b, s->additional));
    else if (s->additional)
        jsn_set_bool(b->a, o, "additionalProperties", true);
    return o;
}

/* The root of a version 3 schema: the CRD's, with the properties of every object. */
static struct jsn *v3_root(struct openapi_build *b, const struct schema *s)
{
    struct jsn *o = jsn_object(b->a), *props = jsn_object(b->a);

    JSN_FOR_MEMBERS (m, s->source)
        jsn_set_member(b->a, o, m->key, m->value);
    for (size_t i = 0; i < s->n_properties; i++) {
        const struct schema *p = s->properties[i].schema;
        struct jsn *shown = p->source ? jsn_get(s->source, "properties") : NULL;

        shown = shown ? jsn_member(shown, s->properties[i].name) : openapi_use(b, p);
        jsn_set_member(b->a, props, s->properties[i].name, shown);
    }
    jsn_set_str(b->a, o, "type", "object");
    jsn_set(b->a, o, "properties", props);
    return o;
}

struct jsn *openapi_custom(struct openapi_build *b, const struct schema *s)
{
    struct jsn *o;

    if (b->v3)
        return v3_root(b, s);
    if (s->preserve_unknown) {
        o = jsn_object(b->a);
        jsn_set_str(b->a, o, "type", "object");
        return o;
    }
    return v2_node(b, s);
}
