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

/* What of pods and nodes goes for other pods does so after a try; returns how many there are. */
static size_t count_guarded(const struct actions *list)
{
    unsigned tried = 0;
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++) {
        const struct action *a = &list->items[i];

        if (a->verb == ACTION_TRY)
            tried = a->stage;
        if (!a->guarded)
            continue;
        assert_true(tried > 0 && a->stage > tried);
        n++;
    }
    return n;
}

static void nothing_goes_for_another_pod_that_was_not_tried(void **state)
{
    static const struct slurm_node nodes[] = {
        {"gpu-0", NODE_BASE_IDLE, NULL, true, 0},
        {"gpu-1", NODE_BASE_MIXED, NULL, true, 1},
    };
    struct fixture f = {0};
    struct actions list;

    (void)state;
    run_set(&f, 2, ",'updateStrategy':{'rollingUpdate':{'maxUnavailable':2}}");
    use_slurm(&f, nodes, ARRAY_LEN(nodes));
    converge(&f);
    jsn_set_path(&f.arena, the_set(&f), "spec.extraConf", jsn_string(&f.arena, "RealMemory=5"));
    list = plan(&f);
    assert_int_equal(count_guarded(&list), 2); /* two drains */
    for (size_t i = 0; i < list.n; i++)
        if (list.items[i].verb == ACTION_TRY)
            assert_true(list.items[i].same_size);
    carry_out(&f, &list);
    f.nodes[0].state |= NODE_FLAG_DRAIN;
    list = plan(&f);
    assert_int_equal(count_guarded(&list), 1); /* gpu-0 goes, gpu-1 is drained already */
    fixture_done(&f);
}

static void a_scale_in_asks_nobody(void **state)
{
    static const struct slurm_node nodes[] = {
        {"gpu-0", NODE_BASE_IDLE, NULL, true, 0},
        {"gpu-1", NODE_BASE_MIXED, NULL, true, 1},
    };
    struct fixture f = {0};
    struct actions list;

    (void)state;
    run_set(&f, 2, "");
    use_slurm(&f, nodes, ARRAY_LEN(nodes));
    converge(&f);
    jsn_set_path(&f.arena, the_set(&f), "spec.replicas", jsn_int(&f.arena, 0));
    list = plan(&f);
    for (size_t i = 0; i < list.n; i++)
        assert_true(list.items[i].verb != ACTION_TRY && !list.items[i].guarded);
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

static const char *release_of_pod(struct fixture *f, const char *name)
{
    return jsn_text(jsn_member(jsn_get(test_find(&f->world, "Pod", name), "metadata.annotations"),
                               STR(API_RELEASE_ANNOTATION)));
}

/* slurmctld goes first; then the pods, each when no job can run on it, as many as the budget has.
 */
static void another_slurm_waits_for_slurmctld(void **state)
{
    static const struct slurm_node nodes[] = {
        {"gpu-0", NODE_BASE_IDLE, NULL, true, 0},
        {"gpu-1", NODE_BASE_MIXED, NULL, true, 1},
    };
    struct fixture f = {0};

    (void)state;
    fixture_init(&f, ",'replicas':2,'updateStrategy':{'rollingUpdate':{'maxUnavailable':1}}");
    f.release = "24.11.5";
    converge(&f); /* slurmctld is still to come: the first pods do not wait for it */
    run_pod(&f, "gpu-0");
    run_pod(&f, "gpu-1");
    use_slurm(&f, nodes, ARRAY_LEN(nodes));
    f.state.release = "24.11.5";
    converge(&f);
    assert_string_equal(release_of_pod(&f, "gpu-0"), "24.11.5");
    assert_null(reason_of(&f, "Updated"));

    f.release = "26.05.5";
    converge(&f);
    assert_string_equal(reason_of(&f, "Updated"), "WaitingForSlurmctld");
    expect_pods(&f, "gpu-0 gpu-1 ");
    assert_string_equal(release_of_pod(&f, "gpu-0"), "24.11.5");
    /* one that is lost meanwhile comes back as it was */
    test_drop(&f.world, "Pod", "gpu-0");
    converge(&f);
    assert_string_equal(release_of_pod(&f, "gpu-0"), "24.11.5");
    run_pod(&f, "gpu-0");
    /* so it is while nothing is known of slurmctld */
    f.state.down = true;
    converge(&f);
    assert_string_equal(reason_of(&f, "Updated"), "WaitingForSlurmctld");
    f.state.down = false;

    f.state.release = "26.05.5";
    for (int i = 0; i < 4; i++) {
        converge(&f);
        run_pod(&f, "gpu-0");
    }
    assert_string_equal(release_of_pod(&f, "gpu-0"), "26.05.5");
    assert_string_equal(release_of_pod(&f, "gpu-1"), "24.11.5"); /* has a job */
    assert_string_equal(reason_of(&f, "Updated"), "WaitingForIdle");
    f.nodes[1].state = NODE_BASE_IDLE | NODE_FLAG_DRAIN;
    f.nodes[1].jobs = 0;
    converge(&f);
    assert_string_equal(release_of_pod(&f, "gpu-1"), "26.05.5");
    fixture_done(&f);
}

/* An image of a newer Slurm: its slurmd could not register, so no pod is made with it. */
static void an_image_that_slurmctld_does_not_serve_waits(void **state)
{
    static const struct slurm_node nodes[] = {{"gpu-0", NODE_BASE_IDLE, NULL, true, 0}};
    struct fixture f = {0};

    (void)state;
    run_set(&f, 1, ",'slurmd':{'image':'x/slurmd:24.11.5'}");
    use_slurm(&f, nodes, ARRAY_LEN(nodes));
    f.state.release = "24.11.5";
    converge(&f);
    jsn_set_path(&f.arena, the_set(&f), "spec.slurmd.image",
                 jsn_string(&f.arena, "x/slurmd:26.05.5"));
    set_replicas(&f, 2);
    converge(&f);
    assert_string_equal(reason_of(&f, "Updated"), "WaitingForSlurmctld");
    expect_pods(&f, "gpu-0 ");
    f.state.release = "26.05.5";
    converge(&f);
    expect_pods(&f, "gpu-0 gpu-1 ");
    fixture_done(&f);
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
        cmocka_unit_test(nothing_goes_for_another_pod_that_was_not_tried),
        cmocka_unit_test(a_scale_in_asks_nobody),
        cmocka_unit_test(a_new_template_replaces_only_what_is_free),
        cmocka_unit_test(unused_revisions_are_forgotten),
        cmocka_unit_test(another_slurm_waits_for_slurmctld),
        cmocka_unit_test(an_image_that_slurmctld_does_not_serve_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
