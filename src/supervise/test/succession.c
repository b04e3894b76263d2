/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose end is the daemon's end, and what is said on the socket. */
#include "src/supervise/succession.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/supervise/notify.h"

#define EXITED(n) ((n) << 8)
#define KILLED(n) (n)

static void the_end_of_the_only_process_is_the_end(void **state)
{
    struct succession s = {.main = 10};

    (void)state;
    succession_end(&s, 11, EXITED(1));
    assert_false(s.ended);
    succession_end(&s, 10, EXITED(3));
    assert_true(s.ended);
    assert_int_equal(succession_status(&s), 3);
}

static void a_signal_counts_as_in_a_shell(void **state)
{
    struct succession s = {.main = 10};

    (void)state;
    succession_end(&s, 10, KILLED(9));
    assert_int_equal(succession_status(&s), 137);
}

static void a_process_that_has_named_another_may_end(void **state)
{
    struct succession s = {.main = 10};

    (void)state;
    succession_end(&s, 10, EXITED(0)); /* seen first, though it came later */
    succession_take(&s, 20, true);
    assert_false(s.ended);
    succession_end(&s, 20, EXITED(4));
    assert_int_equal(succession_status(&s), 4);
}

static void one_that_ended_before_it_was_named_has_ended(void **state)
{
    struct succession s = {.main = 10};

    (void)state;
    succession_end(&s, 20, EXITED(5));
    assert_true(succession_knows(&s, 20));
    succession_take(&s, 20, false);
    assert_true(s.ended);
    assert_int_equal(succession_status(&s), 5);
}

static void a_number_that_is_in_use_again_is_another_process(void **state)
{
    struct succession s = {.main = 10};

    (void)state;
    succession_end(&s, 20, EXITED(5));
    succession_take(&s, 20, true);
    assert_false(s.ended);
}

static void messages_name_a_process_or_none(void **state)
{
    static const struct {
        const char *text;
        pid_t pid;
    } cases[] = {
        {"MAINPID=12", 12},
        {"READY=1\nMAINPID=34", 34},
        {"READY=1", 0},
        {"MAINPID=", 0},
        {"MAINPID=-1", 0},
        {"MAINPID=0", 0},
        {"MAINPID=99999999999", 0},
        {"MAINPID=12x", 0},
        {"", 0},
        {"XMAINPID=5\nMAINPID=6", 6},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(notify_main_pid(str_of(cases[i].text)), cases[i].pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_of_the_only_process_is_the_end),
        cmocka_unit_test(a_signal_counts_as_in_a_shell),
        cmocka_unit_test(a_process_that_has_named_another_may_end),
        cmocka_unit_test(one_that_ended_before_it_was_named_has_ended),
        cmocka_unit_test(a_number_that_is_in_use_again_is_another_process),
        cmocka_unit_test(messages_name_a_process_or_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
