/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A version 2 document as protobuf, in the layout of gnostic's openapi.v2.Document.
 *
 * kubectl reads only this form.  Each message has a table: the JSON key, the field number and how
 * the value is wrapped.  Maps become lists of named values, unions an extra message around the
 * value; extensions ("x-...") and values of any type are YAML text, for which JSON will do.
 */
#include "src/cluster/apiserver/types/openapi_build.h"
#include "src/cluster/apiserver/types/wire.h"

enum kind {
    TEXT,
    TEXTS,
    BOOL,
    INT,
    DOUBLE,
    ANY,        /* {2: yaml} */
    ANYS,       /* one for each item */
    MESSAGE,    /* a message */
    MESSAGES,   /* one for each item */
    WRAPPED,    /* {1: message}; a boolean is {2: bool} */
    TYPE,       /* {1: text} */
    NAMED,      /* {inner: {1: key, 2: message}...} */
    RESPONSES,  /* {1: {1: key, 2: {1: message}}...} */
    PARAMETERS, /* {1: {1: body} or {2: {3: query} or {4: path}}} for each item */
};

struct message;

struct field {
    const char *key;
    uint32_t number;
    enum kind kind;
    const struct message *message;
    uint32_t inner; /* of NAMED */
};

struct message {
    const struct field *fields;
    size_t n;
    uint32_t extensions; /* number of the list of extensions; 0: none */
};

#define MESSAGE_OF(fields, extensions) {fields, ARRAY_LEN(fields), extensions}

static const struct message schema_message;

static const struct field schema_fields[] = {
    {"$ref", 1, TEXT, NULL, 0},
    {"format", 2, TEXT, NULL, 0},
    {"title", 3, TEXT, NULL, 0},
    {"description", 4, TEXT, NULL, 0},
    {"default", 5, ANY, NULL, 0},
    {"multipleOf", 6, DOUBLE, NULL, 0},
    {"maximum", 7, DOUBLE, NULL, 0},
    {"exclusiveMaximum", 8, BOOL, NULL, 0},
    {"minimum", 9, DOUBLE, NULL, 0},
    {"exclusiveMinimum", 10, BOOL, NULL, 0},
    {"maxLength", 11, INT, NULL, 0},
    {"minLength", 12, INT, NULL, 0},
    {"pattern", 13, TEXT, NULL, 0},
    {"maxItems", 14, INT, NULL, 0},
    {"minItems", 15, INT, NULL, 0},
    {"uniqueItems", 16, BOOL, NULL, 0},
    {"maxProperties", 17, INT, NULL, 0},
    {"minProperties", 18, INT, NULL, 0},
    {"required", 19, TEXTS, NULL, 0},
    {"enum", 20, ANYS, NULL, 0},
    {"additionalProperties", 21, WRAPPED, &schema_message, 0},
    {"type", 22, TYPE, NULL, 0},
    {"items", 23, WRAPPED, &schema_message, 0},
    {"allOf", 24, MESSAGES, &schema_message, 0},
    {"properties", 25, NAMED, &schema_message, 1},
};
static const struct message schema_message = MESSAGE_OF(schema_fields, 31);

static const struct field query_fields[] = {
    {"required", 1, BOOL, NULL, 0},     {"in", 2, TEXT, NULL, 0},
    {"description", 3, TEXT, NULL, 0},  {"name", 4, TEXT, NULL, 0},
    {"type", 6, TEXT, NULL, 0},         {"format", 7, TEXT, NULL, 0},
    {"uniqueItems", 20, BOOL, NULL, 0},
};
static const struct message query_message = MESSAGE_OF(query_fields, 23);

static const struct field path_fields[] = {
    {"required", 1, BOOL, NULL, 0},     {"in", 2, TEXT, NULL, 0},
    {"description", 3, TEXT, NULL, 0},  {"name", 4, TEXT, NULL, 0},
    {"type", 5, TEXT, NULL, 0},         {"format", 6, TEXT, NULL, 0},
    {"uniqueItems", 19, BOOL, NULL, 0},
};
static const struct message path_message = MESSAGE_OF(path_fields, 22);

static const struct field body_fields[] = {
    {"description", 1, TEXT, NULL, 0},
    {"name", 2, TEXT, NULL, 0},
    {"in", 3, TEXT, NULL, 0},
    {"required", 4, BOOL, NULL, 0},
    {"schema", 5, MESSAGE, &schema_message, 0},
};
static const struct message body_message = MESSAGE_OF(body_fields, 6);

static const struct field response_fields[] = {
    {"description", 1, TEXT, NULL, 0},
    {"schema", 2, WRAPPED, &schema_message, 0},
};
static const struct message response_message = MESSAGE_OF(response_fields, 5);

static const struct field operation_fields[] = {
    {"description", 3, TEXT, NULL, 0},      {"operationId", 5, TEXT, NULL, 0},
    {"produces", 6, TEXTS, NULL, 0},        {"consumes", 7, TEXTS, NULL, 0},
    {"parameters", 8, PARAMETERS, NULL, 0}, {"responses", 9, RESPONSES, &response_message, 0},
};
static const struct message operation_message = MESSAGE_OF(operation_fields, 13);

static const struct field path_item_fields[] = {
    {"get", 2, MESSAGE, &operation_message, 0},   {"put", 3, MESSAGE, &operation_message, 0},
    {"post", 4, MESSAGE, &operation_message, 0},  {"delete", 5, MESSAGE, &operation_message, 0},
    {"patch", 8, MESSAGE, &operation_message, 0}, {"parameters", 9, PARAMETERS, NULL, 0},
};
static const struct message path_item_message = MESSAGE_OF(path_item_fields, 10);

