/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of evictions and the arithmetic of disruption budgets. */
#include "src/cluster/apiserver/kinds/test/kind.h"

#include "src/cluster/apiserver/eviction.h"

DEFINE_WORLD

#define NOW_US (1767261600LL * 1000000) /* 2026-01-01T10:00:00Z */
#define READY "'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}]}"
#define SICK "'status':{'phase':'Running','conditions':[{'type':'Ready','status':'False'}]}"
#define POD(name, status) "{'metadata':{'name':'" name "','labels':{'a':'b'}}," status "}"
#define OWNED(name, status)                                                                        \
    "{'metadata':{'name':'" name "','labels':{'a':'b'},'ownerReferences':[{'kind':'ReplicaSet',"   \
    "'uid':'r','controller':true}]}," status "}"
#define BUDGET(spec)                                                                               \
    "{'metadata':{'name':'b','generation':3},'spec':{'selector':{'matchLabels':{'a':'b'}}," spec   \
    "}}"

static int64_t four_replicas(void *arg, const struct jsn *owner)
{
    (void)arg;
    return streq(jsn_get_str(owner, "kind"), "ReplicaSet") ? 4 : -1;
}

static void budgets_are_counted(void **state)
{
    static const struct {
        const char *budget, *pods;
        struct eviction_count want; /* expected, healthy, desired, allowed */
    } cases[] = {
        {BUDGET("'minAvailable':1"), "[" POD("x", READY) "," POD("y", READY) "]", {2, 2, 1, 1}},
        {BUDGET("'minAvailable':2"), "[" POD("x", READY) "," POD("y", SICK) "]", {2, 1, 2, 0}},
        {BUDGET("'maxUnavailable':1"), "[" POD("x", READY) "," POD("y", READY) "]", {2, 2, 1, 1}},
        {BUDGET("'maxUnavailable':1"),
         "[" OWNED("x", READY) "," OWNED("y", READY) "]",
         {4, 2, 3, 0}},
        {BUDGET("'minAvailable':'50%'"),
         "[" OWNED("x", READY) "," OWNED("y", READY) "," OWNED("z", READY) "]",
         {4, 3, 2, 1}},
        {BUDGET("'maxUnavailable':'30%'"),
         "[" POD("x", READY) "," POD("y", READY) "]",
         {2, 2, 1, 1}},
        {BUDGET("'minAvailable':0"),
         "[" POD("x", "'status':{'phase':'Succeeded'}") "]",
         {0, 0, 0, 0}},
        {BUDGET("'maxUnavailable':5"), "[" POD("x", READY) "]", {1, 1, 0, 1}},
        {BUDGET("'minAvailable':1"),
         "[{'metadata':{'name':'x','labels':{'a':'b'},'deletionTimestamp':'t'}," READY "}]",
         {1, 0, 1, 0}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct eviction_view v = {.pods = json_of(&a, cases[i].pods), .replicas = four_replicas};
        struct eviction_count n = eviction_count(&a, json_of(&a, cases[i].budget), &v, NOW_US);

        if (memcmp(&n, &cases[i].want, sizeof(n)) != 0)
            fail_msg("case %zu: expected %lld healthy %lld desired %lld allowed %lld", i,
                     (long long)n.expected, (long long)n.healthy, (long long)n.desired,
                     (long long)n.allowed);
    }
}

static void a_pod_on_its_way_out_does_not_count_for_two_minutes(void **state)
{
    static const char budget[] =
        "{'metadata':{'name':'b'},'spec':{'minAvailable':1,'selector':{'matchLabels':{'a':'b'}}},"
        "'status':{'disruptedPods':{'x':'2026-01-01T10:00:00Z'}}}";
    AUTO(arena_done) struct arena a = {0};
    struct eviction_view v = {.pods = json_of(&a, "[" POD("x", READY) "," POD("y", READY) "]")};

    (void)state;
    assert_int_equal(eviction_count(&a, json_of(&a, budget), &v, NOW_US + 1000000).allowed, 0);
    assert_int_equal(eviction_count(&a, json_of(&a, budget), &v, NOW_US + 121000000).allowed, 1);
}

/* Decide about pod x; returns the message of a refusal, "" where it may go. */
static const char *decided(struct api_call *c, const char *budgets, const char *pods,
                           struct jsn **ret_budget)
{
    struct eviction_view v = {.budgets = json_of(&c->arena, budgets),
                              .pods = json_of(&c->arena, pods)};
    const struct jsn *pod = jsn_item(v.pods, 0);

    c->failure = NULL;
    if (eviction_decide(c, pod, &v, NOW_US, ret_budget) == 0)
        return "";
    return jsn_get_str(c->failure, "message");
}

static void pods_go_when_nobody_minds(void **state)
{
    static const struct {
        const char *budgets, *pods;
    } cases[] = {
        {"[]", "[" POD("x", READY) "]"},
        {"[{'spec':{'minAvailable':1,'selector':{'matchLabels':{'c':'d'}}}}]",
         "[" POD("x", READY) "]"},
        {"[{'spec':{'minAvailable':1,'selector':{}}}]", "[" POD("x", READY) "]"},
        {"[" BUDGET("'minAvailable':5") "]", "[" POD("x", "'status':{'phase':'Pending'}") "]"},
        {"[" BUDGET("'minAvailable':5") "]", "[" POD("x", "'status':{'phase':'Failed'}") "]"},
        {"[" BUDGET("'minAvailable':1") "]", "[" POD("x", SICK) "," POD("y", READY) "]"},
        {"[" BUDGET("'minAvailable':2,'unhealthyPodEvictionPolicy':'AlwaysAllow'") "]",
         "[" POD("x", SICK) "," POD("y", READY) "]"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct api_call c = {0};
        struct jsn *budget = NULL;

        assert_string_equal(decided(&c, cases[i].budgets, cases[i].pods, &budget), "");
        assert_null(budget);
        arena_done(&c.arena);
    }
}

static void an_eviction_is_noted_in_the_budget(void **state)
{
    struct api_call c = {0};
    struct jsn *budget = NULL;

    (void)state;
    assert_string_equal(decided(&c, "[" BUDGET("'minAvailable':1") "]",
                                "[" POD("x", READY) "," POD("y", READY) "]", &budget),
                        "");
    assert_string_equal(text_of(&c.arena, jsn_key(budget, "status")),
                        "{'observedGeneration':3,'disruptionsAllowed':0,'currentHealthy':2,"
                        "'desiredHealthy':1,'expectedPods':2,'disruptedPods':{'x':"
                        "'2026-01-01T10:00:00Z'}}");
    arena_done(&c.arena);
}

static void a_budget_that_is_used_up_refuses(void **state)
{
    struct api_call c = {0};
    struct jsn *budget = NULL;
    const struct jsn *cause;

    (void)state;
    assert_string_equal(
        decided(&c, "[" BUDGET("'minAvailable':1") "]", "[" POD("x", READY) "]", &budget),
        "Cannot evict pod as it would violate the pod's disruption budget.");
    assert_int_equal(jsn_get_int(c.failure, "code", 0), 429);
    assert_string_equal(jsn_get_str(c.failure, "reason"), "TooManyRequests");
    cause = jsn_item(jsn_get(c.failure, "details.causes"), 0);
    assert_string_equal(text_of(&c.arena, cause),
                        "{'reason':'DisruptionBudget','message':'The disruption budget b needs 1 "
                        "healthy pods and has 1 currently'}");
    assert_null(budget);
    arena_done(&c.arena);
}

static void two_budgets_for_one_pod_are_refused(void **state)
{
    struct api_call c = {0};
    struct jsn *budget = NULL;

    (void)state;
    assert_string_equal(decided(&c,
                                "[" BUDGET("'minAvailable':1") "," BUDGET("'minAvailable':1") "]",
                                "[" POD("x", READY) "]", &budget),
                        "This pod has more than one PodDisruptionBudget, which the eviction "
                        "subresource does not support.");
    assert_int_equal(jsn_get_int(c.failure, "code", 0), 500);
    arena_done(&c.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budgets_are_counted),
        cmocka_unit_test(a_pod_on_its_way_out_does_not_count_for_two_minutes),
        cmocka_unit_test(pods_go_when_nobody_minds),
        cmocka_unit_test(an_eviction_is_noted_in_the_budget),
        cmocka_unit_test(a_budget_that_is_used_up_refuses),
        cmocka_unit_test(two_budgets_for_one_pod_are_refused),
    };

    return cmocka_run_group_tests_name("eviction", tests, NULL, NULL);
}
