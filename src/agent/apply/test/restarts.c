/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A slurmctld that somebody starts again between two looks of the hub.
 *
 * These slurmctlds are never seen to be away, and nobody tells the hub of connections: only what a
 * list says of the slurmctld that it comes from shows that it is another one.
 */
#include "src/agent/apply/test/stage.h"

#include "src/base/alloc.h"

#define WITH_A STAGE_ALL "PartitionName=a Nodes=n1 MaxTime=5\n"
#define HEAVY "MaxNodeCount=1500\n"

static void push(struct stage *s, const char *conf, const char *result)
{
    AUTO(push_done) struct push p = {0};

    stage_push_wait(s, conf, &p);
    assert_string_equal(p.result, result);
}

static void a_restart_by_hand_between_two_looks_is_seen(void **state)
{
    struct stage *s = *state;
    int64_t first;

    stage_agent_stop(s);
    s->no_marker = s->ctld->no_entry_point = true;
    stage_agent_start(s);
    stage_run(s, 5000);
    first = hub_boot_time(s->hub);
    push(s, HEAVY STAGE_ALL, "pending");
    stage_run(s, 30000);
    ctld_start(s->ctld);
    stage_run(s, 60000);
    assert_int_equal(hub_boot_time(s->hub), s->ctld->boot_s);
    assert_true(hub_boot_time(s->hub) > first);
    stage_expect_settled(s, HEAVY STAGE_ALL);
}

/* What the one before was told by scontrol is gone with it, and no drift is left. */
static void drift_ends_with_the_slurmctld_that_had_it(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct stage *s = *state;

    push(s, WITH_A, "applied");
    stage_run(s, 20000);
    ctld_set_by_hand(s->ctld, "a", "MaxTime", "00:09:00");
    stage_run(s, 20000);
    assert_int_equal(jsn_len(stage_section(s, &a, "drift")), 1);
    ctld_start(s->ctld);
    stage_run(s, 20000);
    assert_int_equal(jsn_len(stage_section(s, &a, "drift")), 0);
    assert_int_equal(jsn_get_int(stage_section(s, &a, "slurmctld"), "bootTime", 0),
                     s->ctld->boot_s);
    assert_true(jsn_get_bool(stage_section(s, &a, "slurmctld"), "up", false));
}

/* Its release comes by a ping, which nothing else would have asked for. */
static void an_upgrade_between_two_looks_is_seen(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct stage *s = *state;

    stage_run(s, 20000);
    (void)snprintf(s->ctld->release, sizeof(s->ctld->release), "22.05.9");
    ctld_start(s->ctld);
    stage_run(s, 20000);
    assert_string_equal(jsn_get_str(stage_section(s, &a, "slurmctld"), "release"), "22.05.9");
}

/* One ping for each start, and none while it runs. */
static void a_slurmctld_that_stays_is_not_pinged(void **state)
{
    struct stage *s = *state;
    unsigned pings;

    stage_run(s, 20000);
    pings = s->ctld->pings;
    ctld_set_by_hand(s->ctld, "all", "PriorityTier", "5");
    stage_run(s, 60000);
    assert_int_equal(s->ctld->pings, pings);
    ctld_start(s->ctld);
    stage_run(s, 60000);
    assert_true(s->ctld->pings > pings && s->ctld->pings <= pings + 2);
}

/* Slinky's supervisord leaves a slurmctld down that has ended well; the liveness probe of its
 * container does not. */
static void the_liveness_probe_of_another_image_is_waited_for(void **state)
{
    AUTO(push_done) struct push p = {0};
    AUTO(free) char *started = NULL;
    struct stage *s = *state;

    started = xasprintf("%s/started", s->dir);
    assert_int_equal(unlink(started), 0);
    s->ctld->no_entry_point = true;
    stage_push(s, HEAVY STAGE_ALL, &p);
    stage_run(s, 70000);
    assert_false(s->ctld->up);
    ctld_start(s->ctld);
    stage_run(s, 30000);
    stage_expect_settled(s, HEAVY STAGE_ALL);
}

/* It is told to start slurmctld at once, so that a slurmctld that stays away is news soon. */
static void a_supervisor_that_is_told_is_not_given_a_probes_time(void **state)
{
    AUTO(push_done) struct push p = {0};
    AUTO(free) char *started = NULL;
    AUTO(free) char *revives = NULL;
    struct stage *s = *state;

    started = xasprintf("%s/started", s->dir);
    revives = xasprintf("%s/revives", s->dir);
    assert_int_equal(rename(started, revives), 0);
    s->ctld->no_entry_point = true;
    stage_push(s, HEAVY STAGE_ALL, &p);
    stage_run(s, 70000);
    assert_int_equal(p.answers, 1);
    assert_non_null(strstr(p.error, "did not come back within 45 s"));
}

static bool is_up(struct stage *s)
{
    AUTO(arena_done) struct arena a = {0};

    return jsn_get_bool(stage_section(s, &a, "slurmctld"), "up", false);
}

/* libslurm would wait for it for 20 seconds. */
static void a_slurmctld_that_hangs_does_not_answer(void **state)
{
    struct stage *s = *state;

    stage_run(s, 5000);
    assert_true(is_up(s));
    s->ctld->silent = true;
    stage_run(s, 6000);
    assert_true(is_up(s));
    stage_run(s, 5000);
    assert_false(is_up(s));
    stage_run(s, 60000);
    assert_false(is_up(s));
    s->ctld->silent = false;
    stage_run(s, 25000);
    assert_true(is_up(s));
    stage_expect_settled(s, STAGE_ALL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, stage_setup, stage_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_restart_by_hand_between_two_looks_is_seen),
        T(drift_ends_with_the_slurmctld_that_had_it),
        T(an_upgrade_between_two_looks_is_seen),
        T(a_slurmctld_that_stays_is_not_pinged),
        T(a_slurmctld_that_hangs_does_not_answer),
        T(the_liveness_probe_of_another_image_is_waited_for),
        T(a_supervisor_that_is_told_is_not_given_a_probes_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
