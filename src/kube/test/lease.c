/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of leader election, against a peer that holds one Lease and can misbehave. */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/kube/lease.h"
#include "src/kube/lease_record.h"
#include "src/kube/test/peer.h"

/* The server's side: one Lease with optimistic locking. */
struct model {
    char *lease; /* NULL: there is none */
    int version;
    int puts;
    int refuse;    /* status to refuse everything with */
    bool lose_put; /* carry the next PUT out, but do not answer */
};

struct candidate {
    struct kube_election *el;
    int started;
    int stopped;
    int told;
    int troubles;
    int done;
    char leader[32];
    struct kube_failure last;
    int64_t started_ms;
    int64_t stopped_ms;
    bool free_when_stopped;
};

static void store(struct model *m, struct jsn *lease, struct arena *a)
{
    AUTO(buf_done) struct buf b = {0};

    jsn_set_path(a, lease, "metadata.resourceVersion", jsn_stringf(a, "%d", ++m->version));
    jsn_print(&b, lease);
    free(m->lease);
    m->lease = buf_take(&b);
}

static void put(struct model *m, struct http_exchange *x)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *lease;
    struct err e = {0};
    int64_t version = 0;

    assert_int_equal(jsn_parse(&a, http_exchange_request(x)->body, NULL, &lease, &e), 0);
    assert_int_equal(str_to_i64(str_of(jsn_get_str(lease, "metadata.resourceVersion")), &version),
                     0);
    if (version != m->version) {
        peer_answer(x, 409, "{\"kind\":\"Status\",\"reason\":\"Conflict\",\"code\":409}");
        return;
    }
    store(m, lease, &a);
    m->puts++;
    if (!m->lose_put)
        peer_answer(x, 200, m->lease);
    m->lose_put = false;
}

static void serve(struct peer *p, struct http_exchange *x)
{
    const struct http_request *q = http_exchange_request(x);
    struct model *m = p->arg;

    if (m->refuse) {
        peer_answer(x, m->refuse, "");
    } else if (streq(q->method, "GET")) {
        peer_answer(x, m->lease ? 200 : 404, m->lease ? m->lease : "");
    } else if (streq(q->method, "PUT")) {
        put(m, x);
    } else {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *lease;
        struct err e = {0};

        assert_string_equal(q->method, "POST");
        assert_int_equal(jsn_parse(&a, q->body, NULL, &lease, &e), 0);
        store(m, lease, &a);
        peer_answer(x, 201, m->lease);
    }
}

static void on_started(void *arg)
{
    struct candidate *c = arg;

    c->started++;
    c->started_ms = clock_mono_ms();
    assert_true(kube_election_leads(c->el));
}

static void on_stopped(void *arg)
{
    struct candidate *c = arg;

    c->stopped++;
    c->stopped_ms = clock_mono_ms();
    assert_false(kube_election_leads(c->el));
    if (c->free_when_stopped)
        c->el = kube_election_free(c->el);
}

static void on_leader(void *arg, const char *identity)
{
    struct candidate *c = arg;

    c->told++;
    (void)snprintf(c->leader, sizeof(c->leader), "%s", identity);
}

static void on_trouble(void *arg, const struct kube_failure *f)
{
    struct candidate *c = arg;

    c->troubles++;
    c->last = *f;
}

static void on_done(void *arg)
{
    struct candidate *c = arg;

    c->done++;
}

static void campaign_after(struct peer *p, struct candidate *c, const char *identity,
                           const char *predecessors)
{
    struct kube_election_options o = {
        .namespace = "slurm",
        .name = "operator",
        .identity = identity,
        .predecessors = predecessors,
        .lease_ms = 2000,
        .renew_ms = 1500,
        .retry_ms = 100,
        .started = on_started,
        .stopped = on_stopped,
        .leader = on_leader,
        .trouble = on_trouble,
        .arg = c,
    };
    struct err e = {0};

    assert_int_equal(kube_election_new(p->client, &o, &c->el, &e), 0);
}

