/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server: listeners, accepting, the end-of-turn flush.
 *
 * Connections are accepted in batches and each is served by conn.c.  Whether there is room for one
 * more, and who gives way for it, is for room.c to say.
 *
 * Nothing is written where it is queued.  A connection with output is put on the dirty list, and a
 * hook of LOOP_LAST flushes that list: all events of a turn for one watcher leave in one write, and
 * no answer overtakes the store's commit, which is a hook of LOOP_NORMAL.
 */
#include "src/http/server.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/http/internal.h"

static const struct http_limits defaults = {
    .max_body_bytes = 3 << 20,
    .max_header_bytes = 64 << 10,
    .max_connections = 8192,
    .header_timeout_ms = 30000,
    .body_timeout_ms = 60000,
    .idle_timeout_ms = 180000,
    .max_stream_backlog_bytes = 16 << 20,
    .max_bodies_bytes = 64 << 20,
    .max_strangers = 512,
    .max_stranger_bytes = 8 << 20,
    .max_stranger_body_bytes = 64 << 10,
};

static struct http_limits limits_with_defaults(struct http_limits l)
{
#define DEFAULT(field) l.field = l.field ? l.field : defaults.field
    DEFAULT(max_body_bytes);
    DEFAULT(max_header_bytes);
    DEFAULT(max_connections);
    DEFAULT(header_timeout_ms);
    DEFAULT(body_timeout_ms);
    DEFAULT(idle_timeout_ms);
    DEFAULT(max_stream_backlog_bytes);
    DEFAULT(max_bodies_bytes);
    DEFAULT(max_strangers);
    DEFAULT(max_stranger_bytes);
    DEFAULT(max_stranger_body_bytes);
#undef DEFAULT
    return l;
}

/* End of turn: send what the turn's callbacks queued. */
static void flush_dirty(void *arg)
{
    struct http_server *s = arg;
    struct list now;

    if (list_empty(&s->dirty))
        return;
    /* What gets dirty while flushing waits for the next turn: a drain callback may write again. */
    list_init(&now);
    LIST_FOR_EACH (c, &s->dirty, struct conn, dirty) {
        list_remove(&c->dirty);
        list_append(&now, &c->dirty);
    }
    while (!list_empty(&now)) {
        struct conn *c = LIST_ENTRY(now.next, struct conn, dirty);

        list_remove(&c->dirty);
        conn_flush(c);
    }
}

static void look_again(void *arg)
{
    struct http_server *s = arg;
    struct list now;

    list_init(&now);
    LIST_FOR_EACH (c, &s->again, struct conn, again) {
        list_remove(&c->again);
        list_append(&now, &c->again);
    }
    while (!list_empty(&now)) {
        struct conn *c = LIST_ENTRY(now.next, struct conn, again);

        list_remove(&c->again);
        conn_advance(c);
    }
}

int http_server_new(struct loop *l, const struct http_server_options *o,
                    struct http_server **ret_server, struct err *e)
{
    struct http_server *s;

    if (!o->handler)
        return err_bad(e, "an HTTP server needs a handler");
    s = xcalloc(1, sizeof(*s));
    s->loop = l;
    s->options = *o;
    s->limits = limits_with_defaults(o->limits);
    list_init(&s->conns);
    list_init(&s->dirty);
    list_init(&s->again);
    list_init(&s->body_waits);
    crowd_init(&s->strangers);
    crowd_init(&s->known);
    s->hook = loop_add_turn_hook(l, flush_dirty, s);
    loop_source_set_priority(s->hook, LOOP_LAST);
    s->again_timer = loop_add_timer(l, look_again, s);
    *ret_server = s;
    return 0;
}

struct http_server *http_server_free(struct http_server *s)
{
    if (!s)
        return NULL;
    for (size_t i = 0; i < s->n_listeners; i++)
        (void)listener_free(s->listeners[i]);
    s->n_listeners = 0;
    while (!list_empty(&s->conns))
        conn_end(LIST_ENTRY(s->conns.next, struct conn, link));
    (void)loop_source_free(s->hook);
    (void)loop_source_free(s->again_timer);
    crowd_done(&s->strangers);
    crowd_done(&s->known);
    free(s);
    return NULL;
}

int http_server_listen(struct http_server *s, const char *address, struct err *e)
{
    int r;

    if (s->n_listeners == MAX_LISTENERS)
        return err_bad(e, "cannot listen on '%s': there are %d listeners already", address,
                       MAX_LISTENERS);
    r = listener_new(s, address, &s->listeners[s->n_listeners], e);
    if (r == 0)
        s->n_listeners++;
    return r;
}

int http_server_port(const struct http_server *s)
{
    for (size_t i = 0; i < s->n_listeners; i++) {
        if (s->listeners[i]->port)
            return s->listeners[i]->port;
    }
    return 0;
}

unsigned int http_server_connections(const struct http_server *s)
{
    return s->n_conns;
}

/* A peer that vanished without a word is found out in about two minutes. */
static void set_socket_options(int fd)
{
    static const struct {
        int level, option, value;
    } options[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},   {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, 60}, {IPPROTO_TCP, TCP_KEEPINTVL, 15},
        {IPPROTO_TCP, TCP_KEEPCNT, 4},
    };

    /* They fail on Unix sockets, which need none. */
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        (void)setsockopt(fd, options[i].level, options[i].option, &options[i].value, sizeof(int));
}

void server_take(struct http_server *s, int fd)
{
    struct peer peer;

    peer_learn(fd, &peer);
    if (room_for(s, &fd, &peer)) {
        set_socket_options(fd);
        (void)conn_new(s, fd, &peer);
        return;
    }
    free(peer.text);
    free(peer.account);
    (void)close(fd);
}

void http_server_adopt(struct http_server *s, int fd)
{
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    server_take(s, fd);
}

const char *server_date(struct http_server *s)
{
    int64_t now = clock_wall_us() / 1000000;
    time_t t = (time_t)now;
    struct tm tm;

    if (now != s->date_s) {
        (void)gmtime_r(&t, &tm);
        (void)strftime(s->date, sizeof(s->date), "%a, %d %b %Y %H:%M:%S GMT", &tm);
        s->date_s = now;
    }
    return s->date;
}
