/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the reader of openAPIV3Schema. */
#include "src/base/test/unit.h"

#include "src/json/schema_openapi.h"

static struct jsn *parse(struct arena *a, const char *text)
{
    struct err e = {0};
    struct jsn *v = NULL;

    if (jsn_parse(a, str_of(text), NULL, &v, &e) < 0)
        fail_msg("%s in %s", e.text, text);
    return v;
}

static struct schema *read_schema(struct arena *a, const char *text)
{
    struct err e = {0};
    struct schema *s = NULL;

    if (schema_from_openapi(a, parse(a, text), &s, &e) < 0)
        fail_msg("%s", e.text);
    return s;
}

static void keywords_reach_their_fields(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct schema *s = read_schema(
        &a, "{\"type\":\"integer\",\"format\":\"int32\",\"title\":\"t\",\"description\":\"d\","
            "\"minimum\":1,\"maximum\":2.5,\"exclusiveMaximum\":true,\"multipleOf\":0.5,"
            "\"nullable\":true,\"default\":2,\"enum\":[1,2],\"pattern\":\"^a\",\"minLength\":3,"
            "\"maxItems\":4,\"minProperties\":5,\"uniqueItems\":false}");

    (void)state;
    assert_int_equal(s->type, SCHEMA_INTEGER);
    assert_string_equal(s->format, "int32");
    assert_string_equal(s->description, "d");
    assert_true(s->has_minimum && s->has_maximum && s->has_multiple_of);
    assert_true(s->minimum == 1 && s->maximum == 2.5 && s->multiple_of == 0.5);
    assert_true(s->exclusive_maximum && !s->exclusive_minimum && s->nullable);
    assert_int_equal(s->default_value->i, 2);
    assert_int_equal(jsn_len(s->enum_values), 2);
    assert_string_equal(s->pattern, "^a");
    assert_int_equal(s->min_length, 3);
    assert_int_equal(s->max_length, -1);
    assert_int_equal(s->max_items, 4);
    assert_int_equal(s->min_properties, 5);
    assert_string_equal(jsn_get_str(s->source, "title"), "t");
}

static void objects_lists_and_maps_nest(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct schema *s = read_schema(
        &a,
        "{\"type\":\"object\",\"required\":[\"l\",\"other\"],\"properties\":{"
        "\"l\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\","
        "\"x-kubernetes-list-map-keys\":[\"a\",\"b\"],\"items\":{\"type\":\"object\"}},"
        "\"s\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":"
        "\"string\"}},"
        "\"m\":{\"type\":\"object\",\"x-kubernetes-map-type\":\"atomic\",\"additionalProperties\":{"
        "\"type\":\"boolean\"}},"
        "\"g\":{\"type\":\"object\",\"x-kubernetes-map-type\":\"granular\","
        "\"additionalProperties\":true},"
        "\"n\":{\"type\":\"object\",\"additionalProperties\":false},"
        "\"p\":{\"x-kubernetes-int-or-string\":true},"
        "\"u\":{\"x-kubernetes-preserve-unknown-fields\":true},"
        "\"e\":{\"type\":\"object\",\"x-kubernetes-embedded-resource\":true}}}");

    (void)state;
    assert_true(s->properties[0].required);
    assert_false(s->properties[1].required);
    assert_string_equal(s->required[1], "other");
    assert_null(s->required[2]);
    assert_int_equal(schema_member(s, STR("l"))->merge, SCHEMA_MERGE_MAP);
    assert_string_equal(schema_member(s, STR("l"))->list_keys[1], "b");
    assert_int_equal(schema_member(s, STR("l"))->items->type, SCHEMA_OBJECT);
    assert_int_equal(schema_member(s, STR("s"))->merge, SCHEMA_MERGE_SET);
    assert_int_equal(schema_member(s, STR("m"))->merge, SCHEMA_MERGE_ATOMIC);
    assert_int_equal(schema_member(s, STR("m"))->additional->type, SCHEMA_BOOLEAN);
    assert_int_equal(schema_member(s, STR("g"))->merge, SCHEMA_MERGE_GRANULAR);
    assert_int_equal(schema_member(s, STR("g"))->additional->type, SCHEMA_ANY);
    assert_null(schema_member(s, STR("n"))->additional);
    assert_int_equal(schema_member(s, STR("p"))->type, SCHEMA_INT_OR_STRING);
    assert_int_equal(schema_member(s, STR("u"))->type, SCHEMA_ANY);
    assert_true(schema_member(s, STR("u"))->preserve_unknown);
    assert_true(schema_member(s, STR("e"))->embedded_resource);
}

