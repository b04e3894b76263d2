/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Seals.
 *
 * The data of Secrets is encrypted with AES-256-GCM before it reaches SQLite, so neither the
 * database nor its write-ahead log nor a copy of either shows it.  A sealed row is
 *
 *   "SKE1"  key name (4 bytes)  nonce (12)  ciphertext  tag (16)
 *
 * with resource, namespace, name and version as associated data.  Nonces are random: a key is good
 * for 2^32 rows, and is exchanged by `slurmkeeper rotate-keys` long before that.  JSON begins with
 * a brace, so a plain row of an older release is told from a sealed one by its first byte.
 *
 * What else is stored is no secret: tokens are signed and not kept, certificates' keys lie in pki/,
 * and managedFields name fields without values.
 */
#include "src/cluster/apiserver/seal.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/encode.h"
#include "src/base/file.h"
#include "src/base/secret.h"

#define MAGIC "SKE1"
#define MAGIC_BYTES 4
#define NAME_BYTES 4
#define KEY_BYTES 32
#define NONCE_BYTES 12
#define TAG_BYTES 16
#define HEAD_BYTES (MAGIC_BYTES + NAME_BYTES + NONCE_BYTES)
#define MAX_KEYS 16
#define LINE_BYTES (2 * NAME_BYTES + 1 + 2 * KEY_BYTES)

struct sealing_key {
    unsigned char name[NAME_BYTES];
    unsigned char key[KEY_BYTES];
};

struct keyring {
    struct sealing_key keys[MAX_KEYS];
    size_t n;
};

static void name_key(struct sealing_key *k)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];

    (void)SHA256(k->key, KEY_BYTES, digest);
    memcpy(k->name, digest, NAME_BYTES);
}

