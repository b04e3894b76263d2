/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of deployments, stateful sets, daemon sets, jobs, cron jobs, and of selectors. */
#include "src/cluster/apiserver/kinds/test/kind.h"

#include "src/cluster/apiserver/kinds/cron.h"
#include "src/cluster/apiserver/kinds/labelselector.h"

DEFINE_WORLD

#define TEMPLATE                                                                                   \
    "{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'x'}]}}"
#define WORKLOAD(inner)                                                                            \
    "{'metadata':{'name':'w'},'spec':{'selector':{'matchLabels':{'a':'b'}},'template':" TEMPLATE   \
    "," inner "}}"
#define SELECTED(selector)                                                                         \
    "{'metadata':{'name':'w'},'spec':{'selector':" selector ",'template':" TEMPLATE "}}"
#define JOB(inner)                                                                                 \
    "{'metadata':{'name':'j','uid':'u'},'spec':{'template':{'spec':{'restartPolicy':'Never',"      \
    "'containers':[{'name':'c','image':'x'}]}}" inner "}}"

static struct jsn *with_defaults(struct kind_test *t, const char *text)
{
    struct jsn *o = json_of(&t->c.arena, text);

    shape_default(&t->c, o);
    return o;
}

static void strategies_are_filled_in(void **state)
{
    static const struct {
        const char *resource, *piece, *path, *want;
    } cases[] = {
        {"deployments.apps", "'paused':false", "spec.strategy",
         "{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':'25%','maxSurge':'25%'}}"},
        {"deployments.apps", "'strategy':{'type':'Recreate'}", "spec.strategy",
         "{'type':'Recreate'}"},
        {"deployments.apps", "'strategy':{'rollingUpdate':{'maxSurge':0}}", "spec.strategy",
         "{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':'25%','maxSurge':0}}"},
        {"statefulsets.apps", "'serviceName':'s'", "spec.updateStrategy",
         "{'type':'RollingUpdate','rollingUpdate':{'partition':0}}"},
        {"statefulsets.apps", "'updateStrategy':{'type':'OnDelete'}", "spec.updateStrategy",
         "{'type':'OnDelete'}"},
        {"daemonsets.apps", "'minReadySeconds':0", "spec.updateStrategy",
         "{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':1,'maxSurge':0}}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(kind_done) struct kind_test t;
        struct jsn *o, *got, *want;

        kind_init(&t, cases[i].resource);
        o = with_defaults(&t, arena_printf(&t.c.arena, WORKLOAD("%s"), cases[i].piece));
        got = jsn_get(o, cases[i].path);
        want = json_of(&t.c.arena, cases[i].want);
        if (!jsn_equal(got, want))
            fail_msg("%s: %s", cases[i].resource, text_of(&t.c.arena, got));
    }
}

static void claim_templates_are_whole_objects(void **state)
{
    AUTO(kind_done) struct kind_test t;
    const struct jsn *claim;

    (void)state;
    kind_init(&t, "statefulsets.apps");
    claim = jsn_item(jsn_get(with_defaults(&t, WORKLOAD("'volumeClaimTemplates':[{'metadata':"
                                                        "{'name':'d'},'spec':{}}]")),
                             "spec.volumeClaimTemplates"),
                     0);
    assert_string_equal(jsn_get_str(claim, "kind"), "PersistentVolumeClaim");
    assert_string_equal(jsn_get_str(claim, "apiVersion"), "v1");
    assert_string_equal(jsn_get_str(claim, "spec.volumeMode"), "Filesystem");
    assert_string_equal(jsn_get_str(claim, "status.phase"), "Pending");
}

#define NO_FIT                                                                                     \
    "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` "                     \
    "does not match template `labels`"

static void selectors_must_fit_the_template(void **state)
{
    static const struct {
        const char *resource, *text, *want;
    } cases[] = {
        {"deployments.apps", SELECTED("{'matchLabels':{'a':'b'}}"), ""},
        {"deployments.apps", SELECTED("null"), "spec.selector: Required value\n" NO_FIT},
        {"deployments.apps", SELECTED("{'matchLabels':{'c':'d'}}"), NO_FIT},
        {"deployments.apps", SELECTED("{}"),
         "spec.selector: Invalid value: {}: empty selector is invalid for deployment"},
        {"statefulsets.apps", SELECTED("{'matchLabels':{'c':'d'}}"), NO_FIT},
        {"daemonsets.apps", SELECTED("null"), NO_FIT},
        {"replicasets.apps",
         SELECTED("{'matchExpressions':[{'key':'a','operator':'In','values':['b','c']}]}"), ""},
        {"replicasets.apps", SELECTED("{'matchExpressions':[{'key':'a','operator':'Foo'}]}"),
         "spec.selector.matchExpressions[0].operator: Invalid value: \"Foo\": not a valid selector "
         "operator\nspec.selector: Invalid value: {\"matchExpressions\":[{\"key\":"
         "\"a\",\"operator\":\"Foo\"}]}: invalid label selector"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(kind_done) struct kind_test t;

        kind_init(&t, cases[i].resource);
        assert_string_equal(faults_of(&t, cases[i].text), cases[i].want);
    }
}

static void what_is_wrong_in_a_deployment_is_said(void **state)
{
    static const struct fault_case cases[] = {
        {"'replicas':-1", "spec.replicas: Invalid value: -1: must be greater than or equal to 0"},
        {"'progressDeadlineSeconds':5,'minReadySeconds':5",
         "spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds"},
        {"'strategy':{'type':'Recreate','rollingUpdate':{}}",
         "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is "
         "'Recreate'"},
        {"'strategy':{'rollingUpdate':{'maxSurge':0,'maxUnavailable':'0%'}}",
         "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "
         "\"0%\": may not be 0 when `maxSurge` is 0"},
        {"'strategy':{'rollingUpdate':{'maxUnavailable':'110%'}}",
         "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "
         "\"110%\": must not be greater than 100%"},
    };

    (void)state;
    check_faults("deployments.apps", WORKLOAD("%s"), cases, ARRAY_LEN(cases));
}

static void templates_are_looked_into(void **state)
{
    AUTO(kind_done) struct kind_test t;

    (void)state;
    kind_init(&t, "deployments.apps");
    assert_string_equal(
        faults_of(&t, "{'metadata':{'name':'w'},'spec':{'selector':{'matchLabels':{'a':'b'}},"
                      "'template':{'metadata':{'labels':{'a':'b'}},'spec':{'restartPolicy':"
                      "'Never','activeDeadlineSeconds':5,'containers':[{'name':'c'}]}}}}"),
        "spec.template.spec.containers[0].image: Required value\n"
        "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: "
        "\"Always\"\n"
        "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet "
        "is not Supported");
}

static void what_may_not_change_is_refused(void **state)
{
    static const struct {
        const char *resource, *old, *new, *want;
    } cases[] = {
        {"deployments.apps", WORKLOAD("'replicas':1"), WORKLOAD("'replicas':2"), ""},
        {"deployments.apps", SELECTED("{'matchLabels':{'a':'b'}}"),
         SELECTED("{'matchLabels':{'c':'d'}}"),
         "spec.selector: Invalid value: {\"matchLabels\":{\"c\":\"d\"}}: field is immutable"},
        {"statefulsets.apps", WORKLOAD("'serviceName':'a','replicas':1"),
         WORKLOAD("'serviceName':'a','replicas':5,'minReadySeconds':3"), ""},
        {"statefulsets.apps", WORKLOAD("'serviceName':'a'"), WORKLOAD("'serviceName':'b'"),
         "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', "
         "'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and "
         "'minReadySeconds' are forbidden"},
        {"jobs.batch", JOB(",'parallelism':1,'completions':1"),
         JOB(",'parallelism':4,'completions':1"), ""},
        {"jobs.batch", JOB(",'completions':1"), JOB(",'completions':2"),
         "spec.completions: Invalid value: 2: field is immutable"},
        {"controllerrevisions.apps", "{'data':{'a':1},'revision':1}",
         "{'data':{'a':1},'revision':2}", ""},
        {"controllerrevisions.apps", "{'data':{'a':1},'revision':1}",
         "{'data':{'a':2},'revision':1}", "data: Invalid value: {\"a\":2}: field is immutable"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(kind_done) struct kind_test t;

        kind_init(&t, cases[i].resource);
        assert_string_equal(update_faults(&t, cases[i].old, cases[i].new), cases[i].want);
    }
}

static void a_daemon_set_counts_its_templates(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct jsn *first, *second;
    static const char key[] = "deprecated.daemonset.template.generation";

    (void)state;
    kind_init(&t, "daemonsets.apps");
    first = with_defaults(&t, WORKLOAD("'minReadySeconds':0"));
    assert_int_equal(t.strategy->prepare_create(&t.c, first), 0);
    assert_string_equal(jsn_text(jsn_key(jsn_get(first, "metadata.annotations"), key)), "1");
    second = jsn_clone(&t.c.arena, first);
    assert_int_equal(t.strategy->prepare_update(&t.c, second, first), 0);
    assert_string_equal(jsn_text(jsn_key(jsn_get(second, "metadata.annotations"), key)), "1");
    jsn_set_path(&t.c.arena, second, "spec.template.spec.hostname", jsn_string(&t.c.arena, "x"));
    assert_int_equal(t.strategy->prepare_update(&t.c, second, first), 0);
    assert_string_equal(jsn_text(jsn_key(jsn_get(second, "metadata.annotations"), key)), "2");
}

static void a_replication_controller_takes_its_labels_from_the_template(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct jsn *o;

    (void)state;
    kind_init(&t, "replicationcontrollers");
    o = with_defaults(&t, "{'metadata':{'name':'r'},'spec':{'template':" TEMPLATE "}}");
    assert_string_equal(text_of(&t.c.arena, jsn_get(o, "spec.selector")), "{'a':'b'}");
    assert_string_equal(text_of(&t.c.arena, jsn_get(o, "metadata.labels")), "{'a':'b'}");
}

static void a_job_gets_its_own_selector(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct causes cs;
    struct jsn *job;

    (void)state;
    kind_init(&t, "jobs.batch");
    job = with_defaults(&t, JOB(""));
    assert_int_equal(t.strategy->prepare_create(&t.c, job), 0);
    assert_string_equal(text_of(&t.c.arena, jsn_get(job, "spec.selector")),
                        "{'matchLabels':{'batch.kubernetes.io/controller-uid':'u'}}");
    assert_string_equal(
        text_of(&t.c.arena, jsn_get(job, "spec.template.metadata.labels")),
        "{'controller-uid':'u','job-name':'j','batch.kubernetes.io/controller-uid':'u',"
        "'batch.kubernetes.io/job-name':'j'}");
    assert_int_equal(jsn_len(jsn_get(job, "metadata.labels")), 4);
    cs = (struct causes){.arena = &t.c.arena};
    t.strategy->validate(&cs, job);
    assert_string_equal(causes_text(&cs), "");
}

static void job_defaults_depend_on_each_other(void **state)
{
    static const struct {
        const char *piece;
        int64_t parallelism, completions;
    } cases[] = {{"", 1, 1}, {",'parallelism':3", 3, -1}, {",'completions':3", 1, 3}};
    AUTO(kind_done) struct kind_test t;

    (void)state;
    kind_init(&t, "jobs.batch");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct jsn *job = with_defaults(&t, arena_printf(&t.c.arena, JOB("%s"), cases[i].piece));

        assert_int_equal(jsn_get_int(job, "spec.parallelism", -1), cases[i].parallelism);
        assert_int_equal(jsn_get_int(job, "spec.completions", -1), cases[i].completions);
        assert_int_equal(jsn_get_int(job, "spec.backoffLimit", -1), 6);
    }
}

static void schedules_are_read_as_cron_reads_them(void **state)
{
    static const struct {
        const char *schedule, *want;
    } cases[] = {
        {"* * * * *", NULL},
        {"*/5 0-3,7 1 jan-MAR mon", NULL},
        {"@daily", NULL},
        {"@every 1h30m", NULL},
        {"TZ=Europe/Berlin 0 4 * * *", NULL},
        {"0  4 * * *", NULL},
        {"? * * * ?", NULL},
        {"* * *", "expected exactly 5 fields, found 3: [* * *]"},
        {"", "expected exactly 5 fields, found 0: []"},
        {"60 * * * *", "end of range (60) above maximum (59): 60"},
        {"* * 0 * *", "beginning of range (0) below minimum (1): 0"},
        {"5-3 * * * *", "beginning of range (5) beyond end of range (3): 5-3"},
        {"*/0 * * * *", "step of range should be a positive number: */0"},
        {"1-2-3 * * * *", "too many hyphens: 1-2-3"},
        {"1/2/3 * * * *", "too many slashes: 1/2/3"},
        {"x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"},
        {"@foo", "unrecognized descriptor: @foo"},
        {"@every x", "failed to parse duration @every x: time: invalid duration \"x\""},
        {"TZ=x", "provided bad location"},
    };
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *got = cron_check(&a, cases[i].schedule);

        if (!streq(got, cases[i].want))
            fail_msg("'%s': %s", cases[i].schedule, got ? got : "good");
    }
}

static void what_is_wrong_in_a_cron_job_is_said(void **state)
{
    static const struct fault_case cases[] = {
        {"'schedule':'@hourly'", ""},
        {"'schedule':''", "spec.schedule: Required value"},
        {"'schedule':'@hourly','concurrencyPolicy':'Foo'",
         "spec.concurrencyPolicy: Unsupported value: \"Foo\": supported values: \"Allow\", "
         "\"Forbid\", \"Replace\""},
    };

    (void)state;
    check_faults("cronjobs.batch",
                 "{'metadata':{'name':'c'},'spec':{%s,'jobTemplate':{'spec':{'template':{'spec':"
                 "{'restartPolicy':'Never','containers':[{'name':'c','image':'x'}]}}}}}}",
                 cases, ARRAY_LEN(cases));
}

static void selectors_match_and_print(void **state)
{
    static const struct {
        const char *selector, *labels, *text;
        bool match;
    } cases[] = {
        {"{}", "{'a':'b'}", "", true},
        {"{'matchLabels':{'b':'2','a':'1'}}", "{'a':'1','b':'2','c':'3'}", "a=1,b=2", true},
        {"{'matchLabels':{'a':'1'}}", "{'a':'2'}", "a=1", false},
        {"{'matchExpressions':[{'key':'a','operator':'NotIn','values':['x','y']}]}", "{}",
         "a notin (x,y)", true},
        {"{'matchExpressions':[{'key':'a','operator':'Exists'}]}", "{}", "a", false},
        {"{'matchExpressions':[{'key':'a','operator':'DoesNotExist'}]}", "{}", "!a", true},
        {"null", "{'a':'b'}", "", false},
    };
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct jsn *selector = json_of(&a, cases[i].selector);

        assert_int_equal(labelselector_match(&a, selector, json_of(&a, cases[i].labels)),
                         cases[i].match);
        assert_string_equal(labelselector_text(&a, selector), cases[i].text);
    }
    assert_true(labelmap_match(json_of(&a, "{'a':'1'}"), json_of(&a, "{'a':'1','b':'2'}")));
    assert_false(labelmap_match(json_of(&a, "{'a':'1'}"), NULL));
    assert_string_equal(labelmap_text(&a, json_of(&a, "{'b':'','a':'1'}")), "a=1,b=");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strategies_are_filled_in),
        cmocka_unit_test(claim_templates_are_whole_objects),
        cmocka_unit_test(selectors_must_fit_the_template),
        cmocka_unit_test(what_is_wrong_in_a_deployment_is_said),
        cmocka_unit_test(templates_are_looked_into),
        cmocka_unit_test(what_may_not_change_is_refused),
        cmocka_unit_test(a_daemon_set_counts_its_templates),
        cmocka_unit_test(a_replication_controller_takes_its_labels_from_the_template),
        cmocka_unit_test(a_job_gets_its_own_selector),
        cmocka_unit_test(job_defaults_depend_on_each_other),
        cmocka_unit_test(schedules_are_read_as_cron_reads_them),
        cmocka_unit_test(what_is_wrong_in_a_cron_job_is_said),
        cmocka_unit_test(selectors_match_and_print),
    };

    return cmocka_run_group_tests_name("workloads", tests, NULL, NULL);
}
