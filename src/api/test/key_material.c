/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of keys as bytes. */
#include "src/base/test/unit.h"

#include "src/api/key_material.h"

#define K16 "AAAAAAAAAAAAAAAAAAAAAA"
#define KEY(kid, k, more)                                                                          \
    "{\"alg\":\"HS256\",\"kty\":\"oct\",\"kid\":\"" kid "\",\"k\":\"" k "\"" more "}"
#define SET(keys) "{\"keys\":[" keys "]}"

static void what_a_daemon_would_not_take_is_refused(void **state)
{
    static const char c32[] = "0123456789abcdef0123456789abcdef";
    static const struct {
        enum key_shape shape;
        bool is_set;
        const char *value;
        const char *said;
    } cases[] = {
        {KEY_MUNGE, false, c32, NULL},
        {KEY_MUNGE, false, "", "is empty"},
        {KEY_MUNGE, false, "abc", "has 3 bytes, and munge needs 32"},
        {KEY_SLURM_SET, false, "abc", "has 3 bytes, and Slurm needs 16"},
        {KEY_SLURM_ONE, false, c32, NULL},
        {KEY_JWT, false, "", "is empty"},
        {KEY_SLURM_SET, true, "", "is empty"},
        {KEY_SLURM_SET, true, "{", "is not JSON"},
        {KEY_SLURM_SET, true, "{}", "has no list of keys"},
        {KEY_SLURM_SET, true, SET(""), "has no list of keys"},
        {KEY_SLURM_SET, true, SET(KEY("a", K16, "")), NULL},
        {KEY_SLURM_SET, true, SET(KEY("", K16, "")), "has a key without a kid"},
        {KEY_SLURM_SET, true, SET(KEY("a", "AAAA", "")),
         "key 'a': k has 3 bytes, and Slurm needs 16"},
        {KEY_SLURM_SET, true, SET(KEY("a", "?", "")), "key 'a': k is not base64"},
        {KEY_SLURM_SET, true, SET(KEY("a", K16, "") "," KEY("a", K16, "")),
         "has the kid 'a' twice"},
        {KEY_SLURM_SET, true,
         SET(KEY("a", K16, ",\"use\":\"default\"") "," KEY("b", K16, ",\"use\":\"Default\"")),
         "has more than one default key"},
        {KEY_SLURM_SET, true,
         SET("{\"alg\":\"RS256\",\"kty\":\"oct\",\"kid\":\"a\",\"k\":\"" K16 "\"}"),
         "key 'a': alg must be HS256"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err e = {0};
        int r = key_check(cases[i].shape, cases[i].is_set, str_of(cases[i].value), &e);

        assert_int_equal(r, cases[i].said ? -EINVAL : 0);
        assert_string_equal(e.text, cases[i].said ? cases[i].said : "");
    }
}

static void two_sets_are_put_together(void **state)
{
    static const struct {
        struct key_source sign, also;
        const char *text; /* NULL: refused */
    } cases[] = {
        {{STR("0123456789abcdef"), false, "1"},
         {{0}},
         "{\"stage\":\"s\",\"keys\":[" KEY("1", "MDEyMzQ1Njc4OWFiY2RlZg",
                                           ",\"use\":\"default\"") "]}"},
        {{STR("0123456789abcdef"), false, "1"},
         {STR("0123456789abcdeg"), false, "2"},
         "{\"stage\":\"s\",\"keys\":[" KEY(
             "1", "MDEyMzQ1Njc4OWFiY2RlZg",
             ",\"use\":\"default\"") "," KEY("2", "MDEyMzQ1Njc4OWFiY2RlZw", "") "]}"},
        /* the default of the other one is not the default of both; what both have comes once */
        {{STR(SET(KEY("a", K16, "") "," KEY("b", K16, ",\"use\":\"default\""))), true, "1"},
         {STR(SET(KEY("b", K16, "") "," KEY("c", K16, ",\"use\":\"default\""))), true, "2"},
         "{\"stage\":\"s\",\"keys\":[" KEY("a", K16, "") "," KEY(
             "b", K16, ",\"use\":\"default\"") "," KEY("c", K16, "") "]}"},
        {{STR(SET(KEY("a", K16, ""))), true, "1"},
         {STR(SET(KEY("a", "BAAAAAAAAAAAAAAAAAAAAA", ""))), true, "2"},
         NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(buf_done) struct buf text = {0};
        const struct jsn *set = NULL;
        struct err e = {0};
        int r = key_set_join(&a, "s", &cases[i].sign, &cases[i].also, &set, &e);

        assert_int_equal(r, cases[i].text ? 0 : -EEXIST);
        if (r < 0)
            continue;
        jsn_print(&text, set);
        assert_string_equal(buf_str(&text), cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_daemon_would_not_take_is_refused),
        cmocka_unit_test(two_sets_are_put_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
