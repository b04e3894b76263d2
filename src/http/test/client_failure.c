/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the client's failures: what is to be tried again, caps, cancelled and silent calls.
 */
#include "src/http/test/calls.h"

#include <netinet/in.h>
#include <sys/socket.h>

/* A socket that is bound and, if `listening`, takes connections but never answers. */
static int mute_port(bool listening, int *ret_port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    if (listening)
        assert_int_equal(listen(fd, 5), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
    *ret_port = ntohs(a.sin_port);
    return fd;
}

static void failures_to_talk_are_to_be_tried_again(void **state)
{
    struct rig r;
    int port, fd;

    (void)state;
    rig_init(&r, false);
    for (int listening = 0; listening < 2; listening++) {
        AUTO(result_done) struct result res = {0};
        AUTO(free) char *url = NULL;

        fd = mute_port(listening, &port);
        url = xasprintf("http://127.0.0.1:%d/x", port);
        start(&r, "", (struct http_call_options){.url = url, .deadline_ms = 50}, &res);
        run(&r, &res);
        assert_int_equal(res.e.num, listening ? -ETIMEDOUT : -ECONNREFUSED);
        assert_int_equal(res.e.class, ERR_RETRY);
        assert_non_null(strstr(res.e.text, url));
        (void)close(fd);
    }
    rig_done(&r);
}

static void a_connection_that_breaks_is_to_be_tried_again(void **state)
{
    AUTO(result_done) struct result res = {0};
    struct rig r;

    (void)state;
    rig_init(&r, false);
    start(&r, "/stream", (struct http_call_options){.on_chunk = note_chunk, .deadline_ms = -1},
          &res);
    while (!r.held)
        (void)loop_turn(r.loop, 100);
    http_stream_write(r.held, STR("half"));
    while (res.chunks.n < 4)
        (void)loop_turn(r.loop, 100);
    r.server = http_server_free(r.server);
    run(&r, &res);
    assert_int_equal(res.e.class, ERR_RETRY);
    assert_int_equal(res.e.num, -ECONNRESET);
    rig_done(&r);
}

static void an_answer_without_a_status_is_a_failure(void **state)
{
    static const char *const nonsense[] = {"HTTP/2 2\r\nContent-Length: 2\r\n\r\nab",
                                           "HTTP/2 2000\r\nContent-Length: 2\r\n\r\nab"};
    AUTO(free) char *url = NULL;
    struct rig r;
    int port, server = mute_port(true, &port);

    (void)state;
    rig_init(&r, false);
    url = xasprintf("http://127.0.0.1:%d/x", port);
    for (size_t i = 0; i < ARRAY_LEN(nonsense); i++) {
        AUTO(result_done) struct result res = {0};
        AUTO(close) int fd = -1;

        start(&r, "", (struct http_call_options){.url = url, .on_chunk = note_chunk}, &res);
        (void)loop_turn(r.loop, 100);
        fd = accept(server, NULL, NULL);
        assert_int_equal(send(fd, nonsense[i], strlen(nonsense[i]), 0), strlen(nonsense[i]));
        run(&r, &res);
        assert_int_equal(res.e.num, -EPROTO);
        assert_int_equal(res.e.class, ERR_RETRY);
        assert_int_equal(res.chunks.n, 0);
    }
    (void)close(server);
    rig_done(&r);
}

static void nonsense_is_permanent(void **state)
{
    static const char *const urls[] = {"", "http://", "gopher://x/", "http://a b/"};
    struct rig r;

    (void)state;
    rig_init(&r, false);
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        AUTO(result_done) struct result res = {0};

        start(&r, "", (struct http_call_options){.url = urls[i]}, &res);
        run(&r, &res);
        assert_int_equal(res.e.num, -EINVAL);
        assert_int_equal(res.e.class, ERR_PERMANENT);
    }
    rig_done(&r);
}

static void an_answer_beyond_the_cap_is_an_error(void **state)
{
    AUTO(result_done) struct result res = {0};
    struct rig r;

    (void)state;
    rig_init(&r, false);
    start(&r, "/", (struct http_call_options){.max_body_bytes = 10}, &res);
    run(&r, &res);
    assert_int_equal(res.e.num, -EMSGSIZE);
    assert_non_null(strstr(res.e.text, "longer than allowed"));
    rig_done(&r);
}

static void cancel_in_chunk(void *arg, int status, struct str data)
{
    struct result *res = arg;

    note_chunk(arg, status, data);
    http_call_cancel(res->call);
}

static void a_cancelled_call_is_silent_and_the_server_sees_it(void **state)
{
    AUTO(result_done) struct result hold = {0}, stream = {0};
    struct rig r;

    (void)state;
    rig_init(&r, false);
    start(&r, "/hold", (struct http_call_options){0}, &hold);
    while (!r.held)
        (void)loop_turn(r.loop, 100);
    http_call_cancel(hold.call);
    while (r.left < 1)
        (void)loop_turn(r.loop, 100);
    start(&r, "/stream", (struct http_call_options){.on_chunk = cancel_in_chunk, .deadline_ms = -1},
          &stream);
    while (!r.held)
        (void)loop_turn(r.loop, 100);
    http_stream_write(r.held, STR("event\n"));
    while (r.left < 2)
        (void)loop_turn(r.loop, 100);
    assert_int_equal(stream.n_chunks, 1);
    assert_int_equal(hold.done + stream.done, 0);
    rig_done(&r);
}

static void a_silent_stream_ends_after_its_idle_time(void **state)
{
    AUTO(result_done) struct result res = {0};
    struct rig r;

    (void)state;
    rig_init(&r, false);
    start(
        &r, "/stream",
        (struct http_call_options){.on_chunk = note_chunk, .deadline_ms = -1, .idle_timeout_s = 1},
        &res);
    run(&r, &res);
    assert_int_equal(res.e.num, -ETIMEDOUT);
    rig_done(&r);
}

static void freeing_the_client_cancels_its_calls(void **state)
{
    AUTO(result_done) struct result res = {0};
    struct rig r;

    (void)state;
    rig_init(&r, false);
    start(&r, "/hold", (struct http_call_options){0}, &res);
    while (!r.held)
        (void)loop_turn(r.loop, 100);
    r.client = http_client_free(r.client);
    while (r.left < 1)
        (void)loop_turn(r.loop, 100);
    assert_int_equal(res.done, 0);
    rig_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_to_talk_are_to_be_tried_again),
        cmocka_unit_test(a_connection_that_breaks_is_to_be_tried_again),
        cmocka_unit_test(an_answer_without_a_status_is_a_failure),
        cmocka_unit_test(nonsense_is_permanent),
        cmocka_unit_test(an_answer_beyond_the_cap_is_an_error),
        cmocka_unit_test(a_cancelled_call_is_silent_and_the_server_sees_it),
        cmocka_unit_test(a_silent_stream_ends_after_its_idle_time),
        cmocka_unit_test(freeing_the_client_cancels_its_calls),
    };

    return cmocka_run_group_tests(tests, pki_set_up, pki_tear_down);
}
