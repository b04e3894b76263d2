/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The apply machine: what it does with declarations of each kind, call by call. */
#include "src/agent/apply/test/stage.h"

#define WITH_A STAGE_ALL "PartitionName=a Nodes=n1 MaxTime=5\n"
#define A_LONGER STAGE_ALL "PartitionName=a Nodes=n1 MaxTime=7\n"
#define SETTING "SchedulerParameters=bf_interval=43\n"
#define HEAVY "MaxNodeCount=1500\n"
#define BAD STAGE_ALL "PartitionName=a Nodes=nowhere\n"

static void push(struct stage *s, const char *conf, const char *result, const char *calls)
{
    AUTO(push_done) struct push p = {0};

    script_forget(s->script);
    stage_push_wait(s, conf, &p);
    assert_string_equal(p.result, result);
    if (calls)
        assert_string_equal(script_said(s->script), calls);
    assert_int_equal(p.answers, 1);
}

static void partitions_are_made_changed_and_deleted_by_calls(void **state)
{
    struct stage *s = *state;

    push(s, WITH_A, "applied",
         "partition-create a DisableRootJobs=NO MaxTime=00:05:00 MinNodes=0 "
         "Nodes=n1; partitions");
    stage_expect_settled(s, WITH_A);
    push(s, A_LONGER, "applied", "partition-update a MaxTime=00:07:00; partitions");
    stage_expect_settled(s, A_LONGER);
    push(s, A_LONGER, "unchanged", "");
    push(s, STAGE_ALL, "applied", "parse; partitions; partition-delete a; partitions");
    stage_expect_settled(s, STAGE_ALL);
}

static void what_is_not_plain_is_shown_to_the_parser(void **state)
{
    struct stage *s = *state;

    push(s, WITH_A, "applied", NULL);
    push(s, STAGE_ALL "PartitionName=a Nodes=n1 MaxTime=1-0\n", "applied",
         "parse; partition-update a MaxTime=1-00:00:00; partitions");
    script_next(s->script, "parse", 0, SCRIPT_REFUSE);
    push(s, STAGE_ALL "PartitionName=a Nodes=n1 MaxTime=2-0\n", "refused", "parse");
    stage_expect_settled(s, STAGE_ALL "PartitionName=a Nodes=n1 MaxTime=1-0\n");
}

static void what_means_the_same_is_written_and_no_call_is_made(void **state)
{
    push(*state, "# a word\n" STAGE_ALL, "applied", "parse");
    stage_expect_settled(*state, "# a word\n" STAGE_ALL);
}

static void a_setting_is_a_reconfigure_and_is_tried_out_before(void **state)
{
    struct stage *s = *state;

    push(s, SETTING STAGE_ALL, "applied", "parse; partitions; reconfigure; partitions");
    assert_int_equal(s->rehearsals, 1);
    assert_int_equal(s->ctld->reconfigures, 1);
    stage_expect_settled(s, SETTING STAGE_ALL);
}

static void one_more_node_set_needs_no_rehearsal(void **state)
{
    struct stage *s = *state;

    push(s, STAGE_ALL "NodeSet=gpu Feature=gpu\nPartitionName=gpu Nodes=gpu\n", "applied",
         "partitions; reconfigure; partitions");
    assert_int_equal(s->rehearsals, 0);
    /* but what is not so plain does */
    push(s, STAGE_ALL "NodeSet=gpu Nodes=n[1-2]\nPartitionName=gpu Nodes=gpu\n", "applied", NULL);
    assert_int_equal(s->rehearsals, 1);
    push(s, SETTING STAGE_ALL "NodeSet=gpu Nodes=n[1-2]\nPartitionName=gpu Nodes=gpu\n", "applied",
         NULL);
    assert_int_equal(s->rehearsals, 2);
}

static void a_second_reconfigure_waits_for_the_nodes(void **state)
{
    struct stage *s = *state;

    push(s, SETTING STAGE_ALL, "applied", NULL);
    s->ctld->messages = 2;
    push(s, STAGE_ALL, "applied",
         "parse; partitions; under-way; under-way; under-way; reconfigure; partitions");
}

/*
 * A start, a reconfigure for the nodes, and a start that counts jobs right: the second start waits
 * for messages to nodes, and must not be taken for the first one.
 */
static void jobs_are_counted_right_after_a_restart(void **state)
{
    struct stage *s = *state;

    (void)snprintf(s->ctld->dynamic[s->ctld->n_dynamic++], sizeof(s->ctld->dynamic[0]), "d1");
    ctld_job_add(s->ctld, 5, "all", "d1");
    s->ctld->start_looks = 3;
    stage_run(s, 10000);
    s->ctld->messages = 2;
    push(s, HEAVY STAGE_ALL, "applied", NULL);
    assert_int_equal(s->ctld->starts, 3);
}

