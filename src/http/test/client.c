/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the client: calls, TLS, proxies, streams, against our own server on loopback. */
#include "src/http/test/calls.h"

#include "src/http/cert.h"

static void a_call_brings_status_headers_and_body(void **state)
{
    static const char *const typed[] = {"Content-Type: application/json", NULL};
    const struct {
        struct http_call_options o;
        const char *body;
    } table[] = {
        {{.method = NULL}, "GET /a?b=c auth=- type=- cn=- expect=0 []"},
        {{.method = "DELETE"}, "DELETE /a?b=c auth=- type=- cn=- expect=0 []"},
        {{.method = "POST"}, "POST /a?b=c auth=- type=- cn=- expect=0 []"},
        {{.method = "PATCH", .body = STR("{}"), .headers = typed, .bearer_token = "tok"},
         "PATCH /a?b=c auth=Bearer tok type=application/json cn=- expect=0 [{}]"},
        {{.method = "DELETE", .body = STR("x")}, "DELETE /a?b=c auth=- type=- cn=- expect=0 [x]"},
        {{.method = "HEAD"}, ""},
    };
    struct rig r;

    (void)state;
    rig_init(&r, false);
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        AUTO(result_done) struct result res = {0};

        start(&r, "/a?b=c", table[i].o, &res);
        run(&r, &res);
        assert_int_equal(res.status, 201);
        assert_string_equal(res.type, "text/test");
        assert_string_equal(res.body, table[i].body);
    }
    assert_int_equal(http_server_connections(r.server), 1); /* all over one connection */
    rig_done(&r);
}

static void a_unix_socket_is_asked_like_any_host(void **state)
{
    struct rig r;
    AUTO(result_done) struct result res = {0};

    (void)state;
    rig_init(&r, false);
    start(&r, "", (struct http_call_options){.url = "http://agent/v1", .unix_path = r.unix_path},
          &res);
    run(&r, &res);
    assert_string_equal(res.body, "GET /v1? auth=- type=- cn=- expect=0 []");
    rig_done(&r);
}

static void a_large_body_goes_out_without_expectation(void **state)
{
    AUTO(free) char *big = xcalloc(1, 2000001);
    AUTO(result_done) struct result res = {0};
    struct rig r;

    (void)state;
    memset(big, 'x', 2000000);
    rig_init(&r, false);
    start(&r, "/", (struct http_call_options){.method = "PUT", .body = str_of(big)}, &res);
    run(&r, &res);
    assert_non_null(strstr(res.body, "expect=0 [xxx"));
    assert_true(strlen(res.body) > 2000000);
    rig_done(&r);
}

static void both_sides_of_tls_are_known(void **state)
{
    const struct {
        struct http_client_tls tls;
        const char *body;
        int num; /* of the error, if there is no body */
    } table[] = {
        {{pki.ca, pki.client_cert, pki.client_key}, "GET /? auth=- type=- cn=alice expect=0 []", 0},
        {{pki.ca}, "GET /? auth=- type=- cn=- expect=0 []", 0},
        {{.insecure = true}, "GET /? auth=- type=- cn=- expect=0 []", 0},
        {{pki.other_ca}, NULL, -EKEYREJECTED},
        {{NULL}, NULL, -EKEYREJECTED},
        {{"nonsense"}, NULL, -EKEYREJECTED},
        {{pki.ca, "nonsense", pki.client_key}, NULL, -EKEYREJECTED},
    };
    struct rig r;

    (void)state;
    rig_init(&r, true);
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        AUTO(result_done) struct result res = {0};

        start(&r, "/", (struct http_call_options){.tls = &table[i].tls}, &res);
        run(&r, &res);
        assert_int_equal(res.e.num, table[i].num);
        if (table[i].body)
            assert_string_equal(res.body, table[i].body);
        else
            assert_int_equal(res.e.class, ERR_PERMANENT);
    }
    rig_done(&r);
}

static void the_server_may_be_known_by_another_name(void **state)
{
    struct http_client_tls right = {.ca_pem = pki.ca, .server_name = "localhost"};
    struct http_client_tls wrong = {.ca_pem = pki.ca, .server_name = "elsewhere.test"};
    AUTO(result_done) struct result ok = {0}, bad = {0};
    struct rig r;

    (void)state;
    rig_init(&r, true);
    start(&r, "/a?b=c", (struct http_call_options){.tls = &right}, &ok);
    run(&r, &ok);
    assert_int_equal(ok.status, 201);
    assert_non_null(strstr(ok.body, "GET /a?b=c "));
    start(&r, "/a", (struct http_call_options){.tls = &wrong}, &bad);
    run(&r, &bad);
    assert_int_equal(bad.e.num, -EKEYREJECTED);
    rig_done(&r);
}

