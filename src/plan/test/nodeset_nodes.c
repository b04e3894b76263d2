/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the NodeSet's plan: records in slurmctld are as declared. */
#include "src/plan/test/nodeset.h"

#include "src/build/labels.h"

#define DYNAMIC NODE_FLAG_DYNAMIC
#define IDLE (NODE_BASE_IDLE | DYNAMIC)
#define GONE (NODE_BASE_DOWN | DYNAMIC | NODE_FLAG_NO_RESPOND)
#define LOW "gres/gpu count reported lower than configured (0 < 2)"
#define OURS "slurmkeeper: Pod is terminating"

static const struct slurm_node_params plain = {
    .features = "gpu", .cpus = 4, .threads = 1, .memory = 1000, .weight = 1};

static void declare(struct fixture *f, const char *extra_conf)
{
    jsn_set_path(&f->arena, the_set(f), "spec.extraConf", jsn_string(&f->arena, extra_conf));
}

/* Another spec, beside what cannot change. */
static void fixture_declare(struct fixture *f, const char *spec)
{
    jsn_set(&f->arena, the_set(f), "spec",
            jsn_get(json_of(&f->arena, arena_printf(&f->arena, SET, spec)), "spec"));
    set_replicas(f, 0);
}

static const char *body_of(struct fixture *f, const struct actions *list)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].verb == ACTION_NODE)
            jsn_print(&b, list->items[i].body);
    return arena_strdup(&f->arena, buf_str(&b));
}

/* Two pods that run, each with a plain record. */
static void run_two(struct fixture *f)
{
    const struct slurm_node nodes[] = {
        {"gpu-0", NODE_BASE_MIXED | DYNAMIC, NULL, true, 1, .params = &plain, .started_us = 5},
        {"gpu-1", IDLE, NULL, true, 0, .params = &plain, .started_us = 5},
    };

    run_set(f, 2, "");
    use_slurm(f, nodes, ARRAY_LEN(nodes));
    converge(f);
    assert_string_equal(reason_of(f, "NodesApplied"), "AsDeclared");
}

static void a_node_that_refuses_the_clusters_files_is_told(void **state)
{
    struct fixture f = {0};

    (void)state;
    run_two(&f);
    f.nodes[1].comment = "rack 7 [files refused: can not stat gres.conf file /dev/x] [keys 1]";
    converge(&f);
    assert_string_equal(reason_of(&f, "NodesApplied"), "FilesRefused");
    f.nodes[1].comment = "rack 7 [keys 1]";
    converge(&f);
    assert_string_equal(reason_of(&f, "NodesApplied"), "AsDeclared");
    fixture_done(&f);
}

static void features_are_given_to_nodes_whose_pods_stay(void **state)
{
    static const struct slurm_node_params h100 = {
        .features = "gpu,h100", .cpus = 4, .threads = 1, .memory = 1000, .weight = 7};
    struct fixture f = {0};
    struct actions list;

    (void)state;
    run_two(&f);
    declare(&f, "Features=h100 Weight=7");
    list = plan(&f);
    assert_string_equal(body_of(&f, &list), "{\"features\":\"gpu,h100\",\"activeFeatures\":\"gpu,"
                                            "h100\",\"weight\":7,\"action\":\"update\"}"
                                            "{\"features\":\"gpu,h100\",\"activeFeatures\":\"gpu,"
                                            "h100\",\"weight\":7,\"action\":\"update\"}");
    carry_out(&f, &list);
    expect_pods(&f, "gpu-0 gpu-1 ");
    assert_string_equal(reason_of(&f, "NodesApplied"), "Applying");
    assert_int_equal(jsn_get_int(the_set(&f), "status.updatedReplicas", -1), 0);
    /* slurmctld shows one of them. */
    f.nodes[0].params = &h100;
    list = plan(&f);
    carry_out(&f, &list);
    f.nodes[1].params = &h100;
    converge(&f);
    expect_pods(&f, "gpu-0 gpu-1 ");
    assert_string_equal(reason_of(&f, "NodesApplied"), "AsDeclared");
    assert_int_equal(jsn_get_int(the_set(&f), "status.updatedReplicas", -1), 2);
    /* slurmctld has lost the record, and slurmd brings what it was started with: no drift. */
    f.nodes[0].params = &plain;
    f.nodes[0].started_us = 6;
    list = plan(&f);
    assert_non_null(strstr(body_of(&f, &list), "gpu,h100"));
    fixture_done(&f);
}

