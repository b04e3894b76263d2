/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A scripted API server for the tests; see peer.h. */
#include "src/base/test/unit.h"

#include "src/kube/test/peer.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/list.h"
#include "src/http/url.h"

#define PATIENCE_MS 30000

static void serve(void *arg, struct http_exchange *x)
{
    const struct http_request *q = http_exchange_request(x);
    const char *auth = http_request_header(x, "Authorization");
    struct peer *p = arg;

    assert_true(p->n_seen < PEER_MAX_SEEN);
    p->seen[p->n_seen++] =
        xasprintf("%s %s%s%s %s " STR_FMT, q->method, q->path, *q->query ? "?" : "", q->query,
                  auth ? auth : "-", STR_ARG(q->body));
    p->fn(p, x);
}

void peer_redirect(struct peer *p, int port, const struct kube_client_options *o)
{
    struct err e = {0};

    p->client = kube_client_free(p->client);
    free(p->target->cluster->server);
    p->target->cluster->server = xasprintf("http://127.0.0.1:%d", port);
    assert_int_equal(kube_client_new(p->loop, p->target, o, &p->client, &e), 0);
}

void peer_up(struct peer *p)
{
    struct http_server_options so = {.handler = serve, .arg = p};
    AUTO(free) char *address = xasprintf("127.0.0.1:%d", p->port);
    struct err e = {0};

    assert_int_equal(http_server_new(p->loop, &so, &p->server, &e), 0);
    assert_int_equal(http_server_listen(p->server, address, &e), 0);
    p->port = http_server_port(p->server);
}

void peer_down(struct peer *p)
{
    p->server = http_server_free(p->server);
}

void peer_init(struct peer *p, peer_fn fn, const struct kube_client_options *o)
{
    struct err e = {0};

    *p = (struct peer){.fn = fn};
    assert_int_equal(loop_new(&p->loop, &e), 0);
    (void)loop_turn(p->loop, 0);
    peer_up(p);
    p->target = xcalloc(1, sizeof(*p->target));
    p->target->origin = xstrdup("the peer");
    p->target->namespace = xstrdup("default");
    p->target->cluster = xcalloc(1, sizeof(*p->target->cluster));
    p->target->user = xcalloc(1, sizeof(*p->target->user));
    peer_redirect(p, p->port, o);
}

void peer_done(struct peer *p)
{
    p->client = kube_client_free(p->client);
    p->server = http_server_free(p->server);
    p->target = kube_target_free(p->target);
    p->loop = loop_free(p->loop);
    for (size_t i = 0; i < p->n_seen; i++)
        free(p->seen[i]);
}

void peer_answer_with(struct http_exchange *x, int status, const char *headers, const char *json)
{
    http_reply(x, status, "application/json", headers, str_of(json));
}

void peer_answer(struct http_exchange *x, int status, const char *json)
{
    peer_answer_with(x, status, NULL, json);
}

static void stream_gone(void *arg)
{
    struct peer *p = arg;

    p->stream = NULL;
}

void peer_stream(struct peer *p, struct http_exchange *x)
{
    http_stream_begin(x, 200, "application/json", NULL);
    http_exchange_on_close(x, stream_gone, p);
    p->stream = x;
    p->streams++;
}

void peer_line(struct peer *p, const char *json)
{
    assert_non_null(p->stream);
    http_stream_write(p->stream, str_of(json));
    http_stream_write(p->stream, STR("\n"));
}

void peer_stream_end(struct peer *p)
{
    assert_non_null(p->stream);
    http_stream_end(TAKE(p->stream));
}

bool peer_query_is(struct http_exchange *x, const char *key, const char *value)
{
    AUTO(url_query_done) struct url_query q = {0};
    struct err e = {0};

    assert_int_equal(url_query_parse(http_exchange_request(x)->query, &q, &e), 0);
    return streq(url_query_get(&q, key), value);
}

