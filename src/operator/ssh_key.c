/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Key pairs of sshd.
 *
 * OpenSSH reads PEM for RSA and ECDSA, but Ed25519 only in its own format before 9.6; so all are
 * written in that one:
 *
 *   "openssh-key-v1\0"  cipher "none"  kdf "none"  kdf options ""  number of keys 1
 *   the public key  the private part: twice a random number, type, key, comment, padding 1 2 3 ...
 *
 * A text is its length in four bytes and its bytes; a number is the text of its bytes, with a zero
 * before if the first bit is set.
 */
#include "src/operator/ssh_key.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include "src/base/encode.h"

#define RSA_BITS 3072
#define BLOCK 8 /* what the private part is padded to without a cipher */
#define LINE 70
#define POINT_MAX 128

static void put_u32(struct buf *b, size_t n)
{
    const unsigned char bytes[] = {(unsigned char)(n >> 24), (unsigned char)(n >> 16),
                                   (unsigned char)(n >> 8), (unsigned char)n};

    buf_add(b, bytes, sizeof(bytes));
}

static void put_text(struct buf *b, const void *bytes, size_t n)
{
    put_u32(b, n);
    buf_add(b, bytes, n);
}

static void put_word(struct buf *b, const char *word)
{
    put_text(b, word, strlen(word));
}

/* A number of the key. */
static int put_number(struct buf *b, const EVP_PKEY *key, const char *name)
{
    BIGNUM *n = NULL;
    unsigned char bytes[RSA_BITS / 8 + 1] = {0};
    int length;

    if (!EVP_PKEY_get_bn_param(key, name, &n))
        return -EINVAL;
    length = BN_num_bytes(n);
    if ((size_t)length < sizeof(bytes)) {
        bool sign = BN_num_bits(n) % 8 == 0;

        (void)BN_bn2bin(n, bytes + 1);
        put_text(b, bytes + !sign, (size_t)length + sign);
    }
    BN_clear_free(n);
    OPENSSL_cleanse(bytes, sizeof(bytes));
    return (size_t)length < sizeof(bytes) ? 0 : -EINVAL;
}

static int put_numbers(struct buf *b, const EVP_PKEY *key, const char *const *names)
{
    for (; *names; names++)
        if (put_number(b, key, *names) < 0)
            return -EINVAL;
    return 0;
}

static int put_point(struct buf *b, const EVP_PKEY *key)
{
    unsigned char point[POINT_MAX];
    size_t n = 0;

    if (!EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point), &n))
        return -EINVAL;
    put_word(b, "nistp256");
    put_text(b, point, n);
    return 0;
}

static int put_ed25519(struct buf *b, const EVP_PKEY *key, bool with_private)
{
    unsigned char public_key[32];
    unsigned char both[64];
    size_t n = sizeof(public_key);
    size_t m = 32;

    if (!EVP_PKEY_get_raw_public_key(key, public_key, &n) || n != sizeof(public_key))
        return -EINVAL;
    put_text(b, public_key, n);
    if (!with_private)
        return 0;
    if (!EVP_PKEY_get_raw_private_key(key, both, &m) || m != 32)
        return -EINVAL;
    memcpy(both + 32, public_key, 32);
    put_text(b, both, sizeof(both));
    OPENSSL_cleanse(both, sizeof(both));
    return 0;
}

static const char *const types[] = {
    [SSH_KEY_ECDSA] = "ecdsa-sha2-nistp256",
    [SSH_KEY_ED25519] = "ssh-ed25519",
    [SSH_KEY_RSA] = "ssh-rsa",
};

static int put_public(struct buf *b, enum ssh_key_type type, const EVP_PKEY *key)
{
    static const char *const rsa[] = {OSSL_PKEY_PARAM_RSA_E, OSSL_PKEY_PARAM_RSA_N, NULL};

    put_word(b, types[type]);
    if (type == SSH_KEY_ED25519)
        return put_ed25519(b, key, false);
    return type == SSH_KEY_RSA ? put_numbers(b, key, rsa) : put_point(b, key);
}

static int put_secret(struct buf *b, enum ssh_key_type type, const EVP_PKEY *key)
{
    static const char *const rsa[] = {OSSL_PKEY_PARAM_RSA_N,
                                      OSSL_PKEY_PARAM_RSA_E,
                                      OSSL_PKEY_PARAM_RSA_D,
                                      OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
                                      OSSL_PKEY_PARAM_RSA_FACTOR1,
                                      OSSL_PKEY_PARAM_RSA_FACTOR2,
                                      NULL};

    put_word(b, types[type]);
    if (type == SSH_KEY_ED25519)
        return put_ed25519(b, key, true);
    if (type == SSH_KEY_RSA)
        return put_numbers(b, key, rsa);
    return put_point(b, key) == 0 ? put_number(b, key, OSSL_PKEY_PARAM_PRIV_KEY) : -EINVAL;
}