static void campaign(struct peer *p, struct candidate *c, const char *identity)
{
    campaign_after(p, c, identity, NULL);
}

static const char *holder(struct model *m, struct arena *a)
{
    struct jsn *lease;
    struct err e = {0};

    assert_int_equal(jsn_parse(a, str_of(m->lease), NULL, &lease, &e), 0);
    return jsn_get_str(lease, "spec.holderIdentity");
}

static int64_t transitions(struct model *m)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *lease;
    struct err e = {0};

    assert_int_equal(jsn_parse(&a, str_of(m->lease), NULL, &lease, &e), 0);
    return jsn_get_int(lease, "spec.leaseTransitions", -1);
}

static void the_first_makes_the_lease_and_keeps_it(void **state)
{
    struct candidate a = {0};
    struct model m = {0};
    AUTO(peer_done) struct peer p;

    (void)state;
    peer_init(&p, serve, NULL);
    p.arg = &m;
    campaign(&p, &a, "a");
    assert_false(kube_election_leads(a.el));
    peer_run_until(&p, &a.started, 1);
    assert_string_equal(a.leader, "a");
    assert_int_equal(transitions(&m), 0);
    peer_run_for(&p, 2500);
    assert_true(m.puts >= 5);
    assert_true(kube_election_leads(a.el));
    assert_int_equal(a.stopped + a.troubles, 0);
    assert_int_equal(a.told, 1);
    for (size_t i = 2; i < p.n_seen; i++) /* a leader does not read */
        assert_true(starts_with(p.seen[i], "PUT "));
    a.el = kube_election_free(a.el);
    free(m.lease);
}

static void a_lease_that_is_given_back_is_taken_soon(void **state)
{
    struct candidate a = {0}, b = {0};
    AUTO(arena_done) struct arena arena = {0};
    struct model m = {0};
    AUTO(peer_done) struct peer p;
    int64_t released_ms;

    (void)state;
    peer_init(&p, serve, NULL);
    p.arg = &m;
    campaign(&p, &a, "a");
    peer_run_until(&p, &a.started, 1);
    campaign(&p, &b, "b");
    peer_run_for(&p, 2300);
    assert_int_equal(b.started, 0);
    assert_string_equal(b.leader, "a");
    kube_election_stop(a.el, on_done, &a);
    assert_int_equal(a.stopped, 1);
    assert_int_equal(a.done, 0);
    peer_run_until(&p, &a.done, 1);
    assert_null(holder(&m, &arena));
    released_ms = clock_mono_ms();
    peer_run_until(&p, &b.started, 1);
    assert_true(clock_mono_ms() - released_ms < 1500);
    assert_string_equal(b.leader, "b");
    assert_int_equal(transitions(&m), 1);
    a.el = kube_election_free(a.el);
    b.el = kube_election_free(b.el);
    free(m.lease);
}

static void a_dead_leaders_lease_runs_out_first(void **state)
{
    struct candidate a = {0}, b = {0};
    struct model m = {0};
    AUTO(peer_done) struct peer p;
    int64_t dead_ms;

    (void)state;
    peer_init(&p, serve, NULL);
    p.arg = &m;
    campaign(&p, &a, "a");
    peer_run_until(&p, &a.started, 1);
    campaign(&p, &b, "b");
    peer_run_until(&p, &b.told, 1);
    dead_ms = clock_mono_ms();
    a.el = kube_election_free(a.el);
    peer_run_until(&p, &b.started, 1);
    assert_true(b.started_ms - dead_ms >= 1500); /* its last renewal was a retry or so ago */
    assert_int_equal(a.stopped, 0);
    b.el = kube_election_free(b.el);
    free(m.lease);
}

