/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the reasons that slurmctld writes. */
#include "src/base/test/unit.h"

#include "src/base/cleanup.h"
#include "src/slurm/node_reason.h"

static void slurmctlds_reasons_are_told_from_those_of_people(void **state)
{
    static const struct {
        const char *reason;
        const char *user;
        bool registration;
        bool absence;
    } cases[] = {
        {"gres/gpu count reported lower than configured (0 < 2)", "slurm", true, false},
        {"gres/gpu count too low (1 < 2)", "slurm", true, false},
        {"Low RealMemory", "slurm", true, false},
        {"Low RealMemory (reported:100 < 100.00% of configured:200)", "slurm", true, false},
        {"Low socket*core*thread count, Low CPUs", "slurm", true, false},
        {"Low TmpDisk : gres/gpu count reported lower than configured (0 < 1)", "slurm", true,
         false},
        {"Not responding", "slurm", false, true},
        {"Node unexpectedly rebooted", "slurm", false, true},
        /* The same words by a person, and words of a person that slurmctld has added to. */
        {"Low RealMemory", "root", false, false},
        {"Low RealMemory", NULL, false, false},
        {"broken fan : Low RealMemory", "slurm", false, false},
        {"gres/gpu is to be replaced", "slurm", false, false},
        {"Not responding", "ann", false, false},
        /* What is a fault of the node and not of its declaration. */
        {"Kill task failed", "root", false, false},
        {"Prolog error", "slurm", false, false},
        {NULL, "slurm", false, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(node_reason_is_registration(cases[i].reason, cases[i].user),
                         cases[i].registration);
        assert_int_equal(node_reason_is_absence(cases[i].reason, cases[i].user), cases[i].absence);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slurmctlds_reasons_are_told_from_those_of_people),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
