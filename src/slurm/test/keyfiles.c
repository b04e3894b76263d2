/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the names of key files. */
#include "src/slurm/keyfiles.h"

#include "src/base/test/unit.h"
#include "src/slurm/classify.h"

static void every_key_file_counts_as_a_secret(void **state)
{
    (void)state;
    for (const struct keyfile *k = keyfiles; k->name; k++) {
        assert_ptr_equal(keyfile_find(str_of(k->name)), k);
        assert_true(keyfile_is_secret(k->name));
        assert_true(k->slurm || k->ours);
    }
}

static void what_ends_like_a_key_is_a_secret(void **state)
{
    (void)state;
    assert_true(keyfile_is_secret("other.key"));
    assert_true(keyfile_is_secret("other.jwks"));
    assert_false(keyfile_is_secret("slurm.conf"));
    assert_false(keyfile_is_secret("other.json"));
    assert_null(keyfile_find(STR("other.key")));
}

static void a_changed_key_of_slurm_costs_a_restart(void **state)
{
    (void)state;
    for (const struct keyfile *k = keyfiles; k->name; k++)
        assert_int_equal(classify_file(k->name, 0).class == CHANGE_RESTART, k->slurm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_file_counts_as_a_secret),
        cmocka_unit_test(what_ends_like_a_key_is_a_secret),
        cmocka_unit_test(a_changed_key_of_slurm_costs_a_restart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
