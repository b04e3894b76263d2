/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of reasons and comments: one line each. */
#include "src/base/test/unit.h"

#include "src/base/buf.h"
#include "src/slurm/line_text.h"

static void what_is_not_one_line_is_refused_and_cleaned(void **state)
{
    static const struct {
        const char *text;
        bool good;
        const char *clean;
    } cases[] = {
        {"", true, ""},
        {"disk is full, see #12", true, "disk is full, see #12"},
        {"Lüfter", true, "Lüfter"},
        {"a\nroot pts/0", false, "a?root pts/0"},
        {"\033[2Jgone", false, "?[2Jgone"},
        {"a\tb\x7f", false, "a?b?"},
        {"next\xc2\x85line\xc2\xa0.", false, "next?line\xc2\xa0."},
    };
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(line_text_fault(str_of(cases[i].text)) == NULL, cases[i].good);
        assert_string_equal(line_text_clean(&a, cases[i].text), cases[i].clean);
    }
    assert_null(line_text_clean(&a, NULL));
    assert_non_null(line_text_fault(STR("\xff")));
}

static void a_long_reason_is_cut_between_characters(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    const char *clean;

    (void)state;
    buf_addc(&b, 'x');
    for (int i = 0; i < 600; i++)
        buf_adds(&b, "ü");
    assert_null(line_text_fault(buf_view(&b)));
    assert_non_null(line_text_reason_fault(buf_view(&b)));
    clean = line_text_clean(&a, buf_str(&b));
    assert_true(str_utf8_ok(str_of(clean)));
    assert_int_equal(strlen(clean), LINE_TEXT_MAX_BYTES - 1 + 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_one_line_is_refused_and_cleaned),
        cmocka_unit_test(a_long_reason_is_cut_between_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
