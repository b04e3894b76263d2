/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of tables: the rows of built-in kinds and of custom resources. */
#include "src/cluster/apiserver/kinds/test/kind.h"

#include "src/cluster/apiserver/printer.h"

DEFINE_WORLD

#define NOW_US (1767261600LL * 1000000) /* 2026-01-01T10:00:00Z */
#define META "'metadata':{'name':'n','creationTimestamp':'2026-01-01T09:54:57Z'}"

struct row_case {
    const char *object, *cells;
};

/* The cells of each object; "{" and "}" are added around the text. */
static void check_rows(const char *resource, const struct row_case *cases, size_t n)
{
    AUTO(kind_done) struct kind_test t;

    kind_init(&t, resource);
    for (size_t i = 0; i < n; i++) {
        struct arena *a = &t.c.arena;
        struct jsn *o = json_of(a, arena_printf(a, "{%s}", cases[i].object));
        struct jsn *row = printer_row(a, t.c.res, o, NULL, NOW_US);
        const char *got = text_of(a, jsn_key(row, "cells"));

        assert_int_equal(jsn_len(jsn_key(row, "cells")), jsn_len(printer_columns(a, t.c.res)));
        if (!streq(got, cases[i].cells))
            fail_msg("%s\n  got  %s\n  want %s", cases[i].object, got, cases[i].cells);
    }
}

/* STATUS, READY and RESTARTS of a pod. */
static void pods_are_summed_up_in_one_word(void **state)
{
    static const struct {
        const char *pod, *ready, *status, *restarts;
    } cases[] = {
        {"'spec':{'containers':[{}]},'status':{'phase':'Pending'}", "0/1", "Pending", "0"},
        {"'spec':{'containers':[{}]},'status':{'phase':'Failed','reason':'Evicted'}", "0/1",
         "Evicted", "0"},
        {"'spec':{'containers':[{}]},'status':{'phase':'Pending','conditions':[{'type':"
         "'PodScheduled','reason':'SchedulingGated'}]}",
         "0/1", "SchedulingGated", "0"},
        {"'spec':{'containers':[{},{}]},'status':{'phase':'Running','containerStatuses':["
         "{'ready':true,'restartCount':2,'state':{'running':{}}},{'ready':false,'restartCount':1,"
         "'state':{'waiting':{'reason':'CrashLoopBackOff'}},'lastState':{'terminated':"
         "{'finishedAt':'2026-01-01T09:54:57Z'}}}]}",
         "1/2", "CrashLoopBackOff", "3 (5m3s ago)"},
        {"'spec':{'containers':[{}]},'status':{'phase':'Running','containerStatuses':[{'ready':"
         "true,'restartCount':4,'state':{'running':{}}}]}",
         "1/1", "Running", "4"},
        {"'spec':{'containers':[{}]},'status':{'phase':'Succeeded','containerStatuses':[{'state':"
         "{'terminated':{'reason':'Completed','exitCode':0}}}]}",
         "0/1", "Completed", "0"},
        {"'spec':{'containers':[{}]},'status':{'phase':'Failed','containerStatuses':[{'state':"
         "{'terminated':{'exitCode':3}}}]}",
         "0/1", "ExitCode:3", "0"},
        {"'spec':{'containers':[{}]},'status':{'phase':'Failed','containerStatuses':[{'state':"
         "{'terminated':{'signal':9,'exitCode':137}}}]}",
         "0/1", "Signal:9", "0"},
        {"'spec':{'containers':[{},{}]},'status':{'phase':'Running','conditions':[{'type':'Ready',"
         "'status':'True'}],'containerStatuses':[{'state':{'terminated':{'reason':'Completed'}}},"
         "{'ready':true,'state':{'running':{}}}]}",
         "1/2", "Running", "0"},
        {"'spec':{'containers':[{},{}]},'status':{'phase':'Running','containerStatuses':[{'state':"
         "{'terminated':{'reason':'Completed'}}},{'ready':true,'state':{'running':{}}}]}",
         "1/2", "NotReady", "0"},
        {"'spec':{'containers':[{}],'initContainers':[{'name':'i'},{'name':'k'}]},'status':"
         "{'phase':'Pending','initContainerStatuses':[{'name':'i','restartCount':1,'state':"
         "{'terminated':{'exitCode':0}}},{'name':'k','restartCount':2,'state':{'running':{}}}]}",
         "0/1", "Init:1/2", "3"},
        {"'spec':{'containers':[{}],'initContainers':[{'name':'i'}]},'status':{'phase':'Pending',"
         "'initContainerStatuses':[{'name':'i','state':{'terminated':{'reason':'Error',"
         "'exitCode':1}}}]}",
         "0/1", "Init:Error", "0"},
        {"'spec':{'containers':[{}],'initContainers':[{'name':'i'}]},'status':{'phase':'Pending',"
         "'initContainerStatuses':[{'name':'i','state':{'terminated':{'exitCode':7}}}]}",
         "0/1", "Init:ExitCode:7", "0"},
        {"'spec':{'containers':[{}],'initContainers':[{'name':'i'}]},'status':{'phase':'Pending',"
         "'initContainerStatuses':[{'name':'i','state':{'waiting':{'reason':'ErrImagePull'}}}]}",
         "0/1", "Init:ErrImagePull", "0"},
        {"'spec':{'containers':[{}],'initContainers':[{'name':'s','restartPolicy':'Always'}]},"
         "'status':{'phase':'Running','initContainerStatuses':[{'name':'s','started':true,'ready':"
         "true,'restartCount':5,'state':{'running':{}}}],'containerStatuses':[{'ready':true,"
         "'state':{'running':{}}}]}",
         "2/2", "Running", "5"},
        {"'metadata':{'deletionTimestamp':'t'},'spec':{'containers':[{}]},'status':{'phase':"
         "'Running'}",
         "0/1", "Terminating", "0"},
        {"'metadata':{'deletionTimestamp':'t'},'spec':{'containers':[{}]},'status':{'phase':"
         "'Succeeded'}",
         "0/1", "Succeeded", "0"},
        {"'metadata':{'deletionTimestamp':'t'},'spec':{'containers':[{}]},'status':{'phase':"
         "'Running','reason':'NodeLost'}",
         "0/1", "Unknown", "0"},
    };
    AUTO(kind_done) struct kind_test t;

    (void)state;
    kind_init(&t, "pods");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena *a = &t.c.arena;
        struct jsn *pod = json_of(a, arena_printf(a, "{%s}", cases[i].pod));
        const struct jsn *cells = jsn_key(printer_row(a, t.c.res, pod, NULL, NOW_US), "cells");

        assert_string_equal(jsn_text(jsn_item(cells, 1)), cases[i].ready);
        assert_string_equal(jsn_text(jsn_item(cells, 2)), cases[i].status);
        assert_string_equal(jsn_text(jsn_item(cells, 3)), cases[i].restarts);
    }
}

