/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the link to an agent, over real TLS: state, configurations, changes of nodes. */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/http/cert.h"
#include "src/http/server.h"
#include "src/operator/agent_link.h"

#define MAX_SEEN 64
#define FIRST                                                                                      \
    "{\"version\":\"b-1\",\"full\":true,\"slurmctld\":{\"up\":true,\"release\":\"22.05.8\"},"      \
    "\"nodes\":[{\"name\":\"a\",\"state\":\"IDLE\",\"jobs\":[]}]}"

/* An agent that answers as it is told to. */
struct rig {
    struct loop *loop;
    struct http_tls *tls;
    struct http_server *server;
    struct http_client *client;
    struct cert_pair own;
    struct agent_link *link;
    struct http_exchange *question; /* a state that is waited for */
    struct http_exchange *push;     /* held back, if `hold_pushes` */
    const char *first;              /* the answer to a question without a version */
    const char *config_answer;
    int config_status;
    int node_status;
    bool hold_pushes;
    char *seen[MAX_SEEN];
    int n_seen;
    int n_pushes;
    int changed;
    int config_news; /* changes that tell of the configuration */
    int lost;
    int pushed;
    struct arena arena;
};

static void on_gone(void *arg)
{
    struct rig *r = arg;

    r->question = NULL;
}

static void on_push_gone(void *arg)
{
    struct rig *r = arg;

    r->push = NULL;
}

static void reply(struct http_exchange *x, int status, const char *json)
{
    http_reply(x, status, "application/json", NULL, str_of(json));
}

static void serve_state(struct rig *r, struct http_exchange *x)
{
    if (strstr(http_exchange_request(x)->query, "since=b")) {
        r->question = x;
        http_exchange_on_close(x, on_gone, r);
        return;
    }
    reply(x, 200, r->first);
}

static void serve(void *arg, struct http_exchange *x)
{
    const struct http_request *q = http_exchange_request(x);
    struct rig *r = arg;

    assert_true(r->n_seen < MAX_SEEN);
    r->seen[r->n_seen++] = xasprintf("%s %s " STR_FMT, q->method, q->path, STR_ARG(q->body));
    if (!streq(http_request_header(x, "Authorization"), "Bearer right")) {
        reply(x, 401, "{\"error\":\"who are you\"}");
    } else if (streq(q->path, "/v1/state")) {
        serve_state(r, x);
    } else if (streq(q->path, "/v1/config")) {
        r->n_pushes++;
        r->push = x;
        if (r->hold_pushes)
            http_exchange_on_close(x, on_push_gone, r);
        else
            reply(TAKE(r->push), r->config_status, r->config_answer);
    } else {
        reply(x, r->node_status, "{\"error\":\"Invalid node state\"}");
    }
}

static void on_changed(void *arg, const struct agent_change *c)
{
    ((struct rig *)arg)->changed++;
    ((struct rig *)arg)->config_news += c->config;
}

static void on_lost(void *arg)
{
    ((struct rig *)arg)->lost++;
}

static void on_pushed(void *arg)
{
    ((struct rig *)arg)->pushed++;
}

static void connect_as(struct rig *r, const char *cert, const char *token)
{
    struct agent_events events = {on_changed, on_lost, on_pushed, r};
    struct agent_target t = {"127.0.0.1", http_server_port(r->server), cert, "lab-agent.slurm",
                             token};

    r->link = agent_link_new(r->loop, r->client, &t, &events);
    assert_true(agent_link_is_to(r->link, &t));
    t.address = "127.0.0.2";
    assert_false(agent_link_is_to(r->link, &t));
}

static void run_until(struct rig *r, const int *what, int n)
{
    int64_t end = clock_mono_ms() + 20000;

    while (*what < n) {
        (void)loop_turn(r->loop, 20);
        if (clock_mono_ms() > end)
            fail_msg("waited in vain for %d, at %d", n, *what);
    }
}

