/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of OpenAPI documents, version 2 (JSON and protobuf) and version 3. */
#include "src/cluster/apiserver/types/test/crd.h"

#include "src/cluster/apiserver/types/openapi.h"
#include "src/cluster/apiserver/types/wire.h"

#define PROTO "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
#define NODESET "net.slurm.slinky.v1beta1.NodeSet"

static struct registry *reg;
static struct openapi *openapi;

static int set_up(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct err e = {0};

    (void)state;
    if (registry_new(&reg, &e) < 0 || registry_put_crd(reg, parse(&a, test_crd), &e) < 0)
        return -1;
    openapi = openapi_new(reg);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    openapi = openapi_free(openapi);
    reg = registry_free(reg);
    return 0;
}

static struct jsn *v2(struct arena *a)
{
    return parse(a, openapi_v2(openapi, NULL)->body.p);
}

static struct jsn *v3(struct arena *a, const char *path)
{
    const struct document *d = openapi_v3(openapi, str_of(path));

    assert_non_null(d);
    return parse(a, d->body.p);
}

static struct jsn *definition(const struct jsn *doc, const char *name)
{
    struct jsn *all = jsn_get(doc, "definitions");

    return jsn_key(all ? all : jsn_get(doc, "components.schemas"), name);
}

static void definitions_of_built_in_types_are_kubernetes_own(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct jsn *doc = v2(&a);
    const struct jsn *pod_spec = definition(doc, "io.k8s.api.core.v1.PodSpec");

    (void)state;
    assert_string_equal(
        print(&a, jsn_get(pod_spec, "properties.topologySpreadConstraints")),
        "{\"description\":\"How pods of a kind spread over zones and nodes.\",\"type\":\"array\","
        "\"items\":{\"$ref\":\"#/definitions/io.k8s.api.core.v1.TopologySpreadConstraint\"},"
        "\"x-kubernetes-list-map-keys\":[\"topologyKey\",\"whenUnsatisfiable\"],"
        "\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-patch-merge-key\":\"topologyKey\","
        "\"x-kubernetes-patch-strategy\":\"merge\"}");
    assert_string_equal(print(&a, jsn_get(pod_spec, "required")), "[\"containers\"]");
    assert_string_equal(
        jsn_get_str(definition(doc, "io.k8s.api.core.v1.Volume"), "properties.hostPath.$ref"),
        "#/definitions/io.k8s.api.core.v1.HostPathVolumeSource");
    assert_string_equal(print(&a, jsn_key(definition(doc, "io.k8s.api.apps.v1.Deployment"),
                                          "x-kubernetes-group-version-kind")),
                        "[{\"group\":\"apps\",\"kind\":\"Deployment\",\"version\":\"v1\"}]");
    assert_string_equal(jsn_get_str(definition(doc, "io.k8s.api.apps.v1.DeploymentSpec"),
                                    "properties.strategy.x-kubernetes-patch-strategy"),
                        "retainKeys");
    assert_non_null(definition(doc, "io.k8s.api.core.v1.PodList"));
    assert_non_null(definition(doc, "io.k8s.apimachinery.pkg.api.resource.Quantity"));
}

/* Whether every "$ref" in a document leads to a definition of it. */
static void check_references(const struct jsn *v, const struct jsn *definitions, const char *prefix)
{
    const char *ref = jsn_text(jsn_key(v, "$ref"));

    if (ref) {
        assert_true(starts_with(ref, prefix));
        if (!jsn_key(definitions, ref + strlen(prefix)))
            fail_msg("%s leads nowhere", ref);
    }
    JSN_FOR_MEMBERS (m, v)
        check_references(m->value, definitions, prefix);
    JSN_FOR_ITEMS (i, v)
        check_references(i, definitions, prefix);
}

static void no_reference_leads_nowhere(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct jsn *doc = v2(&a);
    const struct registry_gv *gvs;
    size_t n;

    (void)state;
    check_references(doc, jsn_get(doc, "definitions"), "#/definitions/");
    gvs = registry_gvs(reg, &n);
    for (size_t i = 0; i < n; i++) {
        doc = v3(&a, arena_printf(&a, "%s%s/%s", *gvs[i].group ? "apis/" : "api", gvs[i].group,
                                  gvs[i].version));
        check_references(doc, jsn_get(doc, "components.schemas"), "#/components/schemas/");
    }
}

