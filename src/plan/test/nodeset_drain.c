/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the NodeSet's plan: nodes are drained before their pods go, and let back. */
#include "src/plan/test/nodeset.h"

#include "src/build/labels.h"

static void nodes_are_drained_before_their_pods_go(void **state)
{
    static const struct slurm_node nodes[] = {
        {"gpu-0", NODE_BASE_IDLE | NODE_FLAG_DRAIN, "broken disk", true, 0},
        {"gpu-1", NODE_BASE_IDLE, NULL, true, 0},
        {"gpu-2", NODE_BASE_MIXED, NULL, true, 1, .busy_until_us = 5000000},
    };
    struct fixture f = {0};

    (void)state;
    run_set(&f, 3, "");
    use_slurm(&f, nodes, ARRAY_LEN(nodes));
    converge(&f);
    assert_int_equal(jsn_get_int(the_set(&f), "status.slurmIdle", -1), 2);
    assert_int_equal(jsn_get_int(the_set(&f), "status.slurmAllocated", -1), 1);
    assert_int_equal(jsn_get_int(the_set(&f), "status.slurmDrain", -1), 1);
    set_replicas(&f, 0);
    expect_plan(&f, "drain gpu-1;drain gpu-2;delete Pod gpu-0;status NodeSet gpu;");
    assert_string_equal(f.nodes[1].reason,
                        "slurmkeeper: Pod (slurm/gpu-1) is pending termination for scale-in");
    converge(&f);
    expect_pods(&f, "gpu-2 ");
    assert_string_equal(reason_of(&f, "ScaledDown"), "WaitingForDrain");
    /* Its job ends. */
    f.nodes[2].state = NODE_BASE_IDLE | NODE_FLAG_DRAIN;
    f.nodes[2].jobs = 0;
    /* Its node stays drained: no job may start there while its pod ends. */
    expect_plan(&f, "delete Pod gpu-2;status NodeSet gpu;");
    converge(&f);
    expect_pods(&f, "");
    fixture_done(&f);
}

static void what_was_asked_for_is_not_asked_for_again(void **state)
{
    static const struct slurm_node nodes[] = {
        {"gpu-0", NODE_BASE_MIXED, NULL, true, 1},
        {"gpu-1", NODE_BASE_IDLE, NULL, true, 0},
    };
    static const struct slurm_asked asked[] = {{"gpu-1", "drain"}};
    struct fixture f = {0};

    (void)state;
    run_set(&f, 2, "");
    use_slurm(&f, nodes, ARRAY_LEN(nodes));
    converge(&f);
    f.state.asked = asked;
    f.state.n_asked = 1;
    set_replicas(&f, 0);
    /* And its pod does not go: a drain that was asked for is not one that has happened. */
    expect_plan(&f, "drain gpu-0;status NodeSet gpu;");
    fixture_done(&f);
}

static void what_may_stay_after_all_is_let_back(void **state)
{
    static const struct slurm_node nodes[] = {
        {"gpu-0", NODE_BASE_MIXED, NULL, true, 1},
        {"gpu-1", NODE_BASE_MIXED, NULL, true, 1},
        {"gpu-2", NODE_BASE_MIXED | NODE_FLAG_DRAIN, "somebody else", true, 1},
    };
    struct fixture f = {0};

    (void)state;
    run_set(&f, 3, "");
    use_slurm(&f, nodes, ARRAY_LEN(nodes));
    converge(&f);
    set_replicas(&f, 1);
    converge(&f);
    assert_true(f.nodes[1].state & NODE_FLAG_DRAIN);
    assert_false(f.nodes[0].state & NODE_FLAG_DRAIN);
    set_replicas(&f, 3);
    converge(&f);
    assert_false(f.nodes[1].state & NODE_FLAG_DRAIN);
    assert_true(f.nodes[2].state & NODE_FLAG_DRAIN); /* not ours */
    assert_string_equal(f.nodes[2].reason, "somebody else");
    expect_pods(&f, "gpu-0 gpu-1 gpu-2 ");
    fixture_done(&f);
}

static void the_choice_follows_the_idle_but_not_the_busy(void **state)
{
    static const struct slurm_node nodes[] = {
        {"gpu-0", NODE_BASE_MIXED, NULL, true, 1, .busy_until_us = 9000000},
        {"gpu-1", NODE_BASE_MIXED, NULL, true, 1, .busy_until_us = 5000000},
    };
    struct fixture f = {0};

    (void)state;
    run_set(&f, 2, "");
    use_slurm(&f, nodes, ARRAY_LEN(nodes));
    converge(&f);
    set_replicas(&f, 1);
    converge(&f);
    assert_true(f.nodes[1].state & NODE_FLAG_DRAIN);
    f.nodes[1].busy_until_us = 20000000; /* later than the other's now */
    converge(&f);
    assert_true(f.nodes[1].state & NODE_FLAG_DRAIN);
    assert_false(f.nodes[0].state & NODE_FLAG_DRAIN);
    /* The other one's job ends: it can go at once. */
    f.nodes[0].state = NODE_BASE_IDLE;
    f.nodes[0].jobs = 0;
    converge(&f);
    expect_pods(&f, "gpu-1 ");
    assert_false(f.nodes[1].state & NODE_FLAG_DRAIN);
    fixture_done(&f);
}

