/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reader of openAPIV3Schema.
 *
 * Each keyword has one row in a table: its name, the JSON type of its value and where it goes in
 * struct schema.  Keywords whose value is a schema, or holds schemas, have functions of their own.
 * Unknown keywords are left to `source`.  A node without a type accepts anything, which is what
 * value validations (anyOf and its like) and x-kubernetes-preserve-unknown-fields mean.
 */
#include "src/json/schema_openapi.h"

struct reader {
    struct arena *a;
    struct err *e;
    struct buf path;
    size_t nodes;
    int depth;
};

static int read_node(struct reader *r, const struct jsn *v, struct schema **ret);

static int fail(struct reader *r, const char *what, const char *text)
{
    (void)err_bad(r->e, "%s%s%s: %s", buf_str(&r->path), r->path.n ? "." : "", what, text);
    return -EINVAL;
}

static int fail_here(struct reader *r, const char *text)
{
    (void)err_bad(r->e, "%s: %s", buf_str(&r->path), text);
    return -EINVAL;
}

/* One keyword with a plain value. */
struct keyword {
    const char *name;
    enum jsn_type type;
    size_t offset;
    size_t has_offset; /* of the bool that says it was given; 0: none */
};

#define AT(member) offsetof(struct schema, member)

static const struct keyword keywords[] = {
    {"title", JSN_STRING, 0, 0},
    {"description", JSN_STRING, AT(description), 0},
    {"format", JSN_STRING, AT(format), 0},
    {"pattern", JSN_STRING, AT(pattern), 0},
    {"nullable", JSN_BOOL, AT(nullable), 0},
    {"uniqueItems", JSN_BOOL, AT(unique_items), 0},
    {"exclusiveMinimum", JSN_BOOL, AT(exclusive_minimum), 0},
    {"exclusiveMaximum", JSN_BOOL, AT(exclusive_maximum), 0},
    {"x-kubernetes-preserve-unknown-fields", JSN_BOOL, AT(preserve_unknown), 0},
    {"x-kubernetes-embedded-resource", JSN_BOOL, AT(embedded_resource), 0},
    {"minLength", JSN_INT, AT(min_length), 0},
    {"maxLength", JSN_INT, AT(max_length), 0},
    {"minItems", JSN_INT, AT(min_items), 0},
    {"maxItems", JSN_INT, AT(max_items), 0},
    {"minProperties", JSN_INT, AT(min_properties), 0},
    {"maxProperties", JSN_INT, AT(max_properties), 0},
    {"minimum", JSN_REAL, AT(minimum), AT(has_minimum)},
    {"maximum", JSN_REAL, AT(maximum), AT(has_maximum)},
    {"multipleOf", JSN_REAL, AT(multiple_of), AT(has_multiple_of)},
    {"enum", JSN_ARRAY, AT(enum_values), 0},
};

static void store(struct schema *s, const struct keyword *k, const struct jsn *v)
{
    void *at = (char *)s + k->offset;

    if (k->has_offset)
        *((bool *)((char *)s + k->has_offset)) = true;
    if (k->offset == 0)
        return;
    if (k->type == JSN_STRING)
        *(const char **)at = v->s.p;
    else if (k->type == JSN_BOOL)
        *(bool *)at = v->b;
    else if (k->type == JSN_INT)
        *(int64_t *)at = v->i;
    else if (k->type == JSN_REAL)
        *(double *)at = v->type == JSN_INT ? (double)v->i : v->d;
    else
        *(const struct jsn **)at = v;
}

static int read_keywords(struct reader *r, struct schema *s, const struct jsn *v)
{
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++) {
        const struct keyword *k = &keywords[i];
        const struct jsn *value = jsn_key(v, k->name);

        if (!value || value->type == JSN_NULL)
            continue;
        if (value->type != k->type && !(k->type == JSN_REAL && value->type == JSN_INT))
            return fail(r, k->name, "has a value of the wrong type");
        store(s, k, value);
    }
    s->default_value = jsn_key(v, "default");
    return 0;
}

