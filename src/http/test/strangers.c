/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of credentials first: what strangers can make the server keep, and whom they hinder.
 */
#include "src/http/test/handlers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/http/peer.h"

#define AUTH "Authorization: yes\r\n"
#define POST(headers) "POST / HTTP/1.1\r\nHost: h\r\n" headers "\r\n"

static int judged;

/* "Authorization: yes" is known, as X-User says or ann; "no" is refused at once. */
static void judge(void *arg, const struct http_exchange *x, struct http_verdict *v)
{
    const char *header = http_request_header(x, "Authorization");
    const char *user = http_request_header(x, "X-User");

    (void)arg;
    judged++;
    assert_int_equal(http_exchange_request(x)->body.n, 0);
    v->known = streq(header, "yes");
    (void)snprintf(v->identity, sizeof(v->identity), "%s", user ? user : "ann");
    if (streq(header, "no")) {
        v->refuse = 403;
        v->why = "not you";
    }
}

static void init(struct rig *r, http_handler_fn handler, void *arg, struct http_limits limits)
{
    struct http_server_options o = {
        .handler = handler, .head = judge, .arg = arg, .limits = limits, .distrust = true};

    judged = 0;
    rig_init_with(r, &o);
}

static void a_strangers_body_is_refused_before_it_is_kept(void **state)
{
    static const struct {
        const char *request;
        const char *answer;
    } table[] = {
        {POST("Content-Length: 4\r\n") "abcd", "HTTP/1.1 200 "},
        {POST("Content-Length: 9\r\n"), "HTTP/1.1 401 "},
        {POST("Content-Length: 9\r\nExpect: 100-continue\r\n"), "HTTP/1.1 401 "},
        {POST("Content-Length: 4\r\nExpect: 100-continue\r\n"), "HTTP/1.1 100 "},
        {POST("Transfer-Encoding: chunked\r\n") "9\r\nabcdefghi\r\n", "HTTP/1.1 401 "},
        {POST("Transfer-Encoding: chunked\r\n") "4\r\nabcd\r\n0\r\n\r\n", "HTTP/1.1 200 "},
        {POST(AUTH "Content-Length: 9\r\n") "abcdefghi", "HTTP/1.1 200 "},
        {POST(AUTH "Content-Length: 99\r\n"), "HTTP/1.1 413 "},
        {POST("Authorization: no\r\nContent-Length: 1\r\n"), "HTTP/1.1 403 "},
        {POST("Authorization: no\r\n"), "HTTP/1.1 403 "},
    };
    const struct http_limits limits = {.max_stranger_body_bytes = 8, .max_body_bytes = 64};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct rig r;

        init(&r, echo, NULL, limits);
        assert_memory_equal(rig_ask(&r, table[i].request), table[i].answer,
                            strlen(table[i].answer));
        rig_done(&r);
    }
}

static void small_bodies_of_a_stranger_add_up(void **state)
{
    const struct http_limits limits = {.max_stranger_body_bytes = 8};
    struct rig r;

    (void)state;
    init(&r, echo, NULL, limits);
    assert_memory_equal(rig_ask(&r, POST("Content-Length: 5\r\n") "abcde"), "HTTP/1.1 200", 12);
    assert_memory_equal(rig_ask(&r, POST("Content-Length: 5\r\n") "abcde"), "HTTP/1.1 401", 12);
    rig_settle(&r, 0);
    assert_true(r.ended);
    rig_done(&r);
}

static void whoever_is_refused_can_still_read_why(void **state)
{
    AUTO(free) char *body = xcalloc(1, 1 << 20);
    struct rig r;

    (void)state;
    init(&r, echo, NULL, (struct http_limits){0});
    rig_send(&r, POST("Content-Length: 1048576\r\n"));
    rig_send_bytes(&r, (struct str){body, 1 << 20}); /* all of it is taken, and dropped */
    rig_settle(&r, 0);
    assert_memory_equal(buf_str(&r.got), "HTTP/1.1 401", 12);
    assert_non_null(strstr(buf_str(&r.got), "WWW-Authenticate: Bearer\r\n"));
    assert_true(r.ended);
    rig_done(&r);
}

static void a_known_connection_is_judged_again_only_for_bodies(void **state)
{
    struct rig r;

    (void)state;
    init(&r, echo, NULL, (struct http_limits){0});
    (void)rig_ask(&r, "GET / HTTP/1.1\r\nHost: h\r\n" AUTH "\r\n");
    (void)rig_ask(&r, "GET / HTTP/1.1\r\nHost: h\r\n" AUTH "\r\n");
    assert_int_equal(judged, 1);
    (void)rig_ask(&r, POST(AUTH "Content-Length: 1\r\n") "x");
    assert_int_equal(judged, 2);
    assert_memory_equal(rig_ask(&r, POST("Content-Length: 70000\r\n")), "HTTP/1.1 401", 12);
    rig_done(&r);
}

