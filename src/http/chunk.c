/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chunked bodies.
 *
 * A machine that takes bytes as they come, so that nothing waits in a buffer for the rest of a
 * line. Strict as the head parser is: CR LF ends each line, a size has 1 to 8 hexadecimal digits,
 * and nothing stands between digits and extension.  Extensions and trailers are skipped; all of
 * them together may be no longer than MAX_OVERHEAD, since otherwise a peer could send them for
 * ever.
 */
#include "src/http/chunk.h"

#define MAX_OVERHEAD 8192
#define MAX_DIGITS 8 /* up to 4 GiB; the body's cap is far below */

static int in_size(struct chunk_decoder *d, char c)
{
    int v = str_hex_digit(c);

    if (v >= 0) {
        if (++d->digits > MAX_DIGITS)
            return -EBADMSG;
        d->left = d->left * 16 + (unsigned int)v;
        return 0;
    }
    if (d->digits == 0)
        return -EBADMSG;
    if (c == ';')
        d->state = CHUNK_EXT;
    else if (c == '\r')
        d->state = CHUNK_SIZE_LF;
    else
        return -EBADMSG;
    return 0;
}

/* A byte that must be `want`, and leads to `next`. */
static int expect(struct chunk_decoder *d, char c, char want, enum chunk_state next)
{
    if (c != want)
        return -EBADMSG;
    d->state = next;
    return 0;
}

/* A byte of an extension or a trailer: skipped until CR. */
static int skip(struct chunk_decoder *d, char c, enum chunk_state at_cr)
{
    if (c == '\n' || c == '\0' || ++d->overhead_bytes > MAX_OVERHEAD)
        return -EBADMSG;
    if (c == '\r')
        d->state = at_cr;
    return 0;
}

static int size_ended(struct chunk_decoder *d, char c)
{
    d->digits = 0;
    return expect(d, c, '\n', d->left > 0 ? CHUNK_DATA : CHUNK_TRAILER);
}

static int in_trailer(struct chunk_decoder *d, char c)
{
    if (c == '\r')
        return expect(d, c, '\r', CHUNK_END_LF);
    d->state = CHUNK_TRAILER_IN;
    return skip(d, c, CHUNK_TRAILER_LF);
}

static int step(struct chunk_decoder *d, char c)
{
    switch (d->state) {
    case CHUNK_SIZE:
        return in_size(d, c);
    case CHUNK_EXT:
        return skip(d, c, CHUNK_SIZE_LF);
    case CHUNK_SIZE_LF:
        return size_ended(d, c);
    case CHUNK_DATA_CR:
        return expect(d, c, '\r', CHUNK_DATA_LF);
    case CHUNK_DATA_LF:
        return expect(d, c, '\n', CHUNK_SIZE);
    case CHUNK_TRAILER:
        return in_trailer(d, c);
    case CHUNK_TRAILER_IN:
        return skip(d, c, CHUNK_TRAILER_LF);
    case CHUNK_TRAILER_LF:
        return expect(d, c, '\n', CHUNK_TRAILER);
    case CHUNK_END_LF:
        return expect(d, c, '\n', CHUNK_DONE);
    case CHUNK_DATA:
    case CHUNK_DONE:
        break;
    }
    return -EBADMSG;
}

static int take_data(struct chunk_decoder *d, struct str *data, struct buf *body)
{
    size_t n = (size_t)MIN(d->left, (uint64_t)data->n);

    buf_add(body, data->p, n);
    if (body->overflow)
        return -EMSGSIZE;
    data->p += n;
    data->n -= n;
    d->left -= n;
    if (d->left == 0)
        d->state = CHUNK_DATA_CR;
    return 0;
}

int chunk_decode(struct chunk_decoder *d, struct str *data, struct buf *body)
{
    while (d->state != CHUNK_DONE && data->n > 0) {
        int r;

        if (d->state == CHUNK_DATA) {
            r = take_data(d, data, body);
        } else {
            r = step(d, *data->p);
            data->p++;
            data->n--;
        }
        if (r < 0)
            return r;
    }
    return d->state == CHUNK_DONE;
}
