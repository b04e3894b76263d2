/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Port-forward: one session, whichever the transport.
 *
 * Three transports: SPDY on the upgraded connection (kubectl up to 1.30), the same SPDY inside
 * WebSocket messages (kubectl since 1.31), both in forward_spdy.c; and channels over WebSocket for
 * the ports that the query names (the Python client), in forward_ws.c.
 *
 * Connections of a session share one byte stream to the client, and its back-pressure: while one
 * target does not read, the others of that session wait, too.
 */
#include "src/http/forward_internal.h"

#include "src/base/alloc.h"

struct forward_conn *forward_conn_new(struct forward *f)
{
    struct forward_conn *c = xcalloc(1, sizeof(*c));

    c->forward = f;
    list_append(&f->conns, &c->link);
    return c;
}

static void bury_conn(void *arg)
{
    struct forward_conn *c = arg;

    free(c->request_id);
    free(c);
}

void forward_conn_free(struct forward_conn *c)
{
    list_remove(&c->link);
    loop_defer_free(c->forward->loop, bury_conn, c);
}

static void bury(void *arg)
{
    struct forward *f = arg;

    f->spdy = spdy_free(f->spdy);
    free(f);
}

static void forward_retire(struct forward *f)
{
    f->over = true;
    while (!list_empty(&f->conns))
        forward_conn_free(LIST_ENTRY(f->conns.next, struct forward_conn, link));
    f->timer = loop_source_free(f->timer);
    loop_defer_free(f->loop, bury, f);
}

void forward_client_gone(struct forward *f)
{
    const struct forward_events *v = &f->options.events;

    if (f->over)
        return;
    f->over = true;
    while (!list_empty(&f->conns)) {
        struct forward_conn *c = LIST_ENTRY(f->conns.next, struct forward_conn, link);

        forward_conn_free(c);
        if (c->told)
            v->on_gone(f->options.arg, c);
    }
    forward_retire(f);
    v->on_close(f->options.arg);
}

void forward_drained(struct forward *f)
{
    if (!f->over)
        f->options.events.on_drain(f->options.arg);
}

int forward_accept(struct http_exchange *x, const struct forward_options *o,
                   struct forward **ret_forward, int *ret_status, struct err *e)
{
    static const char *const tunnel[] = {"SPDY/3.1+portforward.k8s.io", NULL};
    struct forward *f = xcalloc(1, sizeof(*f));
    int r;

    f->loop = http_exchange_loop(x);
    f->options = *o;
    list_init(&f->conns);
    if (websocket_wanted(x) && !websocket_choose(x, tunnel))
        r = forward_ws_open(f, x, ret_status, e);
    else
        r = forward_spdy_open(f, x, ret_status, e);
    if (r < 0) {
        forward_retire(f);
        return r;
    }
    *ret_forward = f;
    return 0;
}

size_t forward_backlog(const struct forward *f)
{
    return f->transport->backlog(f);
}

void forward_pause(struct forward *f, bool on)
{
    if (!f->over)
        f->transport->pause(f, on);
}

void forward_conn_set_arg(struct forward_conn *c, void *arg)
{
    c->arg = arg;
}

void *forward_conn_arg(const struct forward_conn *c)
{
    return c->arg;
}

void forward_conn_write(struct forward_conn *c, struct str data)
{
    if (!c->our_end && data.n > 0 && !c->forward->over)
        c->forward->transport->write(c, data);
}

void forward_conn_end(struct forward_conn *c)
{
    if (c->our_end || c->forward->over)
        return;
    c->our_end = true;
    c->forward->transport->end(c);
}

void forward_conn_close(struct forward_conn *c, const char *problem)
{
    if (c->forward->over)
        return;
    c->forward->transport->close_conn(c, problem);
    forward_conn_free(c);
}
