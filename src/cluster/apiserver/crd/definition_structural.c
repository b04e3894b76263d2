/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the schema of a definition is structural.
 *
 * A structural schema says the shape of an object outside of combinations: every field that a
 * combination (allOf, anyOf, oneOf, not) speaks of is declared outside of it, and combinations hold
 * nothing but value checks.  Only then are pruning and defaulting well defined.  The one exception
 * is the anyOf of integer and string that int-or-string fields have.  Complaints are sorted, as
 * Kubernetes does.
 */
#include "src/cluster/apiserver/crd/definition.h"
#include "src/json/pattern.h"

enum level { LEVEL_ROOT, LEVEL_ITEM, LEVEL_FIELD };

static bool ext(const struct jsn *s, const char *key)
{
    const struct jsn *v = jsn_key(s, key);

    return jsn_is(v, JSN_BOOL) && v->b;
}

static const char *type_of(const struct jsn *s)
{
    const char *t = jsn_text(jsn_key(s, "type"));

    return t ? t : "";
}

/* {"type": t} and nothing else. */
static bool is_only_type(const struct jsn *s, const char *t)
{
    return jsn_len(s) == 1 && streq(type_of(s), t);
}

/* anyOf: [{type: integer}, {type: string}] */
static bool is_int_or_string(const struct jsn *s)
{
    const struct jsn *list = jsn_key(s, "anyOf");

    return jsn_len(list) == 2 && is_only_type(jsn_item(list, 0), "integer") &&
           is_only_type(jsn_item(list, 1), "string");
}

static void check_nested(struct causes *cs, const struct place *at, bool skip_any);

/* The value checks of a schema, nested or not. */
static void check_values(struct causes *cs, const struct place *at, bool skip_any,
                         bool skip_first_any)
{
    static const char *const lists[] = {"anyOf", "allOf", "oneOf"};
    struct place negated = place_key(at, "not");
    struct place pattern = place_key(at, "pattern");

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct place list = place_key(at, lists[i]);

        if (i == 0 && skip_any)
            continue;
        PLACE_FOR_ITEMS (item, &list)
            check_nested(cs, &item, i == 1 && skip_first_any && item.index == 0);
    }
    if (place_given(&negated))
        check_nested(cs, &negated, false);
    if (place_filled(&pattern)) {
        AUTO(pattern_free) struct pattern *p = NULL;
        struct err e = {0};

        if (pattern_compile(place_str(&pattern), &p, &e) < 0)
            place_invalid(cs, &pattern, "must be a valid regular expression, but isn't: %s",
                          e.text);
    }
}

/* Keywords that say a shape, and so have no place in a combination. */
static void check_no_shape(struct causes *cs, const struct place *at)
{
    static const struct {
        const char *key, *why;
    } keywords[] = {
        {"type", "must be empty to be structural"},
        {"additionalProperties", "must be undefined to be structural"},
        {"default", "must be undefined to be structural"},
        {"title", "must be empty to be structural"},
        {"description", "must be empty to be structural"},
        {"nullable", "must be false to be structural"},
        {"x-kubernetes-preserve-unknown-fields", "must be false to be structural"},
        {"x-kubernetes-embedded-resource", "must be false to be structural"},
        {"x-kubernetes-int-or-string", "must be false to be structural"},
        {"x-kubernetes-list-map-keys", "must be empty to be structural"},
        {"x-kubernetes-list-type", "must be undefined to be structural"},
        {"x-kubernetes-map-type", "must be undefined to be structural"},
        {"x-kubernetes-validations", "must be empty to be structural"},
    };

    for (size_t i = 0; i < ARRAY_LEN(keywords); i++) {
        struct place p = place_key(at, keywords[i].key);
        const struct jsn *v = p.value;

        if (!place_given(&p) || (v->type == JSN_BOOL && !v->b) ||
            (v->type == JSN_STRING && v->s.n == 0) || (v->type == JSN_ARRAY && v->a.n == 0))
            continue;
        place_forbidden(cs, &p, "%s", keywords[i].why);
    }
}

static void check_nested(struct causes *cs, const struct place *at, bool skip_any)
{
    struct place items = place_key(at, "items");
    struct place properties = place_key(at, "properties");
    struct place meta = {
        .in = &properties, .entry = "metadata", .value = jsn_key(properties.value, "metadata")};

    check_values(cs, at, skip_any, false);
    if (jsn_is(items.value, JSN_OBJECT))
        check_nested(cs, &items, false);
    JSN_FOR_MEMBERS (m, properties.value) {
        struct place p = place_entry(&properties, m);

        check_nested(cs, &p, false);
    }
    check_no_shape(cs, at);
    if (place_given(&meta))
        place_forbidden(cs, &meta, "must not be specified in a nested context");
}

