/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of protobuf bodies: what kubectl sends, what the wire format allows, what is refused.
 */
#include "src/cluster/apiserver/types/test/crd.h"

#include "src/base/file.h"
#include "src/cluster/apiserver/types/proto.h"

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

/* Bodies that kubectl 1.32 sent; they are the fuzzer's corpus as well. */
static void what_kubectl_sends_is_read(void **state)
{
    static const char *const cases[][2] = {
        {"namespace",
         "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"demo\"}}"},
        {"configmap",
         "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"cm1\","
         "\"namespace\":\"demo\"},\"data\":{\"a\":\"1\",\"b\":\"hello world\"},"
         "\"binaryData\":{\"bin\":\"YTogAP8=\"}}"},
        {"secret", "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s1\"},"
                   "\"data\":{\"pw\":\"Z2VoZWlt\"}}"},
        {"deployment",
         "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\","
         "\"labels\":{\"app\":\"web\"}},\"spec\":{\"replicas\":0,\"selector\":{\"matchLabels\":{"
         "\"app\":\"web\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"web\"}},\"spec\":{"
         "\"containers\":[{\"name\":\"nginx\",\"image\":\"nginx:1.2\",\"command\":[\"sleep\",\"5\"]"
         ","
         "\"ports\":[{\"containerPort\":80}]}]}}}}"},
        {"rolebinding",
         "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"RoleBinding\",\"metadata\":{"
         "\"name\":\"rb\"},\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"sa1\","
         "\"namespace\":\"default\"}],\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\","
         "\"kind\":\"Role\",\"name\":\"r1\"}}"},
        {"tokenrequest", "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenRequest\"}"},
        {"selfsubjectaccessreview",
         "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SelfSubjectAccessReview\","
         "\"spec\":{\"resourceAttributes\":{\"namespace\":\"default\",\"verb\":\"get\","
         "\"resource\":\"pods\"}}}"},
        {"service", "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"svc2\","
                    "\"labels\":{\"app\":\"svc2\"}},\"spec\":{\"ports\":[{\"name\":\"443-https\","
                    "\"protocol\":\"TCP\",\"port\":443,\"targetPort\":\"https\"}],\"selector\":{"
                    "\"app\":\"svc2\"},\"type\":\"NodePort\"}}"},
        {"cronjob",
         "{\"apiVersion\":\"batch/"
         "v1\",\"kind\":\"CronJob\",\"metadata\":{\"name\":\"c1\"},\"spec\":"
         "{\"schedule\":\"*/5 * * * *\",\"jobTemplate\":{\"metadata\":{\"name\":\"c1\"},\"spec\":{"
         "\"template\":{\"spec\":{\"containers\":[{\"name\":\"c1\",\"image\":\"busybox\"}],"
         "\"restartPolicy\":\"OnFailure\"}}}}}}"},
        {"poddisruptionbudget",
         "{\"apiVersion\":\"policy/v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"name\":"
         "\"pdb1\"},\"spec\":{\"minAvailable\":\"50%\",\"selector\":{\"matchLabels\":{\"app\":"
         "\"x\"}}}}"},
        {"resourcequota",
         "{\"apiVersion\":\"v1\",\"kind\":\"ResourceQuota\",\"metadata\":{\"name\":"
         "\"q1\"},\"spec\":{\"hard\":{\"cpu\":\"1\",\"memory\":\"2Gi\"}}}"},
        {"ingress",
         "{\"apiVersion\":\"networking.k8s.io/v1\",\"kind\":\"Ingress\",\"metadata\":{\"name\":"
         "\"i1\"},\"spec\":{\"tls\":[{\"hosts\":[\"foo.com\"],\"secretName\":\"my-cert\"}],"
         "\"rules\":[{\"host\":\"foo.com\",\"http\":{\"paths\":[{\"path\":\"/bar\",\"backend\":{"
         "\"service\":{\"name\":\"svc1\",\"port\":{\"number\":8080}}},\"pathType\":\"Prefix\"}]}}]}"
         "}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(free) char *body = NULL;
        const char *path = arena_printf(&a, CORPUS "/%s", cases[i][0]);
        struct err e = {0};
        struct jsn *v;
        size_t n;

        assert_int_equal(file_read(path, 1 << 20, &body, &n, &e), 0);
        if (proto_decode(reg, &a, (struct str){body, n}, &v, &e) < 0)
            fail_msg("%s: %s", cases[i][0], e.text);
        if (!jsn_equal(v, parse(&a, cases[i][1])))
            fail_msg("%s: %s", cases[i][0], print(&a, v));
    }
}

/* A message under a field number, for building bodies by hand. */
static struct str field(struct arena *a, uint32_t number, struct str content)
{
    AUTO(buf_done) struct buf b = {0};

    wire_put_bytes(&b, number, content);
    return (struct str){arena_str(a, buf_view(&b)), b.n};
}

static struct str number(struct arena *a, uint32_t n, uint64_t value)
{
    AUTO(buf_done) struct buf b = {0};

    wire_put_uint(&b, n, value);
    return (struct str){arena_str(a, buf_view(&b)), b.n};
}

static struct str join(struct arena *a, size_t n, const struct str *parts)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < n; i++)
        buf_addstr(&b, parts[i]);
    return (struct str){arena_str(a, buf_view(&b)), b.n};
}
#define JOIN(a, ...)                                                                               \
    join(a, sizeof((const struct str[]){__VA_ARGS__}) / sizeof(struct str),                        \
         (const struct str[]){__VA_ARGS__})

