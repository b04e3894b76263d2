/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of services: what the server decides, and validation. */
#include "src/cluster/apiserver/kinds/test/kind.h"

#include "src/cluster/apiserver/kinds/service_alloc.h"

DEFINE_WORLD

#define SERVICE(inner) "{'metadata':{'name':'s','namespace':'ns','uid':'u'},'spec':{" inner "}}"
#define PORT80 "'ports':[{'port':80}]"

/* Defaults, then what the server decides on creation; NULL if it refuses. */
static struct jsn *made(struct kind_test *t, const char *text)
{
    struct jsn *o = json_of(&t->c.arena, text);

    t->c.failure = NULL;
    shape_default(&t->c, o);
    return t->strategy->prepare_create(&t->c, o) < 0 ? NULL : o;
}

static const char *spec_text(struct kind_test *t, const struct jsn *o, const char *key)
{
    return text_of(&t->c.arena, jsn_key(jsn_key(o, "spec"), key));
}

static void a_service_gets_an_address_and_defaults(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct jsn *o;
    const char *ip;

    (void)state;
    world_n = 0;
    kind_init(&t, "services");
    o = made(&t, SERVICE(PORT80));
    ip = jsn_get_str(o, "spec.clusterIP");
    assert_true(starts_with(ip, "10.96."));
    assert_string_equal(jsn_text(jsn_item(jsn_get(o, "spec.clusterIPs"), 0)), ip);
    assert_string_equal(spec_text(&t, o, "ports"),
                        "[{'port':80,'protocol':'TCP','targetPort':80}]");
    assert_string_equal(spec_text(&t, o, "type"), "'ClusterIP'");
    assert_string_equal(spec_text(&t, o, "ipFamilies"), "['IPv4']");
    assert_string_equal(spec_text(&t, o, "ipFamilyPolicy"), "'SingleStack'");
    assert_string_equal(spec_text(&t, o, "internalTrafficPolicy"), "'Cluster'");
    assert_string_equal(text_of(&t.c.arena, jsn_key(o, "status")), "{'loadBalancer':{}}");
}

static void types_differ_in_what_they_get(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct jsn *o;
    int64_t port;

    (void)state;
    world_n = 0;
    kind_init(&t, "services");

    o = made(&t, SERVICE("'clusterIP':'None','selector':{'a':'b'}," PORT80));
    assert_string_equal(spec_text(&t, o, "clusterIPs"), "['None']");

    o = made(&t, SERVICE("'clusterIP':'None'," PORT80));
    assert_string_equal(spec_text(&t, o, "ipFamilies"), "['IPv4','IPv6']");

    o = made(&t, SERVICE("'type':'ExternalName','externalName':'a.b'"));
    assert_string_equal(spec_text(&t, o, "clusterIP"), "(absent)");
    assert_string_equal(spec_text(&t, o, "ipFamilies"), "(absent)");

    o = made(&t, SERVICE("'type':'NodePort'," PORT80));
    port = jsn_get_int(jsn_item(jsn_get(o, "spec.ports"), 0), "nodePort", 0);
    assert_in_range(port, SERVICE_NODE_PORT_FIRST, SERVICE_NODE_PORT_LAST);
    assert_string_equal(spec_text(&t, o, "externalTrafficPolicy"), "'Cluster'");

    o = made(&t, SERVICE("'type':'LoadBalancer','externalTrafficPolicy':'Local'," PORT80));
    assert_in_range(jsn_get_int(o, "spec.healthCheckNodePort", 0), SERVICE_NODE_PORT_FIRST,
                    SERVICE_NODE_PORT_LAST);
    assert_string_equal(spec_text(&t, o, "allocateLoadBalancerNodePorts"), "true");

    o = made(&t, SERVICE("'sessionAffinity':'ClientIP'," PORT80));
    assert_string_equal(spec_text(&t, o, "sessionAffinityConfig"),
                        "{'clientIP':{'timeoutSeconds':10800}}");
}

static void two_protocols_on_one_port_share_the_node_port(void **state)
{
    AUTO(kind_done) struct kind_test t;
    const struct jsn *ports;

    (void)state;
    world_n = 0;
    kind_init(&t, "services");
    ports = jsn_get(made(&t, SERVICE("'type':'NodePort','ports':[{'port':53,'name':'t'},"
                                     "{'port':53,'name':'u','protocol':'UDP'}]")),
                    "spec.ports");
    assert_int_equal(jsn_get_int(jsn_item(ports, 0), "nodePort", 1),
                     jsn_get_int(jsn_item(ports, 1), "nodePort", 2));
}

