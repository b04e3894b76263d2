/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the server's TLS: identities, versions, ALPN, tickets, idle connections' cost. */
#include "src/base/test/unit.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/http/server.h"
#include "src/http/test/pki.h"

/* A TLS server and one TLS client on a socket pair, both in this thread. */
struct rig {
    struct loop *loop;
    struct http_tls *tls;
    struct http_server *server;
    SSL_CTX *ctx;
    SSL *ssl;
    int fd;
};

static void tell_identity(void *arg, struct http_exchange *x)
{
    const struct http_request *q = http_exchange_request(x);
    AUTO(buf_done) struct buf b = {0};

    (void)arg;
    buf_printf(&b, "cn=%s", q->tls_cn ? q->tls_cn : "-");
    for (const char *const *o = q->tls_orgs; o && *o; o++)
        buf_printf(&b, " o=%s", *o);
    if (q->body.n > 100)
        buf_printf(&b, " body=%zu", q->body.n);
    http_reply(x, 200, "text/plain", NULL, buf_view(&b));
}

static void rig_init(struct rig *r, bool client_ca)
{
    struct http_server_options o = {.handler = tell_identity};
    struct err e = {0};

    *r = (struct rig){.fd = -1};
    assert_int_equal(loop_new(&r->loop, &e), 0);
    assert_int_equal(http_tls_new(pki.cert, pki.key, client_ca ? pki.ca : NULL, &r->tls, &e), 0);
    o.tls = r->tls;
    assert_int_equal(http_server_new(r->loop, &o, &r->server, &e), 0);
    r->ctx = SSL_CTX_new(TLS_client_method());
}

static void rig_hang_up(struct rig *r)
{
    SSL_free(r->ssl);
    r->ssl = NULL;
    if (r->fd >= 0)
        (void)close(TAKE_FD(r->fd));
}

static void rig_done(struct rig *r)
{
    rig_hang_up(r);
    SSL_CTX_free(r->ctx);
    r->server = http_server_free(r->server);
    r->tls = http_tls_free(r->tls);
    r->loop = loop_free(r->loop);
}

static void client_identity(struct rig *r, const char *cert, const char *key)
{
    BIO *bc = BIO_new_mem_buf(cert, -1), *bk = BIO_new_mem_buf(key, -1);
    X509 *x = PEM_read_bio_X509(bc, NULL, NULL, NULL);
    EVP_PKEY *k = PEM_read_bio_PrivateKey(bk, NULL, NULL, NULL);

    assert_int_equal(SSL_CTX_use_certificate(r->ctx, x), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(r->ctx, k), 1);
    X509_free(x);
    EVP_PKEY_free(k);
    BIO_free(bc);
    BIO_free(bk);
}

static int plug(struct rig *r)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    http_server_adopt(r->server, fds[0]);
    return fds[1];
}

/* 1 when connected, 0 when the handshake failed. */
static int rig_connect(struct rig *r, SSL_SESSION *session)
{
    r->fd = plug(r);
    r->ssl = SSL_new(r->ctx);
    SSL_set_fd(r->ssl, r->fd);
    if (session)
        SSL_set_session(r->ssl, session);
    SSL_set_connect_state(r->ssl);
    for (int i = 0; i < 1000; i++) {
        int n = SSL_do_handshake(r->ssl);

        if (n == 1)
            return 1;
        if (SSL_get_error(r->ssl, n) != SSL_ERROR_WANT_READ)
            return 0;
        (void)loop_turn(r->loop, 10);
    }
    return 0;
}

/* The answer's body; "" when the server has closed. */
static const char *ask(struct rig *r, const char *request, size_t n)
{
    static char answer[4096];
    size_t sent = 0;
    int got = 0;

    while (sent < n) {
        int k = SSL_write(r->ssl, request + sent, (int)(n - sent));

        if (k > 0)
            sent += (size_t)k;
        else if (SSL_get_error(r->ssl, k) != SSL_ERROR_WANT_WRITE)
            return "";
        (void)loop_turn(r->loop, 0);
    }
    for (int i = 0; i < 1000 && got <= 0; i++) {
        (void)loop_turn(r->loop, 10);
        got = SSL_read(r->ssl, answer, sizeof(answer) - 1);
        if (got <= 0 && SSL_get_error(r->ssl, got) != SSL_ERROR_WANT_READ)
            return "";
    }
    answer[MAX(got, 0)] = '\0';
    return strstr(answer, "\r\n\r\n") ? strstr(answer, "\r\n\r\n") + 4 : answer;
}

static const char *get(struct rig *r)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

    return ask(r, request, sizeof(request) - 1);
}

