/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the client, against our own server on loopback and against scripted sockets. */
#include "src/base/test/unit.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/http/cert.h"
#include "src/http/client.h"
#include "src/http/server.h"
#include "src/http/test/pki.h"

static struct pki pki;

static int make_pki(void **state)
{
    (void)state;
    pki_init(&pki);
    return 0;
}

static int drop_pki(void **state)
{
    (void)state;
    pki_done(&pki);
    return 0;
}

struct rig {
    struct loop *loop;
    struct http_tls *tls;
    struct http_server *server;
    struct http_client *client;
    struct http_exchange *held; /* of /hold and /stream */
    int left;                   /* held exchanges whose client left */
    char *base;
    char *unix_path;
    char dir[32];
};

/* What a call brought. */
struct result {
    int done;
    int status;
    char *body;
    char *type;
    struct buf chunks;
    int n_chunks;
    struct err e;
    struct rig *rig;
    struct http_call *call;
};

static void client_left(void *arg)
{
    struct rig *r = arg;

    r->left++;
    r->held = NULL;
}

static void echo(struct http_exchange *x)
{
    const struct http_request *q = http_exchange_request(x);
    const char *auth = http_request_header(x, "Authorization");
    const char *type = http_request_header(x, "Content-Type");
    AUTO(buf_done) struct buf b = {0};

    buf_printf(&b, "%s %s?%s auth=%s type=%s cn=%s expect=%d [", q->method, q->path, q->query,
               auth ? auth : "-", type ? type : "-", q->tls_cn ? q->tls_cn : "-",
               http_request_header(x, "Expect") != NULL);
    buf_addstr(&b, q->body);
    buf_adds(&b, "]");
    http_reply(x, 201, "text/test", "X-Answer: 42\r\n", buf_view(&b));
}

static void serve(void *arg, struct http_exchange *x)
{
    const char *path = http_exchange_request(x)->path;
    struct rig *r = arg;

    if (streq(path, "/hold") || streq(path, "/stream")) {
        r->held = x;
        http_exchange_on_close(x, client_left, r);
        if (streq(path, "/stream"))
            http_stream_begin(x, 200, "application/json", NULL);
        return;
    }
    echo(x);
}

static void rig_init_as(struct rig *r, const char *cert, const char *key, const char *ca)
{
    struct http_server_options o = {.handler = serve, .arg = r};
    AUTO(free) char *address = NULL;
    struct err e = {0};

    *r = (struct rig){.dir = "/tmp/http-client-XXXXXX"};
    assert_non_null(mkdtemp(r->dir));
    r->unix_path = xasprintf("%s/sock", r->dir);
    address = xasprintf("unix:%s", r->unix_path);
    assert_int_equal(loop_new(&r->loop, &e), 0);
    if (cert)
        assert_int_equal(http_tls_new(cert, key, ca, &r->tls, &e), 0);
    o.tls = r->tls;
    assert_int_equal(http_server_new(r->loop, &o, &r->server, &e), 0);
    assert_int_equal(http_server_listen(r->server, "127.0.0.1:0", &e), 0);
    assert_int_equal(http_server_listen(r->server, address, &e), 0);
    assert_int_equal(http_client_new(r->loop, &r->client, &e), 0);
    r->base = xasprintf("http%s://127.0.0.1:%d", cert ? "s" : "", http_server_port(r->server));
}

static void rig_init(struct rig *r, bool with_tls)
{
    rig_init_as(r, with_tls ? pki.cert : NULL, pki.key, pki.ca);
}

static void rig_done(struct rig *r)
{
    struct err e = {0};

    r->client = http_client_free(r->client);
    r->server = http_server_free(r->server);
    r->tls = http_tls_free(r->tls);
    r->loop = loop_free(r->loop);
    assert_int_equal(file_remove_tree(r->dir, &e), 0);
    free(r->base);
    free(r->unix_path);
}

static void result_done(struct result *res)
{
    free(res->body);
    free(res->type);
    buf_done(&res->chunks);
}
DEFINE_AUTO_DONE(struct result, result_done);

static void note_done(void *arg, const struct http_answer *a, const struct err *e)
{
    struct result *res = arg;

    res->done++;
    if (e) {
        assert_null(a);
        res->e = *e;
        return;
    }
    res->status = a->status;
    res->body = str_dup(a->body);
    res->type = xstrdup_null(http_answer_header(a, "content-TYPE"));
}

static void note_chunk(void *arg, int status, struct str data)
{
    struct result *res = arg;

    res->status = status;
    res->n_chunks++;
    buf_addstr(&res->chunks, data);
}

static void run(struct rig *r, const struct result *res)
{
    int64_t until = clock_mono_ms() + 10000;

    while (!res->done && clock_mono_ms() < until)
        (void)loop_turn(r->loop, 100);
    assert_int_equal(res->done, 1);
}

static void start(struct rig *r, const char *path, struct http_call_options o, struct result *res)
{
    AUTO(free) char *url = xasprintf("%s%s", r->base, path);

    res->rig = r;
    if (!o.url)
        o.url = url;
    o.on_done = note_done;
    o.arg = res;
    res->call = http_client_call(r->client, &o);
    assert_int_equal(res->done, 0);
}

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
        cmocka_unit_test(a_call_brings_status_headers_and_body),
        cmocka_unit_test(a_unix_socket_is_asked_like_any_host),
        cmocka_unit_test(a_large_body_goes_out_without_expectation),
        cmocka_unit_test(both_sides_of_tls_are_known),
        cmocka_unit_test(the_server_may_be_known_by_another_name),
        cmocka_unit_test(a_self_signed_server_is_known_by_its_certificate),
        cmocka_unit_test(a_proxy_stands_between),
        cmocka_unit_test(failures_to_talk_are_to_be_tried_again),
        cmocka_unit_test(a_connection_that_breaks_is_to_be_tried_again),
        cmocka_unit_test(nonsense_is_permanent),
        cmocka_unit_test(an_answer_beyond_the_cap_is_an_error),
        cmocka_unit_test(a_stream_is_told_as_it_arrives),
        cmocka_unit_test(a_cancelled_call_is_silent_and_the_server_sees_it),
        cmocka_unit_test(a_silent_stream_ends_after_its_idle_time),
        cmocka_unit_test(a_call_that_lasts_does_not_hold_up_others),
        cmocka_unit_test(a_callback_may_call_again),
        cmocka_unit_test(freeing_the_client_cancels_its_calls),
    };

    return cmocka_run_group_tests(tests, make_pki, drop_pki);
}
