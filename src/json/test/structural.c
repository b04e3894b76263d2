/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of validation by schema; the sentences are those that kube-apiserver answers. */
#include "src/json/test/schema_of.h"

#include "src/json/pattern.h"
#include "src/json/structural.h"

/* Everything that is wrong, "field: text" each, joined by " | ". */
static const char *joined(struct arena *a, const struct schema_faults *f)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < f->n; i++)
        buf_printf(&b, "%s%s: %s", i ? " | " : "", f->items[i].field, f->items[i].text);
    return arena_str(a, buf_view(&b));
}

struct check_case {
    const char *schema; /* of the field x in spec */
    const char *value;
    const char *faults;
};

static void run(const struct check_case *c, size_t n)
{
    AUTO(pattern_cache_free) struct pattern_cache *patterns = pattern_cache_new();
    const struct structural how = {.patterns = patterns};

    for (size_t i = 0; i < n; i++) {
        AUTO(arena_done) struct arena a = {0};
        struct schema_faults f = {.arena = &a};
        struct schema *s =
            schema_of(&a, arena_printf(&a,
                                       "{'type':'object','properties':{'spec':{'type':'object',"
                                       "'properties':{'x':%s}}}}",
                                       c[i].schema));
        struct jsn *v = json_of(&a, arena_printf(&a, "{'spec':{'x':%s}}", c[i].value));

        schema_validate(&how, s, v, NULL, true, &f);
        schema_validate_lists(s, v, NULL, &f);
        if (!streq(joined(&a, &f), c[i].faults))
            fail_msg("%s\nwith %s\ngives %s\nnot   %s", c[i].schema, c[i].value, joined(&a, &f),
                     c[i].faults);
    }
}

#define TYPE(found, want)                                                                          \
    "spec.x: Invalid value: \"" found "\": spec.x in body must be of type " want ": \"" found "\""
#define BODY(value, text) "spec.x: Invalid value: " value ": spec.x in body " text

static void types_are_told_apart(void **state)
{
    static const struct check_case cases[] = {
        {"{'type':'string'}", "'a'", ""},
        {"{'type':'string'}", "1", TYPE("integer", "string")},
        {"{'type':'string'}", "true", TYPE("boolean", "string")},
        {"{'type':'string'}", "1.5", TYPE("number", "string")},
        {"{'type':'string'}", "[]", TYPE("array", "string")},
        {"{'type':'string'}", "{}", TYPE("object", "string")},
        {"{'type':'string'}", "null", TYPE("null", "string")},
        {"{'type':'string','nullable':true}", "null", ""},
        {"{'type':'integer'}", "'x'", TYPE("string", "integer")},
        {"{'type':'integer'}", "1.5", TYPE("number", "integer")},
        {"{'type':'integer'}", "1.0", ""},
        {"{'type':'integer','format':'int32'}", "true", TYPE("boolean", "integer")},
        {"{'type':'integer','format':'int32'}", "99999999999", ""},
        {"{'type':'number'}", "1", ""},
        {"{'type':'number'}", "'1'", TYPE("string", "number")},
        {"{'type':'boolean'}", "'true'", TYPE("string", "boolean")},
        {"{'type':'object'}", "[]", TYPE("array", "object")},
        {"{'type':'array','items':{'type':'string'}}", "{}", TYPE("object", "array")},
        {"{'type':'array','items':{'type':'string'}}", "['a',1,null]",
         "spec.x[1]: Invalid value: \"integer\": spec.x[1] in body must be of type string: "
         "\"integer\" | spec.x[2]: Invalid value: \"null\": spec.x[2] in body must be of type "
         "string: \"null\""},
        {"{'x-kubernetes-int-or-string':true}", "true", TYPE("boolean", "integer,string")},
        {"{'x-kubernetes-int-or-string':true}", "1.5", TYPE("number", "integer,string")},
        {"{'x-kubernetes-int-or-string':true}", "'x'", ""},
        {"{'x-kubernetes-int-or-string':true}", "5", ""},
        {"{'x-kubernetes-preserve-unknown-fields':true}", "[1,{}]", ""},
    };

    (void)state;
    run(cases, ARRAY_LEN(cases));
}

