/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames on a stream socket.
 *
 * A frame is the length of its body, four bytes with the highest first, and the body, which is one
 * JSON text.  Empty bodies and bodies above FRAME_MAX_BYTES do not exist: a peer that announces one
 * has lost its way, and its stream cannot be read on.
 *
 * Both sides of the socket are ours and run one call at a time, so that a buffer holds little more
 * than one frame, and taking it off the front copies next to nothing.
 */
#include "src/agent/frame.h"

#define READ_MIN ((size_t)16 << 10)
#define READ_MAX ((size_t)1 << 20)

void frame_add(struct buf *out, struct str body)
{
    unsigned char head[FRAME_HEAD_BYTES] = {(unsigned char)(body.n >> 24),
                                            (unsigned char)(body.n >> 16),
                                            (unsigned char)(body.n >> 8), (unsigned char)body.n};

    if (body.n == 0 || body.n > FRAME_MAX_BYTES) {
        out->overflow = true;
        return;
    }
    buf_add(out, head, sizeof(head));
    buf_addstr(out, body);
}

static size_t body_length(const struct buf *in)
{
    const unsigned char *p = (const unsigned char *)in->p;

    return (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
}

int frame_peek(const struct buf *in, struct str *ret_body)
{
    size_t n;

    if (in->n < FRAME_HEAD_BYTES)
        return 0;
    n = body_length(in);
    if (n == 0 || n > FRAME_MAX_BYTES)
        return -EBADMSG;
    if (in->n - FRAME_HEAD_BYTES < n)
        return 0;
    *ret_body = (struct str){in->p + FRAME_HEAD_BYTES, n};
    return 1;
}

void frame_drop(struct buf *in)
{
    buf_eat(in, FRAME_HEAD_BYTES + body_length(in));
}

size_t frame_want(const struct buf *in)
{
    size_t whole;

    if (in->n < FRAME_HEAD_BYTES)
        return READ_MIN;
    whole = FRAME_HEAD_BYTES + body_length(in);
    if (whole <= in->n)
        return READ_MIN;
    return MIN(MAX(whole - in->n, READ_MIN), READ_MAX);
}
