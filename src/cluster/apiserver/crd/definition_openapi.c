/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What OpenAPI v3 and Kubernetes' extensions allow in the schema of a definition.
 *
 * The walk goes through every schema in the document: properties, items, additionalProperties and
 * the combinations.  On its way down it remembers whether it is inside the metadata of a resource
 * (the root or an embedded one) and whether defaults are forbidden, and why.
 */
#include "src/cluster/apiserver/crd/definition.h"
#include "src/cluster/apiserver/gotext.h"
#include "src/json/cel.h"

struct walk {
    bool root;
    bool inside_meta;
    const char *no_defaults; /* why; NULL: they are allowed */
};

static void check(struct causes *cs, const struct place *at, struct walk w);

static bool has(const struct place *at, const char *key)
{
    const struct jsn *v = jsn_key(at->value, key);

    return v && v->type != JSN_NULL;
}

static void check_type(struct causes *cs, const struct place *at)
{
    static const char *const types[] = {"array",  "boolean", "integer", "number",
                                        "object", "string",  NULL};
    struct place type = place_key(at, "type");

    check_enum(cs, &type, types);
}

static void check_unsupported(struct causes *cs, const struct place *at)
{
    static const char *const keys[] = {"id",          "additionalItems", "patternProperties",
                                       "definitions", "dependencies",    "$ref"};
    struct place type = place_key(at, "type");
    struct place items = place_key(at, "items");

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct place p = place_key(at, keys[i]);

        if (place_given(&p) && !(jsn_is(p.value, JSN_STRING) && !place_filled(&p)))
            place_forbidden(cs, &p, "%s is not supported", keys[i]);
    }
    if (streq(place_str(&type), "null"))
        place_forbidden(cs, &type, "type cannot be set to null, use nullable as an alternative");
    if (jsn_is(items.value, JSN_ARRAY))
        place_forbidden(cs, &items, "items must be a schema object and not an array");
}

static void check_keywords(struct causes *cs, const struct place *at, const struct walk *w)
{
    struct place preset = place_key(at, "default");
    struct place embedded = place_key(at, "x-kubernetes-embedded-resource");
    struct place unique = place_key(at, "uniqueItems");
    struct place extra = place_key(at, "additionalProperties");

    check_type(cs, at);
    if (place_given(&preset) && w->no_defaults)
        place_forbidden(cs, &preset, "must not be set %s", w->no_defaults);
    check_unsupported(cs, at);
    if (w->inside_meta && place_true(&embedded))
        place_forbidden(cs, &embedded, "must not be used inside of resource meta");
    if (place_true(&unique))
        place_forbidden(cs, &unique,
                        "uniqueItems cannot be set to true since the runtime complexity becomes "
                        "quadratic");
    if (place_given(&extra) && jsn_len(jsn_key(at->value, "properties")) > 0 && !place_true(&extra))
        place_forbidden(cs, &extra, "additionalProperties and properties are mutual exclusive");
}

static void check_additional(struct causes *cs, const struct place *at, struct walk w)
{
    struct place extra = place_key(at, "additionalProperties");

    w.root = false;
    if (w.inside_meta)
        w.no_defaults = "inside additionalProperties applying to object metadata";
    if (jsn_is(extra.value, JSN_OBJECT))
        check(cs, &extra, w);
}

static void check_properties(struct causes *cs, const struct place *at, const struct walk *w)
{
    struct place properties = place_key(at, "properties");
    bool resource = w->root || jsn_get_bool(at->value, "x-kubernetes-embedded-resource", false);

    JSN_FOR_MEMBERS (m, properties.value) {
        struct place p = place_entry(&properties, m);
        struct walk inner = {.inside_meta = w->inside_meta, .no_defaults = w->no_defaults};

        if (resource && (streq(p.entry, "metadata") || streq(p.entry, "kind") ||
                         streq(p.entry, "apiVersion"))) {
            inner.inside_meta = true;
            if (w->root)
                inner.no_defaults = arena_printf(cs->arena, "in top-level %s", p.entry);
        }
        check(cs, &p, inner);
    }
}

static void check_children(struct causes *cs, const struct place *at, struct walk w)
{
    static const char *const lists[] = {"allOf", "oneOf", "anyOf"};
    struct place negated = place_key(at, "not");
    struct place items = place_key(at, "items");

    w.root = false;
    if (place_given(&negated))
        check(cs, &negated, w);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct place list = place_key(at, lists[i]);

        PLACE_FOR_ITEMS (item, &list)
            check(cs, &item, w);
    }
    if (jsn_is(items.value, JSN_OBJECT))
        check(cs, &items, w);
}

