/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tokens of service accounts.
 *
 * They are JWTs with the claims of kube-apiserver's, so that clients which look inside find what
 * they know: who issued it for whom, until when, and below "kubernetes.io" the account, and the
 * pod, Secret or node that it is bound to, each with its uid.  The signature is HS256: only the
 * server that signs them ever checks them, so there is no key to publish.
 *
 * Tokens without "kubernetes.io" were made before tokens were bound to anything.  They do not say
 * which pod they were for, so nobody can tell whether they should have died: they are refused.
 */
#include "src/cluster/apiserver/account_token.h"

#include <openssl/crypto.h>
#include <openssl/hmac.h>

#include "src/base/encode.h"

#define TOKEN_MAX_BYTES 8192

static void sign(const struct token_key *key, struct str text, struct buf *out)
{
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned int n = 0;

    if (!HMAC(EVP_sha256(), key->bytes, sizeof(key->bytes), (const unsigned char *)text.p, text.n,
              mac, &n))
        abort();
    encode_base64url(out, (struct str){(char *)mac, n});
}

static void set_named(struct arena *a, struct jsn *at, const char *key, const char *name,
                      const char *uid)
{
    struct jsn *o = jsn_ensure_object(a, at, key);

    jsn_set_str(a, o, "name", name);
    jsn_set_str(a, o, "uid", uid ? uid : "");
}

static struct jsn *claims_of(struct arena *a, const struct account_token *t)
{
    struct jsn *v = jsn_object(a);
    struct jsn *k = jsn_object(a);

    jsn_set(a, v, "aud", jsn_clone(a, t->audiences));
    if (t->expires_s)
        jsn_set_int(a, v, "exp", t->expires_s);
    jsn_set_int(a, v, "iat", t->issued_s);
    jsn_set_str(a, v, "iss", ACCOUNT_TOKEN_ISSUER);
    if (t->id)
        jsn_set_str(a, v, "jti", t->id);
    jsn_set(a, v, "kubernetes.io", k);
    jsn_set_int(a, v, "nbf", t->issued_s);
    jsn_set(a, v, "sub", jsn_stringf(a, "system:serviceaccount:%s:%s", t->ns, t->account));
    jsn_set_str(a, k, "namespace", t->ns);
    set_named(a, k, "serviceaccount", t->account, t->uid);
    if (t->bound_kind)
        set_named(a, k, t->bound_kind, t->bound_name, t->bound_uid);
    if (t->node_name && !streq(t->bound_kind, "node"))
        set_named(a, k, "node", t->node_name, t->node_uid);
    return v;
}

char *account_token_sign(const struct token_key *key, struct arena *a,
                         const struct account_token *t)
{
    AUTO(buf_done) struct buf claims = {0};
    AUTO(buf_done) struct buf token = {0};
    AUTO(buf_done) struct buf mac = {0};

    jsn_print(&claims, claims_of(a, t));
    encode_base64url(&token, STR("{\"alg\":\"HS256\"}"));
    buf_addc(&token, '.');
    encode_base64url(&token, buf_view(&claims));
    sign(key, buf_view(&token), &mac);
    buf_addc(&token, '.');
    buf_addstr(&token, buf_view(&mac));
    return arena_str(a, buf_view(&token));
}

/* The claims of a token with a good signature, or NULL. */
static struct jsn *read_claims(const struct token_key *key, struct arena *a, struct str token)
{
    AUTO(buf_done) struct buf mac = {0};
    AUTO(buf_done) struct buf claims = {0};
    const char *last = token.n ? memrchr(token.p, '.', token.n) : NULL;
    struct str signed_part;
    struct str given;
    struct jsn *v;
    size_t dot;

    if (token.n > TOKEN_MAX_BYTES || !last)
        return NULL;
    signed_part = (struct str){token.p, (size_t)(last - token.p)};
    given = (struct str){last + 1, token.n - signed_part.n - 1};
    sign(key, signed_part, &mac);
    if (mac.n != given.n || CRYPTO_memcmp(mac.p, given.p, given.n) != 0)
        return NULL;
    dot = str_find(signed_part, '.');
    if (dot == signed_part.n ||
        decode_base64(&claims, (struct str){token.p + dot + 1, signed_part.n - dot - 1}) < 0 ||
        jsn_parse(a, buf_view(&claims), NULL, &v, NULL) < 0)
        return NULL;
    return v;
}

static void read_bound(const struct jsn *k, const char *kind, struct account_token *t)
{
    const struct jsn *o = jsn_key(k, kind);

    if (!o || t->bound_kind)
        return;
    t->bound_kind = kind;
    t->bound_name = jsn_get_str(o, "name");
    t->bound_uid = jsn_get_str(o, "uid");
}

static bool is_whole(const struct account_token *t)
{
    return t->ns && t->account && t->uid && t->uid[0] &&
           (!t->bound_kind || (t->bound_name && t->bound_uid && t->bound_uid[0])) &&
           (t->expires_s > 0 || streq(t->bound_kind, "secret"));
}

int account_token_read(const struct token_key *key, struct arena *a, struct str token,
                       struct account_token *ret_token)
{
    const struct jsn *v = read_claims(key, a, token);
    const struct jsn *k = jsn_key(v, "kubernetes.io");
    struct account_token t = {
        .ns = jsn_get_str(k, "namespace"),
        .account = jsn_get_str(k, "serviceaccount.name"),
        .uid = jsn_get_str(k, "serviceaccount.uid"),
        .id = jsn_get_str(v, "jti"),
        .audiences = jsn_key(v, "aud"),
        .issued_s = jsn_get_int(v, "iat", 0),
        .expires_s = jsn_get_int(v, "exp", 0),
        .node_name = jsn_get_str(k, "node.name"),
        .node_uid = jsn_get_str(k, "node.uid"),
    };

    read_bound(k, "pod", &t);
    read_bound(k, "secret", &t);
    read_bound(k, "node", &t);
    if (!is_whole(&t) || !streq(jsn_get_str(v, "iss"), ACCOUNT_TOKEN_ISSUER))
        return -EACCES;
    *ret_token = t;
    return 0;
}
