/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the API server as a whole, from requests of clients to the store and back.
 *
 * There is a server with the workload controllers, on a store that begins empty for each run; the
 * peers of a script send requests one after the other, so that what one made is there for the next.
 * Peers 0 to 2 are known as the administrator, as by a client certificate; peer 3 is nobody.  Time
 * passes by steps: watches end, deletions and looks of controllers come due.
 *
 * The node, to which logs and sessions are handed over, is played here: step N takes the oldest
 * connection to its socket, S sends what has gathered on it, R reads, H ends sending, Q closes it.
 *
 * What must hold: each answer begins as HTTP does; nobody gets nothing but 401 and health.
 */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/apiserver/dispatch.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/store_place.h"
#include "src/cluster/apiserver/store_private.h"
#include "src/cluster/workloads/workloads.h"
#include "src/http/internal.h"
#include "tests/fuzz/peers.h"

#define NOBODY 3
#define MOST_OBJECTS 500
#define MOST_RUNS 500

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
    struct http_server *http;
    struct peers *peers;
};

/* To start takes longer than most runs; so a server is kept as long as nothing is left in it. */
static struct {
    struct loop *loop;
    struct apiserver *server;
    struct workloads *workloads;
    int64_t baseline; /* version of the store, and its objects, before the first run */
    int64_t objects;
    int runs;
    int node; /* listens at node.sock */
    int conn; /* of the API server to it; -1: none */
} kept = {.node = -1, .conn = -1};

static char state[] = "/dev/shm/fuzz-api-XXXXXX";

static void settle(void)
{
    for (int i = 0; i < 64 && loop_turn(kept.loop, 0); i++)
        ;
}

static void forget_state(void)
{
    store_place_forget(state); /* while there is a path to tell it by */
    (void)!file_remove_tree(state, NULL);
}

/* A server begins with nothing: no database, no certificates, no mark of what was written. */
static void prepare_state(void)
{
    static bool made;

    if (!made && !mkdtemp(state))
        abort();
    forget_state(); /* by OpenSSL, which must have begun before us, so that it ends after us */
    if (!made && atexit(forget_state) != 0)
        abort();
    made = true;
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

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static void listen_as_node(void)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};

    (void)snprintf(un.sun_path, sizeof(un.sun_path), "%s/node.sock", state);
    (void)unlink(un.sun_path);
    kept.node = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (kept.node < 0 || bind(kept.node, (struct sockaddr *)&un, sizeof(un)) < 0 ||
        listen(kept.node, 64) < 0)
        abort();
}

static void accept_as_node(void)
{
    close_fd(&kept.conn);
    kept.conn = accept4(kept.node, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/* Whoever still waits to be accepted is of a run that is over. */
static void refuse_as_node(void)
{
    do {
        accept_as_node();
    } while (kept.conn >= 0);
}

static void take_step(void *arg, struct peers *p, char step, unsigned char n)
{
    char data[4096];

    (void)arg;
    (void)n;
    if (step == 'S' && kept.conn >= 0) {
        (void)!send(kept.conn, buf_str(&p->gathered), p->gathered.n, MSG_NOSIGNAL);
        buf_clear(&p->gathered);
    } else {
        peers_send(p);
    }
    if (step == 'N')
        accept_as_node();
    else if (step == 'H' && kept.conn >= 0)
        (void)shutdown(kept.conn, SHUT_WR);
    else if (step == 'Q')
        close_fd(&kept.conn);
    while (step == 'R' && kept.conn >= 0 && recv(kept.conn, data, sizeof(data), 0) > 0)
        ;
    peers_turn(p, 8);
}

static void start_server(void)
{
    struct apiserver_options o = {.state_dir = state, .listen = "127.0.0.1:0"};
    struct err e = {0};

    script_clock_reset();
    prepare_state();
    if (loop_new(&kept.loop, NULL) < 0 || apiserver_new(kept.loop, &o, &kept.server, &e) < 0 ||
        workloads_new(kept.server, &kept.workloads, &e) < 0) {
        (void)fprintf(stderr, "%s\n", e.text);
        abort();
    }
    listen_as_node();
    settle();
    kept.baseline = store_version(kept.server->store);
    kept.runs = 0;
}

static void stop_server(void)
{
    close_fd(&kept.node);
    kept.server = apiserver_free(kept.server);
    kept.workloads = workloads_free(kept.workloads);
    kept.loop = loop_free(kept.loop);
}

/* How many objects have changed since the server began; all of them were there before any run. */
static int64_t count_rows(const char *sql)
{
    sqlite3_stmt *q = NULL;
    int64_t n;

    if (sqlite3_prepare_v2(kept.server->store->db, sql, -1, &q, NULL) != SQLITE_OK)
        abort();
    (void)sqlite3_bind_int64(q, 1, kept.baseline);
    (void)sqlite3_step(q);
    n = sqlite3_column_int64(q, 0);
    (void)sqlite3_finalize(q);
    return n;
}

/* The newest object that is not of the beginning; false: there is none. */
static bool next_made(struct arena *a, struct store_key *ret)
{
    sqlite3_stmt *q = NULL;
    bool found;

    if (sqlite3_prepare_v2(kept.server->store->db,
                           "SELECT resource, ns, name FROM current WHERE rv > ? "
                           "ORDER BY rv DESC LIMIT 1",
                           -1, &q, NULL) != SQLITE_OK)
        abort();
    (void)sqlite3_bind_int64(q, 1, kept.baseline);
    found = sqlite3_step(q) == SQLITE_ROW;
    if (found)
        *ret =
            (struct store_key){arena_str(a, store_column(q, 0)), arena_str(a, store_column(q, 1)),
                               arena_str(a, store_column(q, 2))};
    (void)sqlite3_finalize(q);
    return found;
}

/* Take what the run has made out of the store; the server's own parts hear of it as of any end. */
static void forget_objects(void)
{
    for (int i = 0; i < MOST_OBJECTS; i++) {
        AUTO(arena_done) struct arena a = {0};
        struct store_key key;
        struct store_row row;

        if (!next_made(&a, &key))
            return;
        if (store_get(kept.server->store, &key, &a, &row, NULL) < 0 ||
            store_delete(kept.server->store, &key, row.data, NULL) < 0)
            abort();
        if (i % 16 == 15)
            settle();
    }
}

/* A server goes on to the next run if it is as it was in the beginning. */
static void end_run(void)
{
    static const char all[] = "SELECT count(*) FROM current WHERE rv <= ?";
    int64_t before = kept.objects;

    settle();
    forget_objects();
    settle();
    if (count_rows(all) != before || count_rows("SELECT count(*) FROM current WHERE rv > ?") > 0 ||
        ++kept.runs >= MOST_RUNS)
        stop_server();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world w = {0};
    struct http_server_options h = {.handler = dispatch_request, .refusal = dispatch_refusal};
    struct peers_target t = {.connect = adopt, .send = note_peer, .step = take_step, .arg = &w};

    if (!kept.server) {
        start_server();
        kept.objects = count_rows("SELECT count(*) FROM current WHERE rv <= ?");
    }
    h.arg = kept.server;
    if (http_server_new(kept.loop, &h, &w.http, NULL) < 0)
        abort();
    peers_run(kept.loop, &t, data, size);
    w.http = http_server_free(w.http);
    refuse_as_node();
    end_run();
    return 0;
}