static int read_type(struct reader *r, struct schema *s, const struct jsn *v)
{
    static const struct {
        const char *name;
        enum schema_type type;
    } types[] = {
        {"object", SCHEMA_OBJECT},   {"array", SCHEMA_ARRAY},   {"string", SCHEMA_STRING},
        {"integer", SCHEMA_INTEGER}, {"number", SCHEMA_NUMBER}, {"boolean", SCHEMA_BOOLEAN},
    };
    const struct jsn *type = jsn_key(v, "type");

    if (jsn_get_bool(v, "x-kubernetes-int-or-string", false)) {
        s->type = SCHEMA_INT_OR_STRING;
        return 0;
    }
    if (!type || (jsn_text(type) && type->s.n == 0))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (streq(jsn_text(type), types[i].name)) {
            s->type = types[i].type;
            return 0;
        }
    }
    return fail(r, "type", "must be object, array, string, integer, number or boolean");
}

/* Read a schema that stands under `key`, or under `name` in a map or list of schemas there. */
static int read_child(struct reader *r, const char *key, struct str name, const struct jsn *v,
                      struct schema **ret)
{
    size_t before = r->path.n;
    int res;

    if (r->path.n)
        buf_addc(&r->path, '.');
    buf_adds(&r->path, key);
    if (name.p)
        buf_printf(&r->path, "[" STR_FMT "]", STR_ARG(name));
    res = read_node(r, v, ret);
    r->path.n = before;
    r->path.p[before] = '\0';
    return res;
}

static int read_properties(struct reader *r, struct schema *s, const struct jsn *v)
{
    const struct jsn *props = jsn_key(v, "properties");

    if (!props)
        return 0;
    if (props->type != JSN_OBJECT)
        return fail(r, "properties", "must be an object");
    s->properties = arena_calloc(r->a, jsn_len(props), sizeof(*s->properties));
    JSN_FOR_MEMBERS (m, props) {
        struct schema *child;
        int res = read_child(r, "properties", m->key, m->value, &child);

        if (res < 0)
            return res;
        s->properties[s->n_properties++] =
            (struct schema_property){.name = m->key, .schema = child};
    }
    return 0;
}

static int read_required(struct reader *r, struct schema *s, const struct jsn *v)
{
    const struct jsn *required = jsn_key(v, "required");
    size_t n = 0;

    if (!required)
        return 0;
    if (required->type != JSN_ARRAY)
        return fail(r, "required", "must be an array of strings");
    s->required = arena_calloc(r->a, jsn_len(required) + 1, sizeof(*s->required));
    JSN_FOR_ITEMS (item, required) {
        if (!jsn_text(item))
            return fail(r, "required", "must be an array of strings");
        s->required[n++] = jsn_text(item);
        for (size_t i = 0; i < s->n_properties; i++)
            if (str_eq(s->properties[i].name, item->s))
                s->properties[i].required = true;
    }
    return 0;
}

static int read_additional(struct reader *r, struct schema *s, const struct jsn *v)
{
    const struct jsn *extra = jsn_key(v, "additionalProperties");
    struct schema *value = NULL;
    int res = 0;

    if (!extra)
        return 0;
    if (extra->type == JSN_OBJECT) {
        res = read_child(r, "additionalProperties", (struct str){0}, extra, &value);
    } else if (extra->type != JSN_BOOL) {
        return fail(r, "additionalProperties", "must be a schema or a boolean");
    } else if (extra->b) {
        value = arena_alloc(r->a, sizeof(*value));
        schema_init(value, SCHEMA_ANY);
    }
    if (res == 0)
        s->additional = value;
    return res;
}

static int read_list(struct reader *r, const struct jsn *v, const char *key,
                     const struct schema ***ret)
{
    const struct jsn *list = jsn_key(v, key);
    size_t n = 0;

    if (!list)
        return 0;
    if (list->type != JSN_ARRAY)
        return fail(r, key, "must be an array of schemas");
    *ret = arena_calloc(r->a, jsn_len(list) + 1, sizeof(**ret));
    JSN_FOR_ITEMS (item, list) {
        char index[24];
        struct schema *child;
        int res;

        (void)snprintf(index, sizeof(index), "%zu", n);
        res = read_child(r, key, str_of(index), item, &child);
        if (res < 0)
            return res;
        (*ret)[n++] = child;
    }
    return 0;
}

static int read_children(struct reader *r, struct schema *s, const struct jsn *v)
{
    const struct jsn *items = jsn_key(v, "items"), *not_schema = jsn_key(v, "not");
    struct schema *child;
    int res = 0;

    if (items) {
        res = read_child(r, "items", (struct str){0}, items, &child);
        if (res < 0)
            return res;
        s->items = child;
    }
    if (not_schema) {
        res = read_child(r, "not", (struct str){0}, not_schema, &child);
        if (res < 0)
            return res;
        s->not_schema = child;
    }
    res = read_list(r, v, "allOf", &s->all_of);
    if (res == 0)
        res = read_list(r, v, "anyOf", &s->any_of);
    if (res == 0)
        res = read_list(r, v, "oneOf", &s->one_of);
    return res;
}