static void run_for(struct rig *r, int64_t ms)
{
    int64_t end = clock_mono_ms() + ms;

    while (clock_mono_ms() < end)
        (void)loop_turn(r->loop, (int)(end - clock_mono_ms()));
}

static void rig_init(struct rig *r)
{
    struct http_server_options o = {.handler = serve, .arg = r};
    struct err e = {0};

    *r = (struct rig){
        .first = FIRST,
        .config_status = 200,
        .config_answer =
            "{\"result\":\"applied\",\"class\":\"rpc\",\"declared\":\"h1\","
            "\"steps\":[{\"step\":\"rpc\",\"what\":\"partition p: State\",\"ms\":1.5}]}",
        .node_status = 200};
    assert_int_equal(loop_new(&r->loop, &e), 0);
    assert_int_equal(cert_make_own("lab-agent.slurm", &r->own, &e), 0);
    assert_int_equal(http_tls_new(r->own.cert_pem, r->own.key_pem, NULL, &r->tls, &e), 0);
    o.tls = r->tls;
    assert_int_equal(http_server_new(r->loop, &o, &r->server, &e), 0);
    assert_int_equal(http_server_listen(r->server, "127.0.0.1:0", &e), 0);
    assert_int_equal(http_client_new(r->loop, &r->client, &e), 0);
}

static void rig_connect(struct rig *r)
{
    rig_init(r);
    connect_as(r, r->own.cert_pem, "right");
    run_until(r, &r->changed, 1);
}

static void rig_done(struct rig *r)
{
    r->link = agent_link_free(r->link);
    r->client = http_client_free(r->client);
    r->server = http_server_free(r->server);
    r->tls = http_tls_free(r->tls);
    (void)loop_turn(r->loop, 0);
    r->loop = loop_free(r->loop);
    cert_pair_done(&r->own);
    arena_done(&r->arena);
    for (int i = 0; i < r->n_seen; i++)
        free(r->seen[i]);
}
DEFINE_AUTO_DONE(struct rig, rig_done);

/* A configuration of that name. */
static void push(struct rig *r, const char *hash)
{
    struct jsn *body = jsn_object(&r->arena);

    jsn_set_str(&r->arena, jsn_ensure_object(&r->arena, body, "files"), "x", "y");
    jsn_set_member(&r->arena, jsn_key(body, "files"), STR("slurm.conf"),
                   jsn_string(&r->arena, "A=1\nPartitionName=p Nodes=q\nB=2\n"));
    jsn_set_str(&r->arena, body, "driftPolicy", "Report");
    jsn_set_str(&r->arena, body, "declared", hash);
    agent_link_push(r->link, body);
}

static void tell(struct rig *r, const char *json)
{
    while (!r->question)
        (void)loop_turn(r->loop, 20);
    reply(TAKE(r->question), 200, json);
}

static const struct slurm_applied *outcome(struct rig *r)
{
    return &agent_link_view(r->link)->applied;
}

static void the_state_comes_and_changes(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_connect(&r);
    assert_null(agent_link_trouble(r.link));
    assert_true(slurm_state_is_idle(agent_link_view(r.link), "a"));
    assert_string_equal(agent_link_view(r.link)->release, "22.05.8");
    tell(&r, "{\"version\":\"b-2\",\"full\":false,\"nodes\":[{\"name\":\"a\",\"state\":"
             "\"ALLOCATED\",\"jobs\":[1]}]}");
    run_until(&r, &r.changed, 2);
    assert_false(slurm_state_is_idle(agent_link_view(r.link), "a"));
    /* Nothing new is no news. */
    tell(&r, "{\"version\":\"b-2\",\"full\":false}");
    tell(&r, "{\"version\":\"b-3\",\"full\":false,\"slurmctld\":{\"up\":false}}");
    run_until(&r, &r.changed, 3);
    assert_int_equal(r.changed, 3);
    assert_true(agent_link_view(r.link)->down);
    assert_null(slurm_state_node(agent_link_view(r.link), "a"));
}

