/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of pods: defaults, admission, validation, updates. */
#include "src/cluster/apiserver/kinds/test/kind.h"

#include "src/cluster/apiserver/kinds/podspec.h"

DEFINE_WORLD

#define POD(inner) "{'metadata':{'name':'p','namespace':'ns'},'spec':{" inner "}}"
#define WITH(inner) POD("'containers':[{'name':'a','image':'x'}]," inner)
#define CONTAINER(inner) POD("'containers':[{'name':'a','image':'x'," inner "}]")

static void what_is_wrong_in_a_pod_is_said(void **state)
{
    static const struct fault_case cases[] = {
        {"'dnsPolicy':'Default'", ""},
        {"'restartPolicy':'Foo'", "spec.restartPolicy: Unsupported value: \"Foo\": supported "
                                  "values: \"Always\", \"OnFailure\", \"Never\""},
        {"'activeDeadlineSeconds':0", "spec.activeDeadlineSeconds: Invalid value: 0: must be "
                                      "between 1 and 2147483647, inclusive"},
        {"'dnsPolicy':'None'",
         "spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"},
        {"'volumes':[{'name':'v'},{'name':'v'}]", "spec.volumes[1].name: Duplicate value: \"v\""},
        {"'volumes':[{'name':'v','secret':{'secretName':'s'},'hostPath':{'path':'/x'}}]",
         "spec.volumes[0].secret: Forbidden: may not specify more than 1 volume type"},
        {"'volumes':[{'name':'v','hostPath':{'path':'/a/../b'}}]",
         "spec.volumes[0].hostPath.path: Invalid value: \"/a/../b\": must not contain '..'"},
        {"'volumes':[{'name':'v','configMap':{'name':'m','items':[{'key':'k','path':'/x'}]}}]",
         "spec.volumes[0].configMap.items[0].path: Invalid value: \"/x\": must be a relative "
         "path"},
        {"'volumes':[{'name':'v','configMap':{'name':'m','defaultMode':512}}]",
         "spec.volumes[0].configMap.defaultMode: Invalid value: 512: must be a number between 0 "
         "and 0777 (octal), both inclusive"},
        {"'volumes':[{'name':'v','projected':{'sources':[{'serviceAccountToken':{'path':'t',"
         "'expirationSeconds':5}}]}}]",
         "spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid "
         "value: 5: may not specify a duration less than 10 minutes"},
        {"'volumes':[{'name':'v','nfs':{'server':'s','path':'x'}}]",
         "spec.volumes[0].nfs.path: Invalid value: \"x\": must be an absolute path"},
        {"'volumes':[{'name':'v','persistentVolumeClaim':{}}]",
         "spec.volumes[0].persistentVolumeClaim.claimName: Required value"},
        {"'tolerations':[{'key':'a','effect':'NoExecute','tolerationSeconds':5}]", ""},
        {"'tolerations':[{'key':'a','tolerationSeconds':5}]",
         "spec.tolerations[0].effect: Invalid value: \"\": effect must be 'NoExecute' when "
         "`tolerationSeconds` is set"},
        {"'securityContext':{'runAsUser':-1}",
         "spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, "
         "inclusive"},
        {"'initContainers':[{'name':'a','image':'x'}]",
         "spec.initContainers[0].name: Duplicate value: \"a\""},
        {"'initContainers':[{'name':'b','image':'x','livenessProbe':{'exec':{'command':['x']}}}]",
         "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers "
         "without restartPolicy=Always"},
        {"'initContainers':[{'name':'b','image':'x','restartPolicy':'Always','livenessProbe':"
         "{'exec':{'command':['x']}}}]",
         ""},
        {"'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{}}}",
         "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
         "nodeSelectorTerms: Required value: must have at least one node selector term"},
        {"'topologySpreadConstraints':[{'maxSkew':0,'topologyKey':'k','whenUnsatisfiable':"
         "'DoNotSchedule'}]",
         "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"},
        {"'hostNetwork':true,'shareProcessNamespace':true,'hostPID':true",
         "spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace "
         "and HostPID cannot both be enabled"},
    };

    (void)state;
    check_faults("pods", WITH("%s"), cases, ARRAY_LEN(cases));
}