static int read_list_keys(struct reader *r, struct schema *s, const struct jsn *v)
{
    const struct jsn *keys = jsn_key(v, "x-kubernetes-list-map-keys");
    size_t n = 0;

    if (!keys)
        return 0;
    s->list_keys = arena_calloc(r->a, jsn_len(keys) + 1, sizeof(*s->list_keys));
    JSN_FOR_ITEMS (item, keys) {
        if (!jsn_text(item))
            return fail(r, "x-kubernetes-list-map-keys", "must be an array of strings");
        s->list_keys[n++] = jsn_text(item);
    }
    return 0;
}

static int read_merge(struct reader *r, struct schema *s, const struct jsn *v)
{
    const char *list = jsn_text(jsn_key(v, "x-kubernetes-list-type"));
    const char *map = jsn_text(jsn_key(v, "x-kubernetes-map-type"));

    if (streq(list, "set"))
        s->merge = SCHEMA_MERGE_SET;
    else if (streq(list, "map"))
        s->merge = SCHEMA_MERGE_MAP;
    else if (streq(list, "atomic") || streq(map, "atomic"))
        s->merge = SCHEMA_MERGE_ATOMIC;
    else if (streq(map, "granular"))
        s->merge = SCHEMA_MERGE_GRANULAR;
    else if (list || map)
        return fail(r, list ? "x-kubernetes-list-type" : "x-kubernetes-map-type",
                    "has an unknown value");
    return read_list_keys(r, s, v);
}

static int read_rules(struct reader *r, struct schema *s, const struct jsn *v)
{
    const struct jsn *rules = jsn_key(v, "x-kubernetes-validations");

    if (!rules)
        return 0;
    s->rules = arena_calloc(r->a, jsn_len(rules), sizeof(*s->rules));
    JSN_FOR_ITEMS (item, rules) {
        if (!jsn_get_str(item, "rule"))
            return fail(r, "x-kubernetes-validations", "each item needs a rule");
        s->rules[s->n_rules++] = (struct schema_rule){
            .rule = jsn_get_str(item, "rule"),
            .message = jsn_get_str(item, "message"),
            .message_expression = jsn_get_str(item, "messageExpression"),
            .reason = jsn_get_str(item, "reason"),
            .field_path = jsn_get_str(item, "fieldPath"),
            .optional_old_self = jsn_get_bool(item, "optionalOldSelf", false),
        };
    }
    return 0;
}

static int read_all(struct reader *r, struct schema *s, const struct jsn *v)
{
    static int (*const parts[])(struct reader *, struct schema *, const struct jsn *) = {
        read_keywords,   read_type,     read_properties, read_required,
        read_additional, read_children, read_merge,      read_rules,
    };

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        int res = parts[i](r, s, v);

        if (res < 0)
            return res;
    }
    return 0;
}

static bool below_has_rules(const struct schema *s)
{
    if ((s->items && s->items->has_rules) || (s->additional && s->additional->has_rules))
        return true;
    for (size_t i = 0; i < s->n_properties; i++)
        if (s->properties[i].schema->has_rules)
            return true;
    return false;
}

static int read_node(struct reader *r, const struct jsn *v, struct schema **ret)
{
    struct schema *s;
    int res;

    if (!jsn_is(v, JSN_OBJECT))
        return fail_here(r, "a schema must be an object");
    if (r->depth >= SCHEMA_OPENAPI_MAX_DEPTH)
        return fail_here(r, "schemas nest too deeply");
    if (++r->nodes > SCHEMA_OPENAPI_MAX_NODES)
        return fail_here(r, "there are too many schemas");
    s = arena_alloc(r->a, sizeof(*s));
    schema_init(s, SCHEMA_ANY);
    s->source = v;
    r->depth++;
    res = read_all(r, s, v);
    r->depth--;
    if (res < 0)
        return res;
    s->has_rules = s->n_rules > 0 || below_has_rules(s);
    *ret = s;
    return 0;
}

int schema_from_openapi(struct arena *a, const struct jsn *v, struct schema **ret, struct err *e)
{
    struct reader r = {.a = a, .e = e};
    int res = read_node(&r, v, ret);

    buf_done(&r.path);
    return res;
}
