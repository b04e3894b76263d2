/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes over a connected socket, plain or TLS, without blocking. */
#pragma once

#include <openssl/ssl.h>

#include "src/base/str.h"

struct http_tls;

/* Embedded in a connection. */
struct transport {
    int fd;           /* owned; -1 when closed */
    SSL *ssl;         /* NULL: plain */
    bool handshaken;  /* always true when plain */
    bool read_waits;  /* reading needs the socket writable (TLS) */
    bool write_waits; /* writing needs the socket readable (TLS) */
    bool broken;      /* TLS failed: no farewell can be sent */
    bool plain_http;  /* the peer spoke plain HTTP to a TLS port */
};

/* Takes fd.  tls NULL: plain. */
void transport_init(struct transport *t, int fd, struct http_tls *tls);
/* Says farewell (TLS) if possible, and closes. */
void transport_done(struct transport *t);

/* 0 when done, -EAGAIN while it needs the peer, else why it failed. */
int transport_handshake(struct transport *t) MUST_CHECK;

/* Bytes moved (> 0), 0 at the peer's end (read only), -EAGAIN, or another negative errno. */
ssize_t transport_read(struct transport *t, void *p, size_t n) MUST_CHECK;
ssize_t transport_write(struct transport *t, const void *p, size_t n) MUST_CHECK;

/* No more will be written: the peer sees the end, and may still send. */
void transport_finish(struct transport *t);

/* Who a verified client certificate says the peer is: owned strings.  NULLs without one. */
void transport_identity(const struct transport *t, char **ret_cn, char ***ret_orgs,
                        char **ret_sha256);