static void strangers_are_not_believed(void **state)
{
    AUTO(rig_done) struct rig r;
    AUTO(cert_pair_done) struct cert_pair other = {0};
    struct err e = {0};

    (void)state;
    rig_init(&r);
    connect_as(&r, r.own.cert_pem, "wrong");
    run_until(&r, &r.pushed, 1); /* a reason to tell */
    assert_null(agent_link_view(r.link));
    assert_non_null(strstr(agent_link_trouble(r.link), "who are you"));
    r.link = agent_link_free(r.link);
    assert_int_equal(cert_make_own("lab-agent.slurm", &other, &e), 0);
    connect_as(&r, other.cert_pem, "right");
    run_until(&r, &r.pushed, 2);
    assert_null(agent_link_view(r.link));
    assert_int_equal(r.changed, 0);
}

static void trouble_is_told_once_while_it_lasts(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    r.first = "nonsense";
    connect_as(&r, r.own.cert_pem, "right");
    run_for(&r, 600);
    assert_true(r.n_seen >= 3);
    assert_int_equal(r.pushed, 1);
    r.first = FIRST;
    run_until(&r, &r.changed, 1);
    assert_null(agent_link_trouble(r.link));
}

static void a_configuration_is_handed_over(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_connect(&r);
    assert_null(outcome(&r)->hash);
    push(&r, "h1");
    push(&r, "h1"); /* on its way already */
    run_until(&r, &r.pushed, 1);
    assert_int_equal(r.n_pushes, 1);
    assert_string_equal(outcome(&r)->hash, "h1");
    assert_string_equal(outcome(&r)->result, "applied");
    assert_string_equal(outcome(&r)->steps, "rpc: partition p: State (1.5 ms)");
}

static void of_several_the_newest_is_sent(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_connect(&r);
    r.hold_pushes = true;
    push(&r, "h1");
    run_until(&r, &r.n_pushes, 1);
    push(&r, "h2");
    push(&r, "h3");
    run_for(&r, 50);
    assert_int_equal(r.n_pushes, 1);
    r.hold_pushes = false;
    reply(TAKE(r.push), 200, r.config_answer);
    run_until(&r, &r.n_pushes, 2);
    run_until(&r, &r.pushed, 2);
    assert_string_equal(outcome(&r)->hash, "h3");
    assert_int_equal(r.n_pushes, 2);
}

/* Who plans a third one at once makes it in vain; but a slow answer must not keep anybody. */
static void while_one_waits_for_another_there_is_no_hurry_for_a_third(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_connect(&r);
    assert_int_equal(agent_link_view(r.link)->pushing_us, 0);
    r.hold_pushes = true;
    push(&r, "h1");
    run_until(&r, &r.n_pushes, 1);
    assert_false(agent_link_is_full(r.link));
    assert_true(agent_link_view(r.link)->pushing_us > 0);
    push(&r, "h2");
    assert_true(agent_link_is_full(r.link));
    run_for(&r, 300);
    assert_false(agent_link_is_full(r.link));
    r.hold_pushes = false;
    reply(TAKE(r.push), 200, r.config_answer);
    run_until(&r, &r.pushed, 2);
    assert_false(agent_link_is_full(r.link));
    assert_int_equal(agent_link_view(r.link)->pushing_us, 0);
}

/* Hold one with the agent, have another one wait for it, and let so many more find it full. */
static void crowd(struct rig *r, int more)
{
    rig_connect(r);
    r->hold_pushes = true;
    push(r, "h1");
    run_until(r, &r->n_pushes, 1);
    push(r, "h2");
    for (int i = 0; i < more; i++)
        assert_true(agent_link_is_full(r->link));
    r->hold_pushes = false;
    reply(TAKE(r->push), 200, r->config_answer);
    run_until(r, &r->pushed, 1);
}

