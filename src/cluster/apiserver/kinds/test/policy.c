/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of storage, rbac, networking, quotas, webhooks, budgets and leases. */
#include "src/cluster/apiserver/kinds/test/kind.h"

#include "src/cluster/apiserver/kinds/claims.h"

DEFINE_WORLD

#define CLAIM(inner)                                                                               \
    "{'metadata':{'name':'c','namespace':'ns'},'spec':{'accessModes':['ReadWriteOnce'],"           \
    "'resources':{'requests':{'storage':'1Gi'}}" inner "}}"

static void a_claim_is_protected_and_gets_a_class(void **state)
{
    static const struct world_object objects[] = {
        {"storageclasses.storage.k8s.io", "", "slow", "{'metadata':{'name':'slow'}}"},
        {"storageclasses.storage.k8s.io", "", "fast",
         "{'metadata':{'name':'fast','annotations':"
         "{'storageclass.kubernetes.io/is-default-class':'true'}}}"},
    };
    AUTO(kind_done) struct kind_test t;
    struct jsn *o;

    (void)state;
    world = objects;
    world_n = ARRAY_LEN(objects);
    kind_init(&t, "persistentvolumeclaims");
    o = json_of(&t.c.arena, CLAIM(""));
    shape_default(&t.c, o);
    assert_int_equal(t.strategy->prepare_create(&t.c, o), 0);
    assert_string_equal(jsn_get_str(o, "spec.storageClassName"), "fast");
    assert_string_equal(jsn_get_str(o, "spec.volumeMode"), "Filesystem");
    assert_string_equal(text_of(&t.c.arena, jsn_get(o, "metadata.finalizers")),
                        "['kubernetes.io/pvc-protection']");
    assert_string_equal(text_of(&t.c.arena, jsn_key(o, "status")), "{'phase':'Pending'}");

    o = json_of(&t.c.arena, CLAIM(",'storageClassName':''"));
    assert_int_equal(t.strategy->prepare_create(&t.c, o), 0);
    assert_string_equal(jsn_get_str(o, "spec.storageClassName"), "");
}

static void a_claim_that_no_pod_uses_goes_at_once(void **state)
{
    static const struct world_object objects[] = {
        {"pods", "ns", "waiting",
         "{'spec':{'volumes':[{'persistentVolumeClaim':{'claimName':'c'}}]}}"},
        {"pods", "other", "far",
         "{'spec':{'nodeName':'m','volumes':[{'persistentVolumeClaim':{'claimName':'c'}}]"
         "}}"},
        {"pods", "ns", "ended",
         "{'spec':{'nodeName':'m','volumes':[{'emptyDir':{}},{'persistentVolumeClaim':{"
         "'claimName':'c'}}]},'status':{'phase':'Succeeded'}}"},
    };
    AUTO(kind_done) struct kind_test t;
    struct jsn *o;

    (void)state;
    world = objects;
    kind_init(&t, "persistentvolumeclaims");
    for (world_n = 2; world_n <= 3; world_n++) {
        o = json_of(&t.c.arena, "{'metadata':{'name':'c','namespace':'ns','finalizers':['x/y',"
                                "'kubernetes.io/pvc-protection']}}");
        assert_int_equal(t.strategy->check_delete(&t.c, o), 0);
        assert_int_equal(jsn_len(jsn_get(o, "metadata.finalizers")), world_n == 2 ? 1 : 2);
    }
}

static void finalizers_come_and_go(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *o = json_of(&a, "{}");

    (void)state;
    claims_drop_finalizer(o, "x");
    claims_add_finalizer(&a, o, "x");
    claims_add_finalizer(&a, o, "x");
    assert_string_equal(text_of(&a, o), "{'metadata':{'finalizers':['x']}}");
    claims_drop_finalizer(o, "x");
    assert_string_equal(text_of(&a, o), "{'metadata':{}}");
}

