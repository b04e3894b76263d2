/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of events: correlation and the recorder. */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/kube/correlate.h"
#include "src/kube/test/peer.h"

static const struct kube_reference pod = {.api_version = "v1",
                                          .kind = "Pod",
                                          .namespace = "slurm",
                                          .name = "worker-0",
                                          .uid = "u1",
                                          .version = "7"};

static void accept_all(struct peer *p, struct http_exchange *x)
{
    (void)p;
    peer_answer(x, streq(http_exchange_request(x)->method, "POST") ? 201 : 200, "{}");
}

static void drain(struct peer *p, struct kube_recorder *r)
{
    for (int i = 0; i < 400 && kube_recorder_pending(r) > 0; i++)
        peer_run_for(p, 10);
    assert_int_equal(kube_recorder_pending(r), 0);
}

static void an_event_has_all_its_fields(void **state)
{
    AUTO(peer_done) struct peer p;
    AUTO(kube_recorder_free) struct kube_recorder *r = NULL;
    AUTO(arena_done) struct arena a = {0};
    struct err e = {0};
    struct jsn *v;

    (void)state;
    peer_init(&p, accept_all, NULL);
    r = kube_recorder_new(p.client, "slurmkeeper", "host1");
    kube_recorder_emit(r, &pod, KUBE_EVENT_WARNING, "Refused", "value %d is bad", 42);
    drain(&p, r);
    assert_int_equal(p.n_seen, 1);
    assert_true(starts_with(p.seen[0],
                            "POST /api/v1/namespaces/slurm/events?fieldManager=slurmkeeper - {"));
    assert_int_equal(jsn_parse(&a, str_of(strchr(p.seen[0], '{')), NULL, &v, &e), 0);
    assert_true(starts_with(jsn_get_str(v, "metadata.name"), "worker-0."));
    assert_string_equal(jsn_get_str(v, "metadata.namespace"), "slurm");
    assert_string_equal(jsn_get_str(v, "involvedObject.kind"), "Pod");
    assert_string_equal(jsn_get_str(v, "involvedObject.uid"), "u1");
    assert_string_equal(jsn_get_str(v, "involvedObject.resourceVersion"), "7");
    assert_null(jsn_get(v, "involvedObject.fieldPath"));
    assert_string_equal(jsn_get_str(v, "reason"), "Refused");
    assert_string_equal(jsn_get_str(v, "message"), "value 42 is bad");
    assert_string_equal(jsn_get_str(v, "type"), "Warning");
    assert_string_equal(jsn_get_str(v, "source.component"), "slurmkeeper");
    assert_string_equal(jsn_get_str(v, "source.host"), "host1");
    assert_int_equal(jsn_get_int(v, "count", 0), 1);
    assert_string_equal(jsn_get_str(v, "firstTimestamp"), jsn_get_str(v, "lastTimestamp"));
    assert_string_equal(jsn_get_str(v, "reportingComponent"), "slurmkeeper");
}

static void equal_events_are_counted_in_one(void **state)
{
    AUTO(peer_done) struct peer p;
    AUTO(kube_recorder_free) struct kube_recorder *r = NULL;

    (void)state;
    peer_init(&p, accept_all, NULL);
    r = kube_recorder_new(p.client, "slurmkeeper", NULL);
    kube_recorder_emit(r, &pod, KUBE_EVENT_NORMAL, "Drained", "for repair");
    drain(&p, r);
    kube_recorder_emit(r, &pod, KUBE_EVENT_NORMAL, "Drained", "for repair");
    drain(&p, r);
    assert_int_equal(p.n_seen, 2);
    assert_true(starts_with(p.seen[1], "PATCH /api/v1/namespaces/slurm/events/worker-0."));
    assert_non_null(strstr(p.seen[1], "{\"count\":2,\"lastTimestamp\":\""));
    for (int i = 0; i < 10; i++) /* while the first of them is under way */
        kube_recorder_emit(r, &pod, KUBE_EVENT_NORMAL, "Drained", "for repair");
    drain(&p, r);
    assert_int_equal(p.n_seen, 4);
    assert_non_null(strstr(p.seen[3], "{\"count\":12,"));
    assert_int_equal(kube_recorder_dropped(r), 0);
}

static void cluster_wide_objects_have_their_events_in_default(void **state)
{
    struct kube_reference node = {.kind = "Node", .name = "host"};
    AUTO(peer_done) struct peer p;
    AUTO(kube_recorder_free) struct kube_recorder *r = NULL;

    (void)state;
    peer_init(&p, accept_all, NULL);
    r = kube_recorder_new(p.client, "slurmkeeper", NULL);
    kube_recorder_emit(r, &node, KUBE_EVENT_NORMAL, "Seen", "x");
    drain(&p, r);
    assert_true(starts_with(p.seen[0], "POST /api/v1/namespaces/default/events?"));
}