static struct str body_of(struct arena *a, const char *api_version, const char *kind,
                          struct str raw)
{
    struct str meta = JOIN(a, field(a, 1, str_of(api_version)), field(a, 2, str_of(kind)));

    return JOIN(a, ((struct str){"k8s\0", 4}), field(a, 1, meta), field(a, 2, raw));
}

static void every_form_of_value_is_read(void **state)
{
    AUTO(arena_done) struct arena arena = {0};
    struct arena *a = &arena;
    struct str time = JOIN(a, number(a, 1, 1767348000), number(a, 2, 123456789));
    struct str raw_json = field(a, 1, STR("{\"x\":[1]}"));
    const struct {
        const char *alias, *type;
        struct str message;
        const char *wanted;
    } cases[] = {
        {"meta", "ObjectMeta", field(a, 8, time),
         "{\"creationTimestamp\":\"2026-01-02T10:00:00Z\"}"},
        {"meta", "ObjectMeta", field(a, 8, STR("")), "{}"},
        {"meta", "ObjectMeta", number(a, 10, 0), "{\"deletionGracePeriodSeconds\":0}"},
        {"meta", "ObjectMeta", number(a, 7, 0), "{}"},
        {"meta", "ObjectMeta", JOIN(a, field(a, 14, STR("a")), field(a, 14, STR("b"))),
         "{\"finalizers\":[\"a\",\"b\"]}"},
        {"meta", "ObjectMeta", field(a, 11, field(a, 1, STR("k"))), "{\"labels\":{\"k\":\"\"}}"},
        {"meta", "ManagedFieldsEntry", field(a, 7, raw_json), "{\"fieldsV1\":{\"x\":[1]}}"},
        {"coordination", "LeaseSpec", field(a, 4, time),
         "{\"renewTime\":\"2026-01-02T10:00:00.123456Z\"}"},
        {"apps", "ControllerRevision", JOIN(a, field(a, 2, raw_json), number(a, 3, 7)),
         "{\"data\":{\"x\":[1]},\"revision\":7}"},
        {"core", "ServicePort", field(a, 4, JOIN(a, number(a, 1, 0), number(a, 2, 8080))),
         "{\"targetPort\":8080}"},
        {"core", "ServicePort", field(a, 4, JOIN(a, number(a, 1, 1), field(a, 3, STR("web")))),
         "{\"targetPort\":\"web\"}"},
        {"core", "EmptyDirVolumeSource", field(a, 2, field(a, 1, STR("1Gi"))),
         "{\"sizeLimit\":\"1Gi\"}"},
        {"core", "Volume", JOIN(a, field(a, 1, STR("v")), field(a, 2, field(a, 2, STR("")))),
         "{\"name\":\"v\",\"emptyDir\":{}}"},
        {"core", "Probe",
         JOIN(a, field(a, 1, field(a, 1, field(a, 1, STR("true")))), number(a, 4, 5)),
         "{\"exec\":{\"command\":[\"true\"]},\"periodSeconds\":5}"},
        {"core", "PodSecurityContext", field(a, 4, STR("\x01\x02\xac\x02")),
         "{\"supplementalGroups\":[1,2,300]}"},
        {"core", "PodSecurityContext", JOIN(a, number(a, 4, 1), number(a, 4, 2)),
         "{\"supplementalGroups\":[1,2]}"},
        {"core", "Taint", JOIN(a, field(a, 1, STR("k")), field(a, 99, STR("new"))),
         "{\"key\":\"k\"}"},
        {"authentication", "UserInfo",
         field(a, 4, JOIN(a, field(a, 1, STR("k")), field(a, 2, field(a, 1, STR("v"))))),
         "{\"extra\":{\"k\":[\"v\"]}}"},
        {"apiextensions", "JSONSchemaProps",
         JOIN(a, field(a, 5, STR("object")), field(a, 30, number(a, 1, 1)),
              field(a, 24, field(a, 1, field(a, 5, STR("string")))),
              field(a, 8, field(a, 1, STR("{\"a\":1}"))), field(a, 20, field(a, 1, STR("null")))),
         "{\"type\":\"object\",\"additionalProperties\":true,\"items\":{\"type\":\"string\"},"
         "\"default\":{\"a\":1},\"enum\":[null]}"},
        {"apiextensions", "JSONSchemaProps",
         JOIN(a, field(a, 30, JOIN(a, number(a, 1, 1), field(a, 2, field(a, 5, STR("string"))))),
              field(a, 24, JOIN(a, field(a, 2, STR("")), field(a, 2, STR("")))),
              field(a, 32, JOIN(a, field(a, 1, STR("k")), field(a, 2, field(a, 2, STR("x")))))),
         "{\"additionalProperties\":{\"type\":\"string\"},\"items\":[{},{}],\"dependencies\":{"
         "\"k\":[\"x\"]}}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct schema *s = registry_type(reg, cases[i].alias, cases[i].type);
        struct err e = {0};
        struct jsn *v;

        if (proto_decode_message(a, s, cases[i].message, &v, &e) < 0)
            fail_msg("case %zu: %s", i, e.text);
        if (!jsn_equal(v, parse(a, cases[i].wanted)))
            fail_msg("case %zu: %s", i, print(a, v));
    }
}

static void doubles_are_read(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0}, inf = {0};
    const struct schema *s = registry_type(reg, "apiextensions", "JSONSchemaProps");
    struct err e = {0};
    struct jsn *v;

    (void)state;
    wire_put_double(&b, 9, 2.5);
    assert_int_equal(proto_decode_message(&a, s, buf_view(&b), &v, &e), 0);
    assert_string_equal(print(&a, v), "{\"maximum\":2.5}");
    wire_put_double(&inf, 9, __builtin_inf());
    assert_int_equal(proto_decode_message(&a, s, buf_view(&inf), &v, &e), -EINVAL);
}