static void value_validations_and_rules_are_kept(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct schema *s = read_schema(
        &a, "{\"anyOf\":[{\"required\":[\"x\"]},{\"type\":\"string\"}],\"oneOf\":[{}],"
            "\"allOf\":[{\"minimum\":1},{\"maximum\":9}],\"not\":{\"enum\":[3]},"
            "\"x-kubernetes-validations\":[{\"rule\":\"self > 1\",\"message\":\"too small\","
            "\"optionalOldSelf\":true,\"reason\":\"FieldValueForbidden\"}]}");

    (void)state;
    assert_string_equal(s->any_of[0]->required[0], "x");
    assert_int_equal(s->any_of[1]->type, SCHEMA_STRING);
    assert_null(s->any_of[2]);
    assert_non_null(s->one_of[0]);
    assert_true(s->all_of[1]->maximum == 9);
    assert_int_equal(jsn_len(s->not_schema->enum_values), 1);
    assert_int_equal(s->n_rules, 1);
    assert_string_equal(s->rules[0].rule, "self > 1");
    assert_string_equal(s->rules[0].message, "too small");
    assert_string_equal(s->rules[0].reason, "FieldValueForbidden");
    assert_true(s->rules[0].optional_old_self);
}

static void mistakes_are_named_with_their_place(void **state)
{
    static const char *const cases[][2] = {
        {"[]", ": a schema must be an object"},
        {"{\"type\":\"int\"}", "type: must be object, array, string, integer, number or boolean"},
        {"{\"type\":[\"string\"]}",
         "type: must be object, array, string, integer, number or boolean"},
        {"{\"properties\":{\"spec\":{\"properties\":{\"n\":{\"minimum\":\"1\"}}}}}",
         "properties[spec].properties[n].minimum: has a value of the wrong type"},
        {"{\"properties\":[]}", "properties: must be an object"},
        {"{\"required\":\"x\"}", "required: must be an array of strings"},
        {"{\"required\":[1]}", "required: must be an array of strings"},
        {"{\"additionalProperties\":1}", "additionalProperties: must be a schema or a boolean"},
        {"{\"items\":{\"anyOf\":[{},{\"enum\":1}]}}",
         "items.anyOf[1].enum: has a value of the wrong type"},
        {"{\"anyOf\":{}}", "anyOf: must be an array of schemas"},
        {"{\"not\":7}", "not: a schema must be an object"},
        {"{\"x-kubernetes-list-type\":\"bag\"}", "x-kubernetes-list-type: has an unknown value"},
        {"{\"x-kubernetes-list-map-keys\":[1]}",
         "x-kubernetes-list-map-keys: must be an array of strings"},
        {"{\"x-kubernetes-validations\":[{}]}", "x-kubernetes-validations: each item needs a rule"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct schema *s;
        struct err e = {0};

        assert_int_equal(schema_from_openapi(&a, parse(&a, cases[i][0]), &s, &e), -EINVAL);
        assert_string_equal(e.text, cases[i][1]);
    }
}

static void depth_is_capped(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct schema *s;
    struct err e = {0};

    (void)state;
    for (int i = 0; i <= SCHEMA_OPENAPI_MAX_DEPTH; i++)
        buf_adds(&b, "{\"items\":");
    buf_adds(&b, "{}");
    for (int i = 0; i <= SCHEMA_OPENAPI_MAX_DEPTH; i++)
        buf_adds(&b, "}");
    assert_int_equal(schema_from_openapi(&a, parse(&a, buf_str(&b)), &s, &e), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keywords_reach_their_fields),
        cmocka_unit_test(objects_lists_and_maps_nest),
        cmocka_unit_test(value_validations_and_rules_are_kept),
        cmocka_unit_test(mistakes_are_named_with_their_place),
        cmocka_unit_test(depth_is_capped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
