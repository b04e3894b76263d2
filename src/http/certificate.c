/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Self-signed certificates, by OpenSSL.
 *
 * For a server that one client talks to: the client has the certificate and trusts it and nothing
 * else, so that there is no authority that could be misused.  The name is what the client asks for,
 * whatever address it connects to.
 */
#include "src/http/certificate.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "src/base/alloc.h"
#include "src/base/encode.h"

#define VALID_S (10L * 365 * 24 * 3600)
/* Clocks of two machines differ. */
#define BACKDATED_S 3600L

DEFINE_AUTO(EVP_PKEY, EVP_PKEY_free);
DEFINE_AUTO(X509, X509_free);
DEFINE_AUTO(BIO, BIO_free_all);
DEFINE_AUTO(X509_EXTENSION, X509_EXTENSION_free);

void http_certificate_done(struct http_certificate *c)
{
    free(c->cert_pem);
    if (c->key_pem)
        explicit_bzero(c->key_pem, strlen(c->key_pem));
    free(c->key_pem);
    *c = (struct http_certificate){0};
}

static int fail(struct err *e)
{
    char why[160];

    ERR_error_string_n(ERR_get_error(), why, sizeof(why));
    ERR_clear_error();
    return err_set(e, -EIO, ERR_PERMANENT, "cannot make a certificate: %s", why);
}

static bool set_name(X509 *cert, const char *name)
{
    X509_NAME *subject = X509_get_subject_name(cert);

    return X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)name,
                                      (int)MIN(strlen(name), (size_t)64), -1, 0) == 1 &&
           X509_set_issuer_name(cert, subject) == 1;
}

static bool add_extension(X509 *cert, int nid, const char *value)
{
    AUTO(X509_EXTENSION_free) X509_EXTENSION *x = NULL;
    X509V3_CTX ctx;

    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, cert, cert, NULL, NULL, 0);
    x = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    return x && X509_add_ext(cert, x, -1) == 1;
}

static bool fill(X509 *cert, EVP_PKEY *key, const char *name)
{
    AUTO(free) char *names = xasprintf("DNS:%s", name);
    uint64_t serial;

    encode_random(&serial, sizeof(serial));
    return X509_set_version(cert, 2) == 1 &&
           ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert), serial >> 1) == 1 &&
           X509_gmtime_adj(X509_getm_notBefore(cert), -BACKDATED_S) &&
           X509_gmtime_adj(X509_getm_notAfter(cert), VALID_S) && X509_set_pubkey(cert, key) == 1 &&
           set_name(cert, name) &&
           add_extension(cert, NID_basic_constraints, "critical,CA:FALSE") &&
           add_extension(cert, NID_key_usage, "critical,digitalSignature") &&
           add_extension(cert, NID_ext_key_usage, "serverAuth") &&
           add_extension(cert, NID_subject_alt_name, names) &&
           X509_sign(cert, key, EVP_sha256()) > 0;
}

static char *bio_text(BIO *b)
{
    char *p = NULL;
    long n = BIO_get_mem_data(b, &p);

    return xstrndup(p, (size_t)n);
}

int http_certificate_make(const char *dns_name, struct http_certificate *ret, struct err *e)
{
    AUTO(EVP_PKEY_free) EVP_PKEY *key = EVP_EC_gen("P-256");
    AUTO(X509_free) X509 *cert = X509_new();
    AUTO(BIO_free_all) BIO *c = BIO_new(BIO_s_mem());
    AUTO(BIO_free_all) BIO *k = BIO_new(BIO_s_mem());

    if (!key || !cert || !c || !k || !fill(cert, key, dns_name) ||
        PEM_write_bio_X509(c, cert) != 1 ||
        PEM_write_bio_PKCS8PrivateKey(k, key, NULL, NULL, 0, NULL, NULL) != 1)
        return fail(e);
    *ret = (struct http_certificate){bio_text(c), bio_text(k)};
    return 0;
}
