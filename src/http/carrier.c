/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One byte stream over either transport.
 *
 * SPDY runs on it.  Older clients upgrade the connection to SPDY itself; newer ones tunnel the same
 * bytes in binary WebSocket messages, whose borders mean nothing.
 */
#include "src/http/carrier.h"

bool carrier_spdy_wanted(const struct http_exchange *x)
{
    return http_request_lists(x, "Upgrade", "SPDY/3.1") &&
           http_request_lists(x, "Connection", "Upgrade");
}

bool carrier_spdy_offered(const struct http_exchange *x, const char *protocol)
{
    return http_request_lists(x, "X-Stream-Protocol-Version", protocol);
}

static void raw_data(void *arg, struct str data)
{
    struct carrier *c = arg;

    c->events.on_data(c->arg, data);
}

static void raw_close(void *arg)
{
    struct carrier *c = arg;

    c->raw = NULL;
    c->events.on_close(c->arg);
}

static void ws_message(void *arg, enum frame_opcode opcode, struct str data)
{
    (void)opcode;
    raw_data(arg, data);
}

static void ws_close(void *arg, int code)
{
    struct carrier *c = arg;

    (void)code;
    c->ws = NULL;
    c->events.on_close(c->arg);
}

static void drained(void *arg)
{
    struct carrier *c = arg;

    if (c->events.on_drain)
        c->events.on_drain(c->arg);
}

void carrier_open_raw(struct carrier *c, struct http_exchange *x, const char *headers,
                      const struct carrier_events *events, void *arg)
{
    *c = (struct carrier){.events = *events, .arg = arg};
    c->raw = http_upgrade(x, headers, raw_data, raw_close, c);
    http_raw_on_drain(c->raw, drained, c);
}

int carrier_open_websocket(struct carrier *c, struct http_exchange *x, const char *const *protocols,
                           const struct carrier_events *events, void *arg, int *ret_status,
                           struct err *e)
{
    struct websocket_options o = {
        .protocols = protocols, .events = {ws_message, ws_close, drained}, .arg = c};

    *c = (struct carrier){.events = *events, .arg = arg};
    return websocket_accept(x, &o, &c->ws, ret_status, e);
}

void carrier_write(struct carrier *c, struct str data)
{
    if (c->raw)
        http_raw_write(c->raw, data);
    else if (c->ws && data.n > 0)
        websocket_send(c->ws, FRAME_BINARY, (struct str){0}, data);
}

size_t carrier_backlog(const struct carrier *c)
{
    if (c->raw)
        return http_raw_backlog(c->raw);
    return c->ws ? websocket_backlog(c->ws) : 0;
}

void carrier_pause(struct carrier *c, bool on)
{
    if (c->raw)
        http_raw_pause(c->raw, on);
    else if (c->ws)
        websocket_pause(c->ws, on);
}

void carrier_close(struct carrier *c)
{
    if (c->raw)
        http_raw_close(TAKE(c->raw));
    else if (c->ws)
        websocket_close(TAKE(c->ws), FRAME_NORMAL, NULL);
}
