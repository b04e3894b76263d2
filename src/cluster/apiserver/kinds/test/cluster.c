/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of config maps, secrets, namespaces, nodes, events, and of the table of strategies. */
#include "src/cluster/apiserver/kinds/test/kind.h"

DEFINE_WORLD

static void every_resource_has_its_strategy(void **state)
{
    struct registry *reg;
    struct err e = {0};
    size_t n, n_stored = 0;
    const struct registry_gv *gvs;

    (void)state;
    assert_int_equal(registry_new(&reg, &e), 0);
    gvs = registry_gvs(reg, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < gvs[i].n_resources; k++) {
            const struct resource *r = gvs[i].resources[k];

            /* what nobody can write needs none */
            if (r->stored || !resource_has_verb(r, "list") || !resource_has_verb(r, "create"))
                continue;
            n_stored++;
            if (strategy_of(r)->resource[0] == '\0')
                fail_msg("%s has no strategy", r->plural);
        }
    assert_true(n_stored >= 30);
    (void)registry_free(reg);
}

static void custom_resources_differ_by_their_status(void **state)
{
    struct subresource status = {.name = "status"};
    struct resource r = {.plural = "pods", .group = "x.y", .custom = true};

    (void)state;
    assert_int_equal(strategy_of(&r)->names, NAME_CUSTOM);
    assert_true(strategy_of(&r)->needs_version);
    assert_false(strategy_of(&r)->status_reset);
    r.subs = &status;
    r.n_subs = 1;
    assert_true(strategy_of(&r)->status_reset);
}

static void the_group_decides_whose_strategy_it_is(void **state)
{
    struct resource r = {.plural = "pods", .group = "metrics.k8s.io"};

    (void)state;
    assert_string_equal(strategy_of(&r)->resource, "");
    r = (struct resource){.plural = "deployments", .group = "apps"};
    assert_string_equal(strategy_of(&r)->resource, "deployments.apps");
    r = (struct resource){.plural = "deployment", .group = "s.apps"};
    assert_string_equal(strategy_of(&r)->resource, "");
}

static void what_is_wrong_in_config_is_said(void **state)
{
    static const struct fault_case maps[] = {
        {"'data':{'a':'x','.b':'y'}", ""},
        {"'data':{'..':'x'}", "data[..]: Invalid value: \"..\": must not be '..'"},
        {"'data':{'a':'x'},'binaryData':{'a':'eA=='}",
         "data[a]: Invalid value: \"a\": duplicate of key present in binaryData"},
    };
    static const struct fault_case secrets[] = {
        {"'type':'Opaque'", ""},
        {"'type':'my.own/type'", ""},
        {"'type':'kubernetes.io/tls'",
         "data[tls.crt]: Required value\ndata[tls.key]: Required value"},
        {"'type':'kubernetes.io/tls','stringData':{'tls.crt':'','tls.key':'x'}", ""},
        {"'type':'kubernetes.io/ssh-auth'", "data[%s][ssh-privatekey]: Required value"},
        {"'type':'kubernetes.io/basic-auth','stringData':{'username':'x'}", ""},
        {"'type':'kubernetes.io/dockerconfigjson'", "data[.dockerconfigjson]: Required value"},
        {"'type':'kubernetes.io/dockerconfigjson','stringData':{'.dockerconfigjson':'{}'}", ""},
        {"'type':'kubernetes.io/service-account-token'",
         "metadata.annotations[kubernetes.io/service-account.name]: Required value"},
    };

    (void)state;
    check_faults("configmaps", "{'metadata':{'name':'m'},%s}", maps, ARRAY_LEN(maps));
    check_faults("secrets", "{'metadata':{'name':'m'},%s}", secrets, ARRAY_LEN(secrets));
}

static void too_much_data_is_refused(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct causes cs;
    struct jsn *o;
    char *large;

    (void)state;
    kind_init(&t, "configmaps");
    large = arena_alloc(&t.c.arena, (1 << 20) + 2);
    memset(large, 'x', (1 << 20) + 1);
    large[(1 << 20) + 1] = '\0';
    o = json_of(&t.c.arena, "{'metadata':{}}");
    jsn_set_path(&t.c.arena, o, "data.a", jsn_string(&t.c.arena, large));
    cs = (struct causes){.arena = &t.c.arena};
    t.strategy->validate(&cs, o);
    assert_string_equal(causes_text(&cs), "[]: Too long: may not be more than 1048576 bytes");
}