static const struct field info_fields[] = {
    {"title", 1, TEXT, NULL, 0},
    {"version", 2, TEXT, NULL, 0},
};
static const struct message info_message = MESSAGE_OF(info_fields, 7);

static const struct field document_fields[] = {
    {"swagger", 1, TEXT, NULL, 0},
    {"info", 2, MESSAGE, &info_message, 0},
    {"paths", 8, NAMED, &path_item_message, 2},
    {"definitions", 9, NAMED, &schema_message, 1},
};
static const struct message document_message = MESSAGE_OF(document_fields, 16);

static void write_message(struct buf *out, const struct message *m, const struct jsn *v);

static void put_message(struct buf *out, uint32_t number, const struct message *m,
                        const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    write_message(&b, m, v);
    wire_put_bytes(out, number, buf_view(&b));
}

static void put_any(struct buf *out, uint32_t number, const struct jsn *v)
{
    AUTO(buf_done) struct buf text = {0}, any = {0};

    jsn_print(&text, v);
    buf_addc(&text, '\n');
    wire_put_bytes(&any, 2, buf_view(&text));
    wire_put_bytes(out, number, buf_view(&any));
}

static void put_extension(struct buf *out, uint32_t number, struct str key, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    wire_put_bytes(&b, 1, key);
    put_any(&b, 2, v);
    wire_put_bytes(out, number, buf_view(&b));
}

static void put_wrapped(struct buf *out, const struct field *f, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    if (v->type == JSN_BOOL)
        wire_put_uint(&b, 2, v->b);
    else if (f->kind == TYPE)
        wire_put_text(&b, 1, jsn_text(v));
    else
        put_message(&b, 1, f->message, v);
    wire_put_bytes(out, f->number, buf_view(&b));
}

static void put_named(struct buf *out, const struct field *f, const struct jsn *v)
{
    AUTO(buf_done) struct buf all = {0};

    JSN_FOR_MEMBERS (m, v) {
        AUTO(buf_done) struct buf entry = {0}, value = {0};

        wire_put_bytes(&entry, 1, m->key);
        if (f->kind == RESPONSES) {
            put_message(&value, 1, f->message, m->value);
            wire_put_bytes(&entry, 2, buf_view(&value));
        } else {
            put_message(&entry, 2, f->message, m->value);
        }
        wire_put_bytes(&all, f->kind == RESPONSES ? 1 : f->inner, buf_view(&entry));
    }
    wire_put_bytes(out, f->number, buf_view(&all));
}

static void put_parameter(struct buf *out, uint32_t number, const struct jsn *v)
{
    AUTO(buf_done) struct buf item = {0}, parameter = {0}, inner = {0};
    const char *in = jsn_get_str(v, "in");

    if (streq(in, "body")) {
        put_message(&parameter, 1, &body_message, v);
    } else {
        if (streq(in, "path"))
            put_message(&inner, 4, &path_message, v);
        else
            put_message(&inner, 3, &query_message, v);
        wire_put_bytes(&parameter, 2, buf_view(&inner));
    }
    wire_put_bytes(&item, 1, buf_view(&parameter));
    wire_put_bytes(out, number, buf_view(&item));
}

static void put_list(struct buf *out, const struct field *f, const struct jsn *v)
{
    JSN_FOR_ITEMS (item, v) {
        if (f->kind == TEXTS)
            wire_put_text(out, f->number, jsn_text(item));
        else if (f->kind == ANYS)
            put_any(out, f->number, item);
        else if (f->kind == PARAMETERS)
            put_parameter(out, f->number, item);
        else
            put_message(out, f->number, f->message, item);
    }
}

static void put_field(struct buf *out, const struct field *f, const struct jsn *v)
{
    switch (f->kind) {
    case TEXT:
        wire_put_text(out, f->number, jsn_text(v));
        break;
    case BOOL:
        wire_put_uint(out, f->number, jsn_is(v, JSN_BOOL) && v->b);
        break;
    case INT:
        wire_put_uint(out, f->number, jsn_is(v, JSN_INT) ? (uint64_t)v->i : 0);
        break;
    case DOUBLE:
        wire_put_double(out, f->number, v->type == JSN_INT ? (double)v->i : v->d);
        break;
    case ANY:
        put_any(out, f->number, v);
        break;
    case MESSAGE:
        put_message(out, f->number, f->message, v);
        break;
    case WRAPPED:
    case TYPE:
        put_wrapped(out, f, v);
        break;
    case NAMED:
    case RESPONSES:
        put_named(out, f, v);
        break;
    case TEXTS:
    case ANYS:
    case MESSAGES:
    case PARAMETERS:
        put_list(out, f, v);
        break;
    }
}

static const struct field *find_field(const struct message *m, struct str key)
{
    for (size_t i = 0; i < m->n; i++)
        if (str_eqz(key, m->fields[i].key))
            return &m->fields[i];
    return NULL;
}

static void write_message(struct buf *out, const struct message *m, const struct jsn *v)
{
    JSN_FOR_MEMBERS (member, v) {
        const struct field *f = find_field(m, member->key);

        if (f)
            put_field(out, f, member->value);
        else if (str_starts(member->key, "x-"))
            put_extension(out, m->extensions, member->key, member->value);
    }
}

void openapi_to_proto(struct buf *out, const struct jsn *document)
{
    write_message(out, &document_message, document);
}
