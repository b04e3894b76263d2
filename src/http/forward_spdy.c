/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Port-forward over SPDY/3.1, plain or tunnelled in WebSocket messages.
 *
 * For each connection the client opens two streams with the same "requestid": an error stream, on
 * which it only reads, and a data stream.  The connection begins with the data stream.
 */
#include "src/http/forward_internal.h"

#include "src/base/alloc.h"

#define PROTOCOL "portforward.k8s.io"

static struct forward_conn *find_conn(struct forward *f, const char *request_id)
{
    LIST_FOR_EACH (c, &f->conns, struct forward_conn, link) {
        if (streq(c->request_id, request_id))
            return c;
    }
    return NULL;
}

static void spdy_bytes(void *arg, struct str bytes)
{
    struct forward *f = arg;

    carrier_write(&f->carrier, bytes);
}

static int read_port(const struct spdy_stream *s, uint16_t *ret_port)
{
    const char *text = spdy_stream_header(s, "port");
    uint32_t port;

    if (!text || str_to_u32(str_of(text), &port) < 0 || port == 0 || port > 65535)
        return -EINVAL;
    *ret_port = (uint16_t)port;
    return 0;
}

static void stream_opened(void *arg, struct spdy_stream *s)
{
    const char *type = spdy_stream_header(s, "streamtype");
    const char *id = spdy_stream_header(s, "requestid");
    bool data = streq(type, "data");
    struct forward_conn *c;
    struct forward *f = arg;
    uint16_t port;

    c = id ? find_conn(f, id) : NULL;
    if (!id || (!data && !streq(type, "error")) || read_port(s, &port) < 0 ||
        (c && (data ? c->data : c->error))) {
        spdy_stream_reset(s);
        return;
    }
    if (!c) {
        c = forward_conn_new(f);
        c->request_id = xstrdup(id);
    }
    spdy_stream_set_arg(s, c);
    if (!data) {
        c->error = s;
        return;
    }
    c->data = s;
    c->told = true;
    f->options.events.on_connect(f->options.arg, c, port);
}

static void stream_data(void *arg, struct spdy_stream *s, struct str data)
{
    struct forward_conn *c = spdy_stream_arg(s);
    struct forward *f = arg;

    if (c && c->data == s)
        f->options.events.on_data(f->options.arg, c, data);
}

/* A stream that the owner has let go of is forgotten once the client has ended its half, too. */
static void forget_if_ended(struct spdy_stream *s)
{
    if (!spdy_stream_arg(s) && spdy_stream_ended(s))
        spdy_stream_forget(s);
}

static void stream_fin(void *arg, struct spdy_stream *s)
{
    struct forward_conn *c = spdy_stream_arg(s);
    struct forward *f = arg;

    if (c && c->data == s)
        f->options.events.on_end(f->options.arg, c);
    else
        forget_if_ended(s);
}

static void stream_reset(void *arg, struct spdy_stream *s)
{
    struct forward_conn *c = spdy_stream_arg(s);
    struct forward *f = arg;

    if (!c)
        return;
    if (c->error == s) {
        c->error = NULL;
        if (!c->data)
            forward_conn_free(c); /* it never began, or it would stay as long as the session */
        return;
    }
    if (c->error)
        spdy_stream_reset(TAKE(c->error));
    c->data = NULL;
    forward_conn_free(c);
    f->options.events.on_gone(f->options.arg, c);
}

static void carrier_data(void *arg, struct str data)
{
    struct forward *f = arg;

    if (spdy_feed(f->spdy, data) == 0 || f->over)
        return;
    carrier_close(&f->carrier);
    forward_client_gone(f);
}

static void carrier_closed(void *arg)
{
    forward_client_gone(arg);
}

static void carrier_drained(void *arg)
{
    forward_drained(arg);
}

static void spdy_write(struct forward_conn *c, struct str data)
{
    spdy_stream_write(c->data, data, false);
}

static void spdy_end(struct forward_conn *c)
{
    spdy_stream_write(c->data, (struct str){0}, true);
}

/* End our half of a stream and let go of it. */
static void let_go(struct spdy_stream *s, struct str last_words, bool already_ended)
{
    if (!s)
        return;
    if (!already_ended)
        spdy_stream_write(s, last_words, true);
    spdy_stream_set_arg(s, NULL);
    forget_if_ended(s);
}

static void spdy_close_conn(struct forward_conn *c, const char *problem)
{
    let_go(TAKE(c->error), str_of(problem), false);
    let_go(TAKE(c->data), (struct str){0}, c->our_end);
}

static size_t spdy_backlog(const struct forward *f)
{
    return carrier_backlog(&f->carrier);
}

static void spdy_pause(struct forward *f, bool on)
{
    carrier_pause(&f->carrier, on);
}

int forward_spdy_open(struct forward *f, struct http_exchange *x, int *ret_status, struct err *e)
{
    static const struct forward_transport transport = {spdy_write, spdy_end, spdy_close_conn,
                                                       spdy_backlog, spdy_pause};
    static const struct spdy_events spdy = {spdy_bytes, stream_opened, stream_data, stream_fin,
                                            stream_reset};
    static const struct carrier_events carrier = {carrier_data, carrier_closed, carrier_drained};
    static const char *const tunnel[] = {"SPDY/3.1+" PROTOCOL, NULL};
    int r = 0;

    *ret_status = 400;
    if (!websocket_wanted(x) && !carrier_spdy_wanted(x))
        return err_bad(e, "unable to upgrade: unexpected upgrade header: neither WebSocket nor "
                          "SPDY/3.1 is asked for");
    if (!websocket_wanted(x) && !carrier_spdy_offered(x, PROTOCOL)) {
        *ret_status = 403;
        return err_bad(e, "the only stream protocol spoken here is " PROTOCOL);
    }
    f->transport = &transport;
    if (websocket_wanted(x))
        r = carrier_open_websocket(&f->carrier, x, tunnel, &carrier, f, ret_status, e);
    else
        carrier_open_raw(&f->carrier, x,
                         "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
                         "X-Stream-Protocol-Version: " PROTOCOL "\r\n",
                         &carrier, f);
    if (r == 0)
        f->spdy = spdy_new(&spdy, f);
    return r;
}
