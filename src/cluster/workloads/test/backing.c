/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of Endpoints, EndpointSlices and the status of disruption budgets. */
#include "src/cluster/workloads/test/observed.h"

#include "src/cluster/workloads/backing.h"
#include "src/cluster/workloads/budget.h"

#define SERVICE(spec)                                                                              \
    "{'metadata':{'name':'s','namespace':'n','uid':'u'},'spec':{'selector':{'a':'b'}," spec "}}"
#define HTTP "'ports':[{'name':'http','port':80,'targetPort':8080,'protocol':'TCP'}]"
#define NAMED "'ports':[{'port':80,'targetPort':'web','protocol':'TCP'}]"

/* Pods from "1R 2D": last number of the address, state. */
static struct jsn *pods_of(struct arena *a, const char *text)
{
    struct jsn *list = jsn_array(a);
    struct str rest = str_of(text);
    struct str word;

    while (text[0] && str_split(&rest, ' ', &word)) {
        struct jsn *pod = json_of(
            a, arena_printf(a,
                            "{'metadata':{'name':'p%c','namespace':'n','uid':'u%c','labels':{"
                            "'a':'b'}},'spec':{'nodeName':'m','hostname':'p%c','subdomain':'s',"
                            "'containers':"
                            "[{'ports':[{'name':'web','containerPort':900%c}]}]}}",
                            word.p[0], word.p[0], word.p[0], word.p[0]));

        pod_set_state(a, pod, word.p[1]);
        jsn_set_path(a, pod, "status.podIP", jsn_stringf(a, "10.0.0.%c", word.p[0]));
        jsn_append(a, list, pod);
    }
    return list;
}

/* "1,2/3:8080": ready addresses, others after the slash, the port; subsets apart by a blank. */
static const char *subsets_text(struct arena *a, const struct jsn *endpoints)
{
    AUTO(buf_done) struct buf b = {0};

    JSN_FOR_ITEMS (s, jsn_key(endpoints, "subsets")) {
        buf_adds(&b, s_i ? " " : "");
        JSN_FOR_ITEMS (x, jsn_key(s, "addresses"))
            buf_printf(&b, "%s%s", x_i ? "," : "", jsn_get_str(x, "ip") + 7);
        buf_adds(&b, "/");
        JSN_FOR_ITEMS (x, jsn_key(s, "notReadyAddresses"))
            buf_printf(&b, "%s%s", x_i ? "," : "", jsn_get_str(x, "ip") + 7);
        JSN_FOR_ITEMS (x, jsn_key(s, "ports"))
            buf_printf(&b, ":%lld", (long long)jsn_get_int(x, "port", 0));
    }
    return arena_strdup(a, buf_str(&b));
}

