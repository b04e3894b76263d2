/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Partitions that slurmctld refuses: what it says of one stays with that one.
 *
 * slurmctld has no QOS "nope".  A call that names it is refused after the settings before it were
 * taken; files that name it are not read.
 */
#include "src/agent/apply/test/stage.h"

#include <stdio.h>

#include "src/base/alloc.h"

#define A STAGE_ALL "PartitionName=a Nodes=n1 MaxTime=5\n"
#define A_BAD STAGE_ALL "PartitionName=a Nodes=n1 MaxTime=7 QOS=nope\n"
#define B "PartitionName=b Nodes=n2\n"
#define B_BAD "PartitionName=b Nodes=n2 MaxTime=3 QOS=nope\n"
#define SETTING "SchedulerParameters=bf_interval=43\n"

static void qos_lacks(struct stage *s, const char *qos)
{
    (void)snprintf(s->ctld->no_qos, sizeof(s->ctld->no_qos), "%s", qos);
}

/* Push; `refused` is what the answer says of partitions: "a: Invalid qos specification". */
static void push(struct stage *s, const char *conf, const char *result, const char *refused)
{
    AUTO(push_done) struct push p = {0};
    AUTO(buf_done) struct buf said = {0};

    script_forget(s->script);
    stage_push_wait(s, conf, &p);
    assert_string_equal(p.result, result);
    assert_int_equal(p.answers, 1);
    JSN_FOR_ITEMS (x, jsn_key(p.json, "refused"))
        buf_printf(&said, "%s%s: %s", said.n > 0 ? "; " : "", jsn_get_str(x, "partition"),
                   jsn_get_str(x, "error"));
    assert_string_equal(buf_str(&said), refused);
}

static void start(struct stage *s)
{
    push(s, A, "applied", "");
    qos_lacks(s, "nope");
}

static void the_rest_is_applied_and_the_refused_one_is_as_before(void **state)
{
    struct stage *s = *state;
    AUTO(free) char *conf = NULL;

    start(s);
    push(s, A_BAD B, "pending", "a: Invalid qos specification");
    stage_expect(s, "MaxTime", "all=UNLIMITED a=00:05:00 b=UNLIMITED");
    conf = stage_conf(s);
    assert_non_null(strstr(conf, "\nPartitionName=a Nodes=n1 DisableRootJobs=NO MaxTime=00:05:00"));
    assert_non_null(strstr(conf, "\n# slurmctld refuses it: PartitionName=a Nodes=n1 MaxTime=7"));
}

static void a_new_one_is_left_out(void **state)
{
    struct stage *s = *state;
    AUTO(free) char *conf = NULL;

    start(s);
    push(s, A B_BAD, "pending", "b: Invalid qos specification");
    stage_expect(s, "MaxTime", "all=UNLIMITED a=00:05:00");
    conf = stage_conf(s);
    assert_null(strstr(conf, "\nPartitionName=b"));
}

static void later_declarations_are_applied_and_do_not_ask_again(void **state)
{
    struct stage *s = *state;

    start(s);
    push(s, A_BAD, "pending", "a: Invalid qos specification");
    push(s, A_BAD B, "pending", "a: Invalid qos specification");
    assert_null(strstr(script_said(s->script), "partition-update a"));
    stage_expect(s, "MaxTime", "all=UNLIMITED a=00:05:00 b=UNLIMITED");
    push(s, SETTING A_BAD B, "pending", "a: Invalid qos specification");
    assert_int_equal(s->ctld->reconfigures, 1);
    push(s, SETTING A_BAD B, "pending", "a: Invalid qos specification");
    assert_string_equal(script_said(s->script), "");
}

static void another_line_is_tried_at_once(void **state)
{
    struct stage *s = *state;

    start(s);
    push(s, A_BAD, "pending", "a: Invalid qos specification");
    push(s, STAGE_ALL "PartitionName=a Nodes=n1 MaxTime=9\n", "applied", "");
    stage_expect(s, "MaxTime", "all=UNLIMITED a=00:09:00");
    stage_expect_settled(s, STAGE_ALL "PartitionName=a Nodes=n1 MaxTime=9\n");
}

static void what_is_declared_no_more_goes(void **state)
{
    struct stage *s = *state;

    start(s);
    push(s, A_BAD B_BAD, "pending", "a: Invalid qos specification; b: Invalid qos specification");
    push(s, STAGE_ALL, "applied", "");
    stage_expect_settled(s, STAGE_ALL);
}

static void one_with_jobs_that_leaves_after_a_refusal_waits_for_them(void **state)
{
    struct stage *s = *state;

    start(s);
    push(s, A_BAD, "pending", "a: Invalid qos specification");
    ctld_job_add(s->ctld, 3, "a", "n1");
    push(s, STAGE_ALL, "pending", "");
    stage_expect(s, "State", "all=UP a=DRAIN");
    ctld_job_end(s->ctld, 3);
    stage_run(s, 30000);
    stage_expect_settled(s, STAGE_ALL);
}

static void it_is_tried_again_with_growing_pauses(void **state)
{
    struct stage *s = *state;
    unsigned tries = 0;

    start(s);
    push(s, A_BAD, "pending", "a: Invalid qos specification");
    script_forget(s->script);
    stage_run(s, 1800000);
    for (const char *at = script_said(s->script); (at = strstr(at, "QOS=nope")); at++)
        tries++;
    assert_in_range(tries, 7, 11); /* after 15, 45, 105, 225, 465 s, then every 300 s */
    stage_expect(s, "MaxTime", "all=UNLIMITED a=00:05:00");
    qos_lacks(s, "");
    stage_run(s, 301000);
    stage_expect(s, "MaxTime", "all=UNLIMITED a=00:07:00");
    stage_expect_settled(s, A_BAD);
}

