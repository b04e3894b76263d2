/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From bytes to exchanges.
 *
 * Bytes are read into the server's one scratch buffer.  A body takes them from there directly;
 * everything else goes through the connection's `in`, which is empty, and freed, as soon as all of
 * it is understood.  Requests sent ahead (pipelining) wait in `in` until the answer before them is
 * queued; they are then looked at in the next turn.
 *
 * The scratch buffer holds more than a TLS record, so that after a read TLS has nothing left that
 * the loop would not know of.
 *
 * The end of the peer's sending is taken as its leaving: whoever closes half has no answer to come.
 */
#include "src/base/alloc.h"
#include "src/http/internal.h"

#define READ_ROUNDS 8
#define RECORD_LIKELY_FULL 4096
#define AHEAD_BACKLOG_BYTES (1 << 20)

static void request_fill(struct http_exchange *x)
{
    struct conn *c = x->conn;

    x->request = (struct http_request){
        .method = x->head.method,
        .path = x->head.path,
        .query = x->head.query,
        .body = buf_view(&x->body),
        .body_present = x->head.chunked || (x->head.has_length && x->head.length > 0),
        .peer = c->peer.text,
        .tls_cn = c->tls_cn,
        .tls_orgs = (const char *const *)c->tls_orgs,
        .tls_sha256 = c->tls_sha256,
    };
    x->is_head = streq(x->head.method, "HEAD");
}

static void dispatch(struct conn *c)
{
    struct http_exchange *x = c->exchange;

    request_fill(x);
    bodies_settle(c, x->body.n);
    if (!c->known)
        c->stranger_bytes += x->body.n;
    c->close_after = !x->head.keep_alive;
    conn_set_state(c, CONN_ANSWER);
    c->server->options.handler(c->server->options.arg, x);
}

void conn_refuse(struct conn *c, int status, const char *why)
{
    if (c->exchange)
        exchange_free(TAKE(c->exchange));
    bodies_release(c);
    c->unread_input = true;
    buf_done(&c->in);
    answer_refusal(c, status, why);
    conn_set_state(c, CONN_FLUSH);
    conn_update_events(c);
    conn_mark_dirty(c);
}

static bool body_expected(const struct http_head *h)
{
    return h->chunked || (h->has_length && h->length > 0);
}

static void refuse_large(struct conn *c)
{
    if (c->known)
        conn_refuse(c, 413, "the body of the request is too large");
    else
        conn_refuse(c, 401, "credentials are needed to send that much");
}

