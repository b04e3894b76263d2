/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of custom objects: written, read back, validated, in one version and in several. */
#include "src/cluster/apiserver/crd/custom.h"
#include "src/cluster/apiserver/crd/test/crd.h"
#include "src/cluster/apiserver/types/registry.h"

/* The definition of widgets with these versions, served by a registry. */
struct fixture {
    struct arena a;
    struct registry *registry;
};

static struct fixture setup(const char *versions)
{
    struct fixture f = {0};
    struct err e = {0};
    struct jsn *crd;

    if (registry_new(&f.registry, &e) < 0)
        fail_msg("%s", e.text);
    crd = json_of(&f.a, arena_printf(&f.a,
                                     "{'metadata':{'name':'widgets.kw.test'},'spec':{'group':"
                                     "'kw.test','scope':'Namespaced','names':{'plural':'widgets',"
                                     "'kind':'Widget'},'versions':%s}}",
                                     versions));
    if (registry_put_crd(f.registry, crd, &e) < 0)
        fail_msg("%s", e.text);
    return f;
}

static void teardown(struct fixture *f)
{
    (void)registry_free(f->registry);
    arena_done(&f->a);
}

static const struct resource *find(struct fixture *f, const char *version)
{
    return registry_find(f->registry, STR("kw.test"), str_of(version), STR("widgets"));
}

#define V1(spec)                                                                                   \
    "[{'name':'v1','served':true,'storage':true,'subresources':{'status':{},'scale':{"             \
    "'specReplicasPath':'.spec.n','statusReplicasPath':'.status.n','labelSelectorPath':"           \
    "'.status.sel'}},'schema':{'openAPIV3Schema':{'type':'object','properties':{'metadata':{"      \
    "'type':'object','properties':{'name':{'type':'string','maxLength':5}}},'spec':{'type':"       \
    "'object','properties':" spec "},'status':{'type':'object','properties':{'n':{'type':"         \
    "'integer'},'sel':{'type':'string'},'p':{'type':'string','enum':['A']}}}}}}}]"

#define SPEC                                                                                       \
    "{'n':{'type':'integer'},'d':{'type':'integer','default':5},'tags':{'type':'array',"           \
    "'x-kubernetes-list-type':'set','items':{'type':'string'}},'e':{'type':'object',"              \
    "'x-kubernetes-embedded-resource':true,'x-kubernetes-preserve-unknown-fields':true}}"

static const char *written(struct fixture *f, const char *text, const struct jsn_notes *parsed)
{
    const struct resource *res = find(f, "v1");
    struct type_notes notes = {.parsed = parsed};
    struct jsn *o = json_of(&f->a, text);
    struct err e = {0};
    AUTO(buf_done) struct buf b = {0};

    if (custom_on_write(&f->a, res, o, &notes, &e) < 0)
        return arena_strdup(&f->a, e.text);
    custom_default(&f->a, res, o);
    buf_adds(&b, text_of(&f->a, o));
    for (size_t i = 0; i < notes.n_texts; i++)
        buf_printf(&b, " | %s", notes.texts[i]);
    return arena_str(&f->a, buf_view(&b));
}

static void a_body_loses_what_the_schema_does_not_know(void **state)
{
    struct fixture f = setup(V1(SPEC));
    const char *duplicates[] = {"spec.n"};
    struct jsn_notes parsed = {.duplicates = duplicates, .n_duplicates = 1};

    (void)state;
    assert_string_equal(
        written(&f,
                "{'apiVersion':'kw.test/v1','kind':'Widget','bogus':1,'metadata':{'name':'x','foo'"
                ":1},'spec':{'n':null,'zz':1,'e':{'apiVersion':'v1','kind':'P','metadata':{'bar':1"
                "}}}}",
                &parsed),
        "{'apiVersion':'kw.test/v1','kind':'Widget','metadata':{'name':'x'},'spec':{'e':{"
        "'apiVersion':'v1','kind':'P','metadata':{}},'d':5}} | duplicate field \"spec.n\" | "
        "unknown "
        "field \"metadata.foo\" | unknown field \"bogus\" | unknown field \"spec.e.metadata.bar\" "
        "| "
        "unknown field \"spec.zz\"");
    teardown(&f);
}

static void metadata_of_a_wrong_type_is_refused(void **state)
{
    static const char *const cases[][2] = {
        {"{'metadata':{'labels':{'a':1}}}",
         "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type "
         "string"},
        {"{'metadata':[]}",
         "json: cannot unmarshal array into Go struct field Widget.metadata of type v1.ObjectMeta"},
        {"{'metadata':{'name':1}}",
         "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type "
         "string"},
        {"{'spec':{'e':{'apiVersion':1}}}",
         "spec.e.apiVersion: Invalid value: 1: must be a string"},
        {"{'spec':{'e':{'kind':[]}}}", "spec.e.kind: Invalid value: []: must be a string"},
        {"{'spec':{'e':{'metadata':{'annotations':{'a':1}}}}}",
         "spec.e.metadata: Invalid value: {\"annotations\":{\"a\":1}}: json: cannot unmarshal "
         "number into Go struct field "
         "ObjectMeta.annotations of type string"},
    };
    struct fixture f = setup(V1(SPEC));

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(written(&f, cases[i][0], NULL), cases[i][1]);
    teardown(&f);
}

