/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the state that is kept from an agent's answers. */
#include "src/json/test/json_text.h"

#include "src/base/str.h"
#include "src/operator/agent_state.h"

struct fixture {
    struct arena arena;
    struct agent_state *state;
    struct agent_change change;
    struct err e;
};

static void fixture_done(struct fixture *f)
{
    f->state = agent_state_free(f->state);
    arena_done(&f->arena);
}
DEFINE_AUTO_DONE(struct fixture, fixture_done);

static int update(struct fixture *f, const char *text)
{
    return agent_state_update(f->state, json_of(&f->arena, text), &f->arena, &f->change, &f->e);
}

static const struct slurm_node *node(struct fixture *f, const char *name)
{
    return slurm_state_node(agent_state_view(f->state), name);
}

#define FIRST                                                                                      \
    "{'version':'ab-c-7','full':true,'slurmctld':{'up':true,'release':'22.05.8'},"                 \
    "'nodes':[{'name':'b','state':'MIXED+DRAIN','reason':'slurmkeeper: x','jobs':[12,13],"         \
    "'busyUntil':100,'slurmdStartTime':50},{'name':'a','state':'IDLE','jobs':[]},"                 \
    "{'name':'odd','state':'STRANGE','jobs':[]},{'name':'mute','state':'IDLE'}],"                  \
    "'partitions':[{'name':'debug','config':{'State':'UP','MaxTime':'1-00:00:00'},'nodes':'a',"    \
    "'totalNodes':1,'pending':2,'running':1}],"                                                    \
    "'drift':[{'partition':'debug','field':'State','declared':'UP','live':'DRAIN'}],"              \
    "'config':{'declared':'h1','result':'pending','reason':'slurmctld is down',"                   \
    "'waiting':[{'partition':'old','jobs':[4]}]}}"

static void fixture_init(struct fixture *f)
{
    *f = (struct fixture){.state = agent_state_new()};
    assert_int_equal(update(f, FIRST), 0);
}

static void a_whole_answer_is_taken_in(void **state)
{
    AUTO(fixture_done) struct fixture f;
    const struct slurm_state *v;
    const struct slurm_partition *p;

    (void)state;
    fixture_init(&f);
    v = agent_state_view(f.state);
    assert_true(f.change.full && f.change.slurmctld && f.change.drift && f.change.config);
    assert_string_equal(agent_state_version(f.state), "ab-c-7");
    assert_string_equal(agent_state_boot(f.state), "ab-c");
    assert_true(agent_state_up(f.state));
    assert_string_equal(agent_state_release(f.state), "22.05.8");
    assert_int_equal(v->n, 4);
    assert_int_equal(node(&f, "b")->state, NODE_BASE_MIXED | NODE_FLAG_DRAIN);
    assert_int_equal(node(&f, "b")->jobs, 2);
    assert_int_equal(node(&f, "b")->job_ids[1], 13);
    assert_int_equal(node(&f, "b")->busy_until_us, 100000000);
    assert_string_equal(node(&f, "b")->reason, "slurmkeeper: x");
    p = slurm_state_partition(v, "debug");
    assert_string_equal(jsn_map_get(&p->config, "MaxTime"), "1-00:00:00");
    assert_int_equal(p->pending, 2);
    assert_string_equal(v->drift[0].live, "DRAIN");
    assert_int_equal(slurm_state_waiting(v, "old")->jobs[0], 4);
    assert_string_equal(agent_state_config(f.state)->declared, "h1");
    assert_string_equal(agent_state_config(f.state)->reason, "slurmctld is down");
}

static void what_cannot_be_read_counts_as_busy(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f);
    assert_true(slurm_state_is_idle(agent_state_view(f.state), "a"));
    assert_false(slurm_state_is_idle(agent_state_view(f.state), "odd"));
    assert_false(slurm_state_is_idle(agent_state_view(f.state), "mute"));
    assert_false(slurm_state_is_idle(agent_state_view(f.state), "nowhere"));
}

/* A record with a member that is not of its type says nothing of the node but that it is there. */
static void a_node_whose_record_is_bad_counts_as_busy(void **state)
{
    static const char *const rows[] = {
        "{'name':'a','state':'IDLE+DRAIN','jobs':[],'busyUntil':'soon'}",
        "{'name':'a','state':7,'jobs':[]}",
        "{'name':'a','state':'IDLE+DRAIN','jobs':{}}",
        "{'name':'a','state':'IDLE+DRAIN','jobs':[],'reason':[]}",
    };
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *text = arena_printf(
            &f.arena, "{'version':'ab-c-%zu','full':false,'nodes':[%s]}", i + 8, rows[i]);

        assert_int_equal(update(&f, text), 0);
        assert_non_null(node(&f, "a"));
        assert_false(slurm_state_is_idle(agent_state_view(f.state), "a"));
        assert_false(slurm_state_is_free(agent_state_view(f.state), "a"));
    }
}

static void a_slurmctld_that_cannot_be_read_is_not_up(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f);
    assert_true(agent_state_up(f.state));
    assert_int_equal(
        update(&f, "{'version':'ab-c-8','full':false,'slurmctld':{'up':'yes','release':7}}"), 0);
    assert_true(f.change.slurmctld);
    assert_false(agent_state_up(f.state));
    assert_null(agent_state_release(f.state));
}

