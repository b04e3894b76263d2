/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The choice of a server and a user.
 *
 * A context joins a cluster and a user.  Only those two are checked: a bad entry that nobody uses
 * does no harm, as with kubectl.  What cannot be (a certificate without its key, two ways to say
 * who one is, trust in an authority and trust in nobody) is refused here, before anything is sent.
 *
 * In a pod the token is a file that the kubelet writes again before it expires; login.c reads it
 * again.
 */
#include "src/kube/target.h"

#include <ctype.h>

#include "src/base/alloc.h"
#include "src/base/file.h"

#define NAMESPACE_MAX_BYTES ((size_t)256)

struct kube_target *kube_target_free(struct kube_target *t)
{
    if (!t)
        return NULL;
    free(t->origin);
    free(t->namespace);
    free(t->kubeconfig);
    free(t->context);
    kube_cluster_free(t->cluster);
    kube_user_free(t->user);
    free(t);
    return NULL;
}

static bool has_key(const struct kube_user *u)
{
    return u->key_file || !secret_empty(&u->key_pem);
}

static bool has_token(const struct kube_user *u)
{
    return u->token_file || !secret_empty(&u->token);
}

static int check_user(const struct kube_user *u, struct err *e)
{
    bool cert = u->cert_file || u->cert_pem;
    bool basic = u->username || !secret_empty(&u->password);

    if (u->unsupported)
        return err_bad(e, "%s is not supported", u->unsupported);
    if (cert && !has_key(u))
        return err_bad(e, "client-certificate is there, client-key or client-key-data is missing");
    if (!cert && has_key(u))
        return err_bad(e, "client-key is there, client-certificate or client-certificate-data is "
                          "missing");
    if (basic && has_token(u))
        return err_bad(e, "token and username exclude each other");
    if (basic && !u->username)
        return err_bad(e, "password is there, username is missing");
    if (u->username && strchr(u->username, ':'))
        return err_bad(e, "username must not hold a colon");
    if (u->plugin && u->plugin->interactive == KUBE_INTERACTIVE_ALWAYS)
        return err_bad(e, "exec.interactiveMode is Always, but there is no terminal to ask on");
    return 0;
}

static bool url_plain(const char *url)
{
    for (const char *p = url; *p; p++) {
        if (!isgraph((unsigned char)*p))
            return false;
    }
    return true;
}

/* "host:port" gets the scheme that the rest of the entry suggests; slashes at the end go. */
static int complete_server(struct kube_cluster *c, const struct kube_user *u, struct err *e)
{
    AUTO(free) char *given = TAKE(c->server);
    bool tls = c->ca_file || c->ca_pem || c->insecure || u->cert_file || u->cert_pem;
    const char *scheme = "";
    size_t n;

    if (!given)
        return err_bad(e, "server is missing");
    if (!strstr(given, "://"))
        scheme = tls ? "https://" : "http://";
    else if (!starts_with(given, "http://") && !starts_with(given, "https://"))
        return err_bad(e, "server: '%s' is not an http or https URL", given);
    if (!url_plain(given) || strpbrk(given, "?#@"))
        return err_bad(e, "server: '%s' is not a URL of scheme, host, port and path", given);
    n = strlen(given);
    while (n > 0 && given[n - 1] == '/')
        n--;
    c->server = xasprintf("%s%.*s", scheme, (int)n, given);
    return 0;
}

static int check_cluster(struct kube_cluster *c, const struct kube_user *u, struct err *e)
{
    if (c->insecure && (c->ca_file || c->ca_pem))
        return err_bad(e, "certificate-authority and insecure-skip-tls-verify exclude each other");
    if (c->proxy_url && (!url_plain(c->proxy_url) || !strstr(c->proxy_url, "://")))
        return err_bad(e, "proxy-url: '%s' is not a URL", c->proxy_url);
    return complete_server(c, u, e);
}

static const char *either(const char *a, const char *b, const char *otherwise)
{
    if (a && *a)
        return a;
    return b && *b ? b : otherwise;
}

/* Take the context's two entries out of the configuration. */
static int take_entries(struct kube_config *c, const struct kube_context *ctx,
                        struct kube_target *t, struct err *e)
{
    const char *cluster = ctx->cluster ? ctx->cluster : "";

    t->cluster = map_take(&c->clusters, str_of(cluster));
    if (!t->cluster)
        return err_bad(e, "there is no cluster '%s'", cluster);
    if (!ctx->user) {
        t->user = xcalloc(1, sizeof(*t->user));
        return 0;
    }
    t->user = map_take(&c->users, str_of(ctx->user));
    return t->user ? 0 : err_bad(e, "there is no user '%s'", ctx->user);
}

