/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the parts of pod specs: volumes, environment, mounts, security, placement. */
#include "src/cluster/apiserver/kinds/test/kind.h"

DEFINE_WORLD

#define POD "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'a','image':'x'}],%s}}"
#define CONTAINER                                                                                  \
    "{'metadata':{'name':'p'},'spec':{'volumes':[{'name':'v'},{'name':'c',"                        \
    "'persistentVolumeClaim':{'claimName':'x'}}],'containers':[{'name':'a','image':'x',%s}]}}"

static void volumes_are_checked_source_by_source(void **state)
{
    static const struct fault_case cases[] = {
        {"{'name':'v','emptyDir':{'sizeLimit':'-1'}}",
         "spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource "
         "quantity"},
        {"{'name':'v','hostPath':{'path':'/x','type':'Foo'}}",
         "spec.volumes[0].hostPath.type: Unsupported value: \"Foo\": supported values: \"\", "
         "\"BlockDevice\", \"CharDevice\", \"Directory\", \"DirectoryOrCreate\", \"File\", "
         "\"FileOrCreate\", \"Socket\""},
        {"{'name':'v','hostPath':{}}", "spec.volumes[0].hostPath.path: Required value"},
        {"{'name':'v','csi':{}}", "spec.volumes[0].csi.driver: Required value"},
        {"{'name':'v','secret':{'secretName':'s','items':[{'path':'..x'}]}}",
         "spec.volumes[0].secret.items[0].key: Required value\n"
         "spec.volumes[0].secret.items[0].path: Invalid value: \"..x\": must not start with '..'"},
        {"{'name':'v','downwardAPI':{'items':[{'path':'a','fieldRef':{'fieldPath':"
         "'metadata.name'}},{'path':'b','resourceFieldRef':{'containerName':'a','resource':"
         "'limits.hugepages-2Mi'}}]}}",
         ""},
        {"{'name':'v','downwardAPI':{'items':[{'path':'a'},{'path':'b','resourceFieldRef':"
         "{'resource':'limits.cpu'}}]}}",
         "spec.volumes[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is "
         "required\nspec.volumes[0].downwardAPI.resourceFieldRef.containerName: Required value"},
        {"{'name':'v','downwardAPI':{'items':[{'path':'a','fieldRef':{'fieldPath':"
         "'metadata.name'},'resourceFieldRef':{'containerName':'a','resource':'limits.cpu'}}]}}",
         "spec.volumes[0].downwardAPI: Invalid value: \"resource\": fieldRef and resourceFieldRef "
         "can not be specified simultaneously"},
        {"{'name':'v','projected':{'sources':[{'secret':{'name':'s','items':[{'key':'a','path':"
         "'x'}]}},{'configMap':{'name':'m','items':[{'key':'b','path':'x'}]}}]}}",
         "spec.volumes[0].projected: Invalid value: \"x\": conflicting duplicate paths"},
        {"{'name':'v','projected':{'sources':[{'secret':{'name':'s'},'configMap':{}}]}}",
         "spec.volumes[0].projected.sources[0].configMap.name: Required value\n"
         "spec.volumes[0].projected.sources[0]: Forbidden: may not specify more than 1 volume "
         "type"},
        {"{'name':'v','projected':{'sources':[{'downwardAPI':{'items':[{'path':'n','fieldRef':"
         "{'fieldPath':'metadata.uid'}}]}},{'serviceAccountToken':{'path':'t',"
         "'expirationSeconds':4294967297}}]}}",
         "spec.volumes[0].projected.sources[1].serviceAccountToken.expirationSeconds: Invalid "
         "value: 4294967297: may not specify a duration larger than 2^32 seconds"},
    };

    (void)state;
    check_faults("pods",
                 "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'a','image':'x'}],"
                 "'volumes':[%s]}}",
                 cases, ARRAY_LEN(cases));
}