static void what_somebody_changed_is_told_and_reverted_by_policy(void **state)
{
    static const struct slurm_node_params other = {
        .features = "gpu,mine", .cpus = 4, .threads = 1, .memory = 1000, .weight = 1};
    struct fixture f = {0};
    struct actions list;

    (void)state;
    run_two(&f);
    f.nodes[1].params = &other;
    expect_plan(&f, "status NodeSet gpu;");
    assert_string_equal(reason_of(&f, "NodesApplied"), "ChangedInSlurm");
    assert_string_equal(jsn_get_str(test_condition(the_set(&f), "Drifted"), "message"),
                        "node gpu-1: Features is gpu,mine, declared gpu");
    f.drift_policy = "Revert";
    list = plan(&f);
    assert_string_equal(body_of(&f, &list),
                        "{\"features\":\"gpu\",\"activeFeatures\":\"gpu\",\"action\":\"update\"}");
    f.nodes[1].params = &plain;
    converge(&f);
    assert_null(test_condition(the_set(&f), "Drifted"));
    fixture_done(&f);
}

static void a_record_that_lasts_is_made_again_while_no_job_runs(void **state)
{
    struct fixture f = {0};

    (void)state;
    run_two(&f);
    f.extra_conf = "GresTypes=gpu\n";
    declare(&f, "Gres=gpu:2");
    expect_plan(
        &f, "create ControllerRevision gpu-8589c96c9d;try gpu-1;drain gpu-1;status NodeSet gpu;");
    assert_string_equal(reason_of(&f, "NodesApplied"), "WaitingForIdle");
    /* It is drained; its pod goes, and the record before the next pod comes. */
    expect_plan(&f, "try gpu-1;status Pod gpu-1;delete Pod gpu-1;status NodeSet gpu;");
    f.nodes[1].state = GONE;
    f.nodes[1].reason = OURS;
    expect_plan(&f, "delete gpu-1;status NodeSet gpu;");
    assert_int_equal(f.state.n, 1);
    expect_plan(&f, "create Pod gpu-1;");
    assert_string_equal(
        jsn_text(jsn_member(jsn_get(test_find(&f.world, "Pod", "gpu-1"), "metadata.annotations"),
                            STR(ANNOTATION_RECORD_CHECKED))),
        "true");
    /* The one with a job is left alone. */
    assert_non_null(test_find(&f.world, "Pod", "gpu-0"));
    fixture_done(&f);
}

static void a_setting_that_was_taken_away_needs_another_record_too(void **state)
{
    static const struct slurm_node_params less = {
        .features = "gpu", .cpus = 4, .threads = 1, .memory = 500, .weight = 1};
    const struct slurm_node nodes[] = {
        {"gpu-0", IDLE | NODE_FLAG_DRAIN, OURS, true, 0, .params = &less},
    };
    struct fixture f = {0};

    (void)state;
    run_set(&f, 1, ",'extraConf':'RealMemory=500'");
    use_slurm(&f, nodes, ARRAY_LEN(nodes));
    declare(&f, "");
    for (int i = 0; i < 3 && f.state.n > 0; i++) {
        struct actions list = plan(&f);

        carry_out(&f, &list);
    }
    assert_int_equal(f.state.n, 0);
    fixture_done(&f);
}

/* A declaration that the machine cannot fulfil costs one new pod at most. */
static void pods_are_not_replaced_in_vain(void **state)
{
    static const struct slurm_node_params small = {
        .features = "gpu", .cpus = 4, .threads = 1, .memory = 1000, .weight = 1};
    const struct slurm_node nodes[] = {{"gpu-0", IDLE, NULL, true, 0, .params = &small}};
    struct fixture f = {0};

    (void)state;
    fixture_init(&f, ",'replicas':1,'extraConf':'CPUs=8'");
    use_slurm(&f, nodes, 0);
    converge(&f);
    run_pod(&f, "gpu-0");
    use_slurm(&f, nodes, 1);
    converge(&f);
    expect_pods(&f, "gpu-0 ");
    assert_false(f.nodes[0].state & NODE_FLAG_DRAIN);
    assert_string_equal(reason_of(&f, "NodesApplied"), "NotAsDeclared");
    fixture_done(&f);
}

