/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON text laid out for people. */
#include "src/base/test/unit.h"

#include "src/json/indent.h"

static const struct {
    const char *text, *laid_out;
} cases[] = {
    {"{}", "{}"},
    {"[]", "[]"},
    {"1\n", "1"},
    {"{\"a\":1}", "{\n  \"a\": 1\n}"},
    {"{\"a\":{},\"b\":[],\"c\":[{}]}", "{\n  \"a\": {},\n  \"b\": [],\n  \"c\": [\n    {}\n  ]\n}"},
    {"[1, true ,null]", "[\n  1,\n  true,\n  null\n]"},
    {"{\"a:,{[\\\"\":\"}],\\\\\"}", "{\n  \"a:,{[\\\"\": \"}],\\\\\"\n}"},
    {"[[1],[2]]\n", "[\n  [\n    1\n  ],\n  [\n    2\n  ]\n]"},
};

static void each_member_has_a_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(buf_done) struct buf b = {0};
        struct jsn_indent at = {0};

        jsn_indent(&at, &b, str_of(cases[i].text));
        assert_string_equal(buf_str(&b), cases[i].laid_out);
    }
}

static void pieces_may_end_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(buf_done) struct buf b = {0};
        struct jsn_indent at = {0};

        for (const char *p = cases[i].text; *p; p++)
            jsn_indent(&at, &b, (struct str){p, 1});
        assert_string_equal(buf_str(&b), cases[i].laid_out);
    }
}

static void deep_levels_cost_no_more_than_others(void **state)
{
    AUTO(buf_done) struct buf b = {0};
    struct jsn_indent at = {0};

    (void)state;
    for (size_t i = 0; i < 10000; i++)
        jsn_indent(&at, &b, STR("["));
    for (size_t i = 0; i < 10000; i++)
        jsn_indent(&at, &b, STR("]"));
    assert_true(b.n < (size_t)20000 * 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_member_has_a_line),
        cmocka_unit_test(pieces_may_end_anywhere),
        cmocka_unit_test(deep_levels_cost_no_more_than_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