/* A buffer that held a secret. */
static void wipe(struct buf *b)
{
    if (b->p)
        OPENSSL_cleanse(b->p, b->n);
    buf_done(b);
}

static int put_private_part(struct buf *b, enum ssh_key_type type, const EVP_PKEY *key)
{
    unsigned char check[4];
    int r;

    encode_random(check, sizeof(check));
    buf_add(b, check, sizeof(check));
    buf_add(b, check, sizeof(check));
    r = put_secret(b, type, key);
    put_word(b, ""); /* the comment */
    for (char pad = 1; b->n % BLOCK; pad++)
        buf_addc(b, pad);
    return r;
}

static void put_pem(struct buf *out, struct str bytes)
{
    struct buf text = {0};

    encode_base64(&text, bytes);
    buf_adds(out, "-----BEGIN OPENSSH PRIVATE KEY-----\n");
    for (size_t at = 0; at < text.n; at += LINE) {
        buf_add(out, text.p + at, MIN((size_t)LINE, text.n - at));
        buf_addc(out, '\n');
    }
    buf_adds(out, "-----END OPENSSH PRIVATE KEY-----\n");
    wipe(&text);
}

static int print_pair(enum ssh_key_type type, const EVP_PKEY *key, struct buf *private_key,
                      struct buf *public_key)
{
    static const char magic[] = "openssh-key-v1"; /* with its zero */
    AUTO(buf_done) struct buf blob = {0};
    struct buf part = {0};
    struct buf all = {0};
    int r = put_public(&blob, type, key);

    if (r == 0)
        r = put_private_part(&part, type, key);
    if (r == 0) {
        buf_add(&all, magic, sizeof(magic));
        put_word(&all, "none");
        put_word(&all, "none");
        put_word(&all, "");
        put_u32(&all, 1);
        put_text(&all, blob.p, blob.n);
        put_text(&all, part.p, part.n);
        put_pem(private_key, buf_view(&all));
        buf_printf(public_key, "%s ", types[type]);
        encode_base64(public_key, buf_view(&blob));
        buf_addc(public_key, '\n');
    }
    wipe(&part);
    wipe(&all);
    return r;
}

/* Called on the way; 0 ends it. */
static int goes_on(EVP_PKEY_CTX *ctx)
{
    const atomic_bool *stop = EVP_PKEY_CTX_get_app_data(ctx);

    return !stop || !atomic_load(stop);
}

static bool choose_size(EVP_PKEY_CTX *ctx, enum ssh_key_type type)
{
    if (type == SSH_KEY_RSA)
        return EVP_PKEY_CTX_set_rsa_keygen_bits(ctx, RSA_BITS) > 0;
    if (type == SSH_KEY_ECDSA)
        return EVP_PKEY_CTX_set_group_name(ctx, "P-256") > 0;
    return true;
}

static EVP_PKEY *generate(enum ssh_key_type type, atomic_bool *stop)
{
    static const char *const names[] = {"EC", "ED25519", "RSA"};
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, names[type], NULL);
    EVP_PKEY *key = NULL;

    if (ctx && EVP_PKEY_keygen_init(ctx) > 0 && choose_size(ctx, type)) {
        EVP_PKEY_CTX_set_app_data(ctx, stop);
        EVP_PKEY_CTX_set_cb(ctx, goes_on);
        if (EVP_PKEY_generate(ctx, &key) <= 0)
            key = NULL;
    }
    EVP_PKEY_CTX_free(ctx);
    return key;
}

int ssh_key_make(enum ssh_key_type type, atomic_bool *stop, struct buf *private_key,
                 struct buf *public_key, struct err *e)
{
    EVP_PKEY *key = generate(type, stop);
    int r;

    if (!key && stop && atomic_load(stop))
        return err_set(e, -ECANCELED, ERR_RETRY, "a host key is not needed any more");
    if (!key)
        return err_set(e, -EIO, ERR_RETRY, "OpenSSL makes no key of type %s", types[type]);
    r = print_pair(type, key, private_key, public_key);
    EVP_PKEY_free(key);
    if (r < 0)
        return err_set(e, r, ERR_PERMANENT, "OpenSSL does not tell a key of type %s", types[type]);
    return 0;
}
