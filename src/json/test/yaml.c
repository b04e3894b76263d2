/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of reading YAML. */
#include "src/base/test/unit.h"

#include "src/json/yaml.h"

/* The documents of a text as one JSON array, or the error. */
static const char *read_all(struct arena *a, const char *text)
{
    AUTO(buf_done) struct buf b = {0};
    struct err e = {0};
    struct jsn *v;

    if (yaml_parse_all(a, str_of(text), NULL, &v, &e) < 0)
        return arena_strdup(a, e.text);
    jsn_print(&b, v);
    return arena_str(a, buf_view(&b));
}

static void check(const char *const cases[][2], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        AUTO(arena_done) struct arena a = {0};

        assert_string_equal(read_all(&a, cases[i][0]), cases[i][1]);
    }
}

static void scalars_mean_what_kubectl_takes_them_for(void **state)
{
    static const char *const cases[][2] = {
        {"[yes, Yes, YES, y, Y, on, On, ON, true, True, TRUE]",
         "[[true,true,true,true,true,true,true,true,true,true,true]]"},
        {"[no, No, NO, n, N, off, Off, OFF, false, False, FALSE]",
         "[[false,false,false,false,false,false,false,false,false,false,false]]"},
        {"[yEs, oN, tRUE, nO]", "[[\"yEs\",\"oN\",\"tRUE\",\"nO\"]]"},
        {"[~, null, Null, NULL, nUll]", "[[null,null,null,null,\"nUll\"]]"},
        {"a:\nb: ''", "[{\"a\":null,\"b\":\"\"}]"},
        {"['yes', \"1\", 'null', \"~\"]", "[[\"yes\",\"1\",\"null\",\"~\"]]"},
        {"[0, 1, -1, +7, 1_000, 0x1F, 0X1f, 0o17, 017, 0b101, -0b11, -0x10]",
         "[[0,1,-1,7,1000,31,31,15,15,5,-3,-16]]"},
        {"[08, 09.5, 1., .5, -.5, 1e3, 1.5e-3, 3.0, 6e+2, 1_0.5]",
         "[[8,9.5,1,0.5,-0.5,1000,0.0015,3,600,10.5]]"},
        {"[0x, 0b, 0o, 0b12, 0xG, -, +, --1, 1.2.3, 1e, e1, .e1, ., 1__, _1]",
         "[[\"0x\",\"0b\",\"0o\",\"0b12\",\"0xG\",\"-\",\"+\",\"--1\",\"1.2.3\",\"1e\",\"e1\",\"."
         "e1\","
         "\".\",1,\"_1\"]]"},
        {"[9223372036854775807, -9223372036854775808]",
         "[[9223372036854775807,-9223372036854775808]]"},
        {"[9223372036854775808, 18446744073709551616]",
         "[[9.223372036854776e+18,1.8446744073709552e+19]]"},
        {"1e999", "[\"1e999\"]"},
        {"[2026-01-09T10:00:00Z, 2026-01-09, 1:30, 0x1p-2]",
         "[[\"2026-01-09T10:00:00Z\",\"2026-01-09\",\"1:30\",\"0x1p-2\"]]"},
        {"[.inf]", "yaml: line 1: .inf is not a number that JSON can hold"},
        {"a: 1\nb: -.INF", "yaml: line 2: -.INF is not a number that JSON can hold"},
        {"a: .nan", "yaml: line 1: .nan is not a number that JSON can hold"},
    };

    (void)state;
    check(cases, ARRAY_LEN(cases));
}

static void tags_are_followed(void **state)
{
    static const char *const cases[][2] = {
        {"[!!str 1, !!str yes, !foo 1, ! 1]", "[[\"1\",\"yes\",\"1\",\"1\"]]"},
        {"[!!int 0x10, !!float 1, !!bool \"on\", !!null '']", "[[16,1,true,null]]"},
        {"!!binary aGVsbG8=", "[\"hello\"]"},
        {"!!binary '***'", "yaml: line 1: !!binary value contains invalid base64 data"},
        {"!!binary /w==", "yaml: line 1: !!binary value is not text, which is all JSON can hold"},
        {"!!int abc", "yaml: line 1: cannot decode `abc` as a !!int"},
        {"!!bool 1", "yaml: line 1: cannot decode `1` as a !!bool"},
        {"!!null x", "yaml: line 1: cannot decode `x` as a !!null"},
        {"!!float x", "yaml: line 1: cannot decode `x` as a !!float"},
    };

    (void)state;
    check(cases, ARRAY_LEN(cases));
}