static void the_environment_is_checked(void **state)
{
    static const struct fault_case cases[] = {
        {"'env':[{'name':'A','valueFrom':{'fieldRef':{'fieldPath':'metadata.labels[\\\"a\\\"]'}}}]",
         "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "
         "\"metadata.labels[\\\"a\\\"]\": error converting fieldPath: field label not supported: "
         "metadata.labels[\"a\"]"},
        {"'env':[{'name':'A','valueFrom':{'resourceFieldRef':{'resource':'limits.cpu'}}}]", ""},
        {"'env':[{'name':'A','valueFrom':{'resourceFieldRef':{'resource':'foo'}}}]",
         "spec.containers[0].env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "
         "\"foo\": supported values: \"limits.cpu\", \"limits.ephemeral-storage\", "
         "\"limits.memory\", \"requests.cpu\", \"requests.ephemeral-storage\", "
         "\"requests.memory\""},
        {"'env':[{'name':'A','valueFrom':{'secretKeyRef':{'name':'s','key':'k'},"
         "'configMapKeyRef':{'name':'s','key':'k'}}}]",
         "spec.containers[0].env[0].valueFrom: Invalid value: \"\": may not have more than one "
         "field specified at a time"},
        {"'env':[{'name':'A','valueFrom':{'secretKeyRef':{'name':'s'}}}]",
         "spec.containers[0].env[0].valueFrom.secretKeyRef.key: Required value"},
        {"'envFrom':[{'prefix':'P_','configMapRef':{'name':'m'}}]", ""},
        {"'envFrom':[{'configMapRef':{'name':'m'},'secretRef':{'name':'s'}}]",
         "spec.containers[0].envFrom: Invalid value: \"\": may not have more than one field "
         "specified at a time"},
    };
    static const struct fault_case quoted[] = {
        {"metadata.annotations['a/b']", ""},
        {"metadata.name['a']",
         "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "
         "\"metadata.name['a']\": error converting fieldPath: field label does not support "
         "subscript: metadata.name['a']"},
        {"metadata.labels['/a']",
         "spec.containers[0].env[0].valueFrom.fieldRef: Invalid value: \"/a\": prefix part must "
         "be non-empty"},
    };
    AUTO(kind_done) struct kind_test t;

    (void)state;
    check_faults("pods", CONTAINER, cases, ARRAY_LEN(cases));
    kind_init(&t, "pods");
    for (size_t i = 0; i < ARRAY_LEN(quoted); i++) {
        struct arena *a = &t.c.arena;
        struct jsn *pod = json_of(a, "{'metadata':{},'spec':{'containers':[{'name':'a','image':'x',"
                                     "'env':[{'name':'A','valueFrom':{'fieldRef':{}}}]}]}}");
        struct jsn *env = jsn_item(jsn_key(jsn_item(jsn_get(pod, "spec.containers"), 0), "env"), 0);
        struct causes cs = {.arena = a};

        jsn_set_path(a, env, "valueFrom.fieldRef.fieldPath", jsn_string(a, quoted[i].piece));
        shape_default(&t.c, pod);
        t.strategy->validate(&cs, pod);
        assert_string_equal(causes_text(&cs), quoted[i].want);
    }
}

