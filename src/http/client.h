/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HTTP client on the loop: many calls at a time, kept connections, streamed answers. */
#pragma once

#include "src/base/buf.h"
#include "src/loop/loop.h"

struct http_client;
struct http_call; /* one request in flight */

/* How to know the server and to be known by it; PEM text, borrowed during http_client_call. */
struct http_client_tls {
    const char *ca_pem; /* NULL: the system's authorities */
    const char *cert_pem;
    const char *key_pem;
    const char *server_name; /* the name to know the server by, instead of the URL's host */
    bool insecure;           /* does not check who the server is */
};

/* Borrowed during on_done. */
struct http_answer {
    int status;
    struct str body; /* empty if it was streamed */
    const struct http_call *call;
};
/* The first header of that name (any case), or NULL; borrowed until on_done returns. */
const char *http_answer_header(const struct http_answer *a, const char *name);

/* A piece of a streamed body, as it arrives. */
typedef void (*http_chunk_fn)(void *arg, int status, struct str data);

/*
 * The end of a call, called exactly once, and never inside http_client_call.  Either `a` (whatever
 * its status) or `e` is NULL.  Failures to connect, broken connections and expired deadlines have
 * the class ERR_RETRY.  For a stream `a` means that the server ended it in order.
 */
typedef void (*http_done_fn)(void *arg, const struct http_answer *a, const struct err *e);

/* All pointers are borrowed during http_client_call, which copies what it needs. */
struct http_call_options {
    const char *method;         /* NULL: GET */
    const char *url;            /* "https://host:port/path?query" */
    const char *proxy_url;      /* "http://host:port", also https and socks5; NULL: none */
    const char *unix_path;      /* connect to this socket; the url still says what to ask */
    const char *const *headers; /* "Name: value", NULL-terminated; or NULL */
    const char *bearer_token;   /* or NULL; never printed */
    struct str body;
    const struct http_client_tls *tls; /* NULL: the system's authorities */
    int64_t deadline_ms;               /* for the whole call; 0: 30 s; -1: none, for streams */
    int connect_timeout_ms;            /* 0: 10 s */
    int idle_timeout_s;                /* without a byte; 0: none */
    size_t max_body_bytes;             /* 64 MiB; of the answer, if it is not streamed */
    http_chunk_fn on_chunk;            /* set: the answer is streamed */
    http_done_fn on_done;
    void *arg;
};

int http_client_new(struct loop *l, struct http_client **ret_client, struct err *e) MUST_CHECK;
/* Calls in flight are cancelled.  Not from inside a callback of this client. */
struct http_client *http_client_free(struct http_client *c);
DEFINE_AUTO(struct http_client, http_client_free);

/* Start a call.  The handle is valid until on_done is called or the call is cancelled. */
struct http_call *http_client_call(struct http_client *c, const struct http_call_options *o);
/* Give up: nothing is called back any more.  May be called in on_chunk, not in on_done. */
void http_call_cancel(struct http_call *call);