static void check_extension_type(struct causes *cs, const struct place *at, const char *key,
                                 const char *want)
{
    struct place extension = place_key(at, key);
    struct place type = place_key(at, "type");
    const char *why = arena_printf(cs->arena, "must be %s if %s is specified", want, key);

    if (!place_given(&extension) || streq(place_str(&type), want))
        return;
    if (place_filled(&type))
        place_invalid(cs, &type, "%s", why);
    else
        place_required(cs, &type, why);
}

/* Items of a set are compared as wholes, so that nobody may own a part of one. */
static void check_set_items(struct causes *cs, const struct place *items)
{
    static const char why[] = "must be atomic as item of a list with x-kubernetes-list-type=set";
    struct place type = place_key(items, "type");
    struct place list_type = place_key(items, "x-kubernetes-list-type");
    struct place map_type = place_key(items, "x-kubernetes-map-type");

    if (streq(place_str(&type), "array") && place_given(&list_type) &&
        !streq(place_str(&list_type), "atomic"))
        place_invalid(cs, &list_type, "%s", why);
    if (streq(place_str(&type), "object") && !streq(place_str(&map_type), "atomic"))
        place_invalid_text(cs, &map_type, "null", "%s", why);
}

static void check_list_keys(struct causes *cs, const struct place *at)
{
    struct place keys = place_key(at, "x-kubernetes-list-map-keys");
    struct place type = place_key(at, "x-kubernetes-list-type");

    if (jsn_len(keys.value) == 0 || streq(place_str(&type), "map"))
        return;
    if (place_given(&type))
        place_invalid(cs, &type, "must be map if x-kubernetes-list-map-keys is non-empty");
    else
        place_required(cs, &type, "must be map if x-kubernetes-list-map-keys is non-empty");
}

/* The properties that identify an item: scalars, each named once. */
static void check_key_names(struct causes *cs, const struct place *at, const struct place *items)
{
    struct place keys = place_key(at, "x-kubernetes-list-map-keys");
    struct place properties = place_key(items, "properties");

    PLACE_FOR_ITEMS (key, &keys) {
        struct place p = {.in = &properties,
                          .entry = place_str(&key),
                          .value = jsn_key(properties.value, place_str(&key))};
        struct place type = place_key(&p, "type");
        size_t twin = 0;

        if (!place_given(&p))
            place_invalid_text(cs, &keys, gotext_value(cs->arena, keys.value),
                               "entries must all be names of item properties");
        else if (streq(place_str(&type), "array") || streq(place_str(&type), "object"))
            place_invalid_text(cs, &type, "\"object\"",
                               "must be a scalar type if parent array's x-kubernetes-list-type is "
                               "map");
        while (twin < key.index && !streq(jsn_text(jsn_item(keys.value, twin)), place_str(&key)))
            twin++;
        if (twin < key.index)
            place_invalid_text(cs, &keys, gotext_value(cs->arena, keys.value),
                               "must not contain duplicate entries");
    }
}

static void check_list_map(struct causes *cs, const struct place *at)
{
    struct place keys = place_key(at, "x-kubernetes-list-map-keys");
    struct place items = place_key(at, "items");
    struct place type = place_key(&items, "type");

    if (jsn_len(keys.value) == 0)
        place_required(cs, &keys, "must not be empty if x-kubernetes-list-type is map");
    if (!place_given(&items))
        place_required(cs, &items, "must have a schema if x-kubernetes-list-type is map");
    if (!jsn_is(items.value, JSN_OBJECT))
        return;
    if (!streq(place_str(&type), "object"))
        place_invalid(cs, &type, "must be object if parent array's x-kubernetes-list-type is map");
    else
        check_key_names(cs, at, &items);
}

static bool is_listed(const struct jsn *list, const char *text)
{
    JSN_FOR_ITEMS (item, list)
        if (streq(jsn_text(item), text))
            return true;
    return false;
}