static void numbers_stay_in_bounds(void **state)
{
    static const char bounds[] = "{'type':'integer','minimum':0,'maximum':10}";
    static const char open[] = "{'type':'integer','minimum':0,'exclusiveMinimum':true,'maximum':10,"
                               "'exclusiveMaximum':true}";
    static const char real[] = "{'type':'number','minimum':0.5,'maximum':1e21}";
    static const struct check_case cases[] = {
        {bounds, "0", ""},
        {bounds, "10", ""},
        {bounds, "-1", BODY("-1", "should be greater than or equal to 0")},
        {bounds, "11", BODY("11", "should be less than or equal to 10")},
        {open, "0", BODY("0", "should be greater than 0")},
        {open, "10", BODY("10", "should be less than 10")},
        {open, "5", ""},
        {real, "0.25", BODY("0.25", "should be greater than or equal to 0.5")},
        {real, "1e22", BODY("1e+22", "should be less than or equal to 1e+21")},
        {real, "-3", BODY("-3", "should be greater than or equal to 0")},
        {"{'type':'integer','multipleOf':3}", "4", BODY("4", "should be a multiple of 3")},
        {"{'type':'integer','multipleOf':3}", "-9", ""},
        {"{'type':'number','multipleOf':0.1}", "0.25", BODY("0.25", "should be a multiple of 0.1")},
        {"{'type':'number','multipleOf':0.1}", "0.3", ""},
        {"{'type':'integer','multipleOf':-1}", "1",
         "spec.x: Invalid value: -1: factor MultipleOf declared for spec.x must be positive: -1"},
        {"{'x-kubernetes-int-or-string':true,'minimum':1,'pattern':'^[0-9]+%$'}", "0",
         BODY("0", "should be greater than or equal to 1")},
    };

    (void)state;
    run(cases, ARRAY_LEN(cases));
}

static void strings_have_length_pattern_and_format(void **state)
{
    static const char length[] = "{'type':'string','minLength':2,'maxLength':3}";
    static const struct check_case cases[] = {
        {length, "'a'", BODY("\"a\"", "should be at least 2 chars long")},
        {length, "'abcd'", "spec.x: Too long: may not be more than 3 bytes"},
        {length, "'\xc3\xbc\xc3\xbc\xc3\xbc'", ""},
        {"{'type':'string','pattern':'^[a-z]+$'}", "'ABC'",
         BODY("\"ABC\"", "should match '^[a-z]+$'")},
        {"{'type':'string','pattern':'^[a-z]+$'}", "'abc'", ""},
        {"{'type':'string','maxLength':2,'pattern':'^x$'}", "'ABC'",
         "spec.x: Too long: may not be more than 2 bytes"},
        {"{'type':'string','pattern':'('}", "'a'",
         BODY("\"a\"", "should match '(, but pattern is invalid: error parsing regexp: missing "
                       "closing ): `(`'")},
        {"{'type':'string','format':'date-time'}", "'x'",
         "spec.x: Invalid value: \"x\": spec.x in body must be of type date-time: \"x\""},
        {"{'type':'string','format':'date-time'}", "5", TYPE("int64", "date-time")},
        {"{'type':'string','format':'date-time'}", "true", TYPE("", "date-time")},
        {"{'type':'string','format':'date-time'}", "'2020-01-01T00:00:00Z'", ""},
        {"{'type':'string','format':'no-such'}", "'x'", ""},
        {"{'type':'string','enum':['small','large']}", "'medium'",
         "spec.x: Unsupported value: \"medium\": supported values: \"small\", \"large\""},
        {"{'type':'string','enum':['small','large']}", "5",
         TYPE("integer", "string") " | spec.x: Unsupported value: 5: supported values: \"small\", "
                                   "\"large\""},
        {"{'type':'integer','enum':[1,2]}", "3",
         "spec.x: Unsupported value: 3: supported values: \"1\", \"2\""},
        {"{'type':'integer','enum':[1,2]}", "2", ""},
        {"{'type':'string','nullable':true,'enum':['a']}", "null",
         "spec.x: Unsupported value: null: supported values: \"a\""},
    };

    (void)state;
    run(cases, ARRAY_LEN(cases));
}

