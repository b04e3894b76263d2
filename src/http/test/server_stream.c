/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the server's streams and upgrades: order, back-pressure, the end of a turn. */
#include "src/http/test/handlers.h"

#include <sys/socket.h>

#include "src/base/alloc.h"

static void a_stream_is_chunked(void **state)
{
    struct later t = {0};
    struct rig r;

    (void)state;
    rig_init(&r, keep, &t, NULL);
    (void)rig_ask(&r, GET("/"));
    http_stream_begin(t.x[0], 200, "application/json", "X-A: b\r\n");
    http_stream_write(t.x[0], STR("hello"));
    rig_settle(&r, 0);
    assert_non_null(strstr(buf_str(&r.got), "X-A: b\r\n"));
    assert_non_null(strstr(buf_str(&r.got), "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"));
    buf_clear(&r.got);
    http_stream_write(t.x[0], STR(""));
    http_stream_write(t.x[0], STR("0123456789abcdef"));
    http_stream_end(t.x[0]);
    rig_settle(&r, 0);
    assert_string_equal(buf_str(&r.got), "10\r\n0123456789abcdef\r\n0\r\n\r\n");
    assert_int_equal(t.closed, 0);
    (void)rig_ask(&r, GET("/again"));
    assert_int_equal(t.n, 2);
    rig_done(&r);
}