void conn_begin_body(struct conn *c)
{
    conn_set_state(c, CONN_BODY);
    if (c->exchange->head.expect_continue && c->in.n == 0) {
        buf_adds(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
        conn_mark_dirty(c);
    }
}

static void expect_body(struct conn *c)
{
    struct http_exchange *x = c->exchange;
    size_t max = judge_max_body(c);

    if (max == 0 || (x->head.has_length && x->head.length > max)) {
        refuse_large(c);
        return;
    }
    buf_init(&x->body, max);
    conn_set_state(c, CONN_BODY);
    if (bodies_reserve(c, x->head.has_length ? (size_t)x->head.length : max))
        conn_begin_body(c);
}

/* A request has begun: its sender first, then its body. */
static void begin_exchange(struct conn *c, struct http_head *head)
{
    c->exchange = xcalloc(1, sizeof(*c->exchange));
    c->exchange->conn = c;
    c->exchange->head = *head;
    *head = (struct http_head){0};
    request_fill(c->exchange);
    if (!judge_head(c))
        return;
    if (body_expected(&c->exchange->head))
        expect_body(c);
    else
        dispatch(c);
}

static void skip_empty_lines(struct conn *c)
{
    size_t n = 0;

    while (c->in.n >= n + 2 && memcmp(c->in.p + n, "\r\n", 2) == 0)
        n += 2;
    buf_eat(&c->in, n);
}

/* Take a head off `in`.  False: it is not there yet, or was refused. */
static bool take_head(struct conn *c)
{
    size_t max = c->server->limits.max_header_bytes;
    AUTO(http_head_done) struct http_head head = {0};
    const char *why = NULL;
    size_t end;
    int status;

    if (c->state == CONN_IDLE) {
        skip_empty_lines(c);
        if (c->in.n == 0)
            return false;
        conn_set_state(c, CONN_HEAD);
    }
    end = http_head_end(buf_view(&c->in), c->in_seen);
    c->in_seen = c->in.n;
    if (end > max || (end == 0 && c->in.n > max)) {
        conn_refuse(c, 431, "the head of the request is too large");
        return false;
    }
    if (end == 0)
        return false;
    status = http_head_parse((struct str){c->in.p, end}, &head, &why);
    if (status) {
        conn_refuse(c, status, why);
        return false;
    }
    buf_eat(&c->in, end);
    c->in_seen = 0;
    begin_exchange(c, &head);
    return true;
}

static int take_length(struct http_exchange *x, struct str *data)
{
    size_t n = (size_t)MIN(x->head.length - x->body.n, (uint64_t)data->n);

    buf_add(&x->body, data->p, n);
    data->p += n;
    data->n -= n;
    return x->body.n == x->head.length;
}

/* Feed the body from *data, and hand the request over once it is whole. */
static void take_body(struct conn *c, struct str *data)
{
    struct http_exchange *x = c->exchange;
    int r;

    if (x->head.chunked)
        r = chunk_decode(&x->chunks, data, &x->body);
    else
        r = take_length(x, data);
    if (r == -EMSGSIZE)
        refuse_large(c);
    else if (r < 0)
        conn_refuse(c, 400, "the body of the request is not properly chunked");
    else if (r == 1)
        dispatch(c);
    else if (c->known)
        conn_set_state(c, CONN_BODY); /* progress: a new deadline */
}

static void take_body_from_in(struct conn *c)
{
    struct str rest = buf_view(&c->in);
    struct buf in = c->in;

    c->in = (struct buf){0};
    take_body(c, &rest);
    if (c->state == CONN_FLUSH)
        c->unread_input |= rest.n > 0;
    else if (c->state != CONN_DEAD)
        buf_addstr(&c->in, rest);
    buf_done(&in);
}

static void raw_from_in(struct conn *c)
{
    AUTO(buf_done) struct buf in = c->in;

    c->in = (struct buf){0};
    c->raw.on_data(c->raw.arg, buf_view(&in));
}

/* One step with what is in `in`; false when there is none to make. */
static bool advance_once(struct conn *c)
{
    if (c->in.n == 0)
        return false;
    switch (c->state) {
    case CONN_IDLE:
    case CONN_HEAD:
        return conn_backlog(c) <= AHEAD_BACKLOG_BYTES && take_head(c);
    case CONN_BODY:
        if (bodies_wait(c))
            return false;
        take_body_from_in(c);
        return true;
    case CONN_RAW:
        if (c->raw.paused)
            return false;
        raw_from_in(c);
        return true;
    case CONN_HANDSHAKE:
    case CONN_ANSWER:
    case CONN_FLUSH:
    case CONN_LINGER:
    case CONN_DEAD:
        break;
    }
    return false;
}

void conn_advance(struct conn *c)
{
    if (c->in_advance)
        return;
    c->in_advance = true;
    while (advance_once(c))
        ;
    c->in_advance = false;
    if (c->state == CONN_DEAD)
        return;
    if (c->in.n == 0)
        buf_done(&c->in);
    conn_update_events(c);
}

static void feed(struct conn *c, struct str data)
{
    if (c->state == CONN_LINGER)
        return;
    if (c->in.n == 0 && c->state == CONN_BODY && !bodies_wait(c))
        take_body(c, &data);
    if (c->state == CONN_DEAD || c->state == CONN_FLUSH || data.n == 0)
        return;
    if (c->in.n == 0 && c->state == CONN_RAW) {
        c->raw.on_data(c->raw.arg, data);
        return;
    }
    buf_addstr(&c->in, data);
    conn_advance(c);
}

static bool may_read_on(const struct conn *c, size_t got)
{
    if (c->state == CONN_DEAD || c->state == CONN_FLUSH)
        return false;
    if (c->state == CONN_RAW && (c->raw.paused || conn_backlog(c) > RAW_BACKLOG_BYTES))
        return false;
    if (c->in.n > c->server->limits.max_header_bytes || bodies_wait(c))
        return false;
    return got >= (c->transport.ssl ? RECORD_LIKELY_FULL : SCRATCH_BYTES);
}

static void peer_left(struct conn *c, bool orderly)
{
    if (orderly && conn_backlog(c) > 0 && (c->state == CONN_IDLE || c->state == CONN_HEAD)) {
        /* It has asked all it wanted to; the last answers are still on their way. */
        buf_done(&c->in);
        conn_set_state(c, CONN_FLUSH);
        conn_update_events(c);
        conn_mark_dirty(c);
        return;
    }
    conn_end(c);
}

void conn_read(struct conn *c)
{
    char *scratch = c->server->scratch;
    ssize_t n;

    for (int i = 0;; i++) {
        n = transport_read(&c->transport, scratch, SCRATCH_BYTES);
        if (n <= 0)
            break;
        feed(c, (struct str){scratch, (size_t)n});
        if (c->state == CONN_DEAD)
            return;
        if (!may_read_on(c, (size_t)n) || i >= READ_ROUNDS)
            break;
    }
    if (n == 0 || (n < 0 && n != -EAGAIN))
        peer_left(c, n == 0);
    else
        conn_update_events(c);
    if (c->state != CONN_DEAD)
        room_charge(c);
}
