/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the event loop: turns, priorities, timers, signals, children. */
#include "src/base/test/unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/loop/loop.h"

/* What the callbacks note down, one letter each. */
struct note {
    struct loop *loop;
    struct buf *log;
    char letter;
    struct loop_source *own;
    struct loop_source *victim;
    int fd;
};

static struct loop *new_loop(void)
{
    struct err e = {0};
    struct loop *l = NULL;

    assert_int_equal(loop_new(&l, &e), 0);
    return l;
}

static void make_pipe(int fds[2])
{
    assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
}

static void close_pipe(int fds[2])
{
    (void)close(fds[0]);
    (void)close(fds[1]);
}

static void note_fd(void *arg, int fd, uint32_t events)
{
    struct note *n = arg;
    char c;

    if (events & EPOLLIN)
        (void)!read(fd, &c, 1);
    buf_addc(n->log, n->letter);
    n->victim = loop_source_free(n->victim);
}

static void note_call(void *arg)
{
    struct note *n = arg;

    buf_addc(n->log, n->letter);
}

static void all_ready_sources_are_served_before_the_hooks(void **state)
{
    AUTO(loop_free) struct loop *l = new_loop();
    AUTO(buf_done) struct buf log = {0};
    struct note a = {l, &log, 'a'}, b = {l, &log, 'b'}, c = {l, &log, 'c'}, h = {l, &log, 'h'};
    struct note d = {l, &log, 'd'};
    struct note *notes[] = {&a, &b, &c};
    int fds[3][2];

    (void)state;
    for (int i = 0; i < 3; i++) {
        make_pipe(fds[i]);
        notes[i]->own = loop_add_fd(l, fds[i][0], EPOLLIN, note_fd, notes[i]);
        assert_int_equal(write(fds[i][1], "x", 1), 1);
    }
    loop_source_set_priority(a.own, LOOP_LAST);
    loop_source_set_priority(c.own, LOOP_FIRST);
    h.own = loop_add_turn_hook(l, note_call, &h);
    loop_defer(l, note_call, &d);
    assert_int_equal(loop_turn(l, 0), 1);
    assert_string_equal(buf_str(&log), "cbadh");
    assert_int_equal(loop_turn(l, 0), 0);
    assert_string_equal(buf_str(&log), "cbadh");
    for (int i = 0; i < 3; i++) {
        (void)loop_source_free(notes[i]->own);
        close_pipe(fds[i]);
    }
    (void)loop_source_free(h.own);
}

static void a_source_freed_in_a_turn_is_not_called(void **state)
{
    AUTO(loop_free) struct loop *l = new_loop();
    AUTO(buf_done) struct buf log = {0};
    struct note a = {l, &log, 'a'}, b = {l, &log, 'b'};
    struct note *notes[] = {&a, &b};
    int fds[2][2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        make_pipe(fds[i]);
        notes[i]->own = loop_add_fd(l, fds[i][0], EPOLLIN, note_fd, notes[i]);
        assert_int_equal(write(fds[i][1], "x", 1), 1);
    }
    a.victim = b.own;
    b.victim = a.own;
    assert_int_equal(loop_turn(l, 0), 1);
    assert_int_equal(log.n, 1);
    if (log.p[0] == 'a')
        (void)loop_source_free(a.own);
    else
        (void)loop_source_free(b.own);
    close_pipe(fds[0]);
    close_pipe(fds[1]);
}

static void silence(void *arg, int fd, uint32_t events)
{
    struct note *n = arg;

    (void)fd;
    (void)events;
    buf_addc(n->log, n->letter);
    loop_fd_set_events(n->own, 0);
}

static void no_events_means_not_even_hang_up(void **state)
{
    AUTO(loop_free) struct loop *l = new_loop();
    AUTO(buf_done) struct buf log = {0};
    struct note a = {l, &log, 'a'};
    int fds[2];

    (void)state;
    make_pipe(fds);
    a.own = loop_add_fd(l, fds[0], EPOLLIN, silence, &a);
    (void)close(fds[1]);
    (void)loop_turn(l, 0);
    (void)loop_turn(l, 0);
    assert_string_equal(buf_str(&log), "a");
    loop_fd_set_events(a.own, EPOLLIN);
    (void)loop_turn(l, 0);
    assert_string_equal(buf_str(&log), "aa");
    (void)loop_source_free(a.own);
    (void)close(fds[0]);
}

static void timers_fire_in_the_order_of_their_times(void **state)
{
    static const struct {
        char letter;
        int delay_ms;
    } table[] = {{'c', 12}, {'a', 1}, {'d', 20}, {'b', 6}};
    AUTO(loop_free) struct loop *l = new_loop();
    AUTO(buf_done) struct buf log = {0};
    struct note notes[4];
    int64_t start = clock_mono_ms();

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        notes[i] = (struct note){l, &log, table[i].letter};
        notes[i].own = loop_add_timer(l, note_call, &notes[i]);
        assert_false(loop_timer_armed(notes[i].own));
        loop_timer_arm(notes[i].own, table[i].delay_ms);
        assert_true(loop_timer_armed(notes[i].own));
    }
    while (log.n < 4)
        (void)loop_turn(l, 1000);
    assert_string_equal(buf_str(&log), "abcd");
    assert_in_range(clock_mono_ms() - start, 20, 2000);
    for (size_t i = 0; i < 4; i++)
        (void)loop_source_free(notes[i].own);
}

