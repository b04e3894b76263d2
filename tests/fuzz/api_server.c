/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the API server as a whole, from requests of clients to the store and back.
 *
 * Each run has a server of its own with the workload controllers, on a store that begins empty; the
 * peers of a script send requests one after the other, so that what one made is there for the next.
 * Peers 0 to 2 are known as the administrator, as by a client certificate; peer 3 is nobody.  Time
 * passes by steps: watches end, deletions and looks of controllers come due.
 *
 * What must hold: each answer begins as HTTP does; nobody gets nothing but 401 and health.
 */
#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/apiserver/dispatch.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/store_place.h"
#include "src/cluster/workloads/workloads.h"
#include "src/http/internal.h"
#include "tests/fuzz/peers.h"

#define NOBODY 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
    struct http_server *http;
    struct peers *peers;
};

static char state[] = "/dev/shm/fuzz-api-XXXXXX";

static void forget_state(void)
{
    (void)!file_remove_tree(state, NULL);
}

#define DB_MAX_BYTES (1 << 20)

/* What a store that was never written to consists of. */
static struct pristine {
    const char *name;
    char *text;
    size_t n;
} pristine[] = {{"api.db"}, {"api.mark"}};

static void make_pristine(void)
{
    AUTO(store_place_done) struct store_place place = {0};
    struct store *store = NULL;

    if (!mkdtemp(state) || atexit(forget_state) != 0)
        abort();
    store_place_init(&place, state);
    if (store_open(&place.options, &store, NULL) < 0)
        abort();
    (void)store_free(store);
    for (size_t i = 0; i < ARRAY_LEN(pristine); i++) {
        AUTO(free) char *path = xasprintf("%s/%s", state, pristine[i].name);

        if (file_read(path, DB_MAX_BYTES, &pristine[i].text, &pristine[i].n, NULL) < 0)
            abort();
    }
}

/* Certificates are made once; the database is every run's own. */
static void prepare_state(void)
{
    static const char *const left[] = {"api.db-wal", "api.db-shm"};

    if (!pristine[0].text)
        make_pristine();
    for (size_t i = 0; i < ARRAY_LEN(left); i++) {
        AUTO(free) char *path = xasprintf("%s/%s", state, left[i]);

        (void)unlink(path);
    }
    for (size_t i = 0; i < ARRAY_LEN(pristine); i++) {
        AUTO(free) char *path = xasprintf("%s/%s", state, pristine[i].name);

        if (file_write(path, (struct str){pristine[i].text, pristine[i].n}, 0600, NULL) < 0)
            abort();
    }
}

/* What a verified certificate of the administrator would have said. */
static void name_peer(struct conn *c)
{
    c->tls_cn = xstrdup("kubernetes-admin");
    c->tls_orgs = xcalloc(3, sizeof(*c->tls_orgs));
    c->tls_orgs[0] = xstrdup("system:masters");
}

static void adopt(void *arg, int fd)
{
    struct world *w = arg;

    http_server_adopt(w->http, fd);
    if (w->peers->now != NOBODY && !list_empty(&w->http->conns))
        name_peer(LIST_ENTRY(w->http->conns.prev, struct conn, link));
}

/* Remembers who is speaking, before the first of its bytes makes a connection. */
static bool note_peer(void *arg, struct peers *p)
{
    struct world *w = arg;

    w->peers = p;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(loop_free) struct loop *loop = NULL;
    AUTO(workloads_free) struct workloads *workloads = NULL;
    AUTO(apiserver_free) struct apiserver *server = NULL;
    struct apiserver_options o = {.state_dir = state, .listen = "127.0.0.1:0"};
    struct world w = {0};
    struct http_server_options h = {.handler = dispatch_request, .refusal = dispatch_refusal};
    struct peers_target t = {.connect = adopt, .send = note_peer, .arg = &w};
    struct err e = {0};

    script_clock_reset();
    prepare_state();
    if (loop_new(&loop, NULL) < 0 || apiserver_new(loop, &o, &server, &e) < 0 ||
        workloads_new(server, &workloads, &e) < 0) {
        (void)fprintf(stderr, "%s\n", e.text);
        abort();
    }
    h.arg = server;
    if (http_server_new(loop, &h, &w.http, NULL) < 0)
        abort();
    peers_run(loop, &t, data, size);
    w.http = http_server_free(w.http);
    return 0;
}
