/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Access: credentials on disk, and telling callers apart.
 *
 * There are two ways in: a client certificate of our own authority, checked by TLS already, or a
 * bearer token.  Tokens are JWTs (HS256) for service accounts, signed with a key that never leaves
 * the state directory.  Whoever is known may do everything: the embedded cluster has one
 * administrator, and its socket is on loopback.
 */
#include "src/cluster/apiserver/access.h"

#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/encode.h"
#include "src/base/file.h"
#include "src/http/cert.h"

#define PEM_MAX_BYTES 65536
#define TOKEN_KEY_BYTES 32
#define TOKEN_MAX_BYTES 8192

struct access {
    char *dir;
    struct cert_pair authority;
    struct cert_pair server;
    struct cert_pair admin;
    unsigned char token_key[TOKEN_KEY_BYTES];
};

struct access *access_free(struct access *a)
{
    if (!a)
        return NULL;
    OPENSSL_cleanse(a->token_key, sizeof(a->token_key));
    cert_pair_done(&a->authority);
    cert_pair_done(&a->server);
    cert_pair_done(&a->admin);
    free(a->dir);
    free(a);
    return NULL;
}

static char *pki_path(const struct access *a, const char *name, const char *suffix)
{
    return xasprintf("%s/pki/%s%s", a->dir, name, suffix);
}

/* -ENOENT where there is none yet. */
static int load_pair(const struct access *a, const char *name, struct cert_pair *ret, struct err *e)
{
    AUTO(cert_pair_done) struct cert_pair p = {0};
    AUTO(free) char *cert = pki_path(a, name, ".crt");
    AUTO(free) char *key = pki_path(a, name, ".key");
    int r;

    if (!file_exists(cert) || !file_exists(key))
        return -ENOENT;
    r = file_read(cert, PEM_MAX_BYTES, &p.cert_pem, NULL, e);
    if (r == 0)
        r = file_read(key, PEM_MAX_BYTES, &p.key_pem, NULL, e);
    if (r < 0)
        return r;
    *ret = p;
    p = (struct cert_pair){0};
    return 0;
}

/* The key first: a certificate without its key is taken for none at the next start. */
static int save_pair(const struct access *a, const char *name, const struct cert_pair *p,
                     struct err *e)
{
    AUTO(free) char *cert = pki_path(a, name, ".crt");
    AUTO(free) char *key = pki_path(a, name, ".key");
    int r = file_write(key, str_of(p->key_pem), 0600, e);

    return r < 0 ? r : file_write(cert, str_of(p->cert_pem), 0600, e);
}

static int ensure_authority(struct access *a, struct err *e)
{
    int r = load_pair(a, "ca", &a->authority, e);

    if (r != -ENOENT)
        return r;
    r = cert_make_authority("slurmkeeper", &a->authority, e);
    return r < 0 ? r : save_pair(a, "ca", &a->authority, e);
}

static int ensure_pair(struct access *a, const char *name, const struct cert_request *q,
                       struct cert_pair *pair, struct err *e)
{
    int r = load_pair(a, name, pair, e);

    if (r < 0 && r != -ENOENT)
        return r;
    if (r == 0 && cert_still_good(pair->cert_pem, a->authority.cert_pem, q->names))
        return 0;
    cert_pair_done(pair);
    r = cert_make(&a->authority, q, pair, e);
    return r < 0 ? r : save_pair(a, name, pair, e);
}

static int ensure_token_key(struct access *a, struct err *e)
{
    AUTO(free) char *path = pki_path(a, "token", ".key");
    AUTO(free) char *text = NULL;
    size_t n = 0;
    int r;

    if (file_exists(path)) {
        r = file_read(path, TOKEN_KEY_BYTES, &text, &n, e);
        if (r == 0 && n != TOKEN_KEY_BYTES)
            r = err_set(e, -EBADMSG, ERR_PERMANENT, "'%s' is damaged; remove it to make a new one",
                        path);
        if (r == 0)
            memcpy(a->token_key, text, n);
        return r;
    }
    encode_random(a->token_key, sizeof(a->token_key));
    return file_write(path, (struct str){(char *)a->token_key, sizeof(a->token_key)}, 0600, e);
}

static int ensure_all(struct access *a, const char *address, struct err *e)
{
    const char *names[] = {"localhost",
                           "kubernetes",
                           "kubernetes.default",
                           "kubernetes.default.svc",
                           "kubernetes.default.svc.cluster.local",
                           "10.96.0.1", /* of the Service kubernetes, for clients in pods */
                           "127.0.0.1",
                           "::1",
                           address,
                           NULL};
    struct cert_request server = {"slurmkeeper-apiserver", NULL, names};
    struct cert_request admin = {"kubernetes-admin", "system:masters", NULL};
    int r = ensure_authority(a, e);

    if (r == 0)
        r = ensure_pair(a, "server", &server, &a->server, e);
    if (r == 0)
        r = ensure_pair(a, "admin", &admin, &a->admin, e);
    return r < 0 ? r : ensure_token_key(a, e);
}

int access_new(const char *state_dir, const char *address, struct access **ret_access,
               struct err *e)
{
    AUTO(access_free) struct access *a = xcalloc(1, sizeof(*a));
    AUTO(free) char *pki = xasprintf("%s/pki", state_dir);
    int r;