static void keys_become_strings(void **state)
{
    static const char *const cases[][2] = {
        {"1: a\n0x10: b\ntrue: c\nno: d\n1.5: e\n1e6: f\n1e-7: g\n3.0: h",
         "[{\"1\":\"a\",\"16\":\"b\",\"true\":\"c\",\"false\":\"d\",\"1.5\":\"e\",\"1e+06\":\"f\","
         "\"1e-07\":\"g\",\"3\":\"h\"}]"},
        {"0.1: a\n-2.25: b\n123456.5: c\n1234567.5: d",
         "[{\"0.1\":\"a\",\"-2.25\":\"b\",\"123456.5\":\"c\",\"1.2345675e+06\":\"d\"}]"},
        {"1e71: a\n-1e71: b", "[{\".inf\":\"a\",\"-.inf\":\"b\"}]"},
        {"~: a", "yaml: line 1: unsupported map key of type null"},
        {"? [a]\n: b", "yaml: line 1: a mapping or a sequence cannot be a key"},
        {"a: 1\nb: 2\na: 3", "yaml: line 3: key \"a\" already set in map"},
        {"1: x\n\"1\": y", "yaml: line 2: key \"1\" already set in map"},
        {"{\"a\":1,\"a\":2}", "yaml: line 1: key \"a\" already set in map"},
    };

    (void)state;
    check(cases, ARRAY_LEN(cases));
}

static void blocks_flows_and_json_are_read(void **state)
{
    static const char *const cases[][2] = {
        {"a: |\n  x\n   y\n\n  z\nb: |-\n  q\nc: |+\n  k\n\nd: >\n  f\n  g\n",
         "[{\"a\":\"x\\n y\\n\\nz\\n\",\"b\":\"q\",\"c\":\"k\\n\\n\",\"d\":\"f g\\n\"}]"},
        {"spec:\n  list:\n  - a: 1\n    b: [2, {c: 3}]\n  - x",
         "[{\"spec\":{\"list\":[{\"a\":1,\"b\":[2,{\"c\":3}]},\"x\"]}}]"},
        {"data: {\"x\": \"\\u00fc\", \"y\": [1, true, null]}",
         "[{\"data\":{\"x\":\"\xc3\xbc\",\"y\":[1,true,null]}}]"},
        {"{\n\t\"a\": \"\\ud83d\\ude00\\/\"\n}\n", "[{\"a\":\"\xf0\x9f\x98\x80/\"}]"},
        {"{a: b}", "[{\"a\":\"b\"}]"},
        {"# nothing\n", "[]"},
        {"", "[]"},
        {"a: # why\n  - 1 # one\n", "[{\"a\":[1]}]"},
    };

    (void)state;
    check(cases, ARRAY_LEN(cases));
}

static void streams_give_all_documents_that_are_not_empty(void **state)
{
    static const char *const cases[][2] = {
        {"---\na: 1\n---\n---\n# c\n---\nb: 2\n...\n---\n", "[{\"a\":1},{\"b\":2}]"},
        {"a: 1\n---\nb: 2", "[{\"a\":1},{\"b\":2}]"},
        {"%YAML 1.1\n---\na: 1\n", "[{\"a\":1}]"},
        {"{\"a\":1}\n---\n{\"b\":2}\n", "[{\"a\":1},{\"b\":2}]"},
    };
    AUTO(arena_done) struct arena a = {0};
    struct err e = {0};
    struct jsn *v;

    (void)state;
    check(cases, ARRAY_LEN(cases));
    assert_int_equal(yaml_parse(&a, STR("a: 1\n---\nb: 2\n"), NULL, &v, &e), -EINVAL);
    assert_string_equal(e.text, "yaml: the text holds 2 documents where one is expected");
    assert_int_equal(yaml_parse(&a, STR("---\na: 1\n---\n"), NULL, &v, &e), 0);
    assert_int_equal(jsn_get_int(v, "a", 0), 1);
    assert_int_equal(yaml_parse(&a, STR(""), NULL, &v, &e), 0);
    assert_int_equal(v->type, JSN_NULL);
}

static void aliases_and_merge_keys_are_expanded(void **state)
{
    static const char *const cases[][2] = {
        {"a: &x {p: 1}\nb: *x\nc: [*x]", "[{\"a\":{\"p\":1},\"b\":{\"p\":1},\"c\":[{\"p\":1}]}]"},
        {"a: &k key\n*k : 2", "[{\"a\":\"key\",\"key\":2}]"},
        {"&k key: 1\nb: *k", "[{\"key\":1,\"b\":\"key\"}]"},
        {"a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}",
         "[{\"a\":{\"p\":1,\"q\":2},\"b\":{\"q\":3,\"p\":1}}]"},
        {"b: {q: 3, <<: {p: 1, q: 2}}", "[{\"b\":{\"q\":3,\"p\":1}}]"},
        {"b: {<<: [{p: 1}, {p: 2, q: 2}]}", "[{\"b\":{\"p\":1,\"q\":2}}]"},
        {"b: {'<<': 1}", "[{\"b\":{\"<<\":1}}]"},
        {"b: {<<: 1}", "yaml: line 1: map merge requires map or sequence of maps as the value"},
        {"b: {<<: [1]}", "yaml: line 1: map merge requires map or sequence of maps as the value"},
        {"a: *x", "yaml: line 1: unknown anchor 'x' referenced"},
        {"a: &x 1\n---\nb: *x", "yaml: line 3: unknown anchor 'x' referenced"},
        {"a: &x\n  b: *x", "yaml: line 2: anchor 'x' value contains itself"},
    };

    (void)state;
    check(cases, ARRAY_LEN(cases));
}