static const char *validate(struct fixture *f, const char *object, const char *old,
                            enum custom_door door)
{
    struct causes cs = {.arena = &f->a};

    custom_validate(&cs, find(f, "v1"), json_of(&f->a, object), old ? json_of(&f->a, old) : NULL,
                    door);
    return joined(&f->a, &cs);
}

static void objects_are_held_against_the_schema(void **state)
{
    static const char *const cases[][2] = {
        {"{'metadata':{'name':'x'},'spec':{'n':1}}", ""},
        {"{'metadata':{'name':'longer'}}", "metadata.name: Too long: may not be more than 5 bytes"},
        {"{'spec':{'n':'x'}}",
         "spec.n: Invalid value: \"string\": spec.n in body must be of type integer: \"string\" | "
         ".spec.n: Invalid value: 0: .spec.n accessor error: x is of the type string, expected "
         "int64"},
        {"{'spec':{'n':-1}}", ".spec.n: Invalid value: -1: should be a non-negative integer"},
        {"{'spec':{'n':3000000000}}",
         ".spec.n: Invalid value: 3000000000: should be less than or equal to 2147483647"},
        {"{'spec':{'tags':['a','b','a']}}", "spec.tags[2]: Duplicate value: \"a\""},
        {"{'spec':{'e':{}}}", "spec.e.apiVersion: Required value | spec.e.kind: Required value"},
        {"{'spec':{'e':{'apiVersion':'','kind':'_'}}}",
         "spec.e.apiVersion: Invalid value: \"\": must not be empty | spec.e.kind: Invalid value: "
         "\"_\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of "
         "lower case alphanumeric characters or '-', start with an alphabetic character, and end "
         "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation "
         "is '[a-z]([-a-z0-9]*[a-z0-9])?')"},
        {"{'spec':{'e':{'apiVersion':'a/b/c','kind':'Pod'}}}",
         "spec.e.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c"},
        {"{'spec':{'e':{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a/b'}}}}",
         "spec.e.metadata.name: Invalid value: \"a/b\": may not contain '/'"},
        {"{'spec':{'e':{'apiVersion':'v1','kind':'Pod','metadata':{}}}}", ""},
    };
    struct fixture f = setup(V1(SPEC));

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(validate(&f, cases[i][0], NULL, CUSTOM_WHOLE), cases[i][1]);
    teardown(&f);
}

static void through_the_status_door_only_the_status_counts(void **state)
{
    static const char *const cases[][2] = {
        {"{'spec':{'n':'x'},'status':{'n':1}}", ""},
        {"{'spec':{'n':'x'}}", ""},
        {"{'status':{'n':-1,'p':'B'}}",
         "status.p: Unsupported value: \"B\": supported values: \"A\" | .status.n: Invalid value: "
         "-1: should be a non-negative integer"},
        {"{'status':'text'}",
         "status: Invalid value: \"string\": status in body must be of type object: \"string\" "
         "| .status.n: Invalid value: 0: .status.n accessor error: text is of the type string, "
         "expected map[string]interface{} | .status.sel: Invalid value: \"\": .status.sel accessor "
         "error: text is of the type string, expected map[string]interface{}"},
    };
    struct fixture f = setup(V1(SPEC));

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(validate(&f, cases[i][0], cases[i][0], CUSTOM_STATUS), cases[i][1]);
    teardown(&f);
}

static void old_doubles_in_lists_are_tolerated(void **state)
{
    struct fixture f = setup(V1(SPEC));

    (void)state;
    assert_string_equal(validate(&f, "{'spec':{'tags':['a','a','b']}}",
                                 "{'spec':{'tags':['a','a']}}", CUSTOM_WHOLE),
                        "");
    assert_string_equal(
        validate(&f, "{'spec':{'tags':['a','a']}}", "{'spec':{'tags':['a']}}", CUSTOM_WHOLE),
        "spec.tags[1]: Duplicate value: \"a\"");
    teardown(&f);
}

static void kind_and_version_may_be_required(void **state)
{
    struct fixture f =
        setup("[{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':"
              "'object','required':['apiVersion','kind','metadata','spec'],'properties':{'spec':{"
              "'type':'object'}}}}}]");

    (void)state;
    assert_string_equal(validate(&f, "{'metadata':{}}", NULL, CUSTOM_WHOLE),
                        "spec: Required value");
    teardown(&f);
}

