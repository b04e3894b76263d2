/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A certificate authority made on the spot; P-256, valid for a day. */
#include "src/http/test/pki.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "src/base/alloc.h"

struct identity {
    EVP_PKEY *key;
    X509 *cert;
};

static char *bio_text(BIO *b)
{
    char *p = NULL;
    long n = BIO_get_mem_data(b, &p);
    char *text = xstrndup(p, (size_t)n);

    BIO_free(b);
    return text;
}

static char *cert_pem(X509 *cert)
{
    BIO *b = BIO_new(BIO_s_mem());

    assert(PEM_write_bio_X509(b, cert) == 1);
    return bio_text(b);
}

static char *key_pem(EVP_PKEY *key)
{
    BIO *b = BIO_new(BIO_s_mem());

    assert(PEM_write_bio_PrivateKey(b, key, NULL, NULL, 0, NULL, NULL) == 1);
    return bio_text(b);
}

static void add_extension(X509 *cert, int nid, const char *value)
{
    X509_EXTENSION *x = X509V3_EXT_conf_nid(NULL, NULL, nid, value);

    assert(x && X509_add_ext(cert, x, -1) == 1);
    X509_EXTENSION_free(x);
}

static void add_name(X509_NAME *name, const char *field, const char *value)
{
    assert(X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, (const unsigned char *)value, -1,
                                      -1, 0) == 1);
}

/* issuer NULL: self-signed authority. */
static struct identity make(const char *cn, const char *const *orgs, const char *san,
                            const struct identity *issuer)
{
    static long serial = 1;
    struct identity id = {EVP_EC_gen("P-256"), X509_new()};
    X509_NAME *name = X509_get_subject_name(id.cert);

    assert(id.key && id.cert);
    (void)X509_set_version(id.cert, 2);
    (void)ASN1_INTEGER_set(X509_get_serialNumber(id.cert), serial++);
    (void)X509_gmtime_adj(X509_getm_notBefore(id.cert), -60);
    (void)X509_gmtime_adj(X509_getm_notAfter(id.cert), 86400);
    (void)X509_set_pubkey(id.cert, id.key);
    add_name(name, "CN", cn);
    for (; orgs && *orgs; orgs++)
        add_name(name, "O", *orgs);
    if (!issuer)
        add_extension(id.cert, NID_basic_constraints, "critical,CA:TRUE");
    if (san)
        add_extension(id.cert, NID_subject_alt_name, san);
    (void)X509_set_issuer_name(id.cert, issuer ? X509_get_subject_name(issuer->cert) : name);
    assert(X509_sign(id.cert, issuer ? issuer->key : id.key, EVP_sha256()) > 0);
    return id;
}

static void identity_done(struct identity *id)
{
    EVP_PKEY_free(id->key);
    X509_free(id->cert);
}

void pki_init(struct pki *p)
{
    static const char *const orgs[] = {"admins", "users", NULL};
    struct identity ca = make("test-ca", NULL, NULL, NULL);
    struct identity server = make("server", NULL, "IP:127.0.0.1,DNS:localhost", &ca);
    struct identity client = make("alice", orgs, NULL, &ca);
    struct identity other_ca = make("other-ca", NULL, NULL, NULL);
    struct identity other = make("mallory", orgs, NULL, &other_ca);

    *p = (struct pki){
        .ca = cert_pem(ca.cert),
        .cert = cert_pem(server.cert),
        .key = key_pem(server.key),
        .client_cert = cert_pem(client.cert),
        .client_key = key_pem(client.key),
        .other_ca = cert_pem(other_ca.cert),
        .other_cert = cert_pem(other.cert),
        .other_key = key_pem(other.key),
    };
    identity_done(&ca);
    identity_done(&server);
    identity_done(&client);
    identity_done(&other_ca);
    identity_done(&other);
}

void pki_done(struct pki *p)
{
    free(p->ca);
    free(p->cert);
    free(p->key);
    free(p->client_cert);
    free(p->client_key);
    free(p->other_ca);
    free(p->other_cert);
    free(p->other_key);
}

struct pki pki;

int pki_set_up(void **state)
{
    (void)state;
    pki_init(&pki);
    return 0;
}

int pki_tear_down(void **state)
{
    (void)state;
    pki_done(&pki);
    return 0;
}
