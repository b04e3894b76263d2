/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the stages of a change of keys. */
#include "src/base/test/unit.h"

#include "src/plan/key_stage.h"

/* A state as a word, "2-accept A+B" (signed with A, B accepted as well), and facts. */
static const struct {
    const char *why;
    struct key_state now;
    struct key_facts facts;
    const char *next;
} cases[] = {
    {"nothing to do", {3, KEY_REST, STR("A"), {0}, 5}, {STR("A"), true}, "3-rest A+"},
    {"a bad key changes nothing", {3, KEY_REST, STR("A"), {0}, 5}, {{0}, true}, "3-rest A+"},
    {"a new key is accepted first",
     {3, KEY_REST, STR("A"), {0}, 5},
     {STR("B"), true},
     "4-accept A+B"},
    {"it waits for all", {4, KEY_ACCEPT, STR("A"), STR("B"), 5}, {STR("B"), true}, "4-accept A+B"},
    {"all accept it", {4, KEY_ACCEPT, STR("A"), STR("B"), 5}, {STR("B"), true, true}, "4-sign B+A"},
    {"all accept it, and now it is bad",
     {4, KEY_ACCEPT, STR("A"), STR("B"), 5},
     {{0}, true, true},
     "4-sign B+A"},
    {"changed again before it was used",
     {4, KEY_ACCEPT, STR("A"), STR("B"), 5},
     {STR("C"), true, true},
     "5-accept A+C"},
    {"taken back before it was used",
     {4, KEY_ACCEPT, STR("A"), STR("B"), 5},
     {STR("A"), true, true},
     "4-rest A+"},
    {"some still sign with the old one",
     {4, KEY_SIGN, STR("B"), STR("A"), 5},
     {STR("B"), true},
     "4-sign B+A"},
    {"changed again while it comes into use",
     {4, KEY_SIGN, STR("B"), STR("A"), 5},
     {STR("C"), true},
     "4-sign B+A"},
    {"all sign with it",
     {4, KEY_SIGN, STR("B"), STR("A"), 5},
     {STR("B"), true, true},
     "4-settle B+A"},
    {"what is on its way arrives",
     {4, KEY_SETTLE, STR("B"), STR("A"), 5},
     {STR("B"), true, true, 100, 104},
     "4-settle B+A"},
    {"the old one is forgotten",
     {4, KEY_SETTLE, STR("B"), STR("A"), 5},
     {STR("B"), true, false, 100, 105},
     "4-rest B+"},
    {"the next change begins after that",
     {4, KEY_REST, STR("B"), {0}, 5},
     {STR("C"), true},
     "5-accept B+C"},
    {"where one key is all that fits", {0, KEY_REST, STR("A"), {0}, 5}, {STR("B")}, "1-sign B+A"},
};

static void a_change_goes_from_stage_to_stage(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct key_state next = key_stage_next(&cases[i].now, &cases[i].facts);
        const char *text = arena_printf(&a, "%s " STR_FMT "+" STR_FMT, key_stage_text(&a, &next),
                                        STR_ARG(next.current), STR_ARG(next.other));

        if (!streq(text, cases[i].next))
            fail_msg("%s: %s, not %s", cases[i].why, text, cases[i].next);
    }
}

/* Whatever happens, what one holder signs with is accepted by all. */
static void neighbours_always_understand_each_other(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct key_state *now = &cases[i].now;
        struct key_state next = key_stage_next(now, &cases[i].facts);

        if (!cases[i].facts.overlaps)
            continue;
        assert_true(str_eq(now->current, next.current) || str_eq(now->current, next.other));
        assert_true(str_eq(next.current, now->current) || str_eq(next.current, now->other));
    }
}

static void a_stage_is_read_as_it_was_written(void **state)
{
    static const char *const bad[] = {"", "3", "x-rest", "3-", "3-later", "-1-rest"};
    AUTO(arena_done) struct arena a = {0};
    struct key_state s = {0};

    (void)state;
    assert_true(key_stage_parse("7-settle", &s));
    assert_string_equal(key_stage_text(&a, &s), "7-settle");
    assert_string_equal(key_stage_told(&a, &s), "7-sign");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(key_stage_parse(bad[i], &s));
    assert_false(key_stage_parse(NULL, &s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_goes_from_stage_to_stage),
        cmocka_unit_test(neighbours_always_understand_each_other),
        cmocka_unit_test(a_stage_is_read_as_it_was_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