/* Keys must be there in every item: required or defaulted, and never null. */
static void check_keys_present(struct causes *cs, const struct place *at, const char *list_type)
{
    struct place keys = place_key(at, "x-kubernetes-list-map-keys");
    struct place items = place_key(at, "items");
    struct place nullable = place_key(&items, "nullable");
    struct place properties = place_key(&items, "properties");

    if (place_true(&nullable))
        place_forbidden(cs, &nullable, "cannot be nullable when x-kubernetes-list-type is %s",
                        list_type);
    PLACE_FOR_ITEMS (key, &keys) {
        struct place p = {.in = &properties,
                          .entry = place_str(&key),
                          .value = jsn_key(properties.value, place_str(&key))};
        struct place preset = place_key(&p, "default");
        struct place null = place_key(&p, "nullable");

        if (!place_given(&p) || !streq(list_type, "map"))
            continue;
        if (!place_given(&preset) && !is_listed(jsn_key(items.value, "required"), p.entry))
            place_required(cs, &preset,
                           "this property is in x-kubernetes-list-map-keys, so it must have a "
                           "default or be a required property");
        if (place_true(&null))
            place_forbidden(cs, &null,
                            "this property is in x-kubernetes-list-map-keys, so it cannot be "
                            "nullable");
    }
}

static void check_merging(struct causes *cs, const struct place *at)
{
    static const char *const maps[] = {"atomic", "granular", NULL};
    static const char *const lists[] = {"atomic", "set", "map", NULL};
    struct place map_type = place_key(at, "x-kubernetes-map-type");
    struct place list_type = place_key(at, "x-kubernetes-list-type");
    struct place type = place_key(at, "type");
    struct place items = place_key(at, "items");
    const char *list = place_str(&list_type);

    check_extension_type(cs, at, "x-kubernetes-map-type", "object");
    if (place_given(&map_type))
        check_enum(cs, &map_type, maps);
    check_extension_type(cs, at, "x-kubernetes-list-type", "array");
    if (streq(place_str(&type), "array") && streq(list, "set"))
        check_set_items(cs, &items);
    if (place_given(&list_type))
        check_enum(cs, &list_type, lists);
    check_list_keys(cs, at);
    if (streq(list, "map"))
        check_list_map(cs, at);
    if ((streq(list, "map") || streq(list, "set")) && jsn_is(items.value, JSN_OBJECT))
        check_keys_present(cs, at, list);
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

/* What is no CEL, and what can never work, is refused; what is only unknown here is kept, and
 * warned about. */
static void check_expression(struct causes *cs, const struct place *rule, const struct jsn *schema,
                             bool root)
{
    bool is_bool = true;
    struct cel *c;
    struct err e = {0};
    int r;

    if (is_blank(place_str(rule)))
        return;
    r = cel_compile(cs->arena, place_str(rule), &c, &e);
    if (r == 0)
        r = cel_check(cs->arena, c, schema, root, &is_bool, &e);
    if (r == -EINVAL)
        place_invalid(cs, rule, "compilation failed: %s", e.text);
    else if (r == 0 && !is_bool)
        place_invalid(cs, rule, "cel expression must evaluate to a bool");
}

static void check_rule(struct causes *cs, const struct place *at, const struct jsn *schema,
                       bool root)
{
    static const char *const reasons[] = {"FieldValueDuplicate", "FieldValueForbidden",
                                          "FieldValueInvalid", "FieldValueRequired", NULL};
    struct place rule = place_key(at, "rule");
    struct place message = place_key(at, "message");
    struct place reason = place_key(at, "reason");
    bool lines = strpbrk(place_str(&rule), "\r\n") != NULL;

    if (is_blank(place_str(&rule)))
        place_required(cs, &rule, "rule is not specified");
    else if (place_filled(&message) && is_blank(place_str(&message)))
        place_invalid(cs, &message, "message must be non-empty if specified");
    else if (strpbrk(place_str(&message), "\r\n"))
        place_invalid(cs, &message, "message must not contain line breaks");
    else if (lines && !place_filled(&message))
        place_required(cs, &message, "message must be specified if rule contains line breaks");
    check_enum(cs, &reason, reasons);
    check_expression(cs, &rule, schema, root);
}

static void check(struct causes *cs, const struct place *at, struct walk w)
{
    struct place preserve = place_key(at, "x-kubernetes-preserve-unknown-fields");
    struct place rules = place_key(at, "x-kubernetes-validations");

    check_keywords(cs, at, &w);
    check_additional(cs, at, w);
    check_properties(cs, at, &w);
    check_children(cs, at, w);
    if (has(at, "x-kubernetes-preserve-unknown-fields") && !place_true(&preserve))
        place_invalid(cs, &preserve, "must be true or undefined");
    check_merging(cs, at);
    PLACE_FOR_ITEMS (rule, &rules)
        check_rule(cs, &rule, at->value, w.root);
}

void definition_check_openapi(struct causes *cs, const struct place *schema)
{
    check(cs, schema, (struct walk){.root = true});
}
