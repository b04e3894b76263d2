/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SPDY header blocks.
 *
 * All blocks of one direction are one zlib stream, primed with a dictionary that both sides know
 * and flushed after each block; so every block has to be read, in order, even if nobody cares for
 * it.
 *
 * The dictionary is the protocol's: header names of 2012, each after its length as four bytes, and
 * a tail of common values.  It is put together here from the names, and held against its
 * known checksum.
 */
#include "src/http/spdy_block.h"

#include <pthread.h>
#include <string.h>

#include "src/base/alloc.h"

#define MAX_BLOCK_BYTES 65536
#define DICTIONARY_BYTES 1423
#define DICTIONARY_ADLER 0xe3c6a7c2UL
/* Small: what we say is short, and the window must only hold the dictionary. */
#define OUT_WINDOW_BITS 11
#define OUT_MEM_LEVEL 2

static const char *const names[] = {"options",
                                    "head",
                                    "post",
                                    "put",
                                    "delete",
                                    "trace",
                                    "accept",
                                    "accept-charset",
                                    "accept-encoding",
                                    "accept-language",
                                    "accept-ranges",
                                    "age",
                                    "allow",
                                    "authorization",
                                    "cache-control",
                                    "connection",
                                    "content-base",
                                    "content-encoding",
                                    "content-language",
                                    "content-length",
                                    "content-location",
                                    "content-md5",
                                    "content-range",
                                    "content-type",
                                    "date",
                                    "etag",
                                    "expect",
                                    "expires",
                                    "from",
                                    "host",
                                    "if-match",
                                    "if-modified-since",
                                    "if-none-match",
                                    "if-range",
                                    "if-unmodified-since",
                                    "last-modified",
                                    "location",
                                    "max-forwards",
                                    "pragma",
                                    "proxy-authenticate",
                                    "proxy-authorization",
                                    "range",
                                    "referer",
                                    "retry-after",
                                    "server",
                                    "te",
                                    "trailer",
                                    "transfer-encoding",
                                    "upgrade",
                                    "user-agent",
                                    "vary",
                                    "via",
                                    "warning",
                                    "www-authenticate",
                                    "method",
                                    "get",
                                    "status",
                                    "200 OK",
                                    "version",
                                    "HTTP/1.1",
                                    "url",
                                    "public",
                                    "set-cookie",
                                    "keep-alive",
                                    "origin"};

static const char tail[] =
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request"
    "401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented"
    "503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 "
    "Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,"
    "application/xml,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age="
    "gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

static unsigned char dictionary[DICTIONARY_BYTES];

static void add_u32(struct buf *b, size_t v)
{
    char bytes[4] = {(char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v};

    buf_add(b, bytes, 4);
}

static void make_dictionary(void)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        add_u32(&b, strlen(names[i]));
        buf_adds(&b, names[i]);
    }
    buf_adds(&b, tail);
    assert(b.n == DICTIONARY_BYTES);
    memcpy(dictionary, b.p, b.n);
    assert(adler32(adler32(0, NULL, 0), dictionary, DICTIONARY_BYTES) == DICTIONARY_ADLER);
}

void spdy_blocks_init(struct spdy_blocks *z)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, make_dictionary);
    *z = (struct spdy_blocks){0};
    if (inflateInit(&z->in) != Z_OK ||
        deflateInit2(&z->out, Z_BEST_SPEED, Z_DEFLATED, OUT_WINDOW_BITS, OUT_MEM_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK ||
        deflateSetDictionary(&z->out, dictionary, DICTIONARY_BYTES) != Z_OK)
        abort(); /* they only allocate */
}

void spdy_blocks_done(struct spdy_blocks *z)
{
    (void)inflateEnd(&z->in);
    (void)deflateEnd(&z->out);
}

void spdy_headers_done(struct spdy_headers *h)
{
    free(h->text);
    *h = (struct spdy_headers){0};
}

