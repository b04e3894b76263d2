/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection's life: states, deadlines, readiness, output, end.
 *
 *   HANDSHAKE -> IDLE -> HEAD -> (BODY ->) ANSWER -> IDLE ...       a request and its answer
 *                                          ANSWER -> RAW            an upgrade
 *   any of them -> FLUSH -> (LINGER ->) DEAD                        the server ends it
 *   any of them -> DEAD                                             the peer ends it
 *
 * One timer serves all deadlines.  Moving a deadline later only notes it; the timer fires at its
 * old time, sees that it is too early and goes on: a busy connection costs no timer work.
 *
 * An idle connection holds this structure, two loop sources, its TLS state, and no buffer.
 */
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/texts.h"
#include "src/http/internal.h"

#define LINGER_MS 2000
#define COMPACT_BYTES (1 << 20)
#define KEEP_OUT_BYTES 16384 /* a stream's buffer up to this size is kept between writes */

static const char plain_on_tls[] =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    "Client sent an HTTP request to an HTTPS server.\n";

static int state_timeout_ms(const struct conn *c, enum conn_state state)
{
    const struct http_limits *l = &c->server->limits;

    switch (state) {
    case CONN_HANDSHAKE:
    case CONN_HEAD:
        return l->header_timeout_ms;
    case CONN_IDLE:
        return room_is_stranger(c) ? l->header_timeout_ms : l->idle_timeout_ms;
    case CONN_BODY:
    case CONN_FLUSH:
        return l->body_timeout_ms;
    case CONN_LINGER:
        return LINGER_MS;
    case CONN_ANSWER:
    case CONN_RAW:
    case CONN_DEAD:
        break;
    }
    return -1;
}

static void set_deadline(struct conn *c)
{
    int timeout_ms = state_timeout_ms(c, c->state);

    if (timeout_ms < 0) {
        c->deadline_ms = INT64_MAX;
        return;
    }
    c->deadline_ms = clock_mono_ms() + timeout_ms;
    if (loop_timer_armed(c->timer) && c->timer_ms <= c->deadline_ms)
        return;
    c->timer_ms = c->deadline_ms;
    loop_timer_arm(c->timer, timeout_ms);
}

void conn_set_state(struct conn *c, enum conn_state state)
{
    assert(c->state != CONN_DEAD);
    c->state = state;
    set_deadline(c);
    room_update(c);
}

static void deadline_reached(void *arg)
{
    struct conn *c = arg;
    int64_t now = clock_mono_ms();

    if (c->deadline_ms == INT64_MAX)
        return;
    if (now < c->deadline_ms) {
        c->timer_ms = c->deadline_ms;
        loop_timer_arm(c->timer, c->deadline_ms - now);
    } else if (c->state == CONN_HEAD) {
        conn_refuse(c, 408, "the head of the request took too long");
    } else if (bodies_wait(c)) {
        conn_refuse(c, 503, "the server is busy with the bodies of other requests");
    } else if (c->state == CONN_BODY) {
        conn_refuse(c, 408, "the body of the request took too long");
    } else {
        conn_end(c);
    }
}

static bool wants_input(const struct conn *c)
{
    switch (c->state) {
    case CONN_ANSWER:
    case CONN_IDLE:
    case CONN_HEAD:
        /* Requests sent ahead wait in `in`; a client that sends many waits, too. */
        return c->in.n <= c->server->limits.max_header_bytes;
    case CONN_RAW:
        /* Owners heed their backlog; answers to pings and the like are written without asking. */
        return !c->raw.paused && conn_backlog(c) <= RAW_BACKLOG_BYTES;
    case CONN_FLUSH:
    case CONN_DEAD:
        return false;
    case CONN_BODY:
        return !bodies_wait(c);
    case CONN_HANDSHAKE:
    case CONN_LINGER:
        break;
    }
    return true;
}

void conn_update_events(struct conn *c)
{
    uint32_t events = 0;

    if (wants_input(c))
        events |= c->transport.read_waits ? EPOLLOUT : EPOLLIN;
    if (c->blocked)
        events |= c->transport.write_waits ? EPOLLIN : EPOLLOUT;
    loop_fd_set_events(c->source, events);
}

void conn_mark_dirty(struct conn *c)
{
    if (c->state == CONN_DEAD || list_linked(&c->dirty))
        return;
    list_append(&c->server->dirty, &c->dirty);
    loop_want_hooks(c->server->loop);
}

void conn_look_again(struct conn *c)
{
    if (c->state == CONN_DEAD || list_linked(&c->again))
        return;
    list_append(&c->server->again, &c->again);
    loop_timer_arm(c->server->again_timer, 0);
}

static void handshake(struct conn *c)
{
    int r = transport_handshake(&c->transport);

    if (r == -EAGAIN) {
        conn_update_events(c);
        room_charge(c);
        return;
    }
    if (r < 0) {
        if (c->transport.plain_http)
            (void)send(c->transport.fd, plain_on_tls, sizeof(plain_on_tls) - 1, MSG_NOSIGNAL);
        conn_end(c);
        return;
    }
    transport_identity(&c->transport, &c->tls_cn, &c->tls_orgs, &c->tls_sha256);
    conn_set_state(c, CONN_IDLE);
    if (!c->tls_cn || room_know(c, c->tls_cn))
        conn_read(c);
}

