/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of scheduling on the one node. */
#include "src/cluster/node/test/parse.h"

#include "src/cluster/node/pods/schedule.h"

#define NODE                                                                                       \
    "{'metadata':{'name':'n1','labels':{'disk':'ssd','zone':'a'}},'status':{'allocatable':{"       \
    "'cpu':'2','memory':'1Gi','pods':'3'}}%s}"

static const struct {
    const char *what;
    const char *pod;
    const char *node; /* what is added to NODE */
    struct schedule_view view;
    const char *why; /* "": it fits */
} cases[] = {
    {"anything fits an empty node", "{}", "", {0}, ""},
    {"requests fit",
     "{'containers':[{'resources':{'requests':{'cpu':'2','memory':'1Gi'}}}]}",
     "",
     {0},
     ""},
    {"too much of both is told at once",
     "{'containers':[{'resources':{'requests':{'cpu':'3','memory':'2Gi'}}}]}",
     "",
     {0},
     "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory."},
    {"memory that others use counts",
     "{'containers':[{'resources':{'requests':{'memory':'600Mi'}}}]}",
     "",
     {.used = {.memory_bytes = 600 << 20}},
     "0/1 nodes are available: 1 Insufficient memory."},
    {"processors are shared",
     "{'containers':[{'resources':{'requests':{'cpu':'2'}}}]}",
     "",
     {.used = {.cpu_milli = 9000}},
     ""},
    {"without a request it fits a full node", "{}", "", {.used = {.cpu_milli = 9000}}, ""},
    {"pods are counted", "{}", "", {.pods = 3}, "0/1 nodes are available: 1 Too many pods."},
    {"a selector that matches", "{'nodeSelector':{'disk':'ssd'}}", "", {0}, ""},
    {"a selector that does not",
     "{'nodeSelector':{'disk':'hdd'}}",
     "",
     {0},
     "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."},
    {"affinity by label",
     "{'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
     "'nodeSelectorTerms':[{'matchExpressions':[{'key':'zone','operator':'In','values':['b']}]},"
     "{'matchExpressions':[{'key':'zone','operator':'In','values':['a']}]}]}}}}",
     "",
     {0},
     ""},
    {"affinity by name",
     "{'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
     "'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In','values':['x']}"
     "]}]}}}}",
     "",
     {0},
     "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."},
    {"a cordon",
     "{}",
     ",'spec':{'unschedulable':true}",
     {0},
     "0/1 nodes are available: 1 node(s) were unschedulable."},
    {"a taint",
     "{}",
     ",'spec':{'taints':[{'key':'k','value':'v','effect':'NoSchedule'}]}",
     {0},
     "0/1 nodes are available: 1 node(s) had untolerated taint {k: v}."},
    {"a tolerated taint",
     "{'tolerations':[{'key':'k','value':'v','effect':'NoSchedule'}]}",
     ",'spec':{'taints':[{'key':'k','value':'v','effect':'NoSchedule'}]}",
     {0},
     ""},
    {"tolerated by key",
     "{'tolerations':[{'key':'k','operator':'Exists'}]}",
     ",'spec':{'taints':[{'key':'k','effect':'NoExecute'}]}",
     {0},
     ""},
    {"another effect is not tolerated",
     "{'tolerations':[{'key':'k','operator':'Exists','effect':'NoExecute'}]}",
     ",'spec':{'taints':[{'key':'k','effect':'NoSchedule'}]}",
     {0},
     "0/1 nodes are available: 1 node(s) had untolerated taint {k: }."},
    {"a taint that only prefers",
     "{}",
     ",'spec':{'taints':[{'key':'k','effect':'PreferNoSchedule'}]}",
     {0},
     ""},
};

static void each_pod_fits_or_is_told_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(buf_done) struct buf why = {0};
        struct schedule_view v = cases[i].view;
        struct jsn *pod = json_of(&a, arena_printf(&a, "{'spec':%s}", cases[i].pod));
        int r;

        v.node = json_of(&a, arena_printf(&a, NODE, cases[i].node));
        r = schedule_fits(pod, &v, &why);
        if (!streq(buf_str(&why), cases[i].why) || r != (cases[i].why[0] != '\0'))
            fail_msg("%s: '%s'", cases[i].what, buf_str(&why));
    }
}

static void without_a_node_nothing_fits(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf why = {0};
    struct schedule_view v = {0};

    (void)state;
    assert_int_equal(schedule_fits(json_of(&a, "{}"), &v, &why), 1);
    assert_string_equal(buf_str(&why), "no nodes available to schedule pods");
}

static void only_pods_that_go_on_count(void **state)
{
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    assert_true(schedule_counts(json_of(&a, "{'spec':{'nodeName':'n'}}")));
    assert_false(schedule_counts(json_of(&a, "{'spec':{}}")));
    assert_false(
        schedule_counts(json_of(&a, "{'spec':{'nodeName':'n'},'status':{'phase':'Succeeded'}}")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pod_fits_or_is_told_why),
        cmocka_unit_test(without_a_node_nothing_fits),
        cmocka_unit_test(only_pods_that_go_on_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
