/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One byte stream over either transport.
 *
 * SPDY runs on it.  Older clients upgrade the connection to SPDY itself; newer ones tunnel the same
 * bytes in binary WebSocket messages, whose borders mean nothing.
 */
#include "src/http/link.h"

bool link_spdy_wanted(const struct http_exchange *x)
{
    return http_request_lists(x, "Upgrade", "SPDY/3.1") &&
           http_request_lists(x, "Connection", "Upgrade");
}

bool link_spdy_offered(const struct http_exchange *x, const char *protocol)
{
    return http_request_lists(x, "X-Stream-Protocol-Version", protocol);
}

static void raw_data(void *arg, struct str data)
{
    struct link *l = arg;

    l->events.on_data(l->arg, data);
}

static void raw_close(void *arg)
{
    struct link *l = arg;

    l->raw = NULL;
    l->events.on_close(l->arg);
}

static void ws_message(void *arg, enum frame_opcode opcode, struct str data)
{
    (void)opcode;
    raw_data(arg, data);
}

static void ws_close(void *arg, int code)
{
    struct link *l = arg;

    (void)code;
    l->ws = NULL;
    l->events.on_close(l->arg);
}

static void drained(void *arg)
{
    struct link *l = arg;

    if (l->events.on_drain)
        l->events.on_drain(l->arg);
}

void link_open_raw(struct link *l, struct http_exchange *x, const char *headers,
                   const struct link_events *events, void *arg)
{
    *l = (struct link){.events = *events, .arg = arg};
    l->raw = http_upgrade(x, headers, raw_data, raw_close, l);
    http_raw_on_drain(l->raw, drained, l);
}

int link_open_websocket(struct link *l, struct http_exchange *x, const char *const *protocols,
                        const struct link_events *events, void *arg, int *ret_status, struct err *e)
{
    struct websocket_options o = {
        .protocols = protocols, .events = {ws_message, ws_close, drained}, .arg = l};

    *l = (struct link){.events = *events, .arg = arg};
    return websocket_accept(x, &o, &l->ws, ret_status, e);
}

bool link_is_open(const struct link *l)
{
    return l->raw || l->ws;
}

void link_write(struct link *l, struct str data)
{
    if (l->raw)
        http_raw_write(l->raw, data);
    else if (l->ws && data.n > 0)
        websocket_send(l->ws, FRAME_BINARY, (struct str){0}, data);
}

size_t link_backlog(const struct link *l)
{
    if (l->raw)
        return http_raw_backlog(l->raw);
    return l->ws ? websocket_backlog(l->ws) : 0;
}

void link_pause(struct link *l, bool on)
{
    if (l->raw)
        http_raw_pause(l->raw, on);
    else if (l->ws)
        websocket_pause(l->ws, on);
}

void link_close(struct link *l)
{
    if (l->raw)
        http_raw_close(TAKE(l->raw));
    else if (l->ws)
        websocket_close(TAKE(l->ws), FRAME_NORMAL, NULL);
}