/* "pod_1_" is one container, in which processes follow each other; "pod_10_" is another one. */
static void a_dead_predecessor_is_not_waited_for(void **state)
{
    struct candidate other = {0}, next = {0}, old = {0};
    struct model m = {0};
    AUTO(peer_done) struct peer p;

    (void)state;
    peer_init(&p, serve, NULL);
    p.arg = &m;
    campaign(&p, &old, "pod_1_a");
    peer_run_until(&p, &old.started, 1);
    campaign_after(&p, &other, "pod_10_b", "pod_10_");
    peer_run_until(&p, &other.told, 1);
    assert_int_equal(other.started, 0);
    old.el = kube_election_free(old.el);
    campaign_after(&p, &next, "pod_1_b", "pod_1_");
    peer_run_until(&p, &next.started, 1);
    assert_int_equal(other.started, 0); /* it would have waited for the end of the lease */
    next.el = kube_election_free(next.el);
    other.el = kube_election_free(other.el);
    free(m.lease);
}

static void who_cannot_renew_stops_in_time(void **state)
{
    struct candidate a = {0};
    struct model m = {0};
    AUTO(peer_done) struct peer p;
    int64_t cut_ms;

    (void)state;
    peer_init(&p, serve, NULL);
    p.arg = &m;
    campaign(&p, &a, "a");
    peer_run_until(&p, &a.started, 1);
    m.refuse = 500;
    cut_ms = clock_mono_ms();
    peer_run_until(&p, &a.stopped, 1);
    assert_true(a.stopped_ms - cut_ms <= 2000); /* the lease of 2 s is still ours */
    assert_true(a.stopped_ms - cut_ms >= 800);
    assert_true(a.troubles >= 2);
    assert_int_equal(a.last.err.num, -EREMOTEIO);
    m.refuse = 0;
    peer_run_until(&p, &a.started, 2);
    assert_int_equal(transitions(&m), 0);
    a.el = kube_election_free(a.el);
    free(m.lease);
}

static void hold_everything(struct peer *p, struct http_exchange *x)
{
    (void)p;
    (void)x;
}

static void a_server_that_hangs_ends_the_lead_too(void **state)
{
    struct candidate a = {.free_when_stopped = true};
    struct model m = {0};
    AUTO(peer_done) struct peer p;

    (void)state;
    peer_init(&p, serve, NULL);
    p.arg = &m;
    campaign(&p, &a, "a");
    peer_run_until(&p, &a.started, 1);
    p.fn = hold_everything;
    peer_run_until(&p, &a.stopped, 1);
    assert_true(a.stopped_ms - a.started_ms <= 2500);
    assert_null(a.el);
    peer_run_for(&p, 50);
    free(m.lease);
}

static void who_sees_another_holder_stops_at_once(void **state)
{
    struct candidate a = {0};
    AUTO(arena_done) struct arena arena = {0};
    struct model m = {0};
    AUTO(peer_done) struct peer p;

    (void)state;
    peer_init(&p, serve, NULL);
    p.arg = &m;
    campaign(&p, &a, "a");
    peer_run_until(&p, &a.started, 1);
    store(&m, lease_record_create(&arena, "slurm", "operator", "thief", 2000, clock_wall_us()),
          &arena);
    peer_run_until(&p, &a.stopped, 1);
    assert_string_equal(a.leader, "thief");
    assert_int_equal(a.started, 1);
    peer_run_until(&p, &a.started, 2); /* the thief does not renew */
    assert_true(a.started_ms - a.stopped_ms >= 1500);
    a.el = kube_election_free(a.el);
    free(m.lease);
}

static void an_answer_that_is_lost_does_no_harm(void **state)
{
    struct candidate a = {0};
    struct model m = {0};
    AUTO(peer_done) struct peer p;

    (void)state;
    peer_init(&p, serve, NULL);
    p.arg = &m;
    campaign(&p, &a, "a");
    peer_run_until(&p, &a.started, 1);
    m.lose_put = true;
    peer_run_until(&p, &a.troubles, 1);
    assert_int_equal(a.last.err.num, -ETIMEDOUT);
    peer_run_for(&p, 400);
    assert_int_equal(a.stopped, 0);
    assert_true(kube_election_leads(a.el));
    a.el = kube_election_free(a.el);
    free(m.lease);
}

