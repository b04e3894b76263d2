/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of a Controller's keys: the Secret that pods mount, and what is told of it. */
#include "src/plan/test/controller.h"

#include "src/build/live_keys.h"

#define NEW_KEY "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=" /* 32 bytes */

static const char *stage_of(struct fixture *f)
{
    const struct jsn *notes =
        jsn_get(test_find(&f->world, "Secret", "lab-keys"), "metadata.annotations");

    return jsn_text(jsn_key(notes, ANNOTATION_KEY_STAGE));
}

static void declare_key(struct fixture *f, const char *value)
{
    jsn_set_str(&f->arena, jsn_key(test_find(&f->world, "Secret", "lab-auth-slurm"), "data"),
                "slurm.key", value);
}

static void step(struct fixture *f)
{
    struct actions list = plan(f);

    test_carry_out(&f->world, &list);
}

static void a_new_key_waits_for_all_at_every_stage(void **state)
{
    struct slurm_node nodes[] = {
        {.name = "a", .state = NODE_BASE_MIXED, .jobs_known = true, .jobs = 1},
        {.name = "b", .state = NODE_BASE_DOWN, .jobs_known = true},
        {.name = "c",
         .state = NODE_BASE_DOWN | NODE_FLAG_NO_RESPOND,
         .jobs_known = true,
         .jobs = 1},
    };
    struct slurm_state slurm = {.nodes = nodes, .n = 3, .key_stage = "0-rest"};
    AUTO(fixture_done) struct fixture f;

    (void)state;
    run_lab(&f);
    f.slurm = &slurm;
    step(&f);
    assert_string_equal(stage_of(&f), "0-rest");
    assert_string_equal(message_of(&f, "KeysCurrent", "reason"), "Current");
    declare_key(&f, NEW_KEY);
    step(&f);
    assert_string_equal(stage_of(&f), "1-accept");
    slurm.key_stage = "1-accept";
    nodes[0].comment = "rack 7 [keys 1-accept]";
    step(&f);
    /* c does not answer, but may run a job; b is empty, and nobody is there */
    assert_string_equal(stage_of(&f), "1-accept");
    assert_non_null(
        strstr(message_of(&f, "KeysCurrent", "message"), "1 of 2 nodes do (not yet: c)"));
    nodes[2].comment = "[keys 1-accept]";
    step(&f);
    assert_string_equal(stage_of(&f), "1-sign");
    step(&f);
    assert_string_equal(stage_of(&f), "1-sign");
    slurm.key_stage = nodes[0].comment = nodes[2].comment = "[keys 1-sign]";
    step(&f);
    assert_string_equal(stage_of(&f), "1-sign"); /* slurmctld has another one */
    slurm.key_stage = "1-sign";
    step(&f);
    assert_string_equal(stage_of(&f), "1-settle");
    assert_string_equal(message_of(&f, "KeysCurrent", "reason"), "Settling");
    slurm.down = true;
    step(&f);
    assert_string_equal(stage_of(&f), "1-settle");
}

/* An image of others: its slurmd counts when it has started after the stage must have arrived. */
static void a_node_that_cannot_tell_counts_by_its_start(void **state)
{
    const int64_t arrives_us = 180 * 1000000LL;
    struct slurm_node node = {
        .name = "a", .state = NODE_BASE_MIXED, .jobs_known = true, .jobs = 1, .started_us = 1};
    struct slurm_state slurm = {.nodes = &node, .n = 1, .key_stage = "0-rest"};
    AUTO(fixture_done) struct fixture f;

    (void)state;
    run_lab(&f);
    f.slurm = &slurm;
    step(&f);
    declare_key(&f, NEW_KEY);
    step(&f);
    slurm.key_stage = "1-accept";
    node.started_us = TEST_NOW_US + arrives_us - 1;
    f.later_us = arrives_us - 1;
    step(&f);
    assert_null(strstr(message_of(&f, "KeysCurrent", "message"), "scontrol reconfigure"));
    f.later_us = arrives_us + 1000000;
    step(&f);
    assert_string_equal(stage_of(&f), "1-accept");
    assert_non_null(strstr(message_of(&f, "KeysCurrent", "message"),
                           "0 of 1 nodes do (not yet: a); a node whose image does not tell counts "
                           "when its slurmd has started after 1970-01-01T00:19:40Z: `scontrol "
                           "reconfigure` does that, and so does a new pod"));
    node.started_us = TEST_NOW_US + arrives_us;
    step(&f);
    assert_string_equal(stage_of(&f), "1-sign");
    step(&f);
    assert_string_equal(stage_of(&f), "1-sign");
}

