/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Edits that rest on what the hub was told a while ago.
 *
 * Nobody tells the hub of these slurmctlds that somebody used scontrol: its picture is up to
 * seconds old.  Whatever was done meanwhile, everything is as declared in the end.
 */
#include "src/agent/apply/test/stage.h"

#define WITH_A STAGE_ALL "PartitionName=a Nodes=n1 MaxTime=5\n"
#define A_LONGER STAGE_ALL "PartitionName=a Nodes=n1 MaxTime=7\n"

static void push(struct stage *s, const char *conf, const char *result, const char *calls)
{
    AUTO(push_done) struct push p = {0};

    script_forget(s->script);
    stage_push_wait(s, conf, &p);
    assert_string_equal(p.result, result);
    assert_string_equal(script_said(s->script), calls);
}

static int with_a(void **state)
{
    AUTO(push_done) struct push p = {0};
    struct stage *s;

    (void)stage_setup(state);
    s = *state;
    stage_push_wait(s, WITH_A, &p);
    stage_run(s, 20000);
    return 0;
}

static void an_edit_is_one_call_and_one_look(void **state)
{
    struct stage *s = *state;

    push(s, A_LONGER, "applied", "partition-update a MaxTime=00:07:00; partitions");
    stage_expect_settled(s, A_LONGER);
}

static void an_edit_that_is_taken_back_at_once_is_not_lost(void **state)
{
    struct stage *s = *state;

    push(s, A_LONGER, "applied", "partition-update a MaxTime=00:07:00; partitions");
    push(s, WITH_A, "applied", "partition-update a MaxTime=00:05:00; partitions");
    push(s, A_LONGER, "applied", "partition-update a MaxTime=00:07:00; partitions");
    stage_expect_settled(s, A_LONGER);
}

static void a_partition_that_comes_and_goes_at_once_comes_again(void **state)
{
    static const char both[] = WITH_A "PartitionName=b Nodes=n2\n";
    struct stage *s = *state;

    push(s, both, "applied",
         "partition-create b DisableRootJobs=NO MinNodes=0 Nodes=n2; partitions");
    push(s, WITH_A, "applied", "parse; partitions; partition-delete b; partitions");
    push(s, both, "applied",
         "partition-create b DisableRootJobs=NO MinNodes=0 Nodes=n2; partitions");
    stage_expect_settled(s, both);
}

static void what_somebody_changed_meanwhile_is_put_right(void **state)
{
    struct stage *s = *state;

    ctld_set_by_hand(s->ctld, "a", "PriorityTier", "5");
    push(s, A_LONGER, "applied",
         "partition-update a MaxTime=00:07:00; partitions; "
         "partition-update a PriorityTier=1; partitions");
    stage_expect_settled(s, A_LONGER);
    stage_expect(s, "PriorityTier", "all=1 a=1");
}

static void a_partition_that_somebody_made_meanwhile_is_put_right(void **state)
{
    struct stage *s = *state;

    ctld_make_by_hand(s->ctld, "b", "n3");
    push(s, WITH_A "PartitionName=b Nodes=n2\n", "applied",
         "partition-create b DisableRootJobs=NO MinNodes=0 Nodes=n2; partitions; "
         "partition-update b DisableRootJobs=NO MinNodes=0 Nodes=n2; partitions");
    stage_expect_settled(s, WITH_A "PartitionName=b Nodes=n2\n");
}

static void a_partition_that_somebody_deleted_meanwhile_is_made_again(void **state)
{
    struct stage *s = *state;

    ctld_delete_by_hand(s->ctld, "a");
    push(s, A_LONGER, "applied",
         "partition-update a MaxTime=00:07:00; partitions; "
         "partition-create a DisableRootJobs=NO MaxTime=00:07:00 MinNodes=0 Nodes=n1; partitions");
    stage_expect_settled(s, A_LONGER);
}

/* The hub has seen 7, which is what is declared now: but that was before. */
static void where_nothing_seems_to_be_left_to_do_one_looks(void **state)
{
    struct stage *s = *state;

    ctld_set_by_hand(s->ctld, "a", "MaxTime", "00:07:00");
    stage_run(s, 30000);
    ctld_set_by_hand(s->ctld, "a", "MaxTime", "00:09:00");
    push(s, A_LONGER, "applied", "partitions; partition-update a MaxTime=00:07:00; partitions");
    stage_expect_settled(s, A_LONGER);
}

static void after_a_failure_the_picture_is_not_used(void **state)
{
    struct stage *s = *state;
    AUTO(push_done) struct push p = {0};

    script_next(s->script, "partition-update", 0, SCRIPT_DENY);
    stage_push_wait(s, A_LONGER, &p);
    assert_string_equal(p.result, "refused");
    push(s, A_LONGER, "applied", "partitions; partition-update a MaxTime=00:07:00; partitions");
}

static void what_slurmctld_does_not_take_is_refused_after_one_more_try(void **state)
{
    struct stage *s = *state;

    script_next(s->script, "partition-update", 0, SCRIPT_HALF);
    script_next(s->script, "partition-update", 0, SCRIPT_HALF);
    push(s, STAGE_ALL "PartitionName=a Nodes=n1 MaxTime=7 PriorityTier=2 GraceTime=3\n", "pending",
         "partition-update a GraceTime=3 MaxTime=00:07:00 PriorityTier=2; partitions; "
         "partition-update a MaxTime=00:07:00 PriorityTier=2; partitions; partitions; "
         "partition-update a GraceTime=0 MaxTime=00:05:00; partitions");
    stage_expect(s, "MaxTime", "all=UNLIMITED a=00:05:00");
    stage_run(s, 30000); /* and another one, later */
    stage_expect(s, "MaxTime", "all=UNLIMITED a=00:07:00");
}

/* Nobody has asked it before: that it is away shows in the call. */
static void a_slurmctld_that_does_not_answer_is_told_as_that(void **state)
{
    struct stage *s = *state;
    AUTO(push_done) struct push p = {0};

    script_next(s->script, "partition-update", 0, SCRIPT_DOWN);
    stage_push_wait(s, A_LONGER, &p);
    assert_string_equal(p.result, "pending");
    assert_string_equal(jsn_get_str(p.json, "reason"),
                        "slurmctld does not answer: partition 'a': slurmctld is not there");
    stage_run(s, 60000);
    stage_expect_settled(s, A_LONGER);
}

static void a_plan_looks_for_itself(void **state)
{
    struct stage *s = *state;
    AUTO(push_done) struct push p = {0};

    script_forget(s->script);
    stage_plan_wait(s, A_LONGER, &p);
    assert_string_equal(script_said(s->script), "partitions");
}

#define T(name) cmocka_unit_test_setup_teardown(name, with_a, stage_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(an_edit_is_one_call_and_one_look),
        T(an_edit_that_is_taken_back_at_once_is_not_lost),
        T(a_partition_that_comes_and_goes_at_once_comes_again),
        T(what_somebody_changed_meanwhile_is_put_right),
        T(a_partition_that_somebody_made_meanwhile_is_put_right),
        T(a_partition_that_somebody_deleted_meanwhile_is_made_again),
        T(where_nothing_seems_to_be_left_to_do_one_looks),
        T(after_a_failure_the_picture_is_not_used),
        T(what_slurmctld_does_not_take_is_refused_after_one_more_try),
        T(a_slurmctld_that_does_not_answer_is_told_as_that),
        T(a_plan_looks_for_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
