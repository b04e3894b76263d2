/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Certificates, by OpenSSL.
 *
 * Keys are EC P-256: small, quick to make and to use.  Serial numbers are random.  A server
 * certificate lists every name and address it may be reached by, since clients check nothing else;
 * a client certificate carries who it speaks for in CN (the user) and O (the group), as Kubernetes
 * reads them.  A server that one client talks to signs for itself: the client has the certificate
 * and trusts nothing else, so that there is no authority that could be misused.
 */
#include "src/http/cert.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/encode.h"

/* Renewed when a third is left: a clock that jumps a year ahead still finds them valid. */
#define LIFETIME_S (3L * 365 * 24 * 3600)
#define AUTHORITY_LIVES 10
#define LIFETIME_VARIABLE "SLURMKEEPER_CERT_LIFETIME_S"
/* Clocks differ, and go back: a beginning protects from nothing. */
#define BACKDATED_S (10L * 365 * 24 * 3600)
#define MAX_COMMON_NAME 64

DEFINE_AUTO(EVP_PKEY, EVP_PKEY_free);
DEFINE_AUTO(X509, X509_free);
DEFINE_AUTO(BIO, BIO_free_all);
DEFINE_AUTO(X509_EXTENSION, X509_EXTENSION_free);

void cert_pair_done(struct cert_pair *p)
{
    free(p->cert_pem);
    if (p->key_pem)
        explicit_bzero(p->key_pem, strlen(p->key_pem));
    free(p->key_pem);
    *p = (struct cert_pair){0};
}

int64_t cert_lifetime_s(void)
{
    const char *text = getenv(LIFETIME_VARIABLE);
    int64_t s = 0;

    return text && str_to_i64(str_of(text), &s) == 0 && s > 0 ? MIN(s, LIFETIME_S) : LIFETIME_S;
}

static int fail(struct err *e, const char *doing)
{
    char why[160];

    ERR_error_string_n(ERR_get_error(), why, sizeof(why));
    ERR_clear_error();
    return err_set(e, -EIO, ERR_PERMANENT, "%s: %s", doing, why);
}

static char *bio_text(BIO *b)
{
    char *p = NULL;
    long n = BIO_get_mem_data(b, &p);

    return xstrndup(p, (size_t)n);
}

static int to_pem(X509 *cert, EVP_PKEY *key, struct cert_pair *ret, struct err *e)
{
    AUTO(BIO_free_all) BIO *c = BIO_new(BIO_s_mem());
    AUTO(BIO_free_all) BIO *k = BIO_new(BIO_s_mem());

    if (!c || !k || PEM_write_bio_X509(c, cert) != 1 ||
        PEM_write_bio_PKCS8PrivateKey(k, key, NULL, NULL, 0, NULL, NULL) != 1)
        return fail(e, "cannot write a certificate");
    ret->cert_pem = bio_text(c);
    ret->key_pem = bio_text(k);
    return 0;
}

static X509 *read_cert(const char *pem)
{
    AUTO(BIO_free_all) BIO *b = pem ? BIO_new_mem_buf(pem, -1) : NULL;

    return b ? PEM_read_bio_X509(b, NULL, NULL, NULL) : NULL;
}

/* No terminal is asked for the passphrase of an encrypted key. */
static int no_passphrase(char *text, int size, int writing, void *arg)
{
    (void)text;
    (void)size;
    (void)writing;
    (void)arg;
    return -1;
}

static EVP_PKEY *read_key(const char *pem)
{
    AUTO(BIO_free_all) BIO *b = pem ? BIO_new_mem_buf(pem, -1) : NULL;

    return b ? PEM_read_bio_PrivateKey(b, NULL, no_passphrase, NULL) : NULL;
}

bool cert_reads(const char *cert_pem)
{
    AUTO(X509_free) X509 *cert = read_cert(cert_pem);

    ERR_clear_error();
    return cert != NULL;
}

bool cert_key_reads(const char *key_pem)
{
    AUTO(EVP_PKEY_free) EVP_PKEY *key = read_key(key_pem);

    ERR_clear_error();
    return key != NULL;
}