static void rules_run_last_and_only_on_sound_objects(void **state)
{
    struct fixture f = setup(
        V1("{'n':{'type':'integer','x-kubernetes-validations':[{'rule':'self == oldSelf','message':"
           "'n is immutable'}]},'m':{'type':'integer','maximum':5}}"));

    (void)state;
    assert_string_equal(validate(&f, "{'spec':{'n':1}}", NULL, CUSTOM_WHOLE), "");
    assert_string_equal(validate(&f, "{'spec':{'n':2}}", "{'spec':{'n':1}}", CUSTOM_WHOLE),
                        "spec.n: Invalid value: 2: n is immutable");
    assert_string_equal(
        validate(&f, "{'spec':{'n':2,'m':9}}", "{'spec':{'n':1}}", CUSTOM_WHOLE),
        "spec.m: Invalid value: 9: spec.m in body should be less than or equal to 5 | spec.n: "
        "Invalid value: 2: n is immutable");
    assert_string_equal(
        validate(&f, "{'spec':{'n':2,'m':'x'}}", "{'spec':{'n':1}}", CUSTOM_WHOLE),
        "spec.m: Invalid value: \"string\": spec.m in body must be of type integer: \"string\" | "
        "<nil>: Invalid value: null: some validation rules were not checked because the object "
        "was invalid; correct the existing errors to complete validation");
    teardown(&f);
}

#define TWO                                                                                        \
    "[{'name':'v1','served':true,'storage':false,'deprecated':true,'schema':{'openAPIV3Schema':{"  \
    "'type':'object','properties':{'spec':{'type':'object','properties':{'old':{'type':'string'}," \
    "'both':{'type':'string'}}}}}}},"                                                              \
    "{'name':'v2','served':true,'storage':false,'schema':{'openAPIV3Schema':{'type':'object'}}},"  \
    "{'name':'v3','served':false,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"     \
    "'properties':{'spec':{'type':'object','properties':{'both':{'type':'string'},'new':{'type':"  \
    "'integer','default':7}}}}}}}]"

static void a_version_may_store_without_being_served(void **state)
{
    struct fixture f = setup(TWO);
    const struct resource *v1 = find(&f, "v1"), *v3;
    struct jsn *o = json_of(&f.a, "{'spec':{'old':'x','both':'y'}}");

    (void)state;
    assert_null(find(&f, "v3"));
    v3 = v1->stored;
    assert_non_null(v3);
    assert_string_equal(v3->version, "v3");
    assert_null(v3->stored);
    assert_ptr_equal(registry_find_stored(f.registry, "widgets.kw.test"), v3);
    assert_int_not_equal(custom_schema_mark(v1), custom_schema_mark(v3));
    assert_int_not_equal(custom_schema_mark(v3), 0);
    custom_on_read(&f.a, v3, o);
    assert_string_equal(text_of(&f.a, o), "{'spec':{'both':'y','new':7}}");
    teardown(&f);
}

static void the_mark_follows_the_schema_alone(void **state)
{
    static const char one[] = "[{'name':'v1','served':true,'storage':true,'schema':{"
                              "'openAPIV3Schema':{'type':'object'}}}]";
    static const char column[] =
        "[{'name':'v1','served':true,'storage':true,'additionalPrinterColumns':[],'schema':{"
        "'openAPIV3Schema':{'type':'object'}}}]";
    static const char other[] = "[{'name':'v1','served':true,'storage':true,'schema':{"
                                "'openAPIV3Schema':{'type':'object','properties':{}}}}]";
    struct fixture a = setup(one), b = setup(column), c = setup(other);

    (void)state;
    assert_int_equal(custom_schema_mark(find(&a, "v1")), custom_schema_mark(find(&b, "v1")));
    assert_int_not_equal(custom_schema_mark(find(&a, "v1")), custom_schema_mark(find(&c, "v1")));
    teardown(&a);
    teardown(&b);
    teardown(&c);
}

static void deprecated_versions_warn(void **state)
{
    struct fixture f = setup(TWO);
    struct fixture g = setup("[{'name':'v1','served':true,'storage':true,'deprecated':true},"
                             "{'name':'v0','served':true,'storage':false,'deprecated':true,"
                             "'deprecationWarning':'use something else'}]");

    (void)state;
    assert_string_equal(custom_deprecation(&f.a, find(&f, "v1")),
                        "kw.test/v1 Widget is deprecated; use kw.test/v2 Widget");
    assert_null(custom_deprecation(&f.a, find(&f, "v2")));
    assert_string_equal(custom_deprecation(&g.a, find(&g, "v1")),
                        "kw.test/v1 Widget is deprecated");
    assert_string_equal(custom_deprecation(&g.a, find(&g, "v0")), "use something else");
    teardown(&f);
    teardown(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_loses_what_the_schema_does_not_know),
        cmocka_unit_test(metadata_of_a_wrong_type_is_refused),
        cmocka_unit_test(objects_are_held_against_the_schema),
        cmocka_unit_test(through_the_status_door_only_the_status_counts),
        cmocka_unit_test(old_doubles_in_lists_are_tolerated),
        cmocka_unit_test(kind_and_version_may_be_required),
        cmocka_unit_test(rules_run_last_and_only_on_sound_objects),
        cmocka_unit_test(a_version_may_store_without_being_served),
        cmocka_unit_test(the_mark_follows_the_schema_alone),
        cmocka_unit_test(deprecated_versions_warn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
