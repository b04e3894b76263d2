/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the limit of descriptors. */
#include "src/base/test/unit.h"

#include <sys/resource.h>

#include "src/base/descriptors.h"

static void the_soft_limit_is_raised_to_the_hard_one(void **state)
{
    struct rlimit old, low;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    low = (struct rlimit){32, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    assert_int_equal(descriptors_limit(), 32);
    descriptors_raise();
    assert_true(descriptors_limit() == (size_t)old.rlim_max);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_soft_limit_is_raised_to_the_hard_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