struct heap_test {
    int64_t last_ms; /* no timer before this one was due earlier */
    int fired;
};

struct heap_timer {
    struct heap_test *test;
    struct loop_source *own;
    int64_t from_ms, to_ms; /* due somewhere between: the clock was read before and after arming */
};

static void heap_fired(void *arg)
{
    struct heap_timer *t = arg;

    assert_true(t->to_ms >= t->test->last_ms);
    t->test->last_ms = MAX(t->from_ms, t->test->last_ms);
    t->test->fired++;
}

static void many_timers_armed_and_disarmed_keep_their_order(void **state)
{
    enum { N = 2000 };
    AUTO(loop_free) struct loop *l = new_loop();
    AUTO(free) struct heap_timer *timers = xcalloc(N, sizeof(*timers));
    struct heap_test test = {0};
    unsigned int seed = 7;
    int armed = 0;

    (void)state;
    for (int i = 0; i < N; i++) {
        timers[i].test = &test;
        timers[i].own = loop_add_timer(l, heap_fired, &timers[i]);
    }
    for (int i = 0; i < 3 * N; i++) {
        struct heap_timer *t = &timers[rand_r(&seed) % N];
        int delay = rand_r(&seed) % 30;

        t->from_ms = clock_mono_ms() + delay;
        loop_timer_arm(t->own, delay);
        t->to_ms = clock_mono_ms() + delay;
        if (i % 3 == 0)
            loop_timer_disarm(timers[rand_r(&seed) % N].own);
    }
    for (int i = 0; i < N; i++)
        armed += loop_timer_armed(timers[i].own);
    while (loop_turn(l, 60) == 1)
        ;
    assert_int_equal(test.fired, armed);
    for (int i = 0; i < N; i++)
        (void)loop_source_free(timers[i].own);
}

static void rearm(void *arg)
{
    struct note *n = arg;

    buf_addc(n->log, n->letter);
    loop_timer_arm(n->own, 0);
}

static void a_timer_armed_in_its_callback_waits_for_the_next_turn(void **state)
{
    AUTO(loop_free) struct loop *l = new_loop();
    AUTO(buf_done) struct buf log = {0};
    struct note a = {l, &log, 'a'};

    (void)state;
    a.own = loop_add_timer(l, rearm, &a);
    loop_timer_arm(a.own, 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(loop_turn(l, 10), 1);
    assert_string_equal(buf_str(&log), "aaa");
    (void)loop_source_free(a.own);
}

static void defer_again(void *arg)
{
    struct note *n = arg;

    note_call(n);
    loop_defer(n->loop, note_call, n);
}

static void a_deferred_call_may_defer_again(void **state)
{
    AUTO(loop_free) struct loop *l = new_loop();
    AUTO(buf_done) struct buf log = {0};
    struct note a = {l, &log, 'a'};

    (void)state;
    loop_defer(l, defer_again, &a);
    (void)loop_turn(l, -1);
    assert_string_equal(buf_str(&log), "a");
    (void)loop_turn(l, -1);
    assert_string_equal(buf_str(&log), "aa");
}

static void want(void *arg)
{
    struct note *n = arg;

    note_call(n);
    loop_want_hooks(n->loop);
}

static void wanted_hooks_run_before_the_loop_waits(void **state)
{
    AUTO(loop_free) struct loop *l = new_loop();
    AUTO(buf_done) struct buf log = {0};
    struct note n = {l, &log, 'n'}, last = {l, &log, 'l'}, late = {l, &log, 'L'};

    (void)state;
    last.own = loop_add_turn_hook(l, note_call, &last);
    loop_source_set_priority(last.own, LOOP_LAST);
    n.own = loop_add_turn_hook(l, want, &n);
    loop_want_hooks(l);
    assert_int_equal(loop_turn(l, 1000), 1);
    assert_string_equal(buf_str(&log), "nl");
    /* Wanted by a last hook: the next turn does not wait. */
    n.own = loop_source_free(n.own);
    late.own = loop_add_turn_hook(l, want, &late);
    loop_source_set_priority(late.own, LOOP_LAST);
    loop_want_hooks(l);
    (void)loop_turn(l, -1);
    (void)loop_turn(l, -1);
    assert_string_equal(buf_str(&log), "nllLlL");
    (void)loop_source_free(last.own);
    (void)loop_source_free(late.own);
}

static void note_and_free(void *arg)
{
    struct note *n = arg;

    note_call(n);
    free(n);
}

static void burials_come_after_the_hooks(void **state)
{
    AUTO(loop_free) struct loop *l = new_loop();
    AUTO(buf_done) struct buf log = {0};
    struct note hook = {l, &log, 'h'}, call = {l, &log, 'c'};
    struct note *dying = xcalloc(1, sizeof(*dying));

    (void)state;
    *dying = (struct note){l, &log, 'x'};
    hook.own = loop_add_turn_hook(l, note_call, &hook);
    loop_defer_free(l, note_and_free, dying);
    loop_defer(l, note_call, &call);
    (void)loop_turn(l, 0);
    assert_string_equal(buf_str(&log), "chx");
    (void)loop_source_free(hook.own);
}

static void note_signal(void *arg, int signo)
{
    struct note *n = arg;

    assert_int_equal(signo, SIGUSR1);
    buf_addc(n->log, n->letter);
    n->own = loop_source_free(n->own);
}

static bool blocked(int signo)
{
    sigset_t now;

    (void)pthread_sigmask(SIG_SETMASK, NULL, &now);
    return sigismember(&now, signo);
}

static void a_signal_reaches_all_who_wait_for_it(void **state)
{
    AUTO(loop_free) struct loop *l = new_loop();
    AUTO(buf_done) struct buf log = {0};
    struct note a = {l, &log, 'a'}, b = {l, &log, 'b'};

    (void)state;
    a.own = loop_add_signal(l, SIGUSR1, note_signal, &a);
    b.own = loop_add_signal(l, SIGUSR1, note_signal, &b);
    assert_true(blocked(SIGUSR1));
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    assert_int_equal(loop_turn(l, 1000), 1);
    assert_string_equal(buf_str(&log), "ab");
    assert_false(blocked(SIGUSR1));
}

struct ended {
    pid_t pid;
    int status;
    int calls;
};

static void note_child(void *arg, pid_t pid, int status)
{
    struct ended *d = arg;

    d->pid = pid;
    d->status = status;
    d->calls++;
}

static pid_t start_child(int code, int signo)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        loop_signals_reset();
        if (signo)
            (void)raise(signo);
        _exit(code);
    }
    return pid;
}

