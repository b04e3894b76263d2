/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the CRDs: the files in deploy/crds, what they say, and what they do to objects. */
#include "src/api/test/objects.h"

#include "src/api/crds.h"
#include "src/base/file.h"
#include "src/json/schema_openapi.h"
#include "src/json/structural.h"

static void the_files_in_deploy_are_what_is_printed(void **state)
{
    (void)state;
    API_FOR_KINDS (k) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(buf_done) struct buf printed = {0};
        AUTO(free) char *kept = NULL;
        const char *path = arena_printf(&a, "%s/deploy/crds/%s", SOURCE_ROOT, api_crd_file(&a, k));
        struct err e = {0};
        size_t n;

        api_print_crds(&printed, k, true);
        if (file_read(path, (size_t)1 << 20, &kept, &n, &e) < 0)
            fail_msg("%s; print it with: make crds", e.text);
        if (!streq(kept, buf_str(&printed)))
            fail_msg("%s is not what `slurmkeeper crds` prints; run: make crds", path);
    }
}

static const struct jsn *schema_of(struct arena *a, const char *kind, bool rules)
{
    const struct jsn *crd = api_crd(a, api_kind_find(kind), rules);

    return jsn_get(jsn_item(jsn_get(crd, "spec.versions"), 0), "schema.openAPIV3Schema");
}

static void definitions_have_names_columns_and_subresources(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *crd = api_crd(&a, api_kind_find("nodesets"), true);
    const struct jsn *version = jsn_item(jsn_get(crd, "spec.versions"), 0);

    (void)state;
    assert_string_equal(jsn_get_str(crd, "metadata.name"), "nodesets.slinky.slurm.net");
    assert_string_equal(jsn_text(jsn_item(jsn_get(crd, "spec.names.shortNames"), 0)), "nss");
    assert_string_equal(jsn_text(jsn_item(jsn_get(crd, "spec.names.categories"), 0)), "slurm");
    assert_string_equal(jsn_get_str(version, "subresources.scale.labelSelectorPath"),
                        ".status.selector");
    assert_int_equal(jsn_len(jsn_key(version, "additionalPrinterColumns")), 10);
}

static void partitions_are_of_our_own_group(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *crd = api_crd(&a, api_kind_find("Partition"), true);
    const struct jsn *version = jsn_item(jsn_get(crd, "spec.versions"), 0);

    (void)state;
    assert_string_equal(jsn_get_str(crd, "metadata.name"), "partitions.slurmkeeper.dev");
    assert_string_equal(jsn_get_str(version, "name"), "v1alpha1");
    assert_string_equal(api_crd_file(&a, api_kind_find("Partition")),
                        "slurmkeeper.dev_partitions.yaml");
    assert_non_null(
        api_kind_of(yaml_of(&a, "{apiVersion: slurmkeeper.dev/v1alpha1, kind: Partition}")));
    assert_null(
        api_kind_of(yaml_of(&a, "{apiVersion: slinky.slurm.net/v1beta1, kind: Partition}")));
    assert_null(api_kind_of(yaml_of(&a, "{apiVersion: slurmkeeper.dev/v1alpha1, kind: NodeSet}")));
}

static void fields_are_described(void **state)
{
    static const char *const cases[][3] = {
        {"NodeSet", "spec", "['controllerRef']"},
        {"NodeSet", "spec.partition", NULL},
        {"NodeSet", "spec.updateStrategy.rollingUpdate.maxUnavailable", NULL},
        {"NodeSet", "status.slurmIdle", NULL},
        {"Partition", "spec.maxTime", NULL},
        {"Partition", "status.live", NULL},
        {"Controller", "spec.persistence.accessModes", NULL},
        {"Controller", "spec.metrics.serviceMonitor.endpoints", NULL},
    };
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct jsn *at = schema_of(&a, cases[i][0], true);
        struct str rest = str_of(cases[i][1]);
        struct str key;

        while (str_split(&rest, '.', &key))
            at = jsn_member(jsn_key(at, "properties"), key);
        assert_non_null(jsn_get_str(at, "description"));
    }
}

/* Everything that explain shows has words: walk the whole schema. */
static void walk(const struct jsn *node, const char *name)
{
    if (!jsn_get_str(node, "description"))
        fail_msg("%s has no description", name);
    JSN_FOR_MEMBERS (m, jsn_key(node, "properties"))
        walk(m->value, m->key.p);
    JSN_FOR_MEMBERS (m, jsn_get(node, "items.properties"))
        walk(m->value, m->key.p);
}

static void nothing_is_without_a_description(void **state)
{
    (void)state;
    API_FOR_KINDS (k) {
        AUTO(arena_done) struct arena a = {0};
        const struct jsn *schema = schema_of(&a, k->kind, true);

        walk(jsn_get(schema, "properties.spec"), "spec");
        walk(jsn_get(schema, "properties.status"), "status");
    }
}

static void rules_can_be_left_out(void **state)
{
    AUTO(buf_done) struct buf with = {0};
    AUTO(buf_done) struct buf without = {0};

    (void)state;
    api_print_crds(&with, NULL, true);
    api_print_crds(&without, NULL, false);
    assert_non_null(strstr(buf_str(&with), "x-kubernetes-validations"));
    assert_null(strstr(buf_str(&without), "x-kubernetes-validations"));
}

static void defaults_fill_only_what_is_given(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct schema *schema = NULL;
    struct jsn *v = ours_of(&a, "NodeSet", "x", "  {controllerRef: {name: m}, partition: {}}");
    struct err e = {0};

    (void)state;
    if (schema_from_openapi(&a, schema_of(&a, "NodeSet", true), &schema, &e) < 0)
        fail_msg("%s", e.text);
    schema_default(&a, v, schema);
    assert_true(jsn_get_bool(v, "spec.partition.enabled", false));
    assert_int_equal(jsn_get_int(v, "spec.replicas", 0), 1);
    assert_null(jsn_get(v, "spec.ssh"));
    assert_null(jsn_get(v, "spec.updateStrategy"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_files_in_deploy_are_what_is_printed),
        cmocka_unit_test(definitions_have_names_columns_and_subresources),
        cmocka_unit_test(partitions_are_of_our_own_group),
        cmocka_unit_test(fields_are_described),
        cmocka_unit_test(nothing_is_without_a_description),
        cmocka_unit_test(rules_can_be_left_out),
        cmocka_unit_test(defaults_fill_only_what_is_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
