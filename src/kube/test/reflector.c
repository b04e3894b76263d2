/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of list and watch, against peers that break in every way. */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/kube/reflector.h"
#include "src/kube/test/peer.h"

#define POD(name, version)                                                                         \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"resourceVersion\":\"" version "\"" \
    "}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}"
#define LIST(version, more, items)                                                                 \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" version     \
    "\",\"continue\":\"" more "\"},\"items\":[" items "]}"
#define GONE                                                                                       \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Expired\",\"message\":\"too old\","  \
    "\"code\":410}"

/* What the sink has heard: "begin +a end -a ..."; and how often. */
struct log {
    struct buf text;
    int begins;
    int ends;
    int puts;
    int drops;
    int troubles;
    struct kube_failure last;
    int64_t last_retry_ms;
    struct kube_reflector *free_on_put;
};

static void on_begin(void *arg)
{
    struct log *l = arg;

    l->begins++;
    buf_adds(&l->text, "begin ");
}

static void on_put(void *arg, struct jsn *object, struct arena *arena)
{
    struct log *l = arg;

    (void)arena;
    l->puts++;
    buf_printf(&l->text, "+%s ", jsn_get_str(object, "metadata.name"));
    if (l->free_on_put)
        (void)kube_reflector_free(TAKE(l->free_on_put));
}

static void on_drop(void *arg, struct jsn *object, struct arena *arena)
{
    struct log *l = arg;

    (void)arena;
    l->drops++;
    buf_printf(&l->text, "-%s ", jsn_get_str(object, "metadata.name"));
}

static void on_end(void *arg)
{
    struct log *l = arg;

    l->ends++;
    buf_adds(&l->text, "end ");
}

static void on_trouble(void *arg, const struct kube_failure *f, int64_t retry_ms)
{
    struct log *l = arg;

    l->troubles++;
    l->last = *f;
    l->last_retry_ms = retry_ms;
}

static void log_done(struct log *l)
{
    buf_done(&l->text);
}
DEFINE_AUTO_DONE(struct log, log_done);

static struct kube_reflector *reflect(struct peer *p, struct log *l,
                                      struct kube_reflector_options o)
{
    o.scope.resource = (struct kube_resource){"", "v1", "pods"};
    o.sink = (struct kube_sink){on_begin, on_put, on_drop, on_end, on_trouble, l};
    o.backoff_first_ms = o.backoff_first_ms ? o.backoff_first_ms : 10;
    return kube_reflector_new(p->client, &o);
}

static bool is_watch(struct http_exchange *x)
{
    return peer_query_is(x, "watch", "true");
}

static void list_one(struct peer *p, struct http_exchange *x)
{
    if (is_watch(x))
        peer_stream(p, x);
    else
        peer_answer(x, 200, LIST("5", "", POD("a", "3")));
}

#define WATCH "GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds="

static void a_list_is_followed_by_its_changes(void **state)
{
    AUTO(log_done) struct log l = {0};
    AUTO(peer_done) struct peer p;
    AUTO(kube_reflector_free) struct kube_reflector *r = NULL;
    int seconds = 0;

    (void)state;
    peer_init(&p, list_one, NULL);
    r = reflect(&p, &l, (struct kube_reflector_options){0});
    assert_int_equal(l.begins, 0);
    assert_string_equal(kube_reflector_version(r), "");
    peer_run_until(&p, &p.streams, 1);
    assert_string_equal(kube_reflector_state(r), "watching");
    assert_string_equal(kube_reflector_version(r), "5");
    peer_line(&p, EVENT("ADDED", POD("b", "6")));
    peer_line(&p, EVENT("MODIFIED", POD("a", "7")));
    peer_line(&p, EVENT("DELETED", POD("b", "8")));
    peer_run_until(&p, &l.drops, 1);
    assert_string_equal(buf_str(&l.text), "begin +a end +b +a -b ");
    assert_string_equal(kube_reflector_version(r), "8");
    assert_string_equal(p.seen[0], "GET /api/v1/pods?limit=500 - ");
    assert_true(starts_with(p.seen[1], WATCH));
    assert_int_equal(sscanf(p.seen[1], WATCH "%d&watch=true", &seconds), 1);
    assert_true(seconds >= 300 && seconds <= 600);
}

