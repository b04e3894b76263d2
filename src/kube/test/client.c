/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of calls: addresses, refusals, retries, the rate limit, faults of the peer. */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/kube/address.h"
#include "src/kube/pace.h"
#include "src/kube/test/peer.h"

static const struct kube_resource pods = {"", "v1", "pods"};
static const struct kube_resource sets = {"apps", "v1", "statefulsets"};

static void echo(struct peer *p, struct http_exchange *x)
{
    (void)p;
    peer_answer(x, 200, "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}");
}

static struct kube_call *ask(struct peer *p, struct kube_request r, struct result *res)
{
    if (!r.resource.plural)
        r.resource = pods;
    r.fn = result_note;
    r.arg = res;
    return kube_call_start(p->client, &r);
}

static void requests_have_the_right_address(void **state)
{
    static const char *const query[] = {"labelSelector", "a=b,c in (d)", "limit", "5", NULL};
    static const struct {
        struct kube_request r;
        const char *method;
        const char *type;
        const char *url;
        const char *what;
    } cases[] = {
        {{KUBE_GET, {"", "v1", "pods"}, "n", "a"},
         "GET",
         NULL,
         "S/api/v1/namespaces/n/pods/a",
         "get pods 'n/a'"},
        {{KUBE_GET, {NULL, "v1", "nodes"}, NULL, "a"},
         "GET",
         NULL,
         "S/api/v1/nodes/a",
         "get nodes 'a'"},
        {{KUBE_LIST, {"apps", "v1", "statefulsets"}, NULL, NULL, NULL, query},
         "GET",
         NULL,
         "S/apis/apps/v1/statefulsets?labelSelector=a%3Db%2Cc%20in%20%28d%29&limit=5",
         "list statefulsets"},
        {{KUBE_LIST, {"", "v1", "pods"}, "n"},
         "GET",
         NULL,
         "S/api/v1/namespaces/n/pods",
         "list pods in 'n'"},
        {{KUBE_CREATE, {"", "v1", "pods"}, "n"},
         "POST",
         "Content-Type: application/json",
         "S/api/v1/namespaces/n/pods?fieldManager=m",
         "create pods in 'n'"},
        {{KUBE_UPDATE, {"", "v1", "pods"}, "n", "a", "status"},
         "PUT",
         "Content-Type: application/json",
         "S/api/v1/namespaces/n/pods/a/status?fieldManager=m",
         "update pods/status 'n/a'"},
        {{KUBE_PATCH_MERGE, {"", "v1", "pods"}, "n", "a"},
         "PATCH",
         "Content-Type: application/merge-patch+json",
         "S/api/v1/namespaces/n/pods/a?fieldManager=m",
         "patch pods 'n/a'"},
        {{KUBE_PATCH_JSON, {"", "v1", "pods"}, "n", "a"},
         "PATCH",
         "Content-Type: application/json-patch+json",
         "S/api/v1/namespaces/n/pods/a?fieldManager=m",
         "patch pods 'n/a'"},
        {{KUBE_PATCH_STRATEGIC, {"", "v1", "pods"}, "n", "a"},
         "PATCH",
         "Content-Type: application/strategic-merge-patch+json",
         "S/api/v1/namespaces/n/pods/a?fieldManager=m",
         "patch pods 'n/a'"},
        {{KUBE_APPLY, {"", "v1", "pods"}, "n", "a"},
         "PATCH",
         "Content-Type: application/apply-patch+yaml",
         "S/api/v1/namespaces/n/pods/a?fieldManager=m",
         "apply pods 'n/a'"},
        {{KUBE_APPLY_FORCE, {"", "v1", "pods"}, "n", "a"},
         "PATCH",
         "Content-Type: application/apply-patch+yaml",
         "S/api/v1/namespaces/n/pods/a?fieldManager=m&force=true",
         "apply pods 'n/a'"},
        {{KUBE_DELETE, {"", "v1", "nodes"}, NULL, "system:x"},
         "DELETE",
         "Content-Type: application/json",
         "S/api/v1/nodes/system%3Ax",
         "delete nodes 'system:x'"},
        {{KUBE_DELETE_ALL, {"", "v1", "pods"}, "n"},
         "DELETE",
         "Content-Type: application/json",
         "S/api/v1/namespaces/n/pods",
         "delete all pods in 'n'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(buf_done) struct buf url = {0};
        AUTO(free) char *what = address_describe(&cases[i].r);
        struct err e = {0};

        assert_int_equal(address_url("S", &cases[i].r, "m", &url, &e), 0);
        assert_string_equal(buf_str(&url), cases[i].url);
        assert_string_equal(what, cases[i].what);
        assert_string_equal(address_method(cases[i].r.verb), cases[i].method);
        assert_true(streq(address_content_type(cases[i].r.verb), cases[i].type));
    }
}

static void a_name_cannot_climb_out_of_its_place(void **state)
{
    static const char *const names[] = {"", ".", "..", "a/b", "../b", "%2e%2e", NULL};
    AUTO(peer_done) struct peer p;

    (void)state;
    peer_init(&p, echo, NULL);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        AUTO(result_done) struct result res = {0};

        (void)ask(&p, (struct kube_request){.verb = KUBE_GET, .namespace = "n", .name = names[i]},
                  &res);
        assert_int_equal(res.done, 0);
        peer_run_until(&p, &res.done, 1);
        assert_int_equal(res.f.err.num, -EINVAL);
        assert_non_null(strstr(res.f.err.text, "cannot be a name"));
    }
    assert_int_equal(p.n_seen, 0);
}

