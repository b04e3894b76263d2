/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "src/agent/link.h"
#include "src/base/alloc.h"
#include "src/base/clock.h"

/* A link to actors; one answer for each call, kept in order of arrival. */
struct fixture {
    struct loop *loop;
    struct link *link;
    struct arena arena;
    size_t n;
};

struct answer {
    struct fixture *f;
    bool done;
    size_t order; /* which of all answers it was */
    int r;
    int64_t pid;
    struct jsn *json;
    struct err e;
};

static int fixture_up(void **state, const char *program, const char *conf)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    struct link_options options = {.program = program, .slurm_conf = conf};

    assert_int_equal(loop_new(&f->loop, NULL), 0);
    f->link = link_new(f->loop, &options);
    *state = f;
    return 0;
}

static int setup(void **state)
{
    return fixture_up(state, ACTOR, "good");
}

static int setup_bad_conf(void **state)
{
    return fixture_up(state, ACTOR, "bad");
}

static int setup_no_program(void **state)
{
    return fixture_up(state, "/nonexistent/worker", "good");
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    link_free(f->link);
    loop_free(f->loop);
    arena_done(&f->arena);
    free(f);
    return 0;
}

static void on_answer(void *arg, int r, const struct jsn *answer, const struct err *e)
{
    struct answer *a = arg;

    assert_false(a->done);
    a->done = true;
    a->order = a->f->n++;
    a->r = r;
    a->pid = jsn_get_int(answer, "pid", 0);
    a->json = answer ? jsn_clone(&a->f->arena, answer) : NULL;
    if (r < 0)
        a->e = *e;
}

static void call_text(struct fixture *f, enum link_lane lane, const char *request,
                      uint64_t timeout_ms, struct answer *ret)
{
    struct jsn *json = NULL;

    *ret = (struct answer){.f = f};
    assert_int_equal(jsn_parse(&f->arena, str_of(request), NULL, &json, NULL), 0);
    assert_int_equal(link_call(f->link, lane, json, timeout_ms, on_answer, ret), 0);
    assert_false(ret->done);
}

static void wait_done(struct fixture *f, const struct answer *a)
{
    int64_t end = clock_mono_ms() + 20000;

    while (!a->done) {
        assert_true(clock_mono_ms() < end);
        (void)loop_turn(f->loop, 100);
    }
}

static void call_and_wait(struct fixture *f, const char *request, uint64_t timeout_ms,
                          struct answer *ret)
{
    call_text(f, LANE_READ, request, timeout_ms, ret);
    wait_done(f, ret);
}

static void works(struct fixture *f)
{
    struct answer a;

    call_and_wait(f, "{\"call\":\"echo\",\"value\":7}", 10000, &a);
    assert_int_equal(a.r, 0);
    assert_int_equal(jsn_get_int(a.json, "value", 0), 7);
}

static void a_call_is_answered_by_one_lasting_child(void **state)
{
    struct answer a;
    struct answer b;

    call_and_wait(*state, "{\"call\":\"echo\",\"value\":1}", 10000, &a);
    call_and_wait(*state, "{\"call\":\"echo\",\"value\":2}", 10000, &b);
    assert_int_equal(a.r, 0);
    assert_int_equal(b.r, 0);
    assert_int_equal(jsn_get_int(b.json, "value", 0), 2);
    assert_int_equal(a.pid, b.pid);
}

static void calls_of_a_lane_are_answered_in_order(void **state)
{
    struct fixture *f = *state;
    struct answer a[20];

    for (size_t i = 0; i < ARRAY_LEN(a); i++)
        call_text(f, LANE_WRITE, "{\"call\":\"echo\",\"value\":1}", 10000, &a[i]);
    wait_done(f, &a[ARRAY_LEN(a) - 1]);
    for (size_t i = 0; i < ARRAY_LEN(a); i++)
        assert_int_equal(a[i].order, i);
}

