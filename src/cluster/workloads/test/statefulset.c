/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the plan for stateful sets: tables of what is there and what is to be done. */
#include "src/cluster/workloads/test/observed.h"

#include "src/cluster/workloads/statefulset.h"

#define TEMPLATE(image)                                                                            \
    "{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'" image "'}]}}"
#define SET(spec, status)                                                                          \
    "{'metadata':{'name':'web','namespace':'n','uid':'u','generation':4},'spec':{"                 \
    "'serviceName':'svc','selector':{'matchLabels':{'a':'b'}},'template':" TEMPLATE(               \
        "new") ","                                                                                 \
               "'updateStrategy':{'type':'RollingUpdate','rollingUpdate':{'partition':0}}," spec   \
               "},'status':{" status "}}"
#define REVISION(name, number, image)                                                              \
    "{'metadata':{'name':'" name "','namespace':'n','uid':'" name                                  \
    "','labels':{'a':'b'}," OWNED_BY(                                                              \
        "StatefulSet",                                                                             \
        "u") "},'revision':" number ",'data':{'spec':{'template':{"                                \
             "'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'" image   \
             "'}]},'$patch':'replace'}}}}"
#define BOTH "[" REVISION("old", "1", "old") "," REVISION("new", "2", "new") "]"
#define OLD_IS_CURRENT "'currentRevision':'old','updateRevision':'new'"

/* Pods from "0R:new 1P:old": ordinal, state, revision. */
static struct jsn *pods_of(struct arena *a, const char *text)
{
    struct jsn *list = jsn_array(a);
    struct str rest = str_of(text);
    struct str word;

    while (text[0] && str_split(&rest, ' ', &word)) {
        size_t colon = str_find(word, ':');
        struct jsn *pod = json_of(
            a, arena_printf(a,
                            "{'metadata':{'name':'web-%.*s','namespace':'n','uid':'p%.*s',"
                            "'labels':{'a':'b','controller-revision-hash':'%.*s'}," OWNED_BY(
                                "StatefulSet", "u") "}}",
                            (int)colon - 1, word.p, (int)colon - 1, word.p,
                            (int)(word.n - colon - 1), word.p + colon + 1));

        pod_set_state(a, pod, word.p[colon - 1]);
        jsn_append(a, list, pod);
    }
    return list;
}

static struct plan plan_for(struct arena *a, const char *set, const char *pods)
{
    struct plan p = {.arena = a, .now_us = NOW_US};
    struct statefulset_view v = {
        .set = json_of(a, set), .pods = pods_of(a, pods), .revisions = json_of(a, BOTH)};

    statefulset_plan(&p, &v);
    return p;
}

struct a_case {
    const char *spec, *pods, *want;
};

static void check(const struct a_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        AUTO(arena_done) struct arena a = {0};
        struct plan p =
            plan_for(&a, arena_printf(&a, SET("%s", OLD_IS_CURRENT), cases[i].spec), cases[i].pods);

        if (!streq(plan_text(&p), cases[i].want))
            fail_msg("%s with %s: '%s' instead of '%s'", cases[i].spec, cases[i].pods,
                     plan_text(&p), cases[i].want);
    }
}

static void pods_are_made_and_removed_in_order(void **state)
{
    static const struct a_case cases[] = {
        {"'replicas':3", "", "create pods web-0"},
        {"'replicas':3", "0P:new", ""},
        {"'replicas':3", "0D:new", ""},
        {"'replicas':3", "0R:new", "create pods web-1"},
        {"'replicas':3", "0R:new 2R:new", "create pods web-1"},
        {"'replicas':3", "0T:new 1R:new", ""},
        {"'replicas':2", "0R:new 1F:new", "delete pods web-1"},
        {"'replicas':2", "0R:new 1S:new", "delete pods web-1"},
        {"'replicas':1", "0R:new 1R:new 2R:new", "delete pods web-2"},
        {"'replicas':1", "0R:new 1R:new 2T:new", ""},
        {"'replicas':1", "0D:new 1R:new 2R:new", ""},
        {"'replicas':1", "0R:new 1D:new 2D:new", "delete pods web-2"},
        {"'replicas':1", "0R:new 1R:new 2T:new", ""},
        {"'replicas':1", "0R:new 1D:new", "delete pods web-1"},
        {"'replicas':0", "0R:new", "delete pods web-0"},
        {"'replicas':2,'ordinals':{'start':5}", "5R:new", "create pods web-6"},
        {"'replicas':1,'ordinals':{'start':5}", "0R:new 5R:new", "delete pods web-0"},
        {"'replicas':2", "0R:new 1R:new", ""},
    };

    (void)state;
    check(cases, ARRAY_LEN(cases));
}