const char *cert_pair_fault(const struct cert_pair *p)
{
    AUTO(X509_free) X509 *cert = read_cert(p->cert_pem);
    AUTO(EVP_PKEY_free) EVP_PKEY *key = read_key(p->key_pem);
    bool match = cert && key && X509_check_private_key(cert, key) == 1;

    ERR_clear_error();
    if (!p->cert_pem || !p->key_pem)
        return p->cert_pem ? "the key is missing" : "the certificate is missing";
    if (!cert || !key)
        return cert ? "the key is damaged" : "the certificate is damaged";
    return match ? NULL : "the key is not the certificate's";
}

static int add_extension(X509 *cert, X509 *issuer, int nid, const char *value, struct err *e)
{
    X509V3_CTX ctx;
    AUTO(X509_EXTENSION_free) X509_EXTENSION *x = NULL;

    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    x = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    if (!x || X509_add_ext(cert, x, -1) != 1)
        return fail(e, "cannot add a certificate extension");
    return 0;
}

static int add_name(X509_NAME *name, const char *field, const char *value)
{
    if (!value)
        return 1;
    return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, (const unsigned char *)value, -1,
                                      -1, 0);
}

/* A certificate with serial, dates, subject and key; extensions and signature follow. */
static X509 *blank(EVP_PKEY *key, const char *organisation, const char *common_name, long valid_s)
{
    AUTO(X509_free) X509 *cert = X509_new();
    X509_NAME *subject;
    uint64_t serial;

    encode_random(&serial, sizeof(serial));
    if (!cert || X509_set_version(cert, 2) != 1 ||
        ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert), serial >> 1) != 1 ||
        !X509_gmtime_adj(X509_getm_notBefore(cert), -BACKDATED_S) ||
        !X509_gmtime_adj(X509_getm_notAfter(cert), valid_s) || X509_set_pubkey(cert, key) != 1)
        return NULL;
    subject = X509_get_subject_name(cert);
    if (add_name(subject, "O", organisation) != 1 || add_name(subject, "CN", common_name) != 1)
        return NULL;
    return TAKE(cert);
}

static int sign_authority(const char *name, EVP_PKEY *key, struct cert_pair *ret_pair,
                          struct err *e)
{
    AUTO(X509_free)
    X509 *cert = key ? blank(key, NULL, name, (long)cert_lifetime_s() * AUTHORITY_LIVES) : NULL;
    int r;

    if (!cert || X509_set_issuer_name(cert, X509_get_subject_name(cert)) != 1)
        return fail(e, "cannot make a certificate authority");
    r = add_extension(cert, cert, NID_basic_constraints, "critical,CA:TRUE", e);
    if (r == 0)
        r = add_extension(cert, cert, NID_key_usage, "critical,keyCertSign,cRLSign", e);
    if (r == 0)
        r = add_extension(cert, cert, NID_subject_key_identifier, "hash", e);
    if (r < 0)
        return r;
    if (X509_sign(cert, key, EVP_sha256()) <= 0)
        return fail(e, "cannot sign a certificate authority");
    return to_pem(cert, key, ret_pair, e);
}

int cert_make_authority(const char *name, struct cert_pair *ret_pair, struct err *e)
{
    AUTO(EVP_PKEY_free) EVP_PKEY *key = EVP_EC_gen("P-256");

    return sign_authority(name, key, ret_pair, e);
}

int cert_renew_authority(const char *name, const char *key_pem, struct cert_pair *ret_pair,
                         struct err *e)
{
    AUTO(EVP_PKEY_free) EVP_PKEY *key = read_key(key_pem);

    return key ? sign_authority(name, key, ret_pair, e)
               : fail(e, "cannot read the key of the certificate authority");
}

static bool is_address(const char *name)
{
    unsigned char raw[16];

    return inet_pton(AF_INET, name, raw) == 1 || inet_pton(AF_INET6, name, raw) == 1;
}