static void a_restarted_holder_goes_on_without_waiting(void **state)
{
    struct candidate a = {0}, again = {0};
    struct model m = {0};
    AUTO(peer_done) struct peer p;
    int64_t before;

    (void)state;
    peer_init(&p, serve, NULL);
    p.arg = &m;
    campaign(&p, &a, "a");
    peer_run_until(&p, &a.started, 1);
    a.el = kube_election_free(a.el);
    before = clock_mono_ms();
    campaign(&p, &again, "a");
    peer_run_until(&p, &again.started, 1);
    assert_true(clock_mono_ms() - before < 1500);
    assert_int_equal(transitions(&m), 0);
    again.el = kube_election_free(again.el);
    free(m.lease);
}

static void a_follower_stops_without_a_call(void **state)
{
    struct candidate a = {0};
    struct model m = {.refuse = 503};
    AUTO(peer_done) struct peer p;

    (void)state;
    peer_init(&p, serve, NULL);
    p.arg = &m;
    campaign(&p, &a, "a");
    peer_run_until(&p, &a.troubles, 1);
    kube_election_stop(a.el, on_done, &a);
    peer_run_until(&p, &a.done, 1);
    assert_int_equal(a.stopped + a.started, 0);
    assert_int_equal(p.n_seen, 1);
    a.el = kube_election_free(a.el);
}

static void nonsense_is_refused_or_retried(void **state)
{
    static const struct {
        int64_t lease;
        int64_t renew;
        int64_t retry;
        const char *text;
    } cases[] = {
        {1500, 1000, 100, "the lease duration must be whole seconds, not 1500 ms"},
        {1000, 1000, 100, "the lease duration must be longer than the renewal deadline"},
        {2000, 1000, 900, "the renewal deadline must be longer than 1.2 retry periods"},
    };
    struct candidate a = {0};
    char array[] = "[1]";
    struct model m = {.lease = xstrdup(array)};
    AUTO(peer_done) struct peer p;
    struct err e = {0};

    (void)state;
    peer_init(&p, serve, NULL);
    p.arg = &m;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct kube_election_options o = {.namespace = "n",
                                          .name = "l",
                                          .identity = "me",
                                          .lease_ms = cases[i].lease,
                                          .renew_ms = cases[i].renew,
                                          .retry_ms = cases[i].retry};

        assert_int_equal(kube_election_new(p.client, &o, &a.el, &e), -EINVAL);
        assert_string_equal(e.text, cases[i].text);
    }
    campaign(&p, &a, "a");
    peer_run_until(&p, &a.troubles, 1);
    assert_int_equal(a.last.err.num, -EBADMSG);
    a.el = kube_election_free(a.el);
    free(m.lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_makes_the_lease_and_keeps_it),
        cmocka_unit_test(a_lease_that_is_given_back_is_taken_soon),
        cmocka_unit_test(a_dead_leaders_lease_runs_out_first),
        cmocka_unit_test(a_dead_predecessor_is_not_waited_for),
        cmocka_unit_test(who_cannot_renew_stops_in_time),
        cmocka_unit_test(a_server_that_hangs_ends_the_lead_too),
        cmocka_unit_test(who_sees_another_holder_stops_at_once),
        cmocka_unit_test(an_answer_that_is_lost_does_no_harm),
        cmocka_unit_test(a_restarted_holder_goes_on_without_waiting),
        cmocka_unit_test(a_follower_stops_without_a_call),
        cmocka_unit_test(nonsense_is_refused_or_retried),
    };

    return cmocka_run_group_tests_name("lease", tests, NULL, NULL);
}
