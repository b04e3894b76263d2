/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decoding of Kubernetes protobuf bodies by the type tables.
 *
 * A body is "k8s\0" and a message Unknown{1: TypeMeta{1: apiVersion, 2: kind}, 2: raw, 3: encoding,
 * 4: content type}; raw is the object's own message.  Field numbers come from the tables; numbers
 * that these do not know are skipped, as newer clients may send them.  Go writes every field that
 * is no pointer, set or not, so a zero there means nothing and is left out.  Structs that Go embeds
 * are messages here and spread into the outer object in JSON.
 */
#include "src/cluster/apiserver/types/proto.h"

#include "src/base/encode.h"
#include "src/cluster/apiserver/types/type.h"

static const char magic[4] = {'k', '8', 's', '\0'};

int proto_bad(struct proto_reader *r, const char *what)
{
    (void)err_bad(r->e, "the protobuf body is malformed: %s", what);
    return -EINVAL;
}

/* Whether a body has the four bytes that every body of this form begins with. */
static bool proto_is_body(struct str body)
{
    return body.n >= sizeof(magic) && memcmp(body.p, magic, sizeof(magic)) == 0;
}

static int read_text(struct proto_reader *r, struct str bytes, struct jsn **ret)
{
    if (!str_utf8_ok(bytes))
        return proto_bad(r, "a text is not valid UTF-8");
    *ret = jsn_str(r->a, bytes);
    return 0;
}

static int read_base64(struct proto_reader *r, struct str bytes, struct jsn **ret)
{
    AUTO(buf_done) struct buf b = {0};

    encode_base64(&b, bytes);
    *ret = jsn_str(r->a, buf_view(&b));
    return 0;
}

/* The value of a scalar that is not length-delimited; false if the wire type does not suit. */
static bool read_number(struct arena *a, const struct schema *s, const struct wire_field *f,
                        struct jsn **ret)
{
    double d;

    if (s->type == SCHEMA_NUMBER && f->type == WIRE_FIXED64) {
        memcpy(&d, &f->value, sizeof(d));
        if (d - d != 0) /* JSON has no infinity */
            return false;
        *ret = jsn_real(a, d);
        return true;
    }
    if (f->type != WIRE_VARINT)
        return false;
    if (s->type == SCHEMA_BOOLEAN)
        *ret = jsn_bool(a, f->value != 0);
    else if (s->type == SCHEMA_INTEGER && streq(s->format, "int32"))
        *ret = jsn_int(a, (int32_t)(uint32_t)f->value);
    else if (s->type == SCHEMA_INTEGER)
        *ret = jsn_int(a, (int64_t)f->value);
    else
        return false;
    return true;
}

static int read_item(struct proto_reader *r, const struct schema *s, const struct wire_field *f,
                     struct jsn *list);

/* A list as the value of a map is a message {1: items}. */
static int read_list_message(struct proto_reader *r, const struct schema *s, struct str message,
                             struct jsn **ret)
{
    struct jsn *list = jsn_array(r->a);
    struct wire_field f;
    int res;

    while ((res = wire_next(&message, &f)) > 0) {
        if (f.number == 1)
            res = read_item(r, s->items, &f, list);
        if (res < 0)
            return res;
    }
    if (res < 0)
        return proto_bad(r, "a list is cut short");
    *ret = list;
    return 0;
}

/* A message of type `s` into `object`. */
static int read_struct(struct proto_reader *r, const struct schema *s, struct str message,
                       struct jsn *object);

int proto_read_value(struct proto_reader *r, const struct schema *s, const struct wire_field *f,
                     struct jsn **ret)
{
    int res;

