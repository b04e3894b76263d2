/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Port-forward by channels over WebSocket, for clients that name the ports in the query.
 *
 * The i-th port has the channels 2i for data and 2i+1 for errors; the first message on each, from
 * us, is the port as two bytes, the low one first.  Each port has one connection, which begins with
 * the session.  Nothing can be ended by halves here; the session ends when its last connection has.
 */
#include "src/http/forward_internal.h"

#include "src/base/alloc.h"

static void send_channel(struct forward *f, unsigned char channel, struct str data)
{
    websocket_send(f->ws, FRAME_BINARY, (struct str){(char *)&channel, 1}, data);
}

static void announce(struct forward_conn *c)
{
    char port[2] = {(char)c->port, (char)(c->port >> 8)};

    send_channel(c->forward, c->channel, (struct str){port, 2});
    send_channel(c->forward, (unsigned char)(c->channel + 1), (struct str){port, 2});
}

/* Tell the owner of the connections. */
static void begin(struct forward *f)
{
    LIST_FOR_EACH (c, &f->conns, struct forward_conn, link) {
        if (f->over || c->told)
            continue;
        c->told = true;
        f->options.events.on_connect(f->options.arg, c, c->port);
    }
}

static void time_reached(void *arg)
{
    struct forward *f = arg;

    begin(f);
    if (f->over || !list_empty(&f->conns))
        return;
    websocket_close(TAKE(f->ws), FRAME_NORMAL, NULL);
    forward_client_gone(f);
}

static void message(void *arg, enum frame_opcode opcode, struct str data)
{
    struct forward *f = arg;

    (void)opcode;
    begin(f); /* what arrives at once must not overtake it */
    if (f->over || data.n < 2)
        return;
    LIST_FOR_EACH (c, &f->conns, struct forward_conn, link) {
        if (c->channel != (unsigned char)data.p[0])
            continue;
        f->options.events.on_data(f->options.arg, c, (struct str){data.p + 1, data.n - 1});
        return;
    }
}

static void closed(void *arg, int code)
{
    struct forward *f = arg;

    (void)code;
    f->ws = NULL;
    forward_client_gone(f);
}

static void drained(void *arg)
{
    forward_drained(arg);
}

static void ws_write(struct forward_conn *c, struct str data)
{
    send_channel(c->forward, c->channel, data);
}

static void ws_end(struct forward_conn *c)
{
    (void)c;
}

static void ws_close_conn(struct forward_conn *c, const char *problem)
{
    struct forward *f = c->forward;

    if (problem)
        send_channel(f, (unsigned char)(c->channel + 1), str_of(problem));
    loop_timer_arm(f->timer, 0); /* if it was the last one, the session ends */
}

static size_t ws_backlog(const struct forward *f)
{
    return websocket_backlog(f->ws);
}

static void ws_pause(struct forward *f, bool on)
{
    websocket_pause(f->ws, on);
}

int forward_ws_open(struct forward *f, struct http_exchange *x, int *ret_status, struct err *e)
{
    static const struct forward_transport transport = {ws_write, ws_end, ws_close_conn, ws_backlog,
                                                       ws_pause};
    static const char *const protocols[] = {"v4.channel.k8s.io", NULL};
    struct websocket_options o = {
        .protocols = protocols, .events = {message, closed, drained}, .arg = f};
    int r;

    *ret_status = 400;
    if (f->options.n_ports == 0 || f->options.n_ports > FORWARD_MAX_PORTS)
        return err_bad(e, "the query must name 1 to %d ports", FORWARD_MAX_PORTS);
    r = websocket_accept(x, &o, &f->ws, ret_status, e);
    if (r < 0)
        return r;
    f->transport = &transport;
    for (size_t i = 0; i < f->options.n_ports; i++) {
        struct forward_conn *c = forward_conn_new(f);

        c->port = f->options.ports[i];
        c->channel = (unsigned char)(2 * i);
        announce(c);
    }
    f->timer = loop_add_timer(f->loop, time_reached, f);
    loop_timer_arm(f->timer, 0);
    return 0;
}
