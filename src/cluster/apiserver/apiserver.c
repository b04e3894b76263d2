/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The API server as a whole: put together, started, taken down.
 *
 * A turn of the loop serves every request that is ready; their writes form one transaction, which
 * the end-of-turn hook commits.  Committed changes go to the index of rights, to the watches, to
 * the garbage collector, to the namespaces, to the server's own Service, to the protection of
 * claims, to the custom resource definitions, to the roles that aggregate and to the Secrets with
 * tokens, in this order; what those write comes in a later turn, as if a client had written it.
 */
#include "src/cluster/apiserver/apiserver.h"

#include <arpa/inet.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/cluster/apiserver/access.h"
#include "src/cluster/apiserver/account_secrets.h"
#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/collector.h"
#include "src/cluster/apiserver/compactor.h"
#include "src/cluster/apiserver/crd/controller.h"
#include "src/cluster/apiserver/dispatch.h"
#include "src/cluster/apiserver/identity.h"
#include "src/cluster/apiserver/namespaces.h"
#include "src/cluster/apiserver/own_service.h"
#include "src/cluster/apiserver/protection.h"
#include "src/cluster/apiserver/rbac/aggregate.h"
#include "src/cluster/apiserver/rbac/bootstrap.h"
#include "src/cluster/apiserver/rbac/index.h"
#include "src/cluster/apiserver/renewal.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/store_place.h"
#include "src/cluster/apiserver/types/discovery.h"
#include "src/cluster/apiserver/types/openapi.h"
#include "src/cluster/apiserver/watch.h"

static void follow_rights(struct apiserver *s, const struct store_event *ev)
{
    const struct store_key *k = &ev->row.key;

    if (ev->change == STORE_DELETED)
        rbac_index_drop(s->rbac, k->resource, k->ns, k->name);
    else
        rbac_index_put(s->rbac, k->resource, k->ns, k->name, ev->row.data);
}

static void on_commit(void *arg, const struct store_event *ev)
{
    struct apiserver *s = arg;

    follow_rights(s, ev);
    watch_hub_event(s->watches, ev);
    collector_event(s->collector, ev);
    namespaces_event(s->namespaces, ev);
    own_service_event(s->own_service, ev);
    protection_event(s->protection, ev);
    crd_controller_event(s->crds, ev);
    rbac_aggregate_event(s->aggregate, ev);
    account_secrets_event(s->account_secrets, ev);
    for (size_t i = 0; i < s->n_observers; i++)
        s->observers[i].fn(s->observers[i].arg, ev);
}

static void on_turn_end(void *arg)
{
    answer_commit(arg);
}

/* "127.0.0.1:6443" without its port. */
static char *host_of(const char *listen)
{
    const char *colon = strrchr(listen, ':');
    struct str host = {listen, colon ? (size_t)(colon - listen) : strlen(listen)};

    if (host.n >= 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = (struct str){host.p + 1, host.n - 2};
    return str_dup(host);
}

static bool is_loopback(const char *host)
{
    return starts_with(host, "127.") || streq(host, "::1") || streq(host, "localhost");
}

static int check_listen(const struct apiserver_options *o, const char *host, struct err *e)
{
    if (o->allow_remote || is_loopback(host))
        return 0;
    return err_bad(e,
                   "--listen %s is not a loopback address: whoever can reach it can try to log in; "
                   "give --allow-remote if that is what you want",
                   o->listen);
}

/* SQLite gives the log the database's mode when it makes it, and leaves one that is there. */
static int protect(const struct store_place *p, struct err *e)
{
    static const char *const ends[] = {"", "-wal", "-shm"};

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        AUTO(free) char *path = xasprintf("%s%s", p->options.path, ends[i]);

        if (chmod(path, 0600) < 0 && errno != ENOENT)
            return err_errno(e, errno, "cannot protect '%s'", path);
    }
    return 0;
}

static int open_state(struct apiserver *s, const struct apiserver_options *o, const char *host,
                      struct err *e)
{
    AUTO(store_place_done) struct store_place place = {0};
    int r = file_make_dirs(o->state_dir, 0700, e);

    if (r < 0)
        return r;
    store_place_init(&place, o->state_dir);
    r = store_place_lock(&place, &s->lock_fd, e);
    if (r == 0)
        r = store_place_refuse_emptied(&place, e);
    if (r == 0)
        r = protect(&place, e);
    if (r == 0)
        r = store_open(&place.options, &s->store, e);
    if (r == 0)
        r = protect(&place, e);
    if (r == 0 && store_note(s->store))
        log_warn("%s", store_note(s->store));
    if (r == 0)
        r = access_new(o->state_dir, host, &s->access, e);
    if (r == 0)
        access_use_store(s->access, s->store);
    return r < 0 ? r : registry_new(&s->registry, e);
}

static bool load_right(void *arg, const struct store_row *row)
{
    rbac_index_put(arg, row->key.resource, row->key.ns, row->key.name, row->data);
    return true;
}

