/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of upgrades: how far at once, in which order, and the words of a refusal. */
#include "src/base/test/unit.h"

#include "src/slurm/upgrade.h"

static void steps_are_as_long_as_slurm_makes_them(void **state)
{
    static const struct {
        uint32_t from, to;
        const char *says; /* NULL: it may be done */
    } rows[] = {
        {RELEASE(24, 11, 5), RELEASE(24, 11, 7), NULL},
        {RELEASE(24, 11, 7), RELEASE(24, 11, 5), NULL}, /* back, within the series */
        {RELEASE(22, 5, 8), SERIES(23, 2), NULL},
        {RELEASE(22, 5, 8), SERIES(23, 11), NULL},
        {RELEASE(24, 11, 5), RELEASE(26, 5, 5), NULL},
        {SERIES(23, 11), RELEASE(24, 11, 0), NULL},
        {SERIES(23, 11), SERIES(25, 5), NULL},
        {SERIES(26, 5), RELEASE(27, 5, 1), NULL}, /* a release that is not known yet */
        {RELEASE(22, 5, 8), SERIES(24, 5),
         "Slurm 22.05 cannot become 24.05 at once: 24.05 takes over from 23.02 or later; go by "
         "23.11 first"},
        {RELEASE(22, 5, 8), RELEASE(26, 5, 3),
         "Slurm 22.05 cannot become 26.05 at once: 26.05 takes over from 24.11 or later; go by "
         "23.11, then 25.05 first"},
        {SERIES(24, 5), SERIES(26, 5),
         "Slurm 24.05 cannot become 26.05 at once: 26.05 takes over from 24.11 or later; go by "
         "25.11 first"},
        {RELEASE(26, 5, 3), RELEASE(24, 11, 5),
         "Slurm 26.05 cannot become 24.11 again: no Slurm reads what a later one has written; "
         "stay with 26.05 or later"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = {0};
        int r = upgrade_check_step(rows[i].from, rows[i].to, &e);

        assert_int_equal(r, rows[i].says ? -EINVAL : 0);
        assert_string_equal(e.text, rows[i].says ? rows[i].says : "");
    }
}

static void parts_go_in_their_order(void **state)
{
    static const struct {
        struct upgrade_cluster c;
        enum upgrade_part part;
        uint32_t to;
        int result;
        const char *says;
    } rows[] = {
        /* nothing is known of the others: the order holds nothing up */
        {{{0}}, UPGRADE_SLURMD, SERIES(26, 5), 0, ""},
        {{{0, SERIES(24, 11), SERIES(24, 11)}}, UPGRADE_SLURMCTLD, SERIES(26, 5), 0, ""},
        {{{0, SERIES(24, 11), SERIES(24, 11)}},
         UPGRADE_SLURMD,
         SERIES(26, 5),
         -EAGAIN,
         "slurmd of Slurm 26.05 has to wait for slurmctld, which runs 24.11 and serves nothing "
         "newer"},
        {{{0, SERIES(26, 5), SERIES(24, 11)}}, UPGRADE_SLURMD, SERIES(26, 5), 0, ""},
        {{{SERIES(24, 11), SERIES(24, 11)}},
         UPGRADE_SLURMCTLD,
         SERIES(25, 5),
         -EAGAIN,
         "slurmctld of Slurm 25.05 has to wait for slurmdbd, which runs 24.11 and serves nothing "
         "newer"},
        {{{SERIES(24, 11), SERIES(24, 11)}}, UPGRADE_SLURMDBD, SERIES(25, 5), 0, ""},
        {{{0, SERIES(26, 5), SERIES(26, 5), SERIES(24, 11)}}, UPGRADE_LOGIN, SERIES(26, 5), 0, ""},
        /* a node was left behind by the step before */
        {{{0, SERIES(25, 5), SERIES(24, 5)}},
         UPGRADE_SLURMCTLD,
         SERIES(26, 5),
         -EINVAL,
         "slurmctld of Slurm 26.05 serves slurmd of 24.11 or later, and here 24.05 runs: bring "
         "slurmd to 24.11 first"},
        /* a pod that is newer than its slurmctld: what is wrong there is not this step */
        {{{0, SERIES(24, 11), SERIES(26, 5)}}, UPGRADE_SLURMCTLD, SERIES(25, 11), 0, ""},
        {{{0, SERIES(22, 5), SERIES(22, 5)}},
         UPGRADE_SLURMCTLD,
         SERIES(25, 5),
         -EINVAL,
         "Slurm 22.05 cannot become 25.05 at once: 25.05 takes over from 23.11 or later; go by "
         "23.11 first"},
        {{{0, SERIES(26, 5), 0}},
         UPGRADE_SLURMD,
         SERIES(24, 5),
         -EINVAL,
         "slurmd of Slurm 24.05 is too old for slurmctld, which runs 26.05 and serves 24.11 or "
         "later"},
        /* patch releases are within the series */
        {{{0, RELEASE(24, 11, 5), 0}}, UPGRADE_SLURMD, RELEASE(24, 11, 7), 0, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = {0};
        int r = upgrade_check_part(&rows[i].c, rows[i].part, rows[i].to, &e);

        assert_string_equal(e.text, rows[i].says);
        assert_int_equal(r, rows[i].result);
    }
}

/* Whatever is refused, the way that the words name can be gone, step by step. */
static void every_way_can_be_gone(void **state)
{
    (void)state;
    for (const uint32_t *to = profile_series; *to; to++)
        for (const uint32_t *from = to; *from; from++) {
            struct err e = {0};
            uint32_t at = *from;
            const char *way;

            if (upgrade_check_step(*from, *to, &e) == 0)
                continue;
            way = strstr(e.text, "go by ");
            assert_non_null(way);
            for (; (way = strchr(way, '.')); way++) {
                uint32_t hop = SERIES((unsigned)(way[-2] - '0') * 10 + (unsigned)(way[-1] - '0'),
                                      (unsigned)(way[1] - '0') * 10 + (unsigned)(way[2] - '0'));

                assert_int_equal(upgrade_check_step(at, hop, &e), 0);
                at = hop;
            }
            assert_int_equal(upgrade_check_step(at, *to, &e), 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_as_long_as_slurm_makes_them),
        cmocka_unit_test(parts_go_in_their_order),
        cmocka_unit_test(every_way_can_be_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
