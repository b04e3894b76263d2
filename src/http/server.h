/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HTTP/1.1 server on the loop: TLS or plain, TCP or Unix socket, streams and upgrades. */
#pragma once

#include <stdbool.h>

#include "src/base/buf.h"
#include "src/loop/loop.h"

struct http_server;
struct http_exchange; /* one request and its answer */

/* All strings are borrowed and live as long as the exchange. */
struct http_request {
    const char *method; /* "GET"; a token, as sent */
    const char *path;   /* raw, still percent-encoded, without the query; begins with '/' */
    const char *query;  /* raw, without '?'; "" if there is none */
    struct str body;    /* whole; empty for none */
    bool body_present;
    const char *peer;            /* "127.0.0.1:4711", or "unix:uid=0,pid=17" as the kernel says */
    const char *tls_cn;          /* common name of a verified client certificate, or NULL */
    const char *const *tls_orgs; /* its organisations, NULL-terminated; NULL without one */
    const char *tls_sha256;      /* its fingerprint; NULL without one */
};

/* The first header of that name (any case), or NULL; and the i-th of several. */
const char *http_request_header(const struct http_exchange *x, const char *name);
const char *http_request_header_at(const struct http_exchange *x, const char *name, size_t i);
/* The name of the i-th header as it was sent, and its value; NULL after the last. */
const char *http_request_header_name(const struct http_exchange *x, size_t i,
                                     const char **ret_value);
/* Does any header of that name hold the token in its comma-separated list (any case)? */
bool http_request_lists(const struct http_exchange *x, const char *name, const char *token);
const struct http_request *http_exchange_request(const struct http_exchange *x);
/* The loop that the server runs on. */
struct loop *http_exchange_loop(const struct http_exchange *x);

/*
 * Called when a request has arrived whole.  The handler, now or later in any turn, answers exactly
 * once: http_reply, or http_stream_begin ... http_stream_end, or http_upgrade.  If the client goes
 * away first, the on_close callback (http_exchange_on_close) runs and the exchange is gone: nothing
 * may be called on it any more.
 */
typedef void (*http_handler_fn)(void *arg, struct http_exchange *x);

/* Answer for what the server itself refuses (malformed, too large, timed out): fills body and
 * content type for the status code.  NULL: plain text. */
typedef void (*http_refusal_fn)(void *arg, int status, const char *why, struct buf *body,
                                const char **ret_content_type);

/*
 * Called when the head of a request is complete, before a byte of its body is kept: says whether
 * its sender has shown credentials.  The exchange has its method, path, headers and peer, and no
 * body.  The handler still has to decide what the sender may do: this is about limits alone.
 *
 * A connection that is known already is not asked about again for requests without a body.
 */
struct http_verdict {
    bool known;        /* it has credentials */
    char identity[96]; /* whose; connections and bodies are counted by it */
    int refuse;        /* answer with this status at once, and close; 0: go on */
    const char *why;   /* static text for that answer */
};
typedef void (*http_head_fn)(void *arg, const struct http_exchange *x, struct http_verdict *v);

/*
 * A stranger is who has shown no credentials: no client certificate that was verified, no request
 * that the head callback knew.  Strangers have a small share of everything, and of that the
 * greediest one (by user of this machine, else by address) gives way first.  Root of this machine
 * and who runs this process are no strangers where connections are counted.
 */
struct http_limits {
    size_t max_body_bytes;           /* 3 MiB; 413 beyond */
    size_t max_header_bytes;         /* 64 KiB; 431 beyond */
    unsigned int max_connections;    /* 8192; beyond: the oldest idle one goes, see room.c */
    int header_timeout_ms;           /* 30 s to send a request's head, once begun */
    int body_timeout_ms;             /* 60 s without progress; for strangers, in all */
    int idle_timeout_ms;             /* 180 s between requests; strangers: header_timeout_ms */
    size_t max_stream_backlog_bytes; /* 16 MiB; a stream whose client does not read ends beyond */
    size_t max_bodies_bytes;         /* 64 MiB of bodies at a time; who comes next waits */
    unsigned int max_strangers;      /* 512 connections; one peer may have half of them */
    size_t max_stranger_bytes;       /* 8 MiB for all of them, TLS handshakes included */
    size_t max_stranger_body_bytes;  /* 64 KiB in the life of a connection; 401 beyond */
};

struct http_server_options {
    http_handler_fn handler;
    http_head_fn head; /* NULL: whoever can connect is known */
    http_refusal_fn refusal;
    void *arg;
    struct http_limits limits; /* zeros stand for the defaults above */
    struct http_tls *tls;      /* borrowed; NULL: plain */
    bool distrust;             /* root and who runs this process are strangers, too */
};

