/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * WebSocket frames.
 *
 * A machine over bytes: a head of 6 to 14 bytes, then a masked payload, unmasked on its way into
 * the message.  Messages may come in several frames with control frames between them.  What a
 * client must not do (no mask, reserved bits or opcodes, long or cut control frames, a continuation
 * of nothing, text that is not UTF-8) ends the connection with the code that the RFC names.
 */
#include "src/http/frame.h"

#define MAX_CONTROL 125

void frame_decoder_init(struct frame_decoder *d, size_t max_message_bytes)
{
    *d = (struct frame_decoder){.head_want = 2};
    buf_init(&d->message, max_message_bytes);
    buf_init(&d->control, MAX_CONTROL);
}

void frame_decoder_done(struct frame_decoder *d)
{
    buf_done(&d->message);
    buf_done(&d->control);
}

static bool is_control(enum frame_opcode opcode)
{
    return (opcode & 8) != 0;
}

/* The first two bytes are there: what kind of frame, and how long is its head? */
static int first_bytes(struct frame_decoder *d)
{
    unsigned char length = d->head[1] & 0x7f;

    d->opcode = (enum frame_opcode)(d->head[0] & 0x0f);
    d->fin = (d->head[0] & 0x80) != 0;
    if ((d->head[0] & 0x70) || !(d->head[1] & 0x80))
        return FRAME_PROTOCOL_ERROR;
    switch (d->opcode) {
    case FRAME_CONTINUATION:
        if (!d->in_message)
            return FRAME_PROTOCOL_ERROR;
        break;
    case FRAME_TEXT:
    case FRAME_BINARY:
        if (d->in_message)
            return FRAME_PROTOCOL_ERROR;
        break;
    case FRAME_CLOSE:
    case FRAME_PING:
    case FRAME_PONG:
        if (!d->fin || length > MAX_CONTROL)
            return FRAME_PROTOCOL_ERROR;
        break;
    default:
        return FRAME_PROTOCOL_ERROR;
    }
    d->head_want = length == 126 ? 8 : length == 127 ? 14 : 6;
    return 0;
}

/* The head is whole. */
static int head_ended(struct frame_decoder *d)
{
    size_t n_length = d->head_want - 6;

    d->left = n_length ? 0 : d->head[1] & 0x7f;
    for (size_t i = 0; i < n_length; i++)
        d->left = d->left << 8 | d->head[2 + i];
    if (d->left >> 63)
        return FRAME_PROTOCOL_ERROR;
    if (!is_control(d->opcode)) {
        if (d->left > d->message.max - d->message.n)
            return FRAME_TOO_BIG;
        if (d->opcode != FRAME_CONTINUATION)
            d->message_opcode = d->opcode;
        d->in_message = true;
    }
    d->in_payload = true;
    d->mask_at = 0;
    return 0;
}

static int take_head(struct frame_decoder *d, struct str *data)
{
    while (d->head_n < d->head_want && data->n > 0) {
        int r = 0;

        d->head[d->head_n++] = (unsigned char)*data->p++;
        data->n--;
        if (d->head_n == 2)
            r = first_bytes(d);
        if (r == 0 && d->head_n == d->head_want)
            r = head_ended(d);
        if (r)
            return r;
    }
    return 0;
}

static void take_payload(struct frame_decoder *d, struct str *data)
{
    struct buf *into = is_control(d->opcode) ? &d->control : &d->message;
    const unsigned char *mask = d->head + d->head_want - 4;
    size_t n = (size_t)MIN(d->left, (uint64_t)data->n);
    char *room = buf_room(into, n);

    assert(room); /* its length was checked against the maximum */
    for (size_t i = 0; i < n; i++)
        room[i] = (char)(data->p[i] ^ mask[(d->mask_at + i) & 3]);
    buf_grew(into, n);
    d->mask_at += n;
    d->left -= n;
    data->p += n;
    data->n -= n;
}

/* A frame is whole: tell it if it ends a message or stands alone. */
static int frame_ended(struct frame_decoder *d, frame_fn fn, void *arg, bool *ret_go_on)
{
    bool control = is_control(d->opcode);
    AUTO(buf_done) struct buf data = {0};

    d->head_n = 0;
    d->head_want = 2;
    d->in_payload = false;
    if (!control && !d->fin)
        return 0;
    if (control) {
        data = d->control;
        buf_init(&d->control, MAX_CONTROL);
    } else {
        data = d->message;
        buf_init(&d->message, data.max);
        d->in_message = false;
        if (d->message_opcode == FRAME_TEXT && !str_utf8_ok(buf_view(&data)))
            return FRAME_BAD_TEXT;
    }
    *ret_go_on = fn(arg, control ? d->opcode : d->message_opcode, buf_view(&data));
    return 0;
}

int frame_decode(struct frame_decoder *d, struct str data, frame_fn fn, void *arg)
{
    bool go_on = true;

    while (go_on && (data.n > 0 || (d->in_payload && d->left == 0))) {
        int r = 0;

        if (!d->in_payload)
            r = take_head(d, &data);
        else if (d->left > 0)
            take_payload(d, &data);
        if (r == 0 && d->in_payload && d->left == 0)
            r = frame_ended(d, fn, arg, &go_on);
        if (r)
            return r;
    }
    return 0;
}

size_t frame_encode_head(enum frame_opcode opcode, size_t n, unsigned char ret_head[FRAME_HEAD_MAX])
{
    size_t n_length = n > 65535 ? 8 : n > 125 ? 2 : 0;

    ret_head[0] = (unsigned char)(0x80 | opcode);
    ret_head[1] = (unsigned char)(n_length == 8 ? 127 : n_length == 2 ? 126 : n);
    for (size_t i = 0; i < n_length; i++)
        ret_head[2 + i] = (unsigned char)((uint64_t)n >> (8 * (n_length - 1 - i)));
    return 2 + n_length;
}

bool frame_code_ok(int code)
{
    if (code >= 3000 && code <= 4999)
        return true;
    return code >= 1000 && code <= 1014 && code != 1004 && code != FRAME_NO_CODE &&
           code != FRAME_ABNORMAL;
}