static void long_names_and_messages_are_cut(void **state)
{
    char name[254];
    struct kube_reference about = {.kind = "X", .namespace = "n", .name = name};
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf message = {0};
    AUTO(peer_done) struct peer p;
    AUTO(kube_recorder_free) struct kube_recorder *r = NULL;
    struct err e = {0};
    struct jsn *v;

    (void)state;
    memset(name, 'a', sizeof(name) - 1);
    name[235] = '-';
    name[sizeof(name) - 1] = '\0';
    for (int i = 0; i < 700; i++)
        buf_adds(&message, "\xc3\xa4");
    peer_init(&p, accept_all, NULL);
    r = kube_recorder_new(p.client, "slurmkeeper", NULL);
    kube_recorder_emit(r, &about, KUBE_EVENT_NORMAL, "Long", "%s", buf_str(&message));
    drain(&p, r);
    assert_int_equal(jsn_parse(&a, str_of(strchr(p.seen[0], '{')), NULL, &v, &e), 0);
    assert_true(strlen(jsn_get_str(v, "metadata.name")) <= 253);
    assert_null(strstr(jsn_get_str(v, "metadata.name"), "-."));
    assert_true(strlen(jsn_get_str(v, "message")) <= 1024);
    assert_true(ends_with(jsn_get_str(v, "message"), "\xc3\xa4..."));
}

/* POSTs fail once with 500, PATCHes find nothing. */
static void fail_once(struct peer *p, struct http_exchange *x)
{
    bool post = streq(http_exchange_request(x)->method, "POST");

    if (!post)
        peer_answer(x, 404, "");
    else if (p->n_seen == 1)
        peer_answer(x, 500, "");
    else
        peer_answer(x, 201, "{}");
}

static void failures_are_tried_again_and_the_lost_made_anew(void **state)
{
    AUTO(peer_done) struct peer p;
    AUTO(kube_recorder_free) struct kube_recorder *r = NULL;

    (void)state;
    peer_init(&p, fail_once, NULL);
    r = kube_recorder_new(p.client, "slurmkeeper", NULL);
    kube_recorder_emit(r, &pod, KUBE_EVENT_NORMAL, "A", "b");
    drain(&p, r);
    assert_int_equal(p.n_seen, 2);
    kube_recorder_emit(r, &pod, KUBE_EVENT_NORMAL, "A", "b");
    drain(&p, r);
    assert_int_equal(p.n_seen, 4);
    assert_true(starts_with(p.seen[2], "PATCH "));
    assert_true(starts_with(p.seen[3], "POST "));
    assert_non_null(strstr(p.seen[3], "\"count\":2,"));
    assert_int_equal(kube_recorder_dropped(r), 0);
}

static void refuse(struct peer *p, struct http_exchange *x)
{
    (void)p;
    peer_answer(x, 403, "");
}

static void exists(struct peer *p, struct http_exchange *x)
{
    if (streq(http_exchange_request(x)->method, "POST"))
        peer_answer(x, 409, "{\"kind\":\"Status\",\"reason\":\"AlreadyExists\",\"code\":409}");
    else
        accept_all(p, x);
}

static void a_refusal_drops_the_event(void **state)
{
    AUTO(peer_done) struct peer p;
    AUTO(kube_recorder_free) struct kube_recorder *r = NULL;

    (void)state;
    peer_init(&p, refuse, NULL);
    r = kube_recorder_new(p.client, "slurmkeeper", NULL);
    kube_recorder_emit(r, &pod, KUBE_EVENT_NORMAL, "A", "b");
    drain(&p, r);
    assert_int_equal(p.n_seen, 1);
    assert_int_equal(kube_recorder_dropped(r), 1);
    p.fn = exists;
    kube_recorder_emit(r, &pod, KUBE_EVENT_NORMAL, "C", "d");
    drain(&p, r);
    assert_int_equal(p.n_seen, 3);
    assert_true(starts_with(p.seen[2], "PATCH "));
}

static void one_object_cannot_flood_the_server(void **state)
{
    AUTO(peer_done) struct peer p;
    AUTO(kube_recorder_free) struct kube_recorder *r = NULL;

    (void)state;
    peer_init(&p, accept_all, NULL);
    r = kube_recorder_new(p.client, "slurmkeeper", NULL);
    for (int i = 0; i < 100; i++)
        kube_recorder_emit(r, &pod, KUBE_EVENT_NORMAL, "A", "message %d", i);
    drain(&p, r);
    assert_int_equal(kube_recorder_dropped(r), 75);
    assert_true(p.n_seen <= 25);
    assert_non_null(strstr(p.seen[p.n_seen - 1], "(combined from similar events): "));
}

