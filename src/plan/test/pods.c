/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of worker pods: decoding, what is free, the order of deletion. */
#include "src/base/test/unit.h"

#include "src/plan/pods.h"

static void a_pod_is_decoded_to_what_counts(void **state)
{
    static const char text[] =
        "{\"metadata\":{\"name\":\"gpu-007\",\"namespace\":\"n\",\"uid\":\"u\","
        "\"creationTimestamp\":\"2026-01-01T00:00:00Z\","
        "\"labels\":{\"controller.kubernetes.io/hash\":\"h\"},"
        "\"annotations\":{\"slinky.slurm.net/pod-cordon\":\"true\","
        "\"nodeset.slinky.slurm.net/pod-deletion-cost\":\"-5\","
        "\"nodeset.slinky.slurm.net/pod-deadline\":\"2026-01-01T01:00:00Z\"},"
        "\"ownerReferences\":[{\"uid\":\"o\",\"name\":\"gpu\",\"controller\":true}]},"
        "\"spec\":{\"hostname\":\"g-007\",\"nodeName\":\"k\"},"
        "\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\","
        "\"lastTransitionTime\":\"2026-01-01T00:00:10Z\"}]}}";
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v = NULL;
    struct plan_pod p;
    struct err e = {0};

    (void)state;
    assert_int_equal(jsn_parse(&a, str_of(text), NULL, &v, &e), 0);
    plan_pod_decode(&a, v, &p);
    assert_string_equal(p.slurm_name, "g-007");
    assert_string_equal(p.owner_name, "gpu");
    assert_string_equal(p.hash, "h");
    assert_int_equal(p.phase, POD_RUNNING);
    assert_true(p.ready && p.cordoned && !p.deleting);
    assert_int_equal(p.cost, -5);
    assert_int_equal(p.deadline_us - p.created_us, 3600LL * 1000000);
    assert_int_equal(plan_pod_ordinal(&p, "gpu"), 7);
    assert_int_equal(plan_pod_ordinal(&p, "gp"), -1);
    assert_true(plan_pod_is_available(&p, 5, p.ready_us + 5000000));
    assert_false(plan_pod_is_available(&p, 5, p.ready_us + 4999999));
}