    if (++r->values > PROTO_MAX_VALUES)
        return proto_bad(r, "it holds too many values");
    if (f->type != WIRE_BYTES)
        return read_number(r->a, s, f, ret) ? 0 : proto_bad(r, "a field has the wrong wire type");
    if (s->codec == SCHEMA_BYTES)
        return read_base64(r, f->bytes, ret);
    if (s->codec == SCHEMA_PLAIN && s->type == SCHEMA_STRING)
        return read_text(r, f->bytes, ret);
    if (s->codec == SCHEMA_PLAIN && s->type == SCHEMA_ARRAY)
        return read_list_message(r, s, f->bytes, ret);
    if (s->codec == SCHEMA_PLAIN && s->type != SCHEMA_OBJECT)
        return proto_bad(r, "a field has the wrong wire type");
    if (r->depth >= PROTO_MAX_DEPTH)
        return proto_bad(r, "it nests too deeply");
    r->depth++;
    if (s->codec != SCHEMA_PLAIN) {
        res = proto_read_codec(r, s, f->bytes, ret);
    } else {
        *ret = jsn_object(r->a);
        res = read_struct(r, s, f->bytes, *ret);
    }
    r->depth--;
    return res;
}

/* A list of numbers may come packed into one field. */
static int read_packed(struct proto_reader *r, const struct schema *s, struct str packed,
                       struct jsn *list)
{
    while (packed.n) {
        struct wire_field f = {.type = WIRE_VARINT};
        struct jsn *item;
        int res;

        if (!wire_take_varint(&packed, &f.value))
            return proto_bad(r, "a packed list is cut short");
        res = proto_read_value(r, s, &f, &item);
        if (res < 0)
            return res;
        jsn_append(r->a, list, item);
    }
    return 0;
}

static int read_item(struct proto_reader *r, const struct schema *s, const struct wire_field *f,
                     struct jsn *list)
{
    struct jsn *item;
    int res;

    if (f->type == WIRE_BYTES && (s->type == SCHEMA_INTEGER || s->type == SCHEMA_BOOLEAN))
        return read_packed(r, s, f->bytes, list);
    res = proto_read_value(r, s, f, &item);
    if (res == 0)
        jsn_append(r->a, list, item);
    return res;
}

/* One entry {1: key, 2: value}. */
static int read_entry(struct proto_reader *r, const struct schema *s, const struct wire_field *f,
                      struct jsn *map)
{
    struct str entry = f->bytes, key = STR("");
    struct jsn *value = NULL;
    struct wire_field part;
    int res;

    if (f->type != WIRE_BYTES)
        return proto_bad(r, "a map has the wrong wire type");
    while ((res = wire_next(&entry, &part)) > 0) {
        if (part.number == 1 && part.type == WIRE_BYTES)
            key = part.bytes;
        else if (part.number == 2)
            res = proto_read_value(r, s, &part, &value);
        if (res < 0)
            return res;
    }
    if (res < 0 || !str_utf8_ok(key))
        return proto_bad(r, "a map's entry is cut short or its key is no text");
    jsn_set_member(r->a, map, (struct str){arena_str(r->a, key), key.n},
                   value ? value : type_zero(r->a, s));
    return 0;
}

/* The list or map that a repeated field adds to. */
static struct jsn *collection(struct proto_reader *r, const struct schema_property *p,
                              struct jsn *object)
{
    struct jsn *v = jsn_member(object, p->name);

    if (!v) {
        v = p->schema->type == SCHEMA_ARRAY ? jsn_array(r->a) : jsn_object(r->a);
        jsn_set_member(r->a, object, p->name, v);
    }
    return v;
}

static int read_property(struct proto_reader *r, const struct schema_property *p,
                         const struct wire_field *f, struct jsn *object)
{
    const struct schema *s = p->schema;
    struct jsn *v;
    int res;

    if (s->codec == SCHEMA_PLAIN && s->type == SCHEMA_ARRAY)
        return read_item(r, s->items, f, collection(r, p, object));
    if (s->codec == SCHEMA_PLAIN && s->additional)
        return read_entry(r, s->additional, f, collection(r, p, object));
    res = proto_read_value(r, s, f, &v);
    if (res < 0)
        return res;
    if (v->type == JSN_NULL || (!p->pointer && type_is_zero(s, v)))
        return 0;
    if (p->always && !p->pointer && v->type == JSN_OBJECT && jsn_len(v) == 0)
        return 0;
    jsn_set_member(r->a, object, p->name, v);
    return 0;
}