static int plug_many(struct rig *r, int *fds, int n)
{
    int open = 0;
    char c;

    for (int i = 0; i < n; i++)
        fds[i] = rig_plug(r);
    rig_settle(r, 0);
    for (int i = 0; i < n; i++)
        open += recv(fds[i], &c, 1, MSG_PEEK) != 0;
    return open;
}

static void close_many(int *fds, int n)
{
    for (int i = 0; i < n; i++)
        (void)close(fds[i]);
}

static void idle_strangers_do_not_displace_who_is_known(void **state)
{
    const struct http_limits limits = {.max_strangers = 8, .max_connections = 16};
    int fds[100];
    struct rig r;

    (void)state;
    init(&r, echo, NULL, limits);
    (void)rig_ask(&r, "GET / HTTP/1.1\r\nHost: h\r\n" AUTH "\r\n");
    assert_int_equal(plug_many(&r, fds, 100), 4); /* half of the strangers' share */
    assert_int_equal(http_server_connections(r.server), 5);
    assert_memory_equal(rig_ask(&r, GET("/")), "HTTP/1.1 200", 12);
    close_many(fds, 100);
    rig_done(&r);
}

static void slow_heads_have_a_ceiling_together(void **state)
{
    const struct http_limits limits = {.max_stranger_bytes = 100 << 10};
    AUTO(free) char *head = xcalloc(1, 32 << 10);
    struct rig r;
    int fds[50];
    int open = 0;
    char c;

    (void)state;
    memset(head, 'x', 32 << 10);
    init(&r, echo, NULL, limits);
    (void)rig_ask(&r, "GET / HTTP/1.1\r\nHost: h\r\n" AUTH "\r\n");
    for (int i = 0; i < 50; i++) {
        fds[i] = rig_plug(&r);
        assert_int_equal(send(fds[i], head, 32 << 10, MSG_NOSIGNAL), 32 << 10);
        (void)loop_turn(r.loop, 0);
    }
    for (int i = 0; i < 50; i++)
        open += recv(fds[i], &c, 1, MSG_PEEK) != 0;
    assert_in_range(open, 1, 3);
    assert_memory_equal(rig_ask(&r, GET("/")), "HTTP/1.1 200", 12);
    close_many(fds, 50);
    rig_done(&r);
}

static void a_stranger_that_drips_its_body_is_timed_out(void **state)
{
    const struct http_limits limits = {.body_timeout_ms = 60};
    struct rig r;

    (void)state;
    init(&r, echo, NULL, limits);
    rig_send(&r, POST("Content-Length: 1000\r\n"));
    for (int i = 0; i < 60 && !r.ended; i++) {
        rig_send(&r, "x");
        rig_settle(&r, 5);
    }
    assert_true(r.ended);
    assert_non_null(strstr(buf_str(&r.got), "HTTP/1.1 408 "));
    rig_done(&r);
}

static void bodies_wait_for_room_and_then_go_on(void **state)
{
    const struct http_limits limits = {.max_bodies_bytes = 16, .max_body_bytes = 16};
    struct later t = {0};
    struct rig r;
    int second;

    (void)state;
    init(&r, keep, &t, limits);
    second = rig_plug(&r);
    (void)rig_ask(&r, POST(AUTH "Content-Length: 6\r\n") "first!");
    assert_int_equal(t.n, 1);
    assert_true(send(second, POST(AUTH "Content-Length: 6\r\nExpect: 100-continue\r\n"),
                     strlen(POST(AUTH "Content-Length: 6\r\nExpect: 100-continue\r\n")), 0) > 0);
    assert_true(send(second, "second", 6, 0) > 0);
    rig_settle(&r, 0);
    assert_int_equal(t.n, 1); /* it is the same identity: it may have half of 16 */
    http_reply(t.x[0], 200, "text/plain", NULL, STR(""));
    rig_settle(&r, 0);
    assert_int_equal(t.n, 2);
    assert_memory_equal(http_exchange_request(t.x[1])->body.p, "second", 6);
    (void)close(second);
    rig_done(&r);
    assert_int_equal(t.closed, 1);
}