static void pods_show_where_they_are(void **state)
{
    static const struct row_case cases[] = {
        {META ",'spec':{'containers':[{}]},'status':{'phase':'Pending'}",
         "['n','0/1','Pending','0','5m3s','<none>','<none>','<none>','<none>']"},
        {META ",'spec':{'containers':[{}],'nodeName':'host','readinessGates':[{'conditionType':"
              "'a'},{'conditionType':'b'}]},'status':{'phase':'Running','podIPs':[{'ip':"
              "'10.0.0.9'}],'nominatedNodeName':'x','conditions':[{'type':'a','status':'True'}]}",
         "['n','0/1','Running','0','5m3s','10.0.0.9','host','x','1/2']"},
    };

    (void)state;
    check_rows("pods", cases, ARRAY_LEN(cases));
}

static void finished_pods_have_a_condition_in_their_row(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct jsn *row;

    (void)state;
    kind_init(&t, "pods");
    row = printer_row(&t.c.arena, t.c.res, json_of(&t.c.arena, "{'status':{'phase':'Succeeded'}}"),
                      jsn_object(&t.c.arena), NOW_US);
    assert_string_equal(text_of(&t.c.arena, jsn_key(row, "conditions")),
                        "[{'type':'Completed','status':'True','reason':'Succeeded','message':"
                        "'The pod has completed successfully.'}]");
    assert_string_equal(text_of(&t.c.arena, jsn_key(row, "object")), "{}");
    row = printer_row(&t.c.arena, t.c.res, json_of(&t.c.arena, "{'status':{'phase':'Running'}}"),
                      NULL, NOW_US);
    assert_null(jsn_key(row, "conditions"));
    assert_string_equal(text_of(&t.c.arena, jsn_key(row, "object")), "null");
}