static int load_rights(struct apiserver *s, struct err *e)
{
    static const char *const resources[] = {RBAC_ROLES, RBAC_CLUSTER_ROLES, RBAC_ROLE_BINDINGS,
                                            RBAC_CLUSTER_ROLE_BINDINGS};
    int r = 0;

    for (size_t i = 0; i < ARRAY_LEN(resources) && r == 0; i++) {
        struct store_list q = {.resource = resources[i]};

        r = store_each(s->store, &q, load_right, s->rbac, e);
    }
    if (r == 0)
        r = rbac_bootstrap(s, e);
    return r < 0 ? r : rbac_aggregate_start(s->aggregate, e);
}

static int start_parts(struct apiserver *s, struct err *e)
{
    int r;

    s->watches = watch_hub_new(s);
    s->collector = collector_new(s);
    s->namespaces = namespaces_new(s);
    s->own_service = own_service_new(s);
    s->protection = protection_new(s);
    s->crds = crd_controller_new(s);
    s->rbac = rbac_index_new();
    s->aggregate = rbac_aggregate_new(s);
    s->account_secrets = account_secrets_new(s);
    s->compactor = compactor_new(s);
    s->discovery = discovery_new(s->registry, NULL);
    s->openapi = openapi_new(s->registry);
    store_on_commit(s->store, on_commit, s);
    s->turn_hook = loop_add_turn_hook(s->loop, on_turn_end, s);
    r = crd_controller_start(s->crds, e);
    if (r == 0)
        r = namespaces_start(s->namespaces, e);
    if (r == 0)
        r = identity_tell(s, e);
    if (r == 0)
        r = protection_start(s->protection, e);
    if (r == 0)
        r = collector_start(s->collector, e);
    if (r == 0)
        r = account_secrets_start(s->account_secrets, e);
    if (r == 0)
        r = load_rights(s, e);
    return r < 0 ? r : store_commit(s->store, e);
}

static int start_http(struct apiserver *s, const struct apiserver_options *o, const char *host,
                      struct err *e)
{
    struct http_server_options h = {
        .handler = dispatch_request, .head = dispatch_head, .refusal = dispatch_refusal, .arg = s};
    int r = http_tls_new(access_server_cert(s->access), access_server_key(s->access),
                         access_authority(s->access), &s->tls, e);

    h.tls = s->tls;
    if (r == 0)
        r = http_server_new(s->loop, &h, &s->http, e);
    if (r == 0)
        r = http_server_listen(s->http, o->listen, e);
    if (r == 0)
        r = access_write_kubeconfigs(s->access, host, http_server_port(s->http), e);
    if (r == 0)
        s->renewal = renewal_new(s, host);
    return r;
}

int apiserver_new(struct loop *l, const struct apiserver_options *o, struct apiserver **ret_server,
                  struct err *e)
{
    AUTO(apiserver_free) struct apiserver *s = xcalloc(1, sizeof(*s));
    AUTO(free) char *host = host_of(o->listen);
    int r = check_listen(o, host, e);

    s->loop = l;
    s->lock_fd = -1;
    s->history_ms = o->history_ms;
    s->state_dir = xstrdup(o->state_dir);
    s->node_socket =
        o->node_socket ? xstrdup(o->node_socket) : xasprintf("%s/node.sock", o->state_dir);
    list_init(&s->waiting);
    if (r == 0)
        r = open_state(s, o, host, e);
    if (r == 0)
        r = start_parts(s, e);
    if (r == 0)
        r = start_http(s, o, host, e);
    if (r < 0)
        return r;
    s->ready = true;
    *ret_server = TAKE(s);
    return 0;
}

struct apiserver *apiserver_free(struct apiserver *s)
{
    if (!s)
        return NULL;
    if (s->store && s->watches)
        answer_commit(s);
    s->renewal = renewal_free(s->renewal);
    s->watches = watch_hub_free(s->watches);
    (void)http_server_free(s->http);
    (void)http_tls_free(s->tls);
    (void)crd_controller_free(s->crds);
    (void)account_secrets_free(s->account_secrets);
    (void)rbac_aggregate_free(s->aggregate);
    (void)rbac_index_free(s->rbac);
    (void)protection_free(s->protection);
    (void)own_service_free(s->own_service);
    (void)namespaces_free(s->namespaces);
    (void)collector_free(s->collector);
    (void)compactor_free(s->compactor);
    (void)discovery_free(s->discovery);
    (void)openapi_free(s->openapi);
    (void)loop_source_free(s->turn_hook);
    (void)store_free(s->store);
    (void)registry_free(s->registry);
    (void)access_free(s->access);
    if (s->lock_fd >= 0)
        (void)close(s->lock_fd);
    free(s->node_socket);
    free(s->state_dir);
    free(s->observers);
    free(s);
    return NULL;
}

int apiserver_port(const struct apiserver *s)
{
    return http_server_port(s->http);
}