static void leaving_drops_what_is_not_sent(void **state)
{
    AUTO(peer_done) struct peer p;
    struct kube_recorder *r;

    (void)state;
    peer_init(&p, accept_all, NULL);
    r = kube_recorder_new(p.client, "slurmkeeper", NULL);
    for (int i = 0; i < 9; i++)
        kube_recorder_emit(r, &pod, KUBE_EVENT_NORMAL, "A", "message %d", i);
    assert_int_equal(kube_recorder_pending(r), 9);
    r = kube_recorder_free(r);
    peer_run_for(&p, 50);
    assert_null(r);
}

static struct occurrence happened(const char *message)
{
    return (struct occurrence){"c", "h", &pod, KUBE_EVENT_NORMAL, "R", message};
}

static void many_messages_of_a_reason_become_one_event(void **state)
{
    struct correlator c;
    AUTO(free) char *combined = NULL;

    (void)state;
    correlator_init(&c);
    for (int i = 0; i < 14; i++) {
        AUTO(free) char *message = xasprintf("m%d", i);
        AUTO(free) char *key = NULL;
        AUTO(free) char *said = NULL;
        struct occurrence o = happened(message);

        correlate_key(&c, &o, i, &key, &said);
        assert_true(starts_with(said, i < 9 ? "m" : "(combined from similar events): m"));
        if (i == 9)
            combined = xstrdup(key);
        if (i >= 9)
            assert_string_equal(key, combined);
    }
    {
        struct occurrence known = happened("m3");
        struct occurrence late = happened("later");
        AUTO(free) char *key = NULL;
        AUTO(free) char *said = NULL;
        AUTO(free) char *late_key = NULL;
        AUTO(free) char *late_said = NULL;

        correlate_key(&c, &known, 20, &key, &said);
        assert_string_equal(said, "m3");
        correlate_key(&c, &late, 21 + CORRELATE_SIMILAR_MS, &late_key, &late_said);
        assert_string_equal(late_said, "later");
    }
    correlator_done(&c);
}

static void an_object_has_a_budget_that_refills(void **state)
{
    struct occurrence o = happened("m");
    struct correlator c;
    int admitted = 0;

    (void)state;
    correlator_init(&c);
    for (int i = 0; i < 60; i++)
        admitted += correlate_admits(&c, &o, 1000);
    assert_int_equal(admitted, 25);
    assert_false(correlate_admits(&c, &o, 290000));
    assert_true(correlate_admits(&c, &o, 301001));
    assert_false(correlate_admits(&c, &o, 301002));
    o.type = o.type == KUBE_EVENT_WARNING ? KUBE_EVENT_NORMAL : KUBE_EVENT_WARNING;
    assert_true(correlate_admits(&c, &o, 301003)); /* has a share of its own */
    correlator_done(&c);
}

static void free_plain(struct lru_node *n)
{
    free(n);
}

static void the_oldest_unpinned_is_forgotten(void **state)
{
    struct lru_node *nodes[4];
    struct lru l;

    (void)state;
    lru_init(&l, 3, free_plain);
    for (int i = 0; i < 3; i++) {
        char key[2] = {(char)('a' + i), '\0'};

        nodes[i] = xcalloc(1, sizeof(*nodes[i]));
        lru_put(&l, key, nodes[i]);
    }
    nodes[1]->pinned = true;
    assert_ptr_equal(lru_get(&l, "a"), nodes[0]);
    nodes[3] = xcalloc(1, sizeof(*nodes[3]));
    lru_put(&l, "d", nodes[3]);
    assert_null(lru_get(&l, "c"));
    assert_non_null(lru_get(&l, "b"));
    assert_non_null(lru_get(&l, "a"));
    assert_non_null(lru_get(&l, "d"));
    lru_done(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_has_all_its_fields),
        cmocka_unit_test(equal_events_are_counted_in_one),
        cmocka_unit_test(cluster_wide_objects_have_their_events_in_default),
        cmocka_unit_test(long_names_and_messages_are_cut),
        cmocka_unit_test(failures_are_tried_again_and_the_lost_made_anew),
        cmocka_unit_test(a_refusal_drops_the_event),
        cmocka_unit_test(one_object_cannot_flood_the_server),
        cmocka_unit_test(leaving_drops_what_is_not_sent),
        cmocka_unit_test(many_messages_of_a_reason_become_one_event),
        cmocka_unit_test(an_object_has_a_budget_that_refills),
        cmocka_unit_test(the_oldest_unpinned_is_forgotten),
    };

    return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
