/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of discovery documents. */
#include "src/cluster/apiserver/types/test/crd.h"

#include "src/cluster/apiserver/types/discovery.h"

#define V2 "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
#define V2BETA1 "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"

static struct registry *reg;
static struct discovery *discovery;

static int set_up(void **state)
{
    struct err e = {0};

    (void)state;
    if (registry_new(&reg, &e) < 0)
        return -1;
    discovery = discovery_new(reg, "127.0.0.1:6443");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    discovery = discovery_free(discovery);
    reg = registry_free(reg);
    return 0;
}

static struct jsn *get(struct arena *a, const char *path, const char *accept)
{
    const struct document *d = discovery_get(discovery, str_of(path), accept);

    if (!d)
        fail_msg("%s is not there", path);
    return parse(a, d->body.p);
}

/* The item of a list whose `key` is `value`. */
static struct jsn *item(const struct jsn *list, const char *key, const char *value)
{
    JSN_FOR_ITEMS (v, list)
        if (streq(jsn_get_str(v, key), value))
            return v;
    fail_msg("no item %s=%s", key, value);
    return NULL;
}

static void the_accept_header_chooses_the_form(void **state)
{
    static const char *const cases[][2] = {
        {NULL, "application/json"},
        {"application/json, */*", "application/json"},
        {"*/*", "application/json"},
        {V2 "," V2BETA1 ",application/json", V2},
        {V2BETA1 ",application/json", V2BETA1},
        {"application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList," V2BETA1, V2BETA1},
        {"application/json; v=v2; as=APIGroupDiscoveryList; g=apidiscovery.k8s.io", V2},
        {"application/vnd.kubernetes.protobuf", "application/json"},
        {"application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "application/json"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct document *d = discovery_get(discovery, STR("/apis"), cases[i][0]);

        assert_string_equal(d->content_type, cases[i][1]);
        assert_true(d->vary_accept);
        assert_int_equal(strlen(d->etag), sizeof(d->etag) - 1);
        assert_ptr_equal(d, discovery_get(discovery, STR("/apis/"), cases[i][0]));
    }
}

static void paths_that_are_no_discovery_are_not_answered(void **state)
{
    static const char *const paths[] = {"",
                                        "/",
                                        "/ap",
                                        "api",
                                        "/api/v2",
                                        "/apis/none",
                                        "/apis/apps/v2",
                                        "/apis//v1",
                                        "/api/v1/x",
                                        "/apis/apps/v1/deployments"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        assert_null(discovery_get(discovery, str_of(paths[i]), NULL));
}

static void legacy_documents_have_kubernetes_form(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct jsn *list;

    (void)state;
    assert_string_equal(
        discovery_get(discovery, STR("/api"), NULL)->body.p,
        "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],\"serverAddressByClientCIDRs\":[{"
        "\"clientCIDR\":\"0.0.0.0/0\",\"serverAddress\":\"127.0.0.1:6443\"}]}");
    assert_string_equal(
        discovery_get(discovery, STR("/apis/policy"), NULL)->body.p,
        "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",\"name\":\"policy\",\"versions\":[{"
        "\"groupVersion\":\"policy/v1\",\"version\":\"v1\"},{\"groupVersion\":\"policy/v1beta1\","
        "\"version\":\"v1beta1\"}],\"preferredVersion\":{\"groupVersion\":\"policy/v1\","
        "\"version\":\"v1\"}}");
    assert_string_equal(jsn_get_str(item(jsn_get(get(&a, "/apis", NULL), "groups"), "name", "apps"),
                                    "preferredVersion.groupVersion"),
                        "apps/v1");
    list = get(&a, "/apis/apps/v1", NULL);
    assert_string_equal(jsn_get_str(list, "groupVersion"), "apps/v1");
    assert_string_equal(
        print(&a, item(jsn_get(list, "resources"), "name", "deployments")),
        "{\"name\":\"deployments\",\"singularName\":\"deployment\",\"namespaced\":true,\"kind\":"
        "\"Deployment\",\"verbs\":[\"create\",\"delete\",\"deletecollection\",\"get\",\"list\","
        "\"patch\",\"update\",\"watch\"],\"shortNames\":[\"deploy\"],\"categories\":[\"all\"],"
        "\"storageVersionHash\":\"8aSe+NMegvE=\"}");
    assert_string_equal(
        print(&a, item(jsn_get(list, "resources"), "name", "deployments/scale")),
        "{\"name\":\"deployments/scale\",\"singularName\":\"\",\"namespaced\":true,\"group\":"
        "\"autoscaling\",\"version\":\"v1\",\"kind\":\"Scale\",\"verbs\":[\"get\",\"patch\","
        "\"update\"]}");
}

static void the_core_group_has_the_subresources_kubectl_needs(void **state)
{
    static const char *const names[] = {
        "pods/log",
        "pods/exec",
        "pods/attach",
        "pods/portforward",
        "pods/status",
        "pods/eviction",
        "pods/ephemeralcontainers",
        "pods/binding",
        "bindings",
        "serviceaccounts/token",
        "namespaces/finalize",
        "nodes/status",
    };
    AUTO(arena_done) struct arena a = {0};
    const struct jsn *list = get(&a, "/api/v1", NULL), *eviction;

    (void)state;
    assert_null(jsn_get(list, "apiVersion"));
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        (void)item(jsn_get(list, "resources"), "name", names[i]);
    eviction = item(jsn_get(list, "resources"), "name", "pods/eviction");
    assert_string_equal(jsn_get_str(eviction, "group"), "policy");
    assert_string_equal(jsn_get_str(eviction, "version"), "v1");
}

static void the_aggregated_form_holds_everything(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct jsn *core = get(&a, "/api", V2), *rest = get(&a, "/apis", V2BETA1), *group;

    (void)state;
    assert_string_equal(jsn_get_str(core, "apiVersion"), "apidiscovery.k8s.io/v2");
    assert_string_equal(jsn_get_str(rest, "apiVersion"), "apidiscovery.k8s.io/v2beta1");
    assert_int_equal(jsn_len(jsn_get(core, "items")), 1);
    assert_null(jsn_get(jsn_item(jsn_get(core, "items"), 0), "metadata.name"));
    JSN_FOR_ITEMS (g, jsn_get(rest, "items")) {
        assert_non_null(jsn_get_str(g, "metadata.name"));
        JSN_FOR_ITEMS (v, jsn_get(g, "versions")) {
            assert_string_equal(jsn_get_str(v, "freshness"), "Current");
            JSN_FOR_ITEMS (r, jsn_get(v, "resources")) {
                assert_non_null(jsn_get_str(r, "responseKind.kind"));
                assert_non_null(jsn_get_str(r, "responseKind.version"));
                JSN_FOR_ITEMS (s, jsn_get(r, "subresources"))
                    assert_non_null(jsn_get_str(s, "responseKind.kind"));
            }
        }
    }
    group = jsn_item(jsn_get(rest, "items"), 1);
    assert_string_equal(jsn_get_str(group, "metadata.name"), "apps");
    assert_string_equal(
        jsn_get_str(jsn_item(jsn_get(jsn_item(jsn_get(group, "versions"), 0), "resources"), 0),
                    "scope"),
        "Namespaced");
}

static void a_crd_shows_up_and_goes(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct document *before = discovery_get(discovery, STR("/apis"), V2);
    char etag[sizeof(before->etag)];
    const struct jsn *nodesets;
    struct err e = {0};

    (void)state;
    memcpy(etag, before->etag, sizeof(etag));
    assert_int_equal(registry_put_crd(reg, parse(&a, test_crd), &e), 0);
    assert_string_not_equal(discovery_get(discovery, STR("/apis"), V2)->etag, etag);
    nodesets = item(jsn_get(get(&a, "/apis/slinky.slurm.net/v1beta1", NULL), "resources"), "name",
                    "nodesets");
    assert_string_equal(jsn_get_str(nodesets, "singularName"), "nodeset");
    assert_string_equal(print(&a, jsn_get(nodesets, "verbs")),
                        "[\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\",\"create\","
                        "\"update\",\"watch\"]");
    assert_string_equal(
        jsn_get_str(get(&a, "/apis/slinky.slurm.net", NULL), "preferredVersion.version"),
        "v1beta1");
    assert_true(registry_drop_crd(reg, TEST_CRD_NAME));
    assert_null(discovery_get(discovery, STR("/apis/slinky.slurm.net"), NULL));
    assert_string_equal(discovery_get(discovery, STR("/apis"), V2)->etag, etag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_accept_header_chooses_the_form),
        cmocka_unit_test(paths_that_are_no_discovery_are_not_answered),
        cmocka_unit_test(legacy_documents_have_kubernetes_form),
        cmocka_unit_test(the_core_group_has_the_subresources_kubectl_needs),
        cmocka_unit_test(the_aggregated_form_holds_everything),
        cmocka_unit_test(a_crd_shows_up_and_goes),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
