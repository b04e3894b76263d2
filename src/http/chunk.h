/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decoder of chunked bodies, fed piece by piece. */
#pragma once

#include "src/base/buf.h"

enum chunk_state {
    CHUNK_SIZE,    /* in the hexadecimal size */
    CHUNK_EXT,     /* after it, in an extension that is skipped */
    CHUNK_SIZE_LF, /* the LF of the size line must come */
    CHUNK_DATA,
    CHUNK_DATA_CR,
    CHUNK_DATA_LF,
    CHUNK_TRAILER,    /* at the start of a trailer line */
    CHUNK_TRAILER_IN, /* inside one; trailers are skipped */
    CHUNK_TRAILER_LF,
    CHUNK_END_LF,
    CHUNK_DONE,
};

/* {0} is the start. */
struct chunk_decoder {
    enum chunk_state state;
    uint64_t left;         /* of the chunk's data */
    unsigned int digits;   /* of its size */
    size_t overhead_bytes; /* extensions and trailers so far */
};

/*
 * Decode from *data, appending to body; takes what it used off *data.  Returns 1 when the body has
 * ended, 0 when more is needed, -EBADMSG for malformed chunks, -EMSGSIZE when body is full.
 */
int chunk_decode(struct chunk_decoder *d, struct str *data, struct buf *body) MUST_CHECK;