static const struct schema_property *by_number(const struct schema *s, uint32_t number)
{
    for (size_t i = 0; i < s->n_properties; i++)
        if (s->properties[i].proto == number)
            return &s->properties[i];
    return NULL;
}

static int read_inline(struct proto_reader *r, const struct schema *s, const struct wire_field *f,
                       struct jsn *object)
{
    for (size_t i = 0; i < s->n_inlines; i++)
        if (s->inlines[i].proto == f->number)
            return f->type == WIRE_BYTES ? read_struct(r, s->inlines[i].schema, f->bytes, object)
                                         : proto_bad(r, "a field has the wrong wire type");
    return 0;
}

static int read_struct(struct proto_reader *r, const struct schema *s, struct str message,
                       struct jsn *object)
{
    struct wire_field f;
    int res;

    while ((res = wire_next(&message, &f)) > 0) {
        const struct schema_property *p = by_number(s, f.number);

        res = p ? read_property(r, p, &f, object) : read_inline(r, s, &f, object);
        if (res < 0)
            return res;
    }
    return res < 0 ? proto_bad(r, "a message is cut short") : 0;
}

int proto_decode_message(struct arena *a, const struct schema *s, struct str message,
                         struct jsn **ret, struct err *e)
{
    struct proto_reader r = {.a = a, .e = e};
    struct jsn *object = jsn_object(a);
    int res = read_struct(&r, s, message, object);

    if (res == 0)
        *ret = object;
    return res;
}

/* The fields of Unknown and, within, TypeMeta. */
struct envelope {
    struct str api_version, kind, raw, encoding, content_type;
};

static int read_strings(struct str message, struct str *slots[], size_t n)
{
    struct wire_field f;
    int r;

    while ((r = wire_next(&message, &f)) > 0)
        if (f.type == WIRE_BYTES && f.number <= n && slots[f.number - 1])
            *slots[f.number - 1] = f.bytes;
    return r;
}

static int read_envelope(struct str body, struct envelope *ret)
{
    struct envelope env = {0};
    struct str type_meta = {0};
    struct str *slots[] = {&type_meta, &env.raw, &env.encoding, &env.content_type};
    struct str *meta_slots[] = {&env.api_version, &env.kind};
    int r = read_strings(body, slots, ARRAY_LEN(slots));

    if (r == 0)
        r = read_strings(type_meta, meta_slots, ARRAY_LEN(meta_slots));
    *ret = env;
    return r;
}

static int read_raw(struct proto_reader *r, const struct schema *s, const struct envelope *env,
                    struct jsn **ret)
{
    struct jsn *object = jsn_object(r->a);

    if (env->encoding.n)
        return proto_bad(r, "its content is encoded");
    if (str_eqz(env->content_type, "application/json"))
        return jsn_parse(r->a, env->raw, NULL, ret, r->e);
    jsn_set(r->a, object, "apiVersion", jsn_str(r->a, env->api_version));
    jsn_set(r->a, object, "kind", jsn_str(r->a, env->kind));
    *ret = object;
    return read_struct(r, s, env->raw, object);
}

int proto_decode(const struct registry *reg, struct arena *a, struct str body, struct jsn **ret,
                 struct err *e)
{
    struct proto_reader r = {.a = a, .e = e};
    const struct schema *s;
    struct envelope env;

    if (!proto_is_body(body))
        return proto_bad(&r, "it does not begin with k8s and a zero byte");
    body = (struct str){body.p + sizeof(magic), body.n - sizeof(magic)};
    if (read_envelope(body, &env) < 0)
        return proto_bad(&r, "its envelope is cut short");
    if (!str_utf8_ok(env.api_version) || !str_utf8_ok(env.kind))
        return proto_bad(&r, "its kind is not valid UTF-8");
    s = registry_kind_schema(reg, env.api_version, env.kind);
    if (!s)
        return err_set(e, -ENOENT, ERR_PERMANENT,
                       "no kind \"%.64s\" is registered for version \"%.64s\" in protobuf",
                       arena_str(a, env.kind), arena_str(a, env.api_version));
    return read_raw(&r, s, &env, ret);
}