    a->dir = xstrdup(state_dir);
    r = file_make_dirs(pki, 0700, e);
    if (r == 0)
        r = ensure_all(a, address, e);
    if (r < 0)
        return err_wrap(e, r, "credentials of the API server");
    *ret_access = TAKE(a);
    return 0;
}

const char *access_server_cert(const struct access *a)
{
    return a->server.cert_pem;
}

const char *access_server_key(const struct access *a)
{
    return a->server.key_pem;
}

const char *access_authority(const struct access *a)
{
    return a->authority.cert_pem;
}

static void add_data(struct buf *b, const char *indent, const char *key, const char *pem)
{
    buf_printf(b, "%s%s: ", indent, key);
    encode_base64(b, str_of(pem));
    buf_addc(b, '\n');
}

int access_write_kubeconfig(const struct access *a, const char *address, int port, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/admin.kubeconfig", a->dir);
    bool v6 = strchr(address, ':') != NULL;
    AUTO(buf_done) struct buf b = {0};

    buf_adds(&b, "apiVersion: v1\nkind: Config\nclusters:\n- name: slurmkeeper\n  cluster:\n");
    buf_printf(&b, "    server: https://%s%s%s:%d\n", v6 ? "[" : "", address, v6 ? "]" : "", port);
    add_data(&b, "    ", "certificate-authority-data", a->authority.cert_pem);
    buf_adds(&b, "users:\n- name: kubernetes-admin\n  user:\n");
    add_data(&b, "    ", "client-certificate-data", a->admin.cert_pem);
    add_data(&b, "    ", "client-key-data", a->admin.key_pem);
    buf_adds(&b, "contexts:\n- name: slurmkeeper\n  context:\n    cluster: slurmkeeper\n"
                 "    user: kubernetes-admin\ncurrent-context: slurmkeeper\npreferences: {}\n");
    return file_update(path, buf_view(&b), 0600, NULL, e);
}

static void sign(const struct access *a, struct str text, struct buf *out)
{
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned int n = 0;

    if (!HMAC(EVP_sha256(), a->token_key, sizeof(a->token_key), (const unsigned char *)text.p,
              text.n, mac, &n))
        abort();
    encode_base64url(out, (struct str){(char *)mac, n});
}

char *access_make_token(const struct access *a, struct arena *arena, const char *ns,
                        const char *account, const char *uid, int64_t expires_s)
{
    AUTO(buf_done) struct buf claims = {0};
    AUTO(buf_done) struct buf token = {0};
    AUTO(buf_done) struct buf mac = {0};
    struct jsn *v = jsn_object(arena);

    jsn_set_str(arena, v, "iss", "https://kubernetes.default.svc.cluster.local");
    jsn_set(arena, v, "sub", jsn_stringf(arena, "system:serviceaccount:%s:%s", ns, account));
    jsn_set_str(arena, v, "uid", uid);
    jsn_set_int(arena, v, "iat", clock_wall_us() / 1000000);
    jsn_set_int(arena, v, "exp", expires_s);
    jsn_print(&claims, v);
    encode_base64url(&token, STR("{\"alg\":\"HS256\",\"typ\":\"JWT\"}"));
    buf_addc(&token, '.');
    encode_base64url(&token, buf_view(&claims));
    sign(a, buf_view(&token), &mac);
    buf_addc(&token, '.');
    buf_addstr(&token, buf_view(&mac));
    return arena_str(arena, buf_view(&token));
}

/* The claims of a token that we signed and that has not expired, or NULL. */
static struct jsn *check_token(const struct access *a, struct arena *arena, struct str token)
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
    sign(a, signed_part, &mac);
    if (mac.n != given.n || CRYPTO_memcmp(mac.p, given.p, given.n) != 0)
        return NULL;
    dot = str_find(signed_part, '.');
    if (dot == signed_part.n ||
        decode_base64(&claims, (struct str){token.p + dot + 1, signed_part.n - dot - 1}) < 0 ||
        jsn_parse(arena, buf_view(&claims), NULL, &v, NULL) < 0 ||
        jsn_get_int(v, "exp", 0) < clock_wall_us() / 1000000)
        return NULL;
    return v;
}

static bool by_token(const struct access *a, struct arena *arena, const char *header,
                     struct api_user *ret_user)
{
    static const char *const groups[] = {"system:serviceaccounts", "system:authenticated", NULL};
    struct str h = str_of(header);
    struct jsn *claims;

    if (h.n < 7 || !str_eq_nocase((struct str){h.p, 7}, STR("bearer ")))
        return false;
    claims = check_token(a, arena, str_trim((struct str){h.p + 7, h.n - 7}));
    if (!claims || !jsn_get_str(claims, "sub"))
        return false;
    *ret_user = (struct api_user){jsn_get_str(claims, "sub"), groups};
    return true;
}

bool access_identify(const struct access *a, struct arena *arena, const struct http_exchange *x,
                     struct api_user *ret_user)
{
    const struct http_request *q = http_exchange_request(x);
    const char *header = http_request_header(x, "Authorization");

    if (header)
        return by_token(a, arena, header, ret_user);
    if (!q->tls_cn)
        return false;
    *ret_user = (struct api_user){q->tls_cn, q->tls_orgs};
    return true;
}
