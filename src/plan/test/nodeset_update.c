/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the NodeSet's plan: a changed template, and the revisions that tell one from
 * another. */
#include "src/plan/test/nodeset.h"

static void outdated_pods_are_drained_within_the_bounds(void **state)
{
    static const struct slurm_node nodes[] = {
        {"gpu-0", NODE_BASE_IDLE, NULL, true, 0},
        {"gpu-1", NODE_BASE_MIXED, NULL, true, 1},
        {"gpu-2", NODE_BASE_IDLE, NULL, true, 0},
        {"gpu-3", NODE_BASE_IDLE, NULL, true, 0},
    };
    struct fixture f = {0};

    (void)state;
    run_set(&f, 4, ",'updateStrategy':{'rollingUpdate':{'maxUnavailable':1}}");
    use_slurm(&f, nodes, ARRAY_LEN(nodes));
    converge(&f);
    jsn_set_path(&f.arena, the_set(&f), "spec.extraConf", jsn_string(&f.arena, "RealMemory=5"));
    for (int round = 0; round < 8; round++) {
        size_t drained = 0;

        for (size_t i = 0; i < 4; i++)
            drained += (f.nodes[i].state & NODE_FLAG_DRAIN) != 0;
        assert_true(drained <= 1);
        converge(&f);
        for (int i = 0; i < 4; i++)
            run_pod(&f, arena_printf(&f.arena, "gpu-%d", i));
        converge(&f); /* what is new is let back */
    }
    assert_int_equal(jsn_get_int(the_set(&f), "status.updatedReplicas", -1), 3);
    assert_true(f.nodes[1].state & NODE_FLAG_DRAIN); /* has a job */
    f.nodes[1].state = NODE_BASE_IDLE | NODE_FLAG_DRAIN;
    f.nodes[1].jobs = 0;
    converge(&f);
    run_pod(&f, "gpu-1");
    converge(&f);
    assert_int_equal(jsn_get_int(the_set(&f), "status.updatedReplicas", -1), 4);
    assert_false(f.nodes[1].state & NODE_FLAG_DRAIN);
    fixture_done(&f);
}

static void a_new_template_replaces_only_what_is_free(void **state)
{
    AUTO(fixture_done) struct fixture f;
    const char *hash;

    (void)state;
    fixture_init(&f, ",'replicas':2");
    converge(&f);
    run_pod(&f, "gpu-0");
    jsn_set_path(&f.arena, the_set(&f), "spec.extraConf", jsn_string(&f.arena, "RealMemory=5"));
    converge(&f);
    hash = jsn_get_str(the_set(&f), "status.nodeSetHash");
    assert_int_equal(jsn_get_int(the_set(&f), "status.updatedReplicas", -1), 1);
    assert_string_equal(reason_of(&f, "Updated"), "WaitingForIdle");
    assert_string_not_equal(
        jsn_text(jsn_member(jsn_get(test_find(&f.world, "Pod", "gpu-0"), "metadata.labels"),
                            STR(POD_HASH_LABEL))),
        hash);
    /* Both revisions are in use. */
    test_drop(&f.world, "Pod", "gpu-0");
    converge(&f);
    assert_int_equal(jsn_get_int(the_set(&f), "status.updatedReplicas", -1), 2);
    assert_null(reason_of(&f, "Updated"));
}

static void unused_revisions_are_forgotten(void **state)
{
    AUTO(fixture_done) struct fixture f;
    size_t n = 0;

    (void)state;
    fixture_init(&f, ",'replicas':0,'revisionHistoryLimit':1");
    converge(&f);
    for (int i = 1; i < 5; i++) {
        jsn_set_path(&f.arena, the_set(&f), "spec.extraConf",
                     jsn_stringf(&f.arena, "Weight=%d", i));
        converge(&f);
    }
    JSN_FOR_ITEMS (o, f.world.objects)
        n += streq(jsn_get_str(o, "kind"), "ControllerRevision");
    assert_int_equal(n, 2);
}

/* Now is 1,000 s after the beginning of time. */
static void a_scheduled_update_has_its_time(void **state)
{
    static const struct {
        const char *start;
        bool goes;
        bool waits;
    } cases[] = {
        {"1970-01-01T00:16:00Z", true, false},  /* 40 s ago */
        {"1970-01-01T00:17:00Z", false, true},  /* in 20 s */
        {"1970-01-01T00:10:00Z", false, false}, /* over */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        static const struct slurm_node nodes[] = {{"gpu-0", NODE_BASE_IDLE, NULL, true, 0}};
        struct fixture f = {0};
        struct actions list;
        bool drains = false;
        bool requeued = false;

        run_set(&f, 1, "");
        use_slurm(&f, nodes, 1);
        jsn_set(&f.arena, jsn_get(the_set(&f), "spec"), "updateStrategy",
                json_of(&f.arena, arena_printf(&f.arena,
                                               "{'type':'ScheduledUpdate','scheduledUpdate':{"
                                               "'startTime':'%s','duration':'2m'}}",
                                               cases[i].start)));
        jsn_set_path(&f.arena, the_set(&f), "spec.slurmd",
                     json_of(&f.arena, "{'image':'another'}"));
        list = plan(&f);
        for (size_t k = 0; k < list.n; k++) {
            drains |= list.items[k].verb == ACTION_NODE;
            requeued |= list.items[k].verb == ACTION_REQUEUE;
        }
        assert_int_equal(drains, cases[i].goes);
        assert_int_equal(requeued, cases[i].waits);
        fixture_done(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scheduled_update_has_its_time),
        cmocka_unit_test(outdated_pods_are_drained_within_the_bounds),
        cmocka_unit_test(a_new_template_replaces_only_what_is_free),
        cmocka_unit_test(unused_revisions_are_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
