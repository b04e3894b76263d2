/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Handlers and requests that the tests of the server share. */
#pragma once

#include "src/http/test/peer.h"

/* Says what it was asked. */
static inline UNUSED void echo(void *arg, struct http_exchange *x)
{
    const struct http_request *q = http_exchange_request(x);
    AUTO(buf_done) struct buf b = {0};

    (void)arg;
    buf_printf(&b, "%s %s ?%s [", q->method, q->path, q->query);
    buf_addstr(&b, q->body);
    buf_adds(&b, "]");
    http_reply(x, 200, "text/plain", NULL, buf_view(&b));
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: h\r\n\r\n"

/* A handler that keeps its exchange for later. */
struct later {
    struct http_exchange *x[8];
    int n;
    int closed;
    struct http_raw *raw;
    struct buf data;
    int drained;
};

static inline UNUSED void note_close(void *arg)
{
    struct later *t = arg;

    t->closed++;
}

static inline UNUSED void keep(void *arg, struct http_exchange *x)
{
    struct later *t = arg;

    t->x[t->n++] = x;
    http_exchange_on_close(x, note_close, t);
}