static void selectors_are_sent_along(void **state)
{
    AUTO(log_done) struct log l = {0};
    AUTO(peer_done) struct peer p;
    AUTO(kube_reflector_free) struct kube_reflector *r = NULL;

    (void)state;
    peer_init(&p, list_one, NULL);
    r = reflect(&p, &l,
                (struct kube_reflector_options){.scope = {.namespace = "n",
                                                          .label_selector = "a=b",
                                                          .field_selector = "metadata.name=x"},
                                                .watch_timeout_s = 7,
                                                .page_limit = 3});
    peer_run_until(&p, &p.streams, 1);
    assert_string_equal(p.seen[0], "GET /api/v1/namespaces/n/pods?limit=3&fieldSelector="
                                   "metadata.name%3Dx&labelSelector=a%3Db - ");
    assert_string_equal(p.seen[1],
                        "GET /api/v1/namespaces/n/pods?allowWatchBookmarks=true&fieldSelector="
                        "metadata.name%3Dx&labelSelector=a%3Db&resourceVersion=5&timeoutSeconds=7&"
                        "watch=true - ");
}

static void list_pages(struct peer *p, struct http_exchange *x)
{
    if (is_watch(x))
        peer_stream(p, x);
    else if (peer_query_is(x, "continue", "t2"))
        peer_answer(x, 200, LIST("9", "", POD("c", "3")));
    else if (peer_query_is(x, "continue", "t1"))
        peer_answer(x, 200, LIST("9", "t2", POD("b", "2")));
    else
        peer_answer(x, 200, LIST("9", "t1", POD("a", "1")));
}

static void pages_are_put_together(void **state)
{
    AUTO(log_done) struct log l = {0};
    AUTO(peer_done) struct peer p;
    AUTO(kube_reflector_free) struct kube_reflector *r = NULL;

    (void)state;
    peer_init(&p, list_pages, NULL);
    r = reflect(&p, &l, (struct kube_reflector_options){0});
    peer_run_until(&p, &p.streams, 1);
    assert_string_equal(buf_str(&l.text), "begin +a +b +c end ");
    assert_string_equal(kube_reflector_version(r), "9");
}

static void expire_second_page(struct peer *p, struct http_exchange *x)
{
    if (is_watch(x))
        peer_stream(p, x);
    else if (peer_query_is(x, "continue", "t1"))
        peer_answer(x, 410, GONE);
    else if (peer_query_is(x, "limit", "500"))
        peer_answer(x, 200, LIST("9", "t1", POD("a", "1")));
    else
        peer_answer(x, 200, LIST("12", "", POD("b", "2") "," POD("c", "3")));
}

static void an_expired_page_makes_a_list_in_one_piece(void **state)
{
    AUTO(log_done) struct log l = {0};
    AUTO(peer_done) struct peer p;
    AUTO(kube_reflector_free) struct kube_reflector *r = NULL;

    (void)state;
    peer_init(&p, expire_second_page, NULL);
    r = reflect(&p, &l, (struct kube_reflector_options){0});
    peer_run_until(&p, &p.streams, 1);
    assert_string_equal(buf_str(&l.text), "begin +a begin +b +c end ");
    assert_string_equal(p.seen[2], "GET /api/v1/pods - ");
    assert_string_equal(kube_reflector_version(r), "12");
    assert_int_equal(l.troubles, 0);
}

static void an_ended_watch_resumes_from_the_last_version(void **state)
{
    AUTO(log_done) struct log l = {0};
    AUTO(peer_done) struct peer p;
    AUTO(kube_reflector_free) struct kube_reflector *r = NULL;

    (void)state;
    peer_init(&p, list_one, NULL);
    r = reflect(&p, &l, (struct kube_reflector_options){0});
    peer_run_until(&p, &p.streams, 1);
    peer_line(&p, EVENT("ADDED", POD("b", "6")));
    peer_line(&p, EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"99\"}}"));
    peer_stream_end(&p);
    peer_run_until(&p, &p.streams, 2);
    assert_non_null(strstr(p.seen[2], "resourceVersion=99&"));
    assert_string_equal(buf_str(&l.text), "begin +a end +b ");
    assert_int_equal(l.troubles, 0);
}

/* The first watch gets what p->arg says; later ones stay open. */
static void first_watch_fails(struct peer *p, struct http_exchange *x)
{
    const char *how = p->arg;

    if (!is_watch(x)) {
        peer_answer(x, 200, LIST("5", "", POD("a", "3")));
    } else if (p->streams > 0 || !how) {
        peer_stream(p, x);
    } else if (*how == '4' || *how == '5') {
        p->arg = NULL;
        peer_answer(x, *how == '4' ? 410 : 503, GONE);
    } else {
        peer_stream(p, x);
        peer_line(p, how);
        peer_stream_end(p);
    }
}

