/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of port-forward share; nobody else includes it. */
#pragma once

#include "src/base/list.h"
#include "src/http/carrier.h"
#include "src/http/forward.h"
#include "src/http/spdy.h"

#define FORWARD_MAX_PORTS 64

struct forward_transport {
    void (*write)(struct forward_conn *c, struct str data);
    void (*end)(struct forward_conn *c);
    /* Tell the problem, if any, and let go of the connection. */
    void (*close_conn)(struct forward_conn *c, const char *problem);
    size_t (*backlog)(const struct forward *f);
    void (*pause)(struct forward *f, bool on);
};

struct forward_conn {
    struct forward *forward;
    struct list link;
    bool told;    /* the owner knows of it */
    bool our_end; /* we send no more */
    void *arg;
    /* SPDY */
    struct spdy_stream *data;
    struct spdy_stream *error;
    char *request_id;
    /* WebSocket */
    uint16_t port;
    unsigned char channel; /* of the data; the next one is for errors */
};

struct forward {
    struct loop *loop;
    struct forward_options options;
    const struct forward_transport *transport;
    struct list conns;
    bool over;
    struct loop_source *timer; /* WebSocket: tells the connections after accepting */
    struct carrier carrier;
    struct spdy *spdy;
    struct websocket *ws;
};

struct forward_conn *forward_conn_new(struct forward *f);
void forward_conn_free(struct forward_conn *c);
/* The client is gone: tell everybody, retire. */
void forward_client_gone(struct forward *f);
void forward_drained(struct forward *f);

int forward_spdy_open(struct forward *f, struct http_exchange *x, int *ret_status,
                      struct err *e) MUST_CHECK;
int forward_ws_open(struct forward *f, struct http_exchange *x, int *ret_status,
                    struct err *e) MUST_CHECK;
