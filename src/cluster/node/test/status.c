/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the status that the API shows. */
#include "src/cluster/node/test/parse.h"

#include "src/cluster/node/pods/prober.h"
#include "src/cluster/node/pods/status.h"

#define SECOND INT64_C(1000000)
#define T0 (INT64_C(1767952800) * SECOND) /* 2026-01-09T10:00:00Z */

static struct jsn *build(struct arena *a, const struct pod_spec *p, const struct pod_info *info,
                         const struct ctr_info *ctrs, const char *old)
{
    return status_build(a, p, info, ctrs, old ? json_of(a, old) : NULL);
}

static const char *condition(const struct jsn *status, const char *type, const char *key)
{
    JSN_FOR_ITEMS (c, jsn_key(status, "conditions"))
        if (streq(jsn_get_str(c, "type"), type))
            return jsn_get_str(c, key);
    return NULL;
}

static void a_running_pod_is_ready(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct pod_spec *p = pod_of(&a, "{'containers':[{'name':'c','image':'i:1'}]}");
    struct ctr_info c = {
        .phase = CTR_UP, .ready = true, .started = true, .started_us = T0, .id = "abc"};
    struct pod_info info = {.initialized = true,
                            .sandbox = true,
                            .ip = "10.131.0.2",
                            .host_ip = "192.0.2.1",
                            .start_us = T0,
                            .now_us = T0 + SECOND};
    struct jsn *s = build(&a, p, &info, &c, NULL);
    const struct jsn *one = jsn_item(jsn_key(s, "containerStatuses"), 0);

    (void)state;
    assert_string_equal(jsn_get_str(s, "phase"), "Running");
    assert_string_equal(jsn_get_str(s, "podIP"), "10.131.0.2");
    assert_string_equal(condition(s, "Ready", "status"), "True");
    assert_string_equal(condition(s, "Ready", "lastTransitionTime"), "2026-01-09T10:00:01Z");
    assert_string_equal(jsn_get_str(one, "containerID"), "slurmkeeper://abc");
    assert_string_equal(jsn_get_str(one, "state.running.startedAt"), "2026-01-09T10:00:00Z");
    assert_true(jsn_get_bool(one, "ready", false));
}

static void what_stays_the_same_keeps_its_time(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct pod_spec *p = pod_of(&a, "{'containers':[{'name':'c'}]}");
    struct ctr_info c = {.phase = CTR_UP, .ready = true};
    struct pod_info info = {.initialized = true, .now_us = T0 + 60 * SECOND};
    struct jsn *s = build(&a, p, &info, &c,
                          "{'conditions':[{'type':'Ready','status':'True',"
                          "'lastTransitionTime':'2026-01-09T09:00:00Z'},{'type':'Initialized',"
                          "'status':'False','lastTransitionTime':'2026-01-09T09:00:00Z'}]}");

    (void)state;
    assert_string_equal(condition(s, "Ready", "lastTransitionTime"), "2026-01-09T09:00:00Z");
    assert_string_equal(condition(s, "Initialized", "lastTransitionTime"), "2026-01-09T10:01:00Z");
}

static void unready_containers_are_named(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct pod_spec *p =
        pod_of(&a, "{'initContainers':[{'name':'i'}],'containers':[{'name':'c'},{'name':'d'}]}");
    struct ctr_info c[3] = {{.phase = CTR_UP}, {.phase = CTR_IDLE}, {.phase = CTR_IDLE}};
    struct pod_info info = {.now_us = T0};
    struct jsn *s = build(&a, p, &info, c, NULL);
    const struct jsn *main = jsn_key(s, "containerStatuses");

    (void)state;
    assert_string_equal(jsn_get_str(s, "phase"), "Pending");
    assert_string_equal(condition(s, "Initialized", "reason"), "ContainersNotInitialized");
    assert_string_equal(condition(s, "Initialized", "message"),
                        "containers with incomplete status: [i]");
    assert_string_equal(condition(s, "Ready", "message"), "containers with unready status: [c d]");
    assert_string_equal(jsn_get_str(jsn_item(main, 0), "state.waiting.reason"), "PodInitializing");
}

static void a_container_between_runs_shows_both(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct pod_spec *p = pod_of(&a, "{'containers':[{'name':'c'}]}");
    struct ctr_info c = {.phase = CTR_DOWN,
                         .restarts = 3,
                         .id = "x",
                         .end = {.set = true,
                                 .exit_code = 137,
                                 .signal = 9,
                                 .reason = "OOMKilled",
                                 .started_us = T0,
                                 .finished_us = T0 + SECOND,
                                 .id = "x"},
                         .waiting_reason = "CrashLoopBackOff",
                         .waiting_message = "back-off 40s"};
    struct pod_info info = {.initialized = true, .now_us = T0};
    struct jsn *s = build(&a, p, &info, &c, NULL);
    const struct jsn *one = jsn_item(jsn_key(s, "containerStatuses"), 0);

    (void)state;
    assert_string_equal(jsn_get_str(s, "phase"), "Running");
    assert_string_equal(jsn_get_str(one, "state.waiting.reason"), "CrashLoopBackOff");
    assert_string_equal(jsn_get_str(one, "lastState.terminated.reason"), "OOMKilled");
    assert_int_equal(jsn_get_int(one, "lastState.terminated.signal", 0), 9);
    assert_int_equal(jsn_get_int(one, "restartCount", 0), 3);
}