static void parallel_sets_do_not_wait(void **state)
{
#define PARALLEL "'podManagementPolicy':'Parallel',"
    static const struct a_case cases[] = {
        {PARALLEL "'replicas':3", "1P:new", "create pods web-0; create pods web-2"},
        {PARALLEL "'replicas':1", "0D:new 1R:new 2D:new", "delete pods web-2; delete pods web-1"},
        {PARALLEL "'replicas':2", "0F:new 1R:new 2T:new", "delete pods web-0"},
        {PARALLEL "'replicas':3", "0R:old 1R:old 2R:old", "delete pods web-2"},
        {PARALLEL "'replicas':3", "0R:old 1R:old 2P:new", ""},
    };

    (void)state;
    check(cases, ARRAY_LEN(cases));
}

static void updates_go_from_the_highest_ordinal_down(void **state)
{
#define STRATEGY(s) ",'updateStrategy':" s
#define PARTITION(n) STRATEGY("{'type':'RollingUpdate','rollingUpdate':{'partition':" n "}}")
    static const struct a_case cases[] = {
        {"'replicas':3", "0R:old 1R:old 2R:old", "delete pods web-2"},
        {"'replicas':3", "0R:old 1R:old 2T:old", ""},
        {"'replicas':3", "0R:old 1R:old", "create pods web-2"},
        {"'replicas':3", "0R:old 1R:old 2P:new", ""},
        {"'replicas':3", "0R:old 1R:old 2R:new", "delete pods web-1"},
        {"'replicas':3", "0R:old 1R:new 2R:new", "delete pods web-0"},
        {"'replicas':3" PARTITION("2"), "0R:old 1R:old 2R:old", "delete pods web-2"},
        {"'replicas':3" PARTITION("2"), "0R:old 1R:old 2R:new", ""},
        {"'replicas':3" PARTITION("9"), "0R:old 1R:old 2R:old", ""},
        {"'replicas':2" STRATEGY("{'type':'OnDelete'}"), "0R:old 1R:old", ""},
        {"'replicas':2" STRATEGY("{'type':'OnDelete'}"), "0R:old", "create pods web-1"},
    };

    (void)state;
    check(cases, ARRAY_LEN(cases));
}