static void what_is_wrong_in_a_container_is_said(void **state)
{
    static const struct fault_case cases[] = {
        {"'ports':[{'containerPort':80,'name':'a'},{'containerPort':81,'name':'a'}]",
         "spec.containers[0].ports[1].name: Duplicate value: \"a\""},
        {"'ports':[{'containerPort':0}]",
         "spec.containers[0].ports[0].containerPort: Required value"},
        {"'ports':[{'containerPort':80,'hostPort':8},{'containerPort':81,'hostPort':8}]",
         "spec.containers[0].ports[1].hostPort: Duplicate value: \"TCP//8\""},
        {"'env':[{'name':'A','valueFrom':{}}]",
         "spec.containers[0].env[0].valueFrom: Invalid value: \"\": must specify one of: "
         "`fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"},
        {"'env':[{'name':'A','value':'x','valueFrom':{'fieldRef':{'fieldPath':'metadata.uid'}}}]",
         "spec.containers[0].env[0].valueFrom: Invalid value: \"\": may not be specified when "
         "`value` is not empty"},
        {"'env':[{'name':'A','valueFrom':{'fieldRef':{'fieldPath':'spec.foo'}}}]",
         "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: \"spec.foo\": "
         "error converting fieldPath: field label not supported: spec.foo"},
        {"'envFrom':[{}]", "spec.containers[0].envFrom: Invalid value: \"\": must specify one of: "
                           "`configMapRef` or `secretRef`"},
        {"'volumeMounts':[{'name':'v','mountPath':'/v'}]",
         "spec.containers[0].volumeMounts[0].name: Not found: \"v\""},
        {"'livenessProbe':{}", "spec.containers[0].livenessProbe: Required value: must specify a "
                               "handler type"},
        {"'livenessProbe':{'tcpSocket':{'port':1},'successThreshold':2}",
         "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1"},
        {"'readinessProbe':{'grpc':{'port':5}}", ""},
        {"'readinessProbe':{'exec':{'command':['x']},'tcpSocket':{'port':1}}",
         "spec.containers[0].readinessProbe.tcpSocket: Forbidden: may not specify more than 1 "
         "handler type"},
        {"'lifecycle':{'preStop':{'sleep':{'seconds':5}}}", ""},
        {"'imagePullPolicy':'Foo'",
         "spec.containers[0].imagePullPolicy: Unsupported value: \"Foo\": supported values: "
         "\"Always\", \"IfNotPresent\", \"Never\""},
        {"'resources':{'limits':{'cpu':'1'},'requests':{'cpu':'1500m'}}",
         "spec.containers[0].resources.requests: Invalid value: \"1500m\": must be less than or "
         "equal to cpu limit of 1"},
        {"'resources':{'limits':{'foo':'1'}}",
         "spec.containers[0].resources.limits[foo]: Invalid value: \"foo\": must be a standard "
         "resource type or fully qualified\nspec.containers[0].resources.limits[foo]: Invalid "
         "value: \"foo\": must be a standard resource for containers\n"
         "spec.containers[0].resources.requests[foo]: Invalid value: \"foo\": must be a standard "
         "resource type or fully qualified\nspec.containers[0].resources.requests[foo]: Invalid "
         "value: \"foo\": must be a standard resource for containers"},
        {"'resources':{'requests':{'x.y/gpu':'1'}}",
         "spec.containers[0].resources.limits: Required value: Limit must be set for non "
         "overcommitable resources"},
        {"'resources':{'limits':{'cpu':'-1'}}",
         "spec.containers[0].resources.limits[cpu]: Invalid value: \"-1\": must be greater than "
         "or equal to 0\nspec.containers[0].resources.requests[cpu]: Invalid value: \"-1\": must "
         "be greater than or equal to 0"},
        {"'securityContext':{'procMount':'Foo'}",
         "spec.containers[0].securityContext.procMount: Unsupported value: \"Foo\": supported "
         "values: \"Default\", \"Unmasked\""},
    };

    (void)state;
    check_faults("pods", CONTAINER("%s"), cases, ARRAY_LEN(cases));
}

static void a_pod_needs_containers(void **state)
{
    AUTO(kind_done) struct kind_test t;

    (void)state;
    kind_init(&t, "pods");
    assert_string_equal(faults_of(&t, POD("'containers':[]")), "spec.containers: Required value");
    assert_string_equal(faults_of(&t, POD("'containers':[{}]")),
                        "spec.containers[0].name: Required value\n"
                        "spec.containers[0].image: Required value");
    assert_string_equal(faults_of(&t, POD("'containers':[{'name':'a','image':' x'}]")),
                        "spec.containers[0].image: Invalid value: \" x\": must not have leading "
                        "or trailing whitespace");
}

