/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: TLS in front of the HTTP server.
 *
 * A peer begins by sending what the script says as it is: records, or what pretends to be some.
 * Step S n shakes hands as a real client would (1: with a certificate, 2: with a stranger's); then
 * what the script says is sent inside of that session.  Step R sends what has gathered outside of
 * it again: forged, cut and repeated records in the midst of a good session.  Step K asks for new
 * keys, step Q says farewell.
 *
 * What must hold: the handler sees nothing that did not come through a session, and nobody without
 * a certificate has a name.
 */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/http/cert.h"
#include "src/http/server.h"
#include "tests/fuzz/peers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
    struct http_server *server;
    SSL *sessions[PEERS];
    bool named[PEERS];
    size_t handshakes;
};

static struct http_tls *tls;
static SSL_CTX *clients[3]; /* nobody, alice, and a stranger who says that he is alice */

static void use_pair(SSL_CTX *ctx, const struct cert_pair *p)
{
    BIO *cert = BIO_new_mem_buf(p->cert_pem, -1);
    BIO *key = BIO_new_mem_buf(p->key_pem, -1);
    X509 *x = PEM_read_bio_X509(cert, NULL, NULL, NULL);
    EVP_PKEY *k = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);

    if (!x || !k || SSL_CTX_use_certificate(ctx, x) != 1 || SSL_CTX_use_PrivateKey(ctx, k) != 1)
        abort();
    X509_free(x);
    EVP_PKEY_free(k);
    (void)BIO_free(cert);
    (void)BIO_free(key);
}

static void make_identities(void)
{
    AUTO(cert_pair_done) struct cert_pair ca = {0}, server = {0}, client = {0};
    AUTO(cert_pair_done) struct cert_pair other = {0}, stranger = {0};
    static const char *const names[] = {"localhost", NULL};
    struct cert_request s = {"server", NULL, names}, c = {"alice", "admins", NULL};

    if (cert_make_authority("fuzz", &ca, NULL) < 0 || cert_make(&ca, &s, &server, NULL) < 0 ||
        cert_make(&ca, &c, &client, NULL) < 0 || cert_make_authority("fuzz", &other, NULL) < 0 ||
        cert_make(&other, &c, &stranger, NULL) < 0 ||
        http_tls_new(server.cert_pem, server.key_pem, ca.cert_pem, &tls, NULL) < 0)
        abort();
    for (size_t i = 0; i < ARRAY_LEN(clients); i++)
        clients[i] = SSL_CTX_new(TLS_client_method());
    use_pair(clients[1], &client);
    use_pair(clients[2], &stranger);
}

static void handle(void *arg, struct http_exchange *x)
{
    const struct http_request *q = http_exchange_request(x);
    struct world *w = arg;
    bool any = false;

    for (size_t i = 0; i < PEERS; i++)
        any |= w->named[i];
    assert(w->handshakes > 0 && (!q->tls_cn || any));
    assert(!q->tls_cn || streq(q->tls_cn, "alice"));
    http_reply(x, 200, "text/plain", NULL, q->body.n ? q->body : STR("hello\n"));
}

static void shake_hands(struct world *w, struct peers *p, unsigned int who)
{
    SSL *ssl = SSL_new(clients[who]);

    peers_send_plain(p);
    (void)SSL_set_fd(ssl, p->fds[p->now]);
    p->deaf[p->now] = true; /* its answers are the session's */
    SSL_set_connect_state(ssl);
    for (int i = 0; i < 8 && SSL_do_handshake(ssl) != 1; i++)
        peers_turn(p, 8);
    if (!SSL_is_init_finished(ssl)) {
        SSL_free(ssl);
        return;
    }
    w->sessions[p->now] = ssl;
    w->named[p->now] |= who == 1;
    w->handshakes++;
    peers_turn(p, 8);
}

static void hear(SSL *ssl)
{
    static char data[32768];

    while (SSL_read(ssl, data, sizeof(data)) > 0)
        ;
}

/* What has gathered goes through the session, if there is one. */
static bool send_inside(void *arg, struct peers *p)
{
    struct world *w = arg;
    SSL *ssl = w->sessions[p->now];
    int n = 0;

    if (!ssl)
        return false;
    for (int i = 0; i < 64 && p->gathered.n > 0; i++) {
        n = SSL_write(ssl, p->gathered.p, (int)MIN(p->gathered.n, (size_t)16384));
        if (n > 0)
            buf_eat(&p->gathered, (size_t)n);
        peers_turn(p, 8);
        hear(ssl);
    }
    buf_clear(&p->gathered);
    ERR_clear_error();
    peers_turn(p, 8);
    return true;
}

static void forget_session(void *arg, size_t i)
{
    struct world *w = arg;

    SSL_free(TAKE(w->sessions[i]));
}

static void take_step(void *arg, struct peers *p, char step, unsigned char n)
{
    struct world *w = arg;
    SSL *ssl = w->sessions[p->now];

    if (step == 'S' && !ssl)
        shake_hands(w, p, n % ARRAY_LEN(clients));
    else if (step == 'R')
        peers_send_plain(p);
    else if (step == 'K' && ssl)
        (void)SSL_key_update(ssl, n % 2);
    else if (step == 'Q' && ssl)
        (void)SSL_shutdown(ssl);
    ERR_clear_error();
    peers_turn(p, 8);
}

static void adopt(void *arg, int fd)
{
    struct world *w = arg;

    http_server_adopt(w->server, fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(loop_free) struct loop *loop = NULL;
    struct world w = {0};
    struct http_server_options o = {
        .handler = handle, .arg = &w, .limits = {.max_body_bytes = 100000}};
    struct peers_target t = {.connect = adopt,
                             .send = send_inside,
                             .closed = forget_session,
                             .step = take_step,
                             .arg = &w};

    if (!tls)
        make_identities();
    o.tls = tls;
    script_clock_reset();
    if (loop_new(&loop, NULL) < 0 || http_server_new(loop, &o, &w.server, NULL) < 0)
        abort();
    peers_run(loop, &t, data, size);
    w.server = http_server_free(w.server);
    return 0;
}
