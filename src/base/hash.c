/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hashes.
 *
 * hash_str is for tables in memory only: its key is drawn from the kernel when the process starts.
 * The stable ones name things (revision labels, content checks) and may not change between
 * releases.  SHA-256 comes from OpenSSL.
 */
#include "src/base/hash.h"

#include <assert.h>
#include <limits.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>

static uint64_t sip_key[2];
static pthread_once_t sip_once = PTHREAD_ONCE_INIT;

static void draw_key(void)
{
    if (getrandom(sip_key, sizeof(sip_key), 0) != (ssize_t)sizeof(sip_key))
        sip_key[0] = (uint64_t)getpid(); /* an unkeyed table is slower to attack than no table */
}

#define ROTL(x, b) (((x) << (b)) | ((x) >> (64 - (b))))
#define SIP_ROUND(v)                                                                               \
    do {                                                                                           \
        v[0] += v[1];                                                                              \
        v[1] = ROTL(v[1], 13) ^ v[0];                                                              \
        v[0] = ROTL(v[0], 32);                                                                     \
        v[2] += v[3];                                                                              \
        v[3] = ROTL(v[3], 16) ^ v[2];                                                              \
        v[0] += v[3];                                                                              \
        v[3] = ROTL(v[3], 21) ^ v[0];                                                              \
        v[2] += v[1];                                                                              \
        v[1] = ROTL(v[1], 17) ^ v[2];                                                              \
        v[2] = ROTL(v[2], 32);                                                                     \
    } while (0)

uint64_t hash_str(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    uint64_t v[4];
    uint64_t last = (uint64_t)s.n << 56;
    size_t i;

    (void)pthread_once(&sip_once, draw_key);
    v[0] = sip_key[0] ^ 0x736f6d6570736575U;
    v[1] = sip_key[1] ^ 0x646f72616e646f6dU;
    v[2] = sip_key[0] ^ 0x6c7967656e657261U;
    v[3] = sip_key[1] ^ 0x7465646279746573U;
    for (i = 0; i + 8 <= s.n; i += 8) {
        uint64_t word;

        memcpy(&word, p + i, 8);
        v[3] ^= word;
        SIP_ROUND(v);
        v[0] ^= word;
    }
    for (unsigned int shift = 0; i < s.n; i++, shift += 8)
        last |= (uint64_t)p[i] << shift;
    v[3] ^= last;
    SIP_ROUND(v);
    v[0] ^= last;
    v[2] ^= 0xFF;
    SIP_ROUND(v);
    SIP_ROUND(v);
    SIP_ROUND(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t hash_stable64(struct str s)
{
    uint64_t h = 0xCBF29CE484222325U;

    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * 0x100000001B3U;
    return h;
}

uint32_t hash_stable32(struct str s)
{
    uint32_t h = 0x811C9DC5U;

    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * 0x01000193U;
    return h;
}

static void digest_hex(struct str s, const EVP_MD *kind, char *ret_hex)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char md[EVP_MAX_MD_SIZE];
    unsigned int n = 0;

    if (EVP_Digest(s.p ? s.p : "", s.n, md, &n, kind, NULL) != 1)
        abort();
    for (size_t i = 0; i < n; i++) {
        ret_hex[2 * i] = digits[md[i] >> 4];
        ret_hex[2 * i + 1] = digits[md[i] & 15];
    }
    ret_hex[2 * (size_t)n] = '\0';
}

void hash_sha256_hex(struct str s, char ret_hex[SHA256_HEX_LEN + 1])
{
    digest_hex(s, EVP_sha256(), ret_hex);
}

void hash_sha512_hex(struct str s, char ret_hex[SHA512_HEX_LEN + 1])
{
    digest_hex(s, EVP_sha512(), ret_hex);
}

void hash_hmac_sha256(struct str key, struct str text, unsigned char ret[HMAC_SHA256_LEN])
{
    unsigned int n = 0;

    assert(key.n <= INT_MAX);
    if (!HMAC(EVP_sha256(), key.p ? key.p : "", (int)key.n,
              (const unsigned char *)(text.p ? text.p : ""), text.n, ret, &n) ||
        n != HMAC_SHA256_LEN)
        abort();
}