static void what_is_wrong_in_storage_is_said(void **state)
{
    static const struct fault_case claims[] = {
        {"'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}", ""},
        {"'resources':{'requests':{'storage':'0'}}",
         "spec.accessModes: Required value: at least 1 access mode is required\n"
         "spec.resources[storage]: Invalid value: \"0\": must be greater than zero"},
        {"'accessModes':['Foo']",
         "spec.accessModes: Unsupported value: \"Foo\": supported values: \"ReadOnlyMany\", "
         "\"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\"\n"
         "spec.resources[storage]: Required value"},
    };
    static const struct fault_case volumes[] = {
        {"'hostPath':{'path':'/x'}", ""},
        {"'hostPath':{'path':'/x'},'nfs':{'server':'a','path':'/b'}",
         "spec.nfs: Forbidden: may not specify more than 1 volume type"},
        {"'volumeMode':'Block'", "spec: Required value: must specify a volume type"},
        {"'local':{'path':'/x'}",
         "spec.nodeAffinity: Required value: Local volume requires node affinity"},
        {"'hostPath':{'path':'/x'},'persistentVolumeReclaimPolicy':'Foo'",
         "spec.persistentVolumeReclaimPolicy: Unsupported value: \"Foo\": supported values: "
         "\"Delete\", \"Recycle\", \"Retain\""},
    };
    static const struct fault_case classes[] = {
        {"'provisioner':'a/b'", ""},
        {"'parameters':{}", "provisioner: Required value"},
    };

    (void)state;
    check_faults("persistentvolumeclaims", "{'metadata':{'name':'c'},'spec':{%s}}", claims,
                 ARRAY_LEN(claims));
    check_faults("persistentvolumes",
                 "{'metadata':{'name':'v'},'spec':{'accessModes':['ReadWriteOnce'],'capacity':"
                 "{'storage':'1Gi'},%s}}",
                 volumes, ARRAY_LEN(volumes));
    check_faults("storageclasses.storage.k8s.io", "{'metadata':{'name':'s'},%s}", classes,
                 ARRAY_LEN(classes));
}

#define SPEC_RULE                                                                                  \
    "spec: Forbidden: spec is immutable after creation except resources.requests for bound claims"
#define BOUND(size)                                                                                \
    "{'spec':{'volumeName':'v','resources':{'requests':{'storage':'" size                          \
    "'}}},'status':{'phase':'Bound'}}"

