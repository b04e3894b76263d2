/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paths and queries of requests.
 *
 * Both are cut first and decoded afterwards, so that an escaped separator is never a separator. The
 * decoded pieces stand one after the other in one allocation.  Decoding never makes text longer,
 * hence one buffer of the raw length, plus a terminator for each piece, is enough and its pieces do
 * not move.
 */
#include "src/http/url.h"

#include <strings.h>

#include "src/base/alloc.h"
#include "src/base/encode.h"

/* Decode one piece to the end of `into`; its terminated text, or NULL if it cannot be decoded. */
static const char *decode_piece(struct buf *into, struct str piece, bool plus_is_space)
{
    size_t at = into->n;

    if (decode_url(into, piece, plus_is_space) < 0)
        return NULL;
    buf_addc(into, '\0');
    assert(!into->overflow);
    if (!str_utf8_ok((struct str){into->p + at, into->n - 1 - at}))
        return NULL;
    return into->p + at;
}

/* Room for n pieces of together `raw` bytes; nothing moves from here on. */
static void reserve(struct buf *b, struct str raw, size_t n)
{
    if (buf_room(b, raw.n + n + 1))
        buf_grew(b, 0);
    assert(!b->overflow);
}

static size_t count(struct str s, char c)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == c;
    return n;
}

static int add_segment(struct url_path *p, struct buf *text, struct str piece, struct err *e)
{
    const char *segment;

    if (p->n == URL_MAX_SEGMENTS)
        return err_bad(e, "the path has more than %d segments", URL_MAX_SEGMENTS);
    if (piece.n == 0)
        return err_bad(e, "the path has an empty segment");
    segment = decode_piece(text, piece, false);
    if (!segment)
        return err_bad(e, "the path segment '" STR_FMT "' is not properly encoded", STR_ARG(piece));
    if (strchr(segment, '/') || streq(segment, ".") || streq(segment, ".."))
        return err_bad(e, "the path segment '" STR_FMT "' is not a name", STR_ARG(piece));
    p->segments[p->n++] = segment;
    return 0;
}

int url_path_parse(const char *raw, struct url_path *ret_path, struct err *e)
{
    AUTO(buf_done) struct buf text = {0};
    struct str rest = str_of(raw);
    struct url_path p = {0};
    struct str piece;

    if (*raw != '/')
        return err_bad(e, "the path does not begin with '/'");
    reserve(&text, rest, count(rest, '/') + 1);
    rest.p++;
    rest.n--;
    if (rest.n > 0 && rest.p[rest.n - 1] == '/') {
        p.trailing_slash = true;
        rest.n--;
    }
    if (rest.n == 0 && !p.trailing_slash)
        rest.p = NULL;
    while (str_split(&rest, '/', &piece)) {
        int r = add_segment(&p, &text, piece, e);

        if (r < 0)
            return r;
    }
    p.text = buf_take(&text);
    *ret_path = p;
    return 0;
}

void url_path_done(struct url_path *p)
{
    free(p->text);
    *p = (struct url_path){0};
}

static int add_param(struct url_query *q, struct buf *text, struct str piece, struct err *e)
{
    struct str value = piece;
    struct str key;
    struct url_param *param = &q->params[q->n];

    (void)str_split(&value, '=', &key);
    param->key = decode_piece(text, key, true);
    param->value = decode_piece(text, value, true);
    if (!param->key || !param->value)
        return err_bad(e, "the query parameter '" STR_FMT "' is not properly encoded",
                       STR_ARG(piece));
    q->n++;
    return 0;
}

int url_query_parse(const char *raw, struct url_query *ret_query, struct err *e)
{
    AUTO(url_query_done) struct url_query q = {0};
    AUTO(buf_done) struct buf text = {0};
    struct str rest = str_of(raw);
    size_t n = count(rest, '&') + 1;
    struct str piece;

    if (n > URL_MAX_PARAMS)
        return err_bad(e, "the query has more than %d parameters", URL_MAX_PARAMS);
    reserve(&text, rest, 2 * n);
    q.params = xcalloc(n, sizeof(*q.params));
    while (str_split(&rest, '&', &piece)) {
        int r = piece.n ? add_param(&q, &text, piece, e) : 0;

        if (r < 0)
            return r;
    }
    q.text = buf_take(&text);
    *ret_query = q;
    q = (struct url_query){0};
    return 0;
}

void url_query_done(struct url_query *q)
{
    free(q->params);
    free(q->text);
    *q = (struct url_query){0};
}

const char *url_query_get_at(const struct url_query *q, const char *key, size_t i)
{
    for (size_t k = 0; k < q->n; k++) {
        if (streq(q->params[k].key, key) && i-- == 0)
            return q->params[k].value;
    }
    return NULL;
}

const char *url_query_get(const struct url_query *q, const char *key)
{
    return url_query_get_at(q, key, 0);
}

bool url_query_bool(const struct url_query *q, const char *key)
{
    const char *value = url_query_get(q, key);

    return value && !streq(value, "0") && strcasecmp(value, "false") != 0;
}

int url_query_i64(const struct url_query *q, const char *key, int64_t otherwise, int64_t *ret_value,
                  struct err *e)
{
    const char *value = url_query_get(q, key);

    if (!value || !*value) {
        *ret_value = otherwise;
        return 0;
    }
    if (str_to_i64(str_of(value), ret_value) < 0)
        return err_bad(e, "the query parameter %s: '%s' is not a number", key, value);
    return 0;
}