static void after_a_crowd_the_next_one_waits_for_more(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    crowd(&r, 3);
    assert_true(agent_link_is_full(r.link));
    assert_true(agent_link_view(r.link)->pushing_us > 0);
    push(&r, "h3");
    run_until(&r, &r.pushed, 2);
    assert_int_equal(r.n_pushes, 2);
    assert_string_equal(outcome(&r)->hash, "h3");
    assert_int_equal(agent_link_view(r.link)->pushing_us, 0);
}

static void after_a_crowd_what_waits_is_sent_if_nothing_comes(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    crowd(&r, 3);
    run_until(&r, &r.pushed, 2);
    assert_int_equal(r.n_pushes, 2);
    assert_string_equal(outcome(&r)->hash, "h2");
}

static void after_a_rest_the_newest_is_sent_at_once(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    crowd(&r, 3);
    while (agent_link_is_full(r.link))
        (void)loop_turn(r.loop, 5);
    push(&r, "h3");
    run_until(&r, &r.pushed, 2);
    assert_string_equal(outcome(&r)->hash, "h3");
    push(&r, "h4");
    run_until(&r, &r.pushed, 3);
    assert_int_equal(r.n_pushes, 3);
    assert_string_equal(outcome(&r)->hash, "h4");
}

static void without_a_crowd_there_is_no_rest(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    crowd(&r, 1);
    assert_false(agent_link_is_full(r.link));
    run_until(&r, &r.pushed, 2);
    assert_string_equal(outcome(&r)->hash, "h2");
}

static void without_an_answer_it_is_sent_again(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_connect(&r);
    r.config_status = 503;
    r.config_answer = "{\"error\":\"in a moment\"}";
    push(&r, "h1");
    run_until(&r, &r.n_pushes, 3);
    assert_null(outcome(&r)->hash);
    assert_non_null(strstr(agent_link_trouble(r.link), "in a moment"));
    r.config_status = 200;
    r.config_answer = "{\"result\":\"applied\",\"declared\":\"h1\"}";
    while (!outcome(&r)->hash)
        (void)loop_turn(r.loop, 20);
    assert_null(agent_link_trouble(r.link));
}

static void an_answer_that_was_lost_comes_with_the_state(void **state)
{
    AUTO(rig_done) struct rig r;
    int before;

    (void)state;
    rig_connect(&r);
    r.config_status = 503;
    r.config_answer = "{\"error\":\"in a moment\"}";
    push(&r, "h1");
    run_until(&r, &r.n_pushes, 1);
    tell(&r, "{\"version\":\"b-2\",\"full\":false,\"config\":{\"declared\":\"h1\",\"generation\":1,"
             "\"result\":\"applied\"}}");
    while (!outcome(&r)->hash)
        (void)loop_turn(r.loop, 20);
    assert_string_equal(outcome(&r)->result, "applied");
    before = r.n_pushes;
    run_for(&r, 300);
    assert_int_equal(r.n_pushes, before);
    assert_null(agent_link_trouble(r.link));
}

static void what_the_answer_has_told_is_no_news_in_the_state(void **state)
{
    AUTO(rig_done) struct rig r;
    int changed;

    (void)state;
    rig_connect(&r);
    push(&r, "h1");
    run_until(&r, &r.pushed, 1);
    changed = r.changed;
    r.config_news = 0;
    tell(&r, "{\"version\":\"b-2\",\"full\":false,\"config\":{\"declared\":\"h1\",\"generation\":1,"
             "\"result\":\"applied\",\"waiting\":[]}}");
    run_until(&r, &r.changed, changed + 1);
    tell(&r, "{\"version\":\"b-3\",\"full\":false,\"config\":{\"declared\":\"h1\",\"generation\":1,"
             "\"result\":\"applied\",\"waiting\":[{\"partition\":\"old\",\"jobs\":[3]}]}}");
    run_until(&r, &r.changed, changed + 2);
    assert_int_equal(r.config_news, 1); /* what waits */
    tell(&r, "{\"version\":\"b-4\",\"full\":false,\"config\":{\"declared\":\"h1\",\"generation\":2,"
             "\"result\":\"unchanged\",\"waiting\":[{\"partition\":\"old\",\"jobs\":[3]}]}}");
    run_until(&r, &r.changed, changed + 3);
    tell(&r, "{\"version\":\"b-5\",\"full\":false,\"config\":{\"declared\":\"h1\",\"generation\":2,"
             "\"result\":\"unchanged\",\"hash\":\"x\","
             "\"waiting\":[{\"partition\":\"old\",\"jobs\":[3]}]}}");
    run_until(&r, &r.changed, changed + 4);
    assert_int_equal(r.config_news, 1);
}

