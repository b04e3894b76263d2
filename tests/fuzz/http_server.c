/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the HTTP server with its connections, timers and limits.
 *
 * Peers say what the script says (peers.h); the handler does what the path says: "/now" answers,
 * "/later" keeps the exchange for the steps below, "/big" answers more than a socket takes,
 * "/stream" begins a stream, "/raw" upgrades and echoes, "/hijack" takes over without an answer.
 * Steps on what is kept, oldest first: A answers, S begins a stream, W writes to it, N ends it,
 * U upgrades, P pauses or goes on reading, K closes.
 *
 * What must hold: each exchange is answered by its owner or reported as closed, never both; when
 * the peers have left nothing is left.
 */
#include "src/base/alloc.h"
#include "src/base/list.h"
#include "src/http/server.h"
#include "tests/fuzz/peers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum stage { WAITING, STREAMING, RAW };

struct kept {
    struct list link;
    struct world *world;
    enum stage stage;
    struct http_exchange *x;
    struct http_raw *raw;
};

struct world {
    struct http_server *server;
    struct list kept;
};

static char large[200000];

static void forget(struct kept *k)
{
    list_remove(&k->link);
    free(k);
}

static void on_close(void *arg)
{
    forget(arg);
}

static void on_drain(void *arg)
{
    struct kept *k = arg;

    if (k->stage == STREAMING)
        http_stream_write(k->x, STR("drained\n"));
    else
        http_raw_pause(k->raw, false);
}

static void on_data(void *arg, struct str data)
{
    struct kept *k = arg;

    http_raw_write(k->raw, data);
    http_raw_pause(k->raw, http_raw_backlog(k->raw) > 20000);
}

static void begin_stream(struct kept *k)
{
    k->stage = STREAMING;
    http_stream_begin(k->x, 200, "text/plain", NULL);
    http_stream_on_drain(k->x, on_drain, k);
}

static void upgrade(struct kept *k, bool hijack)
{
    k->stage = RAW;
    if (hijack)
        k->raw = http_hijack(k->x, on_data, on_close, k);
    else
        k->raw =
            http_upgrade(k->x, "Connection: Upgrade\r\nUpgrade: echo\r\n", on_data, on_close, k);
    http_raw_on_drain(k->raw, on_drain, k);
}

static void answer(struct kept *k, size_t bytes)
{
    http_reply(k->x, 200, "text/plain", NULL, (struct str){large, bytes});
    forget(k);
}

static void check_request(const struct http_exchange *x)
{
    const struct http_request *q = http_exchange_request(x);

    assert(q->path[0] == '/' && q->method[0] && q->query && q->peer);
    assert(q->body.n == 0 || q->body_present);
    (void)http_request_header(x, "Authorization");
    (void)http_request_lists(x, "Connection", "upgrade");
}

static void handle(void *arg, struct http_exchange *x)
{
    const char *path = http_exchange_request(x)->path;
    struct kept *k = xcalloc(1, sizeof(*k));
    struct world *w = arg;

    check_request(x);
    *k = (struct kept){.world = w, .x = x};
    list_append(&w->kept, &k->link);
    if (streq(path, "/hijack") || streq(path, "/raw")) {
        upgrade(k, path[1] == 'h');
        return;
    }
    http_exchange_on_close(x, on_close, k);
    if (streq(path, "/stream"))
        begin_stream(k);
    else if (streq(path, "/big"))
        answer(k, sizeof(large));
    else if (!streq(path, "/later"))
        answer(k, 10);
}

static void act_waiting(struct kept *k, char step, unsigned char n)
{
    if (step == 'A')
        answer(k, (size_t)n * 700);
    else if (step == 'S')
        begin_stream(k);
    else if (step == 'U')
        upgrade(k, n % 2);
}

static void act_streaming(struct kept *k, char step, unsigned char n)
{
    if (step == 'W') {
        http_stream_write(k->x, (struct str){large, (size_t)n * 700});
    } else if (step == 'N') {
        http_stream_end(k->x);
        forget(k);
    }
}

static void act_raw(struct kept *k, char step, unsigned char n)
{
    if (step == 'W') {
        http_raw_write(k->raw, (struct str){large, (size_t)n * 700});
    } else if (step == 'P') {
        http_raw_pause(k->raw, n % 2);
    } else if (step == 'K') {
        http_raw_close(k->raw);
        forget(k);
    }
}

static void take_step(void *arg, struct peers *p, char step, unsigned char n)
{
    static void (*const acts[])(struct kept *k, char step, unsigned char n) = {
        [WAITING] = act_waiting, [STREAMING] = act_streaming, [RAW] = act_raw};
    struct world *w = arg;

    peers_send(p);
    if (!list_empty(&w->kept)) {
        struct kept *k = LIST_ENTRY(w->kept.next, struct kept, link);

        acts[k->stage](k, step, n);
    }
    peers_turn(p, 8);
}

static void adopt(void *arg, int fd)
{
    struct world *w = arg;

    http_server_adopt(w->server, fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(loop_free) struct loop *loop = NULL;
    struct world w = {0};
    struct http_server_options o = {.handler = handle,
                                    .arg = &w,
                                    .limits = {.max_body_bytes = 20000,
                                               .max_header_bytes = 4096,
                                               .max_stream_backlog_bytes = 100000}};
    struct peers_target t = {.connect = adopt, .step = take_step, .arg = &w};

    list_init(&w.kept);
    script_clock_reset();
    if (loop_new(&loop, NULL) < 0 || http_server_new(loop, &o, &w.server, NULL) < 0)
        abort();
    peers_run(loop, &t, data, size);
    w.server = http_server_free(w.server);
    if (!list_empty(&w.kept))
        abort();
    return 0;
}