const char *spdy_headers_get(const struct spdy_headers *h, const char *name)
{
    for (size_t i = 0; i < h->n; i++) {
        if (streq(h->items[i].name, name))
            return h->items[i].value;
    }
    return NULL;
}

static int inflate_block(z_stream *z, struct str block, struct buf *into)
{
    unsigned char piece[4096];

    z->next_in = (const unsigned char *)block.p;
    z->avail_in = (unsigned int)block.n;
    do {
        int r;

        z->next_out = piece;
        z->avail_out = sizeof(piece);
        r = inflate(z, Z_SYNC_FLUSH);
        if (r == Z_NEED_DICT) {
            if (inflateSetDictionary(z, dictionary, DICTIONARY_BYTES) != Z_OK)
                return -EPROTO;
            continue;
        }
        if (r != Z_OK && r != Z_BUF_ERROR)
            return -EPROTO;
        buf_add(into, piece, sizeof(piece) - z->avail_out);
        if (into->overflow || (r == Z_BUF_ERROR && z->avail_in > 0))
            return -EPROTO;
    } while (z->avail_in > 0 || z->avail_out == 0);
    return 0;
}

static int take_u32(struct str *s, uint32_t *ret_v)
{
    const unsigned char *p = (const unsigned char *)s->p;

    if (s->n < 4)
        return -EPROTO;
    *ret_v = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    s->p += 4;
    s->n -= 4;
    return 0;
}

/* A counted string; its terminated copy goes to the end of text, whose room does not move. */
static int take_string(struct str *s, struct buf *text, const char **ret_text)
{
    size_t at = text->n;
    uint32_t n;

    if (take_u32(s, &n) < 0 || n > s->n || memchr(s->p, '\0', n))
        return -EPROTO;
    buf_add(text, s->p, n);
    buf_addc(text, '\0');
    s->p += n;
    s->n -= n;
    *ret_text = text->p + at;
    return 0;
}

static int parse_block(struct str s, struct spdy_headers *ret_headers)
{
    AUTO(buf_done) struct buf text = {0};
    struct spdy_headers h = {0};
    uint32_t n;

    if (take_u32(&s, &n) < 0 || n > SPDY_MAX_HEADERS)
        return -EPROTO;
    if (buf_room(&text, s.n + 2 * (size_t)n + 1))
        buf_grew(&text, 0);
    for (h.n = 0; h.n < n; h.n++) {
        if (take_string(&s, &text, &h.items[h.n].name) < 0 ||
            take_string(&s, &text, &h.items[h.n].value) < 0)
            return -EPROTO;
    }
    h.text = buf_take(&text);
    *ret_headers = h;
    return 0;
}

int spdy_block_read(struct spdy_blocks *z, struct str block, struct spdy_headers *ret_headers)
{
    AUTO(buf_done) struct buf plain = {.max = MAX_BLOCK_BYTES};
    int r = inflate_block(&z->in, block, &plain);

    return r < 0 ? r : parse_block(buf_view(&plain), ret_headers);
}

void spdy_block_write(struct spdy_blocks *z, const struct spdy_header *headers, size_t n,
                      struct buf *into)
{
    AUTO(buf_done) struct buf plain = {0};
    unsigned char piece[1024];

    add_u32(&plain, n);
    for (size_t i = 0; i < n; i++) {
        add_u32(&plain, strlen(headers[i].name));
        buf_adds(&plain, headers[i].name);
        add_u32(&plain, strlen(headers[i].value));
        buf_adds(&plain, headers[i].value);
    }
    z->out.next_in = (const unsigned char *)buf_str(&plain);
    z->out.avail_in = (unsigned int)plain.n;
    do {
        z->out.next_out = piece;
        z->out.avail_out = sizeof(piece);
        (void)deflate(&z->out, Z_SYNC_FLUSH);
        buf_add(into, piece, sizeof(piece) - z->out.avail_out);
    } while (z->out.avail_out == 0);
}
