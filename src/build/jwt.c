/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tokens of Slurm.
 *
 * slurmctld takes a JWT whose signature is made with its key (HS256), that is not expired, and that
 * names its user in the claim `sun`; all bytes of the key count.  A token is told from another
 * of the same second by its id.
 */
#include "src/build/jwt.h"

#include "src/base/encode.h"
#include "src/base/hash.h"

#define HEADER "{\"alg\":\"HS256\",\"typ\":\"JWT\"}"
#define ISSUER "slurmkeeper"
#define TOKEN_MAX_BYTES 8192

static void sign(struct str key, struct str text, struct buf *out)
{
    unsigned char mac[HMAC_SHA256_LEN];

    hash_hmac_sha256(key, text, mac);
    encode_base64url(out, (struct str){(const char *)mac, sizeof(mac)});
}

const char *jwt_sign(struct arena *a, struct str key, const struct jwt *t)
{
    AUTO(buf_done) struct buf claims = {0};
    AUTO(buf_done) struct buf token = {0};
    AUTO(buf_done) struct buf mac = {0};
    struct jsn *v = jsn_object(a);

    jsn_set_int(a, v, "exp", t->expires_s);
    jsn_set_int(a, v, "iat", t->issued_s);
    jsn_set_str(a, v, "iss", ISSUER);
    if (t->id)
        jsn_set_str(a, v, "jti", t->id);
    jsn_set_int(a, v, "nbf", t->issued_s);
    jsn_set_str(a, v, "sun", t->user);
    jsn_print(&claims, v);
    encode_base64url(&token, STR(HEADER));
    buf_addc(&token, '.');
    encode_base64url(&token, buf_view(&claims));
    sign(key, buf_view(&token), &mac);
    buf_addc(&token, '.');
    buf_addstr(&token, buf_view(&mac));
    return arena_str(a, buf_view(&token));
}

static int decode_claims(struct arena *a, struct str text, struct jwt *ret, struct err *e)
{
    AUTO(buf_done) struct buf plain = {0};
    struct jsn *v = NULL;
    const char *user;
    const char *id;

    if (decode_base64(&plain, text) < 0 || jsn_parse(a, buf_view(&plain), NULL, &v, NULL) < 0)
        return err_bad(e, "its claims cannot be read");
    user = jsn_get_str(v, "sun");
    id = jsn_get_str(v, "jti");
    if (!user || !jsn_is(jsn_key(v, "exp"), JSN_INT))
        return err_bad(e, "it lacks the claims sun and exp");
    *ret = (struct jwt){.user = arena_strdup(a, user),
                        .id = id ? arena_strdup(a, id) : NULL,
                        .issued_s = jsn_get_int(v, "iat", 0),
                        .expires_s = jsn_get_int(v, "exp", 0)};
    return 0;
}

int jwt_read(struct arena *a, struct str key, struct str token, struct jwt *ret, struct err *e)
{
    AUTO(buf_done) struct buf mac = {0};
    struct str rest = token;
    struct str head;
    struct str claims;
    struct str given;

    if (token.n > TOKEN_MAX_BYTES || !str_split(&rest, '.', &head) ||
        !str_split(&rest, '.', &claims) || !str_split(&rest, '.', &given) || rest.p)
        return err_bad(e, "it is no JWT");
    sign(key, (struct str){token.p, (size_t)(claims.p + claims.n - token.p)}, &mac);
    if (!str_eq(buf_view(&mac), given))
        return err_set(e, -EACCES, ERR_PERMANENT, "another key has signed it");
    return decode_claims(a, claims, ret, e);
}