static void alias_copies_are_not_shared(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v;

    (void)state;
    assert_int_equal(yaml_parse(&a, STR("a: &x {p: 1}\nb: *x\n"), NULL, &v, NULL), 0);
    jsn_set_int(&a, jsn_get(v, "b"), "p", 2);
    assert_int_equal(jsn_get_int(v, "a.p", 0), 1);
}

static void a_billion_laughs_are_refused(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};

    (void)state;
    buf_adds(&b, "l0: &l0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 10; i++)
        buf_printf(&b, "l%d: &l%d [*l%d,*l%d,*l%d,*l%d,*l%d,*l%d,*l%d,*l%d,*l%d,*l%d]\n", i, i,
                   i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    assert_string_equal(read_all(&a, buf_str(&b)),
                        "yaml: line 6: document contains excessive aliasing");
}

static void depth_and_size_are_capped(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct err e = {0};
    struct jsn *v;

    (void)state;
    for (int i = 0; i < 500; i++)
        buf_addc(&b, '[');
    assert_string_equal(read_all(&a, buf_str(&b)), "yaml: line 1: exceeded max depth");
    buf_clear(&b);
    for (int i = 0; i < 200; i++)
        buf_adds(&b, "- ");
    assert_string_equal(read_all(&a, buf_str(&b)), "yaml: line 1: exceeded max depth");
    buf_clear(&b);
    buf_adds(&b, "l0: &l0 [x]\n");
    for (int i = 1; i < 200; i++)
        buf_printf(&b, "l%d: &l%d [*l%d]\n", i, i, i - 1);
    assert_string_equal(read_all(&a, buf_str(&b)), "yaml: line 128: exceeded max depth");
    assert_int_equal(yaml_parse(&a, (struct str){"", YAML_MAX_BYTES + 1}, NULL, &v, &e), -EINVAL);
    assert_string_equal(e.text,
                        "yaml: the text has 16777217 bytes, more than the 16777216 allowed");
}

static void broken_text_is_named_by_line(void **state)
{
    static const char *const cases[][2] = {
        {"a: b: c", "yaml: line 1: mapping values are not allowed in this context"},
        {"a:\n\t- b",
         "yaml: line 2: while scanning for the next token, found character that cannot "
         "start any token"},
        {"a: [1", "yaml: line 2: while parsing a flow sequence, did not find expected ',' or ']'"},
        {"\xff", "yaml: the text is not valid UTF-8"},
        {"a: \"\x01\"", "yaml: byte 4: control characters are not allowed"},
    };

    (void)state;
    check(cases, ARRAY_LEN(cases));
}

static void duplicates_can_be_noted_instead(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn_notes notes = {.arena = &a};
    struct jsn *v;

    (void)state;
    assert_int_equal(yaml_parse(&a, STR("m: {x: 1, x: 2}\nl:\n- {p: 1}\n- {p: 1, p: 3}\nl: 5"),
                                &notes, &v, NULL),
                     0);
    assert_int_equal(notes.n_duplicates, 3);
    assert_string_equal(notes.duplicates[0], "m.x");
    assert_string_equal(notes.duplicates[1], "l[1].p");
    assert_string_equal(notes.duplicates[2], "l");
    assert_int_equal(jsn_get_int(v, "m.x", 0), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_mean_what_kubectl_takes_them_for),
        cmocka_unit_test(tags_are_followed),
        cmocka_unit_test(keys_become_strings),
        cmocka_unit_test(blocks_flows_and_json_are_read),
        cmocka_unit_test(streams_give_all_documents_that_are_not_empty),
        cmocka_unit_test(aliases_and_merge_keys_are_expanded),
        cmocka_unit_test(alias_copies_are_not_shared),
        cmocka_unit_test(a_billion_laughs_are_refused),
        cmocka_unit_test(depth_and_size_are_capped),
        cmocka_unit_test(broken_text_is_named_by_line),
        cmocka_unit_test(duplicates_can_be_noted_instead),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