static void mounts_must_name_volumes_and_differ(void **state)
{
    AUTO(kind_done) struct kind_test t;

    (void)state;
    kind_init(&t, "pods");
    assert_string_equal(
        faults_of(&t, POD("'volumes':[{'name':'v'}],'containers':[{'name':'a','image':'x',"
                          "'volumeMounts':[{'name':'v','mountPath':'/a'},"
                          "{'name':'v','mountPath':'/a','subPath':'../x'},"
                          "{'name':'v','mountPath':'/b','mountPropagation':'Bidirectional'}]}]")),
        "spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/a\": must be unique\n"
        "spec.containers[0].volumeMounts.subPath: Invalid value: \"../x\": must not contain '..'\n"
        "spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount "
        "propagation is available only to privileged containers");
}

static void the_pull_policy_follows_the_tag(void **state)
{
    static const struct {
        const char *image, *policy;
    } cases[] = {
        {"nginx", "Always"},
        {"nginx:latest", "Always"},
        {"nginx:1.2", "IfNotPresent"},
        {"host:5000/nginx", "Always"},
        {"host:5000/nginx:1", "IfNotPresent"},
        {"nginx@sha256:aa", "IfNotPresent"},
        {"nginx:latest@sha256:aa", "Always"},
        {"", "IfNotPresent"},
    };
    AUTO(kind_done) struct kind_test t;

    (void)state;
    kind_init(&t, "pods");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct jsn *pod = json_of(&t.c.arena, arena_printf(&t.c.arena,
                                                           POD("'containers':[{'name':'a',"
                                                               "'image':'%s'}]"),
                                                           cases[i].image));
        const struct jsn *container;

        shape_default(&t.c, pod);
        container = jsn_item(jsn_get(pod, "spec.containers"), 0);
        assert_string_equal(jsn_get_str(container, "imagePullPolicy"), cases[i].policy);
    }
}

static void defaults_look_around(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct jsn *pod;

    (void)state;
    kind_init(&t, "pods");
    pod =
        json_of(&t.c.arena, POD("'hostNetwork':true,'volumes':[{'name':'v'}],'containers':[{'name':"
                                "'a','image':'x','ports':[{'containerPort':80}],'resources':"
                                "{'limits':{'cpu':'1'}}}]"));
    shape_default(&t.c, pod);
    assert_string_equal(text_of(&t.c.arena, jsn_get(pod, "spec.volumes")),
                        "[{'name':'v','emptyDir':{}}]");
    assert_string_equal(
        text_of(&t.c.arena, jsn_key(jsn_item(jsn_get(pod, "spec.containers"), 0), "ports")),
        "[{'containerPort':80,'protocol':'TCP','hostPort':80}]");
    assert_string_equal(
        text_of(&t.c.arena, jsn_key(jsn_item(jsn_get(pod, "spec.containers"), 0), "resources")),
        "{'limits':{'cpu':'1'},'requests':{'cpu':'1'}}");
    assert_true(jsn_get_bool(pod, "spec.enableServiceLinks", false));
}

static void podip_and_podips_say_the_same(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct jsn *pod;

    (void)state;
    kind_init(&t, "pods");
    pod = json_of(&t.c.arena, "{'metadata':{},'spec':{},'status':{'podIP':'10.0.0.9'}}");
    shape_default(&t.c, pod);
    assert_string_equal(text_of(&t.c.arena, jsn_get(pod, "status.podIPs")), "[{'ip':'10.0.0.9'}]");
    pod = json_of(&t.c.arena, "{'metadata':{},'spec':{},'status':{'podIPs':[{'ip':'10.0.0.8'}]}}");
    shape_default(&t.c, pod);
    assert_string_equal(jsn_get_str(pod, "status.podIP"), "10.0.0.8");
}

static void service_follows_from_the_resources(void **state)
{
    static const struct {
        const char *spec, *want;
    } cases[] = {
        {"{'containers':[{}]}", "BestEffort"},
        {"{'containers':[{'resources':{'limits':{'x.y/gpu':'1'}}}]}", "BestEffort"},
        {"{'containers':[{'resources':{'requests':{'cpu':'1'}}}]}", "Burstable"},
        {"{'containers':[{'resources':{'limits':{'cpu':'1','memory':'1Gi'},'requests':{'cpu':'1',"
         "'memory':'1024Mi'}}}]}",
         "Guaranteed"},
        {"{'containers':[{'resources':{'limits':{'cpu':'1','memory':'1Gi'},'requests':{'cpu':'1',"
         "'memory':'1Gi'}}},{}]}",
         "Burstable"},
        {"{'containers':[{'resources':{'limits':{'cpu':'2','memory':'1Gi'},'requests':{'cpu':'1',"
         "'memory':'1Gi'}}}]}",
         "Burstable"},
    };
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(podspec_qos(json_of(&a, cases[i].spec)), cases[i].want);
}