void peer_run_until(struct peer *p, const int *what, int n)
{
    int64_t end = clock_mono_ms() + PATIENCE_MS;

    while (*what < n) {
        (void)loop_turn(p->loop, 50);
        if (clock_mono_ms() > end)
            fail_msg("waited in vain for %d, at %d", n, *what);
    }
}

void peer_run_for(struct peer *p, int64_t ms)
{
    int64_t end = clock_mono_ms() + ms;

    while (clock_mono_ms() < end)
        (void)loop_turn(p->loop, (int)(end - clock_mono_ms()));
}

void result_note(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct result *r = arg;

    r->done++;
    if (f) {
        assert_null(a);
        r->f = *f;
        r->code = f->code;
        return;
    }
    r->code = a->code;
    free(r->text);
    free(r->name);
    r->text = str_dup(a->text);
    r->name = xstrdup_null(jsn_get_str(a->value, "metadata.name"));
}

void result_done(struct result *r)
{
    free(r->text);
    free(r->name);
}

struct raw_conn {
    struct list link;
    struct raw_peer *peer;
    int fd;
    struct loop_source *source;
    struct buf head;
    const char *script;
    bool sent;
};

struct raw_peer {
    struct loop *loop;
    const char *const *scripts;
    int fd;
    int port;
    int connections;
    struct loop_source *source;
    struct list conns;
};

static void conn_free(struct raw_conn *c)
{
    list_remove(&c->link);
    (void)loop_source_free(c->source);
    (void)close(c->fd);
    buf_done(&c->head);
    free(c);
}

static void conn_send(struct raw_conn *c)
{
    struct str text = str_of(c->script);
    bool hold = str_ends(text, "HOLD");

    c->sent = true;
    if (hold)
        text.n -= 4;
    (void)send(c->fd, text.p, text.n, MSG_NOSIGNAL);
    if (!hold)
        conn_free(c);
}

static void conn_ready(void *arg, int fd, uint32_t events)
{
    struct raw_conn *c = arg;
    char piece[4096];
    ssize_t n = read(fd, piece, sizeof(piece));

    (void)events;
    if (n <= 0) {
        conn_free(c);
        return;
    }
    buf_add(&c->head, piece, (size_t)n);
    if (!c->sent && strstr(buf_str(&c->head), "\r\n\r\n"))
        conn_send(c);
}

static void raw_accept(void *arg, int fd, uint32_t events)
{
    struct raw_peer *r = arg;
    struct raw_conn *c = xcalloc(1, sizeof(*c));

    (void)events;
    c->peer = r;
    c->fd = accept(fd, NULL, NULL);
    assert_true(c->fd >= 0);
    c->script = r->scripts[0];
    if (r->scripts[1])
        r->scripts++;
    r->connections++;
    c->source = loop_add_fd(r->loop, c->fd, EPOLLIN, conn_ready, c);
    list_append(&r->conns, &c->link);
}

struct raw_peer *raw_peer_new(struct loop *l, const char *const *scripts)
{
    struct raw_peer *r = xcalloc(1, sizeof(*r));
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(a);

    r->loop = l;
    r->scripts = scripts;
    list_init(&r->conns);
    r->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(r->fd >= 0);
    assert_int_equal(bind(r->fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(r->fd, 16), 0);
    assert_int_equal(getsockname(r->fd, (struct sockaddr *)&a, &n), 0);
    r->port = ntohs(a.sin_port);
    r->source = loop_add_fd(l, r->fd, EPOLLIN, raw_accept, r);
    return r;
}

struct raw_peer *raw_peer_free(struct raw_peer *r)
{
    LIST_FOR_EACH (c, &r->conns, struct raw_conn, link)
        conn_free(c);
    (void)loop_source_free(r->source);
    (void)close(r->fd);
    free(r);
    return NULL;
}

int raw_peer_port(const struct raw_peer *r)
{
    return r->port;
}

int raw_peer_connections(const struct raw_peer *r)
{
    return r->connections;
}