static void check_type_given(struct causes *cs, const struct place *at, enum level level)
{
    static const char *const whys[] = {
        [LEVEL_ROOT] = "must not be empty at the root",
        [LEVEL_ITEM] = "must not be empty for specified array items",
        [LEVEL_FIELD] = "must not be empty for specified object fields",
    };
    struct place type = place_key(at, "type");
    const struct jsn *s = at->value;

    if (ext(s, "x-kubernetes-embedded-resource") && !streq(type_of(s), "object")) {
        static const char why[] = "must be object if x-kubernetes-embedded-resource is true";

        if (place_filled(&type))
            place_invalid(cs, &type, "%s", why);
        else
            place_required(cs, &type, why);
    } else if (!place_filled(&type) && !ext(s, "x-kubernetes-int-or-string") &&
               !ext(s, "x-kubernetes-preserve-unknown-fields")) {
        place_required(cs, &type, whys[level]);
    }
    if (level == LEVEL_ROOT && place_filled(&type) && !streq(type_of(s), "object"))
        place_invalid(cs, &type, "must be object at the root");
}

static void check_extensions(struct causes *cs, const struct place *at)
{
    struct place preserve = place_key(at, "x-kubernetes-preserve-unknown-fields");
    struct place embedded = place_key(at, "x-kubernetes-embedded-resource");
    struct place extra = place_key(at, "additionalProperties");
    struct place properties = place_key(at, "properties");
    bool int_or_string = ext(at->value, "x-kubernetes-int-or-string");

    if (int_or_string && place_true(&preserve))
        place_invalid(cs, &preserve, "must be false if x-kubernetes-int-or-string is true");
    if (int_or_string && place_true(&embedded))
        place_invalid(cs, &embedded, "must be false if x-kubernetes-int-or-string is true");
    if (place_true(&embedded) && place_given(&extra))
        place_forbidden(cs, &extra, "must not be used if x-kubernetes-embedded-resource is set");
    if (place_true(&embedded) && !place_true(&preserve) && jsn_len(properties.value) == 0)
        place_required(cs, &properties,
                       "must not be empty if x-kubernetes-embedded-resource is true without "
                       "x-kubernetes-preserve-unknown-fields");
}

/* Of the root's metadata a definition may restrict the names only. */
static bool is_plain_metadata(const struct jsn *s)
{
    JSN_FOR_MEMBERS (m, s) {
        if (str_eqz(m->key, "type") || str_eqz(m->key, "default"))
            continue;
        if (!str_eqz(m->key, "properties"))
            return false;
        JSN_FOR_MEMBERS (p, m->value)
            if (!str_eqz(p->key, "name") && !str_eqz(p->key, "generateName"))
                return false;
    }
    return true;
}

static void check_resource_fields(struct causes *cs, const struct place *at, enum level level)
{
    static const char *const texts[] = {"kind", "apiVersion"};
    struct place properties = place_key(at, "properties");
    struct place meta = {
        .in = &properties, .entry = "metadata", .value = jsn_key(properties.value, "metadata")};
    struct place meta_type = place_key(&meta, "type");
    bool resource = level == LEVEL_ROOT || ext(at->value, "x-kubernetes-embedded-resource");

    for (size_t i = 0; resource && i < ARRAY_LEN(texts); i++) {
        struct place p = {
            .in = &properties, .entry = texts[i], .value = jsn_key(properties.value, texts[i])};
        struct place type = place_key(&p, "type");

        if (place_given(&p) && !streq(place_str(&type), "string"))
            place_invalid(cs, &type, "must be string");
    }
    if (!place_given(&meta))
        return;
    if (resource && !streq(place_str(&meta_type), "object"))
        place_invalid(cs, &meta_type, "must be object");
    if (level == LEVEL_ROOT && !is_plain_metadata(meta.value))
        place_forbidden(cs, &meta,
                        "must not specify anything other than name and generateName, but metadata "
                        "is implicitly specified");
}