static void ready(void *arg, int fd, uint32_t events)
{
    struct conn *c = arg;

    (void)fd;
    if (c->state == CONN_HANDSHAKE) {
        handshake(c);
        return;
    }
    if (c->blocked)
        conn_mark_dirty(c); /* and not now: see flush_dirty */
    if (wants_input(c))
        conn_read(c);
    else if (events & (EPOLLERR | EPOLLHUP))
        conn_end(c);
}

struct conn *conn_new(struct http_server *s, int fd, struct peer *peer)
{
    struct conn *c = xcalloc(1, sizeof(*c));

    c->server = s;
    c->peer = *peer;
    c->out.max = SIZE_MAX / 2; /* answers are not capped; streams are, in answer.c */
    transport_init(&c->transport, fd, s->options.tls);
    c->source = loop_add_fd(s->loop, fd, EPOLLIN, ready, c);
    c->timer = loop_add_timer(s->loop, deadline_reached, c);
    list_append(&s->conns, &c->link);
    s->n_conns++;
    room_enter(c);
    conn_set_state(c, s->options.tls ? CONN_HANDSHAKE : CONN_IDLE);
    return c;
}

static void bury(void *arg)
{
    struct conn *c = arg;

    (void)texts_free(c->tls_orgs);
    free(c->tls_cn);
    free(c->tls_sha256);
    free(c->peer.text);
    free(c->peer.account);
    buf_done(&c->in);
    buf_done(&c->out);
    free(c);
}

static void tell_the_end(struct conn *c, enum conn_state last)
{
    struct http_exchange *x = TAKE(c->exchange);

    if (last == CONN_RAW)
        c->raw.on_close(c->raw.arg);
    else if (last == CONN_ANSWER && x->on_close)
        x->on_close(x->on_close_arg);
    exchange_free(x);
}

void conn_end(struct conn *c)
{
    enum conn_state last = c->state;

    if (last == CONN_DEAD)
        return;
    c->state = CONN_DEAD;
    list_remove(&c->link);
    list_remove(&c->dirty);
    list_remove(&c->again);
    c->server->n_conns--;
    bodies_release(c);
    c->source = loop_source_free(c->source);
    c->timer = loop_source_free(c->timer);
    transport_done(&c->transport);
    room_leave(c);
    loop_defer_free(c->server->loop, bury, c);
    tell_the_end(c, last);
}

/* Write what is queued until the socket takes no more.  0, -EAGAIN, or why it failed. */
static int write_out(struct conn *c)
{
    while (conn_backlog(c) > 0) {
        ssize_t n = transport_write(&c->transport, c->out.p + c->out_sent, conn_backlog(c));

        if (n < 0)
            return (int)n;
        c->out_sent += (size_t)n;
    }
    return 0;
}

static void trim_out(struct conn *c)
{
    if (conn_backlog(c) > 0) {
        if (c->out_sent >= COMPACT_BYTES) {
            buf_eat(&c->out, c->out_sent);
            c->out_sent = 0;
        }
        return;
    }
    c->out_sent = 0;
    if (c->state == CONN_ANSWER && c->out.cap <= KEEP_OUT_BYTES)
        buf_clear(&c->out);
    else
        buf_done(&c->out);
}

static void finish(struct conn *c)
{
    if (!c->unread_input) {
        conn_end(c);
        return;
    }
    /* Closing now would reset the connection and could take the answer with it. */
    transport_finish(&c->transport);
    conn_set_state(c, CONN_LINGER);
    conn_update_events(c);
}

/* After bytes have gone: whoever waits for room, for more to do, or for the end. */
static void after_sending(struct conn *c, size_t sent)
{
    if (sent > 0 && (c->state == CONN_IDLE || c->state == CONN_FLUSH))
        set_deadline(c); /* progress */
    if (c->state == CONN_FLUSH && conn_backlog(c) == 0) {
        finish(c);
        return;
    }
    conn_update_events(c);
    if (c->state == CONN_IDLE) {
        room_update(c); /* its answer is out now */
        if (c->in.n > 0)
            conn_look_again(c);
    }
    if (sent > 0 && c->on_drain && conn_backlog(c) < DRAIN_BELOW_BYTES)
        c->on_drain(c->on_drain_arg);
}

void conn_flush(struct conn *c)
{
    size_t before = conn_backlog(c);
    size_t sent;
    int r;

    if (c->doomed) {
        conn_end(c);
        return;
    }
    r = write_out(c);
    if (r < 0 && r != -EAGAIN) {
        conn_end(c);
        return;
    }
    c->blocked = r == -EAGAIN;
    sent = before - conn_backlog(c);
    trim_out(c);
    after_sending(c, sent);
}
