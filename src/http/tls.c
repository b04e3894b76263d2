/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TLS identity and trust of a server, from PEM text in memory.
 *
 * TLS 1.2 and 1.3 alone, no compression, no renegotiation.  ALPN offers http/1.1: a client that
 * could speak HTTP/2 is told to stay with 1.1.  Client certificates are asked for when there is an
 * authority to check them with; a client without one is let in as nobody.  Sessions are kept by the
 * clients (tickets, one per handshake), not here.
 *
 * Thousands of idle connections are the normal state of an API server (watches), so record buffers
 * are released between records.
 */
#include "src/http/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include "src/base/alloc.h"

#define TICKET_LIFETIME_S 3600
#define MAX_PEM_BYTES (1 << 20)

struct http_tls {
    SSL_CTX *ctx;
    char *client_ca_pem; /* or NULL */
};

SSL_CTX *http_tls_context(struct http_tls *t)
{
    return t->ctx;
}

struct http_tls *http_tls_free(struct http_tls *t)
{
    if (!t)
        return NULL;
    SSL_CTX_free(t->ctx);
    free(t->client_ca_pem);
    free(t);
    return NULL;
}

static int tls_error(struct err *e, const char *what)
{
    unsigned long code = ERR_peek_last_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;

    ERR_clear_error();
    return err_bad(e, "%s: %s", what, reason ? reason : "not usable");
}

static BIO *pem_bio(const char *pem)
{
    size_t n = strnlen(pem, MAX_PEM_BYTES);
    BIO *b = BIO_new_mem_buf(pem, (int)n);

    if (!b)
        abort(); /* only allocates */
    return b;
}

/* Every certificate of the text is told to fn, which takes it if it returns 1. */
static int each_certificate(const char *pem, int (*fn)(SSL_CTX *ctx, X509 *cert, int i),
                            SSL_CTX *ctx)
{
    BIO *b = pem_bio(pem);
    int n = 0;

    for (;;) {
        X509 *cert = PEM_read_bio_X509(b, NULL, NULL, NULL);

        if (!cert)
            break;
        if (fn(ctx, cert, n) != 1) {
            X509_free(cert);
            n = -1;
            break;
        }
        n++;
    }
    BIO_free(b);
    if (n > 0)
        ERR_clear_error(); /* the end of the text looks like an error */
    return n;
}

static int use_certificate(SSL_CTX *ctx, X509 *cert, int i)
{
    if (i > 0)
        return (int)SSL_CTX_add0_chain_cert(ctx, cert);
    if (SSL_CTX_use_certificate(ctx, cert) != 1)
        return 0;
    X509_free(cert);
    return 1;
}

static int trust_certificate(SSL_CTX *ctx, X509 *cert, int i)
{
    (void)i;
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), cert) != 1)
        return 0;
    if (SSL_CTX_add_client_CA(ctx, cert) != 1)
        return 0;
    X509_free(cert);
    return 1;
}

/* No terminal is asked for the passphrase of an encrypted key: such a key is refused. */
static int no_passphrase(char *text, int size, int writing, void *arg)
{
    (void)text;
    (void)size;
    (void)writing;
    (void)arg;
    return -1;
}

static int use_key(SSL_CTX *ctx, const char *pem)
{
    BIO *b = pem_bio(pem);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(b, NULL, no_passphrase, NULL);
    int r = 0;

    BIO_free(b);
    if (key)
        r = SSL_CTX_use_PrivateKey(ctx, key);
    EVP_PKEY_free(key);
    return r;
}

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *outlen,
                           const unsigned char *in, unsigned int inlen, void *arg)
{
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *chosen = NULL;

    (void)ssl;
    (void)arg;
    if (SSL_select_next_proto(&chosen, outlen, ours, sizeof(ours) - 1, in, inlen) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static void set_policy(SSL_CTX *ctx)
{
    static const unsigned char session_context[] = "slurmkeeper";

    (void)SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    (void)SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                       SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
    (void)SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    (void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    (void)SSL_CTX_set_num_tickets(ctx, 1);
    (void)SSL_CTX_set_timeout(ctx, TICKET_LIFETIME_S);
    (void)SSL_CTX_set_session_id_context(ctx, session_context, sizeof(session_context) - 1);
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
}

DEFINE_AUTO(SSL_CTX, SSL_CTX_free);

static int make_context(const char *cert_pem, const char *key_pem, const char *client_ca_pem,
                        SSL_CTX **ret_ctx, struct err *e)
{
    AUTO(SSL_CTX_free) SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

    if (!ctx)
        return tls_error(e, "cannot make a TLS context");
    set_policy(ctx);
    if (each_certificate(cert_pem, use_certificate, ctx) < 1)
        return tls_error(e, "TLS certificate");
    if (use_key(ctx, key_pem) != 1)
        return tls_error(e, "TLS private key");
    if (SSL_CTX_check_private_key(ctx) != 1)
        return tls_error(e, "TLS private key does not belong to the certificate");
    if (client_ca_pem) {
        if (each_certificate(client_ca_pem, trust_certificate, ctx) < 1)
            return tls_error(e, "TLS authority for client certificates");
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    }
    *ret_ctx = TAKE(ctx);
    return 0;
}

int http_tls_new(const char *cert_pem, const char *key_pem, const char *client_ca_pem,
                 struct http_tls **ret_tls, struct err *e)
{
    AUTO(http_tls_free) struct http_tls *t = xcalloc(1, sizeof(*t));
    int r = make_context(cert_pem, key_pem, client_ca_pem, &t->ctx, e);

    if (r < 0)
        return r;
    t->client_ca_pem = xstrdup_null(client_ca_pem);
    *ret_tls = TAKE(t);
    return 0;
}

/* Connections keep the context that they began with. */
int http_tls_renew(struct http_tls *t, const char *cert_pem, const char *key_pem,
                   const char *client_ca_pem, struct err *e)
{
    const char *ca = client_ca_pem ? client_ca_pem : t->client_ca_pem;
    SSL_CTX *ctx = NULL;
    int r = make_context(cert_pem, key_pem, ca, &ctx, e);

    if (r < 0)
        return r;
    SSL_CTX_free(t->ctx);
    t->ctx = ctx;
    if (client_ca_pem) {
        free(t->client_ca_pem);
        t->client_ca_pem = xstrdup(client_ca_pem);
    }
    return 0;
}
