/* SPDX-License-Identifier: GPL-2.0-or-later */
/* WebSocket (RFC 6455), the server's side, on an upgraded connection. */
#pragma once

#include "src/http/frame.h"
#include "src/http/server.h"

struct websocket;

/* All optional but on_message and on_close. */
struct websocket_events {
    /* A whole message; opcode is FRAME_TEXT or FRAME_BINARY. */
    void (*on_message)(void *arg, enum frame_opcode opcode, struct str data);
    /* The peer closed (its code, or FRAME_NO_CODE) or is gone (FRAME_ABNORMAL), or broke the rules
     * and was closed (our code).  The handle is invalid from now on. */
    void (*on_close)(void *arg, int code);
    /* Bytes were sent, and less than 64 KiB wait. */
    void (*on_drain)(void *arg);
};

struct websocket_options {
    const char *const *protocols; /* that we speak, NULL-terminated; NULL: none is chosen */
    size_t max_message_bytes;     /* 0: 1 MiB */
    struct websocket_events events;
    void *arg;
};

/* Does the request ask for a WebSocket?  (It may still be a bad one.) */
bool websocket_wanted(const struct http_exchange *x);

/* The first protocol that the client offers and `protocols` holds, or NULL. */
const char *websocket_choose(const struct http_exchange *x, const char *const *protocols);

/*
 * Answer 101 and turn the connection into a WebSocket.  On a bad handshake nothing is answered, e
 * says why and *ret_status which status fits (400, 426); the exchange is still the caller's.
 */
int websocket_accept(struct http_exchange *x, const struct websocket_options *o,
                     struct websocket **ret_ws, int *ret_status, struct err *e) MUST_CHECK;

/* Send one message: `head` and `data` one after the other.  Copies. */
void websocket_send(struct websocket *ws, enum frame_opcode opcode, struct str head,
                    struct str data);
size_t websocket_backlog(const struct websocket *ws);
void websocket_pause(struct websocket *ws, bool on);

/*
 * Say goodbye and close; the handle is invalid from now on and on_close is not called.  Waits a few
 * seconds for the peer's goodbye, as the RFC wants.
 */
void websocket_close(struct websocket *ws, int code, const char *reason);