/* munged starts with the pod, so that a new slurmd says nothing of it. */
static void with_munge_a_new_slurmd_does_not_count(void **state)
{
    struct slurm_node node = {.name = "a",
                              .state = NODE_BASE_MIXED,
                              .jobs_known = true,
                              .jobs = 1,
                              .started_us = TEST_NOW_US + 1000 * 1000000LL};
    struct slurm_state slurm = {
        .nodes = &node, .n = 1, .release = "22.05.8", .key_stage = "0-rest"};
    AUTO(fixture_done) struct fixture f;

    (void)state;
    run_lab(&f);
    f.env.munge = true;
    f.slurm = &slurm;
    step(&f);
    declare_key(&f, NEW_KEY);
    step(&f);
    slurm.key_stage = "1-accept";
    f.later_us = 2000 * 1000000LL;
    step(&f);
    assert_string_equal(stage_of(&f), "1-accept");
}

/* A login does not tell: it is given the time in which a Secret arrives. */
static void logins_are_given_time_at_every_stage(void **state)
{
    struct slurm_state slurm = {.key_stage = "0-rest"};
    AUTO(fixture_done) struct fixture f;

    (void)state;
    run_lab(&f);
    f.slurm = &slurm;
    f.n_loginsets = 1;
    step(&f);
    declare_key(&f, NEW_KEY);
    step(&f);
    slurm.key_stage = "1-accept";
    step(&f);
    assert_string_equal(stage_of(&f), "1-accept");
    f.later_us += 180 * 1000000LL;
    step(&f);
    assert_string_equal(stage_of(&f), "1-sign");
    slurm.key_stage = "1-sign";
    step(&f);
    assert_string_equal(stage_of(&f), "1-sign");
    f.later_us += 180 * 1000000LL;
    step(&f);
    assert_string_equal(stage_of(&f), "1-settle");
}

static void nothing_known_moves_nothing(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    run_lab(&f);
    declare_key(&f, NEW_KEY);
    step(&f);
    for (int i = 0; i < 3; i++) {
        step(&f);
        assert_string_equal(stage_of(&f), "1-accept");
    }
}

static void a_bad_key_is_not_copied(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    run_lab(&f);
    declare_key(&f, "YWJj");
    step(&f);
    assert_string_equal(stage_of(&f), "0-rest");
    assert_string_equal(message_of(&f, "KeysCurrent", "reason"), "KeyRefused");
    assert_string_equal(message_of(&f, "KeysCurrent", "message"),
                        "Secret lab-auth-slurm: slurm.key has 3 bytes, and Slurm needs 16; what "
                        "runs goes on with the key that it has");
    declare_key(&f, "");
    step(&f);
    assert_non_null(strstr(message_of(&f, "KeysCurrent", "message"), "is empty"));
    expect_plan(&f, "");
}

static void a_secret_of_somebody_else_is_left_alone(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "");
    test_put(&f.world,
             json_of(&f.arena, "{'kind':'Secret','metadata':{'name':'lab-keys','namespace':"
                               "'slurm','ownerReferences':[{'kind':'X','name':'x','uid':"
                               "'other','controller':true}]},'data':{'a':'YQ=='}}"));
    for (int i = 0; i < 4; i++)
        step(&f);
    assert_non_null(strstr(message_of(&f, "KeysCurrent", "message"), "belongs to another object"));
    assert_null(test_find(&f.world, "StatefulSet", "lab-controller"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_key_waits_for_all_at_every_stage),
        cmocka_unit_test(a_node_that_cannot_tell_counts_by_its_start),
        cmocka_unit_test(with_munge_a_new_slurmd_does_not_count),
        cmocka_unit_test(logins_are_given_time_at_every_stage),
        cmocka_unit_test(nothing_known_moves_nothing),
        cmocka_unit_test(a_bad_key_is_not_copied),
        cmocka_unit_test(a_secret_of_somebody_else_is_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