static struct jsn *admitted(struct kind_test *t, const char *text, int want)
{
    struct jsn *pod = json_of(&t->c.arena, text);

    t->c.failure = NULL;
    shape_default(&t->c, pod);
    assert_int_equal(t->strategy->prepare_create(&t->c, pod), want);
    return pod;
}

static void admission_fills_in_what_others_decide(void **state)
{
    static const struct world_object objects[] = {
        {"serviceaccounts", "ns", "default",
         "{'metadata':{'name':'default'},'imagePullSecrets':[{'name':'s'}]}"},
        {"priorityclasses.scheduling.k8s.io", "", "high",
         "{'metadata':{'name':'high'},'value':7,'globalDefault':true,'preemptionPolicy':'Never'}"},
    };
    AUTO(kind_done) struct kind_test t;
    struct jsn *pod;

    (void)state;
    world = objects;
    world_n = ARRAY_LEN(objects);
    kind_init(&t, "pods");
    pod = admitted(&t, WITH("'automountServiceAccountToken':false"), 0);
    assert_string_equal(jsn_get_str(pod, "spec.serviceAccountName"), "default");
    assert_string_equal(text_of(&t.c.arena, jsn_get(pod, "spec.imagePullSecrets")),
                        "[{'name':'s'}]");
    assert_string_equal(jsn_get_str(pod, "spec.priorityClassName"), "high");
    assert_int_equal(jsn_get_int(pod, "spec.priority", 0), 7);
    assert_string_equal(jsn_get_str(pod, "spec.preemptionPolicy"), "Never");
    assert_string_equal(
        text_of(&t.c.arena, jsn_get(pod, "spec.tolerations")),
        "[{'key':'node.kubernetes.io/not-ready','operator':'Exists','effect':'NoExecute',"
        "'tolerationSeconds':300},{'key':'node.kubernetes.io/unreachable','operator':'Exists',"
        "'effect':'NoExecute','tolerationSeconds':300}]");
    assert_string_equal(text_of(&t.c.arena, jsn_key(pod, "status")),
                        "{'phase':'Pending','qosClass':'BestEffort'}");
    assert_null(jsn_get(pod, "spec.volumes"));
}

static void a_token_is_mounted_where_none_is(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct jsn *pod;
    const struct jsn *mount;

    (void)state;
    world_n = 0;
    kind_init(&t, "pods");
    pod = admitted(&t,
                   POD("'containers':[{'name':'a','image':'x'},{'name':'b','image':'x',"
                       "'volumeMounts':[{'name':'v','mountPath':"
                       "'/var/run/secrets/kubernetes.io/serviceaccount'}]}],"
                       "'volumes':[{'name':'v'}]"),
                   0);
    assert_int_equal(jsn_len(jsn_get(pod, "spec.volumes")), 2);
    mount = jsn_item(jsn_key(jsn_item(jsn_get(pod, "spec.containers"), 0), "volumeMounts"), 0);
    assert_string_equal(jsn_get_str(mount, "name"),
                        jsn_get_str(jsn_item(jsn_get(pod, "spec.volumes"), 1), "name"));
    assert_true(starts_with(jsn_get_str(mount, "name"), "kube-api-access-"));
    assert_int_equal(jsn_len(jsn_key(jsn_item(jsn_get(pod, "spec.containers"), 1), "volumeMounts")),
                     1);
}

static void admission_refuses(void **state)
{
    static const struct {
        const char *piece, *message;
    } cases[] = {
        {WITH("'serviceAccountName':'nope'"),
         "pods \"p\" is forbidden: error looking up service account ns/nope: serviceaccount "
         "\"nope\" not found"},
        {WITH("'priorityClassName':'nope'"),
         "pods \"p\" is forbidden: no PriorityClass with name nope was found"},
        {WITH("'priority':5"),
         "pods \"p\" is forbidden: the integer value of priority (5) must not be provided in pod "
         "spec; priority admission controller computed 0 from the given PriorityClass name"},
    };
    AUTO(kind_done) struct kind_test t;

    (void)state;
    world_n = 0;
    kind_init(&t, "pods");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        (void)admitted(&t, cases[i].piece, -1);
        assert_string_equal(jsn_get_str(t.c.failure, "message"), cases[i].message);
        assert_int_equal(jsn_get_int(t.c.failure, "code", 0), 403);
    }
    (void)admitted(&t, WITH("'priorityClassName':'system-node-critical'"), 0);
}

#define RULE                                                                                       \
    "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"    \
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "        \
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "     \
    "set to 1 if it was previously negative)"