static void a_child_is_reported_once_and_reaped(void **state)
{
    static const struct {
        int code;
        int signo;
    } table[] = {{0, 0}, {7, 0}, {0, SIGKILL}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        AUTO(loop_free) struct loop *l = new_loop();
        struct ended d = {0};
        pid_t pid = start_child(table[i].code, table[i].signo);
        struct loop_source *s = loop_add_child(l, pid, note_child, &d);

        while (!d.calls)
            (void)loop_turn(l, 1000);
        (void)loop_turn(l, 0);
        assert_int_equal(d.calls, 1);
        assert_int_equal(d.pid, pid);
        if (table[i].signo)
            assert_int_equal(WTERMSIG(d.status), table[i].signo);
        else
            assert_int_equal(WEXITSTATUS(d.status), table[i].code);
        assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
        (void)loop_source_free(s);
    }
}

static void a_child_that_somebody_reaped_is_reported_as_lost(void **state)
{
    AUTO(loop_free) struct loop *l = new_loop();
    struct ended d = {0};
    pid_t pid = start_child(3, 0);
    struct loop_source *s;

    (void)state;
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    s = loop_add_child(l, pid, note_child, &d);
    while (!d.calls)
        (void)loop_turn(l, 1000);
    assert_int_equal(WEXITSTATUS(d.status), 255);
    (void)loop_source_free(s);
}

static void stop(void *arg)
{
    loop_stop(arg, 42);
}

static void run_returns_the_code_of_stop(void **state)
{
    AUTO(loop_free) struct loop *l = new_loop();

    (void)state;
    loop_defer(l, stop, l);
    assert_int_equal(loop_run(l), 42);
}

static void sources_may_outlive_their_loop(void **state)
{
    struct loop *l = new_loop();
    struct note a = {0};
    struct loop_source *timer = loop_add_timer(l, note_call, &a);
    struct loop_source *hook = loop_add_turn_hook(l, note_call, &a);
    struct loop_source *sig = loop_add_signal(l, SIGUSR2, note_signal, &a);

    (void)state;
    loop_timer_arm(timer, 5);
    (void)loop_free(l);
    (void)loop_source_free(timer);
    (void)loop_source_free(hook);
    (void)loop_source_free(sig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ready_sources_are_served_before_the_hooks),
        cmocka_unit_test(a_source_freed_in_a_turn_is_not_called),
        cmocka_unit_test(no_events_means_not_even_hang_up),
        cmocka_unit_test(timers_fire_in_the_order_of_their_times),
        cmocka_unit_test(many_timers_armed_and_disarmed_keep_their_order),
        cmocka_unit_test(a_timer_armed_in_its_callback_waits_for_the_next_turn),
        cmocka_unit_test(a_deferred_call_may_defer_again),
        cmocka_unit_test(wanted_hooks_run_before_the_loop_waits),
        cmocka_unit_test(burials_come_after_the_hooks),
        cmocka_unit_test(a_signal_reaches_all_who_wait_for_it),
        cmocka_unit_test(a_child_is_reported_once_and_reaped),
        cmocka_unit_test(a_child_that_somebody_reaped_is_reported_as_lost),
        cmocka_unit_test(run_returns_the_code_of_stop),
        cmocka_unit_test(sources_may_outlive_their_loop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