/* TLS identity and trust of a server.  client_ca_pem may be NULL: no client certificates.  Client
 * certificates are optional: who has none arrives with tls_cn == NULL; a bad one fails the
 * handshake. */
struct http_tls;
int http_tls_new(const char *cert_pem, const char *key_pem, const char *client_ca_pem,
                 struct http_tls **ret_tls, struct err *e) MUST_CHECK;
/*
 * Have new connections served with another certificate; those that are open go on.  client_ca_pem
 * replaces the authority for client certificates, NULL leaves it.  On failure all stays as it is.
 */
int http_tls_renew(struct http_tls *t, const char *cert_pem, const char *key_pem,
                   const char *client_ca_pem, struct err *e) MUST_CHECK;
struct http_tls *http_tls_free(struct http_tls *t);
DEFINE_AUTO(struct http_tls, http_tls_free);

int http_server_new(struct loop *l, const struct http_server_options *o,
                    struct http_server **ret_server, struct err *e) MUST_CHECK;
/* Closes everything; on_close callbacks run.  Not from inside a callback of this server. */
struct http_server *http_server_free(struct http_server *s);
DEFINE_AUTO(struct http_server, http_server_free);

/*
 * "127.0.0.1:6443", "[::1]:0", "unix:/path" (mode 0600; a dead socket there is replaced).  Numeric
 * addresses only.  May be called several times.
 */
int http_server_listen(struct http_server *s, const char *address, struct err *e) MUST_CHECK;
/* The port of the first TCP listener (useful after :0). */
int http_server_port(const struct http_server *s);
/* Serve a connected socket, which is taken. */
void http_server_adopt(struct http_server *s, int fd);
/* How many connections there are. */
unsigned int http_server_connections(const struct http_server *s);

/*
 * Answer.  `headers` is extra header lines, each "Name: value\r\n", or NULL.  The body is copied.
 * HEAD answers get the headers of the body and no body.  The exchange's memory lasts until the end
 * of the turn, but nothing may be called on it any more.
 *
 * Bytes leave in an end-of-turn hook of LOOP_LAST.  Whoever writes a store in handlers and makes it
 * durable in a hook of LOOP_NORMAL acknowledges only durable writes, with nothing to do here.
 */
void http_reply(struct http_exchange *x, int status, const char *content_type, const char *headers,
                struct str body);

/*
 * Chunked answer of unknown length.  write copies; backlog tells how many bytes the client has not
 * taken yet.  A stream whose backlog passes max_stream_backlog_bytes is closed at the end of the
 * turn (on_close runs then; never inside a call of these functions).  on_drain runs whenever bytes
 * have been sent and the backlog is below 64 KiB.
 */
void http_stream_begin(struct http_exchange *x, int status, const char *content_type,
                       const char *headers);
void http_stream_write(struct http_exchange *x, struct str data);
size_t http_stream_backlog(const struct http_exchange *x);
void http_stream_on_drain(struct http_exchange *x, loop_defer_fn fn, void *arg);
void http_stream_end(struct http_exchange *x);
/* It cannot be completed: the connection is cut at the end of the turn, so that the client sees an
 * answer that lacks its end.  on_close does not run; nothing may be called on it any more. */
void http_stream_abort(struct http_exchange *x);

/* fn runs when the client has gone away before the answer ended, or when the server is freed. */
void http_exchange_on_close(struct http_exchange *x, loop_defer_fn fn, void *arg);

/*
 * Upgrade: sends 101 with these header lines; from then on the connection is a byte stream.
 * on_data gets what the peer sends (returns nothing; consumes all), on_close its end; neither runs
 * before http_upgrade has returned.  The exchange is gone.  http_raw_write copies; http_raw_backlog
 * and on_drain as above, but there is no limit: who writes looks at it.  http_raw_close flushes,
 * then closes; it and on_close end the handle, and only one of them happens.  http_raw_pause stops
 * reading while on (and so also hides the peer's end).
 */
typedef void (*http_raw_data_fn)(void *arg, struct str data);
struct http_raw;
struct http_raw *http_upgrade(struct http_exchange *x, const char *headers,
                              http_raw_data_fn on_data, loop_defer_fn on_close, void *arg);
/* The same without any answer: who takes the connection over speaks for itself. */
struct http_raw *http_hijack(struct http_exchange *x, http_raw_data_fn on_data,
                             loop_defer_fn on_close, void *arg);
void http_raw_write(struct http_raw *r, struct str data);
size_t http_raw_backlog(const struct http_raw *r);
void http_raw_on_drain(struct http_raw *r, loop_defer_fn fn, void *arg);
void http_raw_pause(struct http_raw *r, bool on);
void http_raw_close(struct http_raw *r);
