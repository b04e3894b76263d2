/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is on disk before slurmctld is told.
 *
 * A machine that loses power must not come up with a slurmctld that has lost a partition, and the
 * jobs in it.  An update of a partition that is there can be lost without harm: it waits for the
 * disk once, and the rest follows when nobody waits.
 */
#include "src/agent/apply/test/stage.h"

#define WITH_A STAGE_ALL "PartitionName=a Nodes=n1 MaxTime=5\n"
#define A_LONGER STAGE_ALL "PartitionName=a Nodes=n1 MaxTime=7\n"

static unsigned syncs;

/* Instead of libc's. */
int fsync(int fd)
{
    (void)fd;
    syncs++;
    return 0;
}

static unsigned push(struct stage *s, const char *conf, const char *result)
{
    AUTO(push_done) struct push p = {0};

    syncs = 0;
    stage_push_wait(s, conf, &p);
    assert_string_equal(p.result, result);
    return syncs;
}

static void an_update_waits_for_the_disk_once(void **state)
{
    struct stage *s = *state;

    (void)push(s, WITH_A, "applied");
    stage_run(s, 5000);
    assert_int_equal(push(s, A_LONGER, "applied"), 1); /* the contents of slurm.conf */
    assert_true(store_is_unsynced(s->store));
    stage_run(s, 1000);
    assert_false(store_is_unsynced(s->store));
    assert_int_equal(syncs, 1 + 3); /* the record, its directory, the live one */
    stage_expect_settled(s, A_LONGER);
}

static void many_updates_are_made_up_for_once(void **state)
{
    struct stage *s = *state;

    (void)push(s, WITH_A, "applied");
    stage_run(s, 5000);
    for (int i = 0; i < 5; i++)
        assert_int_equal(push(s, i % 2 ? WITH_A : A_LONGER, "applied"), 1);
    syncs = 0;
    stage_run(s, 5000);
    assert_int_equal(syncs, 3);
}

static void a_new_partition_is_on_disk_before_slurmctld_has_it(void **state)
{
    struct stage *s = *state;

    assert_int_equal(push(s, WITH_A, "applied"), 3); /* the record, slurm.conf, its directory */
    assert_false(store_is_unsynced(s->store));
    assert_true(push(s, STAGE_ALL, "applied") >= 3); /* nor is one that leaves taken lightly */
    assert_true(push(s, "SchedulerParameters=bf_interval=43\n" STAGE_ALL, "applied") >= 3);
    assert_false(store_is_unsynced(s->store));
}

static void the_way_back_is_on_disk_too(void **state)
{
    struct stage *s = *state;

    (void)push(s, WITH_A, "applied");
    stage_run(s, 5000);
    script_next(s->script, "partition-update", 0, SCRIPT_DENY);
    assert_int_equal(push(s, A_LONGER, "refused"), 1 + 2); /* forth lazily, and back */
    stage_run(s, 5000);
    stage_expect_settled(s, WITH_A);
}

#define T(name) cmocka_unit_test_setup_teardown(name, stage_setup, stage_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(an_update_waits_for_the_disk_once),
        T(many_updates_are_made_up_for_once),
        T(a_new_partition_is_on_disk_before_slurmctld_has_it),
        T(the_way_back_is_on_disk_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