static void expect_conf(struct rig *r, bool held, bool tried)
{
    const struct slurm_state *s = agent_link_view(r->link);

    assert_int_equal(slurm_conf_has(s->held, "PartitionName=p Nodes=q"), held);
    assert_int_equal(slurm_conf_has(s->tried, "PartitionName=p Nodes=q"), tried);
    assert_int_equal(slurm_state_holds(s, "p", "PartitionName=p Nodes=q"), held);
    assert_int_equal(s->held_lines != NULL, held);
}

static void what_slurmctld_has_is_known_by_its_lines(void **state)
{
    static const struct {
        const char *answer; /* to the push */
        int status;
        bool held;
    } rows[] = {
        {"{\"result\":\"applied\"}", 200, true},
        {"{\"result\":\"unchanged\"}", 200, true},
        {"{\"result\":\"pending\",\"reason\":\"later\"}", 200, false},
        {"{\"result\":\"refused\",\"error\":\"no\"}", 422, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(rig_done) struct rig r;

        rig_connect(&r);
        expect_conf(&r, false, false);
        r.config_status = rows[i].status;
        r.config_answer = rows[i].answer;
        push(&r, "h1");
        expect_conf(&r, false, false);
        run_until(&r, &r.pushed, 1);
        expect_conf(&r, rows[i].held, !rows[i].held);
    }
}

/* It waits for the jobs of another partition, but is at work itself. */
static void what_is_pending_may_be_what_slurmctld_has(void **state)
{
    AUTO(rig_done) struct rig r;
    int changed;

    (void)state;
    rig_connect(&r);
    r.config_answer = "{\"result\":\"pending\",\"reason\":\"jobs\"}";
    push(&r, "h1");
    run_until(&r, &r.pushed, 1);
    changed = r.changed;
    r.config_news = 0;
    tell(&r, "{\"version\":\"b-2\",\"full\":false,\"config\":{\"declared\":\"h1\",\"generation\":1,"
             "\"result\":\"pending\",\"reason\":\"jobs\",\"good\":{\"declared\":\"h0\"}}}");
    run_until(&r, &r.changed, changed + 1);
    expect_conf(&r, false, true);
    assert_int_equal(r.config_news, 0);
    tell(&r, "{\"version\":\"b-3\",\"full\":false,\"config\":{\"declared\":\"h1\",\"generation\":1,"
             "\"result\":\"pending\",\"reason\":\"jobs\",\"good\":{\"declared\":\"h1\"}}}");
    run_until(&r, &r.changed, changed + 2);
    expect_conf(&r, true, false);
    assert_int_equal(r.config_news, 1);
    assert_string_equal(outcome(&r)->result, "pending");
    /* another process of the agent has to say so again */
    tell(&r, "{\"version\":\"c-1\",\"full\":true}");
    run_until(&r, &r.changed, changed + 3);
    expect_conf(&r, false, false);
}

static void partitions_that_are_refused_come_with_the_answer_and_go_with_the_state(void **state)
{
    AUTO(rig_done) struct rig r;
    int changed;

    (void)state;
    rig_connect(&r);
    r.config_answer = "{\"result\":\"pending\",\"reason\":\"gpu is refused\","
                      "\"refused\":[{\"partition\":\"gpu\",\"error\":\"Invalid qos\"}],"
                      "\"good\":{\"declared\":\"h1\"}}";
    push(&r, "h1");
    run_until(&r, &r.pushed, 1);
    expect_conf(&r, true, false); /* slurmctld has the rest */
    assert_true(outcome(&r)->taken);
    assert_int_equal(outcome(&r)->n_refused, 1);
    assert_string_equal(outcome(&r)->refused[0].partition, "gpu");
    assert_string_equal(outcome(&r)->refused[0].error, "Invalid qos");
    changed = r.changed;
    r.config_news = 0;
    tell(&r, "{\"version\":\"b-2\",\"full\":false,\"config\":{\"declared\":\"h1\",\"generation\":1,"
             "\"result\":\"applied\",\"good\":{\"declared\":\"h1\"}}}");
    run_until(&r, &r.changed, changed + 1);
    assert_int_equal(r.config_news, 1);
    assert_int_equal(outcome(&r)->n_refused, 0);
    assert_string_equal(outcome(&r)->result, "applied");
}

static void an_agent_of_another_version_is_told_of(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_connect(&r);
    tell(&r, "{\"wire\":2,\"version\":\"b-2\",\"full\":false}");
    while (!agent_link_trouble(r.link))
        (void)loop_turn(r.loop, 20);
    assert_string_equal(agent_link_trouble(r.link),
                        "the agent speaks version 2 of the protocol, and this operator knows "
                        "version 1 at most: update the operator");
}

static void a_refusal_shows_the_line(void **state)
{
    AUTO(rig_done) struct rig r;
    const struct slurm_fault *f;

    (void)state;
    rig_connect(&r);
    r.config_status = 422;
    r.config_answer =
        "{\"error\":\"no\",\"step\":\"validate\",\"problems\":[{\"file\":"
        "\"slurm.conf\",\"line\":2,\"object\":\"PartitionName=p\",\"message\":\"unknown nodes\"},"
        "{\"file\":\"slurm.conf\",\"line\":99,\"message\":\"beyond\"}]}";
    push(&r, "h1");
    run_until(&r, &r.pushed, 1);
    assert_string_equal(outcome(&r)->result, "refused");
    assert_string_equal(outcome(&r)->reason, "validate: no");
    assert_int_equal(outcome(&r)->n_faults, 2);
    f = slurm_state_fault(agent_link_view(r.link), "NodeSet=p", "PartitionName=p");
    assert_string_equal(f->message, "unknown nodes");
    assert_null(slurm_state_fault(agent_link_view(r.link), "NodeSet=q", "PartitionName=q"));
    run_for(&r, 200);
    assert_int_equal(r.n_pushes, 1);
}

static void what_the_agent_says_later_counts(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_connect(&r);
    r.config_answer =
        "{\"result\":\"pending\",\"reason\":\"slurmctld is down\",\"declared\":\"h1\"}";
    push(&r, "h1");
    run_until(&r, &r.pushed, 1);
    assert_string_equal(outcome(&r)->result, "pending");
    tell(&r, "{\"version\":\"b-2\",\"full\":false,\"config\":{\"declared\":\"h1\",\"result\":"
             "\"applied\"}}");
    run_until(&r, &r.changed, 2);
    assert_string_equal(outcome(&r)->result, "applied");
    assert_null(outcome(&r)->reason);
    /* Another configuration is at work: ours has to be sent again. */
    tell(&r, "{\"version\":\"b-3\",\"full\":false,\"config\":{\"declared\":\"h9\",\"hash\":\"x2\","
             "\"result\":"
             "\"applied\"}}");
    run_until(&r, &r.changed, 3);
    assert_null(outcome(&r)->hash);
    push(&r, "h1");
    run_until(&r, &r.pushed, 2);
    assert_string_equal(outcome(&r)->hash, "h1");
    /* The two do not keep each other busy. */
    tell(&r, "{\"version\":\"b-4\",\"full\":false,\"config\":{\"declared\":\"h9\",\"hash\":\"x2\","
             "\"result\":"
             "\"applied\"}}");
    run_until(&r, &r.changed, 4);
    assert_string_equal(outcome(&r)->hash, "h1");
    /* A new process of the agent's knows nothing of it. */
    tell(&r, "{\"version\":\"c-1\",\"full\":true,\"slurmctld\":{\"up\":true}}");
    run_until(&r, &r.changed, 5);
    assert_null(outcome(&r)->hash);
}

struct told {
    int done;
    struct err e;
};

static void on_node(void *arg, const struct err *e)
{
    struct told *t = arg;

    t->done++;
    t->e = e ? *e : (struct err){0};
}

static void nodes_are_changed(void **state)
{
    static const char drained[] = "POST /v1/nodes/a%2Fb {\"action\":\"drain\"}";
    static const struct {
        int status;
        int num;
        const char *action;
        const char *seen;
        const char *text;
    } rows[] = {
        {200, 0, "drain", drained, NULL},
        {409, -EREMOTEIO, "drain", drained, "drain node a/b: Invalid node state"},
        {500, -EREMOTEIO, "drain", drained, "drain node a/b: Invalid node state"},
        {200, 0, "delete", "DELETE /v1/nodes/a%2Fb ", NULL},
        {409, -EREMOTEIO, "delete", "DELETE /v1/nodes/a%2Fb ",
         "delete node a/b: Invalid node state"},
    };
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_connect(&r);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct jsn *body = jsn_object(&r.arena);
        struct told t = {0};

        r.node_status = rows[i].status;
        jsn_set_str(&r.arena, body, "action", rows[i].action);
        (void)agent_link_change_node(r.link, "a/b", body, on_node, &t);
        run_until(&r, &t.done, 1);
        assert_int_equal(t.e.num, rows[i].num);
        if (rows[i].num)
            assert_string_equal(t.e.text, rows[i].text);
        assert_string_equal(r.seen[r.n_seen - 1], rows[i].seen);
    }
}