static void every_failure_of_a_watch_has_its_remedy(void **state)
{
    static const struct {
        const char *how;
        int num;
        bool relists;
    } cases[] = {
        {"4 as HTTP status", -EIDRM, true},
        {EVENT("ERROR", GONE), -EIDRM, true},
        {"5", -EBUSY, false},
        {EVENT("ERROR", "{\"kind\":\"Status\",\"code\":500,\"message\":\"oh\"}"), -EREMOTEIO,
         false},
        {"garbage", -EBADMSG, false},
        {"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"na", -EBADMSG, false},
        {EVENT("STRANGE", "{}"), -EBADMSG, false},
        {EVENT("ADDED", "[]"), -EBADMSG, false},
        {EVENT("ADDED", "{\"metadata\":{\"name\":\"x\"}}"), -EBADMSG, true},
        {EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"4\"}}"), -EBADMSG, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(log_done) struct log l = {0};
        AUTO(peer_done) struct peer p;
        AUTO(kube_reflector_free) struct kube_reflector *r = NULL;
        char how[200];

        (void)snprintf(how, sizeof(how), "%s", cases[i].how);
        peer_init(&p, first_watch_fails, NULL);
        p.arg = how;
        r = reflect(&p, &l, (struct kube_reflector_options){0});
        peer_run_until(&p, &l.troubles, 1);
        peer_run_until(&p, &p.streams, *how == '4' || *how == '5' ? 1 : 2);
        if (l.last.err.num != cases[i].num)
            fail_msg("case %zu: %d: %s", i, l.last.err.num, l.last.err.text);
        assert_string_equal(buf_str(&l.text),
                            cases[i].relists ? "begin +a end begin +a end " : "begin +a end ");
        assert_int_equal(l.troubles, 1);
    }
}

#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
#define CHUNKED HEAD "Transfer-Encoding: chunked\r\n\r\n"

static void streams_that_break_are_resumed(void **state)
{
    static const char event[] = EVENT("ADDED", POD("a", "6")) "\n";
    AUTO(free) char *cut = xasprintf(CHUNKED "%zx\r\n%s\r\n", strlen(event), event);
    /* An empty list; then a stream cut in a chunk, one cut after an event, one that holds. */
    const char *const scripts[] = {
        HEAD "Connection: close\r\n\r\n" LIST("5", "", ""),
        CHUNKED "40\r\n{\"type\":\"ADDED\",\"obj",
        cut,
        CHUNKED "HOLD",
        NULL,
    };
    AUTO(log_done) struct log l = {0};
    AUTO(peer_done) struct peer p;
    struct kube_reflector *r = NULL;
    struct raw_peer *raw;

    (void)state;
    peer_init(&p, list_one, NULL);
    raw = raw_peer_new(p.loop, scripts);
    peer_redirect(&p, raw_peer_port(raw), NULL);
    r = reflect(&p, &l, (struct kube_reflector_options){0});
    peer_run_until(&p, &l.puts, 1);
    peer_run_until(&p, &l.troubles, 2);
    peer_run_for(&p, 100);
    assert_string_equal(buf_str(&l.text), "begin end +a ");
    assert_int_equal(raw_peer_connections(raw), 4);
    assert_int_equal(l.last.err.class, ERR_RETRY);
    assert_string_equal(kube_reflector_state(r), "watching");
    r = kube_reflector_free(r);
    p.client = kube_client_free(p.client);
    (void)raw_peer_free(raw);
}

static void a_silent_stream_is_opened_anew(void **state)
{
    AUTO(log_done) struct log l = {0};
    AUTO(peer_done) struct peer p;
    AUTO(kube_reflector_free) struct kube_reflector *r = NULL;

    (void)state;
    peer_init(&p, list_one, NULL);
    r = reflect(&p, &l, (struct kube_reflector_options){.watch_silence_ms = 150});
    peer_run_until(&p, &p.streams, 1);
    for (int i = 0; i < 4; i++) {
        peer_run_for(&p, 80);
        peer_line(&p, EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"6\"}}"));
    }
    assert_int_equal(p.streams, 1);
    peer_run_until(&p, &p.streams, 2);
    assert_int_equal(l.last.err.num, -ETIMEDOUT);
    assert_string_equal(l.last.err.text, "watch pods: the stream went silent");
    assert_string_equal(buf_str(&l.text), "begin +a end ");
}

static void end_at_once(struct peer *p, struct http_exchange *x)
{
    if (!is_watch(x)) {
        peer_answer(x, 200, LIST("5", "", ""));
        return;
    }
    peer_stream(p, x);
    peer_stream_end(p);
}

static void a_server_that_ends_every_watch_is_not_hammered(void **state)
{
    AUTO(log_done) struct log l = {0};
    AUTO(peer_done) struct peer p;
    AUTO(kube_reflector_free) struct kube_reflector *r = NULL;

    (void)state;
    peer_init(&p, end_at_once, NULL);
    r = reflect(&p, &l, (struct kube_reflector_options){.backoff_first_ms = 40});
    peer_run_for(&p, 700);
    assert_true(p.streams >= 3 && p.streams <= 8);
    assert_string_equal(l.last.err.text, "watch pods: the server ended it at once");
    assert_int_equal(l.begins, 1);
}