static void endpoints_hold_the_addresses_by_readiness(void **state)
{
    static const struct {
        const char *service, *pods, *want;
    } cases[] = {
        {SERVICE(HTTP), "2R 1R", "1,2/:8080"},
        {SERVICE(HTTP), "1R 2D 3P", "1/2,3:8080"},
        {SERVICE(HTTP), "1R 2T 3F 4S", "1/:8080"},
        {SERVICE(HTTP ",'publishNotReadyAddresses':true"), "1R 2T 3D", "1,2,3/:8080"},
        {SERVICE(NAMED), "1R 2R", "1/:9001 2/:9002"},
        {SERVICE("'ports':[{'port':80,'targetPort':'none'}]"), "1R", ""},
        {SERVICE("'ports':[{'port':80}]"), "1R", "1/:80"},
        {SERVICE("'clusterIP':'None'"), "1R", "1/"},
        {SERVICE(HTTP), "", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct plan p = {.arena = &a, .now_us = NOW_US};
        const struct jsn *made;

        endpoints_plan(&p, json_of(&a, cases[i].service), pods_of(&a, cases[i].pods), NULL);
        made = plan_object(&p, ACTION_CREATE, "endpoints");
        assert_string_equal(object_name(made), "s");
        assert_string_equal(subsets_text(&a, made), cases[i].want);
    }
}

static void endpoints_that_say_so_already_are_left_alone(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan p = {.arena = &a, .now_us = NOW_US};
    struct jsn *service = json_of(&a, SERVICE(HTTP));
    struct jsn *old;

    (void)state;
    endpoints_plan(&p, service, pods_of(&a, "1R"), NULL);
    old = p.items[0].object;
    p.n = 0;
    endpoints_plan(&p, service, pods_of(&a, "1R"), old);
    assert_int_equal(p.n, 0);
    endpoints_plan(&p, service, pods_of(&a, "1R 2R"), old);
    assert_string_equal(plan_text(&p), "update endpoints s");
}

static void services_without_a_selector_are_somebody_elses(void **state)
{
    static const char *const services[] = {
        "{'metadata':{'name':'s'},'spec':{'ports':[{'port':1}]}}",
        SERVICE("'type':'ExternalName'"),
        "{'metadata':{'name':'s','deletionTimestamp':'t'},'spec':{'selector':{'a':'b'}}}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(services); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct plan p = {.arena = &a, .now_us = NOW_US};

        endpoints_plan(&p, json_of(&a, services[i]), pods_of(&a, "1R"), NULL);
        slices_plan(&p, json_of(&a, services[i]), pods_of(&a, "1R"), NULL);
        assert_int_equal(p.n, 0);
    }
}

static void slices_tell_the_state_of_each_address(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan p = {.arena = &a, .now_us = NOW_US};
    const struct jsn *slice;
    const struct jsn *list;

    (void)state;
    slices_plan(&p, json_of(&a, SERVICE(HTTP)), pods_of(&a, "1R 2D 3T"), NULL);
    assert_int_equal(p.n, 1);
    slice = p.items[0].object;
    list = jsn_key(slice, "endpoints");
    assert_string_equal(jsn_get_str(slice, "addressType"), "IPv4");
    assert_string_equal(print(&a, jsn_key(jsn_item(list, 0), "conditions")),
                        "{\"ready\":true,\"serving\":true,\"terminating\":false}");
    assert_string_equal(print(&a, jsn_key(jsn_item(list, 1), "conditions")),
                        "{\"ready\":false,\"serving\":false,\"terminating\":false}");
    assert_string_equal(print(&a, jsn_key(jsn_item(list, 2), "conditions")),
                        "{\"ready\":false,\"serving\":true,\"terminating\":true}");
    assert_string_equal(jsn_get_str(jsn_item(list, 0), "hostname"), "p1");
    assert_string_equal(
        jsn_text(jsn_key(jsn_get(slice, "metadata.labels"), "kubernetes.io/service-name")), "s");
}

static void slices_are_kept_changed_and_removed(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan p = {.arena = &a, .now_us = NOW_US};
    struct jsn *service = json_of(&a, SERVICE(NAMED));
    struct jsn *old = jsn_array(&a);

    (void)state;
    slices_plan(&p, service, pods_of(&a, "1R 2R"), NULL);
    assert_int_equal(p.n, 2);
    jsn_append(&a, old, p.items[0].object);
    jsn_append(&a, old, p.items[1].object);
    jsn_append(&a, old,
               json_of(&a, "{'metadata':{'name':'mine','labels':{'kubernetes.io/service-name':"
                           "'s'}}}"));
    p.n = 0;
    slices_plan(&p, service, pods_of(&a, "1R 2R"), old);
    assert_int_equal(p.n, 0);
    slices_plan(&p, service, pods_of(&a, "1D"), old);
    assert_int_equal(p.n, 2);
    assert_int_equal(p.items[0].verb, ACTION_UPDATE);
    assert_int_equal(p.items[1].verb, ACTION_DELETE);
}

static void a_service_of_many_pods_has_several_slices(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan p = {.arena = &a, .now_us = NOW_US};
    struct jsn *pods = jsn_array(&a);

    (void)state;
    for (int i = 0; i < 250; i++) {
        struct jsn *pod = jsn_item(pods_of(&a, "1R"), 0);

        jsn_set_path(&a, pod, "status.podIP", jsn_stringf(&a, "10.0.1.%d", i));
        jsn_append(&a, pods, pod);
    }
    slices_plan(&p, json_of(&a, SERVICE(HTTP)), pods, NULL);
    assert_int_equal(p.n, 3);
    assert_int_equal(jsn_len(jsn_key(p.items[2].object, "endpoints")), 50);
    assert_string_not_equal(object_name(p.items[0].object), object_name(p.items[1].object));
}

static void a_budget_counts_against_what_its_workload_wants(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan p = {.arena = &a, .now_us = NOW_US};
    struct budget_view v = {
        .budget = json_of(&a, "{'metadata':{'name':'b','generation':2},'spec':{'maxUnavailable':1,"
                              "'selector':{'matchLabels':{'a':'b'}}},'status':{'disruptedPods':{"
                              "'p1':'2026-01-01T09:59:00Z','gone':'2026-01-01T09:59:00Z','p2':"
                              "'2026-01-01T09:00:00Z'}}}"),
        .pods = pods_of(&a, "1R 2R 3R"),
        .statefulsets = json_of(&a, "[{'metadata':{'uid':'w'},'spec':{'replicas':3}}]")};
    const struct jsn *status;

    (void)state;
    JSN_FOR_ITEMS (pod, v.pods)
        jsn_set_path(&a, pod, "metadata.ownerReferences",
                     json_of(&a, "[{'kind':'StatefulSet','uid':'w','controller':true}]"));
    budget_plan(&p, &v);
    status = jsn_key(plan_object(&p, ACTION_STATUS, "poddisruptionbudgets.policy"), "status");
    assert_int_equal(jsn_get_int(status, "expectedPods", 0), 3);
    assert_int_equal(jsn_get_int(status, "currentHealthy", 0), 2);
    assert_int_equal(jsn_get_int(status, "disruptionsAllowed", -1), 0);
    assert_int_equal(jsn_get_int(status, "observedGeneration", 0), 2);
    assert_string_equal(print(&a, jsn_key(status, "disruptedPods")),
                        "{\"p1\":\"2026-01-01T09:59:00Z\"}");
    assert_int_equal(p.again_ms, 60001);
    assert_string_equal(jsn_get_str(jsn_item(jsn_key(status, "conditions"), 0), "reason"),
                        "InsufficientPods");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endpoints_hold_the_addresses_by_readiness),
        cmocka_unit_test(endpoints_that_say_so_already_are_left_alone),
        cmocka_unit_test(services_without_a_selector_are_somebody_elses),
        cmocka_unit_test(slices_tell_the_state_of_each_address),
        cmocka_unit_test(slices_are_kept_changed_and_removed),
        cmocka_unit_test(a_service_of_many_pods_has_several_slices),
        cmocka_unit_test(a_budget_counts_against_what_its_workload_wants),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
