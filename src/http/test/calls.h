/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A client, our own server on loopback and what a call ended with, for the tests of the client. */
#pragma once

#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/http/client.h"
#include "src/http/server.h"
#include "src/http/test/pki.h"

struct rig {
    struct loop *loop;
    struct http_tls *tls;
    struct http_server *server;
    struct http_client *client;
    struct http_exchange *held; /* of /hold and /stream */
    int left;                   /* held exchanges whose client left */
    char *base;
    char *unix_path;
    char dir[32];
};

/* What a call brought. */
struct result {
    int done;
    int status;
    char *body;
    char *type;
    struct buf chunks;
    int n_chunks;
    struct err e;
    struct rig *rig;
    struct http_call *call;
};

static inline UNUSED void client_left(void *arg)
{
    struct rig *r = arg;

    r->left++;
    r->held = NULL;
}

static inline UNUSED void echo(struct http_exchange *x)
{
    const struct http_request *q = http_exchange_request(x);
    const char *auth = http_request_header(x, "Authorization");
    const char *type = http_request_header(x, "Content-Type");
    AUTO(buf_done) struct buf b = {0};

    buf_printf(&b, "%s %s?%s auth=%s type=%s cn=%s expect=%d [", q->method, q->path, q->query,
               auth ? auth : "-", type ? type : "-", q->tls_cn ? q->tls_cn : "-",
               http_request_header(x, "Expect") != NULL);
    buf_addstr(&b, q->body);
    buf_adds(&b, "]");
    http_reply(x, 201, "text/test", "X-Answer: 42\r\n", buf_view(&b));
}

static inline UNUSED void serve(void *arg, struct http_exchange *x)
{
    const char *path = http_exchange_request(x)->path;
    struct rig *r = arg;

    if (streq(path, "/hold") || streq(path, "/stream")) {
        r->held = x;
        http_exchange_on_close(x, client_left, r);
        if (streq(path, "/stream"))
            http_stream_begin(x, 200, "application/json", NULL);
        return;
    }
    echo(x);
}

static inline UNUSED void rig_init_as(struct rig *r, const char *cert, const char *key,
                                      const char *ca)
{
    struct http_server_options o = {.handler = serve, .arg = r};
    AUTO(free) char *address = NULL;
    struct err e = {0};

    *r = (struct rig){.dir = "/tmp/http-client-XXXXXX"};
    assert_non_null(mkdtemp(r->dir));
    r->unix_path = xasprintf("%s/sock", r->dir);
    address = xasprintf("unix:%s", r->unix_path);
    assert_int_equal(loop_new(&r->loop, &e), 0);
    if (cert)
        assert_int_equal(http_tls_new(cert, key, ca, &r->tls, &e), 0);
    o.tls = r->tls;
    assert_int_equal(http_server_new(r->loop, &o, &r->server, &e), 0);
    assert_int_equal(http_server_listen(r->server, "127.0.0.1:0", &e), 0);
    assert_int_equal(http_server_listen(r->server, address, &e), 0);
    assert_int_equal(http_client_new(r->loop, &r->client, &e), 0);
    r->base = xasprintf("http%s://127.0.0.1:%d", cert ? "s" : "", http_server_port(r->server));
}

static inline UNUSED void rig_init(struct rig *r, bool with_tls)
{
    rig_init_as(r, with_tls ? pki.cert : NULL, pki.key, pki.ca);
}

static inline UNUSED void rig_done(struct rig *r)
{
    struct err e = {0};

    r->client = http_client_free(r->client);
    r->server = http_server_free(r->server);
    r->tls = http_tls_free(r->tls);
    r->loop = loop_free(r->loop);
    assert_int_equal(file_remove_tree(r->dir, &e), 0);
    free(r->base);
    free(r->unix_path);
}

static inline UNUSED void result_done(struct result *res)
{
    free(res->body);
    free(res->type);
    buf_done(&res->chunks);
}
DEFINE_AUTO_DONE(struct result, result_done);

static inline UNUSED void note_done(void *arg, const struct http_answer *a, const struct err *e)
{
    struct result *res = arg;

    res->done++;
    if (e) {
        assert_null(a);
        res->e = *e;
        return;
    }
    res->status = a->status;
    res->body = str_dup(a->body);
    res->type = xstrdup_null(http_answer_header(a, "content-TYPE"));
}

static inline UNUSED void note_chunk(void *arg, int status, struct str data)
{
    struct result *res = arg;

    res->status = status;
    res->n_chunks++;
    buf_addstr(&res->chunks, data);
}

static inline UNUSED void run(struct rig *r, const struct result *res)
{
    int64_t until = clock_mono_ms() + 10000;

    while (!res->done && clock_mono_ms() < until)
        (void)loop_turn(r->loop, 100);
    assert_int_equal(res->done, 1);
}

static inline UNUSED void start(struct rig *r, const char *path, struct http_call_options o,
                                struct result *res)
{
    AUTO(free) char *url = xasprintf("%s%s", r->base, path);

    res->rig = r;
    if (!o.url)
        o.url = url;
    o.on_done = note_done;
    o.arg = res;
    res->call = http_client_call(r->client, &o);
    assert_int_equal(res->done, 0);
}