static void lists_and_maps_have_sizes(void **state)
{
    static const char list[] =
        "{'type':'array','minItems':1,'maxItems':3,'items':{'type':'integer'}}";
    static const char map[] = "{'type':'object','minProperties':1,'maxProperties':2,"
                              "'additionalProperties':{'type':'string'}}";
    static const struct check_case cases[] = {
        {list, "[]", BODY("0", "should have at least 1 items")},
        {list, "[1,2,3,4]", "spec.x: Too many: 4: must have at most 3 items"},
        {list, "[1]", ""},
        {"{'type':'array','uniqueItems':true,'items':{'type':'integer'}}", "[1,2,1]",
         BODY("\"\"", "shouldn't contain duplicates")},
        {map, "{}", BODY("0", "should have at least 1 properties")},
        {map, "{'a':'1','b':'2','c':'3'}", "spec.x: Too many: 3: must have at most 2 items"},
        {map, "{'a':1}",
         "spec.x.a: Invalid value: \"integer\": spec.x.a in body must be of type string: "
         "\"integer\""},
        {"{'type':'object','properties':{'a':{'type':'string'}},'required':['a','b']}", "{}",
         "spec.x.a: Required value | spec.x.b: Required value"},
    };

    (void)state;
    run(cases, ARRAY_LEN(cases));
}

static void closed_objects_refuse_members(void **state)
{
    static const struct check_case cases[] = {
        {"{'type':'object','additionalProperties':false}", "{'a':1}",
         "spec.x: Invalid value: \"a\": spec.x.a in body is a forbidden property"},
        {"{'type':'object','additionalProperties':true}", "{'a':1}", ""},
    };

    (void)state;
    run(cases, ARRAY_LEN(cases));
}

static void sets_and_list_maps_hold_nothing_twice(void **state)
{
    static const char set[] =
        "{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string'}}";
    static const char one[] = "{'type':'array','x-kubernetes-list-type':'map',"
                              "'x-kubernetes-list-map-keys':['name'],'items':{'type':'object'}}";
    static const char two[] = "{'type':'array','x-kubernetes-list-type':'map',"
                              "'x-kubernetes-list-map-keys':['p','t'],'items':{'type':'object'}}";
    static const char inner[] = "{'type':'object','additionalProperties':{'type':'array',"
                                "'x-kubernetes-list-type':'set','items':{'type':'string'}}}";
    static const struct check_case cases[] = {
        {set, "['a','b']", ""},
        {set, "['a','b','a','a']", "spec.x[2]: Duplicate value: \"a\""},
        {one, "[{'name':'a'},{'name':'b'}]", ""},
        {one, "[{'name':'a'},{'name':'a','v':1}]", "spec.x[1]: Duplicate value: {\"name\":\"a\"}"},
        {one, "[{},{}]", "spec.x[1]: Duplicate value: {}"},
        {one, "[{},5]",
         "spec.x[1]: Invalid value: \"integer\": spec.x[1] in body must be of type object: "
         "\"integer\" | spec.x[1]: Invalid value: 5: must be an object for an array of list-type "
         "map"},
        {two, "[{'p':1,'t':'TCP'},{'t':'TCP','p':1}]",
         "spec.x[1]: Duplicate value: {\"p\":1,\"t\":\"TCP\"}"},
        {two, "[{'p':1,'t':'TCP'},{'p':1,'t':'UDP'}]", ""},
        {inner, "{'k':['a','a']}", "spec.x[k][1]: Duplicate value: \"a\""},
    };

    (void)state;
    run(cases, ARRAY_LEN(cases));
}