static void a_stream_to_http_1_0_ends_with_the_connection(void **state)
{
    struct later t = {0};
    struct rig r;

    (void)state;
    rig_init(&r, keep, &t, NULL);
    (void)rig_ask(&r, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    http_stream_begin(t.x[0], 200, "text/plain", NULL);
    http_stream_write(t.x[0], STR("hello"));
    http_stream_end(t.x[0]);
    rig_settle(&r, 0);
    assert_string_equal(answer_body(buf_str(&r.got)), "hello");
    assert_true(r.ended);
    rig_done(&r);
}

static void a_stream_that_nobody_reads_is_ended(void **state)
{
    const struct http_limits limits = {.max_stream_backlog_bytes = 1 << 20};
    AUTO(free) char *block = xcalloc(1, 65536);
    struct later t = {0};
    struct rig r;
    int writes = 0;

    (void)state;
    rig_init(&r, keep, &t, &limits);
    rig_send(&r, GET("/"));
    (void)loop_turn(r.loop, 0);
    http_stream_begin(t.x[0], 200, "text/plain", NULL);
    while (!t.closed && writes < 100) {
        http_stream_write(t.x[0], (struct str){block, 65536});
        assert_int_equal(t.closed, 0);
        writes++;
        (void)loop_turn(r.loop, 0);
    }
    assert_int_equal(t.closed, 1);
    assert_in_range(writes, 16, 40);
    rig_done(&r);
}

static void a_stream_that_is_aborted_has_no_end(void **state)
{
    static const char *const requests[] = {GET("/"), "GET / HTTP/1.0\r\n\r\n"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        struct later t = {0};
        struct rig r;

        rig_init(&r, keep, &t, NULL);
        (void)rig_ask(&r, requests[i]);
        http_stream_begin(t.x[0], 200, "application/json", NULL);
        http_stream_write(t.x[0], STR("{\"items\":["));
        rig_settle(&r, 0);
        http_stream_write(t.x[0], STR("]}"));
        http_stream_abort(t.x[0]);
        rig_settle(&r, 0);
        assert_true(r.ended);
        assert_null(strstr(buf_str(&r.got), "]}"));
        assert_null(strstr(buf_str(&r.got), "\r\n0\r\n"));
        assert_int_equal(t.closed, 0);
        rig_done(&r);
    }
}

static void note_drain(void *arg)
{
    struct later *t = arg;

    t->drained++;
}

static void a_slow_reader_gets_everything_and_its_writer_is_told(void **state)
{
    AUTO(free) char *block = xcalloc(1, 1 << 20);
    struct later t = {0};
    struct rig r;

    (void)state;
    memset(block, 'x', 1 << 20);
    rig_init(&r, keep, &t, NULL);
    rig_send(&r, GET("/"));
    (void)loop_turn(r.loop, 0);
    http_stream_begin(t.x[0], 200, "text/plain", NULL);
    http_stream_on_drain(t.x[0], note_drain, &t);
    for (int i = 0; i < 8; i++)
        http_stream_write(t.x[0], (struct str){block, 1 << 20});
    (void)loop_turn(r.loop, 0);
    assert_true(http_stream_backlog(t.x[0]) > 7 << 20);
    assert_int_equal(t.drained, 0);
    rig_settle(&r, 0);
    assert_int_equal(http_stream_backlog(t.x[0]), 0);
    assert_true(t.drained >= 1);
    assert_true(r.got.n > 8 << 20);
    rig_done(&r);
}

static void commit(void *arg)
{
    struct rig *r = arg;
    char c;

    assert_int_equal(recv(r->peer, &c, 1, MSG_PEEK), -1);
    r->ended = true;
}

static void no_answer_leaves_before_the_turns_hooks(void **state)
{
    struct loop_source *hook;
    struct rig r;

    (void)state;
    rig_init(&r, echo, NULL, NULL);
    hook = loop_add_turn_hook(r.loop, commit, &r);
    assert_true(send(r.peer, GET("/"), strlen(GET("/")), 0) > 0);
    (void)loop_turn(r.loop, 100);
    assert_true(r.ended);
    r.ended = false;
    (void)loop_source_free(hook);
    rig_settle(&r, 0);
    assert_memory_equal(buf_str(&r.got), "HTTP/1.1 200", 12);
    rig_done(&r);
}

static void note_data(void *arg, struct str data)
{
    struct later *t = arg;

    assert_non_null(t->raw);
    buf_addstr(&t->data, data);
}

static void upgrade(void *arg, struct http_exchange *x)
{
    struct later *t = arg;

    t->raw = http_upgrade(x, "Connection: Upgrade\r\nUpgrade: test\r\n", note_data, note_close, t);
}

static void an_upgraded_connection_is_a_byte_stream(void **state)
{
    struct later t = {0};
    struct rig r;

    (void)state;
    rig_init(&r, upgrade, &t, NULL);
    assert_string_equal(
        rig_ask(&r,
                "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\nearly"),
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n");
    assert_string_equal(buf_str(&t.data), "early");
    (void)rig_ask(&r, " bird");
    assert_string_equal(buf_str(&t.data), "early bird");
    http_raw_pause(t.raw, true);
    (void)rig_ask(&r, " catches");
    assert_string_equal(buf_str(&t.data), "early bird");
    http_raw_pause(t.raw, false);
    assert_string_equal(rig_ask(&r, ""), "");
    assert_string_equal(buf_str(&t.data), "early bird catches");
    http_raw_write(t.raw, STR("worm"));
    http_raw_close(t.raw);
    rig_settle(&r, 0);
    assert_string_equal(buf_str(&r.got), "worm");
    assert_true(r.ended);
    assert_int_equal(t.closed, 0);
    buf_done(&t.data);
    rig_done(&r);
}

static void an_upgraded_peer_that_leaves_is_reported(void **state)
{
    struct later t = {0};
    struct rig r;

    (void)state;
    rig_init(&r, upgrade, &t, NULL);
    (void)rig_ask(&r, GET("/"));
    rig_hang_up(&r);
    rig_settle(&r, 10);
    assert_int_equal(t.closed, 1);
    rig_done(&r);
    assert_int_equal(t.closed, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_chunked),
        cmocka_unit_test(a_stream_to_http_1_0_ends_with_the_connection),
        cmocka_unit_test(a_stream_that_nobody_reads_is_ended),
        cmocka_unit_test(a_stream_that_is_aborted_has_no_end),
        cmocka_unit_test(a_slow_reader_gets_everything_and_its_writer_is_told),
        cmocka_unit_test(no_answer_leaves_before_the_turns_hooks),
        cmocka_unit_test(an_upgraded_connection_is_a_byte_stream),
        cmocka_unit_test(an_upgraded_peer_that_leaves_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