static void what_is_taken_is_refused(void **state)
{
    static const struct world_object objects[] = {
        {"services", "other", "x",
         "{'metadata':{'name':'x','uid':'1','annotations':{'a':'{\\'clusterIP\\':\\'10.96.9.8\\'}'"
         "}},'spec':{'clusterIP':'10.96.9.9','clusterIPs':['10.96.9.9'],'ports':[{'port':80,"
         "'nodePort':30001}]}}"},
    };
    static const struct {
        const char *spec, *want;
    } cases[] = {
        {"'clusterIP':'10.96.9.8'," PORT80, NULL},
        {"'clusterIP':'10.96.9.9'," PORT80,
         "spec.clusterIPs: Invalid value: [\"10.96.9.9\"]: failed to allocate IP "
         "10.96.9.9: provided IP is already allocated"},
        {"'clusterIP':'1.2.3.4'," PORT80,
         "spec.clusterIPs: Invalid value: [\"1.2.3.4\"]: failed to allocate IP 1.2.3.4: "
         "the provided IP (1.2.3.4) is not in the valid range. The range of valid IPs is "
         "10.96.0.0/16"},
        {"'type':'NodePort','ports':[{'port':80,'nodePort':30001}]",
         "spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated"},
        {"'type':'NodePort','ports':[{'port':80,'nodePort':80}]",
         "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The "
         "range of valid ports is 30000-32767"},
        {"'ipFamilyPolicy':'RequireDualStack','selector':{'a':'b'}," PORT80,
         "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not "
         "configured for dual-stack services"},
    };
    AUTO(kind_done) struct kind_test t;

    (void)state;
    world = objects;
    world_n = 1;
    kind_init(&t, "services");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct jsn *o = made(&t, arena_printf(&t.c.arena, SERVICE("%s"), cases[i].spec));

        if (!cases[i].want) {
            assert_non_null(o);
            continue;
        }
        assert_null(o);
        assert_string_equal(
            jsn_get_str(t.c.failure, "message"),
            arena_printf(&t.c.arena, "Service \"s\" is invalid: %s", cases[i].want));
    }
}

static void the_pool_gives_each_address_once_and_then_none(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct service_pool *p = arena_calloc(&a, 1, sizeof(*p));
    size_t n = 0;

    (void)state;
    memset(p->addresses, 0xff, sizeof(p->addresses));
    p->addresses[100] = 0xfe; /* 10.96.3.32 */
    assert_string_equal(service_pool_any_address(&a, p), "10.96.3.32");
    assert_string_equal(service_pool_any_address(&a, p), "");
    while (service_pool_any_port(p) != 0)
        n++;
    assert_int_equal(n, SERVICE_NODE_PORT_LAST - SERVICE_NODE_PORT_FIRST + 1);
    assert_string_equal(service_pool_take_port(p, 30000), "provided port is already allocated");
}

static void broken_text_marks_nothing(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct service_pool *p = arena_calloc(&a, 1, sizeof(*p));
    static const char *const texts[] = {"", "\"clusterIP\":\"", "\"clusterIP\":\"x\"",
                                        "\"nodePort\":", "\"nodePort\":99999999999999999999}"};
    struct service_pool empty = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        service_pool_mark(p, str_of(texts[i]));
    assert_memory_equal(p, &empty, sizeof(empty));
}

/* The new spec after what the server decides on an update. */
static struct jsn *updated(struct kind_test *t, const char *old_text, const char *new_text)
{
    struct jsn *old = json_of(&t->c.arena, old_text);
    struct jsn *o = json_of(&t->c.arena, new_text);

    shape_default(&t->c, o);
    assert_int_equal(t->strategy->prepare_update(&t->c, o, old), 0);
    return o;
}

#define OLD                                                                                        \
    SERVICE("'type':'NodePort','clusterIP':'10.96.1.1','clusterIPs':['10.96.1.1'],'ipFamilies':["  \
            "'IPv4'],'ipFamilyPolicy':'SingleStack','externalTrafficPolicy':'Cluster','ports':[{"  \
            "'port':80,'protocol':'TCP','targetPort':80,'nodePort':30005}]")

static void an_update_keeps_what_was_given(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct jsn *o;

    (void)state;
    world_n = 0;
    kind_init(&t, "services");
    o = updated(&t, OLD, SERVICE("'type':'NodePort','selector':{'a':'b'}," PORT80));
    assert_string_equal(spec_text(&t, o, "clusterIP"), "'10.96.1.1'");
    assert_string_equal(spec_text(&t, o, "ports"),
                        "[{'port':80,'protocol':'TCP','targetPort':80,'nodePort':30005}]");
}

static void a_new_type_drops_what_it_has_no_use_for(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct jsn *o;

    (void)state;
    world_n = 0;
    kind_init(&t, "services");
    o = updated(
        &t, OLD,
        SERVICE("'type':'ClusterIP','clusterIP':'10.96.1.1','clusterIPs':['10.96.1.1'],"
                "'externalTrafficPolicy':'Cluster','ports':[{'port':80,'nodePort':30005}]"));
    assert_string_equal(spec_text(&t, o, "externalTrafficPolicy"), "(absent)");
    assert_string_equal(spec_text(&t, o, "ports"),
                        "[{'port':80,'protocol':'TCP','targetPort':80}]");
    o = updated(&t, OLD,
                SERVICE("'type':'ExternalName','externalName':'a.b','clusterIP':'10.96.1.1',"
                        "'clusterIPs':['10.96.1.1']"));
    assert_string_equal(spec_text(&t, o, "clusterIP"), "(absent)");
}