int kube_target_select(struct kube_config *c, const char *origin, const struct kube_wish *w,
                       struct kube_target **ret_target, struct err *e)
{
    AUTO(kube_target_free) struct kube_target *t = xcalloc(1, sizeof(*t));
    const char *name = either(w->context, c->current_context, NULL);
    struct kube_context *ctx;
    int r;

    if (!name)
        return err_bad(e, "%s: current-context is not set; set it, or name a context", origin);
    ctx = map_get(&c->contexts, str_of(name));
    if (!ctx)
        return err_bad(e, "%s: there is no context '%s'", origin, name);
    t->origin = xasprintf("context '%s' of %s", name, origin);
    t->namespace = xstrdup(either(w->namespace, ctx->namespace, "default"));
    t->kubeconfig = xstrdup_null(w->kubeconfig);
    t->context = xstrdup_null(w->context);
    r = take_entries(c, ctx, t, e);
    if (r < 0)
        return err_wrap(e, r, "%s", t->origin);
    r = check_user(t->user, e);
    if (r < 0)
        return err_wrap(e, r, "%s: user '%s'", t->origin, ctx->user ? ctx->user : "");
    r = check_cluster(t->cluster, t->user, e);
    if (r < 0)
        return err_wrap(e, r, "%s: cluster '%s'", t->origin, ctx->cluster);
    *ret_target = TAKE(t);
    return 0;
}

/* The pod's namespace; a pod without that file is in none that we know. */
static char *pod_namespace(const char *dir)
{
    AUTO(free) char *path = xasprintf("%s/namespace", dir);
    AUTO(free) char *text = NULL;
    struct str trimmed;
    size_t n;

    if (file_read(path, NAMESPACE_MAX_BYTES, &text, &n, NULL) < 0)
        return xstrdup("default");
    trimmed = str_trim((struct str){text, n});
    return trimmed.n ? str_dup(trimmed) : xstrdup("default");
}

int kube_target_in_cluster(const struct kube_wish *w, struct kube_target **ret_target,
                           struct err *e)
{
    AUTO(kube_target_free) struct kube_target *t = xcalloc(1, sizeof(*t));
    const char *dir = w->pod_dir ? w->pod_dir : KUBE_POD_DIR;
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *port = getenv("KUBERNETES_SERVICE_PORT");
    bool v6 = host && strchr(host, ':');

    if (!host || !*host || !port || !*port)
        return err_bad(e, "not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are "
                          "not set");
    t->in_pod = true;
    t->origin = xasprintf("the pod's service account in '%s'", dir);
    t->namespace = w->namespace ? xstrdup(w->namespace) : pod_namespace(dir);
    t->cluster = xcalloc(1, sizeof(*t->cluster));
    t->cluster->server = xasprintf("https://%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port);
    t->cluster->ca_file = xasprintf("%s/ca.crt", dir);
    t->user = xcalloc(1, sizeof(*t->user));
    t->user->token_file = xasprintf("%s/token", dir);
    *ret_target = TAKE(t);
    return 0;
}

static int from_list(const char *list, const struct kube_wish *w, struct kube_target **ret_target,
                     struct err *e)
{
    AUTO(kube_config_done) struct kube_config c;
    AUTO(free) char *origin = xasprintf("kubeconfig '%s'", list);
    int r;

    kube_config_init(&c);
    if (w->kubeconfig)
        r = kube_config_add_file(&c, list, e);
    else
        r = kube_config_add_list(&c, list, e);
    return r < 0 ? r : kube_target_select(&c, origin, w, ret_target, e);
}

int kube_target_find(const struct kube_wish *w, struct kube_target **ret_target, struct err *e)
{
    const char *list = either(w->kubeconfig, getenv("KUBECONFIG"), NULL);
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *home = getenv("HOME");
    AUTO(free) char *of_home = NULL;

    if (list)
        return from_list(list, w, ret_target, e);
    if (host && *host && !w->context)
        return kube_target_in_cluster(w, ret_target, e);
    of_home = xasprintf("%s/.kube/config", home ? home : "");
    if (!home || !file_exists(of_home))
        return err_bad(e, "no API server is configured: give --kubeconfig, set KUBECONFIG, or "
                          "write ~/.kube/config");
    return from_list(of_home, w, ret_target, e);
}
