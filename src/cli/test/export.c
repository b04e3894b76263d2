/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of `slurmkeeper export`: what of an object is declared, what it names, and a cluster
 * as values of the chart. */
#include "src/json/test/json_text.h"

#include "src/cli/export.h"

static void assert_json(struct arena *a, const struct jsn *got, const char *want)
{
    AUTO(buf_done) struct buf text = {0};

    jsn_print(&text, got);
    if (!jsn_equal(got, json_of(a, want)))
        fail_msg("%s is not %s", buf_str(&text), want);
}

static void only_what_was_declared_goes_out(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct jsn *o = json_of(
        &a,
        "{'apiVersion':'slinky.slurm.net/v1beta1','kind':'NodeSet','metadata':{'name':'n',"
        "'namespace':'s','uid':'1','resourceVersion':'7','generation':2,'creationTimestamp':'t',"
        "'managedFields':[{}],'finalizers':['slurmkeeper.dev/workers'],'ownerReferences':[{}],"
        "'labels':{'team':'x','app.kubernetes.io/managed-by':'Helm','helm.sh/chart':'slurm-1'},"
        "'annotations':{'kubectl.kubernetes.io/last-applied-configuration':'{}',"
        "'meta.helm.sh/release-name':'slurm','slurmkeeper.dev/force-delete':'true',"
        "'note':'kept'}},'spec':{'replicas':2},'status':{'replicas':2}}");

    (void)state;
    assert_json(&a, export_declared(&a, o),
                "{'apiVersion':'slinky.slurm.net/v1beta1','kind':'NodeSet','metadata':{'name':'n',"
                "'namespace':'s','labels':{'team':'x'},'annotations':{'note':'kept'}},"
                "'spec':{'replicas':2}}");
    assert_json(&a,
                export_declared(&a, json_of(&a, "{'apiVersion':'v1','kind':'PersistentVolumeClaim',"
                                                "'metadata':{'name':'c'},'spec':{'volumeName':'v',"
                                                "'accessModes':['ReadWriteOnce']}}")),
                "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c'},"
                "'spec':{'accessModes':['ReadWriteOnce']}}");
}

static void collect(void *arg, const char *kind, const char *name)
{
    buf_printf(arg, " %s/%s", kind, name);
}

static void references_are_found_wherever_they_stand(void **state)
{
    static const char *const cases[][2] = {
        {"{'spec':{'slurmKeyRef':{'name':'k','key':'x'},'configFileRefs':[{'name':'a'},"
         "{'name':'b'}]}}",
         " Secret/k ConfigMap/a ConfigMap/b"},
        {"{'spec':{'persistence':{'existingClaim':'c'},'jwksKeyRef':{'name':'j'}}}",
         " PersistentVolumeClaim/c ConfigMap/j"},
        {"{'spec':{'template':{'spec':{'serviceAccountName':'sa','imagePullSecrets':[{'name':'p'}],"
         "'volumes':[{'configMap':{'name':'m'}},{'secret':{'secretName':'s'}},"
         "{'projected':{'sources':[{'secret':{'name':'t'}}]}},"
         "{'persistentVolumeClaim':{'claimName':'d'}}]}}}}",
         " ServiceAccount/sa Secret/p ConfigMap/m Secret/s Secret/t PersistentVolumeClaim/d"},
        {"{'spec':{'slurmd':{'env':[{'valueFrom':{'secretKeyRef':{'name':'e'}}}]}}}", " Secret/e"},
        {"{'spec':{'storageConfig':{'passwordKeyRef':{'name':'w'}}}}", " Secret/w"},
        /* what a Token makes, it does not need */
        {"{'kind':'Token','spec':{'jwtKeyRef':{'name':'j'},'secretRef':{'name':'out'}}}",
         " Secret/j"},
        {"{'spec':{'jwksKeyRef':{'name':''},'controllerRef':{'name':'c'}}}", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(buf_done) struct buf b = {0};

        export_named(json_of(&a, cases[i][0]), collect, &b);
        assert_string_equal(buf_str(&b), cases[i][1]);
    }
}

static void keys_that_the_operator_made_are_known(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};

    (void)state;
    export_made_secrets(
        &a, json_of(&a, "{'kind':'Controller','metadata':{'name':'lab'},'spec':{}}"), collect, &b);
    export_made_secrets(&a, json_of(&a, "{'kind':'NodeSet','metadata':{'name':'n'},'spec':{}}"),
                        collect, &b);
    assert_string_equal(buf_str(&b), " Secret/lab-auth-slurm Secret/lab-auth-jwt");
}