static void nodes_are_let_back_only_where_that_is_ours_to_do(void **state)
{
    enum { READY = 1, CORDONED = 2 };
    static const struct {
        uint32_t state;
        const char *reason;
        int flags;
        const char *call;
    } rows[] = {
        {NODE_BASE_IDLE, NULL, READY, ""},
        {NODE_BASE_IDLE, NULL, READY | CORDONED, "drain gpu-0;"},
        {NODE_BASE_ALLOCATED, NULL, READY | CORDONED, "drain gpu-0;"},
        {NODE_BASE_IDLE | NODE_FLAG_DRAIN, "disk", READY, ""},
        {NODE_BASE_IDLE | NODE_FLAG_DRAIN, "disk", READY | CORDONED, ""},
        {NODE_BASE_IDLE | NODE_FLAG_DRAIN, "slurmkeeper: Pod (slurm/gpu-0) was cordoned", READY,
         "undrain gpu-0;"},
        {NODE_BASE_IDLE | NODE_FLAG_DRAIN, "slurmkeeper: Pod (slurm/gpu-0) was cordoned",
         READY | CORDONED, ""},
        {NODE_BASE_IDLE | NODE_FLAG_DRAIN, "slurm-operator: Pod (slurm/gpu-0) was cordoned", 0,
         "undrain gpu-0;"},
        {NODE_BASE_IDLE | NODE_FLAG_DRAIN, "slurmkeeper: repair", READY, ""},
        {NODE_BASE_IDLE | NODE_FLAG_DRAIN | NODE_FLAG_UNDRAIN, "slurmkeeper: Pod x", READY, ""},
        {NODE_BASE_DOWN, "slurmkeeper: Pod is terminating", READY, "resume gpu-0;"},
        {NODE_BASE_DOWN | NODE_FLAG_DRAIN, "slurmkeeper: Pod is terminating", READY,
         "resume gpu-0;"},
        {NODE_BASE_DOWN, "slurm-operator: Pod is terminating", READY, "resume gpu-0;"},
        {NODE_BASE_DOWN, "slurmkeeper: Pod is terminating", 0, ""},
        {NODE_BASE_DOWN | NODE_FLAG_NO_RESPOND, "slurmkeeper: Pod is terminating", READY, ""},
        {NODE_BASE_DOWN, "Not responding", READY, ""},
        {NODE_BASE_DOWN, NULL, READY, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct slurm_node node = {"gpu-0", rows[i].state, rows[i].reason, true, 0};
        AUTO(buf_done) struct buf b = {0};
        struct fixture f = {0};
        struct jsn *pod;

        run_set(&f, 1, "");
        pod = test_find(&f.world, "Pod", "gpu-0");
        if (!(rows[i].flags & READY))
            jsn_set_path(&f.arena, pod, "status.conditions", jsn_array(&f.arena));
        if (rows[i].flags & CORDONED)
            jsn_set_member(&f.arena,
                           jsn_ensure_object(&f.arena, jsn_key(pod, "metadata"), "annotations"),
                           STR(POD_CORDON), jsn_string(&f.arena, "true"));
        use_slurm(&f, &node, 1);
        for (int round = 0; round < 2; round++) {
            struct actions list = plan(&f);

            for (size_t k = 0; k < list.n; k++)
                if (list.items[k].verb == ACTION_NODE)
                    buf_printf(&b, "%s %s;", jsn_get_str(list.items[k].body, "action"),
                               list.items[k].node);
            carry_out(&f, &list);
        }
        if (!streq(buf_str(&b), rows[i].call))
            fail_msg("row %zu: '%s' and not '%s'", i, buf_str(&b), rows[i].call);
        fixture_done(&f);
    }
}

static void records_of_nodes_go_with_their_pods(void **state)
{
    static const uint32_t gone = NODE_BASE_DOWN | NODE_FLAG_DYNAMIC | NODE_FLAG_NO_RESPOND;
    static const uint32_t drained = NODE_BASE_IDLE | NODE_FLAG_DRAIN | NODE_FLAG_DYNAMIC;
    static const char ours[] = "slurmkeeper: Pod is terminating";
    static const struct {
        struct slurm_node node;
        const char *call;
    } rows[] = {
        {{"gpu-1", gone, ours, true, 0}, "delete gpu-1;"},
        {{"gpu-1", gone, "slurm-operator: Pod is terminating", true, 0}, "delete gpu-1;"},
        {{"gpu-7", drained, "slurmkeeper: Pod (slurm/gpu-7) is pending", true, 0}, "delete gpu-7;"},
        {{"gpu-0", gone, ours, true, 0}, ""},                /* has a pod */
        {{"gpu-01", gone, ours, true, 0}, "delete gpu-01;"}, /* by another padding */
        {{"other-1", gone, ours, true, 0}, ""},              /* of another NodeSet */
        {{"gpu-", gone, ours, true, 0}, ""},
        {{"gpu-1", gone, "disk", true, 0}, ""},
        {{"gpu-1", gone, NULL, true, 0}, ""},
        {{"gpu-1", gone, ours, true, 1}, ""},
        {{"gpu-1", gone, ours, false, 0}, ""},
        {{"gpu-1", drained | NODE_FLAG_COMPLETING, ours, true, 0}, ""},
        {{"gpu-1", gone | NODE_FLAG_RESERVED, ours, true, 0}, ""},
        {{"gpu-1", gone & ~(uint32_t)NODE_FLAG_DYNAMIC, ours, true, 0}, ""},
        {{"gpu-1", NODE_BASE_IDLE | NODE_FLAG_DYNAMIC, ours, true, 0}, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(buf_done) struct buf b = {0};
        struct fixture f = {0};
        struct actions list;

        run_set(&f, 1, "");
        converge(&f);
        use_slurm(&f, &rows[i].node, 1);
        list = plan(&f);
        for (size_t k = 0; k < list.n; k++)
            if (list.items[k].verb == ACTION_NODE &&
                streq(jsn_get_str(list.items[k].body, "action"), "delete"))
                buf_printf(&b, "delete %s;", list.items[k].node);
        if (!streq(buf_str(&b), rows[i].call))
            fail_msg("row %zu: '%s' and not '%s'", i, buf_str(&b), rows[i].call);
        fixture_done(&f);
    }
}

static void a_record_is_kept_for_a_pod_that_is_made_anew(void **state)
{
    static const struct slurm_node nodes[] = {
        {"gpu-0", NODE_BASE_IDLE | NODE_FLAG_DYNAMIC, NULL, true, 0},
        {"gpu-1", NODE_BASE_DOWN | NODE_FLAG_DYNAMIC, "slurmkeeper: Pod is terminating", true, 0},
    };
    struct fixture f = {0};

    (void)state;
    run_set(&f, 2, "");
    use_slurm(&f, nodes, ARRAY_LEN(nodes));
    test_drop(&f.world, "Pod", "gpu-1");
    converge(&f);
    expect_pods(&f, "gpu-0 gpu-1 ");
    assert_int_equal(f.state.n, 2);
    set_replicas(&f, 1);
    test_drop(&f.world, "Pod", "gpu-1");
    converge(&f);
    assert_int_equal(f.state.n, 1);
    fixture_done(&f);
}

static void a_slurmctld_that_is_down_changes_nothing(void **state)
{
    struct fixture f = {0};

    (void)state;
    run_set(&f, 2, "");
    f.state = (struct slurm_state){.down = true};
    f.slurm = &f.state;
    converge(&f);
    set_replicas(&f, 0);
    converge(&f);
    expect_pods(&f, "gpu-0 gpu-1 ");
    assert_string_equal(reason_of(&f, "ScaledDown"), "SlurmStateUnknown");
    fixture_done(&f);
}

static void busy_pods_are_protected(void **state)
{
    static const struct slurm_node busy[] = {{"gpu-0", NODE_BASE_ALLOCATED, "", true, 1}};
    static const struct slurm_node idle[] = {{"gpu-0", NODE_BASE_IDLE, "", true, 0}};
    static const struct slurm_state at_work = {busy, 1};
    static const struct slurm_state at_rest = {idle, 1};
    AUTO(fixture_done) struct fixture f;
    const struct jsn *labels;

    (void)state;
    fixture_init(&f, "");
    converge(&f);
    run_pod(&f, "gpu-0");
    f.slurm = &at_work;
    converge(&f);
    labels = jsn_get(test_find(&f.world, "Pod", "gpu-0"), "metadata.labels");
    assert_string_equal(jsn_text(jsn_member(labels, STR(LABEL_POD_PROTECT))), "true");
    f.slurm = NULL;
    expect_plan(&f, "status NodeSet gpu;");
    f.slurm = &at_rest;
    converge(&f);
    labels = jsn_get(test_find(&f.world, "Pod", "gpu-0"), "metadata.labels");
    assert_null(jsn_member(labels, STR(LABEL_POD_PROTECT)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_drained_before_their_pods_go),
        cmocka_unit_test(what_may_stay_after_all_is_let_back),
        cmocka_unit_test(the_choice_follows_the_idle_but_not_the_busy),
        cmocka_unit_test(what_was_asked_for_is_not_asked_for_again),
        cmocka_unit_test(nodes_are_let_back_only_where_that_is_ours_to_do),
        cmocka_unit_test(records_of_nodes_go_with_their_pods),
        cmocka_unit_test(a_record_is_kept_for_a_pod_that_is_made_anew),
        cmocka_unit_test(a_slurmctld_that_is_down_changes_nothing),
        cmocka_unit_test(busy_pods_are_protected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