static void a_change_outlives_its_link(void **state)
{
    AUTO(rig_done) struct rig r;
    struct jsn *body;
    struct told t = {0};

    (void)state;
    rig_connect(&r);
    body = jsn_object(&r.arena);
    (void)agent_link_change_node(r.link, "a", body, on_node, &t);
    r.link = agent_link_free(r.link);
    run_until(&r, &t.done, 1);
    assert_int_equal(t.e.num, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_state_comes_and_changes),
        cmocka_unit_test(strangers_are_not_believed),
        cmocka_unit_test(trouble_is_told_once_while_it_lasts),
        cmocka_unit_test(a_configuration_is_handed_over),
        cmocka_unit_test(of_several_the_newest_is_sent),
        cmocka_unit_test(while_one_waits_for_another_there_is_no_hurry_for_a_third),
        cmocka_unit_test(after_a_crowd_the_next_one_waits_for_more),
        cmocka_unit_test(after_a_crowd_what_waits_is_sent_if_nothing_comes),
        cmocka_unit_test(after_a_rest_the_newest_is_sent_at_once),
        cmocka_unit_test(without_a_crowd_there_is_no_rest),
        cmocka_unit_test(without_an_answer_it_is_sent_again),
        cmocka_unit_test(an_answer_that_was_lost_comes_with_the_state),
        cmocka_unit_test(what_slurmctld_has_is_known_by_its_lines),
        cmocka_unit_test(what_is_pending_may_be_what_slurmctld_has),
        cmocka_unit_test(partitions_that_are_refused_come_with_the_answer_and_go_with_the_state),
        cmocka_unit_test(what_the_answer_has_told_is_no_news_in_the_state),
        cmocka_unit_test(an_agent_of_another_version_is_told_of),
        cmocka_unit_test(a_refusal_shows_the_line),
        cmocka_unit_test(what_the_agent_says_later_counts),
        cmocka_unit_test(nodes_are_changed),
        cmocka_unit_test(a_change_outlives_its_link),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
