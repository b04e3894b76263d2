/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the registry, of custom resources, and of conversion to stored forms. */
#include "src/cluster/apiserver/types/test/crd.h"

#include "src/cluster/apiserver/types/registry.h"

static struct registry *new_registry(void)
{
    struct registry *reg = NULL;
    struct err e = {0};

    if (registry_new(&reg, &e) < 0)
        fail_msg("%s", e.text);
    return reg;
}

static const struct resource *find(struct registry *reg, const char *group, const char *version,
                                   const char *plural)
{
    return registry_find(reg, str_of(group), str_of(version), str_of(plural));
}

static void built_in_resources_are_found(void **state)
{
    static const struct {
        const char *group, *version, *plural, *kind;
        bool namespaced;
    } cases[] = {
        {"", "v1", "pods", "Pod", true},
        {"", "v1", "nodes", "Node", false},
        {"apps", "v1", "statefulsets", "StatefulSet", true},
        {"batch", "v1beta1", "cronjobs", "CronJob", true},
        {"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true},
        {"events.k8s.io", "v1", "events", "Event", true},
        {"extensions", "v1beta1", "ingresses", "Ingress", true},
        {"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition",
         false},
        {"authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview",
         false},
    };
    AUTO(registry_free) struct registry *reg = new_registry();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct resource *r = find(reg, cases[i].group, cases[i].version, cases[i].plural);

        assert_non_null(r);
        assert_string_equal(r->kind, cases[i].kind);
        assert_int_equal(r->namespaced, cases[i].namespaced);
        assert_ptr_equal(r, registry_find_kind(reg, str_of(cases[i].group),
                                               str_of(cases[i].version), str_of(cases[i].kind)));
    }
    assert_null(find(reg, "", "v1", "podz"));
    assert_null(find(reg, "apps", "v2", "deployments"));
    assert_true(registry_has_group(reg, STR("rbac.authorization.k8s.io")));
    assert_false(registry_has_group(reg, STR("slinky.slurm.net")));
}

static void kinds_without_a_resource_have_types(void **state)
{
    static const char *const cases[][3] = {
        {"policy/v1", "Eviction", "io.k8s.api.policy.v1.Eviction"},
        {"autoscaling/v1", "Scale", "io.k8s.api.autoscaling.v1.Scale"},
        {"v1", "PodList", "io.k8s.api.core.v1.PodList"},
        {"apps/v1", "DeleteOptions", "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"},
        {"v1", "Status", "io.k8s.apimachinery.pkg.apis.meta.v1.Status"},
    };
    AUTO(registry_free) struct registry *reg = new_registry();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(
            registry_kind_schema(reg, str_of(cases[i][0]), str_of(cases[i][1]))->name, cases[i][2]);
    assert_null(registry_kind_schema(reg, STR("v1"), STR("PodSpec")));
    assert_null(registry_kind_schema(reg, STR("v2"), STR("Pod")));
    assert_string_equal(registry_type(reg, "meta", "ObjectMeta")->short_name, "ObjectMeta");
    assert_null(registry_type(reg, "meta", "Nothing"));
}

static void groups_stand_in_order_with_their_preferred_version_first(void **state)
{
    AUTO(registry_free) struct registry *reg = new_registry();
    size_t n;
    const struct registry_gv *gvs = registry_gvs(reg, &n);

    (void)state;
    assert_string_equal(gvs[0].group, "");
    assert_string_equal(gvs[1].group, "apiregistration.k8s.io");
    assert_string_equal(gvs[2].group, "apps");
    assert_string_equal(gvs[n - 1].group, "extensions");
    for (size_t i = 1; i < n; i++) {
        if (streq(gvs[i].group, gvs[i - 1].group))
            assert_true(registry_version_cmp(gvs[i - 1].version, gvs[i].version) < 0);
        for (size_t k = 1; k < gvs[i].n_resources; k++)
            assert_true(strcmp(gvs[i].resources[k - 1]->plural, gvs[i].resources[k]->plural) < 0);
    }
}

