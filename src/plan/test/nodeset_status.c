/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the NodeSet's plan: what conditions of pods and the NodeSet say. */
#include "src/plan/test/nodeset.h"

static const char *pod_condition(struct fixture *f, const char *pod, const char *type)
{
    const struct jsn *c = test_condition(test_find(&f->world, "Pod", pod), type);

    return c ? jsn_get_str(c, "message") : NULL;
}

static void pods_show_the_state_of_their_nodes(void **state)
{
    static const struct slurm_node nodes[] = {{"gpu-0", NODE_BASE_IDLE, NULL, true, 0}};
    struct fixture f = {0};

    (void)state;
    run_set(&f, 2, "");
    use_slurm(&f, nodes, 1);
    converge(&f);
    assert_string_equal(pod_condition(&f, "gpu-0", "SlurmNodeStateIdle"), "");
    assert_null(pod_condition(&f, "gpu-1", "SlurmNodeStateIdle"));
    assert_non_null(test_condition(test_find(&f.world, "Pod", "gpu-0"), "Ready"));
    f.nodes[0].state = NODE_BASE_MIXED | NODE_FLAG_DRAIN | NODE_FLAG_COMPLETING;
    f.nodes[0].reason = "disk";
    converge(&f);
    assert_null(pod_condition(&f, "gpu-0", "SlurmNodeStateIdle"));
    assert_string_equal(pod_condition(&f, "gpu-0", "SlurmNodeStateMixed"), "disk");
    assert_string_equal(pod_condition(&f, "gpu-0", "SlurmNodeStateDrain"), "disk");
    assert_string_equal(pod_condition(&f, "gpu-0", "SlurmNodeStateCompleting"), "disk");
    assert_non_null(test_condition(test_find(&f.world, "Pod", "gpu-0"), "Ready"));
    /* Not knowing is no reason to take anything back. */
    f.slurm = NULL;
    converge(&f);
    assert_string_equal(pod_condition(&f, "gpu-0", "SlurmNodeStateDrain"), "disk");
    use_slurm(&f, nodes, 0);
    converge(&f);
    assert_null(pod_condition(&f, "gpu-0", "SlurmNodeStateDrain"));
    fixture_done(&f);
}

static void refusals_and_drift_reach_their_nodeset(void **state)
{
    static const struct slurm_fault faults[] = {
        {"slurm.conf", 7, "NodeSet=gpu2 Feature=gpu2", "not mine"},
        {"slurm.conf", 9, "PartitionName=gpu Nodes=gpu QOS=x", "QOS x is not known"},
    };
    static const struct slurm_drift drift[] = {
        {"other", "State", "UP", "DOWN"},
        {"gpu", "State", "UP", "DRAIN"},
    };
    struct fixture f = {0};

    (void)state;
    run_set(&f, 0, ",'partition':{'enabled':true,'config':'MaxTime=60'}");
    f.state = (struct slurm_state){
        .drift = drift,
        .n_drift = 2,
        .applied = {.hash = "h", .result = "refused", .faults = faults, .n_faults = 2}};
    f.slurm = &f.state;
    converge(&f);
    assert_non_null(strstr(jsn_get_str(test_condition(the_set(&f), "ConfigApplied"), "message"),
                           "QOS x is not"));
    assert_string_equal(jsn_get_str(test_condition(the_set(&f), "Drifted"), "message"),
                        "partition gpu: State is DRAIN, declared UP");
    f.state = (struct slurm_state){0};
    converge(&f);
    assert_null(test_condition(the_set(&f), "ConfigApplied"));
    assert_null(test_condition(the_set(&f), "Drifted"));
    fixture_done(&f);
}

static void hindrances_are_told_once_and_what_runs_goes_on(void **state)
{
    AUTO(fixture_done) struct fixture f;
    const struct action *event;
    struct actions list;

    (void)state;
    fixture_init(&f, ",'replicas':1");
    converge(&f);
    f.no_controller = true;
    set_replicas(&f, 5);
    list = plan(&f);
    event = test_event(&list, "ControllerNotFound");
    assert_non_null(strstr(event ? event->text : "", "create it, or correct"));
    test_carry_out(&f.world, &list);
    expect_plan(&f, "");
    expect_pods(&f, "gpu-0 ");
    f.no_controller = false;
    f.twin = "older";
    list = plan(&f);
    assert_non_null(test_event(&list, "SlurmNameTaken"));
    test_carry_out(&f.world, &list);
    expect_pods(&f, "gpu-0 ");
    f.twin = NULL;
    converge(&f);
    expect_pods(&f, "gpu-0 gpu-1 gpu-2 gpu-3 gpu-4 ");
}

static void a_bad_spec_is_told(void **state)
{
    static const struct {
        const char *spec;
        const char *reason;
    } rows[] = {
        {",'partition':{'config':'MaxTime=soon'}", "Invalid"},
        {",'extraConf':'Nonsense=1'", "Invalid"},
        {",'scalingMode':'DaemonSet'", "NotSupported"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(fixture_done) struct fixture f;

        fixture_init(&f, rows[i].spec);
        expect_plan(&f, "status NodeSet gpu;");
        assert_string_equal(reason_of(&f, "Ready"), rows[i].reason);
    }
}

static void availability_is_waited_for(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct actions list;

    (void)state;
    fixture_init(&f, ",'replicas':1,'minReadySeconds':2000");
    converge(&f);
    run_pod(&f, "gpu-0"); /* ready at 1 s, it is 1000 s now */
    list = plan(&f);
    assert_int_equal(list.items[list.n - 1].verb, ACTION_REQUEUE);
    assert_int_equal(list.items[list.n - 1].at_us, 2001000000);
    test_carry_out(&f.world, &list);
    assert_int_equal(jsn_get_int(the_set(&f), "status.readyReplicas", -1), 1);
    assert_int_equal(jsn_get_int(the_set(&f), "status.availableReplicas", -1), 0);
}

static void a_feature_that_is_another_nodesets_name_is_told(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct jsn *other;

    (void)state;
    fixture_init(&f, ",'extraConf':'Features=fast,cpu'");
    other = jsn_clone(&f.arena, the_set(&f));
    jsn_set_path(&f.arena, other, "metadata.name", jsn_string(&f.arena, "cpu"));
    jsn_set_path(&f.arena, other, "spec.extraConf", jsn_string(&f.arena, ""));
    test_put(&f.world, other);
    converge(&f);
    expect_pods(&f, "");
    assert_string_equal(reason_of(&f, "Ready"), "FeatureTaken");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_feature_that_is_another_nodesets_name_is_told),
        cmocka_unit_test(pods_show_the_state_of_their_nodes),
        cmocka_unit_test(refusals_and_drift_reach_their_nodeset),
        cmocka_unit_test(hindrances_are_told_once_and_what_runs_goes_on),
        cmocka_unit_test(a_bad_spec_is_told),
        cmocka_unit_test(availability_is_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
