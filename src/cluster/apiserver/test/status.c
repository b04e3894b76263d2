/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of Status objects and collected causes. */
#include "src/base/test/unit.h"

#include "src/cluster/apiserver/status.h"

static const struct resource configmaps = {
    .group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap", .namespaced = true};
static const struct resource widgets = {.group = "kw.test",
                                        .version = "v1",
                                        .plural = "widgets",
                                        .kind = "Widget",
                                        .namespaced = true,
                                        .custom = true};

static const char *printed(struct api_call *c, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    jsn_print(&b, v);
    return arena_str(&c->arena, buf_view(&b));
}

#define FAILURE "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","

static void each_refusal_is_the_status_of_a_real_server(void **state)
{
    enum which {
        NOT_FOUND,
        NO_RESOURCE,
        METHOD,
        EXISTS,
        DELETING,
        MODIFIED,
        PRECONDITION,
        NAMED,
        UNNAMED,
        MEDIA,
        INTERNAL,
        TOO_MANY,
        BAD
    };
    static const struct {
        enum which which;
        const struct resource *res;
        const char *want;
    } cases[] = {
        {NOT_FOUND, &widgets,
         "\"message\":\"widgets.kw.test \\\"w1\\\" not found\",\"reason\":\"NotFound\",\"details\":"
         "{\"name\":\"w1\",\"group\":\"kw.test\",\"kind\":\"widgets\"},\"code\":404}"},
        {NOT_FOUND, &configmaps,
         "\"message\":\"configmaps \\\"w1\\\" not found\",\"reason\":\"NotFound\",\"details\":"
         "{\"name\":\"w1\",\"kind\":\"configmaps\"},\"code\":404}"},
        {NO_RESOURCE, NULL,
         "\"message\":\"the server could not find the requested resource\",\"reason\":\"NotFound\","
         "\"details\":{},\"code\":404}"},
        {METHOD, &configmaps,
         "\"message\":\"the server does not allow this method on the requested resource\","
         "\"reason\":\"MethodNotAllowed\",\"details\":{},\"code\":405}"},
        {EXISTS, &configmaps,
         "\"message\":\"configmaps \\\"w1\\\" already exists\",\"reason\":\"AlreadyExists\","
         "\"details\":{\"name\":\"w1\",\"kind\":\"configmaps\"},\"code\":409}"},
        {DELETING, &configmaps,
         "\"message\":\"object is being deleted: configmaps \\\"w1\\\" already exists\",\"reason\":"
         "\"AlreadyExists\",\"details\":{\"name\":\"w1\",\"kind\":\"configmaps\"},\"code\":409}"},
        {MODIFIED, &configmaps,
         "\"message\":\"Operation cannot be fulfilled on configmaps \\\"w1\\\": the object has "
         "been "
         "modified; please apply your changes to the latest version and try again\",\"reason\":"
         "\"Conflict\",\"details\":{\"name\":\"w1\",\"kind\":\"configmaps\"},\"code\":409}"},
        {PRECONDITION, &widgets,
         "\"message\":\"Operation cannot be fulfilled on Widget.kw.test \\\"w1\\\": stale\","
         "\"reason\":\"Conflict\",\"details\":{\"name\":\"w1\",\"group\":\"kw.test\",\"kind\":"
         "\"Widget\"},\"code\":409}"},
        {NAMED, &configmaps,
         "\"message\":\"configmaps \\\"w1\\\" is forbidden: no\",\"reason\":\"Forbidden\","
         "\"details\":{\"name\":\"w1\",\"kind\":\"configmaps\"},\"code\":403}"},
        {UNNAMED, &configmaps,
         "\"message\":\"configmaps is forbidden: no\",\"reason\":\"Forbidden\",\"details\":"
         "{\"kind\":\"configmaps\"},\"code\":403}"},
        {UNNAMED, NULL,
         "\"message\":\"forbidden: no\",\"reason\":\"Forbidden\",\"details\":{},\"code\":403}"},
        {MEDIA, &configmaps,
         "\"message\":\"the body of the request was in an unknown format - accepted media types "
         "include: a/b\",\"reason\":\"UnsupportedMediaType\",\"code\":415}"},
        {INTERNAL, &configmaps,
         "\"message\":\"Internal error occurred: disk full\",\"reason\":\"InternalError\","
         "\"details\":{\"causes\":[{\"message\":\"disk full\"}]},\"code\":500}"},
        {TOO_MANY, &configmaps,
         "\"message\":\"slow down\",\"reason\":\"TooManyRequests\",\"details\":"
         "{\"retryAfterSeconds\":2},\"code\":429}"},
        {BAD, &configmaps, "\"message\":\"bad 7\",\"reason\":\"BadRequest\",\"code\":400}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct api_call c = {.res = cases[i].res};
        const struct err e = {.num = -ENOSPC, .text = "disk full"};
        const char *want;
        int r = 0;

        switch (cases[i].which) {
        case NOT_FOUND:
            r = status_not_found(&c, "w1");
            break;
        case NO_RESOURCE:
            r = status_no_resource(&c);
            break;
        case METHOD:
            r = status_method_not_allowed(&c);
            break;
        case EXISTS:
            r = status_already_exists(&c, "w1", false);
            break;
        case DELETING:
            r = status_already_exists(&c, "w1", true);
            break;
        case MODIFIED:
            r = status_modified(&c, "w1");
            break;
        case PRECONDITION:
            r = status_precondition(&c, "w1", "stale");
            break;
        case NAMED:
            r = status_forbidden(&c, "w1", "no");
            break;
        case UNNAMED:
            r = status_forbidden(&c, NULL, "no");
            break;
        case MEDIA:
            r = status_unsupported_media(&c, "a/b");
            break;
        case INTERNAL:
            r = status_internal(&c, &e);
            break;
        case TOO_MANY:
            r = status_too_many(&c, 2, "slow %s", "down");
            break;
        case BAD:
            r = status_bad_request(&c, "bad %d", 7);
            break;
        }
        assert_int_equal(r, -1);
        want = arena_printf(&c.arena, "%s%s", FAILURE, cases[i].want);
        assert_string_equal(printed(&c, c.failure), want);
        arena_done(&c.arena);
    }
}

static void a_deletion_is_answered_with_the_uid(void **state)
{
    struct api_call c = {.res = &widgets};

    (void)state;
    assert_string_equal(printed(&c, status_deleted(&c, "w1", "u-1")),
                        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                        "\"Success\",\"details\":{\"name\":\"w1\",\"group\":\"kw.test\",\"kind\":"
                        "\"widgets\",\"uid\":\"u-1\"}}");
    arena_done(&c.arena);
}

static void reasons_follow_the_code(void **state)
{
    (void)state;
    assert_string_equal(status_reason_of(401), "Unauthorized");
    assert_string_equal(status_reason_of(413), "RequestEntityTooLarge");
    assert_string_equal(status_reason_of(599), "InternalError");
    assert_string_equal(status_reason_of(418), "Unknown");
}

static void nothing_wrong_is_no_failure(void **state)
{
    struct api_call c = {.res = &widgets};
    struct causes cs = {.arena = &c.arena};

    (void)state;
    assert_int_equal(status_invalid(&c, "w1", &cs), 0);
    assert_null(c.failure);
    arena_done(&c.arena);
}

static void every_kind_of_cause_has_its_words(void **state)
{
    static const char *const sizes[] = {"small", "large", NULL};
    static const struct {
        const char *reason, *field, *text;
    } want[] = {
        {"FieldValueRequired", "spec.a", "Required value"},
        {"FieldValueRequired", "spec.a", "Required value: say it"},
        {"FieldValueInvalid", "spec.b[2]", "Invalid value: \"x\\\"y\": must be 1"},
        {"FieldValueInvalid", "spec.b", "Invalid value: 7: no"},
        {"FieldValueInvalid", "spec.b", "Invalid value: null: no"},
        {"FieldValueInvalid", "spec.c", "Invalid value: 0: must be specified for an update"},
        {"FieldValueNotSupported", "spec.d",
         "Unsupported value: \"x\\\"y\": supported values: \"small\", \"large\""},
        {"FieldValueForbidden", "spec.e", "Forbidden: never"},
        {"FieldValueDuplicate", "spec.f", "Duplicate value: \"x\\\"y\""},
        {"FieldValueTooLong", "spec.g", "Too long: may not be more than 5 bytes"},
        {"FieldValueTooMany", "spec.h", "Too many: 4: must have at most 3 items"},
    };
    AUTO(arena_done) struct arena a = {0};
    struct causes cs = {.arena = &a};
    const struct jsn *x = jsn_string(&a, "x\"y");

    (void)state;
    cause_required(&cs, "spec.a", NULL);
    cause_required(&cs, "spec.a", "say it");
    cause_invalid(&cs, cause_path(&cs, "spec.b[%d]", 2), x, "must be %d", 1);
    cause_invalid(&cs, "spec.b", jsn_int(&a, 7), "no");
    cause_invalid(&cs, "spec.b", NULL, "no");
    cause_invalid_text(&cs, "spec.c", "0", "must be specified for an update");
    cause_not_supported(&cs, "spec.d", x, sizes);
    cause_forbidden(&cs, "spec.e", "never");
    cause_duplicate(&cs, "spec.f", x);
    cause_too_long(&cs, "spec.g", 5);
    cause_add(&cs, "FieldValueTooMany", "spec.h", "Too many: %d: must have at most 3 items", 4);

    assert_int_equal(cs.n, ARRAY_LEN(want));
    for (size_t i = 0; i < cs.n; i++) {
        assert_string_equal(cs.items[i].reason, want[i].reason);
        assert_string_equal(cs.items[i].field, want[i].field);
        assert_string_equal(cs.items[i].text, want[i].text);
    }
}

static void one_cause_stands_alone_in_the_message(void **state)
{
    struct api_call c = {.res = &configmaps};
    struct causes cs = {.arena = &c.arena};

    (void)state;
    cause_required(&cs, "metadata.name", "name or generateName is required");
    assert_int_equal(status_invalid(&c, "", &cs), -1);
    assert_string_equal(
        printed(&c, c.failure),
        FAILURE "\"message\":\"ConfigMap \\\"\\\" is invalid: metadata.name: Required value: name "
                "or generateName is required\",\"reason\":\"Invalid\",\"details\":{\"kind\":"
                "\"ConfigMap\",\"causes\":[{\"reason\":\"FieldValueRequired\",\"message\":"
                "\"Required value: name or generateName is required\",\"field\":"
                "\"metadata.name\"}]},\"code\":422}");
    arena_done(&c.arena);
}

static void several_causes_stand_in_brackets_each_once(void **state)
{
    struct api_call c = {.res = &widgets};
    struct causes cs = {.arena = &c.arena};

    (void)state;
    cause_required(&cs, "spec.a", NULL);
    cause_forbidden(&cs, "spec.b", "no");
    cause_required(&cs, "spec.a", NULL);
    assert_int_equal(status_invalid(&c, "w1", &cs), -1);
    assert_string_equal(jsn_get_str(c.failure, "message"),
                        "Widget.kw.test \"w1\" is invalid: [spec.a: Required value, spec.b: "
                        "Forbidden: no]");
    assert_int_equal(jsn_len(jsn_get(c.failure, "details.causes")), 3);
    assert_string_equal(jsn_get_str(c.failure, "details.kind"), "Widget");
    arena_done(&c.arena);
}

static void a_cause_repeated_does_not_make_a_list(void **state)
{
    struct api_call c = {.res = &widgets};
    struct causes cs = {.arena = &c.arena};

    (void)state;
    for (int i = 0; i < 3; i++)
        cause_required(&cs, "spec.a", NULL);
    assert_int_equal(status_invalid(&c, "w1", &cs), -1);
    assert_string_equal(jsn_get_str(c.failure, "message"),
                        "Widget.kw.test \"w1\" is invalid: spec.a: Required value");
    arena_done(&c.arena);
}

static void causes_do_not_grow_without_end(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct causes cs = {.arena = &a};

    (void)state;
    for (int i = 0; i < 2000; i++)
        cause_required(&cs, cause_path(&cs, "spec.a[%d]", i), NULL);
    assert_int_equal(cs.n, 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_refusal_is_the_status_of_a_real_server),
        cmocka_unit_test(a_deletion_is_answered_with_the_uid),
        cmocka_unit_test(reasons_follow_the_code),
        cmocka_unit_test(nothing_wrong_is_no_failure),
        cmocka_unit_test(every_kind_of_cause_has_its_words),
        cmocka_unit_test(one_cause_stands_alone_in_the_message),
        cmocka_unit_test(several_causes_stand_in_brackets_each_once),
        cmocka_unit_test(a_cause_repeated_does_not_make_a_list),
        cmocka_unit_test(causes_do_not_grow_without_end),
    };

    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