static void an_object_comes_back_parsed(void **state)
{
    AUTO(result_done) struct result res = {0};
    AUTO(peer_done) struct peer p;

    (void)state;
    peer_init(&p, echo, NULL);
    secret_set(&p.target->user->token, STR("hush"));
    (void)ask(&p, (struct kube_request){.verb = KUBE_GET, .namespace = "n", .name = "a"}, &res);
    peer_run_until(&p, &res.done, 1);
    assert_int_equal(res.code, 200);
    assert_string_equal(res.name, "a");
    assert_string_equal(p.seen[0], "GET /api/v1/namespaces/n/pods/a Bearer hush ");
}

static void a_body_is_sent_as_json(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(result_done) struct result res = {0};
    AUTO(peer_done) struct peer p;
    struct jsn *body = jsn_object(&a);

    (void)state;
    peer_init(&p, echo, NULL);
    jsn_set_int(&a, body, "x", 1);
    (void)ask(&p,
              (struct kube_request){
                  .verb = KUBE_CREATE, .resource = sets, .namespace = "n", .body = body},
              &res);
    peer_run_until(&p, &res.done, 1);
    assert_string_equal(
        p.seen[0],
        "POST /apis/apps/v1/namespaces/n/statefulsets?fieldManager=slurmkeeper - {\"x\":1}");
}

/* The answer that the next test wants. */
struct refusal {
    int status;
    const char *body;
};

static void refuse(struct peer *p, struct http_exchange *x)
{
    const struct refusal *r = p->arg;

    peer_answer(x, r->status, r->body);
}

#define STATUS(code, reason, message)                                                              \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"" message     \
    "\",\"reason\":\"" reason "\",\"code\":" #code "}"