static int add_usage(X509 *cert, X509 *issuer, const struct cert_request *q, struct err *e)
{
    AUTO(buf_done) struct buf names = {0};
    int r = add_extension(cert, issuer, NID_basic_constraints, "critical,CA:FALSE", e);

    if (r == 0)
        r = add_extension(cert, issuer, NID_key_usage, "critical,digitalSignature", e);
    if (r == 0)
        r = add_extension(cert, issuer, NID_ext_key_usage, q->names ? "serverAuth" : "clientAuth",
                          e);
    if (r == 0 && issuer != cert)
        r = add_extension(cert, issuer, NID_authority_key_identifier, "keyid", e);
    if (r < 0 || !q->names)
        return r;
    for (const char *const *n = q->names; *n; n++)
        buf_printf(&names, "%s%s:%s", names.n ? "," : "", is_address(*n) ? "IP" : "DNS", *n);
    return add_extension(cert, issuer, NID_subject_alt_name, buf_str(&names), e);
}

/* Name the issuer (the certificate itself signs for itself), say what it is for, sign. */
static int finish(X509 *cert, EVP_PKEY *key, const struct cert_request *q, X509 *issuer,
                  EVP_PKEY *issuer_key, struct cert_pair *ret_pair, struct err *e)
{
    int r;

    if (X509_set_issuer_name(cert, X509_get_subject_name(issuer)) != 1)
        return fail(e, "cannot make a certificate");
    r = add_usage(cert, issuer, q, e);
    if (r < 0)
        return r;
    if (X509_sign(cert, issuer_key, EVP_sha256()) <= 0)
        return fail(e, "cannot sign a certificate");
    return to_pem(cert, key, ret_pair, e);
}

int cert_make(const struct cert_pair *authority, const struct cert_request *q,
              struct cert_pair *ret_pair, struct err *e)
{
    AUTO(X509_free) X509 *issuer = read_cert(authority->cert_pem);
    AUTO(EVP_PKEY_free) EVP_PKEY *issuer_key = read_key(authority->key_pem);
    AUTO(EVP_PKEY_free) EVP_PKEY *key = EVP_EC_gen("P-256");
    AUTO(X509_free)
    X509 *cert = key ? blank(key, q->organisation, q->common_name, (long)cert_lifetime_s()) : NULL;

    if (!issuer || !issuer_key)
        return fail(e, "cannot read the certificate authority");
    if (!cert)
        return fail(e, "cannot make a certificate");
    return finish(cert, key, q, issuer, issuer_key, ret_pair, e);
}

int cert_make_own(const char *dns_name, struct cert_pair *ret_pair, struct err *e)
{
    const char *const names[] = {dns_name, NULL};
    AUTO(free) char *common_name = xstrndup(dns_name, MAX_COMMON_NAME);
    struct cert_request q = {.common_name = common_name, .names = names};
    AUTO(EVP_PKEY_free) EVP_PKEY *key = EVP_EC_gen("P-256");
    AUTO(X509_free)
    X509 *cert = key ? blank(key, NULL, common_name, (long)cert_lifetime_s()) : NULL;

    if (!cert)
        return fail(e, "cannot make a certificate");
    return finish(cert, key, &q, cert, key, ret_pair, e);
}

static bool covers(X509 *cert, const char *name)
{
    if (is_address(name))
        return X509_check_ip_asc(cert, name, 0) == 1;
    return X509_check_host(cert, name, 0, 0, NULL) == 1;
}

/* Has it begun, and is there a third of its life left? */
static bool is_young(const X509 *cert)
{
    const ASN1_TIME *from = X509_get0_notBefore(cert);
    const ASN1_TIME *until = X509_get0_notAfter(cert);
    int days = 0, seconds = 0;
    int64_t life, left;

    if (X509_cmp_current_time(from) >= 0 || ASN1_TIME_diff(&days, &seconds, from, until) != 1)
        return false;
    life = (int64_t)days * 86400 + seconds - BACKDATED_S;
    if (ASN1_TIME_diff(&days, &seconds, NULL, until) != 1)
        return false;
    left = (int64_t)days * 86400 + seconds;
    return left > 0 && left * 3 > life;
}

bool cert_still_good(const char *cert_pem, const char *authority_pem, const char *const *names)
{
    AUTO(X509_free) X509 *cert = read_cert(cert_pem);
    AUTO(X509_free) X509 *issuer = read_cert(authority_pem);

    if (!cert || !issuer || X509_verify(cert, X509_get0_pubkey(issuer)) != 1 || !is_young(cert)) {
        ERR_clear_error();
        return false;
    }
    for (; names && *names; names++)
        if (!covers(cert, *names))
            return false;
    return true;
}
