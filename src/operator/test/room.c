/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of quotas that are full. */
#include "src/base/test/unit.h"

#include "src/base/cleanup.h"
#include "src/operator/room.h"

#define SAYS "create pods 'slurm': pods \"gpu-0-x\" is forbidden: exceeded quota: q, "

static void what_is_just_full_has_room_for_the_next(void **state)
{
    static const struct {
        const char *text;
        bool want;
    } rows[] = {
        {SAYS "requested: pods=1, used: pods=3, limited: pods=3", true},
        {SAYS "requested: cpu=2,pods=1, used: cpu=6,pods=3, limited: cpu=7000m,pods=3", true},
        {SAYS "requested: pods=1, used: pods=4, limited: pods=3", false},
        {SAYS "requested: cpu=2,pods=1, used: cpu=8,pods=3, limited: cpu=7,pods=3", false},
        {SAYS "requested: pods=1, used: pods=3, limited: ", false},
        {SAYS "requested: pods=1, used: pods=3", false},
        {SAYS "requested: a=1, used: a=1,b=1, limited: a=1", false},
        {SAYS "requested: a=1, used: a=1, limited: b=1", false},
        {"pods \"x\" is forbidden: error looking up service account slurm/none", false},
        {"", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(room_will_be(rows[i].text), rows[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_just_full_has_room_for_the_next)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
