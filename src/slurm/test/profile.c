/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of release profiles. */
#include "src/base/test/unit.h"

#include "src/slurm/profile.h"

static void a_release_is_found_in_many_texts(void **state)
{
    static const struct {
        const char *text;
        uint32_t release;
        int result;
    } cases[] = {
        {"22.05.8", RELEASE(22, 5, 8), 0},
        {"slurm-wlm 22.05.8", RELEASE(22, 5, 8), 0},
        {"slurm 25.11.0-0rc1", RELEASE(25, 11, 0), 0},
        {"22.05.8-4+deb12u3", RELEASE(22, 5, 8), 0},
        {"25.05-rockylinux9", SERIES(25, 5), 0},
        {"25.05.3-ubuntu24.04", RELEASE(25, 5, 3), 0},
        {"ubuntu24.04-slurm25.05.10", RELEASE(25, 5, 10), 0},
        {"ghcr.io/slinkyproject/slurmd:25.05-rockylinux9", SERIES(25, 5), 0},
        {"10.0.22.05:5000/x/slurmctld:25.11", SERIES(25, 11), 0},
        {"reg/slurmd:24.11.2@sha256:22.05", RELEASE(24, 11, 2), 0},
        {"slurm-22-05-8-1", RELEASE(22, 5, 8), 0},
        {"27.05.1", RELEASE(27, 5, 1), 0},
        {"21.08.5", 0, -EOPNOTSUPP},
        {"latest", 0, -ENOENT},
        {"slurmd", 0, -ENOENT},
        {"", 0, -ENOENT},
        {"122.05", 0, -ENOENT},
        {"22.051", 0, -ENOENT},
        {"rockylinux9.05", 0, -ENOENT},
        {"22.05.999", 0, -ENOENT},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint32_t release = 0;
        struct err e = {0};

        assert_int_equal(release_parse(str_of(cases[i].text), &release, &e), cases[i].result);
        assert_int_equal(release, cases[i].release);
    }
}

static void a_release_prints_as_slurm_prints_it(void **state)
{
    char text[RELEASE_TEXT_LEN];

    (void)state;
    release_text(RELEASE(22, 5, 8), text);
    assert_string_equal(text, "22.05.8");
    release_series_text(RELEASE(25, 11, 3), text);
    assert_string_equal(text, "25.11");
}

static void features_come_with_their_release(void **state)
{
    static const struct {
        enum profile_feature feature;
        uint32_t last_without; /* 0: all have it */
        uint32_t first_with;
    } cases[] = {
        {PROFILE_CONFIGLESS, 0, RELEASE(22, 5, 0)},
        {PROFILE_DYNAMIC_NODES, 0, RELEASE(22, 5, 8)},
        {PROFILE_RATE_LIMIT, RELEASE(22, 5, 11), RELEASE(23, 2, 0)},
        {PROFILE_AUTH_SLURM, RELEASE(23, 2, 8), RELEASE(23, 11, 0)},
        {PROFILE_AUTH_KEY_SET, RELEASE(23, 11, 11), RELEASE(24, 5, 0)},
        {PROFILE_SACK_BY_CLUSTER, RELEASE(24, 11, 7), RELEASE(25, 5, 0)},
        {PROFILE_NODES_EDIT, RELEASE(22, 5, 8), RELEASE(23, 11, 0)},
        {PROFILE_RECONFIGURE_REFUSES, RELEASE(23, 2, 8), RELEASE(23, 11, 11)},
        {PROFILE_PROLOG_REPEATS, RELEASE(23, 11, 11), RELEASE(24, 5, 0)},
        {PROFILE_HOST_FUNCTIONS, RELEASE(24, 5, 8), RELEASE(24, 11, 0)},
        {PROFILE_TOPOLOGY_YAML, RELEASE(24, 11, 7), RELEASE(25, 5, 0)},
        {PROFILE_METRICS, RELEASE(25, 5, 8), RELEASE(25, 11, 0)},
        {PROFILE_REST_PARTITIONS, RELEASE(25, 11, 7), RELEASE(26, 5, 0)},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(profile_has(cases[i].first_with, cases[i].feature));
        assert_true(profile_has(RELEASE(30, 5, 0), cases[i].feature));
        if (cases[i].last_without)
            assert_false(profile_has(cases[i].last_without, cases[i].feature));
    }
}

static void bugs_begin_and_end(void **state)
{
    (void)state;
    assert_true(profile_quirk(RELEASE(22, 5, 8), QUIRK_NODESET_ALL));
    assert_false(profile_quirk(RELEASE(22, 5, 9), QUIRK_NODESET_ALL));
    assert_true(profile_quirk(RELEASE(23, 2, 0), QUIRK_NODESET_ALL));
    assert_false(profile_quirk(RELEASE(23, 2, 1), QUIRK_NODESET_ALL));
    assert_true(profile_quirk(RELEASE(24, 5, 8), QUIRK_PART_QOS_CRASH));
    assert_false(profile_quirk(RELEASE(24, 11, 6), QUIRK_PART_QOS_CRASH));
    assert_true(profile_quirk(RELEASE(25, 5, 0), QUIRK_PART_QOS_CRASH));
    assert_false(profile_quirk(RELEASE(25, 5, 1), QUIRK_PART_QOS_CRASH));
    assert_true(profile_quirk(RELEASE(22, 5, 8), QUIRK_DELETE_STATIC_NODE));
    assert_false(profile_quirk(RELEASE(26, 5, 4), QUIRK_PART_EXCLUSIVE_FLAGS));
    assert_false(profile_quirk(RELEASE(23, 2, 8), QUIRK_RESUME_KEEPS_REASON));
    assert_true(profile_quirk(RELEASE(24, 11, 5), QUIRK_RESUME_KEEPS_REASON));
    assert_false(profile_quirk(RELEASE(26, 5, 0), QUIRK_RESUME_KEEPS_REASON));
}

static void a_controller_answers_its_window_of_clients(void **state)
{
    static const struct {
        uint32_t controller;
        uint32_t client;
        bool accepted;
    } cases[] = {
        {SERIES(22, 5), SERIES(22, 5), true},  {SERIES(24, 5), SERIES(22, 5), false},
        {SERIES(23, 11), SERIES(22, 5), true}, {SERIES(22, 5), SERIES(23, 2), false},
        {SERIES(24, 11), SERIES(23, 2), true}, {SERIES(25, 5), SERIES(23, 2), false},
        {SERIES(26, 5), SERIES(24, 11), true}, {SERIES(25, 11), SERIES(23, 11), false},
        {SERIES(25, 11), SERIES(24, 5), true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(profile_client_accepted(cases[i].controller, cases[i].client),
                         cases[i].accepted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_release_is_found_in_many_texts),
        cmocka_unit_test(a_release_prints_as_slurm_prints_it),
        cmocka_unit_test(features_come_with_their_release),
        cmocka_unit_test(bugs_begin_and_end),
        cmocka_unit_test(a_controller_answers_its_window_of_clients),
    };

    return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