#define XY "'type':'object','properties':{'x':{'type':'string'},'y':{'type':'string'}},"
#define XY_EITHER "[{'required':['x']},{'required':['y']}]"
#define COMPOSITE(text) "<nil>: Invalid value: \"\": \"spec.x\" " text

static void combinations_name_the_nearest(void **state)
{
    static const char one[] = "{" XY "'oneOf':" XY_EITHER "}";
    static const char any[] = "{" XY "'anyOf':" XY_EITHER "}";
    static const char all[] = "{" XY "'allOf':" XY_EITHER "}";
    static const char not[] = "{" XY "'not':{'required':['x']}}";
    static const struct check_case cases[] = {
        {one, "{}",
         COMPOSITE(
             "must validate one and only one schema (oneOf). Found none valid") " | "
                                                                                "spec.x.x: "
                                                                                "Required value"},
        {one, "{'x':'1','y':'2'}",
         COMPOSITE("must validate one and only one schema (oneOf). Found 2 valid alternatives")},
        {one, "{'y':'1'}", ""},
        {any, "{}",
         COMPOSITE("must validate at least one schema (anyOf)") " | spec.x.x: Required value"},
        {any, "{'x':'1','y':'2'}", ""},
        {all, "{}",
         "spec.x.x: Required value | spec.x.y: Required value | " COMPOSITE(
             "must validate all the schemas (allOf). None validated")},
        {all, "{'x':'1'}",
         "spec.x.y: Required value | " COMPOSITE("must validate all the schemas (allOf)")},
        {not, "{'x':'1'}", COMPOSITE("must not validate the schema (not)")},
        {not, "{}", ""},
        /* The second alternative is nearer: it has a property that holds. */
        {"{" XY "'anyOf':[{'required':['x']},{'properties':{'y':{'minLength':1}},'required':['z']"
         "}]}",
         "{'y':'a'}",
         COMPOSITE("must validate at least one schema (anyOf)") " | spec.x.z: Required value"},
    };

    (void)state;
    run(cases, ARRAY_LEN(cases));
}

static void a_status_has_its_prefix_in_fields_only(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(pattern_cache_free) struct pattern_cache *patterns = pattern_cache_new();
    struct schema_faults f = {.arena = &a};
    struct schema *s = schema_of(&a, "{'type':'object','properties':{'n':{'type':'integer'}},"
                                     "'required':['m'],'not':{'required':['n']}}");

    (void)state;
    schema_validate(&(struct structural){.patterns = patterns}, s, json_of(&a, "{'n':'x'}"),
                    "status", false, &f);
    assert_string_equal(joined(&a, &f),
                        "status: Invalid value: \"\": \"\" must not validate the schema (not) | "
                        "status.n: Invalid value: \"string\": n in body must be of type integer: "
                        "\"string\" | status.m: Required value");
}

static void metadata_is_checked_for_its_names_only(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(pattern_cache_free) struct pattern_cache *patterns = pattern_cache_new();
    struct schema_faults f = {.arena = &a};
    struct schema *s = schema_of(
        &a, "{'type':'object','properties':{'metadata':{'type':'object','properties':{'name':"
            "{'type':'string','maxLength':3},'labels':{'type':'integer'}}}}}");

    (void)state;
    schema_validate(&(struct structural){.patterns = patterns}, s,
                    json_of(&a, "{'metadata':{'name':'long','labels':{}}}"), NULL, true, &f);
    assert_string_equal(joined(&a, &f), "metadata.name: Too long: may not be more than 3 bytes");
}

