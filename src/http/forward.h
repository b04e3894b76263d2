/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Port-forward to a Kubernetes client: many connections over SPDY/3.1 or WebSocket. */
#pragma once

#include "src/http/server.h"

struct forward;      /* one session */
struct forward_conn; /* one connection that the client wants to a port of the pod */

struct forward_events {
    /* The client wants a connection; connect, and keep what belongs to it with
     * forward_conn_set_arg.  Data may arrive from now on. */
    void (*on_connect)(void *arg, struct forward_conn *c, uint16_t port);
    void (*on_data)(void *arg, struct forward_conn *c, struct str data);
    /* The client sends no more on it, and may still read. */
    void (*on_end)(void *arg, struct forward_conn *c);
    /* The client gave it up, or is gone; the connection's handle is invalid from now on. */
    void (*on_gone)(void *arg, struct forward_conn *c);
    /* Bytes were sent, and less than 64 KiB wait. */
    void (*on_drain)(void *arg);
    /* The client is gone; all connections were told so before.  The handle is invalid. */
    void (*on_close)(void *arg);
};

struct forward_options {
    const uint16_t *ports; /* of the query, for clients that name them there */
    size_t n_ports;
    struct forward_events events; /* all must be set */
    void *arg;
};

/* As channels_accept.  No callback runs before this returns. */
int forward_accept(struct http_exchange *x, const struct forward_options *o,
                   struct forward **ret_forward, int *ret_status, struct err *e) MUST_CHECK;

/* Bytes that the client has not taken yet, of all connections together. */
size_t forward_backlog(const struct forward *f);
/* Take no more input of any connection for a while.  May be called in on_gone. */
void forward_pause(struct forward *f, bool on);

void forward_conn_set_arg(struct forward_conn *c, void *arg);
void *forward_conn_arg(const struct forward_conn *c);
void forward_conn_write(struct forward_conn *c, struct str data);
/* The pod sends no more. */
void forward_conn_end(struct forward_conn *c);
/* Done with it; `problem` (or NULL) is what the client shows.  The handle is invalid from now on.
 */
void forward_conn_close(struct forward_conn *c, const char *problem);