static void string_data_becomes_data(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct jsn *o;

    (void)state;
    kind_init(&t, "secrets");
    o = json_of(&t.c.arena, "{'metadata':{},'data':{'a':'b2xk','b':'a2VwdA=='},'stringData':{'a':"
                            "'new'}}");
    shape_default(&t.c, o);
    assert_string_equal(text_of(&t.c.arena, jsn_key(o, "data")), "{'a':'bmV3','b':'a2VwdA=='}");
    assert_null(jsn_key(o, "stringData"));
    assert_string_equal(jsn_get_str(o, "type"), "Opaque");
}

#define FROZEN ": Forbidden: field is immutable when `immutable` is set"

static void what_may_not_change_is_refused(void **state)
{
    static const struct {
        const char *resource, *old, *new, *want;
    } cases[] = {
        {"configmaps", "{'data':{'a':'1'}}", "{'data':{'a':'2'}}", ""},
        {"configmaps", "{'data':{'a':'1'},'immutable':true}", "{'data':{'a':'2'},'immutable':true}",
         "data" FROZEN},
        {"configmaps", "{'immutable':true}", "{}", "immutable" FROZEN},
        {"configmaps", "{'immutable':true}", "{'immutable':true,'binaryData':{'a':'eA=='}}",
         "binaryData" FROZEN},
        {"secrets", "{'type':'a'}", "{'type':'foo'}",
         "type: Invalid value: \"foo\": field is immutable"},
        {"secrets", "{'immutable':true,'data':{'a':'eA=='}}",
         "{'immutable':true,'stringData':{'a':'y'}}", "data" FROZEN},
        {"namespaces", "{'metadata':{'name':'n'},'status':{'phase':'Active'}}",
         "{'metadata':{'name':'n'},'status':{'phase':'Terminating'}}",
         "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if "
         "`deletionTimestamp` is empty"},
        {"nodes", "{'spec':{'podCIDR':'10.0.0.0/24'}}", "{'spec':{'podCIDR':'10.0.1.0/24'}}",
         "spec.podCIDRs: Forbidden: node updates may not change podCIDR except from \"\" to "
         "valid"},
        {"nodes", "{'spec':{}}",
         "{'spec':{'podCIDR':'10.0.1.0/24','unschedulable':true,'taints':[]}}", ""},
        {"nodes", "{'spec':{}}", "{'spec':{'externalID':'x'}}",
         "[]: Forbidden: node updates may only change labels, taints, or capacity"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(kind_done) struct kind_test t;

        kind_init(&t, cases[i].resource);
        assert_string_equal(update_faults(&t, cases[i].old, cases[i].new), cases[i].want);
    }
}

static void a_namespace_is_made_ready_for_use(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct jsn *ns;

    (void)state;
    kind_init(&t, "namespaces");
    ns = json_of(&t.c.arena, "{'metadata':{'name':'n','labels':{'a':'b'}}}");
    shape_default(&t.c, ns);
    assert_int_equal(t.strategy->prepare_create(&t.c, ns), 0);
    assert_string_equal(text_of(&t.c.arena, jsn_get(ns, "metadata.labels")),
                        "{'a':'b','kubernetes.io/metadata.name':'n'}");
    assert_string_equal(text_of(&t.c.arena, jsn_get(ns, "spec.finalizers")), "['kubernetes']");
    assert_string_equal(text_of(&t.c.arena, jsn_key(ns, "status")), "{'phase':'Active'}");
}

static void only_finalizing_changes_the_finalizers(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct jsn *old, *ns;

    (void)state;
    kind_init(&t, "namespaces");
    old = json_of(&t.c.arena, "{'metadata':{'name':'n'},'spec':{'finalizers':['kubernetes']}}");
    ns = json_of(&t.c.arena, "{'metadata':{'name':'n'},'spec':{}}");
    assert_int_equal(t.strategy->prepare_update(&t.c, ns, old), 0);
    assert_int_equal(jsn_len(jsn_get(ns, "spec.finalizers")), 1);
    ns = json_of(&t.c.arena, "{'metadata':{'name':'n'},'spec':{}}");
    t.c.finalizing = true;
    assert_int_equal(t.strategy->prepare_update(&t.c, ns, old), 0);
    assert_int_equal(jsn_len(jsn_get(ns, "spec.finalizers")), 0);
}

static void the_first_namespaces_stay(void **state)
{
    static const struct {
        const char *name;
        int want;
    } cases[] = {{"default", -1}, {"kube-system", -1}, {"kube-public", -1}, {"mine", 0}};
    AUTO(kind_done) struct kind_test t;

    (void)state;
    kind_init(&t, "namespaces");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct jsn *ns = json_of(
            &t.c.arena, arena_printf(&t.c.arena, "{'metadata':{'name':'%s'}}", cases[i].name));

        assert_int_equal(t.strategy->check_delete(&t.c, ns), cases[i].want);
    }
    assert_string_equal(jsn_get_str(t.c.failure, "message"),
                        "namespaces \"kube-public\" is forbidden: this namespace may not be "
                        "deleted");
}

