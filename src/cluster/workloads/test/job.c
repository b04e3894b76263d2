/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the plan for jobs. */
#include "src/cluster/workloads/test/observed.h"

#include "src/cluster/workloads/job.h"

/* Pods from "aR bS0": name, state and, for indexed jobs, the index. */
static struct jsn *pods_of(struct arena *a, const char *text)
{
    struct jsn *list = jsn_array(a);
    struct str rest = str_of(text);
    struct str word;

    while (text[0] && str_split(&rest, ' ', &word)) {
        struct jsn *pod = json_of(
            a, arena_printf(a,
                            "{'metadata':{'name':'%c','labels':{'j':'x'},'annotations':{"
                            "'batch.kubernetes.io/job-completion-index':'%.*s'},"
                            "'creationTimestamp':'2026-01-01T09:00:00Z'," OWNED_BY("Job", "u") "}}",
                            word.p[0], (int)word.n - 2, word.p + 2));

        pod_set_state(a, pod, word.p[1]);
        jsn_append(a, list, pod);
    }
    return list;
}

static struct jsn *job_of(struct arena *a, const char *spec, const char *status)
{
    return json_of(a, arena_printf(a,
                                   "{'metadata':{'name':'j','uid':'u'},'spec':{%s,'selector':{"
                                   "'matchLabels':{'j':'x'}},'template':{'metadata':{'labels':{'j':"
                                   "'x'}},'spec':{'containers':[{'name':'c'}]}}},'status':{%s}}",
                                   spec, status));
}

static void pods_run_until_enough_have_succeeded(void **state)
{
    static const struct {
        const char *spec, *status, *pods, *want;
    } cases[] = {
        {"'completions':1,'parallelism':1", "", "", "create pods j-"},
        {"'completions':1,'parallelism':1", "", "aR", ""},
        {"'completions':3,'parallelism':2", "", "", "create pods j-; create pods j-"},
        {"'completions':3,'parallelism':2", "", "aS bS", "create pods j-"},
        {"'completions':3,'parallelism':2", "", "aS bS cS", ""},
        {"'completions':1,'parallelism':1", "", "aF", "create pods j-"},
        {"'completions':1,'parallelism':1", "", "aT", "create pods j-"},
        {"'completions':1,'parallelism':1,'backoffLimit':0", "", "aF bR", "delete pods b"},
        {"'completions':2,'parallelism':2,'suspend':true", "", "aR bP",
         "delete pods a; delete pods b"},
        {"'completions':2,'parallelism':1", "", "aR bR", "delete pods b"},
        {"'completions':1,'parallelism':1,'activeDeadlineSeconds':60",
         "'startTime':'2026-01-01T09:00:00Z'", "aR", "delete pods a"},
        {"'parallelism':2", "", "", "create pods j-; create pods j-"},
        {"'parallelism':2", "", "aS bR", ""},
        {"'completionMode':'Indexed','completions':3,'parallelism':2", "", "aS1",
         "create pods j-0-; create pods j-2-"},
        {"'completionMode':'Indexed','completions':3,'parallelism':2", "", "aR0 bF1",
         "create pods j-1-"},
        {"'completions':1,'ttlSecondsAfterFinished':60",
         "'conditions':[{'type':'Complete','status':'True','lastTransitionTime':"
         "'2026-01-01T09:00:00Z'}]",
         "", "delete jobs j"},
        {"'completions':1,'ttlSecondsAfterFinished':7200",
         "'conditions':[{'type':'Complete','status':'True','lastTransitionTime':"
         "'2026-01-01T09:00:00Z'}]",
         "", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct plan p = {.arena = &a, .now_us = NOW_US};

        job_plan(&p, job_of(&a, cases[i].spec, cases[i].status), pods_of(&a, cases[i].pods));
        if (!streq(plan_text(&p), cases[i].want))
            fail_msg("%s with %s: '%s' instead of '%s'", cases[i].spec, cases[i].pods,
                     plan_text(&p), cases[i].want);
    }
}

static void the_status_says_how_it_ended(void **state)
{
    static const struct {
        const char *spec, *pods, *type, *reason, *counts;
    } cases[] = {
        {"'completions':2,'parallelism':2", "aS bS", "Complete", NULL, "0 2 0"},
        {"'completions':2,'parallelism':2,'backoffLimit':0", "aF bR", "Failed",
         "BackoffLimitExceeded", "0 0 2"},
        {"'completions':2,'parallelism':2", "aS bR", NULL, NULL, "1 1 0"},
        {"'parallelism':2", "aS bF", "Complete", NULL, "0 1 1"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct plan p = {.arena = &a, .now_us = NOW_US};
        const struct jsn *status;
        const struct jsn *c;

        job_plan(&p, job_of(&a, cases[i].spec, ""), pods_of(&a, cases[i].pods));
        status = jsn_key(plan_object(&p, ACTION_STATUS, "jobs.batch"), "status");
        c = jsn_item(jsn_key(status, "conditions"), 0);
        assert_true(streq(jsn_get_str(c, "type"), cases[i].type));
        assert_true(streq(jsn_get_str(c, "reason"), cases[i].reason));
        assert_string_equal(arena_printf(&a, "%lld %lld %lld",
                                         (long long)jsn_get_int(status, "active", 0),
                                         (long long)jsn_get_int(status, "succeeded", 0),
                                         (long long)jsn_get_int(status, "failed", 0)),
                            cases[i].counts);
    }
}

static void a_pod_of_an_indexed_job_knows_its_index(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan p = {.arena = &a, .now_us = NOW_US};
    const struct jsn *pod;

    (void)state;
    job_plan(&p, job_of(&a, "'completionMode':'Indexed','completions':6,'parallelism':1", ""),
             pods_of(&a, "aS0 bS1 cS3 dS4 eS5"));
    pod = plan_object(&p, ACTION_CREATE, "pods");
    assert_string_equal(jsn_get_str(pod, "spec.hostname"), "j-2");
    assert_string_equal(print(&a, jsn_key(jsn_item(jsn_get(pod, "spec.containers"), 0), "env")),
                        "[{\"name\":\"JOB_COMPLETION_INDEX\",\"value\":\"2\"}]");
    assert_string_equal(
        jsn_get_str(plan_object(&p, ACTION_STATUS, "jobs.batch"), "status.completedIndexes"),
        "0,1,3-5");
}

static void after_a_failure_the_next_pod_waits(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan p = {.arena = &a, .now_us = NOW_US};
    struct jsn *pods = pods_of(&a, "aF");

    (void)state;
    jsn_set_path(&a, jsn_item(pods, 0), "status.containerStatuses",
                 json_of(&a, "[{'state':{'terminated':{'finishedAt':'2026-01-01T09:59:59Z'}}}]"));
    job_plan(&p, job_of(&a, "'completions':1,'parallelism':1", ""), pods);
    assert_string_equal(plan_text(&p), "");
    assert_int_equal(p.again_ms, 1001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_run_until_enough_have_succeeded),
        cmocka_unit_test(the_status_says_how_it_ended),
        cmocka_unit_test(a_pod_of_an_indexed_job_knows_its_index),
        cmocka_unit_test(after_a_failure_the_next_pod_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