static void lists_fail(struct peer *p, struct http_exchange *x)
{
    static const char *const bad[] = {
        "{}",
        "[]",
        ("{\"metadata\":{\"resourceVersion\":\"1\"},"
         "\"items\":[{}]}"),
    };

    if (is_watch(x))
        peer_stream(p, x);
    else if (p->n_seen <= 3)
        peer_answer(x, 200, bad[p->n_seen - 1]);
    else if (p->n_seen == 4)
        peer_answer(x, 500, "");
    else if (p->n_seen == 5)
        peer_answer_with(x, 429, "Retry-After: 1\r\n", "");
    else
        peer_answer(x, 200, LIST("5", "", POD("a", "3")));
}

static void a_list_that_fails_is_made_again(void **state)
{
    AUTO(log_done) struct log l = {0};
    AUTO(peer_done) struct peer p;
    AUTO(kube_reflector_free) struct kube_reflector *r = NULL;
    int64_t before = clock_mono_ms();

    (void)state;
    peer_init(&p, lists_fail, NULL);
    r = reflect(&p, &l, (struct kube_reflector_options){0});
    peer_run_until(&p, &p.streams, 1);
    assert_int_equal(l.ends, 1);
    assert_int_equal(l.troubles, 4);
    assert_true(clock_mono_ms() - before >= 990);
    assert_true(ends_with(buf_str(&l.text), "begin +a end "));
}

static void a_server_that_is_away_is_waited_for(void **state)
{
    AUTO(log_done) struct log l = {0};
    AUTO(peer_done) struct peer p;
    AUTO(kube_reflector_free) struct kube_reflector *r = NULL;

    (void)state;
    peer_init(&p, list_one, NULL);
    peer_down(&p);
    r = reflect(&p, &l, (struct kube_reflector_options){0});
    peer_run_until(&p, &l.troubles, 3);
    assert_int_equal(l.last.err.num, -ECONNREFUSED);
    peer_up(&p);
    peer_run_until(&p, &p.streams, 1);
    peer_line(&p, EVENT("ADDED", POD("b", "6")));
    peer_run_until(&p, &l.puts, 2);
    peer_down(&p);
    peer_run_until(&p, &l.troubles, 6);
    peer_up(&p);
    peer_run_until(&p, &p.streams, 2);
    assert_non_null(strstr(p.seen[p.n_seen - 1], "resourceVersion=6&"));
    assert_int_equal(l.ends, 1);
}

static void freeing_in_a_callback_is_fine(void **state)
{
    AUTO(log_done) struct log listed = {0}, watched = {0};
    AUTO(peer_done) struct peer p;
    struct kube_reflector *r;

    (void)state;
    peer_init(&p, list_pages, NULL);
    listed.free_on_put = reflect(&p, &listed, (struct kube_reflector_options){0});
    peer_run_until(&p, &listed.puts, 1);
    peer_run_for(&p, 50);
    assert_string_equal(buf_str(&listed.text), "begin +a ");
    p.fn = list_one;
    r = reflect(&p, &watched, (struct kube_reflector_options){0});
    peer_run_until(&p, &p.streams, 1);
    watched.free_on_put = r;
    peer_line(&p, EVENT("ADDED", POD("x", "6")));
    peer_line(&p, EVENT("ADDED", POD("y", "7")));
    peer_run_until(&p, &watched.puts, 2);
    peer_run_for(&p, 50);
    assert_string_equal(buf_str(&watched.text), "begin +a end +x ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_followed_by_its_changes),
        cmocka_unit_test(selectors_are_sent_along),
        cmocka_unit_test(pages_are_put_together),
        cmocka_unit_test(an_expired_page_makes_a_list_in_one_piece),
        cmocka_unit_test(an_ended_watch_resumes_from_the_last_version),
        cmocka_unit_test(every_failure_of_a_watch_has_its_remedy),
        cmocka_unit_test(streams_that_break_are_resumed),
        cmocka_unit_test(a_silent_stream_is_opened_anew),
        cmocka_unit_test(a_server_that_ends_every_watch_is_not_hammered),
        cmocka_unit_test(a_list_that_fails_is_made_again),
        cmocka_unit_test(a_server_that_is_away_is_waited_for),
        cmocka_unit_test(freeing_in_a_callback_is_fine),
    };

    return cmocka_run_group_tests_name("reflector", tests, NULL, NULL);
}
