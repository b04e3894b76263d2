/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Access: what the server and its clients show each other.
 *
 * An authority of our own signs a certificate for the server, one for the administrator and one for
 * each of our processes; each client gets a kubeconfig that holds all it needs.  A key that never
 * leaves the state directory signs the tokens of service accounts.  Who sent a request is told in
 * access_identify.c.
 */
#include "src/cluster/apiserver/access_private.h"

#include "src/base/alloc.h"
#include "src/base/encode.h"
#include "src/base/file.h"

struct access *access_free(struct access *a)
{
    if (!a)
        return NULL;
    credentials_done(&a->own);
    free(a->dir);
    free(a);
    return NULL;
}

int access_new(const char *state_dir, const char *address, struct access **ret_access,
               struct err *e)
{
    AUTO(access_free) struct access *a = xcalloc(1, sizeof(*a));
    int r;

    a->dir = xstrdup(state_dir);
    r = credentials_load(&a->own, state_dir, address, e);
    if (r < 0)
        return err_wrap(e, r, "credentials of the API server");
    *ret_access = TAKE(a);
    return 0;
}

int access_renew(struct access *a, bool *ret_changed, struct err *e)
{
    return credentials_renew(&a->own, ret_changed, e);
}

const char *access_server_cert(const struct access *a)
{
    return a->own.pairs[CREDENTIAL_SERVER].cert_pem;
}

const char *access_server_key(const struct access *a)
{
    return a->own.pairs[CREDENTIAL_SERVER].key_pem;
}

const char *access_authority(const struct access *a)
{
    return a->own.authority.cert_pem;
}

static void add_data(struct buf *b, const char *indent, const char *key, const char *pem)
{
    buf_printf(b, "%s%s: ", indent, key);
    encode_base64(b, str_of(pem));
    buf_addc(b, '\n');
}

static int write_kubeconfig(const struct access *a, const char *name, const char *user,
                            const struct cert_pair *pair, const char *server, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/%s.kubeconfig", a->dir, name);
    AUTO(buf_done) struct buf b = {0};

    buf_adds(&b, "apiVersion: v1\nkind: Config\nclusters:\n- name: slurmkeeper\n  cluster:\n");
    buf_printf(&b, "    server: %s\n", server);
    add_data(&b, "    ", "certificate-authority-data", a->own.authority.cert_pem);
    buf_printf(&b, "users:\n- name: %s\n  user:\n", user);
    add_data(&b, "    ", "client-certificate-data", pair->cert_pem);
    add_data(&b, "    ", "client-key-data", pair->key_pem);
    buf_printf(&b,
               "contexts:\n- name: slurmkeeper\n  context:\n    cluster: slurmkeeper\n"
               "    user: %s\ncurrent-context: slurmkeeper\npreferences: {}\n",
               user);
    return file_update(path, buf_view(&b), 0600, NULL, e);
}

/* The administrator's is the last: who finds it finds the others, too. */
int access_write_kubeconfigs(const struct access *a, const char *address, int port, struct err *e)
{
    bool v6 = strchr(address, ':') != NULL;
    AUTO(free)
    char *server = xasprintf("https://%s%s%s:%d", v6 ? "[" : "", address, v6 ? "]" : "", port);
    int r = 0;

    for (enum credential i = CREDENTIAL_ADMIN + 1; i < CREDENTIALS && r == 0; i++) {
        const char *name = credential_name(i);
        AUTO(free) char *user = xasprintf("system-slurmkeeper-%s", name);

        r = write_kubeconfig(a, name, user, &a->own.pairs[i], server, e);
    }
    return r < 0 ? r
                 : write_kubeconfig(a, credential_name(CREDENTIAL_ADMIN), "kubernetes-admin",
                                    &a->own.pairs[CREDENTIAL_ADMIN], server, e);
}

void access_use_store(struct access *a, struct store *s)
{
    a->store = s;
}

char *access_make_token(const struct access *a, struct arena *arena, const struct account_token *t)
{
    return account_token_sign(&a->own.token_key, arena, t);
}