static void mounts_and_devices_are_checked(void **state)
{
    static const struct fault_case cases[] = {
        {"'volumeDevices':[{'name':'c','devicePath':'/dev/x'}]", ""},
        {"'volumeDevices':[{'name':'v','devicePath':'/dev/x'}]",
         "spec.containers[0].volumeDevices[0].name: Invalid value: \"v\": can only use volume "
         "source type of PersistentVolumeClaim or Ephemeral for block mode"},
        {"'volumeDevices':[{'name':'c','devicePath':'/dev/../x'}]",
         "spec.containers[0].volumeDevices[0].devicePath: Invalid value: \"/dev/../x\": can not "
         "contain backsteps ('..')"},
        {"'volumeDevices':[{'name':'c','devicePath':'/x'}],'volumeMounts':[{'name':'c',"
         "'mountPath':'/x'}]",
         "spec.containers[0].volumeMounts[0].name: Invalid value: \"c\": must not already exist in "
         "volumeDevices\nspec.containers[0].volumeMounts[0].mountPath: Invalid value: \"/x\": must "
         "not already exist as a path in volumeDevices\nspec.containers[0].volumeDevices[0].name: "
         "Invalid value: \"c\": must not already exist in volumeMounts\n"
         "spec.containers[0].volumeDevices[0].devicePath: Invalid value: \"/x\": must not already "
         "exist as a path in volumeMounts"},
        {"'volumeMounts':[{'name':'v','mountPath':'/a','subPath':'x','subPathExpr':'y'}]",
         "spec.containers[0].volumeMounts[0].subPathExpr: Invalid value: \"y\": subPathExpr and "
         "subPath are mutually exclusive"},
        {"'volumeMounts':[{'name':'v','mountPath':'/a','mountPropagation':'Bidirectional'}],"
         "'securityContext':{'privileged':true}",
         ""},
    };

    (void)state;
    check_faults("pods", CONTAINER, cases, ARRAY_LEN(cases));
}

static void probes_and_hooks_are_checked(void **state)
{
    static const struct fault_case cases[] = {
        {"'livenessProbe':{'httpGet':{'port':'http','httpHeaders':[{'name':'X-A'}]}}", ""},
        {"'livenessProbe':{'httpGet':{'port':0,'scheme':'Foo','httpHeaders':[{'name':'a b'}]}}",
         "spec.containers[0].livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and "
         "65535, inclusive\nspec.containers[0].livenessProbe.httpGet.scheme: Unsupported value: "
         "\"Foo\": supported values: \"HTTP\", \"HTTPS\"\n"
         "spec.containers[0].livenessProbe.httpGet.httpHeaders: Invalid value: \"a b\": a valid "
         "HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex "
         "used for validation is '[-A-Za-z0-9]+')"},
        {"'lifecycle':{'postStart':{'exec':{}},'preStop':{'grpc':{'port':1}}}",
         "spec.containers[0].lifecycle.postStart.exec.command: Required value\n"
         "spec.containers[0].lifecycle.preStop: Required value: must specify a handler type"},
        {"'terminationMessagePolicy':'Foo'",
         "spec.containers[0].terminationMessagePolicy: Invalid value: \"Foo\": must be 'File' or "
         "'FallbackToLogsOnError'"},
        {"'startupProbe':{'tcpSocket':{'port':1},'periodSeconds':-1}",
         "spec.containers[0].startupProbe.periodSeconds: Invalid value: -1: must be greater than "
         "or equal to 0"},
    };

    (void)state;
    check_faults("pods", CONTAINER, cases, ARRAY_LEN(cases));
}

