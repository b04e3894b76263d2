/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the work queue. */
#include "src/base/test/unit.h"

#include "src/operator/queue.h"

static struct queue *a_queue(void)
{
    return queue_new(100, 800);
}

static void keys_come_in_order_and_once(void **state)
{
    AUTO(queue_free) struct queue *q = a_queue();

    (void)state;
    queue_add(q, "a");
    queue_add(q, "b");
    queue_add(q, "a");
    assert_int_equal(queue_waiting(q), 2);
    assert_string_equal(queue_take(q, 0), "a");
    assert_string_equal(queue_take(q, 0), "b");
    assert_null(queue_take(q, 0));
    assert_int_equal(queue_running(q), 2);
}

static void an_event_during_work_brings_the_key_back(void **state)
{
    AUTO(queue_free) struct queue *q = a_queue();

    (void)state;
    queue_add(q, "a");
    assert_string_equal(queue_take(q, 0), "a");
    queue_add(q, "a");
    assert_null(queue_take(q, 0));
    assert_int_equal(queue_done(q, "a", false, 0), 0);
    assert_string_equal(queue_take(q, 0), "a");
    assert_int_equal(queue_done(q, "a", false, 0), 0);
    assert_null(queue_take(q, 0));
    assert_int_equal(queue_wait_ms(q, 0), -1);
}

static void failures_delay_more_and_more(void **state)
{
    AUTO(queue_free) struct queue *q = a_queue();
    int64_t now = 1000;
    int64_t most[] = {100, 200, 400, 800, 800};

    (void)state;
    queue_add(q, "a");
    for (size_t i = 0; i < ARRAY_LEN(most); i++) {
        int64_t delay;

        assert_string_equal(queue_take(q, now), "a");
        delay = queue_done(q, "a", true, now);
        assert_in_range(delay, most[i] / 2, most[i]);
        assert_int_equal(queue_failures(q, "a"), i + 1);
        assert_int_equal(queue_wait_ms(q, now), delay);
        assert_null(queue_take(q, now + delay - 1));
        now += delay;
    }
    assert_string_equal(queue_take(q, now), "a");
    assert_int_equal(queue_done(q, "a", false, now), 0);
    assert_int_equal(queue_failures(q, "a"), 0);
}

static void an_event_does_not_wait_for_the_back_off(void **state)
{
    AUTO(queue_free) struct queue *q = a_queue();

    (void)state;
    queue_add(q, "a");
    (void)queue_take(q, 0);
    (void)queue_done(q, "a", true, 0);
    queue_add(q, "a");
    assert_string_equal(queue_take(q, 0), "a");
    assert_int_equal(queue_failures(q, "a"), 1);
    (void)queue_done(q, "a", false, 0);
}

static void of_several_times_the_earliest_counts(void **state)
{
    AUTO(queue_free) struct queue *q = a_queue();

    (void)state;
    queue_add_at(q, "a", 500);
    queue_add_at(q, "a", 300);
    queue_add_at(q, "a", 400);
    assert_int_equal(queue_wait_ms(q, 100), 200);
    assert_null(queue_take(q, 299));
    assert_string_equal(queue_take(q, 300), "a");
    /* Asked for while it runs: kept for afterwards. */
    queue_add_at(q, "a", 350);
    assert_null(queue_take(q, 400));
    (void)queue_done(q, "a", false, 400);
    assert_string_equal(queue_take(q, 400), "a");
    (void)queue_done(q, "a", false, 400);
    assert_int_equal(queue_waiting(q), 0);
}

static void controllers_go_first(void **state)
{
    AUTO(queue_free) struct queue *q = a_queue();

    (void)state;
    queue_add(q, "NodeSet/n/a");
    queue_add(q, "NodeSet/n/b");
    assert_false(queue_has_urgent(q));
    queue_add(q, "Controller/n/c");
    assert_true(queue_has_urgent(q));
    assert_string_equal(queue_take(q, 0), "Controller/n/c");
    assert_false(queue_has_urgent(q));
    assert_string_equal(queue_take(q, 0), "NodeSet/n/a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_come_in_order_and_once),
        cmocka_unit_test(an_event_during_work_brings_the_key_back),
        cmocka_unit_test(failures_delay_more_and_more),
        cmocka_unit_test(an_event_does_not_wait_for_the_back_off),
        cmocka_unit_test(of_several_times_the_earliest_counts),
        cmocka_unit_test(controllers_go_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
