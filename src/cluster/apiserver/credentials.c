/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Credentials on disk.
 *
 *   ca.crt ca.key          the authority, made at the first start
 *   server.crt server.key  of the server; made again when it lacks a name
 *   admin.crt admin.key    the administrator's (O=system:masters), also in admin.kubeconfig
 *   NAME.crt NAME.key      of each process of ours, also in NAME.kubeconfig
 *   token.key              signs service account tokens
 *
 * At each start every pair is held against itself (both parse, the key is the certificate's) and
 * against the authority.  A damaged pair is replaced by a new one: whoever reads the kubeconfig
 * again has it.  The authority is different: others trust it.  Its certificate
 * can be made again from its key, and all that trusted the old one trust the new one, too.  Without
 * the key there is no safe way on, and a person decides.
 *
 * While the server runs, pairs are renewed when a third of their life is left, so that neither a
 * server that runs for years nor a client that follows its kubeconfig ever meets an expired one.
 */
#include "src/cluster/apiserver/credentials.h"

#include <openssl/crypto.h>

#include "src/base/alloc.h"
#include "src/base/encode.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/cluster/apiserver/kinds/service_alloc.h"

#define PEM_MAX_BYTES 65536
#define LOOK_MOST_MS (3600 * 1000)
#define LOOK_LEAST_MS 100

static const struct {
    const char *name;
    const char *user;
    const char *group;
} holders[CREDENTIALS] = {
    [CREDENTIAL_SERVER] = {"server", "slurmkeeper-apiserver", NULL},
    [CREDENTIAL_ADMIN] = {"admin", "kubernetes-admin", "system:masters"},
    [CREDENTIAL_NODE] = {"node", "system:slurmkeeper:node", NULL},
    [CREDENTIAL_OPERATOR] = {"operator", "system:slurmkeeper:operator", NULL},
    [CREDENTIAL_SERVE] = {"serve", "system:slurmkeeper:serve", NULL},
};

const char *credential_name(enum credential which)
{
    return holders[which].name;
}

void credentials_done(struct credentials *c)
{
    OPENSSL_cleanse(&c->token_key, sizeof(c->token_key));
    cert_pair_done(&c->authority);
    for (size_t i = 0; i < CREDENTIALS; i++)
        cert_pair_done(&c->pairs[i]);
    free(c->dir);
    free(c->address);
    *c = (struct credentials){0};
}

static char *path_of(const struct credentials *c, const char *name, const char *suffix)
{
    return xasprintf("%s/%s%s", c->dir, name, suffix);
}

/* -ENOENT if neither file is there; one without the other leaves a NULL. */
static int read_pair(const struct credentials *c, const char *name, struct cert_pair *ret,
                     struct err *e)
{
    AUTO(cert_pair_done) struct cert_pair p = {0};
    AUTO(free) char *cert = path_of(c, name, ".crt");
    AUTO(free) char *key = path_of(c, name, ".key");
    int r = 0;

    if (!file_exists(cert) && !file_exists(key))
        return -ENOENT;
    if (file_exists(cert))
        r = file_read(cert, PEM_MAX_BYTES, &p.cert_pem, NULL, e);
    if (r == 0 && file_exists(key))
        r = file_read(key, PEM_MAX_BYTES, &p.key_pem, NULL, e);
    if (r < 0)
        return r;
    *ret = p;
    p = (struct cert_pair){0};
    return 0;
}

/* The key first: between the two writes the pair is damaged, and that is found and mended. */
static int write_pair(const struct credentials *c, const char *name, const struct cert_pair *p,
                      struct err *e)
{
    AUTO(free) char *cert = path_of(c, name, ".crt");
    AUTO(free) char *key = path_of(c, name, ".key");
    int r = file_write(key, str_of(p->key_pem), 0600, e);

    return r < 0 ? r : file_write(cert, str_of(p->cert_pem), 0600, e);
}

static int renew_authority(struct credentials *c, struct err *e)
{
    AUTO(cert_pair_done) struct cert_pair fresh = {0};
    int r = cert_renew_authority("slurmkeeper", c->authority.key_pem, &fresh, e);

    if (r == 0)
        r = write_pair(c, "ca", &fresh, e);
    if (r < 0)
        return r;
    cert_pair_done(&c->authority);
    c->authority = fresh;
    fresh = (struct cert_pair){0};
    return 0;
}

static int authority_lost(const struct credentials *c, struct err *e)
{
    return err_set(
        e, -EBADMSG, ERR_PERMANENT,
        "the key of the cluster's authority, '%s/ca.key', is damaged or missing: restore "
        "it from a backup; or remove ca.crt and ca.key to make a new authority, then "
        "everybody needs the new admin.kubeconfig and pods must be started again",
        c->dir);
}

static int load_authority(struct credentials *c, struct err *e)
{
    const char *fault;
    int r = read_pair(c, "ca", &c->authority, e);

    if (r == -ENOENT) {
        r = cert_make_authority("slurmkeeper", &c->authority, e);
        return r < 0 ? r : write_pair(c, "ca", &c->authority, e);
    }
    if (r < 0)
        return r;
    fault = cert_pair_fault(&c->authority);
    if (!fault)
        return 0;
    /* A key that is whole but not the certificate's is another authority's. */
    if (!cert_key_reads(c->authority.key_pem) || cert_reads(c->authority.cert_pem))
        return authority_lost(c, e);
    log_warn("'%s/ca.crt': %s: it is made again from its key", c->dir, fault);
    return renew_authority(c, e);
}

/* What a certificate is to say.  `names` must outlive it. */
struct wish {
    const char *names[10];
    struct cert_request request;
};

static void wish_init(struct wish *w, enum credential which, const char *address)
{
    *w = (struct wish){
        .names = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
                  "kubernetes.default.svc.cluster.local",
                  SERVICE_OF_SERVER, /* for clients in pods */
                  "127.0.0.1", "::1", address, NULL},
        .request = {holders[which].user, holders[which].group, NULL},
    };
    if (which == CREDENTIAL_SERVER)
        w->request.names = w->names;
}

