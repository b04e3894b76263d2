/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The protobuf wire format.
 *
 * A message is a sequence of fields, each a tag (number and type, one varint) and a value.  Nothing
 * is copied; every length is held against what is left.  Field numbers above 2^29-1, number 0, the
 * old group types and varints longer than ten bytes are refused.
 */
#include "src/cluster/apiserver/types/wire.h"

#define MAX_FIELD_NUMBER ((1u << 29) - 1)

bool wire_take_varint(struct str *s, uint64_t *ret)
{
    uint64_t v = 0;

    for (size_t i = 0; i < s->n && i < 10; i++) {
        uint8_t byte = (uint8_t)s->p[i];

        if (i == 9 && byte > 1)
            return false;
        v |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (!(byte & 0x80)) {
            *s = (struct str){s->p + i + 1, s->n - i - 1};
            *ret = v;
            return true;
        }
    }
    return false;
}

static bool take_fixed(struct str *s, size_t n, uint64_t *ret)
{
    uint64_t v = 0;

    if (s->n < n)
        return false;
    for (size_t i = 0; i < n; i++)
        v |= (uint64_t)(uint8_t)s->p[i] << (8 * i);
    *s = (struct str){s->p + n, s->n - n};
    *ret = v;
    return true;
}

static bool take_bytes(struct str *s, struct str *ret)
{
    uint64_t n;

    if (!wire_take_varint(s, &n) || n > s->n)
        return false;
    *ret = (struct str){s->p, (size_t)n};
    *s = (struct str){s->p + n, s->n - (size_t)n};
    return true;
}

int wire_next(struct str *message, struct wire_field *ret)
{
    struct wire_field f = {0};
    uint64_t tag;
    bool good;

    if (message->n == 0)
        return 0;
    if (!wire_take_varint(message, &tag) || tag >> 3 == 0 || tag >> 3 > MAX_FIELD_NUMBER)
        return -EINVAL;
    f.number = (uint32_t)(tag >> 3);
    f.type = (enum wire_type)(tag & 7);
    if ((tag & 7) == WIRE_VARINT)
        good = wire_take_varint(message, &f.value);
    else if ((tag & 7) == WIRE_FIXED64)
        good = take_fixed(message, 8, &f.value);
    else if ((tag & 7) == WIRE_FIXED32)
        good = take_fixed(message, 4, &f.value);
    else
        good = (tag & 7) == WIRE_BYTES && take_bytes(message, &f.bytes);
    if (!good)
        return -EINVAL;
    *ret = f;
    return 1;
}

static void wire_put_varint(struct buf *b, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        buf_addc(b, (char)(value | 0x80));
    buf_addc(b, (char)value);
}

static void put_tag(struct buf *b, uint32_t number, enum wire_type type)
{
    wire_put_varint(b, (uint64_t)number << 3 | type);
}

void wire_put_bytes(struct buf *b, uint32_t number, struct str bytes)
{
    put_tag(b, number, WIRE_BYTES);
    wire_put_varint(b, bytes.n);
    buf_addstr(b, bytes);
}

void wire_put_text(struct buf *b, uint32_t number, const char *text)
{
    wire_put_bytes(b, number, str_of(text));
}

void wire_put_uint(struct buf *b, uint32_t number, uint64_t value)
{
    put_tag(b, number, WIRE_VARINT);
    wire_put_varint(b, value);
}

void wire_put_double(struct buf *b, uint32_t number, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    put_tag(b, number, WIRE_FIXED64);
    for (int i = 0; i < 8; i++)
        buf_addc(b, (char)(bits >> (8 * i)));
}
