/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the HTTP client, by which operator, node and command line read what servers answer.
 *
 * The script is the server: what it says is the answer on the next connection that the client
 * makes. Two calls are under way from the beginning, one whose answer is gathered and one whose
 * answer is streamed; step N n begins another (n odd: streamed), step K gives the oldest up.
 *
 * What must hold: each call ends exactly once, unless it was given up; nothing comes after its end;
 * an answer that is gathered is not longer than was allowed.
 */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/list.h"
#include "src/http/client.h"
#include "tests/fuzz/peers.h"

#define MAX_BODY 20000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct asked {
    struct list link;
    struct world *world;
    struct http_call *call;
    bool streamed;
};

struct world {
    struct loop *loop;
    struct http_client *client;
    struct list calls;
    int listener;
};

static char dir[] = "/dev/shm/fuzz-client-XXXXXX";

static void forget_dir(void)
{
    (void)!file_remove_tree(dir, NULL);
}

static void forget(struct asked *a)
{
    list_remove(&a->link);
    free(a);
}

static void on_chunk(void *arg, int status, struct str data)
{
    struct asked *a = arg;

    assert(a->streamed && status >= 100 && data.p);
}

static void on_done(void *arg, const struct http_answer *answer, const struct err *e)
{
    struct asked *a = arg;

    assert(!answer == !!e);
    if (answer) {
        assert(answer->status >= 100 && answer->status < 1000);
        assert(answer->body.n <= MAX_BODY && (!a->streamed || answer->body.n == 0));
        (void)http_answer_header(answer, "Retry-After");
    } else {
        assert(e->text[0] && e->num < 0);
    }
    forget(a);
}

static void begin_call(struct world *w, bool streamed)
{
    AUTO(free) char *path = xasprintf("%s/s", dir);
    struct asked *a = xcalloc(1, sizeof(*a));
    struct http_call_options o = {.url = "http://server/path?query",
                                  .unix_path = path,
                                  .bearer_token = "secret",
                                  .max_body_bytes = MAX_BODY,
                                  .deadline_ms = -1,
                                  .on_chunk = streamed ? on_chunk : NULL,
                                  .on_done = on_done,
                                  .arg = a};

    *a = (struct asked){.world = w, .streamed = streamed};
    list_append(&w->calls, &a->link);
    a->call = http_client_call(w->client, &o);
}

/* The next connection that the client has made; its request is read and dropped by peers.c. */
static int accept_next(void *arg)
{
    struct world *w = arg;
    int fd = -1;

    for (int i = 0; i < 8 && fd < 0; i++) {
        (void)loop_turn(w->loop, 0);
        fd = accept4(w->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    }
    return fd;
}

static void take_step(void *arg, struct peers *p, char step, unsigned char n)
{
    struct world *w = arg;

    peers_send(p);
    if (step == 'N') {
        begin_call(w, n % 2);
    } else if (step == 'K' && !list_empty(&w->calls)) {
        struct asked *a = LIST_ENTRY(w->calls.next, struct asked, link);

        http_call_cancel(a->call);
        forget(a);
    }
    peers_turn(p, 8);
}

static int listen_here(void)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    static bool made;

    if (!made && (!mkdtemp(dir) || atexit(forget_dir) != 0))
        abort();
    made = true;
    (void)snprintf(un.sun_path, sizeof(un.sun_path), "%s/s", dir);
    (void)unlink(un.sun_path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&un, sizeof(un)) < 0 || listen(fd, 16) < 0)
        abort();
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world w = {.listener = listen_here()};
    struct peers_target t = {.open = accept_next, .step = take_step, .arg = &w};

    script_clock_reset();
    list_init(&w.calls);
    if (loop_new(&w.loop, NULL) < 0 || http_client_new(w.loop, &w.client, NULL) < 0)
        abort();
    begin_call(&w, false);
    begin_call(&w, true);
    peers_run(w.loop, &t, data, size);
    (void)close(w.listener);
    w.client = http_client_free(w.client);
    LIST_FOR_EACH (a, &w.calls, struct asked, link)
        forget(a); /* given up with the client */
    w.loop = loop_free(w.loop);
    return 0;
}