static void a_client_is_who_its_certificate_says(void **state)
{
    static const struct {
        bool server_asks;
        bool has_cert;
        const char *body;
    } table[] = {
        {true, true, "cn=alice o=admins o=users"},
        {true, false, "cn=-"},
        {false, true, "cn=-"},
    };

    (void)state;
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
            struct rig r;

            rig_init(&r, table[i].server_asks);
            SSL_CTX_set_max_proto_version(r.ctx, version);
            if (table[i].has_cert)
                client_identity(&r, pki.client_cert, pki.client_key);
            assert_int_equal(rig_connect(&r, NULL), 1);
            assert_string_equal(get(&r), table[i].body);
            assert_string_equal(get(&r), table[i].body);
            rig_done(&r);
        }
    }
}

static void a_certificate_of_a_stranger_fails_the_handshake(void **state)
{
    struct rig r;

    (void)state;
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        rig_init(&r, true);
        SSL_CTX_set_max_proto_version(r.ctx, version);
        client_identity(&r, pki.other_cert, pki.other_key);
        if (rig_connect(&r, NULL) == 1)
            assert_string_equal(get(&r), ""); /* TLS 1.3 tells the client late */
        (void)loop_turn(r.loop, 0);
        assert_int_equal(http_server_connections(r.server), 0);
        rig_done(&r);
        ERR_clear_error();
    }
}