static void a_difference_changes_what_it_names(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f);
    assert_int_equal(update(&f, "{'version':'ab-c-8','full':false,'nodes':[{'name':'a','state':"
                                "'ALLOCATED','jobs':[9]},{'name':'aa','state':'IDLE','jobs':[]}],"
                                "'removed':{'nodes':['odd','unheard']}}"),
                     0);
    assert_false(f.change.full || f.change.drift || f.change.config || f.change.n_partitions);
    assert_int_equal(f.change.n_nodes, 4);
    assert_string_equal(f.change.nodes[2], "odd");
    assert_int_equal(agent_state_view(f.state)->n, 4);
    assert_int_equal(node(&f, "a")->state, NODE_BASE_ALLOCATED);
    assert_int_equal(node(&f, "aa")->state, NODE_BASE_IDLE);
    assert_null(node(&f, "odd"));
    assert_int_equal(node(&f, "b")->jobs, 2);
    /* What is not spoken of stays. */
    assert_int_equal(agent_state_view(f.state)->n_drift, 1);
    assert_true(agent_state_up(f.state));
    assert_int_equal(update(&f, "{'version':'ab-c-9','full':false,'drift':[],'removed':{"
                                "'partitions':['debug']}}"),
                     0);
    assert_true(f.change.drift && f.change.n_partitions);
    assert_int_equal(agent_state_view(f.state)->n_drift, 0);
    assert_null(slurm_state_partition(agent_state_view(f.state), "debug"));
}

static void sections_that_come_again_are_no_news(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f);
    assert_int_equal(
        update(&f, "{'version':'ab-c-8','full':false,'slurmctld':{'up':true,'release':'22.05.8',"
                   "'bootTime':7},'drift':[{'partition':'debug','field':'State','declared':'UP',"
                   "'live':'DRAIN'}],'config':{'declared':'h1','result':'pending','reason':"
                   "'slurmctld is down','waiting':[{'partition':'old','jobs':[4]}]}}"),
        0);
    assert_false(f.change.slurmctld || f.change.drift || f.change.config);
    assert_int_equal(f.change.n_drifted, 0);
    assert_int_equal(agent_state_view(f.state)->n_drift, 1);
    assert_int_equal(update(&f, "{'version':'ab-c-9','full':false,'slurmctld':{'up':false,"
                                "'release':''},'config':{'declared':'h1','result':'applied'}}"),
                     0);
    assert_true(f.change.slurmctld && f.change.config);
    assert_false(f.change.drift);
    assert_null(agent_state_release(f.state));
}

static void a_new_whole_replaces_all(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f);
    assert_int_equal(update(&f, "{'version':'zz-1','full':true,'slurmctld':{'up':false}}"), 0);
    assert_int_equal(agent_state_view(f.state)->n, 0);
    assert_int_equal(agent_state_view(f.state)->n_partitions, 0);
    assert_int_equal(agent_state_view(f.state)->n_drift, 0);
    assert_false(agent_state_up(f.state));
    assert_string_equal(agent_state_boot(f.state), "zz");
    assert_null(agent_state_config(f.state)->declared);
}

static void nonsense_is_refused_and_changes_nothing(void **state)
{
    static const char *const rows[] = {
        "{}",
        "[]",
        "{'version':''}",
        "{'version':'a-1','nodes':[{'state':'IDLE'}]}",
        "{'version':'a-1','partitions':[{'name':''}]}",
        "{'version':'a-1','nodes':[7]}",
        "{'version':'a-1','partitions':[{'name':'debug','running':'many'}]}",
        "{'version':'a-1','partitions':[{'name':'debug','config':7}]}",
    };
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(update(&f, rows[i]), -EBADMSG);
        assert_string_equal(agent_state_version(f.state), "ab-c-7");
        assert_int_equal(agent_state_view(f.state)->n, 4);
    }
}

static void many_nodes_stay_in_order(void **state)
{
    AUTO(fixture_done) struct fixture f;
    AUTO(buf_done) struct buf b = {0};
    const struct slurm_state *v;

    (void)state;
    fixture_init(&f);
    buf_adds(&b, "{'version':'q-1','full':true,'nodes':[");
    for (int i = 9999; i >= 0; i--)
        buf_printf(&b, "{'name':'n%d','state':'IDLE','jobs':[]}%s", i, i ? "," : "]}");
    assert_int_equal(update(&f, buf_str(&b)), 0);
    v = agent_state_view(f.state);
    assert_int_equal(v->n, 10000);
    for (size_t i = 1; i < v->n; i++)
        assert_true(strcmp(v->nodes[i - 1].name, v->nodes[i].name) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_answer_is_taken_in),
        cmocka_unit_test(what_cannot_be_read_counts_as_busy),
        cmocka_unit_test(a_node_whose_record_is_bad_counts_as_busy),
        cmocka_unit_test(a_slurmctld_that_cannot_be_read_is_not_up),
        cmocka_unit_test(a_difference_changes_what_it_names),
        cmocka_unit_test(sections_that_come_again_are_no_news),
        cmocka_unit_test(a_new_whole_replaces_all),
        cmocka_unit_test(nonsense_is_refused_and_changes_nothing),
        cmocka_unit_test(many_nodes_stay_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
