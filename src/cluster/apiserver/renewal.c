/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Certificates that are renewed while the server runs.
 *
 * An hourly look is enough for certificates that live for years and are renewed when a third of
 * that is left; it also follows a clock that was set.  Then connections from now on see the new
 * certificate, those that are there go on, and the kubeconfigs hold the new pairs.  Clients of
 * ours read them again once a minute; the old pairs are good for months.
 */
#include "src/cluster/apiserver/renewal.h"

#include "src/base/alloc.h"
#include "src/base/log.h"
#include "src/cluster/apiserver/access.h"
#include "src/cluster/apiserver/credentials.h"
#include "src/cluster/apiserver/namespaces.h"

struct renewal {
    struct apiserver *server;
    char *host;
    struct loop_source *timer;
};

static int renew(struct renewal *r, bool *ret_changed, struct err *e)
{
    struct apiserver *s = r->server;
    int rc = access_renew(s->access, ret_changed, e);

    if (rc < 0 || !*ret_changed)
        return rc;
    rc = http_tls_renew(s->tls, access_server_cert(s->access), access_server_key(s->access),
                        access_authority(s->access), e);
    if (rc == 0)
        rc = access_write_kubeconfigs(s->access, r->host, http_server_port(s->http), e);
    namespaces_look_again(s->namespaces); /* each holds the authority's certificate for its pods */
    return rc;
}

static void on_look(void *arg)
{
    struct renewal *r = arg;
    bool changed = false;
    struct err e = {0};

    if (renew(r, &changed, &e) < 0)
        log_error("certificates are not renewed, trying again: %s", e.text);
    else if (changed)
        log_info("certificates are renewed; the kubeconfigs have the new ones");
    loop_timer_arm(r->timer, credentials_next_look_ms());
}

struct renewal *renewal_new(struct apiserver *s, const char *host)
{
    struct renewal *r = xcalloc(1, sizeof(*r));

    r->server = s;
    r->host = xstrdup(host);
    r->timer = loop_add_timer(s->loop, on_look, r);
    loop_timer_arm(r->timer, credentials_next_look_ms());
    return r;
}

struct renewal *renewal_free(struct renewal *r)
{
    if (!r)
        return NULL;
    (void)loop_source_free(r->timer);
    free(r->host);
    free(r);
    return NULL;
}
