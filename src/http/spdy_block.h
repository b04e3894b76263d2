/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Header blocks of SPDY/3.1: names and values, compressed with one context per direction. */
#pragma once

#define ZLIB_CONST /* its inputs are const */
#include <zlib.h>

#include "src/base/buf.h"

#define SPDY_MAX_HEADERS 32

struct spdy_header {
    const char *name; /* lower case */
    const char *value;
};

/* Strings live in `text`. */
struct spdy_headers {
    struct spdy_header items[SPDY_MAX_HEADERS];
    size_t n;
    char *text;
};

void spdy_headers_done(struct spdy_headers *h);
DEFINE_AUTO_DONE(struct spdy_headers, spdy_headers_done);
/* The value, or NULL. */
const char *spdy_headers_get(const struct spdy_headers *h, const char *name);

/* The two running contexts of a session. */
struct spdy_blocks {
    z_stream in;
    z_stream out;
};

void spdy_blocks_init(struct spdy_blocks *z);
void spdy_blocks_done(struct spdy_blocks *z);

/* Decompress and parse a block.  -EPROTO if it is malformed or too large; the context is then of no
 * use any more. */
int spdy_block_read(struct spdy_blocks *z, struct str block,
                    struct spdy_headers *ret_headers) MUST_CHECK;

/* Append a block of n headers. */
void spdy_block_write(struct spdy_blocks *z, const struct spdy_header *headers, size_t n,
                      struct buf *into);
