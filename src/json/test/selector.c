/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of label and field selectors. */
#include "src/base/test/unit.h"

#include "src/json/selector.h"

#define NAME_RULE                                                                                  \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "    \
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "         \
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define VALUE_RULE                                                                                 \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "    \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value', " \
    " or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

static struct jsn *parse(struct arena *a, const char *text)
{
    struct jsn *v;

    assert_int_equal(jsn_parse(a, str_of(text), NULL, &v, NULL), 0);
    return v;
}

static const char *printed(struct arena *a, const struct selector *s)
{
    AUTO(buf_done) struct buf b = {0};

    selector_print(&b, s);
    return arena_str(a, buf_view(&b));
}

static void label_selectors_parse_to_their_canonical_text(void **state)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"a=b", "a=b"},
        {" a == b , c != d ", "a==b,c!=d"},
        {"b,!a", "!a,b"},
        {"x in (z, y,z)", "x in (y,z)"},
        {"x notin ()", "x notin ()"},
        {"x in (,)", "x in ()"},
        {"x in (a,,b)", "x in (,a,b)"},
        {"x in (,a)", "x in (,a)"},
        {"x in (a,)", "x in (,a)"},
        {"in in (in,notin)", "in in (in,notin)"},
        {"a=,b=", "a=,b="},
        {"a>5,b<-1",
         "unable to parse requirement: values[0][b]: Invalid value: \"-1\": " VALUE_RULE},
        {"a>5,b<7", "a>5,b<7"},
        {"example.com/a.b_c-d=V", "example.com/a.b_c-d=V"},
        {"(", "found '(', expected: !, identifier, or 'end of string'"},
        {"a,", "found '', expected: identifier after ','"},
        {"a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
        {"a=b c", "found 'c', expected: ',' or 'end of string'"},
        {"!(", "unable to parse requirement: found '(', expected: identifier"},
        {"!a=b", "found '=', expected: ',' or 'end of string'"},
        {"a=(", "unable to parse requirement: found '(', expected: identifier"},
        {"a in b", "unable to parse requirement: found 'b' expected: '('"},
        {"a in (b", "unable to parse requirement: found '', expected: ',' or ')'"},
        {"a in (b,", "unable to parse requirement: found '', expected: ',', or identifier"},
        {"a in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"},
        {"a>x", "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' "
                "operators, the value must be an integer"},
        {"-a", "unable to parse requirement: <nil>: Invalid value: \"-a\": name part " NAME_RULE},
        {"/a", "unable to parse requirement: <nil>: Invalid value: \"/a\": prefix part must be "
               "non-empty"},
        {"a/", "unable to parse requirement: <nil>: Invalid value: \"a/\": name part must be "
               "non-empty; name part " NAME_RULE},
        {"a/b/c",
         "unable to parse requirement: <nil>: Invalid value: \"a/b/c\": a qualified name " NAME_RULE
         " with an optional DNS subdomain prefix and '/' (e.g. "
         "'example.com/MyName')"},
        {"a=b_", "unable to parse requirement: values[0][a]: Invalid value: \"b_\": " VALUE_RULE},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct selector *s;
        struct err e = {0};
        int r = selector_parse_labels(&a, str_of(cases[i][0]), &s, &e);

        assert_string_equal(r < 0 ? e.text : printed(&a, s), cases[i][1]);
    }
}

static void labels_match(void **state)
{
    static const struct {
        const char *selector;
        bool match;
    } cases[] = {
        {"", true},
        {"app=web", true},
        {"app=db", false},
        {"app!=db", true},
        {"none!=x", true},
        {"none=x", false},
        {"none=", false},
        {"empty=", true},
        {"app in (db,web)", true},
        {"app notin (db,web)", false},
        {"none notin (x)", true},
        {"none in (x)", false},
        {"app", true},
        {"none", false},
        {"!none", true},
        {"!app", false},
        {"n>4", true},
        {"n>5", false},
        {"n<6", true},
        {"app<6", false},
        {"none>1", false},
        {"app=web,n=5", true},
        {"app=web,n=6", false},
    };
    AUTO(arena_done) struct arena a = {0};
    struct jsn *labels = parse(&a, "{\"app\":\"web\",\"n\":\"5\",\"empty\":\"\"}");

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct selector *s;

        assert_int_equal(selector_parse_labels(&a, str_of(cases[i].selector), &s, NULL), 0);
        assert_int_equal(selector_match_labels(s, labels), cases[i].match);
    }
    assert_true(selector_match_labels(NULL, labels));
}

