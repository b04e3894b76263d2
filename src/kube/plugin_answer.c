/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExecCredential objects: what a credential plugin is told, and what it prints.
 *
 * The plugin learns its apiVersion, that nobody sits at a terminal and, if it asked for that, the
 * cluster.  Its answer is the same kind of object with a status.  It is held to its contract: the
 * apiVersion that the kubeconfig names, a token or a certificate with its key, a proper time.
 */
#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/encode.h"
#include "src/json/jsn.h"
#include "src/kube/plugin.h"

void kube_plugin_answer_done(struct kube_plugin_answer *a)
{
    secret_done(&a->token);
    secret_done(&a->key_pem);
    free(a->cert_pem);
    *a = (struct kube_plugin_answer){0};
}

static int parse_status(const struct jsn *status, struct kube_plugin_answer *a, struct err *e)
{
    const char *token = jsn_get_str(status, "token");
    const char *cert = jsn_get_str(status, "clientCertificateData");
    const char *key = jsn_get_str(status, "clientKeyData");
    const char *expires = jsn_get_str(status, "expirationTimestamp");

    if (!jsn_is(status, JSN_OBJECT))
        return err_bad(e, "status is missing");
    if (token)
        secret_set(&a->token, str_of(token));
    if ((cert != NULL) != (key != NULL))
        return err_bad(e, "status.clientCertificateData and status.clientKeyData must come "
                          "together");
    if (secret_empty(&a->token) && !cert)
        return err_bad(e, "status holds neither a token nor a client certificate");
    if (cert) {
        a->cert_pem = xstrdup(cert);
        secret_set(&a->key_pem, str_of(key));
    }
    if (expires && clock_parse_rfc3339(str_of(expires), &a->expires_wall_us) < 0)
        return err_bad(e, "status.expirationTimestamp: '%.40s' is not a time", expires);
    return 0;
}

int kube_plugin_parse(struct str text, const char *api_version, struct kube_plugin_answer *ret,
                      struct err *e)
{
    AUTO(kube_plugin_answer_done) struct kube_plugin_answer a = {0};
    AUTO(arena_done) struct arena arena = {0};
    const char *version;
    struct jsn *top;
    int r;

    r = jsn_parse(&arena, text, NULL, &top, e);
    if (r < 0)
        return err_wrap(e, r, "its output is not JSON");
    if (!streq(jsn_get_str(top, "kind"), "ExecCredential"))
        return err_bad(e, "its output is not an ExecCredential");
    version = jsn_get_str(top, "apiVersion");
    if (!streq(version, api_version))
        return err_bad(e, "it answered with apiVersion '%.80s', '%s' was asked for",
                       version ? version : "", api_version);
    r = parse_status(jsn_key(top, "status"), &a, e);
    if (r < 0)
        return r;
    *ret = a;
    a = (struct kube_plugin_answer){0};
    return 0;
}

static struct jsn *cluster_info(struct arena *a, const struct kube_cluster *c, const char *ca_pem)
{
    struct jsn *o = jsn_object(a);
    struct jsn *config = NULL;

    jsn_set_str(a, o, "server", c->server);
    if (c->tls_server_name)
        jsn_set_str(a, o, "tls-server-name", c->tls_server_name);
    if (c->insecure)
        jsn_set_bool(a, o, "insecure-skip-tls-verify", true);
    if (ca_pem) {
        AUTO(buf_done) struct buf b = {0};

        encode_base64(&b, str_of(ca_pem));
        jsn_set_str(a, o, "certificate-authority-data", buf_str(&b));
    }
    if (c->proxy_url)
        jsn_set_str(a, o, "proxy-url", c->proxy_url);
    if (c->plugin_config && jsn_parse(a, str_of(c->plugin_config), NULL, &config, NULL) == 0)
        jsn_set(a, o, "config", config);
    return o;
}

char *kube_plugin_info(const struct kube_plugin *p, const struct kube_cluster *c,
                       const char *ca_pem)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct jsn *top = jsn_object(&a);
    struct jsn *spec;

    jsn_set_str(&a, top, "kind", "ExecCredential");
    jsn_set_str(&a, top, "apiVersion", p->api_version);
    spec = jsn_ensure_object(&a, top, "spec");
    if (p->wants_cluster)
        jsn_set(&a, spec, "cluster", cluster_info(&a, c, ca_pem));
    jsn_set_bool(&a, spec, "interactive", false);
    jsn_print(&b, top);
    return buf_take(&b);
}
