/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The protobuf wire format: fields read one after another, with every length checked. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/buf.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* One field; `bytes` borrows from the message. */
struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value;   /* of all types but WIRE_BYTES */
    struct str bytes; /* of WIRE_BYTES */
};

/*
 * Take the next field off the front of *message.  1: *ret is set; 0: the message is at its end;
 * -EINVAL: it is cut short or malformed (groups included).
 */
int wire_next(struct str *message, struct wire_field *ret);

/* Take one varint off the front; false if there is none. */
bool wire_take_varint(struct str *s, uint64_t *ret);

/* Append fields to a message that is being built. */
void wire_put_bytes(struct buf *b, uint32_t number, struct str bytes);
void wire_put_text(struct buf *b, uint32_t number, const char *text);
void wire_put_uint(struct buf *b, uint32_t number, uint64_t value);
void wire_put_double(struct buf *b, uint32_t number, double value);
