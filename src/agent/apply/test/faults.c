/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every fault in every call of every kind of change.
 *
 * Whatever goes wrong, the one who pushed gets one answer.  If it says "refused", everything is as
 * before; if not, everything is as declared in the end.  No job is lost on the way.
 */
#include "src/agent/apply/test/scenes.h"

#include <stdio.h>

static const char *const act_names[SCRIPT_N] = {
    [SCRIPT_REFUSE] = "refused",     [SCRIPT_DENY] = "denied",
    [SCRIPT_DOWN] = "down",          [SCRIPT_BUSY] = "busy",
    [SCRIPT_DIE] = "the child dies", [SCRIPT_DO_AND_DIE] = "done, then the child dies",
    [SCRIPT_HANG] = "hangs",         [SCRIPT_DO_AND_HANG] = "done, then hangs",
    [SCRIPT_LATE] = "late",          [SCRIPT_TWICE] = "answered twice",
    [SCRIPT_HALF] = "done by half",  [SCRIPT_NO_ROOM] = "no room for the call",
};

/* Returns whether there was such a call at all. */
static bool fault_try(const struct scene *c, unsigned call, enum script_act act)
{
    struct stage *s = scene_set(c);
    AUTO(push_done) struct push p = {0};
    char what[128];
    bool came;

    (void)snprintf(what, sizeof(what), "call %u: %s", call, act_names[act]);
    script_next(s->script, NULL, call, act);
    stage_push_wait(s, c->to, &p);
    came = !script_scripted(s->script);
    scene_play_out(s, c);
    if (p.answers != 1)
        fail_msg("%s, %s: %u answers", c->name, what, p.answers);
    scene_expect(s, c, p.result[0] != 'r', what);
    stage_free(s);
    return came;
}

static void faults_try(const struct scene *c)
{
    for (int act = SCRIPT_DO + 1; act < SCRIPT_N; act++) {
        unsigned call = 0;

        while (fault_try(c, call, (enum script_act)act))
            call++;
        /* a parse, a look at what is live, and a step at least */
        assert_true(call >= 1);
    }
}

static void every_fault_ends_in_one_answer_and_a_whole_state(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_scenes; i++)
        faults_try(&scenes[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_ends_in_one_answer_and_a_whole_state),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