/* Which revision a pod comes back in. */
static void the_partition_keeps_the_current_revision(void **state)
{
    static const struct {
        const char *spec, *pods, *revision, *image;
    } cases[] = {
        {"'replicas':3", "0R:old 1R:old", "new", "new"},
        {"'replicas':2" PARTITION("1"), "1R:new", "old", "old"},
        {"'replicas':2" PARTITION("1"), "0R:old", "new", "new"},
        {"'replicas':2" STRATEGY("{'type':'OnDelete'}"), "0R:old", "new", "new"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct plan p =
            plan_for(&a, arena_printf(&a, SET("%s", OLD_IS_CURRENT), cases[i].spec), cases[i].pods);
        const struct jsn *pod = plan_object(&p, ACTION_CREATE, "pods");

        assert_string_equal(
            jsn_text(jsn_key(jsn_get(pod, "metadata.labels"), "controller-revision-hash")),
            cases[i].revision);
        assert_string_equal(jsn_get_str(jsn_item(jsn_get(pod, "spec.containers"), 0), "image"),
                            cases[i].image);
    }
}

static void a_pod_has_the_identity_of_its_ordinal(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan p = plan_for(&a,
                             SET("'replicas':3,'volumeClaimTemplates':[{'apiVersion':'v1','kind':"
                                 "'PersistentVolumeClaim','metadata':{'name':'data'},'spec':{},"
                                 "'status':{'phase':'Pending'}}]",
                                 OLD_IS_CURRENT),
                             "0R:new 1R:new");
    const struct jsn *pod = plan_object(&p, ACTION_CREATE, "pods");

    (void)state;
    assert_string_equal(plan_text(&p), "create persistentvolumeclaims data-web-2; "
                                       "create pods web-2");
    assert_string_equal(print(&a, jsn_get(pod, "metadata.labels")),
                        "{\"a\":\"b\",\"statefulset.kubernetes.io/pod-name\":\"web-2\","
                        "\"apps.kubernetes.io/pod-index\":\"2\","
                        "\"controller-revision-hash\":\"new\"}");
    assert_string_equal(jsn_get_str(pod, "spec.hostname"), "web-2");
    assert_string_equal(jsn_get_str(pod, "spec.subdomain"), "svc");
    assert_string_equal(print(&a, jsn_get(pod, "spec.volumes")),
                        "[{\"name\":\"data\",\"persistentVolumeClaim\":{\"claimName\":"
                        "\"data-web-2\"}}]");
    assert_string_equal(
        print(&a, plan_object(&p, ACTION_CREATE, "persistentvolumeclaims")),
        "{\"metadata\":{\"name\":\"data-web-2\",\"labels\":{\"a\":\"b\"},\"namespace\":\"n\"},"
        "\"spec\":{}}");
}

static void claims_go_with_a_condemned_pod_if_the_set_says_so(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan p = {.arena = &a, .now_us = NOW_US};
    struct statefulset_view v = {
        .set = json_of(&a, SET("'replicas':1,'persistentVolumeClaimRetentionPolicy':{'whenScaled':"
                               "'Delete'},'volumeClaimTemplates':[{'metadata':{'name':'data'}}]",
                               OLD_IS_CURRENT)),
        .pods = pods_of(&a, "0R:new 1R:new"),
        .revisions = json_of(&a, BOTH),
        .claims = json_of(&a, "[{'metadata':{'name':'data-web-0'}},{'metadata':{'name':"
                              "'data-web-1','uid':'c'}}]")};

    (void)state;
    statefulset_plan(&p, &v);
    assert_string_equal(plan_text(&p), "update persistentvolumeclaims data-web-1; "
                                       "delete pods web-1");
    assert_string_equal(
        print(&a, jsn_get(plan_object(&p, ACTION_UPDATE, "persistentvolumeclaims"),
                          "metadata.ownerReferences")),
        "[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"web-1\",\"uid\":\"p1\"}]");
}

static void the_status_counts_and_ends_an_update(void **state)
{
    static const struct {
        const char *pods, *want;
    } cases[] = {
        {"0R:old 1R:old",
         "{'observedGeneration':4,'replicas':2,'readyReplicas':2,'currentReplicas':2,"
         "'currentRevision':'old','updateRevision':'new','collisionCount':0,"
         "'availableReplicas':2}"},
        {"0R:old 1D:new",
         "{'observedGeneration':4,'replicas':2,'readyReplicas':1,'currentReplicas':1,"
         "'updatedReplicas':1,'currentRevision':'old','updateRevision':'new','collisionCount':0,"
         "'availableReplicas':1}"},
        {"0R:new 1R:new",
         "{'observedGeneration':4,'replicas':2,'readyReplicas':2,'currentReplicas':2,"
         "'updatedReplicas':2,'currentRevision':'new','updateRevision':'new','collisionCount':0,"
         "'availableReplicas':2}"},
        {"", "{'observedGeneration':4,'replicas':0,'currentRevision':'old','updateRevision':'new',"
             "'collisionCount':0,'availableReplicas':0}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct plan p = plan_for(&a, SET("'replicas':2", OLD_IS_CURRENT), cases[i].pods);
        const struct jsn *set = plan_object(&p, ACTION_STATUS, "statefulsets.apps");

        assert_string_equal(print(&a, jsn_key(set, "status")),
                            print(&a, json_of(&a, cases[i].want)));
    }
}

static void a_pod_must_be_ready_for_a_while(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan p =
        plan_for(&a, SET("'replicas':2,'minReadySeconds':15", OLD_IS_CURRENT), "0R:new");

    (void)state;
    assert_string_equal(plan_text(&p), "");
    assert_int_equal(p.again_ms, 10001);
    p = plan_for(&a, SET("'replicas':2,'minReadySeconds':5", OLD_IS_CURRENT), "0R:new");
    assert_string_equal(plan_text(&p), "create pods web-1");
}

static void orphans_are_adopted_and_strangers_let_go(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan p = {.arena = &a, .now_us = NOW_US};
    struct statefulset_view v = {
        .set = json_of(&a, SET("'replicas':1", OLD_IS_CURRENT)),
        .pods = json_of(&a, "[{'metadata':{'name':'web-0','labels':{'a':'b'}},'status':{'phase':"
                            "'Pending'}},{'metadata':{'name':'other-1','labels':{'a':'b'}}},"
                            "{'metadata':{'name':'web-1','labels':{'a':'x'}," OWNED_BY(
                                "StatefulSet", "u") "}},{'metadata':{'name':'web-2','labels':{'a':"
                                                    "'b'}," OWNED_BY("StatefulSet", "v") "}}]"),
        .revisions = json_of(&a, BOTH)};

    (void)state;
    statefulset_plan(&p, &v);
    assert_string_equal(plan_text(&p), "update pods web-0; update pods web-1");
    assert_string_equal(
        jsn_get_str(jsn_item(jsn_get(p.items[0].object, "metadata.ownerReferences"), 0), "uid"),
        "u");
    assert_null(jsn_get(p.items[1].object, "metadata.ownerReferences"));
}

static void a_set_that_goes_makes_nothing(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *set = json_of(&a, SET("'replicas':3", OLD_IS_CURRENT));
    struct plan p = {.arena = &a, .now_us = NOW_US};
    struct statefulset_view v = {.set = set, .pods = pods_of(&a, "0R:new")};

    (void)state;
    jsn_set_path(&a, set, "metadata.deletionTimestamp", jsn_string(&a, "t"));
    statefulset_plan(&p, &v);
    assert_int_equal(p.n, 0);
}

static void revisions_are_made_reused_and_trimmed(void **state)
{
    static const struct {
        const char *spec, *revisions, *want; /* the last revision made is called web-HASH */
    } cases[] = {
        {"'replicas':0", "[" REVISION("old", "1", "old") "," REVISION("new", "2", "new") "]", ""},
        {"'replicas':0", "[" REVISION("new", "1", "new") "," REVISION("mid", "2", "mid") "]",
         "update controllerrevisions new"},
        {"'replicas':0,'revisionHistoryLimit':1",
         "[" REVISION("x", "1", "x") "," REVISION("y", "2", "y") "," REVISION(
             "old", "3", "old") "," REVISION("new", "4", "new") "]",
         "delete controllerrevisions x"},
        {"'replicas':0,'revisionHistoryLimit':0",
         "[" REVISION("x", "1", "x") "," REVISION("old", "3", "old") "," REVISION("new", "4",
                                                                                  "new") "]",
         "delete controllerrevisions x"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct plan p = {.arena = &a, .now_us = NOW_US};
        struct statefulset_view v = {
            .set = json_of(&a, arena_printf(&a, SET("%s", OLD_IS_CURRENT), cases[i].spec)),
            .revisions = json_of(&a, cases[i].revisions)};

        statefulset_plan(&p, &v);
        assert_string_equal(plan_text(&p), cases[i].want);
    }
}

static void a_new_template_becomes_a_revision_that_kubectl_can_undo_to(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan p = {.arena = &a, .now_us = NOW_US};
    struct statefulset_view v = {.set = json_of(&a, SET("'replicas':0", "")),
                                 .revisions = json_of(&a, "[" REVISION("old", "7", "old") "]")};
    const struct jsn *r;

    (void)state;
    statefulset_plan(&p, &v);
    r = plan_object(&p, ACTION_CREATE, "controllerrevisions.apps");
    assert_int_equal(jsn_get_int(r, "revision", 0), 8);
    assert_true(starts_with(object_name(r), "web-"));
    assert_string_equal(jsn_text(jsn_key(jsn_get(r, "data.spec.template"), "$patch")), "replace");
    assert_string_equal(
        jsn_get_str(plan_object(&p, ACTION_STATUS, "statefulsets.apps"), "status.currentRevision"),
        object_name(r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_are_made_and_removed_in_order),
        cmocka_unit_test(parallel_sets_do_not_wait),
        cmocka_unit_test(updates_go_from_the_highest_ordinal_down),
        cmocka_unit_test(the_partition_keeps_the_current_revision),
        cmocka_unit_test(a_pod_has_the_identity_of_its_ordinal),
        cmocka_unit_test(claims_go_with_a_condemned_pod_if_the_set_says_so),
        cmocka_unit_test(the_status_counts_and_ends_an_update),
        cmocka_unit_test(a_pod_must_be_ready_for_a_while),
        cmocka_unit_test(orphans_are_adopted_and_strangers_let_go),
        cmocka_unit_test(a_set_that_goes_makes_nothing),
        cmocka_unit_test(revisions_are_made_reused_and_trimmed),
        cmocka_unit_test(a_new_template_becomes_a_revision_that_kubectl_can_undo_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
