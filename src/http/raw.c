/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Upgraded connections: after 101 the peer's bytes go to the owner as they are.
 *
 * Bytes that came right after the request wait in `in` and are told in the next turn, so that the
 * owner has its handle before its first callback.
 */
#include "src/base/alloc.h"
#include "src/http/internal.h"

static struct conn *conn_of(struct http_raw *r)
{
    return CONTAINER_OF(r, struct conn, raw);
}

struct http_raw *http_upgrade(struct http_exchange *x, const char *headers,
                              http_raw_data_fn on_data, loop_defer_fn on_close, void *arg)
{
    buf_printf(&x->conn->out, "HTTP/1.1 101 Switching Protocols\r\n%s\r\n", headers);
    return http_hijack(x, on_data, on_close, arg);
}

struct http_raw *http_hijack(struct http_exchange *x, http_raw_data_fn on_data,
                             loop_defer_fn on_close, void *arg)
{
    struct conn *c = x->conn;

    assert(c->state == CONN_ANSWER && c->exchange == x && !x->streaming);
    exchange_bury(c);
    bodies_release(c);
    c->raw = (struct http_raw){.on_data = on_data, .on_close = on_close, .arg = arg};
    conn_set_state(c, CONN_RAW);
    conn_mark_dirty(c);
    if (c->in.n > 0)
        conn_look_again(c);
    return &c->raw;
}

void http_raw_write(struct http_raw *r, struct str data)
{
    struct conn *c = conn_of(r);

    assert(c->state == CONN_RAW);
    if (data.n == 0)
        return;
    buf_addstr(&c->out, data);
    conn_mark_dirty(c);
}

size_t http_raw_backlog(const struct http_raw *r)
{
    const struct conn *c =
        (const struct conn *)(const void *)((const char *)r - offsetof(struct conn, raw));

    return conn_backlog(c);
}

void http_raw_on_drain(struct http_raw *r, loop_defer_fn fn, void *arg)
{
    struct conn *c = conn_of(r);

    c->on_drain = fn;
    c->on_drain_arg = arg;
}

void http_raw_pause(struct http_raw *r, bool on)
{
    struct conn *c = conn_of(r);

    assert(c->state == CONN_RAW);
    if (r->paused == on)
        return;
    r->paused = on;
    if (!on && c->in.n > 0)
        conn_look_again(c);
    conn_update_events(c);
}

void http_raw_close(struct http_raw *r)
{
    struct conn *c = conn_of(r);

    assert(c->state == CONN_RAW);
    c->on_drain = NULL;
    c->unread_input = true;
    buf_done(&c->in);
    conn_set_state(c, CONN_FLUSH);
    conn_update_events(c);
    conn_mark_dirty(c);
}
