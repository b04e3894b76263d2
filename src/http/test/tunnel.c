/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the tunnel: a front server, a back server on a Unix socket, a scripted peer. */
#include "src/http/test/peer.h"

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/http/tunnel.h"

struct both {
    struct rig front;
    struct http_server *back;
    char dir[32];
    char *path;
    struct http_exchange *held;
    struct http_raw *raw;
    struct buf data;
    int closed;
};

static void hand_over(void *arg, struct http_exchange *x)
{
    struct both *b = arg;
    struct http_tunnel_options o = {
        .unix_path = b->path, .target = "/inner?a=b", .headers = "X-User: alice\r\n"};
    struct err e = {0};

    if (http_tunnel(x, &o, &e) < 0)
        http_reply(x, 502, "text/plain", NULL, str_of(e.text));
}

static void note_close(void *arg)
{
    struct both *b = arg;

    b->closed++;
}

static void note_data(void *arg, struct str data)
{
    struct both *b = arg;

    buf_addstr(&b->data, data);
}

static void serve_back(void *arg, struct http_exchange *x)
{
    const struct http_request *q = http_exchange_request(x);
    struct both *b = arg;
    AUTO(buf_done) struct buf text = {0};

    if (http_request_lists(x, "Upgrade", "test")) {
        b->raw =
            http_upgrade(x, "Connection: Upgrade\r\nUpgrade: test\r\n", note_data, note_close, b);
        return;
    }
    if (http_request_header(x, "X-Hold")) {
        b->held = x;
        http_exchange_on_close(x, note_close, b);
        return;
    }
    buf_printf(&text, "%s %s?%s user=%s auth=%d [", q->method, q->path, q->query,
               http_request_header(x, "X-User"), http_request_header(x, "Authorization") != NULL);
    buf_addstr(&text, q->body);
    buf_addc(&text, ']');
    http_reply(x, 200, "text/plain", NULL, buf_view(&text));
}

static void both_init(struct both *b)
{
    struct http_server_options o = {.handler = serve_back, .arg = b};
    AUTO(free) char *address = NULL;
    struct err e = {0};

    *b = (struct both){.dir = "/tmp/http-tunnel-XXXXXX"};
    assert_non_null(mkdtemp(b->dir));
    b->path = xasprintf("%s/sock", b->dir);
    address = xasprintf("unix:%s", b->path);
    rig_init(&b->front, hand_over, b, NULL);
    assert_int_equal(http_server_new(b->front.loop, &o, &b->back, &e), 0);
    assert_int_equal(http_server_listen(b->back, address, &e), 0);
}

static void both_done(struct both *b)
{
    struct err e = {0};

    b->back = http_server_free(b->back);
    rig_done(&b->front);
    buf_done(&b->data);
    assert_int_equal(file_remove_tree(b->dir, &e), 0);
    free(b->path);
}

static void a_request_is_answered_by_the_server_behind(void **state)
{
    static const struct {
        const char *request;
        const char *body;
    } table[] = {
        {"GET /outer HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer x\r\n\r\n",
         "GET /inner?a=b user=alice auth=0 []"},
        {"POST /outer HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
         "chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
         "POST /inner?a=b user=alice auth=0 [abc]"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct both b;

        both_init(&b);
        assert_string_equal(answer_body(rig_ask(&b.front, table[i].request)), table[i].body);
        assert_true(b.front.ended);
        both_done(&b);
    }
}

static void an_upgrade_goes_through_with_bytes_both_ways(void **state)
{
    AUTO(free) char *big = xcalloc(1, 3000001);
    struct both b;

    (void)state;
    memset(big, 'x', 3000000);
    both_init(&b);
    assert_non_null(strstr(
        rig_ask(&b.front,
                "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\nearly"),
        "HTTP/1.1 101 "));
    assert_string_equal(buf_str(&b.data), "early");
    buf_clear(&b.data);
    buf_clear(&b.front.got);
    http_raw_write(b.raw, (struct str){big, 3000000});
    rig_send(&b.front, big);
    rig_settle(&b.front, 0);
    assert_int_equal(b.data.n, 3000000);
    assert_int_equal(b.front.got.n, 3000000);
    http_raw_close(b.raw);
    rig_settle(&b.front, 0);
    assert_true(b.front.ended);
    both_done(&b);
}

static void either_side_that_leaves_ends_the_other(void **state)
{
    struct both b;

    (void)state;
    both_init(&b);
    (void)rig_ask(&b.front, "GET / HTTP/1.1\r\nHost: h\r\nX-Hold: 1\r\n\r\n");
    assert_non_null(b.held);
    rig_hang_up(&b.front);
    rig_settle(&b.front, 10);
    assert_int_equal(b.closed, 1);
    rig_reconnect(&b.front);
    (void)rig_ask(&b.front, "GET / HTTP/1.1\r\nHost: h\r\nX-Hold: 1\r\n\r\n");
    b.back = http_server_free(b.back);
    rig_settle(&b.front, 0);
    assert_true(b.front.ended);
    both_done(&b);
}

static void a_server_that_is_not_there_is_the_callers_to_tell(void **state)
{
    struct both b;
    const char *answer;

    (void)state;
    both_init(&b);
    b.back = http_server_free(b.back);
    answer = rig_ask(&b.front, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_memory_equal(answer, "HTTP/1.1 502 ", 13);
    assert_non_null(strstr(answer, "cannot reach"));
    both_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_answered_by_the_server_behind),
        cmocka_unit_test(an_upgrade_goes_through_with_bytes_both_ways),
        cmocka_unit_test(either_side_that_leaves_ends_the_other),
        cmocka_unit_test(a_server_that_is_not_there_is_the_callers_to_tell),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
