/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CRD schemas from field tables.
 *
 * Each row becomes a node; objects on the way to it are made as needed.  An object that has
 * required fields is itself required unless a JSN_GROUP row says otherwise, which is the reading
 * that decoding follows.  Raw values keep whatever they hold.
 */
#include "src/json/fields.h"

static struct jsn *parse_text(struct arena *a, const char *text)
{
    struct err e = {0};
    struct jsn *v;

    if (jsn_parse(a, str_of(text), NULL, &v, &e) < 0)
        abort(); /* a table is code */
    return v;
}

static struct jsn *typed(struct arena *a, const char *type, const char *format)
{
    struct jsn *node = jsn_object(a);

    if (type)
        jsn_set_str(a, node, "type", type);
    if (format)
        jsn_set_str(a, node, "format", format);
    return node;
}

static struct jsn *list_of(struct arena *a, struct jsn *items)
{
    struct jsn *node = typed(a, "array", NULL);

    jsn_set(a, node, "items", items);
    return node;
}

static struct jsn *map_of(struct arena *a, struct jsn *values)
{
    struct jsn *node = typed(a, "object", NULL);

    jsn_set(a, node, "additionalProperties", values);
    return node;
}

static struct jsn *int_or_string(struct arena *a, const char *pattern)
{
    struct jsn *node = parse_text(a, "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}],"
                                     "\"x-kubernetes-int-or-string\":true}");

    if (pattern)
        jsn_set_str(a, node, "pattern", pattern);
    return node;
}

static struct jsn *free_form(struct arena *a, bool any)
{
    struct jsn *node = typed(a, any ? NULL : "object", NULL);

    jsn_set_bool(a, node, "x-kubernetes-preserve-unknown-fields", true);
    return node;
}

static struct jsn *enum_of(struct arena *a, const char *const *names)
{
    struct jsn *node = typed(a, "string", NULL);
    struct jsn *list = jsn_array(a);

    for (; *names; names++)
        jsn_append(a, list, jsn_string(a, *names));
    jsn_set(a, node, "enum", list);
    return node;
}

/* What the kind alone says. */
static struct jsn *kind_node(struct arena *a, const struct jsn_field *f)
{
    static const char quantity[] =
        "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+"
        "(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

    switch (f->kind) {
    case JSN_FLAG:
        return typed(a, "boolean", NULL);
    case JSN_I32:
        return typed(a, "integer", "int32");
    case JSN_U32:
    case JSN_I64:
        return typed(a, "integer", "int64");
    case JSN_DOUBLE:
        return typed(a, "number", "double");
    case JSN_ENUM:
        return enum_of(a, f->names);
    case JSN_STRS:
        return list_of(a, typed(a, "string", NULL));
    case JSN_MAP:
        return map_of(a, typed(a, "string", NULL));
    case JSN_INT_OR_STR:
        return int_or_string(a, NULL);
    case JSN_QUANTITY:
        return int_or_string(a, quantity);
    case JSN_TIME:
        return typed(a, "string", "date-time");
    case JSN_RAW:
        return free_form(a, f->flags & JSN_ANY);
    case JSN_SUB:
        return fields_schema(a, f->sub);
    case JSN_SUBS:
        return list_of(a, fields_schema(a, f->sub));
    case JSN_GROUP:
        return typed(a, "object", NULL);
    case JSN_STR:
    case JSN_DURATION:
    case JSN_NOTHING:
        break;
    }
    return typed(a, "string", NULL);
}

static void add_limits(struct arena *a, const struct jsn_field *f, struct jsn *node)
{
    const char *type = jsn_get_str(node, "type");
    const char *low = streq(type, "string")  ? "minLength"
                      : streq(type, "array") ? "minItems"
                                             : "minimum";
    const char *high = streq(type, "string")  ? "maxLength"
                       : streq(type, "array") ? "maxItems"
                                              : "maximum";

    if (f->kind == JSN_U32 && !(f->flags & JSN_HAS_MIN))
        jsn_set_int(a, node, "minimum", 0);
    if (f->flags & JSN_HAS_MIN)
        jsn_set_int(a, node, low, f->min);
    if (f->flags & JSN_HAS_MAX)
        jsn_set_int(a, node, high, f->max);
    if (f->pattern)
        jsn_set_str(a, node, "pattern", f->pattern);
}

