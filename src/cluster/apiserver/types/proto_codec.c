/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Protobuf messages with a JSON form of their own.
 *
 *   Time, MicroTime   {1: seconds, 2: nanoseconds}; all zero is "never", a null
 *   Quantity          {1: text}
 *   IntOrString       {1: type (0 number, 1 text), 2: number, 3: text}
 *   RawExtension, JSON, FieldsV1   {1: bytes of JSON}
 *   JSONSchemaPropsOrBool          {1: bool, 2: schema}
 *   JSONSchemaPropsOrArray         {1: schema, 2: schemas}
 *   JSONSchemaPropsOrStringArray   {1: schema, 2: texts}
 */
#include "src/cluster/apiserver/types/proto.h"

#include "src/base/clock.h"

/* Years 1 to 9999, what RFC 3339 can show. */
#define MIN_SECONDS (-62135596800LL)
#define MAX_SECONDS 253402300799LL

static int read_time(struct proto_reader *r, const struct schema *s, struct str message,
                     struct jsn **ret)
{
    int64_t seconds = 0, nanos = 0;
    char text[CLOCK_RFC3339_LEN];
    struct wire_field f;
    int res;

    while ((res = wire_next(&message, &f)) > 0) {
        if (f.number == 1 && f.type == WIRE_VARINT)
            seconds = (int64_t)f.value;
        else if (f.number == 2 && f.type == WIRE_VARINT)
            nanos = (int32_t)(uint32_t)f.value;
    }
    if (res < 0 || seconds < MIN_SECONDS || seconds > MAX_SECONDS || nanos < 0 || nanos > 999999999)
        return proto_bad(r, "a time is cut short or out of range");
    if (seconds == 0 && nanos == 0) {
        *ret = jsn_null(r->a);
        return 0;
    }
    if (s->codec == SCHEMA_MICRO_TIME)
        clock_rfc3339_micro(seconds * 1000000 + nanos / 1000, text);
    else
        clock_rfc3339(seconds * 1000000, text);
    *ret = jsn_string(r->a, text);
    return 0;
}

static int read_quantity(struct proto_reader *r, struct str message, struct jsn **ret)
{
    struct str text = STR("0");
    struct wire_field f;
    int res;

    while ((res = wire_next(&message, &f)) > 0)
        if (f.number == 1 && f.type == WIRE_BYTES && f.bytes.n)
            text = f.bytes;
    if (res < 0 || !str_utf8_ok(text))
        return proto_bad(r, "a quantity is cut short or no text");
    *ret = jsn_str(r->a, text);
    return 0;
}

static int read_int_or_string(struct proto_reader *r, struct str message, struct jsn **ret)
{
    bool is_text = false;
    int64_t number = 0;
    struct str text = STR("");
    struct wire_field f;
    int res;

    while ((res = wire_next(&message, &f)) > 0) {
        if (f.number == 1 && f.type == WIRE_VARINT)
            is_text = f.value == 1;
        else if (f.number == 2 && f.type == WIRE_VARINT)
            number = (int32_t)(uint32_t)f.value;
        else if (f.number == 3 && f.type == WIRE_BYTES)
            text = f.bytes;
    }
    if (res < 0 || !str_utf8_ok(text))
        return proto_bad(r, "a number or text is cut short");
    *ret = is_text ? jsn_str(r->a, text) : jsn_int(r->a, number);
    return 0;
}

static int read_json(struct proto_reader *r, struct str message, struct jsn **ret)
{
    struct str text = STR("");
    struct wire_field f;
    int res;

    while ((res = wire_next(&message, &f)) > 0)
        if (f.number == 1 && f.type == WIRE_BYTES)
            text = f.bytes;
    if (res < 0)
        return proto_bad(r, "an object is cut short");
    if (text.n == 0) {
        *ret = jsn_null(r->a);
        return 0;
    }
    res = jsn_parse(r->a, text, NULL, ret, r->e);
    return res < 0 ? err_wrap(r->e, res, "the protobuf body holds bad JSON") : 0;
}

/* One field of a union; a list under number 2 grows with every call. */
static int read_alternative(struct proto_reader *r, const struct schema *s,
                            const struct wire_field *f, struct jsn **ret)
{
    struct schema text;
    struct jsn *item;
    int res;

    if (s->codec == SCHEMA_OR_BOOL && f->number == 1) {
        if (!*ret || (*ret)->type == JSN_BOOL)
            *ret = jsn_bool(r->a, f->value != 0);
        return 0;
    }
    schema_init(&text, SCHEMA_STRING);
    res = proto_read_value(r, s->codec == SCHEMA_OR_STRINGS && f->number == 2 ? &text : s->items, f,
                           &item);
    if (res < 0)
        return res;
    if (s->codec == SCHEMA_OR_BOOL || f->number == 1) {
        *ret = item;
        return 0;
    }
    if (!jsn_is(*ret, JSN_ARRAY))
        *ret = jsn_array(r->a);
    jsn_append(r->a, *ret, item);
    return 0;
}

static int read_union(struct proto_reader *r, const struct schema *s, struct str message,
                      struct jsn **ret)
{
    struct jsn *v = NULL;
    struct wire_field f;
    int res;

    while ((res = wire_next(&message, &f)) > 0) {
        if (f.number == 1 || f.number == 2)
            res = read_alternative(r, s, &f, &v);
        if (res < 0)
            return res;
    }
    if (res < 0)
        return proto_bad(r, "a schema is cut short");
    *ret = v ? v : jsn_null(r->a);
    return 0;
}

int proto_read_codec(struct proto_reader *r, const struct schema *s, struct str message,
                     struct jsn **ret)
{
    switch (s->codec) {
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
        return read_time(r, s, message, ret);
    case SCHEMA_QUANTITY:
        return read_quantity(r, message, ret);
    case SCHEMA_IS_INT_OR_STRING:
        return read_int_or_string(r, message, ret);
    case SCHEMA_RAW:
    case SCHEMA_JSON:
    case SCHEMA_FIELDS_V1:
        return read_json(r, message, ret);
    case SCHEMA_OR_BOOL:
    case SCHEMA_OR_ARRAY:
    case SCHEMA_OR_STRINGS:
        return read_union(r, s, message, ret);
    case SCHEMA_PLAIN:
    case SCHEMA_BYTES:
        break;
    }
    return proto_bad(r, "a field has the wrong wire type");
}