static void faults_have_the_reasons_of_kubernetes(void **state)
{
    static const struct {
        const char *schema, *value, *reason;
    } cases[] = {
        {"{'type':'string'}", "1", "FieldValueTypeInvalid"},
        {"{'type':'string','format':'uuid'}", "'1'", "FieldValueTypeInvalid"},
        {"{'type':'string','enum':['a']}", "'b'", "FieldValueNotSupported"},
        {"{'type':'string','maxLength':1}", "'ab'", "FieldValueTooLong"},
        {"{'type':'string','minLength':1}", "''", "FieldValueInvalid"},
        {"{'type':'array','maxItems':0}", "[1]", "FieldValueTooMany"},
        {"{'type':'object','maxProperties':0}", "{'a':1}", "FieldValueTooMany"},
        {"{'type':'object','required':['a']}", "{}", "FieldValueRequired"},
        {"{'type':'integer','minimum':1}", "0", "FieldValueInvalid"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(pattern_cache_free) struct pattern_cache *patterns = pattern_cache_new();
        struct schema_faults f = {.arena = &a};

        schema_validate(&(struct structural){.patterns = patterns}, schema_of(&a, cases[i].schema),
                        json_of(&a, cases[i].value), NULL, false, &f);
        assert_int_equal(f.n, 1);
        assert_string_equal(f.items[0].reason, cases[i].reason);
    }
}

static void very_many_faults_are_counted_only(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(pattern_cache_free) struct pattern_cache *patterns = pattern_cache_new();
    struct schema_faults f = {.arena = &a};
    struct jsn *v = jsn_array(&a);

    (void)state;
    for (int i = 0; i < 10000; i++)
        jsn_append(&a, v, jsn_int(&a, i));
    schema_validate(&(struct structural){.patterns = patterns},
                    schema_of(&a, "{'type':'array','items':{'type':'string'}}"), v, NULL, false,
                    &f);
    assert_int_equal(f.n, SCHEMA_FAULTS_MAX);
    assert_int_equal(f.dropped, 10000 - SCHEMA_FAULTS_MAX);
}

static void a_long_set_takes_no_time(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct schema_faults f = {.arena = &a};
    struct jsn *v = jsn_array(&a);

    (void)state;
    for (int i = 0; i < 200000; i++)
        jsn_append(&a, v, jsn_int(&a, i));
    schema_validate_lists(schema_of(&a, "{'type':'array','x-kubernetes-list-type':'set'}"), v, "x",
                          &f);
    assert_int_equal(f.n, 0);
}

static void numbers_print_as_go_does(void **state)
{
    static const struct {
        double d;
        const char *text;
    } cases[] = {
        {0, "0"},         {0.5, "0.5"},     {1e20, "100000000000000000000"},
        {1e21, "1e+21"},  {1e-4, "0.0001"}, {1e-5, "1e-05"},
        {-2.25, "-2.25"}, {0.1, "0.1"},     {1e100, "1e+100"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(buf_done) struct buf b = {0};

        schema_print_go_real(&b, cases[i].d);
        assert_string_equal(buf_str(&b), cases[i].text);
    }
}

static void values_print_as_go_does(void **state)
{
    static const char *const cases[][2] = {
        {"null", "null"},
        {"'a\\n\\t\xc3\xbc'", "\"a\\n\\t\xc3\xbc\""},
        {"'\\u0001\\\\'", "\"\\x01\\\\\""},
        {"[1,null,'a']", "[1,null,\"a\"]"},
        {"{'b':true,'a':{}}", "{\"a\":{},\"b\":true}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(buf_done) struct buf b = {0};

        schema_print_go(&b, json_of(&a, cases[i][0]));
        assert_string_equal(buf_str(&b), cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_told_apart),
        cmocka_unit_test(numbers_stay_in_bounds),
        cmocka_unit_test(strings_have_length_pattern_and_format),
        cmocka_unit_test(lists_and_maps_have_sizes),
        cmocka_unit_test(closed_objects_refuse_members),
        cmocka_unit_test(sets_and_list_maps_hold_nothing_twice),
        cmocka_unit_test(combinations_name_the_nearest),
        cmocka_unit_test(a_status_has_its_prefix_in_fields_only),
        cmocka_unit_test(metadata_is_checked_for_its_names_only),
        cmocka_unit_test(faults_have_the_reasons_of_kubernetes),
        cmocka_unit_test(very_many_faults_are_counted_only),
        cmocka_unit_test(a_long_set_takes_no_time),
        cmocka_unit_test(numbers_print_as_go_does),
        cmocka_unit_test(values_print_as_go_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