static void an_ended_pod_says_how(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct pod_spec *p = pod_of(&a, "{'containers':[{'name':'c'}],'restartPolicy':'Never'}");
    struct ctr_info c = {.phase = CTR_DOWN, .end = {.set = true, .reason = "Completed"}};
    struct pod_info info = {.initialized = true, .outcome = POD_SUCCEEDED, .now_us = T0};
    struct jsn *s = build(&a, p, &info, &c, NULL);

    (void)state;
    assert_string_equal(jsn_get_str(s, "phase"), "Succeeded");
    assert_string_equal(condition(s, "Ready", "status"), "False");
    assert_string_equal(condition(s, "Ready", "reason"), "PodCompleted");
    info.outcome = POD_FAILED;
    info.reason = "DeadlineExceeded";
    s = build(&a, p, &info, &c, NULL);
    assert_string_equal(jsn_get_str(s, "phase"), "Failed");
    assert_string_equal(jsn_get_str(s, "reason"), "DeadlineExceeded");
    assert_string_equal(condition(s, "Ready", "reason"), "PodFailed");
}

static void readiness_gates_hold_the_pod_back(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct pod_spec *p =
        pod_of(&a, "{'containers':[{'name':'c'}],'readinessGates':[{'conditionType':'x/y'}]}");
    struct ctr_info c = {.phase = CTR_UP, .ready = true};
    struct pod_info info = {.initialized = true, .now_us = T0};
    struct jsn *s = build(&a, p, &info, &c, NULL);

    (void)state;
    assert_string_equal(condition(s, "Ready", "reason"), "ReadinessGatesNotReady");
    assert_string_equal(condition(s, "ContainersReady", "status"), "True");
    s = build(&a, p, &info, &c, "{'conditions':[{'type':'x/y','status':'True'}]}");
    assert_string_equal(condition(s, "Ready", "status"), "True");
}

static void answers_of_probes_are_counted_in_rows(void **state)
{
    struct probe_spec p = {.successes = 2, .failures = 3};
    struct probe_tally t = {0};
    static const struct {
        bool ok;
        enum probe_verdict verdict;
    } rows[] = {{true, PROBE_UNDECIDED},  {true, PROBE_GOOD},      {false, PROBE_UNDECIDED},
                {false, PROBE_UNDECIDED}, {true, PROBE_UNDECIDED}, {false, PROBE_UNDECIDED},
                {false, PROBE_UNDECIDED}, {false, PROBE_BAD},      {false, PROBE_BAD},
                {true, PROBE_UNDECIDED},  {true, PROBE_GOOD}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(probe_note(&t, &p, rows[i].ok), rows[i].verdict);
}

static void quality_of_service_follows_requests_and_limits(void **state)
{
    static const struct {
        const char *resources;
        const char *qos;
    } cases[] = {
        {"{}", "BestEffort"},
        {"{'requests':{'cpu':'0'}}", "BestEffort"},
        {"{'requests':{'cpu':'1'}}", "Burstable"},
        {"{'limits':{'cpu':'1','memory':'1Gi'}}", "Guaranteed"},
        {"{'limits':{'cpu':'1','memory':'1Gi'},'requests':{'cpu':'1000m','memory':'1024Mi'}}",
         "Guaranteed"},
        {"{'limits':{'cpu':'1','memory':'1Gi'},'requests':{'cpu':'500m'}}", "Burstable"},
        {"{'limits':{'memory':'1Gi'}}", "Burstable"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct pod_spec *p =
            pod_of(&a, arena_printf(&a, "{'containers':[{'name':'c','resources':%s}]}",
                                    cases[i].resources));

        assert_string_equal(pod_spec_qos(p), cases[i].qos);
    }
}

static void host_names_are_cut_to_what_hosts_may_have(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct pod_spec *p = NULL;
    const char *text = "{'metadata':{'namespace':'n','uid':'u','name':"
                       "'a23456789b123456789c123456789d123456789e123456789f123456789g12--x'},"
                       "'spec':{'containers':[]}}";

    (void)state;
    assert_int_equal(pod_spec_decode(&a, json_of(&a, text), &p, NULL), 0);
    assert_string_equal(p->host_name,
                        "a23456789b123456789c123456789d123456789e123456789f123456789g12");
    assert_int_equal(pod_spec_decode(&a, json_of(&a, "{'metadata':{'name':'x'}}"), &p, NULL),
                     -EINVAL);
    text = "{'metadata':{'namespace':'n','uid':'../u','name':'x'}}";
    assert_int_equal(pod_spec_decode(&a, json_of(&a, text), &p, NULL), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_running_pod_is_ready),
        cmocka_unit_test(what_stays_the_same_keeps_its_time),
        cmocka_unit_test(unready_containers_are_named),
        cmocka_unit_test(a_container_between_runs_shows_both),
        cmocka_unit_test(an_ended_pod_says_how),
        cmocka_unit_test(readiness_gates_hold_the_pod_back),
        cmocka_unit_test(answers_of_probes_are_counted_in_rows),
        cmocka_unit_test(quality_of_service_follows_requests_and_limits),
        cmocka_unit_test(host_names_are_cut_to_what_hosts_may_have),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
