/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of decoding, defaulting and encoding of built-in objects. */
#include "src/cluster/apiserver/types/test/crd.h"

#include "src/cluster/apiserver/types/registry.h"
#include "src/cluster/apiserver/types/type.h"

static struct registry *reg;

static int set_up(void **state)
{
    struct err e = {0};

    (void)state;
    return registry_new(&reg, &e);
}

static int tear_down(void **state)
{
    (void)state;
    reg = registry_free(reg);
    return 0;
}

static const struct schema *kind(const char *api_version, const char *name)
{
    return registry_kind_schema(reg, str_of(api_version), str_of(name));
}

static void wrong_types_are_reported_in_gos_words(void **state)
{
    static const struct {
        const char *api_version, *kind, *text, *error;
    } cases[] = {
        {"v1", "ConfigMap", "{\"data\":{\"a\":1}}",
         "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"},
        {"v1", "ConfigMap", "{\"data\":[]}",
         "json: cannot unmarshal array into Go struct field ConfigMap.data of type "
         "map[string]string"},
        {"v1", "ConfigMap", "{\"metadata\":\"x\"}",
         "json: cannot unmarshal string into Go struct field ConfigMap.metadata of type "
         "v1.ObjectMeta"},
        {"v1", "ConfigMap", "{\"metadata\":{\"labels\":{\"a\":true}}}",
         "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type "
         "string"},
        {"v1", "ConfigMap", "[]",
         "json: cannot unmarshal array into Go value of type v1.ConfigMap"},
        {"apps/v1", "Deployment", "{\"spec\":{\"replicas\":\"3\"}}",
         "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type "
         "int32"},
        {"apps/v1", "Deployment", "{\"spec\":{\"replicas\":1.5}}",
         "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of "
         "type int32"},
        {"apps/v1", "Deployment", "{\"spec\":{\"replicas\":3000000000}}",
         "json: cannot unmarshal number 3000000000 into Go struct field "
         "DeploymentSpec.spec.replicas of type int32"},
        {"v1", "Pod", "{\"spec\":{\"containers\":{}}}",
         "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type "
         "[]v1.Container"},
        {"v1", "Pod", "{\"spec\":{\"containers\":[{\"env\":[{\"name\":\"a\",\"value\":1}]}]}}",
         "json: cannot unmarshal number into Go struct field EnvVar.spec.containers.env.value of "
         "type string"},
        {"v1", "Pod", "{\"spec\":{\"containers\":[{\"imagePullPolicy\":1}]}}",
         "json: cannot unmarshal number into Go struct field "
         "Container.spec.containers.imagePullPolicy of type v1.PullPolicy"},
        {"v1", "Pod", "{\"spec\":{\"hostNetwork\":\"true\"}}",
         "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type "
         "bool"},
        {"v1", "Secret", "{\"data\":{\"a\":7}}",
         "json: cannot unmarshal number into Go struct field Secret.data of type []uint8"},
        {"v1", "Secret", "{\"data\":{\"a\":\"a-b=\"}}", "illegal base64 data at input byte 1"},
        {"v1", "Secret", "{\"data\":{\"a\":\"YWJj YQ==\"}}", "illegal base64 data at input byte 4"},
        {"v1", "Secret", "{\"data\":{\"a\":\"YWJjY\"}}", "illegal base64 data at input byte 4"},
        {"v1", "Secret", "{\"data\":{\"a\":\"YQ==YQ==\"}}", "illegal base64 data at input byte 4"},
        {"v1", "Service", "{\"spec\":{\"ports\":[{\"targetPort\":true}]}}",
         "json: cannot unmarshal bool into Go value of type int32"},
        {"v1", "Service", "{\"spec\":{\"ports\":[{\"targetPort\":1.5}]}}",
         "json: cannot unmarshal number 1.5 into Go value of type int32"},
        {"v1", "Pod",
         "{\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"lots\"}}}]}}",
         "quantities must match the regular expression "
         "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
        {"v1", "Pod", "{\"metadata\":{\"creationTimestamp\":\"soon\"}}",
         "parsing time \"soon\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"soon\" as "
         "\"2006\""},
        {"v1", "Pod", "{\"metadata\":{\"creationTimestamp\":\"2026-01-02 10:00:00Z\"}}",
         "parsing time \"2026-01-02 10:00:00Z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \" "
         "10:00:00Z\" as \"T\""},
        {"v1", "Pod", "{\"metadata\":{\"creationTimestamp\":5}}",
         "json: cannot unmarshal number into Go value of type string"},
        {"coordination.k8s.io/v1", "Lease", "{\"spec\":{\"renewTime\":\"2026-01-02T10:00:00Z\"}}",
         "parsing time \"2026-01-02T10:00:00Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot "
         "parse \"Z\" as \".000000\""},
        {"apiextensions.k8s.io/v1", "CustomResourceDefinition",
         "{\"spec\":{\"versions\":[{\"schema\":{\"openAPIV3Schema\":{\"additionalProperties\":1}}}]"
         "}"
         "}",
         "boolean or JSON schema expected"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct err e = {0};
        struct jsn *v = parse(&a, cases[i].text);

        assert_int_equal(type_check(&a, kind(cases[i].api_version, cases[i].kind), v, NULL, &e),
                         -EINVAL);
        assert_string_equal(e.text, cases[i].error);
    }
}

static void unknown_and_duplicate_fields_are_noted_in_order(void **state)
{
    static const char text[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"foo\":1,\"name\":\"a\","
        "\"name\":\"b\"},\"spec\":{\"containers\":[{\"name\":\"c\"},{\"name\":\"d\",\"bad\":{"
        "\"x\":1,\"x\":2}}],\"nodeSelector\":{\"k\":\"1\",\"k\":\"2\"}},\"bogus\":null}";
    static const char *const notes_wanted[] = {
        "unknown field \"metadata.foo\"",
        "duplicate field \"metadata.name\"",
        "unknown field \"spec.containers[1].bad\"",
        "duplicate field \"spec.nodeSelector.k\"",
        "unknown field \"bogus\"",
    };
    AUTO(arena_done) struct arena a = {0};
    struct jsn_notes parsed = {.arena = &a};
    struct type_notes notes = {.parsed = &parsed};
    struct err e = {0};
    struct jsn *v;

    (void)state;
    assert_int_equal(jsn_parse(&a, str_of(text), &parsed, &v, &e), 0);
    assert_int_equal(type_check(&a, kind("v1", "Pod"), v, &notes, &e), 0);
    assert_int_equal(notes.n_texts, ARRAY_LEN(notes_wanted));
    for (size_t i = 0; i < ARRAY_LEN(notes_wanted); i++)
        assert_string_equal(notes.texts[i], notes_wanted[i]);
    assert_string_equal(
        print(&a, v),
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"},\"spec\":{"
        "\"containers\":[{\"name\":\"c\"},{\"name\":\"d\"}],\"nodeSelector\":{\"k\":\"2\"}}}");
}

static void notes_are_capped(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct type_notes notes = {0};
    struct err e = {0};

    (void)state;
    buf_adds(&b, "{\"kind\":\"Pod\"");
    for (int i = 0; i < 2 * TYPE_MAX_NOTES; i++)
        buf_printf(&b, ",\"x%d\":1", i);
    buf_addc(&b, '}');
    assert_int_equal(type_check(&a, kind("v1", "Pod"), parse(&a, buf_str(&b)), &notes, &e), 0);
    assert_int_equal(notes.n_texts, TYPE_MAX_NOTES);
}

static void values_get_their_canonical_form(void **state)
{
    static const char *const cases[][3] = {
        {"Pod", "{\"metadata\":{\"creationTimestamp\":\"2026-01-02T10:00:00+02:00\"}}",
         "{\"metadata\":{\"creationTimestamp\":\"2026-01-02T08:00:00Z\"}}"},
        {"Pod",
         "{\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":0.5,\"memory\":\"1024Mi\"}"
         "}}]}}",
         "{\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"500m\",\"memory\":"
         "\"1Gi\"}}}]}}"},
        {"Secret", "{\"data\":{\"a\":\"YWJj\\nZA==\\n\"}}", "{\"data\":{\"a\":\"YWJjZA==\"}}"},
        {"ConfigMap", "{\"data\":{\"a\":null},\"binaryData\":null}", "{\"data\":{\"a\":\"\"}}"},
        {"Pod", "{\"spec\":{\"containers\":[null],\"hostNetwork\":null}}",
         "{\"spec\":{\"containers\":[{}]}}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct err e = {0};
        struct jsn *v = parse(&a, cases[i][1]);

        if (type_check(&a, kind("v1", cases[i][0]), v, NULL, &e) < 0)
            fail_msg("%s", e.text);
        assert_string_equal(print(&a, v), cases[i][2]);
    }
}

static void defaults_fill_what_was_not_given(void **state)
{
    static const struct {
        const char *api_version, *kind, *text, *wanted;
    } cases[] = {
        {"v1", "Secret", "{\"type\":\"\"}", "{\"type\":\"Opaque\",\"metadata\":{}}"},
        {"apps/v1", "Deployment", "{\"spec\":{\"replicas\":0}}",
         "{\"spec\":{\"replicas\":0,\"template\":{\"metadata\":{},\"spec\":{\"restartPolicy\":"
         "\"Always\",\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":\"ClusterFirst\","
         "\"securityContext\":{},\"schedulerName\":\"default-scheduler\"}},\"strategy\":{\"type\":"
         "\"RollingUpdate\"},\"revisionHistoryLimit\":10,\"progressDeadlineSeconds\":600},"
         "\"metadata\":{},\"status\":{}}"},
        {"v1", "ReplicationController", "{\"spec\":{}}",
         "{\"spec\":{\"replicas\":1},\"metadata\":{},\"status\":{}}"},
        {"v1", "Service",
         "{\"spec\":{\"ports\":[{\"port\":80},{\"port\":81,\"protocol\":\"UDP\"}]}}",
         "{\"spec\":{\"ports\":[{\"port\":80,\"protocol\":\"TCP\"},{\"port\":81,\"protocol\":"
         "\"UDP\"}],\"type\":\"ClusterIP\",\"sessionAffinity\":\"None\"},\"metadata\":{},"
         "\"status\":{\"loadBalancer\":{}}}"},
        {"v1", "ServiceAccount", "{\"imagePullSecrets\":[{}]}",
         "{\"imagePullSecrets\":[{}],\"metadata\":{}}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *v = parse(&a, cases[i].text);

        type_default(&a, kind(cases[i].api_version, cases[i].kind), v);
        if (!jsn_equal(v, parse(&a, cases[i].wanted)))
            fail_msg("%s", print(&a, v));
    }
}

static void zero_values_come_and_go_as_in_go(void **state)
{
    static const struct {
        const char *api_version, *kind, *text, *wanted;
    } cases[] = {
        {"v1", "Pod",
         "{\"spec\":{\"hostNetwork\":false,\"nodeName\":\"\",\"tolerations\":[],"
         "\"terminationGracePeriodSeconds\":0,\"nodeSelector\":{},\"securityContext\":{},"
         "\"containers\":[{\"name\":\"c\",\"args\":[]}]}}",
         "{\"spec\":{\"terminationGracePeriodSeconds\":0,\"securityContext\":{},\"containers\":[{"
         "\"name\":\"c\",\"resources\":{}}]},\"metadata\":{\"creationTimestamp\":null},"
         "\"status\":{}}"},
        {"apps/v1", "StatefulSet", "{\"spec\":{\"replicas\":0,\"serviceName\":\"s\"}}",
         "{\"metadata\":{\"creationTimestamp\":null},\"spec\":{\"replicas\":0,\"serviceName\":"
         "\"s\","
         "\"selector\":null,\"template\":{\"metadata\":{\"creationTimestamp\":null},\"spec\":{"
         "\"containers\":null}},\"updateStrategy\":{}},\"status\":{\"replicas\":0,"
         "\"availableReplicas\":0}}"},
        {"rbac.authorization.k8s.io/v1", "Role", "{}",
         "{\"metadata\":{\"creationTimestamp\":null},\"rules\":null}"},
        {"v1", "Service", "{\"spec\":{\"ports\":[{\"port\":80}]}}",
         "{\"spec\":{\"ports\":[{\"port\":80,\"targetPort\":0}]},\"metadata\":{"
         "\"creationTimestamp\":null},\"status\":{\"loadBalancer\":{}}}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *v = parse(&a, cases[i].text);

        type_encode(&a, kind(cases[i].api_version, cases[i].kind), v);
        if (!jsn_equal(v, parse(&a, cases[i].wanted)))
            fail_msg("%s", print(&a, v));
    }
}

static void schemas_inside_crds_are_checked_too(void **state)
{
    static const char text[] =
        "{\"spec\":{\"versions\":[{\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","
        "\"additionalProperties\":false,\"items\":[{\"type\":\"string\",\"odd\":1}],"
        "\"dependencies\":{\"a\":[\"b\"],\"c\":{\"type\":\"object\"}},\"default\":{\"any\":[1]},"
        "\"enum\":[null,1],\"properties\":{\"x\":{\"x-kubernetes-int-or-string\":true}}}}}]}}";
    AUTO(arena_done) struct arena a = {0};
    struct type_notes notes = {0};
    struct err e = {0};
    struct jsn *v = parse(&a, text);

    (void)state;
    if (type_check(&a, kind("apiextensions.k8s.io/v1", "CustomResourceDefinition"), v, &notes, &e) <
        0)
        fail_msg("%s", e.text);
    assert_int_equal(notes.n_texts, 1);
    assert_string_equal(notes.texts[0],
                        "unknown field \"spec.versions[0].schema.openAPIV3Schema.items[0].odd\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_types_are_reported_in_gos_words),
        cmocka_unit_test(unknown_and_duplicate_fields_are_noted_in_order),
        cmocka_unit_test(notes_are_capped),
        cmocka_unit_test(values_get_their_canonical_form),
        cmocka_unit_test(defaults_fill_what_was_not_given),
        cmocka_unit_test(zero_values_come_and_go_as_in_go),
        cmocka_unit_test(schemas_inside_crds_are_checked_too),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