static void security_contexts_are_checked(void **state)
{
    static const struct fault_case pods[] = {
        {"'securityContext':{'seccompProfile':{'type':'Localhost','localhostProfile':'a'}}", ""},
        {"'securityContext':{'seccompProfile':{'type':'Localhost'}}",
         "spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when "
         "seccomp type is Localhost"},
        {"'securityContext':{'seccompProfile':{'type':'RuntimeDefault','localhostProfile':'a'}}",
         "spec.securityContext.seccompProfile.localhostProfile: Invalid value: \"a\": can only be "
         "set when seccomp type is Localhost"},
        {"'securityContext':{'seccompProfile':{}}",
         "spec.securityContext.seccompProfile.type: Required value: type is required when "
         "seccompProfile is set"},
        {"'securityContext':{'supplementalGroups':[5,-1]}",
         "spec.securityContext.supplementalGroups[1]: Invalid value: -1: must be between 0 and "
         "2147483647, inclusive"},
        {"'securityContext':{'sysctls':[{'name':'net.a-b_c','value':'1'}]}", ""},
        {"'securityContext':{'sysctls':[{'name':'a','value':'1'},{'name':'a','value':'2'}]}",
         "spec.securityContext.sysctls[1].name: Duplicate value: \"a\""},
        {"'securityContext':{'sysctls':[{'name':'A..b','value':'1'}]}",
         "spec.securityContext.sysctls[0].name: Invalid value: \"A..b\": must have at most 253 "
         "characters and match regex "
         "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"},
    };
    static const struct fault_case containers[] = {
        {"'securityContext':{'allowPrivilegeEscalation':false}", ""},
        {"'securityContext':{'allowPrivilegeEscalation':false,'privileged':true}",
         "spec.containers[0].securityContext: Invalid value: "
         "{\"allowPrivilegeEscalation\":false,\"privileged\":true}: cannot set "
         "`allowPrivilegeEscalation` to false and `privileged` to true"},
        {"'securityContext':{'allowPrivilegeEscalation':false,'capabilities':{'add':["
         "'CAP_SYS_ADMIN']}}",
         "spec.containers[0].securityContext: Invalid value: {\"allowPrivilegeEscalation\":false,"
         "\"capabilities\":{\"add\":[\"CAP_SYS_ADMIN\"]}}: cannot set `allowPrivilegeEscalation` "
         "to "
         "false and `capabilities.Add` CAP_SYS_ADMIN"},
    };
    AUTO(kind_done) struct kind_test t;

    (void)state;
    check_faults("pods", POD, pods, ARRAY_LEN(pods));
    check_faults("pods", CONTAINER, containers, ARRAY_LEN(containers));
    kind_init(&t, "pods");
    assert_string_equal(
        faults_of(&t, "{'metadata':{},'spec':{'hostNetwork':true,'containers':[{'name':'a',"
                      "'image':'x','ports':[{'containerPort':80,'hostPort':81}]}]}}"),
        "spec.containers[0].ports[0].containerPort: Invalid value: 80: must match `hostPort` when "
        "`hostNetwork` is true");
}

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"
#define TERM(inner)                                                                                \
    "'affinity':{'nodeAffinity':{'" REQUIRED "':{'nodeSelectorTerms':[{" inner "}]}}}"
#define TERM_PATH "spec.affinity.nodeAffinity." REQUIRED ".nodeSelectorTerms[0]."