static void refusals_have_class_code_and_reason(void **state)
{
    static const struct {
        struct refusal r;
        int num;
        enum err_class class;
        const char *reason;
        const char *text;
    } cases[] = {
        {{404, STATUS(404, "NotFound", "pods x not found")},
         -ENOENT,
         ERR_PERMANENT,
         "NotFound",
         "get pods 'n/a': pods x not found"},
        {{409, STATUS(409, "Conflict", "modified")},
         -ESTALE,
         ERR_CONFLICT,
         "Conflict",
         "get pods 'n/a': modified"},
        {{409, STATUS(409, "AlreadyExists", "there")},
         -EEXIST,
         ERR_CONFLICT,
         "AlreadyExists",
         "get pods 'n/a': there"},
        {{410, STATUS(410, "Expired", "too old")},
         -EIDRM,
         ERR_CONFLICT,
         "Expired",
         "get pods 'n/a': too old"},
        {{422, STATUS(422, "Invalid", "bad")},
         -EINVAL,
         ERR_PERMANENT,
         "Invalid",
         "get pods 'n/a': bad"},
        {{403, STATUS(403, "Forbidden", "no")},
         -EPERM,
         ERR_PERMANENT,
         "Forbidden",
         "get pods 'n/a': no"},
        {{401, STATUS(401, "Unauthorized", "Unauthorized")},
         -EACCES,
         ERR_PERMANENT,
         "Unauthorized",
         "get pods 'n/a': Unauthorized"},
        {{429, STATUS(429, "TooManyRequests", "slow")},
         -EBUSY,
         ERR_RETRY,
         "TooManyRequests",
         "get pods 'n/a': slow"},
        {{500, STATUS(500, "InternalError", "oh")},
         -EREMOTEIO,
         ERR_RETRY,
         "InternalError",
         "get pods 'n/a': oh"},
        {{504, ""},
         -ETIMEDOUT,
         ERR_RETRY,
         "",
         "get pods 'n/a': the server did not finish in time (HTTP 504)"},
        {{502, "<html>bad gateway</html>"},
         -EREMOTEIO,
         ERR_RETRY,
         "",
         "get pods 'n/a': the server behind the gateway is broken (HTTP 502)"},
        {{503, "no\nbackend"}, -EBUSY, ERR_RETRY, "", "get pods 'n/a': no backend"},
        {{418, "\x01\x02"},
         -EINVAL,
         ERR_PERMANENT,
         "",
         "get pods 'n/a': the server answered HTTP 418"},
        {{404, STATUS(200, "Odd", "says 200")},
         -ENOENT,
         ERR_PERMANENT,
         "Odd",
         "get pods 'n/a': says 200"},
        {{301, ""}, -EINVAL, ERR_PERMANENT, "", "get pods 'n/a': the server answered HTTP 301"},
    };
    AUTO(peer_done) struct peer p;

    (void)state;
    peer_init(&p, refuse, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(result_done) struct result res = {0};
        struct refusal r = cases[i].r;

        p.arg = &r;
        (void)ask(&p, (struct kube_request){.verb = KUBE_GET, .namespace = "n", .name = "a"}, &res);
        peer_run_until(&p, &res.done, 1);
        assert_int_equal(res.f.err.num, cases[i].num);
        assert_int_equal(res.f.err.class, cases[i].class);
        assert_int_equal(res.f.code, cases[i].r.status);
        assert_string_equal(res.f.reason, cases[i].reason);
        assert_string_equal(res.f.err.text, cases[i].text);
    }
    assert_int_equal(p.n_seen, ARRAY_LEN(cases));
}

static void busy_twice(struct peer *p, struct http_exchange *x)
{
    if (p->n_seen <= 2)
        peer_answer_with(x, p->n_seen == 1 ? 429 : 503, "Retry-After: 1\r\n",
                         STATUS(429, "TooManyRequests", "slow"));
    else
        echo(p, x);
}

static void the_server_is_asked_again_when_it_says_so(void **state)
{
    AUTO(result_done) struct result res = {0};
    AUTO(peer_done) struct peer p;
    int64_t before = clock_mono_ms();

    (void)state;
    peer_init(&p, busy_twice, NULL);
    (void)ask(&p, (struct kube_request){.verb = KUBE_GET, .namespace = "n", .name = "a"}, &res);
    peer_run_until(&p, &res.done, 1);
    assert_int_equal(res.code, 200);
    assert_int_equal(p.n_seen, 3);
    assert_true(clock_mono_ms() - before >= 1990);
}