static void check_shape(struct causes *cs, const struct place *at, enum level level)
{
    struct place items = place_key(at, "items");
    struct place properties = place_key(at, "properties");
    struct place extra = place_key(at, "additionalProperties");

    if (streq(type_of(at->value), "array") && !place_given(&items))
        place_required(cs, &items, "must be specified");
    if (jsn_is(items.value, JSN_OBJECT))
        check_shape(cs, &items, LEVEL_ITEM);
    JSN_FOR_MEMBERS (m, properties.value) {
        struct place p = place_entry(&properties, m);

        check_shape(cs, &p, LEVEL_FIELD);
    }
    if (place_given(&extra) && level == LEVEL_ROOT)
        place_forbidden(cs, &extra, "must not be used at the root");
    if (jsn_is(extra.value, JSN_OBJECT))
        check_shape(cs, &extra, LEVEL_FIELD);
    check_values(cs, at, is_int_or_string(at->value),
                 is_int_or_string(jsn_item(jsn_key(at->value, "allOf"), 0)));
    check_type_given(cs, at, level);
    check_extensions(cs, at);
    check_resource_fields(cs, at, level);
}

/* What a combination speaks of must be declared outside of it. */
static void check_complete(struct causes *cs, const struct place *values, const struct place *shape)
{
    static const char *const lists[] = {"allOf", "anyOf", "oneOf"};
    struct place negated = place_key(values, "not");
    struct place items = place_key(values, "items"), shape_items = place_key(shape, "items");
    struct place fields = place_key(values, "properties");
    struct place shape_fields = place_key(shape, "properties");
    bool nested = values->value != shape->value;

    if (!place_given(shape)) {
        place_required(
            cs, shape,
            arena_printf(cs->arena, "because it is defined in %s", place_text(cs, values)));
        return;
    }
    if (place_given(&negated))
        check_complete(cs, &negated, shape);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct place list = place_key(values, lists[i]);

        PLACE_FOR_ITEMS (item, &list)
            check_complete(cs, &item, shape);
    }
    if (!nested)
        return;
    if (jsn_is(items.value, JSN_OBJECT))
        check_complete(cs, &items, &shape_items);
    JSN_FOR_MEMBERS (m, fields.value) {
        struct place field = place_entry(&fields, m);
        struct place declared = {.in = &shape_fields,
                                 .entry = m->key.p,
                                 .value = jsn_member(shape_fields.value, m->key)};

        check_complete(cs, &field, &declared);
    }
}

/* Does it use what is not supported at all?  Then nothing can be said about its structure. */
static bool is_readable(const struct jsn *s)
{
    static const char *const not_supported[] = {
        "id",           "$schema",         "$ref",       "patternProperties",
        "dependencies", "additionalItems", "definitions"};
    static const char *const lists[] = {"allOf", "anyOf", "oneOf"};
    const struct jsn *preserve = jsn_key(s, "x-kubernetes-preserve-unknown-fields");

    if (!jsn_is(s, JSN_OBJECT))
        return !s;
    for (size_t i = 0; i < ARRAY_LEN(not_supported); i++) {
        const struct jsn *v = jsn_key(s, not_supported[i]);

        if (v && v->type != JSN_NULL && !(v->type == JSN_STRING && v->s.n == 0))
            return false;
    }
    if (jsn_is(preserve, JSN_BOOL) && !preserve->b)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        JSN_FOR_ITEMS (item, jsn_key(s, lists[i]))
            if (!is_readable(item))
                return false;
    JSN_FOR_MEMBERS (m, jsn_key(s, "properties"))
        if (!is_readable(m->value))
            return false;
    if (jsn_is(jsn_key(s, "additionalProperties"), JSN_OBJECT) &&
        !is_readable(jsn_key(s, "additionalProperties")))
        return false;
    return is_readable(jsn_key(s, "items")) && is_readable(jsn_key(s, "not"));
}

static int by_text(const void *a, const void *b)
{
    const struct cause *x = a, *y = b;
    int d;

    /* As Kubernetes compares "field: text". */
    d = strcmp(x->field, y->field);
    if (d != 0) {
        size_t n = strlen(x->field), m = strlen(y->field);

        if (n < m && !strncmp(x->field, y->field, n))
            return ':' - (unsigned char)y->field[n];
        if (m < n && !strncmp(x->field, y->field, m))
            return (unsigned char)x->field[m] - ':';
        return d;
    }
    return strcmp(x->text, y->text);
}

bool definition_check_structural(struct causes *cs, const struct place *schema)
{
    struct causes found = {.arena = cs->arena};

    if (!is_readable(schema->value))
        return false;
    check_shape(&found, schema, LEVEL_ROOT);
    check_complete(&found, schema, schema);
    if (found.n > 1)
        qsort(found.items, found.n, sizeof(*found.items), by_text);
    for (size_t i = 0; i < found.n; i++)
        cause_add(cs, found.items[i].reason, found.items[i].field, "%s", found.items[i].text);
    return true;
}
