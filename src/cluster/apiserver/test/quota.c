/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of resource quotas: what objects use, and which objects a quota counts. */
#include "src/json/test/json_text.h"

#include "src/cluster/apiserver/quota.h"

static void expect(const char *resource, const char *object, const char *want)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct quota_use u = {.a = &a};

    quota_use_add(&u, resource, json_of(&a, object));
    for (size_t i = 0; i < u.n; i++) {
        char text[QUANTITY_LEN];

        quantity_print(&u.items[i].q, text);
        buf_printf(&b, "%s%s=%s", i ? " " : "", u.items[i].name, text);
    }
    assert_string_equal(buf_str(&b), want);
}

static void objects_use_what_they_are_and_have(void **state)
{
    static const char *const cases[][3] = {
        {"configmaps", "{}", "count/configmaps=1 configmaps=1"},
        {"jobs.batch", "{}", "count/jobs.batch=1"},
        {"pods", "{'spec':{'containers':[{'name':'a'}]}}", "count/pods=1 pods=1"},
        {"pods",
         "{'spec':{'containers':[{'resources':{'requests':{'cpu':'500m','memory':'1Gi'},'limits':"
         "{'cpu':1}}},{'resources':{'requests':{'cpu':'250m'}}}]}}",
         "count/pods=1 pods=1 requests.cpu=750m cpu=750m requests.memory=1Gi memory=1Gi "
         "limits.cpu=1"},
        /* of an init container and the sum of the others the larger; one that stays adds to it */
        {"pods",
         "{'spec':{'initContainers':[{'resources':{'requests':{'cpu':'3'}}},{'restartPolicy':"
         "'Always','resources':{'requests':{'cpu':'1'}}}],'containers':[{'resources':{'requests':"
         "{'cpu':'1'}}}]}}",
         "count/pods=1 pods=1 requests.cpu=3 cpu=3"},
        {"pods",
         "{'spec':{'overhead':{'cpu':'100m'},'containers':[{'resources':{'requests':{'cpu':'1'}}}]}"
         "}",
         "count/pods=1 pods=1 requests.cpu=1100m cpu=1100m limits.cpu=100m"},
        {"pods",
         "{'status':{'phase':'Succeeded'},'spec':{'containers':[{'resources':{'requests':"
         "{'cpu':'1'}}}]}}",
         "count/pods=1"},
        {"pods", "{'spec':{'containers':[{'resources':{'requests':{'nvidia.com/gpu':'2'}}}]}}",
         "count/pods=1 pods=1 requests.nvidia.com/gpu=2"},
        {"services", "{'spec':{'type':'NodePort','ports':[{},{}]}}",
         "count/services=1 services=1 services.nodeports=2"},
        {"services", "{'spec':{'type':'LoadBalancer','ports':[{}]}}",
         "count/services=1 services=1 services.loadbalancers=1 services.nodeports=1"},
        {"services", "{'spec':{'type':'ClusterIP','ports':[{}]}}", "count/services=1 services=1"},
        {"persistentvolumeclaims",
         "{'spec':{'storageClassName':'fast','resources':{'requests':{'storage':'5Gi'}}}}",
         "count/persistentvolumeclaims=1 persistentvolumeclaims=1 "
         "fast.storageclass.storage.k8s.io/persistentvolumeclaims=1 requests.storage=5Gi "
         "fast.storageclass.storage.k8s.io/requests.storage=5Gi"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        expect(cases[i][0], cases[i][1], cases[i][2]);
}

static void scopes_choose_pods(void **state)
{
    static const char plain[] = "{'spec':{'containers':[{'name':'a'}]}}";
    static const char sized[] =
        "{'spec':{'priorityClassName':'high','activeDeadlineSeconds':5,'containers':[{'resources':"
        "{'requests':{'cpu':'1'}}}]}}";
    static const struct {
        const char *quota;
        bool plain, sized;
    } cases[] = {
        {"{'spec':{}}", true, true},
        {"{'spec':{'scopes':['BestEffort']}}", true, false},
        {"{'spec':{'scopes':['NotBestEffort','Terminating']}}", false, true},
        {"{'spec':{'scopes':['NotTerminating']}}", true, false},
        {"{'spec':{'scopes':['PriorityClass']}}", false, true},
        {"{'spec':{'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass','operator':"
         "'In','values':['high']}]}}}",
         false, true},
        {"{'spec':{'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass','operator':"
         "'NotIn','values':['high']}]}}}",
         true, false},
        {"{'spec':{'scopes':['CrossNamespacePodAffinity']}}", false, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        const struct jsn *quota = json_of(&a, cases[i].quota);

        assert_int_equal(quota_covers(quota, "pods", json_of(&a, plain)), cases[i].plain);
        assert_int_equal(quota_covers(quota, "pods", json_of(&a, sized)), cases[i].sized);
        assert_true(quota_covers(quota, "services", json_of(&a, "{}")));
    }
}

static void names_tell_what_is_counted(void **state)
{
    static const char *const cases[][2] = {
        {"pods", "pods"},
        {"limits.cpu", "pods"},
        {"requests.nvidia.com/gpu", "pods"},
        {"count/jobs.batch", "jobs.batch"},
        {"services.nodeports", "services"},
        {"requests.storage", "persistentvolumeclaims"},
        {"fast.storageclass.storage.k8s.io/persistentvolumeclaims", "persistentvolumeclaims"},
        {"secrets", "secrets"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};

        assert_string_equal(quota_resource(&a, cases[i][0]), cases[i][1]);
    }
}

static void the_status_has_every_limit(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct quota_use u = {.a = &a};

    (void)state;
    quota_use_add(&u, "pods",
                  json_of(&a, "{'spec':{'containers':[{'resources':{'requests':"
                              "{'cpu':'500m'}}}]}}"));
    assert_string_equal(
        text_of(&a, quota_status(&a,
                                 json_of(&a, "{'spec':{'hard':{'pods':'2','cpu':'1',"
                                             "'secrets':'3'}}}"),
                                 &u)),
        "{'hard':{'pods':'2','cpu':'1','secrets':'3'},'used':{'pods':'1','cpu':'500m',"
        "'secrets':'0'}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_use_what_they_are_and_have),
        cmocka_unit_test(scopes_choose_pods),
        cmocka_unit_test(names_tell_what_is_counted),
        cmocka_unit_test(the_status_has_every_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
