/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What client.c and call.c share; nobody else includes it. */
#pragma once

#include <curl/curl.h>

#include "src/base/list.h"
#include "src/http/client.h"

struct http_call {
    struct http_client *client;
    struct list link;  /* in client->calls */
    struct list ready; /* in client->ready: has something to tell */
    CURL *easy;
    struct curl_slist *headers;
    struct curl_slist *connect_to;
    struct buf body; /* whole, or of a stream what has not been told yet */
    bool streamed;
    bool full;  /* the body would be longer than allowed */
    bool ended; /* curl is done with it; `result` says how */
    bool dead;  /* cancelled or told; freed at the end of the turn */
    CURLcode result;
    http_chunk_fn on_chunk;
    http_done_fn on_done;
    void *arg;
    char *what; /* "GET https://...", for errors */
    char problem[CURL_ERROR_SIZE];
};

struct http_client {
    struct loop *loop;
    CURLM *multi;
    struct loop_source *timer;
    struct list calls;
    struct list ready;
};

/* Make the call's handle as the options say. */
struct http_call *http_call_new(struct http_client *c, const struct http_call_options *o);
void http_call_free(struct http_call *call);
/* curl's result as an error with its class. */
int http_call_error(const struct http_call *call, struct err *e);
