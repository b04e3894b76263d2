/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A load generator for API servers: many blocking TLS connections, each in a thread, each sending
 * one request after the other; prints requests a second and latencies as JSON.
 *
 *   bench-load HOST PORT CA CERT KEY OPERATION COUNT CONNECTIONS
 *
 * OPERATION: create, get, patch (of ConfigMaps bench-0 ... in namespace default), or list:PATH.
 * It says nothing about how the server does it, so the same program measures any.
 */
#include <netdb.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <strings.h>

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/clock.h"

/* Which of the created ones get and patch go round. */
#define OBJECTS 2000

struct load {
    const char *host, *port, *operation;
    SSL_CTX *tls;
    uint32_t count;
    atomic_uint next;
    atomic_uint failed;
    int64_t *latency_ns; /* one a request */
};

static void NORETURN die(const char *what)
{
    (void)fprintf(stderr, "bench-load: %s\n", what);
    exit(1);
}

static SSL *connect_tls(const struct load *l)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *a = NULL;
    SSL *ssl = SSL_new(l->tls);
    int fd;

    if (getaddrinfo(l->host, l->port, &hints, &a) != 0)
        die("cannot resolve the host");
    fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (fd < 0 || connect(fd, a->ai_addr, a->ai_addrlen) < 0)
        die("cannot connect");
    freeaddrinfo(a);
    if (!ssl || SSL_set_fd(ssl, fd) != 1 || SSL_connect(ssl) != 1)
        die("TLS handshake failed");
    return ssl;
}

static void build_request(const struct load *l, uint32_t i, struct buf *b)
{
    static const char path[] = "/api/v1/namespaces/default/configmaps";
    AUTO(buf_done) struct buf body = {0};
    const char *method = "GET";
    const char *type = "application/json";

    buf_clear(b);
    if (streq(l->operation, "create")) {
        method = "POST";
        buf_printf(&body,
                   "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
                   "\"bench-%u\",\"labels\":{\"app\":\"bench\"}},\"data\":{\"text\":\"%0256d\"}}",
                   i, 7);
    } else if (streq(l->operation, "patch")) {
        method = "PATCH";
        type = "application/merge-patch+json";
        buf_printf(&body, "{\"data\":{\"n\":\"%lld\"}}", (long long)clock_mono_ns());
    }
    if (starts_with(l->operation, "list:"))
        buf_printf(b, "GET %s HTTP/1.1\r\n", l->operation + 5);
    else if (streq(l->operation, "create"))
        buf_printf(b, "%s %s HTTP/1.1\r\n", method, path);
    else
        buf_printf(b, "%s %s/bench-%u HTTP/1.1\r\n", method, path, i % OBJECTS);
    buf_printf(b,
               "Host: %s:%s\r\nAccept: application/json\r\nUser-Agent: bench/1\r\n"
               "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n",
               l->host, l->port, type, body.n);
    buf_addstr(b, buf_view(&body));
}

static size_t read_some(SSL *ssl, struct buf *b)
{
    char *room = buf_room(b, 65536);
    int n = SSL_read(ssl, room, 65536);

    if (n <= 0)
        die("the server closed the connection");
    buf_grew(b, (size_t)n);
    return (size_t)n;
}

static const char *header(const struct buf *b, const char *name)
{
    const char *at = strcasestr(buf_str(b), name);

    return at ? at + strlen(name) : NULL;
}

/* Both ways of framing; the whole answer is read before the clock stops. */
static int read_answer(SSL *ssl, struct buf *b)
{
    const char *end;
    const char *length;
    size_t head;
    uint64_t n = 0;

    buf_clear(b);
    while (!(end = strstr(buf_str(b), "\r\n\r\n")))
        (void)read_some(ssl, b);
    head = (size_t)(end - buf_str(b)) + 4;
    length = header(b, "\r\nContent-Length: ");
    if (length && length < end) {
        while (*length >= '0' && *length <= '9')
            n = n * 10 + (uint64_t)(*length++ - '0');
        while (b->n < head + n)
            (void)read_some(ssl, b);
    } else {
        while (b->n < head + 5 || memcmp(b->p + b->n - 5, "0\r\n\r\n", 5) != 0)
            (void)read_some(ssl, b);
    }
    return buf_str(b)[9] == '2' ? 0 : -1;
}

static void *worker(void *arg)
{
    struct load *l = arg;
    AUTO(buf_done) struct buf out = {0};
    AUTO(buf_done) struct buf in = {0};
    SSL *ssl = connect_tls(l);
    uint32_t i;

    while ((i = atomic_fetch_add(&l->next, 1)) < l->count) {
        int64_t start;

        build_request(l, i, &out);
        start = clock_mono_ns();
        if (SSL_write(ssl, out.p, (int)out.n) <= 0)
            die("cannot send");
        if (read_answer(ssl, &in) < 0)
            atomic_fetch_add(&l->failed, 1);
        l->latency_ns[i] = clock_mono_ns() - start;
    }
    SSL_free(ssl);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const int64_t *x = a;
    const int64_t *y = b;

    return *x < *y ? -1 : *x > *y;
}

static SSL_CTX *make_tls(const char *ca, const char *cert, const char *key)
{
    SSL_CTX *c = SSL_CTX_new(TLS_client_method());

    if (!c || SSL_CTX_load_verify_locations(c, ca, NULL) != 1 ||
        SSL_CTX_use_certificate_chain_file(c, cert) != 1 ||
        SSL_CTX_use_PrivateKey_file(c, key, SSL_FILETYPE_PEM) != 1)
        die("cannot read the certificates");
    SSL_CTX_set_verify(c, SSL_VERIFY_PEER, NULL);
    return c;
}

int main(int argc, char **argv)
{
    struct load l = {0};
    pthread_t *threads;
    uint32_t connections;
    int64_t start;
    double seconds;

    if (argc != 9 || str_to_u32(str_of(argv[7]), &l.count) < 0 || l.count == 0 ||
        str_to_u32(str_of(argv[8]), &connections) < 0 || connections == 0)
        die("usage: bench-load HOST PORT CA CERT KEY OPERATION COUNT CONNECTIONS");
    l.host = argv[1];
    l.port = argv[2];
    l.tls = make_tls(argv[3], argv[4], argv[5]);
    l.operation = argv[6];
    l.latency_ns = xcalloc(l.count, sizeof(*l.latency_ns));
    threads = xcalloc(connections, sizeof(*threads));
    start = clock_mono_ns();
    for (uint32_t i = 0; i < connections; i++)
        if (pthread_create(&threads[i], NULL, worker, &l) != 0)
            die("cannot start a thread");
    for (uint32_t i = 0; i < connections; i++)
        (void)pthread_join(threads[i], NULL);
    seconds = (double)(clock_mono_ns() - start) / 1e9;
    qsort(l.latency_ns, l.count, sizeof(*l.latency_ns), compare);
    (void)printf("{\"per_second\": %.1f, \"median_ms\": %.3f, \"p95_ms\": %.3f, \"failed\": %u}\n",
                 l.count / seconds, (double)l.latency_ns[l.count / 2] / 1e6,
                 (double)l.latency_ns[l.count * 95 / 100] / 1e6, atomic_load(&l.failed));
    return atomic_load(&l.failed) ? 1 : 0;
}
