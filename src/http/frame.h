/* SPDX-License-Identifier: GPL-2.0-or-later */
/* WebSocket frames (RFC 6455) as a server reads and writes them; no I/O. */
#pragma once

#include "src/base/buf.h"

enum frame_opcode {
    FRAME_CONTINUATION = 0,
    FRAME_TEXT = 1,
    FRAME_BINARY = 2,
    FRAME_CLOSE = 8,
    FRAME_PING = 9,
    FRAME_PONG = 10,
};

/* Codes of the end. */
enum {
    FRAME_NORMAL = 1000,
    FRAME_GOING_AWAY = 1001,
    FRAME_PROTOCOL_ERROR = 1002,
    FRAME_UNACCEPTABLE = 1003,
    FRAME_NO_CODE = 1005,  /* never sent: the peer gave none */
    FRAME_ABNORMAL = 1006, /* never sent: the connection broke */
    FRAME_BAD_TEXT = 1007,
    FRAME_TOO_BIG = 1009,
    FRAME_INTERNAL_ERROR = 1011,
};

/*
 * Told for each whole message (TEXT, BINARY) and each control frame (CLOSE, PING, PONG).  Return
 * false to decode no further.
 */
typedef bool (*frame_fn)(void *arg, enum frame_opcode opcode, struct str data);

/* frame_decoder_init, then frame_decode as bytes arrive. */
struct frame_decoder {
    unsigned char head[14];
    size_t head_n;
    size_t head_want; /* bytes of the head, as far as known */
    bool in_payload;
    enum frame_opcode opcode; /* of the frame */
    bool fin;
    uint64_t left; /* of the payload */
    size_t mask_at;
    bool in_message; /* a message has begun and not ended */
    enum frame_opcode message_opcode;
    struct buf message;
    struct buf control;
};

void frame_decoder_init(struct frame_decoder *d, size_t max_message_bytes);
void frame_decoder_done(struct frame_decoder *d);

/* Returns 0, or the code to close with when the peer breaks the protocol. */
int frame_decode(struct frame_decoder *d, struct str data, frame_fn fn, void *arg) MUST_CHECK;

/* Head of an unmasked, whole frame; at most 10 bytes. */
#define FRAME_HEAD_MAX 10
size_t frame_encode_head(enum frame_opcode opcode, size_t n,
                         unsigned char ret_head[FRAME_HEAD_MAX]);

/* May a peer send this code in a close frame? */
bool frame_code_ok(int code);