static void add_list_type(struct arena *a, const struct jsn_field *f, struct jsn *node)
{
    struct str keys = str_of(f->list_keys);
    struct jsn *list = jsn_array(a);
    struct str key;

    if (!f->list_type)
        return;
    if (streq(jsn_get_str(node, "type"), "object")) {
        jsn_set_str(a, node, "x-kubernetes-map-type", f->list_type);
        return;
    }
    while (f->list_keys && str_split(&keys, ',', &key))
        jsn_append(a, list, jsn_str(a, key));
    if (list->a.n)
        jsn_set(a, node, "x-kubernetes-list-map-keys", list);
    jsn_set_str(a, node, "x-kubernetes-list-type", f->list_type);
}

/* Everything else that a row says about its node. */
static void describe(struct arena *a, const struct jsn_field *f, struct jsn *node)
{
    if (f->doc)
        jsn_set_str(a, node, "description", f->doc);
    if (f->format)
        jsn_set_str(a, node, "format", f->format);
    if (f->def)
        jsn_set(a, node, "default", parse_text(a, f->def));
    if (f->flags & JSN_NULLABLE)
        jsn_set_bool(a, node, "nullable", true);
    add_limits(a, f, node);
    add_list_type(a, f, node);
    if (f->extra)
        JSN_FOR_MEMBERS (m, parse_text(a, f->extra))
            jsn_set_member(a, node, m->key, m->value);
}

static void require(struct arena *a, struct jsn *object, struct str key)
{
    struct jsn *list = jsn_key(object, "required");
    const char *name = arena_str(a, key);

    if (!list) {
        list = jsn_array(a);
        jsn_set(a, object, "required", list);
    }
    JSN_FOR_ITEMS (item, list)
        if (streq(jsn_text(item), name))
            return;
    jsn_append(a, list, jsn_string(a, name));
}

static const struct jsn_field *group_row(const struct jsn_field *table, struct str path)
{
    for (const struct jsn_field *f = table; f->kind != JSN_NOTHING; f++)
        if (f->kind == JSN_GROUP && str_eqz(path, f->path))
            return f;
    return NULL;
}

static struct jsn *child_object(struct arena *a, struct jsn *object, struct str key)
{
    struct jsn *properties = jsn_ensure_object(a, object, "properties");
    struct jsn *child = jsn_member(properties, key);

    if (!child) {
        child = typed(a, "object", NULL);
        jsn_set_member(a, properties, key, child);
    }
    return child;
}

/* Put the node of a row into the tree, with the objects on the way. */
static void add_row(struct arena *a, const struct jsn_field *table, const struct jsn_field *f,
                    struct jsn *root)
{
    struct str rest = str_of(f->path);
    struct jsn *at = root;
    struct str key;

    assert(f->path);
    while (str_split(&rest, '.', &key)) {
        struct str so_far = {f->path, (size_t)(key.p + key.n - f->path)};
        const struct jsn_field *group = rest.p ? group_row(table, so_far) : f;

        if (f->flags & JSN_REQ && (rest.p ? !group : true))
            require(a, at, key);
        if (rest.p) {
            at = child_object(a, at, key);
        } else if (f->kind == JSN_GROUP) {
            describe(a, f, child_object(a, at, key));
        } else {
            struct jsn *node = kind_node(a, f);

            describe(a, f, node);
            jsn_set_member(a, jsn_ensure_object(a, at, "properties"), key, node);
        }
    }
}

struct jsn *fields_schema(struct arena *a, const struct jsn_field *table)
{
    struct jsn *root = typed(a, "object", NULL);

    for (const struct jsn_field *f = table; f->kind != JSN_NOTHING; f++)
        if (!(f->flags & JSN_HIDDEN))
            add_row(a, table, f, root);
    return root;
}

struct jsn *fields_kind_schema(struct arena *a, const struct jsn_field *table, const char *doc)
{
    struct jsn *root = typed(a, "object", NULL);

    if (doc)
        jsn_set_str(a, root, "description", doc);
    jsn_set(a, root, "properties",
            parse_text(a, "{\"apiVersion\":{\"type\":\"string\"},\"kind\":{\"type\":\"string\"},"
                          "\"metadata\":{\"type\":\"object\"}}"));
    for (const struct jsn_field *f = table; f->kind != JSN_NOTHING; f++)
        if (!(f->flags & JSN_HIDDEN) && !starts_with(f->path, "metadata"))
            add_row(a, table, f, root);
    return root;
}