static void always_busy(struct peer *p, struct http_exchange *x)
{
    (void)p;
    peer_answer_with(x, 429, "Retry-After: 5\r\n", STATUS(429, "TooManyRequests", "slow"));
}

static void who_has_no_time_to_wait_is_told_at_once(void **state)
{
    AUTO(result_done) struct result once = {0}, soon = {0};
    AUTO(peer_done) struct peer p;

    (void)state;
    peer_init(&p, always_busy, NULL);
    (void)ask(&p,
              (struct kube_request){.verb = KUBE_GET, .namespace = "n", .name = "a", .once = true},
              &once);
    (void)ask(
        &p,
        (struct kube_request){.verb = KUBE_GET, .namespace = "n", .name = "a", .deadline_ms = 3000},
        &soon);
    peer_run_until(&p, &once.done, 1);
    peer_run_until(&p, &soon.done, 1);
    assert_int_equal(once.f.retry_after_ms, 5000);
    assert_int_equal(soon.f.err.num, -EBUSY);
    assert_int_equal(p.n_seen, 2);
}

static void needs_fresh_token(struct peer *p, struct http_exchange *x)
{
    if (streq(http_request_header(x, "Authorization"), "Bearer two"))
        echo(p, x);
    else
        peer_answer(x, 401, STATUS(401, "Unauthorized", "Unauthorized"));
}

static void a_refused_token_is_read_again_once(void **state)
{
    AUTO(result_done) struct result res = {0}, bad = {0};
    char path[] = "/tmp/kube-token-XXXXXX";
    AUTO(peer_done) struct peer p;
    struct err e = {0};

    (void)state;
    assert_true(close(mkstemp(path)) == 0);
    assert_int_equal(file_write(path, STR("one"), 0600, &e), 0);
    peer_init(&p, needs_fresh_token, NULL);
    p.target->user->token_file = xstrdup(path);
    peer_redirect(&p, http_server_port(p.server), NULL);
    (void)ask(&p, (struct kube_request){.verb = KUBE_GET, .namespace = "n", .name = "a"}, &bad);
    peer_run_until(&p, &bad.done, 1);
    assert_int_equal(bad.f.err.num, -EACCES);
    assert_int_equal(p.n_seen, 1);
    assert_int_equal(file_write(path, STR("two"), 0600, &e), 0);
    (void)ask(&p, (struct kube_request){.verb = KUBE_GET, .namespace = "n", .name = "a"}, &res);
    peer_run_until(&p, &res.done, 1);
    assert_int_equal(res.code, 200);
    assert_int_equal(p.n_seen, 3);
    assert_int_equal(unlink(path), 0);
}

static void a_plugin_that_fails_fails_the_call(void **state)
{
    AUTO(result_done) struct result res = {0};
    AUTO(peer_done) struct peer p;

    (void)state;
    peer_init(&p, echo, NULL);
    p.target->user->plugin = xcalloc(1, sizeof(*p.target->user->plugin));
    p.target->user->plugin->command = xstrdup("false");
    p.target->user->plugin->api_version = xstrdup("client.authentication.k8s.io/v1");
    (void)ask(&p, (struct kube_request){.verb = KUBE_GET, .namespace = "n", .name = "a"}, &res);
    peer_run_until(&p, &res.done, 1);
    assert_string_equal(res.f.err.text,
                        "get pods 'n/a': credential plugin 'false': it failed with exit code 1");
    assert_int_equal(p.n_seen, 0);
}

static void the_rate_is_limited_and_urgent_calls_pass(void **state)
{
    const struct kube_client_options o = {.per_second = 20, .burst = 2};
    AUTO(result_done) struct result slow = {0}, quick = {0};
    AUTO(peer_done) struct peer p;
    int64_t before = clock_mono_ms();

    (void)state;
    peer_init(&p, echo, &o);
    for (int i = 0; i < 8; i++)
        (void)ask(&p, (struct kube_request){.verb = KUBE_GET, .namespace = "n", .name = "a"},
                  &slow);
    (void)ask(
        &p,
        (struct kube_request){.verb = KUBE_GET, .namespace = "n", .name = "urgent", .urgent = true},
        &quick);
    peer_run_until(&p, &quick.done, 1);
    assert_true(slow.done <= 3);
    peer_run_until(&p, &slow.done, 8);
    assert_true(clock_mono_ms() - before >= 280);
    assert_true(clock_mono_ms() - before < 2000);
}