static void malformed_bodies_are_refused(void **state)
{
    AUTO(arena_done) struct arena arena = {0};
    struct arena *a = &arena;
    const struct {
        struct str body;
        int error;
    } cases[] = {
        {STR(""), -EINVAL},
        {STR("k8s"), -EINVAL},
        {STR("{\"kind\":\"Pod\"}"), -EINVAL},
        {((struct str){"k8s\0\x0a\xff", 6}), -EINVAL},
        {((struct str){"k8s\0\x0b", 5}), -EINVAL},
        {((struct str){"k8s\0", 4}), -ENOENT},
        {body_of(a, "v1", "Widget", STR("")), -ENOENT},
        {body_of(a, "v1", "\xff", STR("")), -EINVAL},
        {body_of(a, "v1", "Pod", STR("\x0a\x05")), -EINVAL},
        {body_of(a, "v1", "Pod", STR("\x08\x01")), -EINVAL},
        {body_of(a, "v1", "Pod", field(a, 1, field(a, 1, STR("\xff")))), -EINVAL},
        {body_of(a, "v1", "Pod", field(a, 1, field(a, 7, STR("x")))), -EINVAL},
        {body_of(a, "v1", "Pod", field(a, 1, number(a, 11, 1))), -EINVAL},
        {body_of(a, "v1", "Pod", field(a, 1, field(a, 11, STR("\x0a\x09")))), -EINVAL},
        {body_of(a, "v1", "Pod", field(a, 1, field(a, 8, number(a, 1, 1ull << 60)))), -EINVAL},
        {body_of(a, "v1", "Pod", STR("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01")), -EINVAL},
        {body_of(a, "apps/v1", "ControllerRevision", field(a, 2, field(a, 1, STR("{")))), -EINVAL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err e = {0};
        struct jsn *v;
        int r = proto_decode(reg, a, cases[i].body, &v, &e);

        if (r != cases[i].error)
            fail_msg("case %zu: %d %s", i, r, e.text);
        assert_true(*e.text);
    }
}

static void depth_and_number_of_values_are_capped(void **state)
{
    const struct schema *s = registry_type(reg, "apiextensions", "JSONSchemaProps");
    const struct schema *meta = registry_type(reg, "meta", "ObjectMeta");
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf many = {0};
    struct str deep = STR("");
    struct err e = {0};
    struct jsn *v;

    (void)state;
    for (int i = 0; i < 2 * PROTO_MAX_DEPTH; i++)
        deep = field(&a, 28, deep);
    assert_int_equal(proto_decode_message(&a, s, deep, &v, &e), -EINVAL);
    assert_string_equal(e.text, "the protobuf body is malformed: it nests too deeply");
    for (int i = 0; i <= PROTO_MAX_VALUES; i++)
        wire_put_text(&many, 14, "");
    assert_int_equal(proto_decode_message(&a, meta, buf_view(&many), &v, &e), -EINVAL);
    assert_string_equal(e.text, "the protobuf body is malformed: it holds too many values");
}

static void json_inside_the_envelope_is_read(void **state)
{
    AUTO(arena_done) struct arena arena = {0};
    struct arena *a = &arena;
    struct str raw = STR("{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}");
    struct str body = JOIN(a, body_of(a, "v1", "Pod", raw), field(a, 4, STR("application/json")));
    struct str encoded = JOIN(a, body_of(a, "v1", "Pod", raw), field(a, 3, STR("gzip")));
    struct err e = {0};
    struct jsn *v;

    (void)state;
    assert_int_equal(proto_decode(reg, a, body, &v, &e), 0);
    assert_string_equal(print(a, v), raw.p);
    assert_int_equal(proto_decode(reg, a, encoded, &v, &e), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_kubectl_sends_is_read),
        cmocka_unit_test(every_form_of_value_is_read),
        cmocka_unit_test(doubles_are_read),
        cmocka_unit_test(malformed_bodies_are_refused),
        cmocka_unit_test(depth_and_number_of_values_are_capped),
        cmocka_unit_test(json_inside_the_envelope_is_read),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
