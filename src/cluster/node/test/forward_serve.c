/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit tests of port-forward: connections that share a stream, one of which does not read.
 *
 * The ports of the pod are listeners of this process; what is inside of a sandbox is played by the
 * functions that the linker puts in place of the real ones.
 */
#include "src/cluster/node/test/parse.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/cluster/node/pods/worker.h"
#include "src/cluster/node/serve/pod_socket.h"
#include "src/cluster/node/serve/serve.h"
#include "src/http/test/client_frame.h"

#define MUCH ((size_t)48 << 20)
#define PIECE 60000

bool __wrap_sandbox_is_ready(const struct sandbox *s);
pid_t __wrap_sandbox_pid(const struct sandbox *s);
int __wrap_pod_socket(pid_t pid);

bool __wrap_sandbox_is_ready(const struct sandbox *s)
{
    (void)s;
    return true;
}

pid_t __wrap_sandbox_pid(const struct sandbox *s)
{
    (void)s;
    return 1;
}

int __wrap_pod_socket(pid_t pid)
{
    (void)pid;
    return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static int listen_somewhere(uint16_t *ret_port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    socklen_t n = sizeof(a);

    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(fd, 4), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
    *ret_port = ntohs(a.sin_port);
    return fd;
}

struct rig {
    struct loop *loop;
    struct node node;
    struct pod_spec spec;
    struct worker worker;
    int client;
    int listeners[2];
    int ports[2]; /* the pod's ends: the first never reads */
};

static void handle(void *arg, struct http_exchange *x)
{
    AUTO(url_query_done) struct url_query q = {0};
    struct rig *r = arg;

    assert_int_equal(url_query_parse(http_exchange_request(x)->query, &q, NULL), 0);
    serve_port_forward(&r->worker, x, &q);
}

static void turn(struct rig *r, int turns)
{
    for (int i = 0; i < turns; i++)
        (void)loop_turn(r->loop, 0);
}

static void rig_init(struct rig *r)
{
    static char uid[] = "u", name[] = "p";
    struct http_server_options o = {.handler = handle, .arg = r};
    uint16_t numbers[2];
    char head[512];
    int pair[2];

    *r = (struct rig){0};
    for (int i = 0; i < 2; i++)
        r->listeners[i] = listen_somewhere(&numbers[i]);
    assert_int_equal(loop_new(&r->loop, NULL), 0);
    r->node.loop = r->loop;
    r->spec.name = name;
    r->worker = (struct worker){.node = &r->node, .uid = uid, .spec = &r->spec};
    map_init(&r->node.workers, NULL);
    (void)map_put(&r->node.workers, STR("u"), &r->worker);
    assert_int_equal(http_server_new(r->loop, &o, &r->node.server, NULL), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    r->client = pair[0];
    http_server_adopt(r->node.server, pair[1]);
    (void)snprintf(head, sizeof(head),
                   "GET /?ports=%u&ports=%u HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\n"
                   "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                   "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n",
                   numbers[0], numbers[1]);
    assert_int_equal(send(r->client, head, strlen(head), 0), strlen(head));
    turn(r, 20);
    for (int i = 0; i < 2; i++)
        assert_true((r->ports[i] = accept(r->listeners[i], NULL, NULL)) >= 0);
}

static void rig_done(struct rig *r)
{
    (void)close(r->client);
    turn(r, 20);
    r->node.server = http_server_free(r->node.server);
    map_done(&r->node.workers);
    for (int i = 0; i < 2; i++) {
        (void)close(r->ports[i]);
        (void)close(r->listeners[i]);
    }
    r->loop = loop_free(r->loop);
}

/* Messages for both ports, the second's small, until nobody takes more or very much was taken. */
static size_t send_to_both(struct rig *r)
{
    static char piece[PIECE];
    AUTO(buf_done) struct buf out = {0};
    size_t sent = 0;

    for (int idle = 0; idle < 2000 && sent < MUCH; idle++) {
        size_t before;

        if (out.n == 0) {
            piece[0] = 0;
            client_frame(&out, 0x82, (struct str){piece, sizeof(piece)});
            client_frame(&out, 0x82, STR("\2x"));
        }
        before = out.n;
        assert_int_equal(buf_send(&out, r->client), 0);
        sent += before - out.n;
        if (out.n != before)
            idle = 0;
        turn(r, 1);
    }
    return sent;
}

static void a_port_that_does_not_read_holds_the_session_up(void **state)
{
    struct rig r;

    (void)state;
    rig_init(&r);
    assert_true(send_to_both(&r) < MUCH);
    rig_done(&r);
}

static bool was_heard(struct rig *r, const char *text)
{
    char data[65536];

    for (int i = 0; i < 2000; i++) {
        ssize_t n = recv(r->ports[1], data, sizeof(data), MSG_DONTWAIT);

        if (n > 0 && memmem(data, (size_t)n, text, strlen(text)))
            return true;
        turn(r, 1);
    }
    return false;
}

static void the_session_goes_on_when_that_port_is_gone(void **state)
{
    struct linger reset = {.l_onoff = 1};
    struct rig r;

    (void)state;
    rig_init(&r);
    (void)send_to_both(&r);
    while (recv(r.ports[1], (char[4096]){0}, 4096, MSG_DONTWAIT) > 0)
        ;
    assert_false(was_heard(&r, "x"));
    (void)setsockopt(r.ports[0], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    (void)close(r.ports[0]);
    r.ports[0] = dup(r.ports[1]);
    assert_true(was_heard(&r, "x")); /* what had waited, at the least */
    rig_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_port_that_does_not_read_holds_the_session_up),
        cmocka_unit_test(the_session_goes_on_when_that_port_is_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
