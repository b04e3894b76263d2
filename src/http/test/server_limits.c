/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the server's limits: slow peers, too many of them, addresses to listen on. */
#include "src/http/test/handlers.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "src/base/alloc.h"
#include "src/base/file.h"

static void slow_peers_are_timed_out(void **state)
{
    static const struct {
        const char *begin;
        const char *answer;
    } table[] = {
        {"", ""},
        {"GET / HT", "HTTP/1.1 408 "},
        {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab", "HTTP/1.1 408 "},
        {GET("/"), "HTTP/1.1 200 "},
    };
    const struct http_limits limits = {
        .header_timeout_ms = 30, .body_timeout_ms = 30, .idle_timeout_ms = 30};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct rig r;

        rig_init(&r, echo, NULL, &limits);
        rig_send(&r, table[i].begin);
        for (int k = 0; k < 20 && !r.ended; k++)
            rig_settle(&r, 10);
        assert_memory_equal(buf_str(&r.got), table[i].answer, strlen(table[i].answer));
        assert_true(r.ended);
        rig_done(&r);
    }
}

static void a_dripping_head_does_not_move_its_deadline(void **state)
{
    const struct http_limits limits = {.header_timeout_ms = 60};
    struct rig r;

    (void)state;
    rig_init(&r, echo, NULL, &limits);
    for (int i = 0; i < 40 && !r.ended; i++) {
        rig_send(&r, i ? "x" : "GET /");
        rig_settle(&r, 5);
    }
    assert_true(r.ended);
    assert_non_null(strstr(buf_str(&r.got), "HTTP/1.1 408 "));
    rig_done(&r);
}

static bool is_closed(int fd)
{
    char c;

    return recv(fd, &c, 1, MSG_PEEK) == 0;
}

static void beyond_the_cap_the_oldest_idle_connection_gives_way(void **state)
{
    const struct http_limits limits = {.max_connections = 2};
    struct rig r;
    int second, third;

    (void)state;
    rig_init(&r, echo, NULL, &limits);
    second = rig_plug(&r);
    assert_memory_equal(rig_ask(&r, GET("/")), "HTTP/1.1 200", 12);
    third = rig_plug(&r);
    assert_true(is_closed(second));
    assert_false(is_closed(third));
    assert_memory_equal(rig_ask(&r, GET("/")), "HTTP/1.1 200", 12);
    (void)close(second);
    (void)close(third);
    rig_done(&r);
}

static void where_none_is_idle_the_new_connection_is_closed(void **state)
{
    const struct http_limits limits = {.max_connections = 1};
    struct later t = {0};
    struct rig r;
    int second;

    (void)state;
    rig_init(&r, keep, &t, &limits);
    (void)rig_ask(&r, GET("/"));
    second = rig_plug(&r);
    assert_true(is_closed(second));
    http_reply(t.x[0], 200, "text/plain", NULL, STR("late"));
    assert_memory_equal(rig_ask(&r, ""), "HTTP/1.1 200", 12);
    (void)close(second);
    rig_done(&r);
}

static int connect_unix(const char *path)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    memcpy(addr.sun_path, path, strlen(path) + 1);
    if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

static void out_of_descriptors_the_server_waits_and_goes_on(void **state)
{
    char dir[] = "/tmp/http-test-XXXXXX";
    AUTO(free) char *path = NULL;
    AUTO(free) char *address = NULL;
    struct rlimit old, low;
    struct rig r;
    struct err e = {0};
    int fd;

    (void)state;
    assert_non_null(mkdtemp(dir));
    path = xasprintf("%s/sock", dir);
    address = xasprintf("unix:%s", path);
    rig_init(&r, echo, NULL, NULL);
    assert_int_equal(http_server_listen(r.server, address, &e), 0);
    rig_hang_up(&r);
    fd = connect_unix(path);
    assert_true(fd >= 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    low = (struct rlimit){3, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    for (int i = 0; i < 5; i++)
        (void)loop_turn(r.loop, 0);
    assert_int_equal(http_server_connections(r.server), 0);
    assert_int_equal(loop_turn(r.loop, 0), 0); /* and does not spin */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    r.peer = fd;
    r.ended = false;
    rig_settle(&r, 150);
    assert_memory_equal(rig_ask(&r, GET("/")), "HTTP/1.1 200", 12);
    rig_done(&r);
    assert_int_equal(file_remove_tree(dir, &e), 0);
}

static void a_dead_socket_file_is_replaced_and_a_live_one_not(void **state)
{
    char dir[] = "/tmp/http-test-XXXXXX";
    AUTO(free) char *address = NULL;
    struct rig a, b;
    struct err e = {0};
    int fd;

    (void)state;
    assert_non_null(mkdtemp(dir));
    address = xasprintf("unix:%s/sock", dir);
    rig_init(&a, echo, NULL, NULL);
    rig_init(&b, echo, NULL, NULL);
    assert_int_equal(http_server_listen(a.server, address, &e), 0);
    assert_int_equal(http_server_listen(b.server, address, &e), -EADDRINUSE);
    assert_non_null(strstr(e.text, "cannot bind to"));
    rig_done(&a);
    assert_int_equal(connect_unix(address + 5), -1);
    /* A socket that nobody listens on any more. */
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    memcpy(addr.sun_path, address + 5, strlen(address + 5) + 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
    (void)close(fd);
    assert_int_equal(http_server_listen(b.server, address, &e), 0);
    rig_done(&b);
    assert_int_equal(file_remove_tree(dir, &e), 0);
}

static void bad_addresses_are_refused(void **state)
{
    static const char *const table[] = {"localhost:1",     "127.0.0.1",     "1:2:3",
                                        "[::1]",           "unix:",         "",
                                        "127.0.0.1:99999", "127.0.0.1:http"};
    struct rig r;

    (void)state;
    rig_init(&r, echo, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct err e = {0};

        assert_int_equal(http_server_listen(r.server, table[i], &e), -EINVAL);
        assert_true(strlen(e.text) > 0);
    }
    rig_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_peers_are_timed_out),
        cmocka_unit_test(a_dripping_head_does_not_move_its_deadline),
        cmocka_unit_test(beyond_the_cap_the_oldest_idle_connection_gives_way),
        cmocka_unit_test(where_none_is_idle_the_new_connection_is_closed),
        cmocka_unit_test(out_of_descriptors_the_server_waits_and_goes_on),
        cmocka_unit_test(a_dead_socket_file_is_replaced_and_a_live_one_not),
        cmocka_unit_test(bad_addresses_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