static void a_self_signed_server_is_known_by_its_certificate(void **state)
{
    static const struct {
        bool own; /* the client trusts this very certificate */
        const char *name;
        int num;
    } rows[] = {
        {true, "lab-agent.slurm", 0},
        {true, "other-agent.slurm", -EKEYREJECTED},
        {false, "lab-agent.slurm", -EKEYREJECTED},
    };
    AUTO(cert_pair_done) struct cert_pair own = {0}, other = {0};
    struct err e = {0};
    struct rig r;

    (void)state;
    assert_int_equal(cert_make_own("lab-agent.slurm", &own, &e), 0);
    assert_int_equal(cert_make_own("lab-agent.slurm", &other, &e), 0);
    assert_string_not_equal(own.key_pem, other.key_pem);
    rig_init_as(&r, own.cert_pem, own.key_pem, NULL);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct http_client_tls tls = {.ca_pem = rows[i].own ? own.cert_pem : other.cert_pem,
                                      .server_name = rows[i].name};
        AUTO(result_done) struct result res = {0};

        start(&r, "/", (struct http_call_options){.tls = &tls}, &res);
        run(&r, &res);
        assert_int_equal(res.e.num, rows[i].num);
    }
    rig_done(&r);
}

static void a_proxy_stands_between(void **state)
{
    AUTO(result_done) struct result res = {0};
    struct rig r;

    (void)state;
    rig_init(&r, false);
    start(&r, "/a", (struct http_call_options){.proxy_url = "http://127.0.0.1:1"}, &res);
    run(&r, &res);
    assert_int_equal(res.e.num, -ECONNREFUSED);
    rig_done(&r);
}

static void a_stream_is_told_as_it_arrives(void **state)
{
    AUTO(result_done) struct result res = {0};
    struct rig r;

    (void)state;
    rig_init(&r, false);
    start(&r, "/stream", (struct http_call_options){.on_chunk = note_chunk, .deadline_ms = -1},
          &res);
    while (!r.held)
        (void)loop_turn(r.loop, 100);
    for (int i = 1; i <= 3; i++) {
        http_stream_write(r.held, STR("event\n"));
        while (res.n_chunks < i)
            (void)loop_turn(r.loop, 100);
    }
    assert_int_equal(res.status, 200);
    assert_int_equal(res.done, 0);
    http_stream_end(r.held);
    run(&r, &res);
    assert_string_equal(buf_str(&res.chunks), "event\nevent\nevent\n");
    assert_string_equal(res.body, "");
    rig_done(&r);
}

static void again(void *arg, const struct http_answer *a, const struct err *e)
{
    struct result *res = arg;

    assert_null(e);
    assert_int_equal(a->status, 201);
    if (++res->n_chunks == 200) {
        res->done = 1;
        return;
    }
    http_client_call(res->rig->client, &(struct http_call_options){
                                           .url = res->rig->base, .on_done = again, .arg = res});
}

static void a_call_that_lasts_does_not_hold_up_others(void **state)
{
    AUTO(result_done) struct result hold = {0}, quick = {0};
    struct rig r;

    (void)state;
    rig_init(&r, false);
    start(&r, "/hold", (struct http_call_options){0}, &hold);
    start(&r, "/a", (struct http_call_options){.deadline_ms = 5000}, &quick);
    run(&r, &quick);
    assert_int_equal(quick.status, 201);
    assert_int_equal(hold.done, 0);
    rig_done(&r);
}

static void a_callback_may_call_again(void **state)
{
    AUTO(result_done) struct result res = {0};
    struct rig r;

    (void)state;
    rig_init(&r, false);
    res.rig = &r;
    http_client_call(r.client,
                     &(struct http_call_options){.url = r.base, .on_done = again, .arg = &res});
    run(&r, &res);
    assert_int_equal(http_server_connections(r.server), 1);
    rig_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_brings_status_headers_and_body),
        cmocka_unit_test(a_unix_socket_is_asked_like_any_host),
        cmocka_unit_test(a_large_body_goes_out_without_expectation),
        cmocka_unit_test(both_sides_of_tls_are_known),
        cmocka_unit_test(the_server_may_be_known_by_another_name),
        cmocka_unit_test(a_self_signed_server_is_known_by_its_certificate),
        cmocka_unit_test(a_proxy_stands_between),
        cmocka_unit_test(a_stream_is_told_as_it_arrives),
        cmocka_unit_test(a_call_that_lasts_does_not_hold_up_others),
        cmocka_unit_test(a_callback_may_call_again),
    };

    return cmocka_run_group_tests(tests, pki_set_up, pki_tear_down);
}