static void a_pod_that_does_not_run_tells_why(void **state)
{
    static const struct {
        const char *status;
        const char *trouble;
    } rows[] = {
        {"\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"running\":{}}}]", NULL},
        {"\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"waiting\":{\"reason\":"
         "\"ContainerCreating\"}}}]",
         NULL},
        {"\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"waiting\":{\"reason\":"
         "\"CrashLoopBackOff\",\"message\":\"back-off\"}},\"lastState\":{\"terminated\":{"
         "\"exitCode\":128,\"message\":\"no such file\\nat all\"}}}]",
         "container c: no such file"},
        {"\"initContainerStatuses\":[{\"name\":\"i\",\"state\":{\"waiting\":{\"reason\":"
         "\"CrashLoopBackOff\"}},\"lastState\":{\"terminated\":{\"exitCode\":3}}}]",
         "container i ended with status 3; see kubectl logs p -c i -p"},
        {"\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"message\":"
         "\"Insufficient memory\"}]",
         "Insufficient memory"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *v = NULL;
        struct plan_pod p;
        const char *text =
            arena_printf(&a, "{\"metadata\":{\"name\":\"p\"},\"status\":{%s}}", rows[i].status);

        assert_int_equal(jsn_parse(&a, str_of(text), NULL, &v, NULL), 0);
        plan_pod_decode(&a, v, &p);
        if (rows[i].trouble)
            assert_string_equal(p.trouble, rows[i].trouble);
        else
            assert_null(p.trouble);
    }
}

static void a_slurmd_that_is_seen_not_to_run_has_no_jobs(void **state)
{
    static const struct {
        const char *containers;
        bool off;
    } rows[] = {
        {"", false}, /* nobody has looked yet */
        {"{\"name\":\"slurmd\",\"state\":{\"running\":{}}}", false},
        {"{\"name\":\"slurmd\",\"state\":{}}", false},
        {"{\"name\":\"slurmd\",\"state\":{\"waiting\":{\"reason\":\"ImagePullBackOff\"}}}", true},
        {"{\"name\":\"slurmd\",\"state\":{\"terminated\":{\"exitCode\":1}}}", true},
        {"{\"name\":\"other\",\"state\":{\"waiting\":{}}}", false},
        {"{\"name\":\"other\",\"state\":{\"waiting\":{}}},{\"name\":\"slurmd\",\"state\":{"
         "\"running\":{}}}",
         false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *v = NULL;
        struct plan_pod p;
        struct err e = {0};
        const char *text = arena_printf(&a,
                                        "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"nodeName\":"
                                        "\"k\"},\"status\":{\"phase\":\"Running\","
                                        "\"containerStatuses\":[%s]}}",
                                        rows[i].containers);

        assert_int_equal(jsn_parse(&a, str_of(text), NULL, &v, &e), 0);
        plan_pod_decode(&a, v, &p);
        assert_int_equal(p.off, rows[i].off);
        assert_int_equal(plan_pod_is_free(&p, NULL), rows[i].off);
    }
}

static void only_what_cannot_run_a_job_is_free(void **state)
{
    static const struct slurm_node nodes[] = {
        {"busy-drained", NODE_BASE_IDLE | NODE_FLAG_DRAIN, "", true, 1},
        {"drained", NODE_BASE_IDLE | NODE_FLAG_DRAIN, "", true, 0},
        {"draining", NODE_BASE_ALLOCATED | NODE_FLAG_DRAIN, "", true, 1},
        {"idle", NODE_BASE_IDLE, "", true, 0},
        {"unsure", NODE_BASE_IDLE | NODE_FLAG_DRAIN, "", false, 0},
    };
    static const struct slurm_state slurm = {nodes, ARRAY_LEN(nodes)};
    static const struct {
        const char *name;
        enum pod_phase phase;
        const char *on;
        bool known;
        bool without;
    } rows[] = {
        {"idle", POD_RUNNING, "k", false, false},
        {"drained", POD_RUNNING, "k", true, false},
        {"draining", POD_RUNNING, "k", false, false},
        {"busy-drained", POD_RUNNING, "k", false, false},
        {"unsure", POD_RUNNING, "k", false, false},
        {"unregistered", POD_RUNNING, "k", false, false},
        {"idle", POD_PENDING, NULL, true, true},
        {"idle", POD_PENDING, "k", false, false},
        {"idle", POD_FAILED, "k", true, true},
        {"idle", POD_UNKNOWN, "k", false, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct plan_pod p = {.name = rows[i].name,
                             .slurm_name = rows[i].name,
                             .phase = rows[i].phase,
                             .node_name = rows[i].on};

        assert_int_equal(plan_pod_is_free(&p, &slurm), rows[i].known);
        assert_int_equal(plan_pod_is_free(&p, NULL), rows[i].without);
    }
}

static void pods_go_in_a_known_order(void **state)
{
    static const struct plan_pod base = {.name = "s-5",
                                         .slurm_name = "s-5",
                                         .phase = POD_RUNNING,
                                         .ready = true,
                                         .node_name = "k",
                                         .ready_us = 100,
                                         .created_us = 50};
    struct plan_pod first[9];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(first); i++)
        first[i] = base;
    first[0].node_name = NULL;
    first[1].phase = POD_PENDING;
    first[2].ready = false;
    first[3].cost = -1;
    first[4].deadline_us = -1;
    first[5].cordoned = true;
    first[6].name = "s-6";
    first[7].ready_us = 101;
    first[8].created_us = 51;
    for (size_t i = 0; i < ARRAY_LEN(first); i++) {
        assert_true(plan_pod_deletion_order(&first[i], &base, "s", NULL, 0) < 0);
        assert_true(plan_pod_deletion_order(&base, &first[i], "s", NULL, 0) > 0);
        /* An earlier key beats a later one. */
        if (i + 1 < ARRAY_LEN(first))
            assert_true(plan_pod_deletion_order(&first[i], &first[i + 1], "s", NULL, 0) < 0);
    }
    assert_int_equal(plan_pod_deletion_order(&base, &base, "s", NULL, 0), 0);
}

/* Scaled up and at once down again: slurmctld, or what is known of it, has not heard of the last one. */
static void a_pod_that_is_about_to_register_goes_first(void **state)
{
    struct slurm_node nodes[] = {{.name = "s-0", .jobs_known = true},
                                 {.name = "s-1", .jobs_known = true}};
    struct slurm_state slurm = {.nodes = nodes, .n = 2};
    struct plan_pod old = {.name = "s-1",
                           .slurm_name = "s-1",
                           .phase = POD_RUNNING,
                           .ready = true,
                           .node_name = "k",
                           .ready_us = 1000000};
    struct plan_pod last = old;
    int64_t late_us = 5000000 + PLAN_REGISTERS_WITHIN_US;

    (void)state;
    last.name = last.slurm_name = "s-2";
    last.ready_us = 5000000;
    assert_true(plan_pod_deletion_order(&last, &old, "s", &slurm, 6000000) < 0);
    assert_true(plan_pod_deletion_order(&last, &old, "s", &slurm, late_us) > 0); /* who knows */
    nodes[1].jobs = 1;
    assert_true(plan_pod_deletion_order(&last, &old, "s", &slurm, 6000000) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_is_decoded_to_what_counts),
        cmocka_unit_test(a_pod_that_does_not_run_tells_why),
        cmocka_unit_test(a_slurmd_that_is_seen_not_to_run_has_no_jobs),
        cmocka_unit_test(only_what_cannot_run_a_job_is_free),
        cmocka_unit_test(pods_go_in_a_known_order),
        cmocka_unit_test(a_pod_that_is_about_to_register_goes_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
