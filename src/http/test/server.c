/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the server: exchanges, streams, upgrades, limits, with scripted peers. */
#include "src/http/test/peer.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "src/base/alloc.h"
#include "src/base/file.h"

/* Says what it was asked. */
static void echo(void *arg, struct http_exchange *x)
{
    const struct http_request *q = http_exchange_request(x);
    AUTO(buf_done) struct buf b = {0};

    (void)arg;
    buf_printf(&b, "%s %s ?%s [", q->method, q->path, q->query);
    buf_addstr(&b, q->body);
    buf_adds(&b, "]");
    http_reply(x, 200, "text/plain", NULL, buf_view(&b));
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: h\r\n\r\n"

static void a_request_is_answered(void **state)
{
    static const struct {
        const char *request;
        const char *status;
        const char *body;
    } table[] = {
        {GET("/a/b?c=d&e"), "HTTP/1.1 200 OK\r\n", "GET /a/b ?c=d&e []"},
        {"HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 OK\r\n", ""},
        {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 200 OK\r\n",
         "POST / ? [hello]"},
        {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\n",
         "POST / ? []"},
        {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
         "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n",
         "HTTP/1.1 200 OK\r\n", "POST / ? [abc0123456789]"},
        {"\r\n\r\n" GET("/x"), "HTTP/1.1 200 OK\r\n", "GET /x ? []"},
        {"GET http://h:80/y?z HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 OK\r\n", "GET /y ?z []"},
        {"GET / HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n", "GET / ? []"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct rig r;
        const char *answer;

        rig_init(&r, echo, NULL, NULL);
        answer = rig_ask(&r, table[i].request);
        assert_memory_equal(answer, table[i].status, strlen(table[i].status));
        assert_string_equal(answer_body(answer), table[i].body);
        rig_done(&r);
    }
}

static void any_cut_of_the_bytes_gives_the_same_answer(void **state)
{
    static const char request[] =
        "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n" GET("/second");
    struct rig r;

    (void)state;
    rig_init(&r, echo, NULL, NULL);
    for (size_t cut = 1; cut < sizeof(request) - 1; cut++) {
        AUTO(free) char *first = xstrndup(request, cut);

        buf_clear(&r.got);
        rig_send(&r, first);
        rig_settle(&r, 0);
        rig_send(&r, request + cut);
        rig_settle(&r, 0);
        assert_non_null(strstr(buf_str(&r.got), "POST /p ? [abcde]"));
        assert_non_null(strstr(buf_str(&r.got), "GET /second ? []"));
    }
    rig_done(&r);
}

static void refusals_close_the_connection(void **state)
{
    static const struct {
        const char *request;
        const char *status;
    } table[] = {
        {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "},
        {"GET / HTTP/1.1\nHost: h\n\nGET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "},
        {"GET / HTTP/2.0\r\nHost: h\r\n\r\n", "HTTP/1.1 505 "},
        {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2000\r\n\r\n", "HTTP/1.1 413 "},
        {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n",
         "HTTP/1.1 413 "},
        {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n",
         "HTTP/1.1 413 "},
        {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcdeX",
         "HTTP/1.1 400 "},
        {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "HTTP/1.1 501 "},
        {"POST / HTTP/1.1\r\nHost: h\r\nExpect: a-miracle\r\nContent-Length: 1\r\n\r\n",
         "HTTP/1.1 417 "},
    };
    const struct http_limits limits = {.max_body_bytes = 1000};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct rig r;
        const char *answer;
        AUTO(free) char *big = xcalloc(1, 1200);

        memset(big, 'x', 1199);
        rig_init(&r, echo, NULL, &limits);
        answer = rig_ask(&r, table[i].request);
        if (!*answer)
            answer = rig_ask(&r, big);
        assert_memory_equal(answer, table[i].status, strlen(table[i].status));
        assert_non_null(strstr(answer, "Connection: close\r\n"));
        assert_true(r.ended);
        rig_done(&r);
    }
}

static void a_head_over_the_cap_gets_431(void **state)
{
    const struct http_limits limits = {.max_header_bytes = 500};
    AUTO(buf_done) struct buf b = {0};
    struct rig r;

    (void)state;
    rig_init(&r, echo, NULL, &limits);
    buf_adds(&b, "GET / HTTP/1.1\r\nHost: h\r\nX: ");
    for (int i = 0; i < 600; i++)
        buf_addc(&b, 'x');
    assert_non_null(strstr(rig_ask(&r, buf_str(&b)), "HTTP/1.1 431 "));
    assert_true(r.ended);
    rig_done(&r);
}

static void refuse_as_json(void *arg, int status, const char *why, struct buf *body,
                           const char **ret_content_type)
{
    (void)arg;
    buf_printf(body, "{\"code\":%d,\"message\":\"%s\"}", status, why);
    *ret_content_type = "application/json";
}

static void refusals_speak_the_owners_language(void **state)
{
    struct http_server_options o = {.handler = echo, .refusal = refuse_as_json};
    struct rig r;
    struct err e = {0};
    const char *answer;

    (void)state;
    rig_init(&r, echo, NULL, NULL);
    (void)http_server_free(r.server);
    assert_int_equal(http_server_new(r.loop, &o, &r.server, &e), 0);
    rig_reconnect(&r);
    answer = rig_ask(&r, "GET / HTTP/1.1\r\n\r\n");
    assert_non_null(strstr(answer, "Content-Type: application/json\r\n"));
    assert_string_equal(answer_body(answer),
                        "{\"code\":400,\"message\":\"the Host header is missing\"}");
    rig_done(&r);
}

static void who_expects_continue_gets_it(void **state)
{
    struct rig r;

    (void)state;
    rig_init(&r, echo, NULL, NULL);
    assert_string_equal(
        rig_ask(&r,
                "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"),
        "HTTP/1.1 100 Continue\r\n\r\n");
    assert_string_equal(answer_body(rig_ask(&r, "ok")), "POST / ? [ok]");
    /* Who sends the body at once needs none. */
    assert_memory_equal(
        rig_ask(
            &r,
            "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok"),
        "HTTP/1.1 200", 12);
    rig_done(&r);
}

static void connections_are_kept_or_closed_as_asked(void **state)
{
    static const struct {
        const char *request;
        bool ended;
        const char *header;
    } table[] = {
        {GET("/"), false, NULL},
        {"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", true, "Connection: close\r\n"},
        {"GET / HTTP/1.1\r\nHost: h\r\nConnection: foo, CLOSE\r\n\r\n", true,
         "Connection: close\r\n"},
        {"GET / HTTP/1.0\r\n\r\n", true, "Connection: close\r\n"},
        {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false, "Connection: keep-alive\r\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct rig r;
        const char *answer;

        rig_init(&r, echo, NULL, NULL);
        answer = rig_ask(&r, table[i].request);
        assert_memory_equal(answer, "HTTP/1.1 200", 12);
        if (table[i].header)
            assert_non_null(strstr(answer, table[i].header));
        assert_int_equal(r.ended, table[i].ended);
        assert_int_equal(http_server_connections(r.server), !table[i].ended);
        rig_done(&r);
    }
}

/* A handler that keeps its exchange for later. */
struct later {
    struct http_exchange *x[8];
    int n;
    int closed;
    struct http_raw *raw;
    struct buf data;
    int drained;
};

static void note_close(void *arg)
{
    struct later *t = arg;

    t->closed++;
}

static void keep(void *arg, struct http_exchange *x)
{
    struct later *t = arg;

    t->x[t->n++] = x;
    http_exchange_on_close(x, note_close, t);
}

static void requests_sent_ahead_are_answered_in_order(void **state)
{
    struct later t = {0};
    struct rig r;

    (void)state;
    rig_init(&r, keep, &t, NULL);
    assert_string_equal(rig_ask(&r, GET("/1") GET("/2") GET("/3")), "");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(t.n, i + 1);
        http_reply(t.x[i], 200, "text/plain", NULL, str_of(http_exchange_request(t.x[i])->path));
        rig_settle(&r, 0);
    }
    assert_non_null(strstr(buf_str(&r.got), "/1HTTP/1.1 200 OK"));
    assert_non_null(strstr(buf_str(&r.got), "/2HTTP/1.1 200 OK"));
    assert_string_equal(r.got.p + r.got.n - 2, "/3");
    assert_int_equal(t.closed, 0);
    rig_done(&r);
}

static void a_client_that_leaves_is_reported_once(void **state)
{
    struct later t = {0};
    struct rig r;

    (void)state;
    rig_init(&r, keep, &t, NULL);
    (void)rig_ask(&r, GET("/"));
    assert_int_equal(t.n, 1);
    rig_hang_up(&r);
    rig_settle(&r, 10);
    assert_int_equal(t.closed, 1);
    assert_int_equal(http_server_connections(r.server), 0);
    rig_done(&r);
    assert_int_equal(t.closed, 1);
}

static void freeing_the_server_closes_what_waits(void **state)
{
    struct later t = {0};
    struct rig r;

    (void)state;
    rig_init(&r, keep, &t, NULL);
    (void)rig_ask(&r, GET("/"));
    r.server = http_server_free(r.server);
    assert_int_equal(t.closed, 1);
    rig_settle(&r, 0);
    assert_true(r.ended);
    rig_done(&r);
}

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

static void a_corked_server_says_nothing(void **state)
{
    struct rig r;

    (void)state;
    rig_init(&r, echo, NULL, NULL);
    http_server_cork(r.server);
    assert_string_equal(rig_ask(&r, GET("/")), "");
    http_server_cork(r.server);
    http_server_uncork(r.server);
    rig_settle(&r, 0);
    assert_string_equal(buf_str(&r.got), "");
    http_server_uncork(r.server);
    rig_settle(&r, 0);
    assert_memory_equal(buf_str(&r.got), "HTTP/1.1 200", 12);
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

static void connections_beyond_the_cap_are_closed(void **state)
{
    const struct http_limits limits = {.max_connections = 1};
    int fds[2];
    struct rig r;
    char c;

    (void)state;
    rig_init(&r, echo, NULL, &limits);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    http_server_adopt(r.server, fds[0]);
    assert_int_equal(recv(fds[1], &c, 1, 0), 0);
    assert_memory_equal(rig_ask(&r, GET("/")), "HTTP/1.1 200", 12);
    (void)close(fds[1]);
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
        cmocka_unit_test(a_request_is_answered),
        cmocka_unit_test(any_cut_of_the_bytes_gives_the_same_answer),
        cmocka_unit_test(refusals_close_the_connection),
        cmocka_unit_test(a_head_over_the_cap_gets_431),
        cmocka_unit_test(refusals_speak_the_owners_language),
        cmocka_unit_test(who_expects_continue_gets_it),
        cmocka_unit_test(connections_are_kept_or_closed_as_asked),
        cmocka_unit_test(requests_sent_ahead_are_answered_in_order),
        cmocka_unit_test(a_client_that_leaves_is_reported_once),
        cmocka_unit_test(freeing_the_server_closes_what_waits),
        cmocka_unit_test(a_stream_is_chunked),
        cmocka_unit_test(a_stream_to_http_1_0_ends_with_the_connection),
        cmocka_unit_test(a_stream_that_nobody_reads_is_ended),
        cmocka_unit_test(a_slow_reader_gets_everything_and_its_writer_is_told),
        cmocka_unit_test(a_corked_server_says_nothing),
        cmocka_unit_test(no_answer_leaves_before_the_turns_hooks),
        cmocka_unit_test(an_upgraded_connection_is_a_byte_stream),
        cmocka_unit_test(an_upgraded_peer_that_leaves_is_reported),
        cmocka_unit_test(slow_peers_are_timed_out),
        cmocka_unit_test(a_dripping_head_does_not_move_its_deadline),
        cmocka_unit_test(connections_beyond_the_cap_are_closed),
        cmocka_unit_test(out_of_descriptors_the_server_waits_and_goes_on),
        cmocka_unit_test(a_dead_socket_file_is_replaced_and_a_live_one_not),
        cmocka_unit_test(bad_addresses_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
