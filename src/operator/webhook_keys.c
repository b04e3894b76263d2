/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of the webhook.
 *
 * An authority is made, it signs one certificate for the names of the Service, and its own key is
 * thrown away: nobody can make another certificate that the API server would trust.  The Secret is
 * of the type kubernetes.io/tls, as cert-manager makes it, so that a Secret of the same name that
 * somebody else keeps serves as well; one of ours has a label that says so.
 *
 * When keys are replaced, the bundle keeps the last authority beside the new one, so that operators
 * that have not read the Secret yet are trusted, too.
 */
#include "src/operator/webhook_keys.h"

#include "src/base/encode.h"
#include "src/build/secrets.h"
#include "src/http/cert.h"
#include "src/http/server.h"

#define MANAGED_BY "app.kubernetes.io/managed-by"
#define MANAGER "slurmkeeper"
#define BUNDLE_KEY "ca.crt"
#define CERT_END "-----END CERTIFICATE-----\n"

int webhook_keys_decode(struct arena *a, const struct jsn *secret, struct webhook_keys *ret,
                        struct err *e)
{
    AUTO(http_tls_free) struct http_tls *tls = NULL;
    int r;
    struct webhook_keys k = {
        .cert_pem = build_secret_text(a, secret, AGENT_CERT),
        .key_pem = build_secret_text(a, secret, AGENT_KEY),
        .bundle_pem = build_secret_text(a, secret, BUNDLE_KEY),
    };

    if (!k.cert_pem || !k.key_pem)
        return err_set(e, -EINVAL, ERR_RETRY, "it has no %s", k.cert_pem ? AGENT_KEY : AGENT_CERT);
    if (!k.bundle_pem)
        k.bundle_pem = k.cert_pem;
    r = http_tls_new(k.cert_pem, k.key_pem, NULL, &tls, e);
    if (r == 0)
        *ret = k;
    return r;
}

/* What clients may call it by, ends with NULL. */
static const char *const *names_of(struct arena *a, const struct webhook_name *n)
{
    const char **names = arena_calloc(a, 4, sizeof(*names));

    names[0] = arena_printf(a, "%s.%s.svc", n->name, n->namespace);
    names[1] = arena_printf(a, "%s.%s.svc.%s", n->name, n->namespace,
                            n->domain ? n->domain : "cluster.local");
    names[2] = arena_printf(a, "%s.%s", n->name, n->namespace);
    return names;
}

/* The first certificate of a text. */
static const char *first_of(struct arena *a, const char *pem)
{
    const char *end = strstr(pem, CERT_END);

    return end ? arena_printf(a, "%.*s", (int)(end + strlen(CERT_END) - pem), pem) : "";
}

int webhook_keys_make(struct arena *a, const struct webhook_name *n,
                      const struct webhook_keys *before, struct webhook_keys *ret, struct err *e)
{
    AUTO(cert_pair_done) struct cert_pair authority = {0};
    AUTO(cert_pair_done) struct cert_pair pair = {0};
    struct cert_request q = {.names = names_of(a, n)};
    /* Not the server's name: a certificate whose issuer is its subject is taken for self-signed. */
    int r = cert_make_authority("slurmkeeper webhook authority", &authority, e);

    q.common_name = n->name;
    if (r == 0)
        r = cert_make(&authority, &q, &pair, e);
    if (r < 0)
        return r;
    *ret = (struct webhook_keys){
        arena_strdup(a, pair.cert_pem), arena_strdup(a, pair.key_pem),
        arena_printf(a, "%s%s", authority.cert_pem, before ? first_of(a, before->bundle_pem) : "")};
    return 0;
}

static void set_data(struct arena *a, struct jsn *data, const char *key, const char *text)
{
    AUTO(buf_done) struct buf b = {0};

    encode_base64(&b, str_of(text));
    jsn_set(a, data, key, jsn_str(a, buf_view(&b)));
}

struct jsn *webhook_keys_secret(struct arena *a, const struct webhook_name *n,
                                const struct webhook_keys *keys, const struct jsn *old)
{
    struct jsn *secret = jsn_object(a);
    struct jsn *meta = jsn_ensure_object(a, secret, "metadata");
    struct jsn *data = jsn_ensure_object(a, secret, "data");
    const char *version = jsn_get_str(old, "metadata.resourceVersion");

    jsn_set_str(a, secret, "apiVersion", "v1");
    jsn_set_str(a, secret, "kind", "Secret");
    jsn_set_str(a, secret, "type", "kubernetes.io/tls");
    jsn_set_str(a, meta, "name", n->name);
    jsn_set_str(a, meta, "namespace", n->namespace);
    jsn_set_str(a, jsn_ensure_object(a, meta, "labels"), MANAGED_BY, MANAGER);
    if (version)
        jsn_set_str(a, meta, "resourceVersion", version);
    set_data(a, data, AGENT_CERT, keys->cert_pem);
    set_data(a, data, AGENT_KEY, keys->key_pem);
    set_data(a, data, BUNDLE_KEY, keys->bundle_pem);
    return secret;
}

bool webhook_keys_is_ours(const struct jsn *secret)
{
    return streq(jsn_text(jsn_member(jsn_get(secret, "metadata.labels"), STR(MANAGED_BY))),
                 MANAGER);
}

bool webhook_keys_are_good(struct arena *a, const struct webhook_name *n,
                           const struct webhook_keys *keys)
{
    return cert_still_good(keys->cert_pem, keys->bundle_pem, names_of(a, n));
}

static struct jsn *make_op(struct arena *a, const char *op, const char *path, struct jsn *value)
{
    struct jsn *o = jsn_object(a);

    jsn_set_str(a, o, "op", op);
    jsn_set_str(a, o, "path", path);
    jsn_set(a, o, "value", value);
    return o;
}

struct jsn *webhook_trust_patch(struct arena *a, const struct webhook_name *n,
                                const struct jsn *configuration, const char *bundle_pem)
{
    AUTO(buf_done) struct buf bundle = {0};
    struct jsn *patch = jsn_array(a);
    size_t i = 0;

    encode_base64(&bundle, str_of(bundle_pem));
    JSN_FOR_ITEMS (hook, jsn_key(configuration, "webhooks")) {
        const char *at = arena_printf(a, "/webhooks/%zu", i++);

        if (!streq(jsn_get_str(hook, "clientConfig.service.name"), n->name) ||
            !streq(jsn_get_str(hook, "clientConfig.service.namespace"), n->namespace) ||
            streq(jsn_get_str(hook, "clientConfig.caBundle"), buf_str(&bundle)))
            continue;
        /* The order may have changed since it was read. */
        jsn_append(a, patch,
                   make_op(a, "test", arena_printf(a, "%s/name", at),
                           jsn_clone(a, jsn_key(hook, "name"))));
        jsn_append(a, patch,
                   make_op(a, "add", arena_printf(a, "%s/clientConfig/caBundle", at),
                           jsn_str(a, buf_view(&bundle))));
    }
    return jsn_len(patch) ? patch : NULL;
}