static void a_pod_can_hardly_be_changed(void **state)
{
    static const struct {
        const char *old, *new, *want;
    } cases[] = {
        {WITH("'nodeName':'n'"), WITH("'nodeName':'n'"), ""},
        {WITH("'nodeName':'n'"), POD("'containers':[{'name':'a','image':'y'}],'nodeName':'n'"), ""},
        {WITH("'hostname':'a'"), WITH("'hostname':'b'"), RULE "\n\tspec.hostname: \"a\" -> \"b\""},
        {WITH("'hostname':'a'"), WITH("'subdomain':''"), RULE "\n\tspec.hostname: \"a\" -> unset"},
        {WITH("'subdomain':'a'"),
         POD("'containers':[{'name':'a','image':'x'},{'name':'b','image':'x'}],'subdomain':'a'"),
         "spec.containers: Forbidden: pod updates may not add or remove containers"},
        {WITH("'activeDeadlineSeconds':5"), WITH("'activeDeadlineSeconds':4"), ""},
        {WITH("'activeDeadlineSeconds':5"), WITH("'activeDeadlineSeconds':6"),
         "spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous "
         "value"},
        {WITH("'activeDeadlineSeconds':5"), WITH("'hostname':''"),
         "spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive "
         "integer to nil value"},
        {WITH("'tolerations':[{'key':'a','operator':'Exists'}]"),
         WITH("'tolerations':[{'key':'a','operator':'Exists'},{'key':'b','operator':'Exists'}]"),
         ""},
        {WITH("'tolerations':[{'key':'a','operator':'Exists'}]"), WITH("'tolerations':[]"),
         "spec.tolerations: Forbidden: existing toleration can not be modified except its "
         "tolerationSeconds"},
        {WITH("'terminationGracePeriodSeconds':-1"), WITH("'terminationGracePeriodSeconds':1"), ""},
    };
    AUTO(kind_done) struct kind_test t;

    (void)state;
    kind_init(&t, "pods");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(update_faults(&t, cases[i].old, cases[i].new), cases[i].want);
}

static void ephemeral_containers_have_their_own_door(void **state)
{
    const struct subresource door = {.name = "ephemeralcontainers"};
    AUTO(kind_done) struct kind_test t;
    struct jsn *old, *pod;

    (void)state;
    kind_init(&t, "pods");
    old = json_of(&t.c.arena, WITH("'hostname':'a'"));
    pod = json_of(&t.c.arena, WITH("'hostname':'b','ephemeralContainers':[{'name':'e'}]"));
    assert_int_equal(t.strategy->prepare_update(&t.c, jsn_clone(&t.c.arena, pod), old), -1);
    assert_int_equal(jsn_get_int(t.c.failure, "code", 0), 422);
    t.c.sub = &door;
    assert_int_equal(t.strategy->prepare_update(&t.c, pod, old), 0);
    assert_string_equal(jsn_get_str(pod, "spec.hostname"), "a");
    assert_int_equal(jsn_len(jsn_get(pod, "spec.ephemeralContainers")), 1);
    assert_int_equal(t.c.n_warnings, 1); /* nobody starts it here */
    assert_non_null(strstr(t.c.warnings[0], "kubectl exec"));
}

static void a_binding_is_noted_as_a_condition(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct jsn *pod;

    (void)state;
    kind_init(&t, "pods");
    t.c.binding = true;
    pod = json_of(&t.c.arena, WITH("'nodeName':'n'"));
    assert_int_equal(t.strategy->prepare_update(&t.c, pod, pod), 0);
    assert_string_equal(jsn_get_str(jsn_item(jsn_get(pod, "status.conditions"), 0), "type"),
                        "PodScheduled");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_in_a_pod_is_said),
        cmocka_unit_test(what_is_wrong_in_a_container_is_said),
        cmocka_unit_test(a_pod_needs_containers),
        cmocka_unit_test(mounts_must_name_volumes_and_differ),
        cmocka_unit_test(the_pull_policy_follows_the_tag),
        cmocka_unit_test(defaults_look_around),
        cmocka_unit_test(podip_and_podips_say_the_same),
        cmocka_unit_test(service_follows_from_the_resources),
        cmocka_unit_test(admission_fills_in_what_others_decide),
        cmocka_unit_test(a_token_is_mounted_where_none_is),
        cmocka_unit_test(admission_refuses),
        cmocka_unit_test(a_pod_can_hardly_be_changed),
        cmocka_unit_test(ephemeral_containers_have_their_own_door),
        cmocka_unit_test(a_binding_is_noted_as_a_condition),
    };

    return cmocka_run_group_tests_name("pods", tests, NULL, NULL);
}