static void images_are_named_where_none_is(void **state)
{
    static const char *const cases[][2] = {
        {"{'kind':'NodeSet','spec':{}}", "slurmkeeper/slurmd:22.05"},
        {"{'kind':'NodeSet','spec':{'slurmd':{'image':'own:1'}}}", "own:1"},
    };
    AUTO(arena_done) struct arena a = {0};
    struct jsn *external = json_of(&a, "{'kind':'Controller','spec':{'external':true}}");
    struct jsn *partition = json_of(&a, "{'kind':'Partition','spec':{}}");

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct jsn *o = json_of(&a, cases[i][0]);

        assert_int_equal(export_lacks_image(o), i == 0);
        export_set_images(&a, o, "22.05");
        assert_string_equal(jsn_get_str(o, "spec.slurmd.image"), cases[i][1]);
    }
    assert_false(export_lacks_image(external));
    assert_false(export_lacks_image(partition));
    export_set_images(&a, external, "22.05");
    assert_json(&a, external, "{'kind':'Controller','spec':{'external':true}}");
}

static void directories_of_the_machine_are_seen(void **state)
{
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    assert_true(export_uses_machine(
        json_of(&a, "{'spec':{'template':{'spec':{'volumes':[{'hostPath':{'path':'/data'}}]}}}}")));
    assert_false(export_uses_machine(json_of(&a, "{'spec':{'template':{}}}")));
}

static const char CONTROLLER[] =
    "{'kind':'Controller','metadata':{'name':'lab','namespace':'s','annotations':{'n':'1'}},"
    "'spec':{'extraConf':'A=1','slurmKeyRef':{'name':'k'},'external':false,"
    "'accountingRef':{'name':'acct'},'template':{'metadata':{'labels':{'l':'1'}},"
    "'spec':{'priorityClassName':'p'}}}}";

/* Quotes inside of a text that stands between single ones. */
#define NAMESPACE "'{{ include \\'slurm.namespace\\' . }}'"

static struct jsn *values_of(struct arena *a, const char *objects)
{
    struct jsn *v = NULL;
    struct err e = {0};

    if (export_values(a, json_of(a, CONTROLLER), json_of(a, objects), &v, &e) < 0)
        fail_msg("%s", e.text);
    return v;
}

static void a_cluster_becomes_values(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct jsn *v = values_of(
        &a,
        "[{'kind':'NodeSet','metadata':{'name':'gpus','namespace':'s'},'spec':{'controllerRef':"
        "{'name':'lab'},'replicas':3,'partition':{'config':'MaxTime=1'},'template':{'spec':"
        "{'hostname':'gpu-'}}}},"
        "{'kind':'NodeSet','metadata':{'name':'else','namespace':'s'},'spec':{'controllerRef':"
        "{'name':'other'}}},"
        "{'kind':'Accounting','metadata':{'name':'acct','namespace':'s'},'spec':{'extraConf':'X=1',"
        "'slurmKeyRef':{'name':'k'}}},"
        "{'kind':'Partition','metadata':{'name':'p','namespace':'s'},'spec':{'controllerRef':"
        "{'name':'lab'},'nodeSetRefs':[{'name':'gpus'}]}},"
        "{'kind':'ConfigMap','metadata':{'name':'m','namespace':'s'},'data':{'f':'a {{ b }}'}},"
        "{'kind':'Namespace','metadata':{'name':'s'}}]");

    (void)state;
    assert_json(
        &a, v,
        "{'fullnameOverride':'lab','slurmKey':{'secretRef':{'name':'k'}},"
        "'controller':{'extraConf':'A=1','external':false,'annotations':{'n':'1'},'metadata':"
        "{'labels':{'l':'1'}},'podSpec':{'priorityClassName':'p'}},"
        "'nodesets':{'gpu':{'replicas':3,'partition':{'enabled':true,'config':'MaxTime=1'}}},"
        "'accounting':{'enabled':true,'extraConf':'X=1'},"
        "'extraObjects':[{'kind':'Partition','metadata':{'name':'p','namespace':" NAMESPACE
        "},'spec':{'controllerRef':"
        "{'name':'lab'},'nodeSetRefs':[{'name':'lab-worker-gpu'}]}},"
        "{'kind':'ConfigMap','metadata':{'name':'m','namespace':" NAMESPACE
        "},'data':{'f':'a {{`{{`}} b }}'}}]}");
}

static void what_values_cannot_say_is_an_error(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v = NULL;
    struct err e = {0};

    (void)state;
    assert_true(export_values(&a, json_of(&a, CONTROLLER),
                              json_of(&a, "[{'kind':'NodeSet','metadata':{'name':'n','namespace':"
                                          "'s'},'spec':{'controllerRef':{'name':'lab'},"
                                          "'somethingNew':{'a':1}}}]"),
                              &v, &e) < 0);
    assert_non_null(strstr(e.text, "NodeSet s/n: the chart has no value for spec.somethingNew"));
    assert_null(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_was_declared_goes_out),
        cmocka_unit_test(references_are_found_wherever_they_stand),
        cmocka_unit_test(keys_that_the_operator_made_are_known),
        cmocka_unit_test(images_are_named_where_none_is),
        cmocka_unit_test(directories_of_the_machine_are_seen),
        cmocka_unit_test(a_cluster_becomes_values),
        cmocka_unit_test(what_values_cannot_say_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