static void what_may_not_change_is_refused(void **state)
{
    static const struct {
        const char *resource, *old, *new, *want;
    } cases[] = {
        {"persistentvolumeclaims", CLAIM(""), CLAIM(",'volumeName':'v','storageClassName':'s'"),
         ""},
        {"persistentvolumeclaims", CLAIM(",'volumeName':'v'"), CLAIM(",'volumeName':'w'"),
         SPEC_RULE "\n\tspec.volumeName: \"v\" -> \"w\""},
        {"persistentvolumeclaims", BOUND("1Gi"), BOUND("2Gi"), ""},
        {"persistentvolumeclaims", BOUND("2Gi"), BOUND("1Gi"),
         "spec.resources.requests.storage: Forbidden: field can not be less than previous value"},
        {"persistentvolumes", "{'spec':{'hostPath':{'path':'/x'}}}",
         "{'spec':{'hostPath':{'path':'/y'}}}",
         "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after "
         "creation\n\tspec.hostPath: {\"path\":\"/x\",\"type\":\"\"} -> "
         "{\"path\":\"/y\",\"type\":\"\"}"},
        {"storageclasses.storage.k8s.io", "{'provisioner':'a'}", "{'provisioner':'b'}",
         "provisioner: Forbidden: updates to provisioner are forbidden."},
        {"priorityclasses.scheduling.k8s.io", "{'value':1}", "{'value':2}",
         "value: Forbidden: may not be changed in an update."},
        {"rolebindings.rbac.authorization.k8s.io", "{'roleRef':{'kind':'Role','name':'a'}}",
         "{'roleRef':{'kind':'Role','name':'b'}}",
         "roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\","
         "\"Kind\":\"Role\",\"Name\":\"b\"}: cannot change roleRef"},
        {"resourcequotas", "{'spec':{'scopes':['BestEffort']}}", "{'spec':{}}",
         "spec.scopes: Invalid value: null: field is immutable"},
        {"endpointslices.discovery.k8s.io", "{'addressType':'IPv4'}", "{'addressType':'IPv6'}",
         "addressType: Invalid value: \"IPv6\": field is immutable"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(kind_done) struct kind_test t;

        kind_init(&t, cases[i].resource);
        assert_string_equal(update_faults(&t, cases[i].old, cases[i].new), cases[i].want);
    }
}

static void what_is_wrong_in_roles_is_said(void **state)
{
    static const struct fault_case roles[] = {
        {"{'verbs':['get'],'apiGroups':[''],'resources':['pods']}", ""},
        {"{'verbs':['get']}",
         "rules[0].apiGroups: Required value: resource rules must supply at least one api group\n"
         "rules[0].resources: Required value: resource rules must supply at least one resource"},
        {"{'verbs':['get'],'nonResourceURLs':['/x']}",
         "rules[0].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply "
         "to non-resource URLs"},
    };
    static const struct fault_case bindings[] = {
        {"'Role','name':'a'},'subjects':[{'kind':'User','name':'x'},{'kind':'ServiceAccount',"
         "'name':'s'}]",
         ""},
        {"'Foo','name':'a'}", "roleRef.kind: Unsupported value: \"Foo\": supported values: "
                              "\"Role\", \"ClusterRole\""},
        {"'Role','name':'a'},'subjects':[{'kind':'Foo','name':'x'}]",
         "subjects[0].kind: Unsupported value: \"Foo\": supported values: \"ServiceAccount\", "
         "\"User\", \"Group\""},
    };

    (void)state;
    check_faults("roles.rbac.authorization.k8s.io", "{'metadata':{'name':'r'},'rules':[%s]}", roles,
                 ARRAY_LEN(roles));
    check_faults("rolebindings.rbac.authorization.k8s.io",
                 "{'metadata':{'name':'r'},'roleRef':{'kind':%s}", bindings, ARRAY_LEN(bindings));
}

static void what_is_wrong_in_networking_is_said(void **state)
{
    static const struct fault_case ingresses[] = {
        {"'defaultBackend':{'service':{'name':'a','port':{'number':80}}}", ""},
        {"'tls':[]", "spec: Invalid value: null: either "
                     "`defaultBackend` or `rules` must be specified"},
        {"'rules':[{'host':'1.2.3.4'}]",
         "spec.rules[0].host: Invalid value: \"1.2.3.4\": must be a DNS name, not an IP address"},
        {"'rules':[{'http':{'paths':[{'path':'/a//b','pathType':'Prefix','backend':{'service':"
         "{'name':'a','port':{'name':'h'}}}}]}}]",
         "spec.rules[0].http.paths[0].path: Invalid value: \"/a//b\": must not contain '//'"},
        {"'rules':[{'http':{'paths':[{'path':'/'}]}}]",
         "spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified"},
    };
    static const struct fault_case policies[] = {
        {"'ingress':[{'from':[{'ipBlock':{'cidr':'10.0.0.0/8'}}]}]", ""},
        {"'ingress':[{'from':[{}]}]",
         "spec.ingress[0].from[0]: Required value: must specify a peer"},
        {"'egress':[{'to':[{'ipBlock':{'cidr':'x'}}]}]",
         "spec.egress[0].to[0].ipBlock.cidr: Invalid value: \"x\": not a valid CIDR"},
    };

    (void)state;
    check_faults("ingresses.networking.k8s.io", "{'metadata':{'name':'i'},'spec':{%s}}", ingresses,
                 ARRAY_LEN(ingresses));
    check_faults("networkpolicies.networking.k8s.io",
                 "{'metadata':{'name':'n'},'spec':{'podSelector':{},%s}}", policies,
                 ARRAY_LEN(policies));
}

static void policies_are_about_what_they_have_rules_for(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct jsn *o;

    (void)state;
    kind_init(&t, "networkpolicies.networking.k8s.io");
    o = json_of(&t.c.arena, "{'metadata':{},'spec':{'podSelector':{},'egress':[{}]}}");
    shape_default(&t.c, o);
    assert_string_equal(text_of(&t.c.arena, jsn_get(o, "spec.policyTypes")),
                        "['Ingress','Egress']");
}

static void what_is_wrong_in_small_kinds_is_said(void **state)
{
    static const struct fault_case budgets[] = {
        {"'minAvailable':1", ""},
        {"'minAvailable':1,'maxUnavailable':1",
         "spec: Invalid value: {\"minAvailable\":1,\"maxUnavailable\":1}: minAvailable and "
         "maxUnavailable cannot be both set"},
        {"'minAvailable':-1", "spec.minAvailable: Invalid value: -1: must be greater than or equal "
                              "to 0"},
    };
    static const struct fault_case leases[] = {
        {"'leaseDurationSeconds':5", ""},
        {"'leaseDurationSeconds':0",
         "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"},
    };
    static const struct fault_case classes[] = {
        {"'m'},'value':5", ""},
        {"'m'},'value':1000000001",
         "value: Forbidden: maximum allowed value of a user defined priority is 1000000000"},
        {"'system-cluster-critical'},'value':2000000000", ""},
        {"'system-x'},'value':1",
         "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for "
         "system use only. error: system-x is not a known system priority class"},
    };
    static const struct fault_case quotas[] = {
        {"'pods':'1','count/x':'2','requests.cpu':'1'", ""},
        {"'pods':'1500m'", "spec.hard[pods]: Invalid value: \"1500m\": must be an integer"},
        {"'storage':'1'",
         "spec.hard[storage]: Invalid value: \"storage\": must be a standard resource for quota"},
    };
    static const struct fault_case ranges[] = {
        {"{'type':'Container','max':{'cpu':'2'},'min':{'cpu':'1'}}", ""},
        {"{'type':'Pod','max':{'cpu':'1'},'min':{'cpu':'2'}}",
         "spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is greater than max value 1"},
        {"{'type':'Pod'},{'type':'Pod'}", "spec.limits[1].type: Duplicate value: \"Pod\""},
    };

    (void)state;
    check_faults("poddisruptionbudgets.policy", "{'metadata':{'name':'b'},'spec':{%s}}", budgets,
                 ARRAY_LEN(budgets));
    check_faults("leases.coordination.k8s.io", "{'metadata':{'name':'l'},'spec':{%s}}", leases,
                 ARRAY_LEN(leases));
    check_faults("priorityclasses.scheduling.k8s.io", "{'metadata':{'name':%s}", classes,
                 ARRAY_LEN(classes));
    check_faults("resourcequotas", "{'metadata':{'name':'q'},'spec':{'hard':{%s}}}", quotas,
                 ARRAY_LEN(quotas));
    check_faults("limitranges", "{'metadata':{'name':'r'},'spec':{'limits':[%s]}}", ranges,
                 ARRAY_LEN(ranges));
}

static void what_is_wrong_in_webhooks_is_said(void **state)
{
    static const struct fault_case cases[] = {
        {"'name':'a.b.c'", ""},
        {"'name':'a.b'", "webhooks[0].name: Invalid value: \"a.b\": should be a domain with at "
                         "least three segments separated by dots"},
        {"'name':'a.b.c','timeoutSeconds':31",
         "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and "
         "30 seconds"},
        {"'name':'a.b.c','rules':[{}]", "webhooks[0].rules[0].operations: Required value\n"
                                        "webhooks[0].rules[0].apiGroups: Required value\n"
                                        "webhooks[0].rules[0].apiVersions: Required value\n"
                                        "webhooks[0].rules[0].resources: Required value"},
    };

    (void)state;
    check_faults("validatingwebhookconfigurations.admissionregistration.k8s.io",
                 "{'metadata':{'name':'w'},'webhooks':[{'clientConfig':{'url':'https://x'},"
                 "'sideEffects':'None','admissionReviewVersions':['v1'],%s}]}",
                 cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_is_protected_and_gets_a_class),
        cmocka_unit_test(a_claim_that_no_pod_uses_goes_at_once),
        cmocka_unit_test(finalizers_come_and_go),
        cmocka_unit_test(what_is_wrong_in_storage_is_said),
        cmocka_unit_test(what_may_not_change_is_refused),
        cmocka_unit_test(what_is_wrong_in_roles_is_said),
        cmocka_unit_test(what_is_wrong_in_networking_is_said),
        cmocka_unit_test(policies_are_about_what_they_have_rules_for),
        cmocka_unit_test(what_is_wrong_in_small_kinds_is_said),
        cmocka_unit_test(what_is_wrong_in_webhooks_is_said),
    };

    return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