static void services_show_their_addresses(void **state)
{
    static const struct row_case cases[] = {
        {META ",'spec':{'type':'ClusterIP','clusterIPs':['10.96.1.1'],'ports':[{'port':80,"
              "'protocol':'TCP'},{'port':81,'nodePort':30001,'protocol':'UDP'}],'selector':{'b':"
              "'2','a':'1'}}",
         "['n','ClusterIP','10.96.1.1','<none>','80/TCP,81:30001/UDP','5m3s','a=1,b=2']"},
        {META ",'spec':{'type':'ClusterIP','clusterIPs':['None']}",
         "['n','ClusterIP','None','<none>','<none>','5m3s','<none>']"},
        {META ",'spec':{'type':'ExternalName','externalName':'a.b'}",
         "['n','ExternalName','<none>','a.b','<none>','5m3s','<none>']"},
        {META ",'spec':{'type':'LoadBalancer','clusterIPs':['1']}",
         "['n','LoadBalancer','1','<pending>','<none>','5m3s','<none>']"},
        {META ",'spec':{'type':'LoadBalancer','clusterIPs':['1'],'externalIPs':['9']},'status':"
              "{'loadBalancer':{'ingress':[{'ip':'7'},{'hostname':'h'}]}}",
         "['n','LoadBalancer','1','7,h,9','<none>','5m3s','<none>']"},
    };
    static const struct row_case endpoints[] = {
        {META, "['n','<none>','5m3s']"},
        {META ",'subsets':[{'addresses':[{'ip':'1'},{'ip':'2'},{'ip':'3'},{'ip':'::4'}],'ports':"
              "[{'port':80}]}]",
         "['n','1:80,2:80,3:80 + 1 more...','5m3s']"},
        {META ",'subsets':[{'addresses':[{'ip':'::4'}],'ports':[{'port':80}]}]",
         "['n','[::4]:80','5m3s']"},
        {META ",'subsets':[{'addresses':[{'ip':'1'}]}]", "['n','1','5m3s']"},
    };
    static const struct row_case slices[] = {
        {META ",'addressType':'IPv4','endpoints':[{'addresses':['1','2']}],'ports':[{'port':80},"
              "{'name':'x'},{}]",
         "['n','IPv4','80,x,*','1,2','5m3s']"},
        {META ",'addressType':'IPv4'", "['n','IPv4','<unset>','<unset>','5m3s']"},
    };
    static const struct row_case ingresses[] = {
        {META ",'spec':{'rules':[{'host':'a'},{}],'tls':[{}]}",
         "['n','<none>','a','','80, 443','5m3s']"},
        {META ",'spec':{'ingressClassName':'c'}", "['n','c','*','','80','5m3s']"},
    };

    (void)state;
    check_rows("services", cases, ARRAY_LEN(cases));
    check_rows("endpoints", endpoints, ARRAY_LEN(endpoints));
    check_rows("endpointslices.discovery.k8s.io", slices, ARRAY_LEN(slices));
    check_rows("ingresses.networking.k8s.io", ingresses, ARRAY_LEN(ingresses));
}

#define TEMPLATE                                                                                   \
    "'template':{'spec':{'containers':[{'name':'a','image':'x:1'},{'name':'b','image':'y'}]}}"
#define SELECTOR "'selector':{'matchLabels':{'k':'v'}}"

