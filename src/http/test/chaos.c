/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server among unruly clients: seeded chance decides what they send, when they leave, and when
 * and how the handler answers.
 *
 * What must hold: every exchange is answered by its owner or reported as closed, exactly once and
 * never both; when all clients have left, no connection and no exchange is left; nothing is touched
 * after it is freed (the sanitizers see to that).
 */
#include "src/base/test/unit.h"

#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/base/list.h"
#include "src/http/server.h"

enum { CLIENTS = 24, STEPS = 4000, SEEDS = 40 };

enum stage { WAITING, STREAMING, RAW };

/* One exchange that has not ended. */
struct pending {
    struct list link;
    struct chaos *chaos;
    enum stage stage;
    struct http_exchange *x;
    struct http_raw *raw;
};

struct chaos {
    struct loop *loop;
    struct http_server *server;
    struct list pending;
    int n_pending;
    unsigned int seed;
    int clients[CLIENTS];
    int handled, answered, closed;
};

static unsigned int chance(struct chaos *c, unsigned int n)
{
    return (unsigned int)rand_r(&c->seed) % n;
}

static void drop(struct pending *p)
{
    list_remove(&p->link);
    p->chaos->n_pending--;
    free(p);
}

static void was_closed(void *arg)
{
    struct pending *p = arg;

    p->chaos->closed++;
    drop(p);
}

static void got_data(void *arg, struct str data)
{
    struct pending *p = arg;

    if (chance(p->chaos, 4) == 0) {
        http_raw_close(p->raw);
        p->chaos->answered++;
        drop(p);
        return;
    }
    http_raw_write(p->raw, data);
    http_raw_pause(p->raw, chance(p->chaos, 3) == 0);
}

static void reply(struct pending *p)
{
    static char body[100000];

    http_reply(p->x, 200, "text/plain", NULL, (struct str){body, chance(p->chaos, sizeof(body))});
    p->chaos->answered++;
    drop(p);
}

/* Do something with an exchange. */
static void act(struct pending *p)
{
    struct chaos *c = p->chaos;
    static char piece[30000];

    switch (p->stage) {
    case WAITING:
        if (chance(c, 2)) {
            reply(p);
        } else if (chance(c, 2)) {
            p->stage = STREAMING;
            http_stream_begin(p->x, 200, "text/plain", NULL);
        } else {
            p->stage = RAW;
            p->raw = http_upgrade(p->x, "Connection: Upgrade\r\n", got_data, was_closed, p);
        }
        break;
    case STREAMING:
        http_stream_write(p->x, (struct str){piece, chance(c, sizeof(piece))});
        if (chance(c, 4) == 0) {
            http_stream_end(p->x);
            c->answered++;
            drop(p);
        }
        break;
    case RAW:
        http_raw_write(p->raw, (struct str){piece, chance(c, sizeof(piece))});
        http_raw_pause(p->raw, chance(c, 2) == 0);
        if (chance(c, 4) == 0) {
            http_raw_close(p->raw);
            c->answered++;
            drop(p);
        }
        break;
    }
}

static void handle(void *arg, struct http_exchange *x)
{
    struct pending *p = xcalloc(1, sizeof(*p));
    struct chaos *c = arg;

    *p = (struct pending){.chaos = c, .x = x};
    list_append(&c->pending, &p->link);
    c->n_pending++;
    c->handled++;
    http_exchange_on_close(x, was_closed, p);
    if (chance(c, 3) == 0)
        act(p);
}

static const char *const lines[] = {
    "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
    "HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe",
    "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
    "GET / HTTP/1.0\r\n\r\n",
    "GET / HTTP/1.1\r\n",
    "GET / HTTP/9.9\r\nHost: h\r\n\r\n",
    "nonsense\r\n\r\n",
    "\r\n",
    "x",
};

static void connect_client(struct chaos *c, int i)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    http_server_adopt(c->server, fds[0]);
    c->clients[i] = fds[1];
}

static void client_step(struct chaos *c, int i)
{
    static char sink[200000];
    const char *line = lines[chance(c, ARRAY_LEN(lines))];

    if (c->clients[i] < 0) {
        connect_client(c, i);
        return;
    }
    switch (chance(c, 12)) {
    case 0:
        (void)close(TAKE_FD(c->clients[i]));
        break;
    case 1:
        (void)shutdown(c->clients[i], SHUT_WR);
        break;
    case 2:
    case 3:
        (void)!recv(c->clients[i], sink, chance(c, sizeof(sink)) + 1, 0);
        break;
    default:
        if (send(c->clients[i], line, strlen(line), MSG_NOSIGNAL) < 0 && errno == EPIPE)
            (void)close(TAKE_FD(c->clients[i]));
        break;
    }
}

static void owner_step(struct chaos *c)
{
    unsigned int skip = c->n_pending ? chance(c, (unsigned int)c->n_pending) : 0;

    LIST_FOR_EACH (p, &c->pending, struct pending, link) {
        if (skip-- == 0) {
            act(p);
            break;
        }
    }
}

static void run(unsigned int seed, int *total_answered, int *total_closed)
{
    struct chaos c = {.seed = seed};
    struct http_server_options o = {.handler = handle,
                                    .arg = &c,
                                    .limits = {.max_body_bytes = 1000,
                                               .max_stream_backlog_bytes = 300000,
                                               .header_timeout_ms = 3,
                                               .body_timeout_ms = 3,
                                               .idle_timeout_ms = 5}};
    struct err e = {0};

    list_init(&c.pending);
    assert_int_equal(loop_new(&c.loop, &e), 0);
    assert_int_equal(http_server_new(c.loop, &o, &c.server, &e), 0);
    for (int i = 0; i < CLIENTS; i++)
        connect_client(&c, i);
    for (int step = 0; step < STEPS; step++) {
        client_step(&c, (int)chance(&c, CLIENTS));
        if (chance(&c, 8) == 0)
            owner_step(&c);
        if (chance(&c, 3) == 0)
            (void)loop_turn(c.loop, 0);
    }
    /* Half of the time everybody leaves, half of the time the server goes first. */
    if (seed % 2) {
        for (int i = 0; i < CLIENTS; i++)
            if (c.clients[i] >= 0)
                (void)close(TAKE_FD(c.clients[i]));
        LIST_FOR_EACH (p, &c.pending, struct pending, link) {
            if (p->stage == RAW)
                http_raw_pause(p->raw, false); /* who does not read does not see the end */
        }
        for (int i = 0; i < 100 && http_server_connections(c.server); i++)
            (void)loop_turn(c.loop, 10);
        assert_int_equal(http_server_connections(c.server), 0);
        assert_true(list_empty(&c.pending));
    }
    c.server = http_server_free(c.server);
    assert_true(list_empty(&c.pending));
    assert_int_equal(c.handled, c.answered + c.closed);
    *total_answered += c.answered;
    *total_closed += c.closed;
    for (int i = 0; i < CLIENTS; i++)
        if (c.clients[i] >= 0)
            (void)close(c.clients[i]);
    c.loop = loop_free(c.loop);
}

static void unruly_clients_leave_nothing_behind(void **state)
{
    int answered = 0, closed = 0;

    (void)state;
    for (unsigned int seed = 1; seed <= SEEDS; seed++)
        run(seed, &answered, &closed);
    print_message("%d exchanges answered, %d closed\n", answered, closed);
    assert_true(answered > 1000 && closed > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unruly_clients_leave_nothing_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
