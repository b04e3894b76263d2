/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A scripted API server in the test's own process, and a client that talks to it. */
#pragma once

#include "src/base/buf.h"
#include "src/http/server.h"
#include "src/kube/client.h"

#define PEER_MAX_SEEN 512

struct peer;
/* Answers a request, now or later. */
typedef void (*peer_fn)(struct peer *p, struct http_exchange *x);

struct peer {
    struct loop *loop;
    struct http_server *server;
    struct kube_target *target;
    struct kube_client *client;
    peer_fn fn;
    void *arg;
    char *seen[PEER_MAX_SEEN]; /* "GET /api/v1/pods?a=b AUTH BODY" of each request */
    size_t n_seen;
    struct http_exchange *stream; /* the last one begun with peer_stream; NULL once it is gone */
    int streams;
    int port;
};

/* fn may be changed at any time. */
void peer_init(struct peer *p, peer_fn fn, const struct kube_client_options *o);
void peer_done(struct peer *p);
DEFINE_AUTO_DONE(struct peer, peer_done);

void peer_answer(struct http_exchange *x, int status, const char *json);
void peer_answer_with(struct http_exchange *x, int status, const char *headers, const char *json);
/* Begin a stream; its lines are written with peer_line. */
void peer_stream(struct peer *p, struct http_exchange *x);
void peer_line(struct peer *p, const char *json);
void peer_stream_end(struct peer *p);
/* Does a query parameter of the request have this value? */
bool peer_query_is(struct http_exchange *x, const char *key, const char *value);

/* Turn the loop until *what is at least `n`, or fail after 30 s. */
void peer_run_until(struct peer *p, const int *what, int n);
/* Turn the loop for that long. */
void peer_run_for(struct peer *p, int64_t ms);

/*
 * A server below HTTP: each connection gets the next of `scripts` as soon as it has sent a
 * request's head, and is closed; the last script serves all later connections.  "HOLD" at the end
 * of a script keeps the connection open.
 */
struct raw_peer;
struct raw_peer *raw_peer_new(struct loop *l, const char *const *scripts);
struct raw_peer *raw_peer_free(struct raw_peer *r);
int raw_peer_port(const struct raw_peer *r);
int raw_peer_connections(const struct raw_peer *r);

/* Close the server and every connection; and come back on the same port. */
void peer_down(struct peer *p);
void peer_up(struct peer *p);

/* Point the peer's client at another port. */
void peer_redirect(struct peer *p, int port, const struct kube_client_options *o);

/* What a call brought. */
struct result {
    int done;
    int code;
    char *text;
    char *name; /* metadata.name */
    struct kube_failure f;
};
void result_note(void *arg, const struct kube_answer *a, const struct kube_failure *f);
void result_done(struct result *r);
DEFINE_AUTO_DONE(struct result, result_done);
