/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A byte stream to a client: an upgraded connection, or the binary messages of a WebSocket. */
#pragma once

#include "src/http/websocket.h"

struct link_events {
    void (*on_data)(void *arg, struct str data);
    void (*on_close)(void *arg); /* the client is gone; the handle is invalid */
    void (*on_drain)(void *arg);
};

/* Embedded in its owner.  Exactly one of raw and ws is set while it is open. */
struct link {
    struct http_raw *raw;
    struct websocket *ws;
    struct link_events events;
    void *arg;
};

/* Does the request ask for an upgrade to SPDY/3.1?  Does it offer this stream protocol on it? */
bool link_spdy_wanted(const struct http_exchange *x);
bool link_spdy_offered(const struct http_exchange *x, const char *protocol);

/* Upgrade with these header lines. */
void link_open_raw(struct link *l, struct http_exchange *x, const char *headers,
                   const struct link_events *events, void *arg);
/* As websocket_accept. */
int link_open_websocket(struct link *l, struct http_exchange *x, const char *const *protocols,
                        const struct link_events *events, void *arg, int *ret_status,
                        struct err *e) MUST_CHECK;

bool link_is_open(const struct link *l);
void link_write(struct link *l, struct str data);
size_t link_backlog(const struct link *l);
void link_pause(struct link *l, bool on);
/* Flushes, then closes; on_close is not called. */
void link_close(struct link *l);