static void hold(struct peer *p, struct http_exchange *x)
{
    (void)p;
    (void)x;
}

static void only_so_many_are_in_flight(void **state)
{
    const struct kube_client_options o = {.max_in_flight = 3};
    AUTO(result_done) struct result res = {0};
    AUTO(peer_done) struct peer p;
    struct kube_call *calls[8];

    (void)state;
    peer_init(&p, hold, &o);
    for (int i = 0; i < 8; i++)
        calls[i] =
            ask(&p, (struct kube_request){.verb = KUBE_GET, .namespace = "n", .name = "a"}, &res);
    peer_run_for(&p, 100);
    assert_int_equal(p.n_seen, 3);
    kube_call_cancel(calls[0]);
    kube_call_cancel(calls[7]);
    p.fn = echo;
    peer_run_for(&p, 100);
    assert_int_equal(p.n_seen, 7);
    assert_int_equal(res.done, 4);
}

static void deadlines_cover_every_wait(void **state)
{
    const struct kube_client_options o = {.per_second = 0.1, .burst = 1};
    AUTO(result_done) struct result sent = {0}, queued = {0};
    AUTO(peer_done) struct peer p;

    (void)state;
    peer_init(&p, hold, &o);
    (void)ask(
        &p,
        (struct kube_request){.verb = KUBE_GET, .namespace = "n", .name = "a", .deadline_ms = 100},
        &sent);
    (void)ask(
        &p,
        (struct kube_request){.verb = KUBE_GET, .namespace = "n", .name = "b", .deadline_ms = 100},
        &queued);
    peer_run_until(&p, &sent.done, 1);
    peer_run_until(&p, &queued.done, 1);
    assert_int_equal(sent.f.err.num, -ETIMEDOUT);
    assert_int_equal(sent.f.err.class, ERR_RETRY);
    assert_string_equal(sent.f.err.text, "get pods 'n/a': no answer within 0.1 s");
    assert_string_equal(queued.f.err.text,
                        "get pods 'n/b': held back by the client's rate limit within 0.1 s");
}

static void a_cancelled_call_is_silent(void **state)
{
    AUTO(result_done) struct result res = {0};
    AUTO(peer_done) struct peer p;
    struct kube_call *call;

    (void)state;
    peer_init(&p, hold, NULL);
    call = ask(&p, (struct kube_request){.verb = KUBE_GET, .namespace = "n", .name = "a"}, &res);
    peer_run_for(&p, 50);
    kube_call_cancel(call);
    call = ask(&p, (struct kube_request){.verb = KUBE_GET, .namespace = "n", .name = ".."}, &res);
    kube_call_cancel(call);
    peer_run_for(&p, 50);
    assert_int_equal(res.done, 0);
}

#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