/* Nobody has changed what slurmctld never took; and a pod is made again for it once it can. */
static void a_gres_that_slurmctld_does_not_know_is_no_drift(void **state)
{
    const struct slurm_node nodes[] = {{"gpu-0", IDLE, NULL, true, 0, .params = &plain}};
    struct fixture f = {0};

    (void)state;
    fixture_init(&f, ",'replicas':1,'extraConf':'Gres=shard:8,gpu:a100:2(S:0)'");
    f.extra_conf = "GresTypes=shard\n";
    use_slurm(&f, nodes, 0);
    converge(&f);
    run_pod(&f, "gpu-0");
    use_slurm(&f, nodes, 1);
    converge(&f);
    expect_pods(&f, "gpu-0 ");
    assert_string_equal(reason_of(&f, "NodesApplied"), "NotAsDeclared");
    assert_non_null(strstr(jsn_get_str(test_condition(the_set(&f), "NodesApplied"), "message"),
                           "(slurmctld leaves gpu out: GresTypes in spec.extraConf of the "
                           "Controller does not name it)"));
    assert_null(test_condition(the_set(&f), "Drifted"));
    f.extra_conf = "GresTypes=gpu,shard\n";
    expect_plan(&f, "try gpu-0;drain gpu-0;status NodeSet gpu;");
    fixture_done(&f);
}