struct keyring *keyring_free(struct keyring *ring)
{
    if (ring)
        OPENSSL_cleanse(ring, sizeof(*ring));
    free(ring);
    return NULL;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(const char *p, unsigned char *ret, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int high = digit_of(p[2 * i]);
        int low = digit_of(p[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        ret[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

/* The name is made from the key: a damaged line does not fit itself. */
static bool read_line(struct str line, struct sealing_key *k)
{
    unsigned char name[NAME_BYTES];

    if (line.n != LINE_BYTES || !read_hex(line.p, name, NAME_BYTES) ||
        line.p[(size_t)2 * NAME_BYTES] != ' ' ||
        !read_hex(line.p + (size_t)2 * NAME_BYTES + 1, k->key, KEY_BYTES))
        return false;
    name_key(k);
    return memcmp(name, k->name, NAME_BYTES) == 0;
}

int keyring_read(const char *path, struct keyring **ret_ring, struct err *e)
{
    AUTO(keyring_free) struct keyring *ring = xcalloc(1, sizeof(*ring));
    char *text = NULL;
    struct str rest, line;
    size_t n;
    bool good = true;
    int r = file_read(path, (size_t)(MAX_KEYS + 1) * (LINE_BYTES + 1), &text, &n, e);

    if (r < 0)
        return r;
    rest = (struct str){text, n};
    while (good && str_split(&rest, '\n', &line)) {
        if (!line.n)
            continue;
        good = ring->n < MAX_KEYS && read_line(line, &ring->keys[ring->n]);
        ring->n += good;
    }
    secret_wipe(text);
    if (!good || ring->n == 0)
        return err_set(e, -EBADMSG, ERR_PERMANENT,
                       "the key file '%s' is damaged: bring it back from a backup; it was not "
                       "changed",
                       path);
    *ret_ring = TAKE(ring);
    return 0;
}

static int write_ring(const char *path, const struct keyring *ring, struct err *e)
{
    AUTO(free) char *dir = xstrdup(path);
    AUTO(buf_done) struct buf b = {0};
    int r;

    *strrchr(dir, '/') = '\0';
    for (size_t i = 0; i < ring->n; i++) {
        for (size_t j = 0; j < NAME_BYTES; j++)
            buf_printf(&b, "%02x", ring->keys[i].name[j]);
        buf_addc(&b, ' ');
        for (size_t j = 0; j < KEY_BYTES; j++)
            buf_printf(&b, "%02x", ring->keys[i].key[j]);
        buf_addc(&b, '\n');
    }
    r = file_make_dirs(dir, 0700, e);
    if (r == 0)
        r = file_write(path, buf_view(&b), 0600, e);
    OPENSSL_cleanse(b.p, b.n);
    return r;
}

int keyring_add(const char *path, const struct keyring *ring, struct keyring **ret_ring,
                struct err *e)
{
    AUTO(keyring_free) struct keyring *more = xcalloc(1, sizeof(*more));
    int r;

    if (ring && ring->n == MAX_KEYS)
        return err_set(e, -E2BIG, ERR_PERMANENT,
                       "'%s' has %d keys already: start the API server, which drops those that no "
                       "row needs",
                       path, MAX_KEYS);
    encode_random(more->keys[0].key, KEY_BYTES);
    name_key(&more->keys[0]);
    more->n = 1 + (ring ? ring->n : 0);
    if (ring)
        memcpy(&more->keys[1], ring->keys, ring->n * sizeof(ring->keys[0]));
    r = write_ring(path, more, e);
    if (r == 0)
        *ret_ring = TAKE(more);
    return r;
}

int keyring_prune(const char *path, struct keyring *ring, struct err *e)
{
    size_t n = ring->n;
    int r;

    ring->n = 1;
    r = n == 1 ? 0 : write_ring(path, ring, e);
    if (r < 0)
        ring->n = n;
    return r;
}

bool seal_wanted(const char *resource)
{
    return streq(resource, "secrets");
}

bool seal_is(struct str data)
{
    return data.n >= HEAD_BYTES + TAG_BYTES && memcmp(data.p, MAGIC, MAGIC_BYTES) == 0;
}

bool seal_is_newest(const struct keyring *ring, struct str data)
{
    return seal_is(data) && memcmp(data.p + MAGIC_BYTES, ring->keys[0].name, NAME_BYTES) == 0;
}

static const struct sealing_key *find_key(const struct keyring *ring, struct str sealed)
{
    for (size_t i = 0; ring && i < ring->n; i++)
        if (memcmp(sealed.p + MAGIC_BYTES, ring->keys[i].name, NAME_BYTES) == 0)
            return &ring->keys[i];
    return NULL;
}

/* Everything that is bound to the row, as one text. */
static void bind_row(struct buf *b, const struct store_key *k, int64_t rv)
{
    buf_add(b, k->resource, strlen(k->resource) + 1);
    buf_add(b, k->ns, strlen(k->ns) + 1);
    buf_add(b, k->name, strlen(k->name) + 1);
    buf_add(b, &rv, sizeof(rv));
}

/* One pass of AES-256-GCM; false only for a tag that does not fit. */
static bool pass(bool sealing, const struct sealing_key *k, const unsigned char *nonce,
                 struct str bound, struct str in, unsigned char *out, unsigned char *tag)
{
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    int n = 0;
    bool good;

    assert(c && in.n <= INT32_MAX);
    good = EVP_CipherInit_ex(c, EVP_aes_256_gcm(), NULL, k->key, nonce, sealing) == 1 &&
           EVP_CipherUpdate(c, NULL, &n, (const unsigned char *)bound.p, (int)bound.n) == 1 &&
           EVP_CipherUpdate(c, out, &n, (const unsigned char *)in.p, (int)in.n) == 1;
    if (good && !sealing)
        good = EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_SET_TAG, TAG_BYTES, tag) == 1;
    good = good && EVP_CipherFinal_ex(c, out + n, &n) == 1;
    if (good && sealing)
        good = EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_GET_TAG, TAG_BYTES, tag) == 1;
    EVP_CIPHER_CTX_free(c);
    return good;
}

void seal_close(const struct keyring *ring, const struct store_key *k, int64_t rv, struct str plain,
                struct buf *ret)
{
    const struct sealing_key *key = &ring->keys[0];
    AUTO(buf_done) struct buf bound = {0};
    unsigned char nonce[NONCE_BYTES];
    unsigned char tag[TAG_BYTES];
    char *room;
    bool good;

    encode_random(nonce, sizeof(nonce));
    bind_row(&bound, k, rv);
    buf_add(ret, MAGIC, MAGIC_BYTES);
    buf_add(ret, key->name, NAME_BYTES);
    buf_add(ret, nonce, NONCE_BYTES);
    room = buf_room(ret, plain.n + 1);
    assert(room);
    good = pass(true, key, nonce, buf_view(&bound), plain, (unsigned char *)room, tag);
    assert(good);
    buf_grew(ret, plain.n);
    buf_add(ret, tag, TAG_BYTES);
}

int seal_open(const struct keyring *ring, const struct store_key *k, int64_t rv, struct str sealed,
              struct buf *ret, struct err *e)
{
    const struct sealing_key *key = find_key(ring, sealed);
    AUTO(buf_done) struct buf bound = {0};
    struct str body = {sealed.p + HEAD_BYTES, sealed.n - HEAD_BYTES - TAG_BYTES};
    unsigned char tag[TAG_BYTES];
    char *room;

    if (!key)
        return err_set(e, -ENOKEY, ERR_PERMANENT,
                       "Secret %s/%s is encrypted with a key that is not in the key file: bring "
                       "that file back from a backup",
                       k->ns, k->name);
    memcpy(tag, sealed.p + sealed.n - TAG_BYTES, TAG_BYTES);
    bind_row(&bound, k, rv);
    room = buf_room(ret, body.n + 1);
    if (!room || !pass(false, key, (const unsigned char *)sealed.p + MAGIC_BYTES + NAME_BYTES,
                       buf_view(&bound), body, (unsigned char *)room, tag))
        return err_set(e, -EBADMSG, ERR_PERMANENT,
                       "the database is corrupt: Secret %s/%s does not open; bring a backup back "
                       "with 'slurmkeeper restore FILE'",
                       k->ns, k->name);
    buf_grew(ret, body.n);
    return 0;
}