static void faults_of_the_peer_are_to_be_tried_again(void **state)
{
    static const struct {
        const char *script;
        int num;
    } cases[] = {
        {"", -ECONNRESET},
        {"HTTP/1.1 200 OK\r\nContent-Le", -EBADMSG},
        {HEAD "Content-Length: 100\r\n\r\n{\"kind\":", -ECONNRESET},
        {HEAD "Transfer-Encoding: chunked\r\n\r\n20\r\n{\"kind\":", -ECONNRESET},
        {HEAD "Content-Length: 7\r\n\r\ngarbage", -EBADMSG},
        {HEAD "Content-Length: 0\r\n\r\n", -EBADMSG},
        {HEAD "Content-Length: 9\r\n\r\n{\"kind\":1", -EBADMSG},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *const scripts[] = {cases[i].script, NULL};
        AUTO(result_done) struct result res = {0};
        AUTO(peer_done) struct peer p;
        struct raw_peer *raw;

        peer_init(&p, echo, NULL);
        raw = raw_peer_new(p.loop, scripts);
        peer_redirect(&p, raw_peer_port(raw), NULL);
        (void)ask(&p, (struct kube_request){.verb = KUBE_GET, .namespace = "n", .name = "a"}, &res);
        peer_run_until(&p, &res.done, 1);
        if (res.f.err.num != cases[i].num)
            fail_msg("case %zu: %d %s", i, res.f.err.num, res.f.err.text);
        assert_int_equal(res.f.err.class, ERR_RETRY);
        assert_true(starts_with(res.f.err.text, "get pods 'n/a': "));
        p.client = kube_client_free(p.client);
        (void)raw_peer_free(raw);
    }
}

static void a_closed_port_is_to_be_tried_again(void **state)
{
    AUTO(result_done) struct result res = {0};
    AUTO(peer_done) struct peer p;

    (void)state;
    peer_init(&p, echo, NULL);
    peer_redirect(&p, 1, NULL);
    (void)ask(&p, (struct kube_request){.verb = KUBE_LIST}, &res);
    peer_run_until(&p, &res.done, 1);
    assert_int_equal(res.f.err.num, -ECONNREFUSED);
    assert_int_equal(res.f.err.class, ERR_RETRY);
    assert_int_equal(res.f.code, 0);
}

static void buckets_fill_at_their_rate(void **state)
{
    struct pace_bucket b;

    (void)state;
    pace_bucket_init(&b, 10, 2, 1000);
    assert_int_equal(pace_bucket_take(&b, 1000), 0);
    assert_int_equal(pace_bucket_take(&b, 1000), 0);
    assert_int_equal(pace_bucket_take(&b, 1000), 100);
    assert_int_equal(pace_bucket_take(&b, 1050), 50);
    assert_int_equal(pace_bucket_take(&b, 1100), 0);
    assert_int_equal(pace_bucket_take(&b, 99000), 0);
    assert_int_equal(pace_bucket_take(&b, 99000), 0);
    assert_int_equal(pace_bucket_take(&b, 99000), 100);
    pace_bucket_init(&b, -1, 0, 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(pace_bucket_take(&b, 0), 0);
}

static void back_off_doubles_up_to_its_end(void **state)
{
    struct pace_backoff b = {.first_ms = 100, .max_ms = 1000};
    static const int64_t steps[] = {100, 200, 400, 800, 1000, 1000};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        int64_t d = pace_backoff_next(&b);

        assert_true(d >= steps[i] / 2 && d <= steps[i]);
    }
    pace_backoff_reset(&b);
    assert_true(pace_backoff_next(&b) <= 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_have_the_right_address),
        cmocka_unit_test(a_name_cannot_climb_out_of_its_place),
        cmocka_unit_test(an_object_comes_back_parsed),
        cmocka_unit_test(a_body_is_sent_as_json),
        cmocka_unit_test(refusals_have_class_code_and_reason),
        cmocka_unit_test(the_server_is_asked_again_when_it_says_so),
        cmocka_unit_test(who_has_no_time_to_wait_is_told_at_once),
        cmocka_unit_test(a_refused_token_is_read_again_once),
        cmocka_unit_test(a_plugin_that_fails_fails_the_call),
        cmocka_unit_test(the_rate_is_limited_and_urgent_calls_pass),
        cmocka_unit_test(only_so_many_are_in_flight),
        cmocka_unit_test(deadlines_cover_every_wait),
        cmocka_unit_test(a_cancelled_call_is_silent),
        cmocka_unit_test(faults_of_the_peer_are_to_be_tried_again),
        cmocka_unit_test(a_closed_port_is_to_be_tried_again),
        cmocka_unit_test(buckets_fill_at_their_rate),
        cmocka_unit_test(back_off_doubles_up_to_its_end),
    };

    return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