static void what_is_wrong_in_a_node_is_said(void **state)
{
    static const struct fault_case cases[] = {
        {"'spec':{'taints':[{'key':'a','effect':'NoSchedule'},{'key':'a','effect':"
         "'NoExecute'}]}",
         ""},
        {"'spec':{'taints':[{'key':'a','effect':'NoSchedule'},{'key':'a','effect':"
         "'NoSchedule'}]}",
         "metadata.taints[1]: Duplicate value: \"NoSchedule:a\": taints must be unique by key and "
         "effect pair"},
        {"'spec':{'taints':[{'key':'a'}]}", "metadata.taints[0].effect: Required value"},
        {"'spec':{'podCIDRs':['x']}",
         "spec.podCIDRs[0]: Invalid value: \"x\": must be a valid CIDR value, (e.g. "
         "10.9.8.0/24 or 2001:db8::/64)"},
        {"'status':{'capacity':{'cpu':'-1'}}",
         "status.capacity[cpu]: Invalid value: \"-1\": must be greater than or equal to 0\n"
         "status.allocatable[cpu]: Invalid value: \"-1\": must be greater than or equal to 0"},
    };

    (void)state;
    check_faults("nodes", "{'metadata':{'name':'n'},%s}", cases, ARRAY_LEN(cases));
}

static void events_lie_where_their_object_is(void **state)
{
    static const struct fault_case cases[] = {
        {"'involvedObject':{'namespace':'ns'}", ""},
        {"'involvedObject':{'namespace':'other'}",
         "involvedObject.namespace: Invalid value: \"other\": does not match event.namespace"},
        {"'involvedObject':{}",
         "involvedObject.namespace: Invalid value: \"\": does not match event.namespace"},
        {"'eventTime':'2026-01-01T00:00:00.000000Z','involvedObject':{'namespace':'ns'},"
         "'reportingComponent':'a/b','reportingInstance':'i','action':'x','reason':'y'",
         ""},
        {"'eventTime':'2026-01-01T00:00:00.000000Z','involvedObject':{'namespace':'ns'},"
         "'reportingComponent':'a/b','reportingInstance':'i','reason':'y'",
         "action: Required value"},
    };

    (void)state;
    check_faults("events", "{'metadata':{'name':'e','namespace':'ns'},%s}", cases,
                 ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_resource_has_its_strategy),
        cmocka_unit_test(custom_resources_differ_by_their_status),
        cmocka_unit_test(the_group_decides_whose_strategy_it_is),
        cmocka_unit_test(what_is_wrong_in_config_is_said),
        cmocka_unit_test(too_much_data_is_refused),
        cmocka_unit_test(string_data_becomes_data),
        cmocka_unit_test(what_may_not_change_is_refused),
        cmocka_unit_test(a_namespace_is_made_ready_for_use),
        cmocka_unit_test(only_finalizing_changes_the_finalizers),
        cmocka_unit_test(the_first_namespaces_stay),
        cmocka_unit_test(what_is_wrong_in_a_node_is_said),
        cmocka_unit_test(events_lie_where_their_object_is),
    };

    return cmocka_run_group_tests_name("cluster", tests, NULL, NULL);
}