static void old_versions_are_refused(void **state)
{
    struct rig r;

    (void)state;
    rig_init(&r, false);
    SSL_CTX_set_security_level(r.ctx, 0);
    SSL_CTX_set_min_proto_version(r.ctx, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(r.ctx, TLS1_1_VERSION);
    assert_int_equal(rig_connect(&r, NULL), 0);
    rig_done(&r);
    ERR_clear_error();
}

static void alpn_chooses_http_1_1(void **state)
{
    static const unsigned char both[] = "\x02h2\x08http/1.1";
    const unsigned char *chosen = NULL;
    unsigned int n = 0;
    struct rig r;

    (void)state;
    rig_init(&r, false);
    SSL_CTX_set_alpn_protos(r.ctx, both, sizeof(both) - 1);
    assert_int_equal(rig_connect(&r, NULL), 1);
    SSL_get0_alpn_selected(r.ssl, &chosen, &n);
    assert_int_equal(n, 8);
    assert_memory_equal(chosen, "http/1.1", 8);
    rig_done(&r);
}

static void a_resumed_session_keeps_the_identity(void **state)
{
    SSL_SESSION *session;
    struct rig r;

    (void)state;
    rig_init(&r, true);
    client_identity(&r, pki.client_cert, pki.client_key);
    assert_int_equal(rig_connect(&r, NULL), 1);
    assert_string_equal(get(&r), "cn=alice o=admins o=users");
    session = SSL_get1_session(r.ssl);
    SSL_shutdown(r.ssl); /* an unclean end would spoil the session */
    rig_hang_up(&r);
    assert_int_equal(rig_connect(&r, session), 1);
    assert_int_equal(SSL_session_reused(r.ssl), 1);
    assert_string_equal(get(&r), "cn=alice o=admins o=users");
    SSL_SESSION_free(session);
    rig_done(&r);
}

static void a_large_body_arrives_over_tls(void **state)
{
    enum { N = 3000000 };
    AUTO(buf_done) struct buf b = {0};
    struct rig r;

    (void)state;
    rig_init(&r, false);
    assert_int_equal(rig_connect(&r, NULL), 1);
    buf_printf(&b, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n", N);
    memset(buf_room(&b, N), 'x', N);
    buf_grew(&b, N);
    assert_string_equal(ask(&r, b.p, b.n), "cn=- body=3000000");
    rig_done(&r);
}

static void plain_http_on_a_tls_port_is_told_so(void **state)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    char answer[300] = "";
    struct rig r;

    (void)state;
    rig_init(&r, false);
    r.fd = plug(&r);
    assert_true(send(r.fd, request, sizeof(request) - 1, 0) > 0);
    (void)loop_turn(r.loop, 10);
    assert_true(recv(r.fd, answer, sizeof(answer) - 1, 0) > 0);
    assert_memory_equal(answer, "HTTP/1.1 400 ", 13);
    assert_non_null(strstr(answer, "HTTPS server"));
    assert_int_equal(http_server_connections(r.server), 0);
    rig_done(&r);
}

static bool serves_certificate(struct rig *r, const char *pem)
{
    BIO *b = BIO_new_mem_buf(pem, -1);
    X509 *wanted = PEM_read_bio_X509(b, NULL, NULL, NULL);
    X509 *got = SSL_get1_peer_certificate(r->ssl);
    bool same = X509_cmp(wanted, got) == 0;

    X509_free(wanted);
    X509_free(got);
    BIO_free(b);
    return same;
}

static void a_new_certificate_is_for_new_connections(void **state)
{
    struct rig r;
    struct err e = {0};

    (void)state;
    rig_init(&r, true);
    assert_int_equal(rig_connect(&r, NULL), 1);
    assert_int_equal(http_tls_renew(r.tls, pki.other_cert, pki.other_key, NULL, &e), 0);
    assert_string_equal(get(&r), "cn=-");
    assert_true(serves_certificate(&r, pki.cert));
    rig_hang_up(&r);
    client_identity(&r, pki.client_cert, pki.client_key);
    assert_int_equal(rig_connect(&r, NULL), 1);
    assert_true(serves_certificate(&r, pki.other_cert));
    assert_string_equal(get(&r), "cn=alice o=admins o=users");
    rig_hang_up(&r);
    /* A bad one changes nothing. */
    assert_true(http_tls_renew(r.tls, pki.cert, pki.other_key, NULL, &e) < 0);
    assert_int_equal(rig_connect(&r, NULL), 1);
    assert_true(serves_certificate(&r, pki.other_cert));
    rig_done(&r);
}

static void bad_credentials_are_explained(void **state)
{
    const struct {
        const char *cert, *key, *ca, *text;
    } table[] = {
        {"nonsense", pki.key, NULL, "TLS certificate: no start line"},
        {pki.cert, "nonsense", NULL, "TLS private key: "},
        {pki.cert, pki.client_key, NULL, "TLS private key: key values mismatch"},
        {pki.cert, pki.key, "nonsense", "TLS authority for client certificates: "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct http_tls *t = NULL;
        struct err e = {0};

        assert_int_equal(http_tls_new(table[i].cert, table[i].key, table[i].ca, &t, &e), -EINVAL);
        assert_non_null(strstr(e.text, table[i].text));
        assert_null(t);
    }
}

static long rss_kib(void)
{
    char line[256];
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    assert_non_null(f);
    assert_non_null(fgets(line, sizeof(line), f));
    (void)fclose(f);
    assert_int_equal(sscanf(line, "%*d %ld", &pages), 1);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

#ifdef __has_feature /* clang's way to tell */
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
enum { WANT = 200 }; /* slow, and the figure means nothing then */
#else
enum { WANT = 2000 };
#endif

/* Client and server live in this process, so the figure holds both ends' cost. */
static void thousands_of_idle_connections_are_cheap(void **state)
{
    struct rlimit lim;
    int n = WANT;
    AUTO(free) SSL **clients = xcalloc(WANT, sizeof(SSL *));
    AUTO(free) int *fds = xcalloc(WANT, sizeof(int));
    struct rig r;
    long before;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &lim), 0);
    if (lim.rlim_cur < 2 * WANT + 100)
        n = (int)(lim.rlim_cur - 100) / 2;
    rig_init(&r, true);
    client_identity(&r, pki.client_cert, pki.client_key);
    SSL_CTX_set_mode(r.ctx, SSL_MODE_RELEASE_BUFFERS);
    assert_int_equal(rig_connect(&r, NULL), 1);
    assert_string_equal(get(&r), "cn=alice o=admins o=users");
    before = rss_kib();
    for (int i = 0; i < n; i++) {
        clients[i] = r.ssl;
        fds[i] = r.fd;
        r.ssl = NULL;
        assert_int_equal(rig_connect(&r, NULL), 1);
        assert_string_equal(get(&r), "cn=alice o=admins o=users");
    }
    assert_int_equal(http_server_connections(r.server), n + 1);
    print_message("%d idle TLS connections, both ends: %ld KiB each\n", n,
                  (rss_kib() - before) / n);
#ifndef __SANITIZE_ADDRESS__
    assert_true((rss_kib() - before) / n < 60);
#endif
    for (int i = 0; i < n; i++) {
        SSL_free(clients[i]);
        (void)close(fds[i]);
    }
    for (int i = 0; i < 10; i++)
        (void)loop_turn(r.loop, 0);
    assert_int_equal(http_server_connections(r.server), 1);
    rig_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_is_who_its_certificate_says),
        cmocka_unit_test(a_certificate_of_a_stranger_fails_the_handshake),
        cmocka_unit_test(old_versions_are_refused),
        cmocka_unit_test(alpn_chooses_http_1_1),
        cmocka_unit_test(a_resumed_session_keeps_the_identity),
        cmocka_unit_test(a_large_body_arrives_over_tls),
        cmocka_unit_test(plain_http_on_a_tls_port_is_told_so),
        cmocka_unit_test(a_new_certificate_is_for_new_connections),
        cmocka_unit_test(bad_credentials_are_explained),
        cmocka_unit_test(thousands_of_idle_connections_are_cheap),
    };

    return cmocka_run_group_tests(tests, pki_set_up, pki_tear_down);
}