static void who_waits_for_its_own_share_holds_up_nobody_else(void **state)
{
    const struct http_limits limits = {.max_bodies_bytes = 32, .max_body_bytes = 16};
    static const char anns[] = POST(AUTH "Content-Length: 16\r\n") "half of a body";
    struct later t = {0};
    struct rig r;
    int fds[2];

    (void)state;
    init(&r, keep, &t, limits);
    for (int i = 0; i < 2; i++) {
        fds[i] = rig_plug(&r);
        assert_true(send(fds[i], anns, strlen(anns), 0) > 0);
        rig_settle(&r, 0);
    }
    (void)rig_ask(&r, POST(AUTH "X-User: bob\r\nContent-Length: 3\r\n") "bob");
    assert_int_equal(t.n, 1);
    assert_memory_equal(http_exchange_request(t.x[0])->body.p, "bob", 3);
    close_many(fds, 2);
    rig_done(&r);
}

static void a_body_that_waits_too_long_is_told_so(void **state)
{
    const struct http_limits limits = {
        .max_bodies_bytes = 16, .max_body_bytes = 16, .body_timeout_ms = 40};
    struct later t = {0};
    struct rig r;
    int first;

    (void)state;
    init(&r, keep, &t, limits);
    first = rig_plug(&r);
    assert_true(send(first, POST(AUTH "Content-Length: 9\r\n") "123456789",
                     strlen(POST(AUTH "Content-Length: 9\r\n") "123456789"), 0) > 0);
    rig_settle(&r, 0);
    rig_send(&r, POST(AUTH "Content-Length: 9\r\n") "123456789");
    for (int k = 0; k < 20 && !r.ended; k++)
        rig_settle(&r, 10);
    assert_memory_equal(buf_str(&r.got), "HTTP/1.1 503", 12);
    (void)close(first);
    rig_done(&r);
}

static void few_descriptors_are_shared_and_never_all_used(void **state)
{
    struct rlimit old, low;
    struct rig r;
    int probe, open;
    int fds[60];

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    init(&r, echo, NULL, (struct http_limits){0});
    (void)rig_ask(&r, "GET / HTTP/1.1\r\nHost: h\r\n" AUTH "\r\n");
    low = (struct rlimit){64 + 60, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    open = plug_many(&r, fds, 60);
    assert_in_range(open, 1, 55);
    probe = dup(0); /* the test's own ends have numbers from below, too */
    assert_true(probe >= 0);
    assert_memory_equal(rig_ask(&r, GET("/")), "HTTP/1.1 200", 12);
    (void)close(probe);
    close_many(fds, 60);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    rig_done(&r);
}

static int connected(const char *from, int listener)
{
    struct sockaddr_in at = {.sin_family = AF_INET}, own = {.sin_family = AF_INET};
    socklen_t n = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &n), 0);
    assert_int_equal(inet_pton(AF_INET, from, &own.sin_addr), 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof(own)), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    return fd;
}

static void peers_within_the_machine_are_told_apart_by_user(void **state)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    AUTO(free) char *own = xasprintf("uid %u", geteuid());
    static const char *const sources[] = {"127.0.0.1", "127.9.8.7"};

    (void)state;
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(listener, 4), 0);
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        int client = connected(sources[i], listener);
        int fd = accept(listener, NULL, NULL);
        bool relayed = i == 1 && geteuid() == 0;
        struct peer p;

        peer_learn(fd, &p);
        assert_string_equal(p.account, relayed ? sources[i] : own);
        assert_int_equal(p.trusted, !relayed);
        free(p.text);
        free(p.account);
        (void)close(client);
        peer_learn(fd, &p); /* the other end has no owner any more: nobody is blamed */
        assert_string_equal(p.account, "this machine");
        assert_false(p.trusted);
        free(p.text);
        free(p.account);
        (void)close(fd);
    }
    (void)close(listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_strangers_body_is_refused_before_it_is_kept),
        cmocka_unit_test(small_bodies_of_a_stranger_add_up),
        cmocka_unit_test(whoever_is_refused_can_still_read_why),
        cmocka_unit_test(a_known_connection_is_judged_again_only_for_bodies),
        cmocka_unit_test(idle_strangers_do_not_displace_who_is_known),
        cmocka_unit_test(slow_heads_have_a_ceiling_together),
        cmocka_unit_test(a_stranger_that_drips_its_body_is_timed_out),
        cmocka_unit_test(bodies_wait_for_room_and_then_go_on),
        cmocka_unit_test(who_waits_for_its_own_share_holds_up_nobody_else),
        cmocka_unit_test(a_body_that_waits_too_long_is_told_so),
        cmocka_unit_test(few_descriptors_are_shared_and_never_all_used),
        cmocka_unit_test(peers_within_the_machine_are_told_apart_by_user),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
