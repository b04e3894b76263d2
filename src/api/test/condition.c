/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of conditions and of lists of problems. */
#include "src/api/test/objects.h"

#include "src/api/condition.h"

static bool set(struct arena *a, struct api_conditions *list, const char *status,
                const char *message, int64_t now_us)
{
    return api_condition_set(a, list,
                             &(struct api_condition){.type = "Ready",
                                                     .status = status,
                                                     .reason = "Because",
                                                     .message = message,
                                                     .since_us = now_us,
                                                     .generation = 1});
}

static void the_time_moves_with_the_status_alone(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct api_conditions list = {0};

    (void)state;
    assert_null(api_condition_find(&list, "Ready"));
    assert_true(set(&a, &list, "False", "waiting", 10));
    assert_false(set(&a, &list, "False", "waiting", 20));
    assert_int_equal(list.items[0].since_us, 10);
    assert_true(set(&a, &list, "False", "still waiting", 30));
    assert_int_equal(list.items[0].since_us, 10);
    assert_true(set(&a, &list, "True", "", 40));
    assert_int_equal(list.items[0].since_us, 40);
    assert_int_equal(list.n, 1);
    assert_string_equal(api_condition_find(&list, "Ready")->status, "True");
    assert_true(api_condition_drop(&list, "Ready"));
    assert_false(api_condition_drop(&list, "Ready"));
    assert_int_equal(list.n, 0);
}

static void problems_make_one_error(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct api_problems p = {.arena = &a, .object = "NodeSet slurm/gpu", .prefix = "spec"};
    struct err e = {0};

    (void)state;
    api_problem_add(&p, API_WARNING, "x", "odd");
    assert_int_equal(api_problems_error(&p, &e), 0);
    api_problem_add(&p, API_INVALID, "replicas", "is %d", -1);
    assert_int_equal(api_problems_error(&p, &e), -EINVAL);
    assert_string_equal(e.text, "NodeSet slurm/gpu: spec.replicas: is -1");
    for (int i = 0; i < 200; i++)
        api_problem_add(&p, API_INVALID, "", "again");
    assert_int_equal(p.n, API_PROBLEMS_MAX);
    assert_int_equal(p.errors, 201);
    assert_int_equal(api_problems_error(&p, &e), -EINVAL);
    assert_string_equal(e.text, "NodeSet slurm/gpu: spec.replicas: is -1 (and 200 more)");
    assert_string_equal(p.items[2].field, "spec");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_time_moves_with_the_status_alone),
        cmocka_unit_test(problems_make_one_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
