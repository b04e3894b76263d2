/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queue of one: who waits for which declaration, and that each gets one answer. */
#include "src/agent/apply/test/stage.h"

#define N 5
#define PART_A STAGE_ALL "PartitionName=a Nodes=n1\n"
#define PART_B STAGE_ALL "PartitionName=b Nodes=n2\n"

static void a_newer_push_takes_over_those_who_wait(void **state)
{
    struct stage *s = *state;
    struct push p[N] = {0};

    script_next(s->script, "partition-create", 0, SCRIPT_LATE);
    stage_push(s, PART_A, &p[0]);
    stage_run(s, 100); /* it is being applied */
    for (int i = 1; i < N; i++)
        stage_push(s, i == N - 1 ? PART_B : STAGE_ALL, &p[i]);
    assert_true(engine_has_waiting(s->engine));
    stage_wait(s, &p[N - 1]);
    stage_run(s, 60000);
    for (int i = 0; i < N; i++) {
        assert_int_equal(p[i].answers, 1);
        assert_string_equal(p[i].result, "applied");
        assert_int_equal(jsn_get_int(p[i].json, "generation", 0),
                         jsn_get_int(p[i == 0 ? 0 : N - 1].json, "generation", -1));
        push_done(&p[i]);
    }
    stage_expect_settled(s, PART_B);
}

static void nobody_is_answered_within_the_push(void **state)
{
    struct stage *s = *state;
    AUTO(push_done) struct push p = {0};

    stage_push(s, STAGE_ALL, &p);
    assert_int_equal(p.answers, 0);
    stage_wait(s, &p);
    assert_string_equal(p.result, "unchanged");
}

static void who_has_left_is_not_answered_and_the_change_goes_on(void **state)
{
    struct stage *s = *state;
    AUTO(push_done) struct push gone = {0};
    AUTO(push_done) struct push stays = {0};

    stage_push(s, PART_A, &gone);
    stage_push(s, PART_A, &stays);
    engine_forget(gone.waiter);
    stage_wait(s, &stays);
    stage_run(s, 10000);
    assert_int_equal(gone.answers, 0);
    assert_int_equal(stays.answers, 1);
    stage_expect_settled(s, PART_A);
}

static void a_push_goes_before_what_the_agent_wants_itself(void **state)
{
    struct stage *s = *state;
    AUTO(push_done) struct push first = {0};
    AUTO(push_done) struct push second = {0};

    script_next(s->script, "partition-create", 0, SCRIPT_DOWN);
    stage_push_wait(s, PART_A, &first);
    assert_string_equal(first.result, "pending");
    stage_push_wait(s, PART_B, &second);
    assert_string_equal(second.result, "applied");
    stage_run(s, 60000);
    stage_expect_settled(s, PART_B);
}

static void plans_are_answered_beside_a_push(void **state)
{
    struct stage *s = *state;
    AUTO(push_done) struct push push = {0};
    AUTO(push_done) struct push plan = {0};

    script_next(s->script, "partition-create", 0, SCRIPT_LATE);
    stage_push(s, PART_A, &push);
    stage_run(s, 100);
    stage_plan_wait(s, PART_B, &plan);
    assert_string_equal(plan.result, "plan");
    assert_int_equal(push.answers, 0);
    stage_wait(s, &push);
    stage_run(s, 10000);
    assert_int_equal(plan.answers, 1);
    stage_expect_settled(s, PART_A);
}

static void an_agent_that_ends_answers_nobody_twice(void **state)
{
    struct stage *s = *state;
    struct push p[2] = {0};

    stage_push(s, PART_A, &p[0]);
    stage_run(s, 1);
    stage_push(s, PART_B, &p[1]);
    stage_agent_stop(s);
    assert_true(p[0].answers <= 1 && p[1].answers == 0);
    push_done(&p[0]);
    push_done(&p[1]);
}

#define T(name) cmocka_unit_test_setup_teardown(name, stage_setup, stage_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_newer_push_takes_over_those_who_wait),
        T(nobody_is_answered_within_the_push),
        T(who_has_left_is_not_answered_and_the_change_goes_on),
        T(a_push_goes_before_what_the_agent_wants_itself),
        T(plans_are_answered_beside_a_push),
        T(an_agent_that_ends_answers_nobody_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