static void the_state_tells_it_after_a_start_of_the_agent_too(void **state)
{
    struct stage *s = *state;
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf text = {0};

    start(s);
    push(s, A_BAD, "pending", "a: Invalid qos specification");
    stage_agent_stop(s);
    stage_agent_start(s);
    stage_run(s, 3000);
    jsn_print(&text, jsn_key(stage_state(s, &a), "refused"));
    assert_string_equal(buf_str(&text),
                        "[{\"partition\":\"a\",\"error\":\"Invalid qos specification\"}]");
    qos_lacks(s, "");
    stage_run(s, 20000);
    stage_expect_settled(s, A_BAD);
}

static void the_default_stays_the_default(void **state)
{
    struct stage *s = *state;

    start(s);
    push(s,
         STAGE_HEAD "PartitionName=all Nodes=ALL Default=YES QOS=nope\n"
                    "PartitionName=a Nodes=n1 MaxTime=6\n",
         "pending", "all: Invalid qos specification");
    stage_expect(s, "Default", "all=YES a=NO");
    stage_expect(s, "MaxTime", "all=UNLIMITED a=00:06:00");
    push(s,
         STAGE_HEAD "PartitionName=all Nodes=ALL QOS=nope\n"
                    "PartitionName=a Nodes=n1 Default=YES\n",
         "pending", "all: Invalid qos specification");
    stage_expect(s, "Default", "all=NO a=YES");
}

static void a_setting_that_slurmctld_drops_is_a_refusal_of_that_one(void **state)
{
    struct stage *s = *state;

    start(s);
    script_next(s->script, "partition-create", 0, SCRIPT_HALF);
    script_next(s->script, "partition-update", 0, SCRIPT_HALF);
    push(s, A B, "pending", "b: partition 'b' has Nodes= after the change, and not n2");
    stage_expect(s, "MaxTime", "all=UNLIMITED a=00:05:00");
    stage_run(s, 20000);
    stage_expect_settled(s, A B);
}

static void the_words_of_a_rehearsal_tell_which_one_it_is(void **state)
{
    struct stage *s = *state;

    start(s);
    s->rehearse_r = -EINVAL;
    s->rehearse_words = "fatal: Partition a has an invalid qos (nope), please check";
    push(s, SETTING A B, "refused", ""); /* a does not change: it is not to blame */
    stage_expect(s, "MaxTime", "all=UNLIMITED a=00:05:00");
    s->rehearse_once = true;
    push(s, SETTING A_BAD B, "pending",
         "a: fatal: Partition a has an invalid qos (nope), please check");
    stage_expect(s, "MaxTime", "a=00:05:00 all=UNLIMITED b=UNLIMITED");
    assert_int_equal(s->ctld->reconfigures, 1);
}

static void no_right_to_change_is_no_refusal_of_the_partition(void **state)
{
    struct stage *s = *state;

    start(s);
    script_next(s->script, "partition-create", 0, SCRIPT_DENY);
    push(s, A B, "refused", "");
    stage_expect_settled(s, A);
}

static void a_plan_tells_what_is_set_aside(void **state)
{
    struct stage *s = *state;
    AUTO(push_done) struct push p = {0};

    start(s);
    push(s, A_BAD, "pending", "a: Invalid qos specification");
    stage_plan_wait(s, A_BAD B, &p);
    assert_string_equal(p.result, "plan");
    assert_int_equal(jsn_len(jsn_key(p.json, "refused")), 1);
}

/* slurmctld is killed with the agent, at every point: it must find files that it can start from,
 * or ones whose record the next agent mends. */
static void a_restart_in_the_midst_never_loses_slurmctld(void **state)
{
    struct stage *s = *state;

    start(s);
    for (unsigned skip = 0; skip < 8; skip++) {
        AUTO(push_done) struct push p = {0};

        script_next(s->script, NULL, skip, SCRIPT_DO_AND_DIE);
        stage_push_wait(s, skip % 2 ? A_BAD B : A_BAD, &p);
        s->ctld->up = false;
        ctld_start(s->ctld);
        stage_agent_stop(s);
        stage_agent_start(s);
        stage_run(s, 60000);
        assert_true(s->ctld->up);
        assert_string_equal(ctld_value(&p.arena, s->ctld, "a", "MaxTime"), "00:05:00");
        assert_int_equal(s->ctld->n, skip % 2 ? 3 : 2);
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, stage_setup, stage_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(the_rest_is_applied_and_the_refused_one_is_as_before),
        T(a_new_one_is_left_out),
        T(later_declarations_are_applied_and_do_not_ask_again),
        T(another_line_is_tried_at_once),
        T(what_is_declared_no_more_goes),
        T(one_with_jobs_that_leaves_after_a_refusal_waits_for_them),
        T(it_is_tried_again_with_growing_pauses),
        T(the_state_tells_it_after_a_start_of_the_agent_too),
        T(the_default_stays_the_default),
        T(a_setting_that_slurmctld_drops_is_a_refusal_of_that_one),
        T(the_words_of_a_rehearsal_tell_which_one_it_is),
        T(no_right_to_change_is_no_refusal_of_the_partition),
        T(a_plan_tells_what_is_set_aside),
        T(a_restart_in_the_midst_never_loses_slurmctld),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