static void versions_are_ordered_by_stability_and_age(void **state)
{
    static const char *const order[] = {"v10",     "v2",        "v1",        "v11beta2", "v10beta3",
                                        "v3beta1", "v12alpha1", "v11alpha2", "foo1",     "foo10",
                                        "v0",      "v1beta0",   "v1gamma1"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        for (size_t k = 0; k < ARRAY_LEN(order); k++)
            assert_true((registry_version_cmp(order[i], order[k]) < 0) == (i < k));
}

static void a_crd_serves_its_versions(void **state)
{
    AUTO(registry_free) struct registry *reg = new_registry();
    AUTO(arena_done) struct arena a = {0};
    uint64_t before = registry_version(reg);
    const struct resource *r;
    struct err e = {0};
    size_t n;

    (void)state;
    assert_int_equal(registry_put_crd(reg, parse(&a, test_crd), &e), 0);
    assert_true(registry_version(reg) > before);
    r = find(reg, "slinky.slurm.net", "v1beta1", "nodesets");
    assert_non_null(r);
    assert_true(r->custom);
    assert_string_equal(r->schema->name, "net.slurm.slinky.v1beta1.NodeSet");
    assert_string_equal(r->list_schema->name, "net.slurm.slinky.v1beta1.NodeSetList");
    assert_string_equal(r->short_names[0], "nss");
    assert_int_equal(r->n_subs, 2);
    assert_string_equal(r->subs[1].group, "autoscaling");
    assert_ptr_equal(schema_member(r->schema, STR("metadata"))->refines,
                     registry_type(reg, "meta", "ObjectMeta"));
    assert_string_equal(jsn_get_str(r->crd_version, "subresources.scale.specReplicasPath"),
                        ".spec.replicas");
    assert_true(find(reg, "slinky.slurm.net", "v1alpha1", "nodesets")->schema->preserve_unknown);
    assert_null(find(reg, "slinky.slurm.net", "v1", "nodesets"));
    assert_string_equal(registry_gvs(reg, &n)[n - 2].version, "v1beta1");
    assert_string_equal(registry_gvs(reg, &n)[n - 1].version, "v1alpha1");
}

static void a_resource_in_use_outlives_its_crd(void **state)
{
    AUTO(registry_free) struct registry *reg = new_registry();
    AUTO(arena_done) struct arena a = {0};
    AUTO(resource_unref) const struct resource *kept = NULL;
    struct err e = {0};

    (void)state;
    assert_int_equal(registry_put_crd(reg, parse(&a, test_crd), &e), 0);
    kept = resource_ref(find(reg, "slinky.slurm.net", "v1beta1", "nodesets"));
    assert_int_equal(registry_put_crd(reg, parse(&a, test_crd), &e), 0);
    assert_ptr_not_equal(kept, find(reg, "slinky.slurm.net", "v1beta1", "nodesets"));
    assert_true(registry_drop_crd(reg, TEST_CRD_NAME));
    assert_false(registry_drop_crd(reg, TEST_CRD_NAME));
    assert_null(find(reg, "slinky.slurm.net", "v1beta1", "nodesets"));
    assert_string_equal(kept->kind, "NodeSet");
    assert_non_null(resource_ref(find(reg, "", "v1", "pods")));
}

static void a_bad_crd_changes_nothing(void **state)
{
    static const char *const cases[][2] = {
        {"{}", "the definition has no name"},
        {"{\"metadata\":{\"name\":\"x\"},\"spec\":{\"versions\":[{\"served\":true}]}}",
         "custom resource definition x: the definition lacks its group, its names or the name of a "
         "version"},
        {"{\"metadata\":{\"name\":\"x\"},\"spec\":{\"group\":\"g\",\"names\":{\"plural\":\"p\","
         "\"kind\":\"K\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"schema\":{"
         "\"openAPIV3Schema\":{\"type\":\"what\"}}}]}}",
         "custom resource definition x: version v1: schema.openAPIV3Schema: type: must be object, "
         "array, string, integer, number or boolean"},
    };
    AUTO(registry_free) struct registry *reg = new_registry();
    AUTO(arena_done) struct arena a = {0};
    uint64_t before = registry_version(reg);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err e = {0};

        assert_int_equal(registry_put_crd(reg, parse(&a, cases[i][0]), &e), -EINVAL);
        assert_string_equal(e.text, cases[i][1]);
    }
    assert_int_equal(registry_version(reg), before);
}

static void objects_convert_to_their_stored_form_and_back(void **state)
{
    static const struct {
        const char *group, *version, *plural, *here, *stored;
    } cases[] = {
        {"events.k8s.io", "v1", "events",
         "{\"apiVersion\":\"events.k8s.io/v1\",\"kind\":\"Event\",\"note\":\"n\","
         "\"regarding\":{\"kind\":\"Pod\"},\"deprecatedCount\":3}",
         "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"message\":\"n\","
         "\"involvedObject\":{\"kind\":\"Pod\"},\"count\":3}"},
        {"policy", "v1beta1", "poddisruptionbudgets",
         "{\"apiVersion\":\"policy/v1beta1\",\"kind\":\"PodDisruptionBudget\"}",
         "{\"apiVersion\":\"policy/v1\",\"kind\":\"PodDisruptionBudget\"}"},
        {"extensions", "v1beta1", "ingresses",
         "{\"apiVersion\":\"extensions/v1beta1\",\"kind\":\"Ingress\",\"spec\":{\"backend\":{"
         "\"serviceName\":\"d\",\"servicePort\":\"http\"},\"rules\":[{\"http\":{\"paths\":[{"
         "\"backend\":{\"serviceName\":\"s\",\"servicePort\":80},"
         "\"pathType\":\"ImplementationSpecific\"}]}}]}}",
         "{\"apiVersion\":\"networking.k8s.io/v1\",\"kind\":\"Ingress\",\"spec\":{"
         "\"defaultBackend\":{\"service\":{\"name\":\"d\",\"port\":{\"name\":\"http\"}}},"
         "\"rules\":[{\"http\":{\"paths\":[{\"backend\":{\"service\":{\"name\":\"s\","
         "\"port\":{\"number\":80}}},\"pathType\":\"ImplementationSpecific\"}]}}]}}"},
        {"", "v1", "pods", "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}",
         "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}"},
    };
    AUTO(registry_free) struct registry *reg = new_registry();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        const struct resource *r = find(reg, cases[i].group, cases[i].version, cases[i].plural);
        struct jsn *v = parse(&a, cases[i].here);

        resource_to_stored(&a, r, v);
        assert_true(jsn_equal(v, parse(&a, cases[i].stored)));
        resource_from_stored(&a, r, v);
        assert_true(jsn_equal(v, parse(&a, cases[i].here)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_resources_are_found),
        cmocka_unit_test(kinds_without_a_resource_have_types),
        cmocka_unit_test(groups_stand_in_order_with_their_preferred_version_first),
        cmocka_unit_test(versions_are_ordered_by_stability_and_age),
        cmocka_unit_test(a_crd_serves_its_versions),
        cmocka_unit_test(a_resource_in_use_outlives_its_crd),
        cmocka_unit_test(a_bad_crd_changes_nothing),
        cmocka_unit_test(objects_convert_to_their_stored_form_and_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