/* kubectl decides by these about server-side dry runs and validation. */
static void patches_take_dry_run_and_field_validation(void **state)
{
    static const char *const paths[] = {
        "/api/v1/namespaces/{name}",
        "/api/v1/namespaces/{namespace}/configmaps/{name}",
        "/apis/apps/v1/namespaces/{namespace}/deployments/{name}",
        "/apis/slinky.slurm.net/v1beta1/namespaces/{namespace}/nodesets/{name}",
    };
    AUTO(arena_done) struct arena a = {0};
    const struct jsn *doc = v2(&a);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        const struct jsn *patch = jsn_get(jsn_key(jsn_get(doc, "paths"), paths[i]), "patch");
        int found = 0;

        JSN_FOR_ITEMS (p, jsn_get(patch, "parameters")) {
            const char *name = jsn_get_str(p, "name");

            if (streq(name, "dryRun") || streq(name, "fieldValidation"))
                found += streq(jsn_get_str(p, "in"), "query");
        }
        assert_int_equal(found, 2);
        assert_non_null(jsn_get_str(jsn_key(patch, "x-kubernetes-group-version-kind"), "kind"));
    }
}

static void only_built_in_kinds_offer_strategic_merge(void **state)
{
    static const char key[] = "application/strategic-merge-patch+json";
    AUTO(arena_done) struct arena a = {0};
    const struct jsn *apps = jsn_get(v3(&a, "apis/apps/v1"), "paths");
    const struct jsn *slinky = jsn_get(v3(&a, "apis/slinky.slurm.net/v1beta1"), "paths");
    const struct jsn *content;

    (void)state;
    content = jsn_get(jsn_key(apps, "/apis/apps/v1/namespaces/{namespace}/deployments/{name}"),
                      "patch.requestBody.content");
    assert_non_null(jsn_key(content, key));
    content = jsn_get(
        jsn_key(slinky, "/apis/slinky.slurm.net/v1beta1/namespaces/{namespace}/nodesets/{name}"),
        "patch.requestBody.content");
    assert_non_null(jsn_key(content, "application/apply-patch+yaml"));
    assert_null(jsn_key(content, key));
}

static void version_2_leaves_out_what_kubectl_stumbles_over(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct jsn *doc = v2(&a);
    const struct jsn *spec = jsn_get(definition(doc, NODESET), "properties.spec");

    (void)state;
    assert_string_equal(print(&a, jsn_get(spec, "required")), "[\"replicas\"]");
    assert_string_equal(print(&a, jsn_get(spec, "properties.maybe")), "{}");
    assert_string_equal(print(&a, jsn_get(spec, "properties.port")),
                        "{\"x-kubernetes-int-or-string\":true}");
    assert_string_equal(print(&a, jsn_get(spec, "properties.free")),
                        "{\"x-kubernetes-preserve-unknown-fields\":true}");
    assert_string_equal(print(&a, jsn_get(spec, "properties.replicas")),
                        "{\"format\":\"int32\",\"minimum\":0,\"type\":\"integer\"}");
    assert_string_equal(print(&a, jsn_get(spec, "properties.labels")),
                        "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}");
    assert_string_equal(print(&a, definition(doc, "net.slurm.slinky.v1alpha1.NodeSet")),
                        "{\"type\":\"object\","
                        "\"x-kubernetes-group-version-kind\":[{\"group\":\"slinky.slurm.net\","
                        "\"kind\":\"NodeSet\",\"version\":\"v1alpha1\"}]}");
}

