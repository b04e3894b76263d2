/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of printing YAML: its look, and that it reads back as the same value. */
#include "src/base/test/unit.h"

#include "src/json/yaml.h"

static void print_json(struct arena *a, const char *json, const char **ret_text)
{
    AUTO(buf_done) struct buf b = {0};
    struct jsn *back;
    struct jsn *v;

    assert_int_equal(jsn_parse(a, str_of(json), NULL, &v, NULL), 0);
    yaml_print(&b, v);
    *ret_text = arena_str(a, buf_view(&b));
    assert_int_equal(yaml_parse(a, buf_view(&b), NULL, &back, NULL), 0);
    assert_true(jsn_equal(v, back));
}

static void values_are_printed_in_block_style(void **state)
{
    static const char *const cases[][2] = {
        {"{}", "{}\n"},
        {"[]", "[]\n"},
        {"null", "null\n"},
        {"\"x\"", "x\n"},
        {"{\"a\":{\"b\":[1,{\"c\":2,\"d\":[true]},[],{},[3,[4]]]},\"e\":null,\"f\":1.5}",
         "a:\n  b:\n  - 1\n  - c: 2\n    d:\n    - true\n  - []\n  - {}\n  - - 3\n    - - 4\n"
         "e: null\nf: 1.5\n"},
        {"[{\"a\":{\"b\":1}},[{\"c\":2}]]", "- a:\n    b: 1\n- - c: 2\n"},
        {"{\"a\":\"x\\ny\\n\",\"b\":\"x\\n  y\",\"c\":[\"p\\nq\\n\\n\",{\"k\":\"l\\nm\"}]}",
         "a: |\n  x\n  y\nb: |-\n  x\n    y\nc:\n- |+\n  p\n  q\n\n- k: |-\n    l\n    m\n"},
        {"\"a\\nb\"", "|-\n  a\n  b\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        const char *text;

        print_json(&a, cases[i][0], &text);
        assert_string_equal(text, cases[i][1]);
    }
}

static void strings_are_quoted_only_where_needed(void **state)
{
    static const char *const plain[] = {
        "abc",   "a b", "a:b",        "http://x/y?z#w", "-Z",          "--all",   "a-b",   "x,y",
        "1.2.3", "v1",  "10.0.0.1/8", "\xc3\xbc",       "$(hostname)", "/bin/sh", "a [b]", "yEs"};
    static const char *const quoted[] = {
        "\"\"",     "\"yes\"",      "\"null\"",     "\"~\"",
        "\"1\"",    "\"0x1F\"",     "\"1e3\"",      "\" a\"",
        "\"a \"",   "\"a: b\"",     "\"a #b\"",     "\"a:\"",
        "\"- a\"",  "\"-\"",        "\"---\"",      "\"...\"",
        "\"? a\"",  "\": a\"",      "\"*a\"",       "\"&a\"",
        "\"!a\"",   "\"%a\"",       "\"@a\"",       "\"`a\"",
        "\"{a\"",   "\"[a\"",       "\"'a\"",       "\"\\\"a\"",
        "\"#a\"",   "\"|\"",        "\">\"",        "\"2026-01-09T10:00:00Z\"",
        "\"1:30\"", "\"=\"",        "\"<<\"",       "\".inf\"",
        "\"\\n\"",  "\"a\\rb\"",    "\"\\tx\"",     "\" a\\nb\"",
        "\"\\na\"", "\"a\\\\b: \"", "\"12:30:45\"", "\"-1:30\"",
        "\"on\"",   "\"0o17\"",     "\"1_0\"",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        AUTO(arena_done) struct arena a = {0};
        const char *text;

        print_json(&a, arena_printf(&a, "\"%s\"", plain[i]), &text);
        assert_string_equal(text, arena_printf(&a, "%s\n", plain[i]));
    }
    for (size_t i = 0; i < ARRAY_LEN(quoted); i++) {
        AUTO(arena_done) struct arena a = {0};
        const char *text;

        print_json(&a, quoted[i], &text);
        assert_string_equal(text, arena_printf(&a, "%s\n", quoted[i]));
    }
}

static void odd_characters_are_escaped(void **state)
{
    static const char *const cases[][2] = {
        {"\"a\\u0001\\u007f\"", "\"a\\x01\\x7F\"\n"},
        {"\"\\u0085\\u2028\\ufeff\\u00a0\"", "\"\\x85\\u2028\\uFEFF\xc2\xa0\"\n"},
        {"\"\\u0000\"", "\"\\x00\"\n"},
        {"\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80\n"},
        {"{\"a b\":1,\"yes\":2,\"x: y\":3,\"l\\nm\":4}",
         "a b: 1\n\"yes\": 2\n\"x: y\": 3\n\"l\\nm\": 4\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        const char *text;

        print_json(&a, cases[i][0], &text);
        assert_string_equal(text, cases[i][1]);
    }
}

static void long_keys_read_back(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    const char *text;

    (void)state;
    buf_adds(&b, "{\"m\":{\"");
    for (int i = 0; i < 3000; i++)
        buf_addc(&b, 'k');
    buf_adds(&b, "\":{\"x\":[1]}}}");
    print_json(&a, buf_str(&b), &text);
    assert_non_null(strstr(text, "? kkk"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_printed_in_block_style),
        cmocka_unit_test(strings_are_quoted_only_where_needed),
        cmocka_unit_test(odd_characters_are_escaped),
        cmocka_unit_test(long_keys_read_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