static void a_refused_registration_is_healed_and_a_persons_drain_stays(void **state)
{
    static const struct {
        uint32_t state;
        const char *reason;
        const char *user;
        const char *plan;
    } cases[] = {
        {IDLE | NODE_FLAG_DRAIN | NODE_FLAG_INVALID_REG, LOW, "slurm", ""},
        {IDLE | NODE_FLAG_DRAIN, LOW, "slurm", "undrain gpu-0;"},
        {NODE_BASE_MIXED | DYNAMIC | NODE_FLAG_DRAIN, LOW, "slurm", "undrain gpu-0;"},
        {IDLE | NODE_FLAG_DRAIN, LOW, "root", ""},
        {IDLE | NODE_FLAG_DRAIN, "fan : " LOW, "slurm", ""},
        {IDLE | NODE_FLAG_DRAIN | NODE_FLAG_NO_RESPOND, LOW, "slurm", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct slurm_node nodes[] = {{"gpu-0", cases[i].state, cases[i].reason, true, 0,
                                            .params = &plain, .reason_user = cases[i].user}};
        AUTO(buf_done) struct buf b = {0};
        struct fixture f = {0};
        struct actions list;

        run_set(&f, 1, "");
        use_slurm(&f, nodes, 1);
        list = plan(&f);
        for (size_t k = 0; k < list.n; k++)
            if (list.items[k].verb == ACTION_NODE)
                buf_printf(&b, "%s %s;", jsn_get_str(list.items[k].body, "action"),
                           list.items[k].node);
        assert_string_equal(buf_str(&b), cases[i].plan);
        fixture_done(&f);
    }
}

static void ghosts_go_and_nobody_elses_records(void **state)
{
    static const struct slurm_node_params foreign = {.features = "mine", .threads = 1};
    static const struct {
        struct slurm_node node;
        bool goes;
    } cases[] = {
        {{"gpu-7", GONE, "Not responding", true, 0, .params = &plain, .reason_user = "slurm"},
         true},
        {{"gpu-7", IDLE | NODE_FLAG_NO_RESPOND, NULL, true, 0, .params = &plain}, true},
        {{"gpu-7", GONE, OURS, true, 0, .params = &foreign}, true},
        {{"gpu-7", GONE, LOW, true, 0, .params = &plain, .reason_user = "slurm"}, true},
        /* It answers; it has a job, or may have; it is another's; it stands in slurm.conf. */
        {{"gpu-7", IDLE, NULL, true, 0, .params = &plain}, false},
        {{"gpu-7", GONE, NULL, true, 1, .params = &plain}, false},
        {{"gpu-7", GONE, NULL, false, 0, .params = &plain}, false},
        {{"gpu-7", GONE | NODE_FLAG_COMPLETING, NULL, true, 0, .params = &plain}, false},
        {{"gpu-7", DYNAMIC | NODE_FLAG_NO_RESPOND, NULL, true, 0, .params = &plain}, false},
        {{"gpu-7", GONE, "Not responding", true, 0, .params = &foreign, .reason_user = "slurm"},
         false},
        {{"gpu-7", GONE, "Not responding", true, 0, .params = NULL, .reason_user = "slurm"}, false},
        {{"gpu-7", GONE, "broken fan", true, 0, .params = &plain, .reason_user = "ann"}, false},
        {{"gpu-7", GONE | NODE_FLAG_RESERVED, NULL, true, 0, .params = &plain}, false},
        {{"gpu-7", NODE_BASE_DOWN | NODE_FLAG_NO_RESPOND, NULL, true, 0, .params = &plain}, false},
        {{"cpu-7", GONE, NULL, true, 0, .params = &plain}, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f = {0};

        run_set(&f, 1, "");
        use_slurm(&f, &cases[i].node, 1);
        converge(&f);
        assert_int_equal(f.state.n, cases[i].goes ? 0 : 1);
        fixture_done(&f);
    }
}

/* Records under names that pods do not have any more. */
static void ghosts_of_earlier_names_go(void **state)
{
    static const struct slurm_node_params renamed = {.features = "node", .threads = 1};
    static const struct {
        const char *spec; /* as it is now */
        struct slurm_node node;
        bool goes;
    } cases[] = {
        /* another padding */
        {"", {"gpu-007", GONE, NULL, true, 0, .params = &plain}, true},
        {",'ordinalPadding':3", {"gpu-0", GONE, NULL, true, 0, .params = &plain}, true},
        /* hosts of the machines' names */
        {",'template':{'spec':{'hostNetwork':true}}",
         {"m17", GONE, NULL, true, 0, .params = &plain},
         true},
        {"", {"m17", GONE, NULL, true, 0, .params = &plain}, false},
        /* another hostname, by a revision that is remembered for it; one that nobody knows */
        {"", {"node7", GONE, NULL, true, 0, .params = &renamed}, true},
        {"", {"node7", GONE, "fan", true, 0, .params = &renamed, .reason_user = "ann"}, false},
        {"", {"other7", GONE, NULL, true, 0, .params = &renamed}, false},
        {"", {"gpu-7x", GONE, NULL, true, 0, .params = &plain}, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f = {0};

        run_set(&f, 1, ",'template':{'spec':{'hostname':'node'}}");
        use_slurm(&f, &cases[i].node, 1);
        fixture_declare(&f, cases[i].spec);
        converge(&f);
        assert_int_equal(f.state.n, cases[i].goes ? 0 : 1);
        fixture_done(&f);
    }
}

static const char *asked_again(struct fixture *f, const char *pod)
{
    return jsn_text(jsn_member(jsn_get(test_find(&f->world, "Pod", pod), "metadata.annotations"),
                               STR(ANNOTATION_REGISTER)));
}

/* slurmctld has lost one of two nodes whose pods run. */
static void a_lost_node_is_told_and_registers_again(void **state)
{
    struct fixture f = {0};

    (void)state;
    run_two(&f);
    assert_string_equal(reason_of(&f, "Ready"), "PodsReady");
    f.state.n = 1;
    converge(&f);
    assert_string_equal(reason_of(&f, "NodesApplied"), "NotRegistered");
    assert_string_equal(jsn_get_str(test_condition(the_set(&f), "Ready"), "message"),
                        "the pods are ready, but 1 of their nodes takes no jobs: gpu-1 is not "
                        "registered");
    assert_null(asked_again(&f, "gpu-0"));
    assert_string_equal(asked_again(&f, "gpu-1"), "1000000000");
    expect_pods(&f, "gpu-0 gpu-1 ");
    f.state.n = 2;
    converge(&f);
    assert_string_equal(reason_of(&f, "NodesApplied"), "AsDeclared");
    assert_string_equal(reason_of(&f, "Ready"), "PodsReady");
    /* while slurmctld does not answer, nothing is lost */
    f.state.n = 0;
    f.state.down = true;
    converge(&f);
    assert_null(asked_again(&f, "gpu-0"));
    fixture_done(&f);
}

/* What somebody took down is told at once; a node whose pod has just been made again comes up. */
static void a_node_that_is_down_is_told_from_one_that_starts(void **state)
{
    static const struct {
        uint32_t state;
        const char *reason, *expected;
    } cases[] = {
        {NODE_BASE_DOWN, "bad disk", "NodesDown"},
        {NODE_BASE_DOWN, "Not responding", "NodesDown"},
        {NODE_BASE_IDLE | NODE_FLAG_NO_RESPOND, NULL, "NodesNotServing"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f = {0};

        run_two(&f);
        f.nodes[1].state = cases[i].state | NODE_FLAG_DYNAMIC;
        f.nodes[1].reason = cases[i].reason;
        converge(&f);
        assert_string_equal(reason_of(&f, "Ready"), cases[i].expected);
        fixture_done(&f);
    }
}

/* The second time does not wait for the minute in which the first one might still be answered. */
static void a_node_that_is_lost_twice_registers_twice(void **state)
{
    struct fixture f = {0};

    (void)state;
    run_two(&f);
    f.state.n = 1;
    converge(&f);
    assert_string_equal(asked_again(&f, "gpu-1"), "1000000000");
    f.state.n = 2;
    f.later_us += 5000000;
    converge(&f);
    assert_string_equal(asked_again(&f, "gpu-1"), "1000000000");
    f.later_us += 6000000;
    converge(&f);
    assert_null(asked_again(&f, "gpu-1"));
    f.state.n = 1;
    converge(&f);
    assert_string_equal(asked_again(&f, "gpu-1"), "1011000000");
    fixture_done(&f);
}

/* A pod that is to be made finds the record of somebody else's node of that name. */
static void a_strangers_record_is_not_deleted_for_a_pod(void **state)
{
    static const struct slurm_node_params foreign = {
        .features = "mine", .cpus = 4, .threads = 1, .memory = 1000, .weight = 1};
    const struct slurm_node nodes[] = {{"gpu-0", IDLE, NULL, true, 0, .params = &foreign}};
    struct fixture f = {0};

    (void)state;
    fixture_init(&f, ",'replicas':1,'extraConf':'Gres=gpu:2'");
    f.extra_conf = "GresTypes=gpu\n";
    use_slurm(&f, nodes, 1);
    converge(&f);
    assert_int_equal(f.state.n, 1);
    expect_pods(&f, "gpu-0 ");
    fixture_done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_that_refuses_the_clusters_files_is_told),
        cmocka_unit_test(features_are_given_to_nodes_whose_pods_stay),
        cmocka_unit_test(what_somebody_changed_is_told_and_reverted_by_policy),
        cmocka_unit_test(a_record_that_lasts_is_made_again_while_no_job_runs),
        cmocka_unit_test(a_setting_that_was_taken_away_needs_another_record_too),
        cmocka_unit_test(pods_are_not_replaced_in_vain),
        cmocka_unit_test(a_gres_that_slurmctld_does_not_know_is_no_drift),
        cmocka_unit_test(a_refused_registration_is_healed_and_a_persons_drain_stays),
        cmocka_unit_test(ghosts_go_and_nobody_elses_records),
        cmocka_unit_test(ghosts_of_earlier_names_go),
        cmocka_unit_test(a_lost_node_is_told_and_registers_again),
        cmocka_unit_test(a_node_that_is_down_is_told_from_one_that_starts),
        cmocka_unit_test(a_node_that_is_lost_twice_registers_twice),
        cmocka_unit_test(a_strangers_record_is_not_deleted_for_a_pod),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
