/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of node states. */
#include "src/base/test/unit.h"

#include "src/slurm/nodestate.h"

#define IDLE NODE_BASE_IDLE
#define DOWN NODE_BASE_DOWN
#define ALLOC NODE_BASE_ALLOCATED
#define MIXED NODE_BASE_MIXED
#define UNKNOWN NODE_BASE_UNKNOWN

static void states_print_as_scontrol_does(void **state)
{
    static const struct {
        uint32_t state;
        const char *full;
    } cases[] = {
        {IDLE, "IDLE"},
        {IDLE | NODE_FLAG_NO_RESPOND, "IDLE+NOT_RESPONDING"},
        {IDLE | NODE_FLAG_DRAIN | NODE_FLAG_DYNAMIC, "IDLE+DRAIN+DYNAMIC_NORM"},
        {ALLOC | NODE_FLAG_DRAIN, "ALLOCATED+DRAIN"},
        {IDLE | NODE_FLAG_DRAIN | NODE_FLAG_COMPLETING, "IDLE+COMPLETING+DRAIN"},
        {MIXED, "MIXED"},
        {MIXED | NODE_FLAG_PLANNED, "MIXED+PLANNED"},
        {ALLOC | NODE_FLAG_COMPLETING, "ALLOCATED+COMPLETING"},
        {IDLE | NODE_FLAG_COMPLETING, "IDLE+COMPLETING"},
        {DOWN | NODE_FLAG_NO_RESPOND, "DOWN+NOT_RESPONDING"},
        {DOWN | NODE_FLAG_MAINT, "DOWN+MAINTENANCE"},
        {IDLE | NODE_FLAG_MAINT | NODE_FLAG_RESERVED, "IDLE+MAINTENANCE+RESERVED"},
        {IDLE | NODE_FLAG_RESERVED, "IDLE+RESERVED"},
        {IDLE | NODE_FLAG_PLANNED, "IDLE+PLANNED"},
        {IDLE | NODE_FLAG_BLOCKED, "IDLE+BLOCKED"},
        {IDLE | NODE_FLAG_CLOUD | NODE_FLAG_POWERED_DOWN, "IDLE+CLOUD+POWERED_DOWN"},
        {IDLE | NODE_FLAG_POWERING_UP, "IDLE+POWERING_UP"},
        {ALLOC | NODE_FLAG_REBOOT_REQUESTED, "ALLOCATED+REBOOT_REQUESTED"},
        {DOWN | NODE_FLAG_REBOOT_ISSUED, "DOWN+REBOOT_ISSUED"},
        {IDLE | NODE_FLAG_FAIL, "IDLE+FAIL"},
        {ALLOC | NODE_FLAG_FAIL | NODE_FLAG_NO_RESPOND, "ALLOCATED+FAIL+NOT_RESPONDING"},
        {IDLE | NODE_FLAG_INVALID_REG | NODE_FLAG_DRAIN, "IDLE+DRAIN+INVALID_REG"},
        {NODE_BASE_FUTURE, "FUTURE"},
        {UNKNOWN, "UNKNOWN"},
        {UNKNOWN | NODE_FLAG_NO_RESPOND, "UNKNOWN+NOT_RESPONDING"},
        {NODE_BASE_ERROR, "ERROR"},
        {0xf, "INVALID"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(buf_done) struct buf full = {0};

        nodestate_print(cases[i].state, &full);
        assert_string_equal(buf_str(&full), cases[i].full);
    }
}

static void what_prints_can_be_read_back(void **state)
{
    static const uint32_t states[] = {
        IDLE | NODE_FLAG_DRAIN | NODE_FLAG_DYNAMIC,
        UNKNOWN | NODE_FLAG_NO_RESPOND,
        MIXED,
        DOWN | NODE_FLAG_POWERED_DOWN | NODE_FLAG_CLOUD | NODE_FLAG_BLOCKED,
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        AUTO(buf_done) struct buf full = {0};
        uint32_t again = 0;
        struct err e = {0};

        nodestate_print(states[i], &full);
        assert_int_equal(nodestate_parse(buf_view(&full), &again, &e), 0);
        assert_int_equal(again, states[i]);
    }
}

static void strange_words_are_refused(void **state)
{
    static const char *const texts[] = {"", "DRAIN", "IDLE+IDLE", "IDLE+SLEEPY", "IDLE|DRAIN", "+"};
    uint32_t word = 7;
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_int_equal(nodestate_parse(str_of(texts[i]), &word, &e), -EINVAL);
    assert_int_equal(word, 7);
    assert_int_equal(nodestate_parse(STR("idle,drain"), &word, &e), 0);
    assert_int_equal(word, IDLE | NODE_FLAG_DRAIN);
}

static void what_is_not_known_is_busy(void **state)
{
    static const struct {
        struct node_view view;
        bool busy;
    } cases[] = {
        {{0}, true},
        {{.state_known = true, .state = IDLE}, true},
        {{.jobs_known = true}, true},
        {{true, true, IDLE, 0}, false},
        {{true, true, IDLE, 1}, true}, /* a suspended job */
        {{true, true, IDLE | NODE_FLAG_DRAIN, 0}, false},
        {{true, true, IDLE | NODE_FLAG_COMPLETING, 0}, true},
        {{true, true, DOWN, 0}, false},
        {{true, true, DOWN | NODE_FLAG_COMPLETING, 0}, true},
        {{true, true, ALLOC, 0}, true},
        {{true, true, MIXED, 0}, true},
        {{true, true, UNKNOWN, 0}, true},
        {{true, true, NODE_BASE_ERROR, 0}, true},
        {{true, true, NODE_BASE_FUTURE, 0}, false},
        {{true, true, 9, 0}, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(nodestate_busy(&cases[i].view), cases[i].busy);
}

static void draining_ends_when_nothing_runs(void **state)
{
    static const struct {
        uint32_t state;
        bool drained;
    } cases[] = {
        {IDLE, false},
        {IDLE | NODE_FLAG_DRAIN, true},
        {DOWN | NODE_FLAG_DRAIN, true},
        {ALLOC | NODE_FLAG_DRAIN, false},
        {MIXED | NODE_FLAG_DRAIN, false},
        {IDLE | NODE_FLAG_DRAIN | NODE_FLAG_COMPLETING, false},
        {IDLE | NODE_FLAG_DRAIN | NODE_FLAG_UNDRAIN, false},
        {UNKNOWN | NODE_FLAG_DRAIN, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(nodestate_drained(cases[i].state), cases[i].drained);
}

static void a_reason_belongs_to_a_node_that_is_held(void **state)
{
    (void)state;
    assert_false(nodestate_has_reason(IDLE));
    assert_false(nodestate_has_reason(ALLOC | NODE_FLAG_NO_RESPOND));
    assert_false(nodestate_has_reason(IDLE | NODE_FLAG_POWERED_DOWN));
    assert_true(nodestate_has_reason(DOWN));
    assert_true(nodestate_has_reason(MIXED | NODE_FLAG_DRAIN));
    assert_true(nodestate_has_reason(IDLE | NODE_FLAG_FAIL));
    assert_true(nodestate_has_reason(IDLE | NODE_FLAG_REBOOT_REQUESTED));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_print_as_scontrol_does),
        cmocka_unit_test(what_prints_can_be_read_back),
        cmocka_unit_test(strange_words_are_refused),
        cmocka_unit_test(what_is_not_known_is_busy),
        cmocka_unit_test(draining_ends_when_nothing_runs),
        cmocka_unit_test(a_reason_belongs_to_a_node_that_is_held),
    };

    return cmocka_run_group_tests_name("nodestate", tests, NULL, NULL);
}