static void workloads_show_how_far_they_are(void **state)
{
    static const struct {
        const char *resource;
        struct row_case row;
    } cases[] = {
        {"deployments.apps",
         {META ",'spec':{'replicas':3," SELECTOR "," TEMPLATE
               "},'status':{'readyReplicas':2,'updatedReplicas':3,'availableReplicas':1}",
          "['n','2/3',3,1,'5m3s','a,b','x:1,y','k=v']"}},
        {"statefulsets.apps",
         {META ",'spec':{'replicas':3," TEMPLATE "}", "['n','0/3','5m3s','a,b','x:1,y']"}},
        {"replicasets.apps",
         {META ",'spec':{'replicas':3," SELECTOR "," TEMPLATE
               "},'status':{'replicas':2,'readyReplicas':1}",
          "['n',3,2,1,'5m3s','a,b','x:1,y','k=v']"}},
        {"replicationcontrollers",
         {META ",'spec':{'replicas':3,'selector':{'k':'v'}," TEMPLATE "}",
          "['n',3,0,0,'5m3s','a,b','x:1,y','k=v']"}},
        {"daemonsets.apps",
         {META ",'spec':{" SELECTOR "," TEMPLATE
               "},'status':{'desiredNumberScheduled':5,'currentNumberScheduled':4,'numberReady':3,"
               "'updatedNumberScheduled':2,'numberAvailable':1}",
          "['n',5,4,3,2,1,'<none>','5m3s','a,b','x:1,y','k=v']"}},
        {"jobs.batch",
         {META ",'spec':{'completions':3," SELECTOR "," TEMPLATE
               "},'status':{'succeeded':1,'startTime':'2026-01-01T09:00:00Z','completionTime':"
               "'2026-01-01T09:01:30Z','conditions':[{'type':'Complete','status':'True'}]}",
          "['n','Complete','1/3','90s','5m3s','a,b','x:1,y','k=v']"}},
        {"jobs.batch",
         {META ",'spec':{'parallelism':2},'status':{}",
          "['n','Running','0/1 of 2','','5m3s','','','<none>']"}},
        {"jobs.batch",
         {META ",'spec':{'parallelism':1,'completions':1},'status':{'startTime':"
               "'2026-01-01T09:59:00Z','conditions':[{'type':'Failed','status':'True'}]}",
          "['n','Failed','0/1','60s','5m3s','','','<none>']"}},
        {"cronjobs.batch",
         {META ",'spec':{'schedule':'* * * * *','suspend':false,'jobTemplate':{'spec':{" TEMPLATE
               "}}},'status':{'active':[{}],'lastScheduleTime':'2026-01-01T09:59:00Z'}",
          "['n','* * * * *','<none>','False',1,'60s','5m3s','a,b','x:1,y','<none>']"}},
        {"controllerrevisions.apps",
         {"'metadata':{'name':'n','ownerReferences':[{'apiVersion':'apps/v1','kind':'StatefulSet',"
          "'name':'web','controller':true}]},'revision':4",
          "['n','statefulset.apps/web',4,'<unknown>']"}},
        {"podtemplates",
         {META ",'template':{'metadata':{'labels':{'k':'v'}},'spec':{'containers':[{'name':'a',"
               "'image':'x'}]}}",
          "['n','a','x','k=v']"}},
        {"poddisruptionbudgets.policy",
         {META ",'spec':{'minAvailable':'50%'},'status':{'disruptionsAllowed':2}",
          "['n','50%','N/A',2,'5m3s']"}},
        {"poddisruptionbudgets.policy",
         {META ",'spec':{'maxUnavailable':1}", "['n','N/A','1',0,'5m3s']"}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_rows(cases[i].resource, &cases[i].row, 1);
}

static void other_kinds_show_what_matters(void **state)
{
    static const struct {
        const char *resource;
        struct row_case row;
    } cases[] = {
        {"namespaces", {META ",'status':{'phase':'Active'}", "['n','Active','5m3s']"}},
        {"configmaps", {META ",'data':{'a':'','b':''},'binaryData':{'c':''}", "['n',3,'5m3s']"}},
        {"secrets", {META ",'type':'Opaque','data':{'a':''}", "['n','Opaque',1,'5m3s']"}},
        {"serviceaccounts", {META ",'secrets':[{}]", "['n','5m3s']"}},
        {"nodes",
         {"'metadata':{'name':'n','labels':{'node-role.kubernetes.io/b':'','kubernetes.io/role':"
          "'a','node-role.kubernetes.io/a':'','node-role.kubernetes.io/':''}},'spec':"
          "{'unschedulable':true},'status':{'conditions':[{'type':'Ready','status':'True'}],"
          "'nodeInfo':{'kubeletVersion':'v1'},'addresses':[{'type':'InternalIP','address':"
          "'10.0.0.1'}]}",
          "['n','Ready,SchedulingDisabled','a,b','<unknown>','v1','10.0.0.1','<none>',"
          "'<unknown>','<unknown>','<unknown>']"}},
        {"nodes",
         {META ",'status':{'conditions':[{'type':'Ready','status':'Unknown'}]}",
          "['n','NotReady','<none>','5m3s','','<none>','<none>','<unknown>','<unknown>',"
          "'<unknown>']"}},
        {"nodes",
         {META, "['n','Unknown','<none>','5m3s','','<none>','<none>','<unknown>','<unknown>',"
                "'<unknown>']"}},
        {"persistentvolumeclaims",
         {META ",'spec':{'volumeName':'v','storageClassName':'s','volumeMode':'Filesystem'},"
               "'status':{'phase':'Bound','accessModes':['ReadWriteMany','ReadWriteOnce'],"
               "'capacity':{'storage':'1Gi'}}",
          "['n','Bound','v','1Gi','RWO,RWX','s','<unset>','5m3s','Filesystem']"}},
        {"persistentvolumeclaims",
         {META ",'spec':{'accessModes':['ReadWriteOnce']},'status':{'phase':'Pending'}",
          "['n','Pending','','','','','<unset>','5m3s','<unset>']"}},
        {"persistentvolumes",
         {META ",'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOncePod'],"
               "'persistentVolumeReclaimPolicy':'Retain','claimRef':{'namespace':'x','name':'y'}},"
               "'status':{'phase':'Bound'}",
          "['n','1Gi','RWOP','Retain','Bound','x/y','','<unset>','','5m3s','<unset>']"}},
        {"storageclasses.storage.k8s.io",
         {"'metadata':{'name':'n','annotations':{'storageclass.kubernetes.io/is-default-class':"
          "'true'}},'provisioner':'p'",
          "['n (default)','p','Delete','Immediate',false,'<unknown>']"}},
        {"priorityclasses.scheduling.k8s.io", {META ",'value':5", "['n',5,false,'5m3s']"}},
        {"leases.coordination.k8s.io",
         {META ",'spec':{'holderIdentity':'me'}", "['n','me','5m3s']"}},
        {"rolebindings.rbac.authorization.k8s.io",
         {META ",'roleRef':{'kind':'Role','name':'r'},'subjects':[{'kind':'User','name':'u'},"
               "{'kind':'User','name':'v'},{'kind':'ServiceAccount','namespace':'x','name':'s'}]",
          "['n','Role/r','5m3s','u, v','','x/s']"}},
        {"roles.rbac.authorization.k8s.io", {META, "['n','2026-01-01T09:54:57Z']"}},
        {"networkpolicies.networking.k8s.io",
         {META ",'spec':{'podSelector':{}}", "['n','<none>','5m3s']"}},
        {"resourcequotas",
         {META ",'status':{'hard':{'pods':'3','limits.cpu':'2','cpu':'1'},'used':{'pods':'1'}}",
          "['n','5m3s','cpu: 0/1, pods: 1/3','limits.cpu: 0/2']"}},
        {"mutatingwebhookconfigurations.admissionregistration.k8s.io",
         {META ",'webhooks':[{},{}]", "['n',2,'5m3s']"}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_rows(cases[i].resource, &cases[i].row, 1);
}

static void events_show_what_happened_when(void **state)
{
    static const struct row_case cases[] = {
        {META ",'firstTimestamp':'2026-01-01T09:00:00Z','lastTimestamp':'2026-01-01T09:59:00Z',"
              "'type':'Normal','reason':'Started','involvedObject':{'kind':'Pod','name':'p',"
              "'fieldPath':'spec'},'source':{'component':'kubelet','host':'h'},'message':' hi\\n',"
              "'count':3",
         "['60s','Normal','Started','pod/p','spec','kubelet, h','hi','60m',3,'n']"},
        {META ",'eventTime':'2026-01-01T09:58:00.000000Z','type':'Warning','reason':'X',"
              "'involvedObject':{'kind':'Node'},'reportingComponent':'me','message':'m'",
         "['2m','Warning','X','node','','me','m','2m',1,'n']"},
        {META ",'eventTime':'2026-01-01T09:58:00.000000Z','series':{'count':4,'lastObservedTime':"
              "'2026-01-01T09:59:30.000000Z'},'involvedObject':{'kind':'Pod','name':'p'}",
         "['30s','','','pod/p','','','','2m',5,'n']"},
        {META ",'deprecatedFirstTimestamp':'2026-01-01T09:00:00Z','deprecatedLastTimestamp':"
              "'2026-01-01T09:59:00Z','regarding':{'kind':'Pod','name':'p'},'note':'m',"
              "'deprecatedCount':2,'deprecatedSource':{'component':'c'}",
         "['60s','','','pod/p','','c','m','60m',2,'n']"},
        {META, "['<unknown>','','','','','','','<unknown>',1,'n']"},
    };

    (void)state;
    check_rows("events", cases, ARRAY_LEN(cases));
}

static void columns_are_described(void **state)
{
    AUTO(kind_done) struct kind_test t;
    struct jsn *columns;

    (void)state;
    kind_init(&t, "pods");
    columns = printer_columns(&t.c.arena, t.c.res);
    assert_string_equal(text_of(&t.c.arena, jsn_item(columns, 0)),
                        "{'name':'Name','type':'string','format':'name','description':'Name of "
                        "the object, unique among its kind in a namespace.','priority':0}");
    assert_int_equal(jsn_get_int(jsn_item(columns, 5), "priority", 0), 1);
}

static void custom_resources_show_their_columns(void **state)
{
    static const char version[] =
        "{'additionalPrinterColumns':["
        "{'name':'Text','type':'string','jsonPath':'.spec.text'},"
        "{'name':'Obj','type':'string','jsonPath':'.spec.obj','priority':1},"
        "{'name':'Num','type':'integer','jsonPath':'.spec.num','description':'a number'},"
        "{'name':'Wrong','type':'integer','jsonPath':'.spec.text'},"
        "{'name':'Flag','type':'boolean','jsonPath':'.spec.flag'},"
        "{'name':'Real','type':'number','jsonPath':'.spec.real'},"
        "{'name':'When','type':'date','jsonPath':'.spec.when'},"
        "{'name':'Bad','type':'date','jsonPath':'.spec.text'},"
        "{'name':'None','type':'string','jsonPath':'.spec.none'}]}";
    AUTO(arena_done) struct arena a = {0};
    struct resource res = {.plural = "pods", .group = "x.y", .custom = true};
    struct jsn *o = json_of(&a, "{" META ",'spec':{'text':'t','obj':{'k':[1]},'num':5,'flag':true,"
                                "'real':1.5,'when':'2026-01-01T09:00:00Z'}}");
    struct jsn *columns;

    (void)state;
    res.crd_version = json_of(&a, version);
    assert_string_equal(text_of(&a, jsn_key(printer_row(&a, &res, o, NULL, NOW_US), "cells")),
                        "['n','t','{\\'k\\':[1]}',5,null,true,1.5,'60m','<invalid>',null]");
    columns = printer_columns(&a, &res);
    assert_string_equal(text_of(&a, jsn_item(columns, 1)),
                        "{'name':'Text','type':'string','format':'','description':'Custom "
                        "resource definition column (in JSONPath format): .spec.text','priority':"
                        "0}");
    assert_int_equal(jsn_get_int(jsn_item(columns, 2), "priority", 0), 1);
    assert_string_equal(jsn_get_str(jsn_item(columns, 3), "description"), "a number");
}

static void custom_resources_without_columns_show_their_age(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct resource res = {.plural = "pods", .group = "x.y", .custom = true};
    struct jsn *o = json_of(&a, "{" META "}");

    (void)state;
    res.crd_version = json_of(&a, "{}");
    assert_string_equal(text_of(&a, jsn_key(printer_row(&a, &res, o, NULL, NOW_US), "cells")),
                        "['n','5m3s']");
    assert_string_equal(jsn_get_str(jsn_item(printer_columns(&a, &res), 1), "type"), "date");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_are_summed_up_in_one_word),
        cmocka_unit_test(pods_show_where_they_are),
        cmocka_unit_test(finished_pods_have_a_condition_in_their_row),
        cmocka_unit_test(services_show_their_addresses),
        cmocka_unit_test(workloads_show_how_far_they_are),
        cmocka_unit_test(other_kinds_show_what_matters),
        cmocka_unit_test(events_show_what_happened_when),
        cmocka_unit_test(columns_are_described),
        cmocka_unit_test(custom_resources_show_their_columns),
        cmocka_unit_test(custom_resources_without_columns_show_their_age),
    };

    return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