static void a_hanging_lane_does_not_hold_up_the_others(void **state)
{
    struct fixture *f = *state;
    struct answer hang;
    struct answer read;
    struct answer parse;

    call_text(f, LANE_WRITE, "{\"call\":\"hang\"}", 3000, &hang);
    call_text(f, LANE_READ, "{\"call\":\"echo\",\"value\":1}", 10000, &read);
    call_text(f, LANE_PARSE, "{\"call\":\"echo\",\"value\":1}", 10000, &parse);
    wait_done(f, &read);
    wait_done(f, &parse);
    assert_false(hang.done);
    wait_done(f, &hang);
    assert_int_equal(hang.r, -ETIMEDOUT);
}

static void a_call_that_takes_too_long_costs_the_child_its_life(void **state)
{
    struct fixture *f = *state;
    struct answer before;
    struct answer hang;
    struct answer after;
    struct link_stats stats;

    call_and_wait(f, "{\"call\":\"echo\"}", 10000, &before);
    call_text(f, LANE_READ, "{\"call\":\"hang\"}", 100, &hang);
    call_text(f, LANE_READ, "{\"call\":\"echo\"}", 10000, &after);
    wait_done(f, &after);
    assert_int_equal(hang.r, -ETIMEDOUT);
    assert_null(hang.json);
    assert_non_null(strstr(hang.e.text, "hang: no answer in time"));
    assert_int_equal(after.r, 0);
    assert_int_not_equal(after.pid, before.pid);
    for (int i = 0; i < 100 && kill((pid_t)before.pid, 0) == 0; i++)
        (void)loop_turn(f->loop, 20);
    assert_int_equal(kill((pid_t)before.pid, 0), -1);
    link_lane_stats(f->link, LANE_READ, &stats);
    assert_int_equal(stats.timeouts, 1);
    assert_int_equal(stats.starts, 2);
    assert_int_equal(stats.calls, 3);
    assert_int_equal(stats.waiting, 0);
}

static void a_call_whose_time_is_over_before_its_turn_harms_nobody(void **state)
{
    struct fixture *f = *state;
    struct answer slow;
    struct answer late;

    call_text(f, LANE_READ, "{\"call\":\"slow\",\"ms\":300,\"value\":3}", 10000, &slow);
    call_text(f, LANE_READ, "{\"call\":\"echo\"}", 50, &late);
    wait_done(f, &slow);
    assert_int_equal(late.r, -ETIMEDOUT);
    assert_non_null(strstr(late.e.text, "not sent in time"));
    assert_int_equal(slow.r, 0);
    assert_int_equal(late.order, 0);
}