/* A field as a path of the object. */
static struct str field_of(const void *context, struct str key)
{
    const struct jsn *v = context;
    struct str step;

    while (str_split(&key, '.', &step))
        v = jsn_member(v, step);
    return jsn_is(v, JSN_STRING) ? v->s : STR("");
}

static void field_selectors_parse_and_match(void **state)
{
    static const struct {
        const char *selector;
        const char *text; /* "true", "false" or the error */
    } cases[] = {
        {"", "true"},
        {",,", "true"},
        {"metadata.name=x", "true"},
        {"metadata.name==x,spec.nodeName!=n2", "true"},
        {"metadata.name!=x", "false"},
        {"spec.none=", "true"},
        {"spec.none!=", "false"},
        {"note=a\\,b\\=c\\\\d", "true"},
        {"note=a\\,b", "false"},
        {"metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"},
        {"a=b=c", "invalid field selector: unescaped character in value: 61"},
        {"a=\\x", "invalid field selector: invalid escape sequence: \\x"},
        {"a=b\\", "invalid field selector: invalid escape sequence: \\"},
    };
    AUTO(arena_done) struct arena a = {0};
    struct jsn *object =
        parse(&a, "{\"metadata\":{\"name\":\"x\"},\"note\":\"a,b=c\\\\d\",\"spec\":{\"nodeName\":"
                  "\"n1\"}}");

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct selector *s;
        struct err e = {0};
        int r = selector_parse_fields(&a, str_of(cases[i].selector), &s, &e);
        const char *got = r < 0 ? e.text : selector_match(s, field_of, object) ? "true" : "false";

        assert_string_equal(got, cases[i].text);
    }
}

static void selector_objects_are_read(void **state)
{
    static const char *const cases[][2] = {
        {"{}", ""},
        {"{\"matchLabels\":{\"b\":\"1\",\"a\":\"2\"}}", "a=2,b=1"},
        {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"y\",\"x\"]},"
         "{\"key\":\"b\",\"operator\":\"NotIn\",\"values\":[\"z\"]},"
         "{\"key\":\"c\",\"operator\":\"Exists\"},{\"key\":\"d\",\"operator\":\"DoesNotExist\"}]}",
         "a in (x,y),b notin (z),c,!d"},
        {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Gt\",\"values\":[\"1\"]}]}",
         "\"Gt\" is not a valid label selector operator"},
        {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}",
         "values: Invalid value: []string(nil): for 'in', 'notin' operators, values set can't be "
         "empty"},
        {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\",\"values\":[\"1\"]}]}",
         "values: Invalid value: []string{\"1\"}: values set must be empty for exists and does not "
         "exist"},
        {"{\"matchLabels\":{\"a\":\"b c\"}}", "values[0][a]: Invalid value: \"b c\": " VALUE_RULE},
    };
    AUTO(arena_done) struct arena a = {0};
    struct selector *s;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err e = {0};
        int r = selector_from_object(&a, parse(&a, cases[i][0]), &s, &e);

        assert_string_equal(r < 0 ? e.text : printed(&a, s), cases[i][1]);
    }
    assert_int_equal(selector_from_object(&a, NULL, &s, NULL), 0);
    assert_false(selector_match_labels(s, NULL));
}

static void exact_demands_are_found(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct selector *s;
    struct str value;

    (void)state;
    assert_int_equal(selector_parse_fields(&a, STR("metadata.name=x,a!=b"), &s, NULL), 0);
    assert_true(selector_exact(s, "metadata.name", &value));
    assert_true(str_eqz(value, "x"));
    assert_false(selector_exact(s, "a", &value));
    assert_false(selector_exact(s, "z", &value));
    assert_int_equal(selector_parse_labels(&a, STR("a in (x),b in (x,y)"), &s, NULL), 0);
    assert_true(selector_exact(s, "a", &value));
    assert_false(selector_exact(s, "b", &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(label_selectors_parse_to_their_canonical_text),
        cmocka_unit_test(labels_match),
        cmocka_unit_test(field_selectors_parse_and_match),
        cmocka_unit_test(selector_objects_are_read),
        cmocka_unit_test(exact_demands_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
