/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes over a socket, plain or TLS.
 *
 * One shape for both: a call moves bytes, or says -EAGAIN and leaves it to the loop.  With TLS a
 * read may have to wait until the socket is writable, and a write until it is readable; the two
 * *_waits flags say so.  A TLS write is always retried with the same bytes or more, from a buffer
 * that may have moved: the context allows both.
 */
#include "src/http/transport.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/http/tls.h"

#define MAX_ORGS 64

void transport_init(struct transport *t, int fd, struct http_tls *tls)
{
    *t = (struct transport){.fd = fd, .handshaken = !tls};
    if (!tls)
        return;
    t->ssl = SSL_new(http_tls_context(tls));
    if (!t->ssl || SSL_set_fd(t->ssl, fd) != 1)
        abort(); /* both only allocate */
    SSL_set_accept_state(t->ssl);
}

void transport_done(struct transport *t)
{
    if (t->ssl) {
        if (t->handshaken && !t->broken)
            (void)SSL_shutdown(t->ssl);
        SSL_free(TAKE(t->ssl));
        ERR_clear_error();
    }
    if (t->fd >= 0)
        (void)close(TAKE_FD(t->fd));
}

/* What a failed TLS call means, as a negative errno. */
static int tls_result(struct transport *t, int r, bool *ret_crossed)
{
    int why = SSL_get_error(t->ssl, r);
    int errnum = errno;

    *ret_crossed = false;
    switch (why) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        *ret_crossed = why == SSL_ERROR_WANT_WRITE;
        return -EAGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    case SSL_ERROR_SYSCALL:
        t->broken = true;
        return errnum ? -errnum : -ECONNRESET;
    default:
        t->broken = true;
        t->plain_http = ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST;
        /* A peer that just closes, without farewell, is an end and no attack on HTTP's framing. */
        if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
            return 0;
        return -EPROTO;
    }
}

int transport_handshake(struct transport *t)
{
    int r;

    if (t->handshaken)
        return 0;
    ERR_clear_error();
    errno = 0;
    r = SSL_do_handshake(t->ssl);
    if (r == 1) {
        t->handshaken = true;
        t->read_waits = false;
        return 0;
    }
    r = tls_result(t, r, &t->read_waits);
    return r == 0 ? -ECONNRESET : r;
}

ssize_t transport_read(struct transport *t, void *p, size_t n)
{
    ssize_t r;

    if (t->ssl) {
        ERR_clear_error();
        errno = 0;
        r = SSL_read(t->ssl, p, (int)MIN(n, (size_t)INT_MAX));
        t->read_waits = false;
        return r > 0 ? r : tls_result(t, (int)r, &t->read_waits);
    }
    do {
        r = recv(t->fd, p, n, 0);
    } while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : r;
}

ssize_t transport_write(struct transport *t, const void *p, size_t n)
{
    bool crossed;
    ssize_t r;

    if (t->ssl) {
        ERR_clear_error();
        errno = 0;
        r = SSL_write(t->ssl, p, (int)MIN(n, (size_t)INT_MAX));
        t->write_waits = false;
        if (r > 0)
            return r;
        r = tls_result(t, (int)r, &crossed);
        t->write_waits = r == -EAGAIN && !crossed;
        return r == 0 ? -EPIPE : r;
    }
    do {
        r = send(t->fd, p, n, MSG_NOSIGNAL);
    } while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : r;
}

void transport_finish(struct transport *t)
{
    if (t->ssl && t->handshaken && !t->broken) {
        (void)SSL_shutdown(t->ssl);
        ERR_clear_error();
    }
    (void)shutdown(t->fd, SHUT_WR);
}

/* The text of a name's entry; NULL if it cannot be text (a NUL inside would cut the name short). */
static char *entry_text(const X509_NAME *name, int i)
{
    unsigned char *utf8 = NULL;
    char *text = NULL;
    int n = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, i)));

    if (n > 0 && !memchr(utf8, '\0', (size_t)n))
        text = xstrndup((char *)utf8, (size_t)n);
    OPENSSL_free(utf8);
    return text;
}

static char **read_orgs(const X509_NAME *name)
{
    char **orgs = xcalloc(MAX_ORGS + 1, sizeof(*orgs));
    size_t n = 0;
    int at = -1;

    while (n < MAX_ORGS) {
        at = X509_NAME_get_index_by_NID(name, NID_organizationName, at);
        if (at < 0)
            break;
        orgs[n] = entry_text(name, at);
        if (orgs[n])
            n++;
    }
    return xrealloc(orgs, (n + 1) * sizeof(*orgs));
}

/* SHA-256 of the certificate, in hexadecimal digits. */
static char *fingerprint(const X509 *cert)
{
    unsigned char md[EVP_MAX_MD_SIZE];
    AUTO(buf_done) struct buf b = {0};
    unsigned int n = 0;

    if (!X509_digest(cert, EVP_sha256(), md, &n))
        return NULL;
    for (unsigned int i = 0; i < n; i++)
        buf_printf(&b, "%02x", md[i]);
    return xstrdup(buf_str(&b));
}

void transport_identity(const struct transport *t, char **ret_cn, char ***ret_orgs,
                        char **ret_sha256)
{
    X509 *cert = t->ssl ? SSL_get0_peer_certificate(t->ssl) : NULL;
    const X509_NAME *name;
    int at;

    *ret_cn = NULL;
    *ret_orgs = NULL;
    *ret_sha256 = NULL;
    if (!cert || SSL_get_verify_result(t->ssl) != X509_V_OK)
        return;
    name = X509_get_subject_name(cert);
    at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
    *ret_cn = at >= 0 ? entry_text(name, at) : NULL;
    if (!*ret_cn)
        return;
    *ret_orgs = read_orgs(name);
    *ret_sha256 = fingerprint(cert);
}