static void an_address_does_not_change(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct jsn *o;
    struct causes cs;

    (void)state;
    world_n = 0;
    kind_init(&t, "services");
    o = updated(&t, OLD, SERVICE("'clusterIP':'10.96.1.2','clusterIPs':['10.96.1.1']," PORT80));
    cs = (struct causes){.arena = &t.c.arena};
    t.strategy->validate_update(&cs, o, json_of(&t.c.arena, OLD));
    assert_string_equal(causes_text(&cs), "spec.clusterIPs[0]: Invalid value: "
                                          "[\"10.96.1.2\"]: may not change once set");
}

static void what_is_wrong_in_a_service_is_said(void **state)
{
    static const struct fault_case cases[] = {
        {PORT80, ""},
        {"'ports':[]", "spec.ports: Required value"},
        {"'clusterIP':'None','clusterIPs':['None']", ""},
        {"'ports':[{'port':80},{'port':81,'name':'b'}]", "spec.ports[0].name: Required value"},
        {"'ports':[{'port':0}]",
         "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive\n"
         "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive"},
        {"'type':'Foo'," PORT80, "spec.type: Unsupported value: \"Foo\": supported values: "
                                 "\"ClusterIP\", \"ExternalName\", \"LoadBalancer\", "
                                 "\"NodePort\""},
        {"'type':'ExternalName'", "spec.externalName: Required value"},
        {"'type':'NodePort','clusterIP':'None','clusterIPs':['None']," PORT80,
         "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort "
         "services"},
        {"'clusterIPs':['10.96.0.9']," PORT80,
         "spec.clusterIPs: Invalid value: [\"10.96.0.9\"]: must be empty when `clusterIP` "
         "is not specified"},
        {"'sessionAffinity':'ClientIP','sessionAffinityConfig':{'clientIP':{'timeoutSeconds':"
         "0}}," PORT80,
         "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater "
         "than 0 and less than 86400"},
        {"'ports':[{'port':80,'nodePort':30001}]",
         "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"},
        {"'externalIPs':['127.0.0.1']," PORT80,
         "spec.externalIPs[0]: Invalid value: \"127.0.0.1\": may not be in the loopback range "
         "(127.0.0.0/8, ::1/128)"},
        {"'externalTrafficPolicy':'Local'," PORT80,
         "spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set for "
         "externally-accessible services"},
        {"'loadBalancerClass':'x'," PORT80,
         "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"},
    };

    (void)state;
    check_faults("services", SERVICE("%s"), cases, ARRAY_LEN(cases));
}

static void what_is_wrong_in_endpoints_is_said(void **state)
{
    static const struct fault_case endpoints[] = {
        {"{'addresses':[{'ip':'1.2.3.4'}],'ports':[{'port':80}]}", ""},
        {"{}", "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"},
        {"{'addresses':[{'ip':'169.254.1.1'}]}",
         "subsets[0].addresses[0].ip: Invalid value: \"169.254.1.1\": may not be in the "
         "link-local range (169.254.0.0/16, fe80::/10)"},
        {"{'addresses':[{'ip':'::1'},{'ip':'::'}]}",
         "subsets[0].addresses[0].ip: Invalid value: \"::1\": may not be in the loopback range "
         "(127.0.0.0/8, ::1/128)\nsubsets[0].addresses[1].ip: Invalid value: \"::\": may not be "
         "unspecified (0.0.0.0 or ::)"},
    };
    static const struct fault_case slices[] = {
        {"'IPv4','endpoints':[{'addresses':['1.2.3.4']}]", ""},
        {"'Foo'", "addressType: Unsupported value: \"Foo\": supported values: \"FQDN\", \"IPv4\", "
                  "\"IPv6\""},
        {"'IPv4','endpoints':[{}]",
         "endpoints[0].addresses: Required value: must contain at least 1 address"},
        {"'IPv4','endpoints':[{'addresses':['a']}]",
         "endpoints[0].addresses[0]: Invalid value: \"a\": must be a valid IPv4 address"},
    };

    (void)state;
    check_faults("endpoints", "{'metadata':{'name':'e'},'subsets':[%s]}", endpoints,
                 ARRAY_LEN(endpoints));
    check_faults("endpointslices.discovery.k8s.io", "{'metadata':{'name':'e'},'addressType':%s}",
                 slices, ARRAY_LEN(slices));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_gets_an_address_and_defaults),
        cmocka_unit_test(types_differ_in_what_they_get),
        cmocka_unit_test(two_protocols_on_one_port_share_the_node_port),
        cmocka_unit_test(what_is_taken_is_refused),
        cmocka_unit_test(the_pool_gives_each_address_once_and_then_none),
        cmocka_unit_test(broken_text_marks_nothing),
        cmocka_unit_test(an_update_keeps_what_was_given),
        cmocka_unit_test(a_new_type_drops_what_it_has_no_use_for),
        cmocka_unit_test(an_address_does_not_change),
        cmocka_unit_test(what_is_wrong_in_a_service_is_said),
        cmocka_unit_test(what_is_wrong_in_endpoints_is_said),
    };

    return cmocka_run_group_tests_name("services", tests, NULL, NULL);
}