static void a_heavier_setting_is_a_restart(void **state)
{
    struct stage *s = *state;

    push(s, HEAVY STAGE_ALL, "applied", "parse; partitions; ping; shutdown; ping; partitions");
    assert_int_equal(s->ctld->starts, 2);
    assert_int_equal(s->rehearsals, 1);
    stage_expect_settled(s, HEAVY STAGE_ALL);
}

static void without_an_entry_point_a_restart_waits_for_a_person(void **state)
{
    struct stage *s = *state;

    stage_agent_stop(s);
    s->no_marker = s->ctld->no_entry_point = true;
    stage_agent_start(s);
    stage_run(s, 5000);
    push(s, HEAVY STAGE_ALL, "pending", NULL);
    stage_run(s, 30000);
    assert_int_equal(s->ctld->starts, 1);
    s->ctld->up = false;
    stage_run(s, 3000);
    ctld_start(s->ctld);
    stage_run(s, 60000);
    stage_expect_settled(s, HEAVY STAGE_ALL);
}

static void a_partition_with_jobs_drains_and_goes_after_the_last(void **state)
{
    struct stage *s = *state;
    AUTO(free) char *conf = NULL;

    push(s, WITH_A, "applied", NULL);
    ctld_job_add(s->ctld, 3, "a", "n1");
    ctld_job_add(s->ctld, 4, "a", NULL);
    push(s, STAGE_ALL, "pending",
         "parse; partitions; partition-delete a; partition-update a State=DRAIN; "
         "partitions");
    conf = stage_conf(s);
    assert_non_null(strstr(conf, "PartitionName=a "));
    assert_non_null(strstr(conf, "State=DRAIN"));
    stage_run(s, 30000);
    stage_expect(s, "State", "all=UP a=DRAIN");
    ctld_job_end(s->ctld, 3);
    stage_run(s, 30000);
    assert_non_null(ctld_find(s->ctld, "a"));
    ctld_job_end(s->ctld, 4);
    stage_run(s, 30000);
    stage_expect_settled(s, STAGE_ALL);
}

static void the_state_tells_which_jobs_are_waited_for(void **state)
{
    struct stage *s = *state;
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf text = {0};

    push(s, WITH_A, "applied", NULL);
    ctld_job_add(s->ctld, 3, "a", "n1");
    push(s, STAGE_ALL, "pending", NULL);
    stage_run(s, 5000);
    jsn_print(&text, jsn_key(stage_state(s, &a), "waiting"));
    assert_string_equal(buf_str(&text), "[{\"partition\":\"a\",\"jobs\":[3]}]");
}

static void a_partition_of_the_site_with_jobs_survives_a_reconfigure(void **state)
{
    struct stage *s = *state;

    ctld_make_by_hand(s->ctld, "hand", "n3");
    ctld_make_by_hand(s->ctld, "idle", "n4");
    ctld_job_add(s->ctld, 5, "hand", "n3");
    stage_run(s, 30000);
    push(s, SETTING STAGE_ALL, "pending", NULL);
    assert_non_null(ctld_find(s->ctld, "hand"));
    assert_null(ctld_find(s->ctld, "idle"));
    ctld_job_end(s->ctld, 5);
    stage_run(s, 60000);
    stage_expect_settled(s, SETTING STAGE_ALL);
}

static void bad_files_are_refused_and_nothing_is_touched(void **state)
{
    struct stage *s = *state;
    AUTO(push_done) struct push p = {0};

    stage_push_wait(s, BAD, &p);
    assert_string_equal(p.result, "refused");
    assert_string_equal(p.step, "validate");
    assert_int_equal(p.status, 422);
    assert_string_equal(script_said(s->script), "");
    stage_expect_settled(s, STAGE_ALL);
}

static void what_a_scratch_slurmctld_does_not_start_with_is_refused(void **state)
{
    struct stage *s = *state;

    s->rehearse_r = -EINVAL;
    push(s, HEAVY STAGE_ALL, "refused", "parse; partitions; ping");
    stage_run(s, 60000);
    assert_int_equal(s->ctld->starts, 1);
    stage_expect_settled(s, STAGE_ALL);
}

static void a_slurmctld_that_refuses_a_reconfigure_keeps_its_files(void **state)
{
    struct stage *s = *state;

    s->ctld->mood = CTLD_REFUSES;
    push(s, SETTING WITH_A, "refused", NULL);
    stage_run(s, 60000);
    stage_expect_settled(s, STAGE_ALL);
}

