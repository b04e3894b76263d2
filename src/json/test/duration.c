/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of durations. */
#include "src/base/test/unit.h"

#include "src/json/duration.h"

static void durations_parse_and_print(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
        const char *printed;
    } cases[] = {
        {"0", 0, "0s"},
        {"0s", 0, "0s"},
        {"30m", 1800000, "30m0s"},
        {"1h15m30.5s", 4530500, "1h15m30.5s"},
        {"300ms", 300, "300ms"},
        {"1.5s", 1500, "1.5s"},
        {"-2s", -2000, "-2s"},
        {"+2s", 2000, "2s"},
        {".5h", 1800000, "30m0s"},
        {"1500us", 1, "1ms"},
        {"100h", 360000000, "100h0m0s"},
        {"1m1m", 120000, "2m0s"},
        {"61.25s", 61250, "1m1.25s"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(buf_done) struct buf b = {0};
        int64_t ms;

        assert_int_equal(duration_parse(str_of(cases[i].text), &ms), 0);
        assert_int_equal(ms, cases[i].ms);
        duration_print(&b, ms);
        assert_string_equal(buf_str(&b), cases[i].printed);
    }
}

static void other_texts_are_no_durations(void **state)
{
    static const char *const cases[] = {"",           "5",    "s",   "1x",
                                        "1 s",        "-",    "1s ", "1d",
                                        ".s",         "1..s", "h1",  "99999999999999999999s",
                                        "9999999999h"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t ms;

        assert_int_equal(duration_parse(str_of(cases[i]), &ms), -EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_parse_and_print),
        cmocka_unit_test(other_texts_are_no_durations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
