/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of slurmctld, what has changed, and what the author hears. */
#include "src/base/test/unit.h"

#include "src/agent/apply/engine_impl.h"
#include "src/agent/apply/test/stage.h"

#define SETTING "SchedulerParameters=bf_interval=43\n"

static const struct {
    const char *words;
    struct compare_change changes[5];
    const char *text;
} rows[] = {
    {"fatal: failed to initialize sched plugin",
     {{"SchedulerType", "SchedulerType: a -> b", CHANGE_RESTART, NULL}},
     "fatal: failed to initialize sched plugin (changed: SchedulerType: a -> b)"},
    {"fatal: Invalid schedulertype: b",
     {{"SchedulerType", "SchedulerType: a -> b", CHANGE_RESTART, NULL}},
     "fatal: Invalid schedulertype: b"},
    {"fatal: no", {{"a", "partition a: State: UP -> DOWN", CHANGE_RPC, NULL}}, "fatal: no"},
    {"fatal: X is bad",
     {{"X", "X: 1 -> 2", CHANGE_RECONFIGURE, NULL},
      {"gres.conf", "gres.conf: added", CHANGE_RESTART, NULL}},
     "fatal: X is bad (changed: gres.conf: added)"},
    {"fatal: no",
     {{"A", "A: 1 -> 2", CHANGE_RECONFIGURE, NULL},
      {"B", "B: 1 -> 2", CHANGE_RECONFIGURE, NULL},
      {"C", "C: 1 -> 2", CHANGE_RECONFIGURE, NULL},
      {"D", "D: 1 -> 2", CHANGE_RECONFIGURE, NULL},
      {"E", "E: 1 -> 2", CHANGE_RECONFIGURE, NULL}},
     "fatal: no (changed: A: 1 -> 2, B: 1 -> 2, C: 1 -> 2 and 2 more)"},
};

static void what_slurmctld_does_not_name_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct compare_change list[ARRAY_LEN(rows[i].changes)];
        struct comparison c = {.list = list};
        struct err e = {0};

        memcpy(list, rows[i].changes, sizeof(list));
        while (c.n < ARRAY_LEN(list) && list[c.n].name)
            c.n++;
        (void)err_set(&e, -EINVAL, ERR_PERMANENT, "%s", rows[i].words);
        blame_changes(&c, &e);
        assert_string_equal(e.text, rows[i].text);
    }
}

static void long_words_leave_room_for_the_name(void **state)
{
    struct compare_change list[] = {{"Key", "Key: 1 -> 2", CHANGE_RESTART, NULL}};
    struct comparison c = {.list = list, .n = 1};
    struct err e = {.num = -EINVAL};

    (void)state;
    memset(e.text, 'x', sizeof(e.text) - 1);
    blame_changes(&c, &e);
    assert_non_null(strstr(e.text, "xxx... (changed: Key: 1 -> 2)"));
}

static void a_refused_rehearsal_names_the_setting(void **state)
{
    struct stage *s = *state;
    AUTO(push_done) struct push p = {0};

    s->rehearse_r = -EINVAL;
    s->rehearse_words = "fatal: out of range";
    stage_push_wait(s, "SelectTypeParameters=CR_Core\n" STAGE_ALL, &p);
    assert_string_equal(p.result, "refused");
    assert_string_equal(p.error, "fatal: out of range (changed: SelectTypeParameters: (not set) -> "
                                 "CR_Core)");
}

static void a_refused_reconfigure_names_the_setting(void **state)
{
    struct stage *s = *state;
    AUTO(push_done) struct push p = {0};

    s->ctld->mood = CTLD_REFUSES;
    stage_push_wait(s, SETTING STAGE_ALL, &p);
    assert_string_equal(p.result, "refused");
    assert_non_null(strstr(p.error, "(changed: SchedulerParameters: (not set) -> bf_interval=43)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_slurmctld_does_not_name_is_named),
        cmocka_unit_test(long_words_leave_room_for_the_name),
        cmocka_unit_test_setup_teardown(a_refused_rehearsal_names_the_setting, stage_setup,
                                        stage_teardown),
        cmocka_unit_test_setup_teardown(a_refused_reconfigure_names_the_setting, stage_setup,
                                        stage_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