static void a_slurmctld_that_dies_of_a_reconfigure_gets_its_old_files_back(void **state)
{
    struct stage *s = *state;
    AUTO(push_done) struct push first = {0};
    AUTO(push_done) struct push second = {0};

    s->ctld->mood = CTLD_DIES;
    stage_push_wait(s, SETTING WITH_A, &first);
    assert_int_equal(first.status, 503); /* it may have been an accident */
    stage_run(s, 60000);
    stage_expect_settled(s, STAGE_ALL);
    s->ctld->mood = CTLD_DIES;
    stage_push_wait(s, SETTING WITH_A, &second);
    assert_int_equal(second.status, 422); /* it was not */
    stage_run(s, 60000);
    stage_expect_settled(s, STAGE_ALL);
}

static void a_slurmctld_that_ends_at_its_start_gets_its_old_files_back(void **state)
{
    struct stage *s = *state;
    AUTO(push_done) struct push p = {0};

    s->ctld->mood = CTLD_WONT_START;
    stage_push_wait(s, HEAVY WITH_A, &p);
    assert_string_equal(p.result, "refused");
    assert_true(jsn_get_bool(p.json, "ended", false));
    stage_run(s, 60000);
    assert_true(s->ctld->up);
    stage_expect_settled(s, STAGE_ALL);
}

/* Nodes that run for longer than slurmctld have their files from it by reconfigures alone. */
static void nodes_get_old(struct stage *s)
{
    s->ctld->slurmd_start_s = s->ctld->boot_s - 100;
    stage_run(s, 30000);
    push(s, SETTING STAGE_ALL, "applied", NULL);
    stage_run(s, 90000);
    s->ctld->reconfigures = 0;
}

static void nodes_that_were_not_told_of_a_refused_change_are_left_alone(void **state)
{
    struct stage *s = *state;

    nodes_get_old(s);
    s->ctld->mood = CTLD_WONT_START;
    push(s, HEAVY SETTING STAGE_ALL, "refused", NULL);
    stage_run(s, 90000);
    assert_int_equal(s->ctld->reconfigures, 0);
    stage_expect_settled(s, SETTING STAGE_ALL);
}

static void nodes_that_were_told_of_a_refused_change_are_told_to_go_back(void **state)
{
    struct stage *s = *state;

    (void)snprintf(s->ctld->dynamic[s->ctld->n_dynamic++], sizeof(s->ctld->dynamic[0]), "d1");
    nodes_get_old(s);
    ctld_job_add(s->ctld, 7, "all", "d1");
    stage_run(s, 10000);
    s->ctld->mood = CTLD_WONT_START; /* at the start after the reconfigure, which counts the jobs */
    push(s, STAGE_ALL, "refused", NULL);
    assert_int_equal(s->ctld->reconfigures, 1);
    stage_run(s, 90000);
    assert_int_equal(s->ctld->reconfigures, 2);
}

static void while_slurmctld_is_down_files_are_written_and_it_stays_pending(void **state)
{
    struct stage *s = *state;

    s->ctld->up = false;
    s->ctld->no_entry_point = true;
    stage_run(s, 5000);
    push(s, WITH_A, "pending", NULL);
    stage_run(s, 60000);
    s->ctld->no_entry_point = false;
    ctld_start(s->ctld);
    stage_run(s, 60000);
    stage_expect_settled(s, WITH_A);
}

static void keys_start_slurmctld_again_and_bad_ones_go_back(void **state)
{
    struct stage *s = *state;
    AUTO(fileset_done) struct fileset keys = {0};
    struct err e = {0};

    assert_int_equal(fileset_put(&keys, "slurm.key", STR("one"), 0600, &e), 0);
    engine_keys(s->engine, &keys, true);
    stage_run(s, 30000);
    assert_int_equal(s->ctld->starts, 2);
    assert_int_equal(fileset_put(&keys, "slurm.key", STR("two"), 0600, &e), 0);
    s->ctld->mood = CTLD_WONT_START;
    engine_keys(s->engine, &keys, true);
    stage_run(s, 60000);
    assert_true(s->ctld->up);
    assert_int_equal(s->ctld->starts, 4); /* with two, and with one again */
    stage_expect_settled(s, STAGE_ALL);
}