static bool is_good(const struct credentials *c, enum credential which)
{
    struct wish w;

    wish_init(&w, which, c->address);
    return cert_still_good(c->pairs[which].cert_pem, c->authority.cert_pem, w.request.names);
}

static int make_pair(struct credentials *c, enum credential which, struct err *e)
{
    AUTO(cert_pair_done) struct cert_pair fresh = {0};
    struct wish w;
    int r;

    wish_init(&w, which, c->address);
    r = cert_make(&c->authority, &w.request, &fresh, e);
    if (r == 0)
        r = write_pair(c, holders[which].name, &fresh, e);
    if (r < 0)
        return r;
    cert_pair_done(&c->pairs[which]);
    c->pairs[which] = fresh;
    fresh = (struct cert_pair){0};
    return 0;
}

static int load_pair(struct credentials *c, enum credential which, struct err *e)
{
    const char *name = holders[which].name;
    const char *fault;
    int r = read_pair(c, name, &c->pairs[which], e);

    if (r < 0 && r != -ENOENT)
        return r;
    fault = r == 0 ? cert_pair_fault(&c->pairs[which]) : NULL;
    if (fault)
        log_warn("'%s/%s.key' and '%s.crt': %s: both are made again", c->dir, name, name, fault);
    if (r == 0 && !fault && is_good(c, which))
        return 0;
    return make_pair(c, which, e);
}

static int load_token_key(struct credentials *c, struct err *e)
{
    AUTO(free) char *path = path_of(c, "token", ".key");
    AUTO(free) char *text = NULL;
    size_t n = 0;
    int r = 0;

    if (!file_exists(path)) {
        encode_random(c->token_key.bytes, sizeof(c->token_key.bytes));
        return file_write(
            path, (struct str){(char *)c->token_key.bytes, sizeof(c->token_key.bytes)}, 0600, e);
    }
    r = file_read(path, sizeof(c->token_key.bytes), &text, &n, e);
    if (r == -EFBIG || (r == 0 && n != sizeof(c->token_key.bytes)))
        return err_set(e, -EBADMSG, ERR_PERMANENT,
                       "'%s' is damaged: restore it from a backup; or remove it to make a new one, "
                       "then the tokens of all service accounts end",
                       path);
    if (r == 0)
        memcpy(c->token_key.bytes, text, n);
    if (text)
        OPENSSL_cleanse(text, n);
    return r;
}

int credentials_load(struct credentials *c, const char *state_dir, const char *address,
                     struct err *e)
{
    int r;

    c->dir = xasprintf("%s/pki", state_dir);
    c->address = xstrdup(address);
    r = file_make_dirs(c->dir, 0700, e);
    if (r == 0)
        r = load_authority(c, e);
    for (enum credential i = 0; i < CREDENTIALS && r == 0; i++)
        r = load_pair(c, i, e);
    return r < 0 ? r : load_token_key(c, e);
}

int credentials_renew(struct credentials *c, bool *ret_changed, struct err *e)
{
    int r = 0;

    *ret_changed = false;
    if (!cert_still_good(c->authority.cert_pem, c->authority.cert_pem, NULL)) {
        *ret_changed = true;
        r = renew_authority(c, e);
    }
    for (enum credential i = 0; i < CREDENTIALS && r == 0; i++) {
        if (is_good(c, i))
            continue;
        *ret_changed = true;
        r = make_pair(c, i, e);
    }
    return r;
}

int64_t credentials_next_look_ms(void)
{
    return MAX(MIN(cert_lifetime_s() * 1000 / 12, (int64_t)LOOK_MOST_MS), (int64_t)LOOK_LEAST_MS);
}
