/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the table of verbs: every row is complete, and shows wherever it should. */
#include "src/cli/test/run.h"

static void check_options(const struct cli_verb *v)
{
    for (const struct cli_option *o = v->options; o && o->name; o++) {
        assert_non_null(o->help);
        if (ends_with(o->help, "."))
            fail_msg("%s --%s: the help of an option has no full stop", v->name, o->name);
        for (const struct cli_option *other = v->options; other < o; other++)
            assert_string_not_equal(o->name, other->name);
        if (!o->value)
            assert_null(o->standard);
    }
}

static void every_verb_is_complete(void **state)
{
    (void)state;
    for (const struct cli_verb *v = cli_verbs; v->name; v++) {
        assert_non_null(v->summary);
        assert_non_null(v->run);
        if (v != cli_verbs)
            assert_true(strcmp(v[-1].name, v->name) < 0);
        check_options(v);
    }
}

static void the_manual_and_the_completion_have_everything(void **state)
{
    AUTO(buf_done) struct buf manual = {0};
    AUTO(buf_done) struct buf completion = {0};

    (void)state;
    cli_print_manual(&manual);
    cli_print_completion(&completion);
    for (const struct cli_verb *v = cli_verbs; v->name; v++) {
        AUTO(buf_done) struct buf help = {0};

        cli_print_help(&help, v);
        assert_non_null(strstr(buf_str(&manual), v->name));
        assert_non_null(strstr(buf_str(&completion), v->name));
        for (const struct cli_option *o = v->options; o && o->name; o++) {
            assert_non_null(strstr(buf_str(&help), o->name));
            assert_non_null(strstr(buf_str(&manual), o->name));
            assert_non_null(strstr(buf_str(&completion), o->name));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verb_is_complete),
        cmocka_unit_test(the_manual_and_the_completion_have_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
