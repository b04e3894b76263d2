/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: requests as they arrive at the server.
 *
 * The bytes are taken as requests one after the other: head, body, next head.  What is accepted
 * must hold what the server builds upon: a path, clean strings, one framing; and a chunked body
 * must come out the same whether its bytes arrive together or one by one.  Paths, queries and
 * Accept headers go on to their parsers.
 */
#include "src/base/alloc.h"
#include "src/http/chunk.h"
#include "src/http/head.h"
#include "src/http/media.h"
#include "src/http/url.h"

#define MAX_BODY 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *s)
{
    assert(!strpbrk(s, "\r\n"));
}

static void check_target(const struct http_head *h)
{
    AUTO(url_path_done) struct url_path path = {0};
    AUTO(url_query_done) struct url_query query = {0};
    struct err e = {0};

    assert(h->path[0] == '/' && !strpbrk(h->path, " ?#"));
    check_text(h->query);
    if (url_path_parse(h->path, &path, &e) == 0) {
        for (size_t i = 0; i < path.n; i++)
            assert(*path.segments[i] && !strchr(path.segments[i], '/'));
    }
    if (url_query_parse(h->query, &query, &e) == 0 && query.n > 0)
        assert(url_query_get(&query, query.params[0].key) == query.params[0].value);
}

static void check_head(const struct http_head *h)
{
    struct media_accept accept;
    struct media_range type;

    assert(*h->method);
    assert(!(h->chunked && h->has_length));
    check_target(h);
    for (size_t i = 0; i < h->n_headers; i++) {
        check_text(h->headers[i].name);
        check_text(h->headers[i].value);
        assert(!strpbrk(h->headers[i].name, " \t:"));
    }
    if (media_accept_parse(http_head_get(h, "accept", 0), &accept) == 0) {
        for (size_t i = 1; i < accept.n; i++)
            assert(accept.ranges[i - 1].q >= accept.ranges[i].q);
    }
    if (http_head_get(h, "content-type", 0))
        (void)!media_type_parse(str_of(http_head_get(h, "content-type", 0)), &type);
}

static int decode_bytewise(struct str *data, struct buf *body)
{
    struct chunk_decoder d = {0};

    while (data->n > 0) {
        struct str one = {data->p, 1};
        int r = chunk_decode(&d, &one, body);

        data->p++;
        data->n--;
        if (r)
            return r;
    }
    return 0;
}

/* Takes the body off *data; true if another request may follow. */
static bool take_chunked(struct str *data)
{
    AUTO(buf_done) struct buf body = {.max = MAX_BODY}, again = {.max = MAX_BODY};
    struct str copy = *data;
    struct chunk_decoder d = {0};
    int r = chunk_decode(&d, data, &body);

    if (r == -EMSGSIZE)
        return false;
    assert(decode_bytewise(&copy, &again) == r);
    assert(str_eq(buf_view(&body), buf_view(&again)));
    assert(r != 1 || copy.n == data->n);
    return r == 1;
}

static bool take_body(const struct http_head *h, struct str *data)
{
    if (h->chunked)
        return take_chunked(data);
    if (h->has_length && h->length > data->n)
        return false;
    data->p += h->has_length ? h->length : 0;
    data->n -= h->has_length ? (size_t)h->length : 0;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = {(const char *)data, size};

    for (;;) {
        AUTO(http_head_done) struct http_head h = {0};
        const char *why = NULL;
        size_t end = rest.n ? http_head_end(rest, 0) : 0;

        if (end == 0)
            return 0;
        if (http_head_parse((struct str){rest.p, end}, &h, &why) != 0) {
            assert(why && *why);
            return 0;
        }
        check_head(&h);
        rest.p += end;
        rest.n -= end;
        if (!take_body(&h, &rest))
            return 0;
    }
}
