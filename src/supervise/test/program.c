/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The supervisor itself, over a daemon that plays slurmctld (actor.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#include "src/base/str.h"

#define PATIENCE_MS 10000

struct play {
    pid_t pid;
    int said; /* standard error of everybody */
};

static void start(struct play *p, const char *mode)
{
    int to[2];

    assert_int_equal(pipe2(to, O_CLOEXEC), 0);
    p->pid = fork();
    if (p->pid == 0) {
        (void)dup2(to[1], STDERR_FILENO);
        (void)execl(SUPERVISE, SUPERVISE, ACTOR, mode, NULL);
        _exit(126);
    }
    (void)close(to[1]);
    p->said = to[0];
}

/* The exit status; everybody who could have said something has ended, too. */
static int finish(struct play *p)
{
    struct pollfd f = {p->said, POLLIN, 0};
    char chunk[512];
    int status;

    while (poll(&f, 1, PATIENCE_MS) > 0 && read(p->said, chunk, sizeof(chunk)) > 0)
        ;
    assert_true(f.revents & POLLHUP); /* or somebody is left */
    (void)close(p->said);
    assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int status_of(const char *mode)
{
    struct play p;

    start(&p, mode);
    return finish(&p);
}

static void nap_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

    (void)nanosleep(&t, NULL);
}

static void it_ends_as_the_daemon_did(void **state)
{
    (void)state;
    assert_int_equal(status_of("end"), 3);
    assert_int_equal(status_of("die"), 137);
}

static void last_words_are_heard(void **state)
{
    struct play p;
    char words[32] = "";

    (void)state;
    start(&p, "end");
    assert_true(read(p.said, words, sizeof(words) - 1) > 0);
    assert_string_equal(words, "fatal: last words\n");
    (void)finish(&p);
}

static void a_process_that_takes_over_is_the_daemon(void **state)
{
    (void)state;
    assert_int_equal(status_of("hand-over"), 4);
    assert_int_equal(status_of("hand-over-late"), 4);
}

static void a_signal_reaches_who_has_taken_over(void **state)
{
    struct play p;

    (void)state;
    start(&p, "hand-over-wait");
    nap_ms(300);
    assert_int_equal(kill(p.pid, SIGTERM), 0);
    assert_int_equal(finish(&p), 7);
}

/* Whenever it comes: before the successor is there, between, or after. */
static void an_end_that_was_asked_for_meanwhile_is_not_lost(void **state)
{
    (void)state;
    for (long ms = 0; ms < 40; ms += 2) {
        struct play p;
        int status;

        start(&p, "hand-over-wait");
        nap_ms(ms);
        (void)kill(p.pid, SIGTERM);
        status = finish(&p);
        /* one that is not even started dies of the signal itself */
        assert_true(status == 7 || status == 143);
    }
}

static void a_stranger_is_not_the_daemon(void **state)
{
    (void)state;
    assert_int_equal(status_of("name-a-stranger"), 5);
}

static void who_was_not_named_does_not_outlive_the_daemon(void **state)
{
    (void)state;
    assert_int_equal(status_of("forget"), 6);
}

static void a_command_that_is_not_there_is_told(void **state)
{
    int status = -1;
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        (void)execl(SUPERVISE, SUPERVISE, "/nonexistent/slurmctld", NULL);
        _exit(126);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 127);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_ends_as_the_daemon_did),
        cmocka_unit_test(last_words_are_heard),
        cmocka_unit_test(a_process_that_takes_over_is_the_daemon),
        cmocka_unit_test(a_signal_reaches_who_has_taken_over),
        cmocka_unit_test(an_end_that_was_asked_for_meanwhile_is_not_lost),
        cmocka_unit_test(a_stranger_is_not_the_daemon),
        cmocka_unit_test(who_was_not_named_does_not_outlive_the_daemon),
        cmocka_unit_test(a_command_that_is_not_there_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
