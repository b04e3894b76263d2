/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what conditions say is wrong. */
#include "src/json/test/json_text.h"

#include "src/cli/trouble_conditions.h"

#define NOW_US (1767261600LL * 1000000) /* 2026-01-01T10:00:00Z */
#define OLD "'2026-01-01T09:00:00Z'"
#define NEW "'2026-01-01T09:59:50Z'"
#define CONDITION(type, status, reason, since)                                                     \
    "{'type':'" type "','status':'" status "','reason':'" reason                                   \
    "','message':'m','lastTransitionTime':" since "}"

static const char *told(struct arena *a, const char *conditions, bool impatient)
{
    struct jsn *object = json_of(
        a, arena_printf(a, "{'metadata':{'namespace':'n','name':'x'},'status':{'conditions':[%s]}}",
                        conditions));
    struct jsn *list = jsn_array(a);

    trouble_conditions(a, "Partition", object, NOW_US, impatient, list);
    return text_of(a, list);
}

static void conditions_that_do_not_hold_are_told(void **state)
{
    static const struct {
        const char *conditions;
        bool impatient;
        const char *told;
    } cases[] = {
        {CONDITION("Ready", "True", "r", OLD), false, "[]"},
        {CONDITION("Ready", "Unknown", "r", OLD), false, "[]"},
        {CONDITION("Ready", "False", "r", OLD), false, "['Partition n/x: m']"},
        {CONDITION("PartitionApplied", "False", "Refused", NEW), false, "['Partition n/x: m']"},
        {CONDITION("Default", "False", "DefaultTaken", NEW), false, "['Partition n/x: m']"},
        {CONDITION("Drifted", "True", "ChangedInSlurm", NEW), false, "['Partition n/x: m']"},
        {CONDITION("Drifted", "False", "AsDeclared", OLD), false, "[]"},
        {CONDITION("ReplicaFailure", "True", "FailedCreate", NEW), false, "['Partition n/x: m']"},
        {CONDITION("NodesApplied", "False", "FilesRefused", NEW), false, "['Partition n/x: m']"},
        {CONDITION("NodesApplied", "False", "ChangedInSlurm", NEW), false, "[]"},
        {CONDITION("SlurmRelease", "False", "NoSuchStep", NEW), false, "['Partition n/x: m']"},
        {CONDITION("Updated", "False", "WaitingForIdle", OLD), false, "[]"},
        {CONDITION("Ready", "False", "NodesNotServing", NEW), false, "[]"},
        {CONDITION("Ready", "False", "NodesDown", NEW), false, "['Partition n/x: m']"},
        {CONDITION("Paused", "True", "r", OLD), false, "[]"},
        {CONDITION("Paused", "False", "r", OLD), false, "[]"},
        /* said once */
        {CONDITION("Ready", "False", "r", OLD) "," CONDITION("Valid", "False", "r", OLD), false,
         "['Partition n/x: m']"},
        /* what takes its time to start is told when it takes too long, or when somebody asks why */
        {CONDITION("Ready", "False", "PodsNotReady", NEW), false, "[]"},
        {CONDITION("Ready", "False", "PodsNotReady", NEW), true, "['Partition n/x: m']"},
        {CONDITION("Ready", "False", "PodsNotReady", OLD), false, "['Partition n/x: m']"},
        {CONDITION("PartitionApplied", "False", "Applying", NEW), false, "[]"},
        /* without a message, and over several lines */
        {"{'type':'Ready','status':'False','reason':'Why','message':''}", false,
         "['Partition n/x: Ready is False (Why)']"},
        {"{'type':'Ready','status':'False','message':'a\\nb\\n'}", false, "['Partition n/x: a b']"},
        {"", false, "[]"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};

        assert_string_equal(told(&a, cases[i].conditions, cases[i].impatient), cases[i].told);
    }
}

static void what_has_no_namespace_is_named_alone(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *list = jsn_array(&a);
    struct jsn *node = json_of(&a, "{'metadata':{'name':'one'}}");

    (void)state;
    trouble_say(&a, list, "Node", node, "it is lost");
    trouble_say(&a, list, "Node", node, "it is lost");
    trouble_say(&a, list, "Node", node, NULL);
    assert_string_equal(text_of(&a, list),
                        "['Node one: it is lost','Node one: no reason was given']");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_that_do_not_hold_are_told),
        cmocka_unit_test(what_has_no_namespace_is_named_alone),
    };

    return cmocka_run_group_tests_name("trouble_conditions", tests, NULL, NULL);
}
