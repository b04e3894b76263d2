/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of names, labels and the validation of metadata. */
#include "src/cluster/apiserver/kinds/test/kind.h"

#include "src/cluster/apiserver/gotext.h"
#include "src/json/names.h"

DEFINE_WORLD

#define A63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A252 A63 A63 A63 A63

static void each_form_takes_and_refuses_what_it_should(void **state)
{
    static const struct {
        enum name_form form;
        const char *good[4];
        const char *bad[8];
    } cases[] = {
        {FORM_DNS_LABEL, {"a", "a-b", "1a", A63}, {"", "-a", "a-", "A", "a.b", "a_b", A63 "a"}},
        {FORM_DNS_SUBDOMAIN,
         {"a", "a.b-c.d", "1.2", A252},
         {"", "a.", ".a", "a..b", "a.-b", "A.b", "a_b", A252 "aa"}},
        {FORM_DNS1035_LABEL, {"a", "a1", "a-b", A63}, {"", "1a", "-a", "a-", "a.b", "A"}},
        {FORM_WILDCARD_SUBDOMAIN, {"*.a", "*.a.b"}, {"", "*", "a.b", "*.", "*.A", "a.*.b"}},
        {FORM_PATH_SEGMENT, {"A b", "system:node", "..."}, {".", "..", "a/b", "a%b"}},
        {FORM_QUALIFIED,
         {"a", "A_b.c-9", "ex.com/a", "a"},
         {"", "/a", "a/", "a/b/c", "-a", "A.com/a", "a b", A63 "a"}},
        {FORM_LABEL_VALUE, {"", "a", "A_b.9", A63}, {"-a", "a-", "a b", "a/b", A63 "a"}},
        {FORM_ENV_NAME, {"A", "_a.b-c", "a1", ".a"}, {"", "1a", "a b", "a=b", ".", "..", "..a"}},
        {FORM_C_IDENTIFIER, {"a", "_a1", "A"}, {"", "1a", "a-b", "a.b"}},
        {FORM_CONFIG_KEY, {"a", ".a", "A_b-c.d"}, {"", "a/b", "a b", ".", "..", "..a", A252 "aa"}},
        {FORM_PORT_NAME,
         {"http", "a-1", "a"},
         {"", "A", "-a", "a-", "a--b", "1", "a_b", "abcdefghijklmnop"}},
        {FORM_HTTP_HEADER, {"X-A", "a"}, {"", "a b", "a:b", "a_b"}},
        {FORM_PERCENT, {"0%", "110%"}, {"", "%", "5", "-5%", "5%%", "a%"}},
        {FORM_IP, {"1.2.3.4", "::1", "fe80::1"}, {"", "1.2.3", "1.2.3.256", "01.2.3.4", "a"}},
        {FORM_IPV4, {"1.2.3.4"}, {"", "::1", "1.2.3"}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (size_t k = 0; k < ARRAY_LEN(cases[i].good) && cases[i].good[k]; k++)
            if (!names_good(cases[i].form, cases[i].good[k]))
                fail_msg("form %zu refuses '%s'", i, cases[i].good[k]);
        for (size_t k = 0; k < ARRAY_LEN(cases[i].bad) && cases[i].bad[k]; k++)
            if (names_good(cases[i].form, cases[i].bad[k]))
                fail_msg("form %zu takes '%s'", i, cases[i].bad[k]);
    }
}

static void a_name_can_break_two_rules_at_once(void **state)
{
    struct name_faults f = names_check(FORM_DNS_LABEL, STR(A63 "A"));

    (void)state;
    assert_int_equal(f.n, 2);
    assert_string_equal(f.text[0], "must be no more than 63 characters");
    assert_string_equal(f.text[1],
                        "a lowercase RFC 1123 label must consist of lower case alphanumeric "
                        "characters or '-', and must start and end with an alphanumeric character "
                        "(e.g. 'my-name',  or '123-abc', regex used for validation is "
                        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
}

static const char *first_fault(enum name_form form, const char *value)
{
    struct name_faults f = names_check(form, str_of(value));

    return f.n > 0 ? f.text[0] : NULL;
}

static void the_sentences_are_those_of_kubernetes(void **state)
{
    (void)state;
    assert_string_equal(first_fault(FORM_DNS_SUBDOMAIN, "Bad_Name"),
                        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                        "characters, '-' or '.', and must start and end with an alphanumeric "
                        "character (e.g. 'example.com', regex used for validation is "
                        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
    assert_string_equal(first_fault(FORM_DNS1035_LABEL, "1a"),
                        "a DNS-1035 label must consist of lower case alphanumeric characters or "
                        "'-', start with an alphabetic character, and end with an alphanumeric "
                        "character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
                        "'[a-z]([-a-z0-9]*[a-z0-9])?')");
    assert_string_equal(first_fault(FORM_PATH_SEGMENT, "a/b"), "may not contain '/'");
    assert_string_equal(first_fault(FORM_QUALIFIED, "/a"), "prefix part must be non-empty");
    assert_string_equal(first_fault(FORM_LABEL_VALUE, "-"),
                        "a valid label must be an empty string or consist of alphanumeric "
                        "characters, '-', '_' or '.', and must start and end with an alphanumeric "
                        "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
                        "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
}

/* Long sentences are cut after their first words. */
static const char *metadata_faults(struct arena *a, const char *meta, enum name_rule rule,
                                   bool namespaced)
{
    struct jsn *o = json_of(a, arena_printf(a, "{'metadata':%s}", meta));
    struct causes cs = {.arena = a};

    validate_metadata(&cs, o, rule, namespaced);
    for (size_t i = 0; i < cs.n; i++)
        if (strlen(cs.items[i].text) > 90)
            cs.items[i].text = arena_printf(a, "%.40s...", cs.items[i].text);
    return causes_text(&cs);
}

static void bad_metadata_is_named_field_by_field(void **state)
{
    static const struct {
        const char *meta, *want;
        enum name_rule rule;
        bool cluster;
    } cases[] = {
        {"{'name':'a','namespace':'ns'}", "", NAME_SUBDOMAIN, false},
        {"{'name':'a'}", "", NAME_SUBDOMAIN, true},
        {"{'namespace':'ns'}", "metadata.name: Required value: name or generateName is required",
         NAME_SUBDOMAIN, false},
        {"{'name':'a'}", "metadata.namespace: Required value", NAME_SUBDOMAIN, false},
        {"{'name':'a','namespace':'x'}", "metadata.namespace: Forbidden: not allowed on this type",
         NAME_SUBDOMAIN, true},
        {"{'name':'A','generateName':'job-'}",
         "metadata.name: Invalid value: \"A\": a lowercase RFC 1123...", NAME_SUBDOMAIN, true},
        {"{'name':'a','generateName':'B-'}",
         "metadata.generateName: Invalid value: \"B-\": a lowercase RFC 112...", NAME_SUBDOMAIN,
         true},
        {"{'name':'a%b'}", "metadata.name: Invalid value: \"a%b\": may not contain '%'",
         NAME_PATH_SEGMENT, true},
        {"{'name':'a','labels':{'/a':'x'}}",
         "metadata.labels: Invalid value: \"/a\": prefix part must be non-empty", NAME_SUBDOMAIN,
         true},
        {"{'name':'a','labels':{'a':'-'}}",
         "metadata.labels: Invalid value: \"-\": a valid label must b...", NAME_SUBDOMAIN, true},
        {"{'name':'a','annotations':{'A.b/C':'anything goes'}}", "", NAME_SUBDOMAIN, true},
        {"{'name':'a','annotations':{'a b':''}}",
         "metadata.annotations: Invalid value: \"a b\": name part must con...", NAME_SUBDOMAIN,
         true},
        {"{'name':'a','finalizers':['foo']}",
         "metadata.finalizers[0]: Invalid value: \"foo\": name is neither a standard finalizer "
         "name nor is it fully qualified",
         NAME_SUBDOMAIN, true},
        {"{'name':'a','finalizers':['foo']}", "", NAME_CUSTOM, true},
        {"{'name':'a','finalizers':['orphan','kubernetes','a.b/c']}", "", NAME_SUBDOMAIN, true},
        {"{'name':'a','finalizers':['orphan','foregroundDeletion']}",
         "metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDele...", NAME_SUBDOMAIN,
         true},
        {"{'name':'a','ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'','uid':'u'}]}",
         "metadata.ownerReferences.name: Invalid value: \"\": must not be empty", NAME_SUBDOMAIN,
         true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        const char *got = metadata_faults(&a, cases[i].meta, cases[i].rule, !cases[i].cluster);

        if (!streq(got, cases[i].want))
            fail_msg("%s\n  got  %s\n  want %s", cases[i].meta, got, cases[i].want);
    }
}

static void annotations_have_a_common_limit(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *o = json_of(&a, "{'metadata':{'name':'a'}}");
    struct causes cs = {.arena = &a};
    char *large = arena_alloc(&a, 262145);

    (void)state;
    memset(large, 'x', 262144);
    large[262144] = '\0';
    jsn_set_path(&a, o, "metadata.annotations.a", jsn_string(&a, large));
    validate_metadata(&cs, o, NAME_SUBDOMAIN, false);
    assert_string_equal(causes_text(&cs),
                        "metadata.annotations: Too long: may not be more than 262144 bytes");
}

static void only_one_owner_may_be_in_control(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct causes cs = {.arena = &a};

    (void)state;
    validate_metadata(
        &cs,
        json_of(&a, "{'metadata':{'name':'a','ownerReferences':["
                    "{'apiVersion':'v1','kind':'P','name':'x','uid':'1','controller':true},"
                    "{'apiVersion':'v1','kind':'P','name':'y','uid':'2','controller':true}]}}"),
        NAME_SUBDOMAIN, false);
    assert_int_equal(cs.n, 1);
    assert_non_null(strstr(cs.items[0].text, "Only one reference can have Controller set to true. "
                                             "Found \"true\" in references for x and y"));
}

static void an_update_keeps_the_identity(void **state)
{
    static const struct {
        const char *old, *new, *want;
    } cases[] = {
        {"{'name':'a','uid':'1'}", "{'name':'a','uid':'1'}", ""},
        {"{'name':'a','uid':'1'}", "{'name':'a'}", ""},
        {"{'name':'a','uid':'1'}", "{'name':'a','uid':'2'}",
         "metadata.uid: Invalid value: \"2\": field is immutable"},
        {"{'name':'a'}", "{'name':'b'}", "metadata.name: Invalid value: \"b\": field is immutable"},
        {"{'name':'a','deletionTimestamp':'t','finalizers':['a/b']}",
         "{'name':'a','finalizers':['a/b','c/d']}",
         "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
         "deleted, found new finalizers []string{\"c/d\"}"},
        {"{'name':'a','finalizers':['a/b']}", "{'name':'a','finalizers':['a/b','c/d']}", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct causes cs = {.arena = &a};

        validate_metadata_update(&cs,
                                 json_of(&a, arena_printf(&a, "{'metadata':%s}", cases[i].new)),
                                 json_of(&a, arena_printf(&a, "{'metadata':%s}", cases[i].old)));
        assert_string_equal(causes_text(&cs), cases[i].want);
    }
}

static void structs_are_shown_as_go_shows_them(void **state)
{
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    assert_string_equal(gotext_value(&a, NULL), "null");
    assert_string_equal(gotext_value(&a, json_of(&a, "['a','b']")), "[\"a\",\"b\"]");
    assert_string_equal(gotext_map(&a, NULL), "null");
    assert_string_equal(gotext_map(&a, json_of(&a, "{'b':'2','a':'1'}")),
                        "{\"a\":\"1\",\"b\":\"2\"}");
    assert_string_equal(gotext_value(&a, jsn_int(&a, 3)), "3");
    assert_string_equal(gotext_go_strings(&a, json_of(&a, "['a','b']")), "[]string{\"a\", \"b\"}");
    assert_string_equal(
        gotext_selector(&a, json_of(&a, "{'matchExpressions':[{'key':'a','operator':'In',"
                                        "'values':['x']}]}")),
        "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"x\"]}]}");
}

static void zero_and_absent_are_the_same(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"{}", "{'a':null,'b':'','c':0,'d':false,'e':[],'f':{}}", true},
        {"{'a':{'b':{}}}", "{}", true},
        {"{'a':1}", "{}", false},
        {"{'a':[{'x':1}]}", "{'a':[{'x':1,'y':''}]}", true},
        {"{'a':[1]}", "{'a':[1,2]}", false},
        {"{'a':'1'}", "{'a':1}", false},
    };
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(check_same(json_of(&a, cases[i].a), json_of(&a, cases[i].b)),
                         cases[i].same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_takes_and_refuses_what_it_should),
        cmocka_unit_test(a_name_can_break_two_rules_at_once),
        cmocka_unit_test(the_sentences_are_those_of_kubernetes),
        cmocka_unit_test(bad_metadata_is_named_field_by_field),
        cmocka_unit_test(annotations_have_a_common_limit),
        cmocka_unit_test(only_one_owner_may_be_in_control),
        cmocka_unit_test(an_update_keeps_the_identity),
        cmocka_unit_test(structs_are_shown_as_go_shows_them),
        cmocka_unit_test(zero_and_absent_are_the_same),
    };

    return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