static void drift_is_put_back_where_that_is_the_policy(void **state)
{
    struct stage *s = *state;
    struct record *r = record_new();
    struct err e = {0};

    assert_int_equal(fileset_put(&r->files, "slurm.conf", str_of(WITH_A), 0644, &e), 0);
    fileset_hash(&r->files, r->hash);
    r->revert = true;
    (void)engine_push(s->engine, r, NULL, NULL);
    stage_run(s, 10000);
    ctld_set_by_hand(s->ctld, "a", "MaxTime", "00:09:00");
    ctld_make_by_hand(s->ctld, "hand", "n3");
    ctld_make_by_hand(s->ctld, "busy", "n4");
    ctld_job_add(s->ctld, 5, "busy", "n4");
    stage_run(s, 60000);
    stage_expect(s, "MaxTime", "all=UNLIMITED a=00:05:00 busy=UNLIMITED");
    ctld_job_end(s->ctld, 5);
    stage_run(s, 60000);
    stage_expect_settled(s, WITH_A);
}

/* Partitions are changed by a call as ever; what takes a reconfigure takes a start. */
static void no_reconfigure_where_none_is_wanted(void **state)
{
    static const struct {
        const char *conf;
        unsigned starts;
    } rows[] = {{WITH_A, 1}, {SETTING WITH_A, 2}};
    struct stage *s = *state;
    struct err e = {0};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct record *r = record_new();

        assert_int_equal(fileset_put(&r->files, "slurm.conf", str_of(rows[i].conf), 0644, &e), 0);
        fileset_hash(&r->files, r->hash);
        r->restarts = true;
        (void)engine_push(s->engine, r, NULL, NULL);
        stage_run(s, 30000);
        assert_int_equal(s->ctld->starts, rows[i].starts);
        stage_expect_settled(s, rows[i].conf);
    }
}

static void drift_is_only_told_where_nothing_else_was_asked_for(void **state)
{
    struct stage *s = *state;

    push(s, WITH_A, "applied", NULL);
    ctld_set_by_hand(s->ctld, "a", "MaxTime", "00:09:00");
    stage_run(s, 60000);
    stage_expect(s, "MaxTime", "all=UNLIMITED a=00:09:00");
}

static void a_plan_changes_nothing(void **state)
{
    struct stage *s = *state;
    AUTO(push_done) struct push p = {0};

    stage_plan_wait(s, SETTING WITH_A, &p);
    assert_string_equal(p.result, "plan");
    assert_string_equal(script_said(s->script), "parse; partitions");
    stage_run(s, 10000);
    stage_expect_settled(s, STAGE_ALL);
}

static void what_turns_out_bad_when_it_is_tried_again_is_undone(void **state)
{
    struct stage *s = *state;

    script_next(s->script, "partition-create", 0, SCRIPT_DO_AND_HANG);
    push(s, STAGE_ALL "PartitionName=a Nodes=n1 MaxTime=1-0\n", "pending", NULL);
    script_next(s->script, "parse", 0, SCRIPT_REFUSE);
    stage_run(s, 60000);
    stage_expect_settled(s, STAGE_ALL);
}

static void every_move_was_made(void **state)
{
    (void)state;
    stage_expect_all_moves();
}

#define T(name) cmocka_unit_test_setup_teardown(name, stage_setup, stage_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(partitions_are_made_changed_and_deleted_by_calls),
        T(what_is_not_plain_is_shown_to_the_parser),
        T(what_means_the_same_is_written_and_no_call_is_made),
        T(a_setting_is_a_reconfigure_and_is_tried_out_before),
        T(one_more_node_set_needs_no_rehearsal),
        T(a_second_reconfigure_waits_for_the_nodes),
        T(jobs_are_counted_right_after_a_restart),
        T(a_heavier_setting_is_a_restart),
        T(without_an_entry_point_a_restart_waits_for_a_person),
        T(a_partition_with_jobs_drains_and_goes_after_the_last),
        T(the_state_tells_which_jobs_are_waited_for),
        T(a_partition_of_the_site_with_jobs_survives_a_reconfigure),
        T(bad_files_are_refused_and_nothing_is_touched),
        T(what_a_scratch_slurmctld_does_not_start_with_is_refused),
        T(a_slurmctld_that_refuses_a_reconfigure_keeps_its_files),
        T(a_slurmctld_that_dies_of_a_reconfigure_gets_its_old_files_back),
        T(a_slurmctld_that_ends_at_its_start_gets_its_old_files_back),
        T(nodes_that_were_not_told_of_a_refused_change_are_left_alone),
        T(nodes_that_were_told_of_a_refused_change_are_told_to_go_back),
        T(while_slurmctld_is_down_files_are_written_and_it_stays_pending),
        T(keys_start_slurmctld_again_and_bad_ones_go_back),
        T(drift_is_put_back_where_that_is_the_policy),
        T(no_reconfigure_where_none_is_wanted),
        T(drift_is_only_told_where_nothing_else_was_asked_for),
        T(a_plan_changes_nothing),
        T(what_turns_out_bad_when_it_is_tried_again_is_undone),
        cmocka_unit_test(every_move_was_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
