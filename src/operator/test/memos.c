/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what is remembered of Controllers. */
#include "src/base/test/unit.h"

#include "src/operator/memos.h"

static void each_controller_has_one(void **state)
{
    struct memos m = {0};
    struct config_memo *first;

    (void)state;
    first = memos_get(&m, "a", "slurm");
    assert_ptr_equal(memos_get(&m, "a", "slurm"), first);
    assert_ptr_not_equal(memos_get(&m, "b", "slurm"), first);
    assert_ptr_not_equal(memos_get(&m, "a", "other"), first);
    memos_drop(&m, "a", "slurm");
    memos_drop(&m, "a", "slurm");
    assert_int_equal(m.by_controller.n, 2);
    (void)memos_get(&m, "a", "slurm");
    assert_int_equal(m.by_controller.n, 3);
    memos_done(&m);
    memos_done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_controller_has_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