static void whatever_a_child_does_the_next_call_works(void **state)
{
    static const struct {
        const char *call;
        int r;
        const char *text;
    } cases[] = {
        {"die", -EPIPE,
         "die: the libslurm process ended with exit status 1: actor: fatal: Unable to process"},
        {"crash", -EPIPE, "crash: the libslurm process was ended by signal 9"},
        {"half", -EPIPE, "half: the libslurm process ended with exit status 0"},
        {"mute", -EPIPE, "mute: the libslurm process was ended by signal 9"},
        {"garble", -EBADMSG, "garble: the libslurm process answered nonsense"},
        {"text", -EBADMSG, "text: the libslurm process answered nonsense"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(free) char *request = xasprintf("{\"call\":\"%s\"}", cases[i].call);
        struct answer a;

        call_and_wait(*state, request, 10000, &a);
        assert_int_equal(a.r, cases[i].r);
        assert_null(a.json);
        assert_non_null(strstr(a.e.text, cases[i].text));
        works(*state);
    }
}

static void a_child_that_dies_takes_one_call_with_it(void **state)
{
    struct fixture *f = *state;
    struct answer dies;
    struct answer waits;

    call_text(f, LANE_READ, "{\"call\":\"die\"}", 10000, &dies);
    call_text(f, LANE_READ, "{\"call\":\"echo\"}", 10000, &waits);
    wait_done(f, &waits);
    assert_int_equal(dies.r, -EPIPE);
    assert_int_equal(waits.r, 0);
}

static void an_answer_that_nobody_asked_for_ends_the_child(void **state)
{
    struct answer a;
    struct answer b;

    call_and_wait(*state, "{\"call\":\"twice\"}", 10000, &a);
    assert_int_equal(a.r, 0);
    for (int i = 0; i < 10; i++)
        (void)loop_turn(((struct fixture *)*state)->loop, 20);
    call_and_wait(*state, "{\"call\":\"echo\"}", 10000, &b);
    assert_int_equal(b.r, 0);
    assert_int_not_equal(a.pid, b.pid);
}

static void after_a_last_answer_the_next_call_gets_another_child(void **state)
{
    struct fixture *f = *state;
    struct answer a;
    struct answer b;

    call_text(f, LANE_READ, "{\"call\":\"last\"}", 10000, &a);
    call_text(f, LANE_READ, "{\"call\":\"echo\"}", 10000, &b);
    wait_done(f, &b);
    assert_int_equal(a.r, 0);
    assert_int_equal(b.r, 0);
    assert_int_not_equal(a.pid, b.pid);
}

static void refusals_have_a_number_and_a_sentence(void **state)
{
    static const struct {
        const char *kind;
        int r;
        enum err_class class;
    } cases[] = {
        {"refused", -EREMOTEIO, ERR_PERMANENT}, {"down", -EHOSTDOWN, ERR_RETRY},
        {"denied", -EACCES, ERR_PERMANENT},     {"busy", -EBUSY, ERR_RETRY},
        {"invalid", -EINVAL, ERR_PERMANENT},    {"other", -EREMOTEIO, ERR_PERMANENT},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(free)
        char *request = xasprintf("{\"call\":\"refuse\",\"kind\":\"%s\"}", cases[i].kind);
        struct answer a;

        call_and_wait(*state, request, 10000, &a);
        assert_int_equal(a.r, cases[i].r);
        assert_int_equal(a.e.class, cases[i].class);
        assert_string_equal(a.e.text, "refuse: no such node (actor: error: detail)");
        assert_int_equal(jsn_get_int(a.json, "error.code", 0), 2018);
    }
}

static void large_answers_and_requests_go_through(void **state)
{
    struct fixture *f = *state;
    AUTO(buf_done) struct buf request = {0};
    struct answer a;

    call_and_wait(f, "{\"call\":\"big\",\"n\":8000000}", 20000, &a);
    assert_int_equal(a.r, 0);
    assert_int_equal(strlen(jsn_get_str(a.json, "text")), 8000000);
    buf_adds(&request, "{\"call\":\"echo\",\"value\":\"");
    for (int i = 0; i < 300000; i++)
        buf_adds(&request, "0123456789");
    buf_adds(&request, "\"}");
    call_and_wait(f, buf_str(&request), 20000, &a);
    assert_int_equal(a.r, 0);
    assert_int_equal(strlen(jsn_get_str(a.json, "value")), 3000000);
}

static void children_know_nothing_of_our_environment(void **state)
{
    struct answer a;

    assert_int_equal(setenv("SLURM_JWT", "secret", 1), 0);
    call_and_wait(*state, "{\"call\":\"env\"}", 10000, &a);
    assert_int_equal(unsetenv("SLURM_JWT"), 0);
    JSN_FOR_ITEMS (item, jsn_key(a.json, "env"))
        assert_true(starts_with(jsn_text(item), "PATH="));
}

static void a_restart_lets_the_call_in_hand_end_first(void **state)
{
    struct fixture *f = *state;
    struct answer slow;
    struct answer after;

    call_text(f, LANE_READ, "{\"call\":\"slow\",\"ms\":200}", 10000, &slow);
    (void)loop_turn(f->loop, 50);
    link_restart(f->link);
    call_text(f, LANE_READ, "{\"call\":\"echo\"}", 10000, &after);
    wait_done(f, &after);
    assert_int_equal(slow.r, 0);
    assert_int_equal(after.r, 0);
    assert_int_not_equal(slow.pid, after.pid);
}

static void children_that_cannot_live_are_started_ever_more_seldom(void **state)
{
    struct fixture *f = *state;
    struct link_stats stats;
    int64_t end = clock_mono_ms() + 1500;
    struct answer a;

    while (clock_mono_ms() < end) {
        call_and_wait(f, "{\"call\":\"echo\"}", 10000, &a);
        assert_int_equal(a.r, -EPIPE);
        assert_non_null(strstr(a.e.text, "Parse error in file bad line 1"));
    }
    link_lane_stats(f->link, LANE_READ, &stats);
    assert_in_range(stats.starts, 3, 15);
    call_and_wait(f, "{\"call\":\"echo\"}", 1, &a);
    assert_true(a.r == -ETIMEDOUT);
    assert_non_null(strstr(a.e.text, "Parse error in file bad line 1"));
}

static void a_program_that_is_not_there_is_said_so(void **state)
{
    struct answer a;

    call_and_wait(*state, "{\"call\":\"echo\"}", 10000, &a);
    assert_int_equal(a.r, -ENOEXEC);
    assert_non_null(strstr(a.e.text, "'/nonexistent/worker' cannot be started"));
}

static void link_free_drops_what_is_open(void **state)
{
    struct fixture *f = *state;
    struct answer in_hand;
    struct answer waiting;

    call_text(f, LANE_READ, "{\"call\":\"hang\"}", 10000, &in_hand);
    call_text(f, LANE_READ, "{\"call\":\"echo\"}", 10000, &waiting);
    (void)loop_turn(f->loop, 50);
    f->link = link_free(f->link);
    for (int i = 0; i < 5; i++)
        (void)loop_turn(f->loop, 10);
    assert_false(in_hand.done);
    assert_false(waiting.done);
}

static void too_many_calls_are_refused_at_once(void **state)
{
    struct fixture *f = *state;
    static struct answer all[4096];
    struct jsn *json = jsn_object(&f->arena);
    struct answer one_more = {.f = f};

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        call_text(f, LANE_READ, "{\"call\":\"echo\"}", 60000, &all[i]);
    assert_int_equal(link_call(f->link, LANE_READ, json, 1000, on_answer, &one_more), -E2BIG);
    wait_done(f, &all[ARRAY_LEN(all) - 1]);
    works(f);
    assert_false(one_more.done);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_call_is_answered_by_one_lasting_child),
        TEST(calls_of_a_lane_are_answered_in_order),
        TEST(a_hanging_lane_does_not_hold_up_the_others),
        TEST(a_call_that_takes_too_long_costs_the_child_its_life),
        TEST(a_call_whose_time_is_over_before_its_turn_harms_nobody),
        TEST(whatever_a_child_does_the_next_call_works),
        TEST(a_child_that_dies_takes_one_call_with_it),
        TEST(an_answer_that_nobody_asked_for_ends_the_child),
        TEST(after_a_last_answer_the_next_call_gets_another_child),
        TEST(refusals_have_a_number_and_a_sentence),
        TEST(large_answers_and_requests_go_through),
        TEST(children_know_nothing_of_our_environment),
        TEST(a_restart_lets_the_call_in_hand_end_first),
        TEST(link_free_drops_what_is_open),
        TEST(too_many_calls_are_refused_at_once),
        cmocka_unit_test_setup_teardown(children_that_cannot_live_are_started_ever_more_seldom,
                                        setup_bad_conf, teardown),
        cmocka_unit_test_setup_teardown(a_program_that_is_not_there_is_said_so, setup_no_program,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
