/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the server: requests, refusals, connections that are kept. */
#include "src/http/test/handlers.h"

#include "src/base/alloc.h"

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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
