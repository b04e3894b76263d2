/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A byte stream to a client: an upgraded connection, or the binary messages of a WebSocket. */
#pragma once

#include "src/http/websocket.h"

struct carrier_events {
    void (*on_data)(void *arg, struct str data);
    void (*on_close)(void *arg); /* the client is gone; the handle is invalid */
    void (*on_drain)(void *arg);
};

/* Embedded in its owner.  Exactly one of raw and ws is set while it is open. */
struct carrier {
    struct http_raw *raw;
    struct websocket *ws;
    struct carrier_events events;
    void *arg;
};

/* Does the request ask for an upgrade to SPDY/3.1?  Does it offer this stream protocol on it? */
bool carrier_spdy_wanted(const struct http_exchange *x);
bool carrier_spdy_offered(const struct http_exchange *x, const char *protocol);

/* Upgrade with these header lines. */
void carrier_open_raw(struct carrier *c, struct http_exchange *x, const char *headers,
                      const struct carrier_events *events, void *arg);
/* As websocket_accept. */
int carrier_open_websocket(struct carrier *c, struct http_exchange *x, const char *const *protocols,
                           const struct carrier_events *events, void *arg, int *ret_status,
                           struct err *e) MUST_CHECK;

void carrier_write(struct carrier *c, struct str data);
size_t carrier_backlog(const struct carrier *c);
void carrier_pause(struct carrier *c, bool on);
/* Flushes, then closes; on_close is not called. */
void carrier_close(struct carrier *c);