static void placement_is_checked(void **state)
{
    static const struct fault_case cases[] = {
        {TERM("'matchExpressions':[{'key':'a','operator':'In','values':['x']},{'key':'a',"
              "'operator':'Gt','values':['1']},{'key':'a','operator':'Exists'}],'matchFields':[{"
              "'key':'metadata.name','operator':'In','values':['n']}]"),
         ""},
        {TERM("'matchExpressions':[{'key':'a','operator':'In'}]"),
         TERM_PATH "matchExpressions[0].values: Required value: must be specified when `operator` "
                   "is 'In' or 'NotIn'"},
        {TERM("'matchExpressions':[{'key':'a','operator':'Exists','values':['x']}]"),
         TERM_PATH "matchExpressions[0].values: Forbidden: may not be specified when `operator` is "
                   "'Exists' or 'DoesNotExist'"},
        {TERM("'matchExpressions':[{'key':'a','operator':'Lt'}]"),
         TERM_PATH "matchExpressions[0].values: Required value: must be specified single value "
                   "when `operator` is 'Lt' or 'Gt'"},
        {TERM("'matchExpressions':[{'key':'a','operator':'Foo'}]"),
         TERM_PATH "matchExpressions[0].operator: Invalid value: \"Foo\": not a valid selector "
                   "operator"},
        {TERM("'matchFields':[{'key':'spec.x','operator':'In'}]"),
         TERM_PATH "matchFields[0].values: Required value: must be only one value when `operator` "
                   "is 'In' or 'NotIn' for node field selector\n" TERM_PATH
                   "matchFields[0].key: Invalid value: \"spec.x\": not a valid field selector key"},
        {"'affinity':{'nodeAffinity':{'" PREFERRED "':[{'weight':101,'preference':{}}]}}",
         "spec.affinity.nodeAffinity." PREFERRED
         "[0].weight: Invalid value: 101: must be in the range 1-100"},
        {"'affinity':{'podAntiAffinity':{'" REQUIRED "':[{'topologyKey':'k','labelSelector':"
         "{'matchLabels':{'a':'b'}},'namespaces':['x']}],'" PREFERRED
         "':[{'podAffinityTerm':{'topologyKey':'k'}}]}}",
         "spec.affinity.podAntiAffinity." PREFERRED
         "[0].weight: Invalid value: 0: must be in the range 1-100"},
        {"'tolerations':[{'operator':'Exists'},{'key':'a','value':'b'}]", ""},
        {"'tolerations':[{'key':'a','operator':'Exists','value':'b'}]",
         "spec.tolerations[0].operator: Invalid value: \"Exists\": value must be empty when "
         "`operator` is 'Exists'"},
        {"'tolerations':[{}]",
         "spec.tolerations[0].operator: Invalid value: \"\": operator must be Exists when `key` is "
         "empty, which means \"match all values and all keys\""},
        {"'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'k','whenUnsatisfiable':"
         "'DoNotSchedule'},{'maxSkew':1,'topologyKey':'k','whenUnsatisfiable':'DoNotSchedule'}]",
         "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "
         "\"{k, DoNotSchedule}\""},
        {"'dnsPolicy':'None','dnsConfig':{'nameservers':['1.1.1.1'],'searches':['a.b.'],"
         "'options':[{'name':'x'}]}",
         ""},
        {"'dnsConfig':{'nameservers':['x'],'options':[{}]}",
         "spec.dnsConfig.nameservers[0]: Invalid value: \"x\": must be a valid IP address, (e.g. "
         "10.9.8.7 or 2001:db8::ffff)\n"
         "spec.dnsConfig.options[0]: Required value: must not be empty"},
        {"'dnsPolicy':'None','dnsConfig':{}",
         "spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver "
         "when `dnsPolicy` is None"},
        {"'hostAliases':[{'ip':'x','hostnames':['a']}]",
         "spec.hostAliases[0].ip: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 "
         "or "
         "2001:db8::ffff)"},
        {"'ephemeralContainers':[{'name':'e','image':'x','ports':[{'containerPort':1}]}]",
         "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral "
         "Container"},
    };

    (void)state;
    check_faults("pods", POD, cases, ARRAY_LEN(cases));
}

static void good_objects_cost_no_paths(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct jsn *pod;
    struct causes cs = {0};
    AUTO(arena_done) struct arena scratch = {0};

    (void)state;
    kind_init(&t, "pods");
    pod = json_of(&t.c.arena, "{'metadata':{'name':'p','namespace':'ns','labels':{'a':'b'}},'spec':"
                              "{'volumes':[{'name':'v'}],'containers':[{'name':'a','image':'x',"
                              "'volumeMounts':[{'name':'v','mountPath':'/v'}],'env':[{'name':'A',"
                              "'value':'1'}]}]}}");
    shape_default(&t.c, pod);
    cs.arena = &scratch;
    validate_metadata(&cs, pod, NAME_SUBDOMAIN, true);
    t.strategy->validate(&cs, pod);
    assert_int_equal(cs.n, 0);
    assert_int_equal(scratch.total_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes_are_checked_source_by_source),
        cmocka_unit_test(the_environment_is_checked),
        cmocka_unit_test(mounts_and_devices_are_checked),
        cmocka_unit_test(probes_and_hooks_are_checked),
        cmocka_unit_test(security_contexts_are_checked),
        cmocka_unit_test(placement_is_checked),
        cmocka_unit_test(good_objects_cost_no_paths),
    };

    return cmocka_run_group_tests_name("podspec", tests, NULL, NULL);
}