static void version_3_shows_the_crds_own_schema(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct jsn *def = definition(v3(&a, "apis/slinky.slurm.net/v1beta1"), NODESET);

    (void)state;
    assert_string_equal(print(&a, jsn_get(def, "properties.spec.required")),
                        "[\"replicas\",\"maybe\"]");
    assert_int_equal(jsn_get_int(def, "properties.spec.properties.replicas.default", 0), 1);
    assert_true(jsn_get_bool(def, "properties.spec.properties.maybe.nullable", false));
    assert_string_equal(jsn_get_str(jsn_item(jsn_get(def, "properties.metadata.allOf"), 0), "$ref"),
                        "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
    assert_string_equal(jsn_get_str(def, "description"), "Slurm nodes.");
}

static void the_root_of_version_3_has_the_hashes(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct jsn *paths = jsn_get(parse(&a, openapi_v3_root(openapi)->body.p), "paths");
    const struct document *apps = openapi_v3(openapi, STR("apis/apps/v1"));

    (void)state;
    assert_string_equal(jsn_get_str(jsn_key(paths, "apis/apps/v1"), "serverRelativeURL"),
                        arena_printf(&a, "/openapi/v3/apis/apps/v1?hash=%s", apps->hash));
    assert_true(apps->immutable);
    assert_non_null(jsn_key(paths, "api/v1"));
    assert_null(openapi_v3(openapi, STR("apis/none/v1")));
    assert_null(openapi_v3(openapi, STR("apis/apps")));
    assert_null(openapi_v3(openapi, STR("apis//v1")));
    assert_null(openapi_v3(openapi, STR("logs")));
    assert_null(openapi_v3(openapi, STR("")));
}

static void documents_are_kept_until_a_crd_changes(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct document *json = openapi_v2(openapi, NULL);
    const struct document *apps = openapi_v3(openapi, STR("apis/apps/v1"));
    struct err e = {0};
    char before[sizeof(json->etag)];

    (void)state;
    memcpy(before, json->etag, sizeof(before));
    assert_ptr_equal(json, openapi_v2(openapi, NULL));
    assert_true(registry_drop_crd(reg, TEST_CRD_NAME));
    assert_string_not_equal(openapi_v2(openapi, NULL)->etag, before);
    assert_null(openapi_v3(openapi, STR("apis/slinky.slurm.net/v1beta1")));
    assert_ptr_equal(apps, openapi_v3(openapi, STR("apis/apps/v1")));
    assert_int_equal(registry_put_crd(reg, parse(&a, test_crd), &e), 0);
    assert_string_equal(openapi_v2(openapi, NULL)->etag, before);
}

/* The message under a path of field numbers that ends with 0; the first of each. */
static struct str dig(struct str message, const uint32_t *numbers)
{
    struct wire_field f;

    for (; *numbers; numbers++) {
        bool found = false;

        while (!found && wire_next(&message, &f) > 0)
            found = f.number == *numbers;
        assert_true(found);
        message = f.bytes;
    }
    return message;
}
#define DIG(message, ...) dig(message, (const uint32_t[]){__VA_ARGS__, 0})

/* The value {2: ...} of the entry of that name {1: name} in a list under `number`. */
static struct str named(struct str message, uint32_t number, const char *name)
{
    struct wire_field f;

    while (wire_next(&message, &f) > 0)
        if (f.number == number && str_eqz(DIG(f.bytes, 1), name))
            return DIG(f.bytes, 2);
    fail_msg("no entry %s", name);
    return STR("");
}

static void the_protobuf_form_has_gnostics_layout(void **state)
{
    const struct document *d = openapi_v2(openapi, PROTO);
    struct str nodeset, patch, gvk, spec;

    (void)state;
    assert_string_equal(d->content_type, "application/octet-stream");
    assert_true(str_eqz(DIG(d->body, 1), "2.0"));
    nodeset = named(DIG(d->body, 9), 1, NODESET);
    assert_true(str_eqz(DIG(nodeset, 22, 1), "object"));
    gvk = named(nodeset, 31, "x-kubernetes-group-version-kind");
    assert_true(str_eqz(DIG(gvk, 2), "[{\"group\":\"slinky.slurm.net\",\"kind\":\"NodeSet\","
                                     "\"version\":\"v1beta1\"}]\n"));
    patch = named(DIG(d->body, 8), 2, "/api/v1/namespaces/{namespace}/pods/{name}");
    patch = DIG(patch, 8);
    gvk = named(patch, 13, "x-kubernetes-group-version-kind");
    assert_true(str_eqz(DIG(gvk, 2), "{\"group\":\"\",\"kind\":\"Pod\",\"version\":\"v1\"}\n"));
    /* Pod.spec is a reference with a text of its own. */
    spec = named(DIG(named(DIG(d->body, 9), 1, "io.k8s.api.core.v1.Pod"), 25), 1, "spec");
    assert_true(str_eqz(DIG(spec, 1), "#/definitions/io.k8s.api.core.v1.PodSpec"));
    assert_true(str_eqz(DIG(spec, 4), "What is to run, and how."));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions_of_built_in_types_are_kubernetes_own),
        cmocka_unit_test(no_reference_leads_nowhere),
        cmocka_unit_test(patches_take_dry_run_and_field_validation),
        cmocka_unit_test(only_built_in_kinds_offer_strategic_merge),
        cmocka_unit_test(version_2_leaves_out_what_kubectl_stumbles_over),
        cmocka_unit_test(version_3_shows_the_crds_own_schema),
        cmocka_unit_test(the_root_of_version_3_has_the_hashes),
        cmocka_unit_test(documents_are_kept_until_a_crd_changes),
        cmocka_unit_test(the_protobuf_form_has_gnostics_layout),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
