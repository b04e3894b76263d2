/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of AdmissionReviews: bodies as a kube-apiserver sends them, and what they are
 * answered. */
#include "src/api/test/objects.h"

#include "src/admission/review.h"
#include "src/api/test/lookup_over.h"

/* As kube-apiserver 1.20 sends it, but for the slots: operation, object, oldObject. */
#define REVIEW(operation, sub, object, old)                                                        \
    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{"           \
    "\"uid\":\"705ab4f5-6393-11e8-b7cc-42010a800002\","                                            \
    "\"kind\":{\"group\":\"slinky.slurm.net\",\"version\":\"v1beta1\",\"kind\":\"NodeSet\"},"      \
    "\"resource\":{\"group\":\"slinky.slurm.net\",\"version\":\"v1beta1\","                        \
    "\"resource\":\"nodesets\"}," sub "\"requestKind\":{\"group\":\"slinky.slurm.net\","           \
    "\"version\":\"v1beta1\",\"kind\":\"NodeSet\"},\"requestResource\":{"                          \
    "\"group\":\"slinky.slurm.net\",\"version\":\"v1beta1\",\"resource\":\"nodesets\"},"           \
    "\"name\":\"gpu\",\"namespace\":\"slurm\",\"operation\":\"" operation "\","                    \
    "\"userInfo\":{\"username\":\"admin\",\"groups\":[\"system:masters\"]},"                       \
    "\"object\":" object ",\"oldObject\":" old ",\"dryRun\":false,"                                \
    "\"options\":{\"kind\":\"CreateOptions\",\"apiVersion\":\"meta.k8s.io/v1\"}}}"
#define NODESET(spec)                                                                              \
    "{\"apiVersion\":\"slinky.slurm.net/v1beta1\",\"kind\":\"NodeSet\",\"metadata\":{"             \
    "\"name\":\"gpu\",\"namespace\":\"slurm\",\"uid\":\"u\"},\"spec\":{"                           \
    "\"controllerRef\":{\"name\":\"main\"}" spec "}}"
#define CONTROLLER                                                                                 \
    "{apiVersion: slinky.slurm.net/v1beta1, kind: Controller, metadata: {name: main, namespace: "  \
    "slurm}, spec: {}}"
#define BAD ",\"partition\":{\"config\":\"MaxTime=soon Flavour=sweet\"}"
#define CREATE(spec) REVIEW("CREATE", "", NODESET(spec), "null")

static struct jsn *answer_of(struct arena *a, const char *body)
{
    struct jsn *others = jsn_array(a);
    struct api_lookup l;
    struct review_context context = {.lookup = &l};
    struct jsn *answer = NULL;
    struct err e = {0};

    jsn_append(a, others, yaml_of(a, CONTROLLER));
    jsn_append(a, others, yaml_of(a, NODESET(",\"replicas\":2")));
    l = api_lookup_over(others);
    if (review_answer(a, yaml_of(a, body), &context, &answer, &e) < 0)
        fail_msg("%s", e.text);
    assert_string_equal(jsn_get_str(answer, "apiVersion"), "admission.k8s.io/v1");
    assert_string_equal(jsn_get_str(answer, "kind"), "AdmissionReview");
    assert_string_equal(jsn_get_str(answer, "response.uid"),
                        "705ab4f5-6393-11e8-b7cc-42010a800002");
    return answer;
}

static bool is_allowed(const char *body)
{
    AUTO(arena_done) struct arena a = {0};

    return jsn_get_bool(answer_of(&a, body), "response.allowed", false);
}

static void a_good_object_is_allowed(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *answer = answer_of(&a, CREATE(",\"replicas\":3"));

    (void)state;
    assert_true(jsn_get_bool(answer, "response.allowed", false));
    assert_null(jsn_get(answer, "response.status"));
    assert_null(jsn_get(answer, "response.warnings"));
}

static void a_refusal_names_every_field(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *answer = answer_of(&a, CREATE(BAD ",\"extraConf\":\"Sockets=many\""));
    const struct jsn *status = jsn_get(answer, "response.status");

    (void)state;
    assert_false(jsn_get_bool(answer, "response.allowed", true));
    assert_int_equal(jsn_get_int(status, "code", 0), 422);
    assert_string_equal(jsn_get_str(status, "reason"), "Invalid");
    assert_string_equal(jsn_get_str(status, "details.kind"), "NodeSet");
    assert_string_equal(jsn_get_str(status, "details.name"), "gpu");
    assert_true(jsn_len(jsn_get(status, "details.causes")) >= 2);
    assert_true(starts_with(jsn_get_str(status, "message"),
                            "NodeSet.slinky.slurm.net \"gpu\" is invalid: ["));
    JSN_FOR_ITEMS (cause, jsn_get(status, "details.causes")) {
        assert_true(starts_with(jsn_get_str(cause, "reason"), "FieldValue"));
        assert_non_null(strstr(jsn_get_str(status, "message"), jsn_get_str(cause, "field")));
        assert_non_null(strstr(jsn_get_str(status, "message"), jsn_get_str(cause, "message")));
    }
}

static void warnings_come_beside_the_verdict(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *answer =
        answer_of(&a, REVIEW("CREATE", "",
                             "{\"apiVersion\":\"slinky.slurm.net/v1beta1\",\"kind\":\"NodeSet\","
                             "\"metadata\":{\"name\":\"new\",\"namespace\":\"slurm\"},"
                             "\"spec\":{\"controllerRef\":{\"name\":\"nobody\"}}}",
                             "null"));

    (void)state;
    assert_true(jsn_get_bool(answer, "response.allowed", false));
    assert_int_equal(jsn_len(jsn_get(answer, "response.warnings")), 1);
    assert_true(starts_with(jsn_text(jsn_item(jsn_get(answer, "response.warnings"), 0)),
                            "spec.controllerRef.name: "));
}

static void only_new_and_changed_specs_are_checked(void **state)
{
    (void)state;
    assert_false(is_allowed(CREATE(BAD)));
    assert_false(is_allowed(REVIEW("UPDATE", "", NODESET(BAD), NODESET(""))));
    assert_true(is_allowed(REVIEW("UPDATE", "", NODESET(BAD), NODESET(BAD))));
    assert_true(is_allowed(REVIEW("DELETE", "", "null", NODESET(BAD))));
    assert_true(is_allowed(REVIEW("CONNECT", "", NODESET(BAD), "null")));
    assert_true(
        is_allowed(REVIEW("UPDATE", "\"subResource\":\"status\",", NODESET(BAD), NODESET(""))));
    assert_true(is_allowed(REVIEW("CREATE", "", "null", "null")));
    assert_true(is_allowed(REVIEW("CREATE", "", "5", "null")));
    assert_true(
        is_allowed(REVIEW("CREATE", "", "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}", "null")));
}

#define SCALE(n)                                                                                   \
    "{\"kind\":\"Scale\",\"apiVersion\":\"autoscaling/v1\",\"metadata\":{\"name\":\"gpu\","        \
    "\"namespace\":\"slurm\"},\"spec\":{\"replicas\":" n "}}"

/* `kubectl scale` is no way around the rules. */
static void a_scale_is_checked_as_the_object_that_it_makes(void **state)
{
    (void)state;
    assert_true(is_allowed(REVIEW("UPDATE", "\"subResource\":\"scale\",", SCALE("5"), SCALE("2"))));
    assert_false(
        is_allowed(REVIEW("UPDATE", "\"subResource\":\"scale\",", SCALE("-5"), SCALE("2"))));
}

static void what_is_no_review_of_v1_is_refused(void **state)
{
    static const char *const cases[][2] = {
        {"{}", "was sent something of no version"},
        {"[]", "was sent something of no version"},
        {"{kind: AdmissionReview, apiVersion: admission.k8s.io/v1beta1, request: {uid: x}}",
         "of admission.k8s.io/v1beta1; put v1 into admissionReviewVersions"},
        {"{kind: AdmissionReview, apiVersion: admission.k8s.io/v1}", "has no request.uid"},
        {"{kind: AdmissionReview, apiVersion: admission.k8s.io/v1, request: {uid: 7}}",
         "has no request.uid"},
        {"{kind: Pod, apiVersion: v1}", "was sent Pod of v1"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct review_context context = {0};
        struct jsn *answer = NULL;
        struct err e = {0};

        assert_int_equal(review_answer(&a, yaml_of(&a, cases[i][0]), &context, &answer, &e),
                         -EINVAL);
        if (!strstr(e.text, cases[i][1]))
            fail_msg("%s: %s", cases[i][0], e.text);
        assert_null(answer);
    }
}

/* What nobody knows is not held against an object: caches may not be filled yet. */
static void without_look_ups_the_object_alone_counts(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct review_context context = {0};
    struct jsn *answer = NULL;
    struct err e = {0};

    (void)state;
    assert_int_equal(review_answer(&a, yaml_of(&a, CREATE("")), &context, &answer, &e), 0);
    assert_true(jsn_get_bool(answer, "response.allowed", false));
    assert_int_equal(review_answer(&a, yaml_of(&a, CREATE(BAD)), &context, &answer, &e), 0);
    assert_false(jsn_get_bool(answer, "response.allowed", true));
    assert_int_equal(review_answer(&a,
                                   yaml_of(&a, REVIEW("UPDATE", "\"subResource\":\"scale\",",
                                                      SCALE("-5"), SCALE("2"))),
                                   &context, &answer, &e),
                     0);
    assert_true(jsn_get_bool(answer, "response.allowed", false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_object_is_allowed),
        cmocka_unit_test(a_refusal_names_every_field),
        cmocka_unit_test(warnings_come_beside_the_verdict),
        cmocka_unit_test(only_new_and_changed_specs_are_checked),
        cmocka_unit_test(a_scale_is_checked_as_the_object_that_it_makes),
        cmocka_unit_test(what_is_no_review_of_v1_is_refused),
        cmocka_unit_test(without_look_ups_the_object_alone_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
