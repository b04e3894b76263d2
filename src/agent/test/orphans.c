/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of reaping: what nobody waits for goes, what runs stays. */
#include "src/base/test/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/agent/orphans.h"

static pid_t child(bool ends)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        if (!ends)
            (void)pause();
        _exit(0);
    }
    return pid;
}

static void wait_until_ended(pid_t pid)
{
    siginfo_t info = {0};

    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static void who_has_ended_and_is_not_asked_for_is_reaped(void **state)
{
    struct orphans o = {0};
    pid_t runs = child(false);
    pid_t first = child(true);
    pid_t second = child(true);

    (void)state;
    wait_until_ended(first);
    wait_until_ended(second);
    orphans_reap(&o);
    assert_int_equal(kill(first, 0), 0); /* its parent gets the first chance */
    assert_int_equal(kill(second, 0), 0);
    for (int i = 0; i < 3; i++)
        orphans_reap(&o);
    assert_int_equal(waitpid(first, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(waitpid(second, NULL, WNOHANG), -1);
    assert_int_equal(waitpid(runs, NULL, WNOHANG), 0);
    assert_int_equal(kill(runs, SIGKILL), 0);
    assert_int_equal(waitpid(runs, NULL, 0), runs);
    orphans_reap(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_has_ended_and_is_not_asked_for_is_reaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
