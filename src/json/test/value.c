/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of JSON values: parse, print, lookup, change. */
#include "src/base/test/unit.h"

#include "src/json/jsn.h"

static char *round_trip(struct arena *a, const char *text)
{
    AUTO(buf_done) struct buf b = {0};
    struct err e = {0};
    struct jsn *v;

    if (jsn_parse(a, str_of(text), NULL, &v, &e) < 0)
        return arena_strdup(a, e.text);
    jsn_print(&b, v);
    return arena_str(a, buf_view(&b));
}

static void text_parses_and_prints_back(void **state)
{
    static const char *const cases[][2] = {
        {" { \"a\" : [ 1 , -2.5, true, null ] } ", "{\"a\":[1,-2.5,true,null]}"},
        {"\"\\u00fc\\n\\ud83d\\ude00\\u0001\"", "\"\xc3\xbc\\n\xf0\x9f\x98\x80\\u0001\""},
        {"\"\\ud83d\"", "\"\xef\xbf\xbd\""},
        {"9223372036854775807", "9223372036854775807"},
        {"9223372036854775808", "9.223372036854776e+18"},
        {"1e2", "100"},
        {"0.1", "0.1"},
        {"{}", "{}"},
        {"[]", "[]"},
        {"{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}"},
        {"", "line 1 column 1: the text ends where a value is expected"},
        {"{\"a\":1,}", "line 1 column 8: expected a key in double quotes"},
        {"[1 2]", "line 1 column 4: expected ',' or ']' after an array item"},
        {"01", "line 1 column 1: not a number"},
        {"1.", "line 1 column 1: not a number"},
        {"1 x", "line 1 column 3: unexpected text after the value"},
        {"\"\\x\"", "line 1 column 4: unknown escape in a string"},
        {"\"abc", "line 1 column 5: the text ends inside a string"},
        {"\"a\nb\"", "line 1 column 3: a control character in a string must be escaped"},
        {"\"\xff\"", "the text is not valid UTF-8"},
        {"1e999", "line 1 column 1: a number that is too large"},
        {"nul", "line 1 column 1: expected a value"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};

        assert_string_equal(round_trip(&a, cases[i][0]), cases[i][1]);
    }
}

/* Strings are read eight characters at a time: each place in a group counts. */
static void strings_are_read_alike_at_any_offset(void **state)
{
    static const char *const cases[][2] = {
        {"\\n\"", "\\n\""},   {"\\\\\"", "\\\\\""},
        {"\\u0041\"", "A\""}, {"\xc3\xbc\x7f\"", "\xc3\xbc\x7f\""},
        {"\"", "\""},         {"\x1f\"", NULL},
        {"", NULL},           {"\\", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int n = 0; n < 20; n++) {
            AUTO(arena_done) struct arena a = {0};
            const char *text = arena_printf(&a, "\"%.*s%s", n, "abcdefghijklmnopqrst", cases[i][0]);
            const char *got = round_trip(&a, text);

            if (cases[i][1])
                assert_string_equal(
                    got, arena_printf(&a, "\"%.*s%s", n, "abcdefghijklmnopqrst", cases[i][1]));
            else
                assert_ptr_equal(strstr(got, "line 1 column "), got);
        }
    }
}

static void depth_is_capped(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct err e = {0};
    struct jsn *v;

    (void)state;
    for (int i = 0; i < 100000; i++)
        buf_addc(&b, '[');
    assert_int_equal(jsn_parse(&a, buf_view(&b), NULL, &v, &e), -EINVAL);
    assert_non_null(strstr(e.text, "exceeded max depth"));
}

static void duplicates_are_named_by_path(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn_notes notes = {.arena = &a};
    struct jsn *v;

    (void)state;
    assert_int_equal(
        jsn_parse(&a, STR("{\"m\":{\"x\":1,\"x\":2},\"l\":[{\"y\":1,\"y\":1}]}"), &notes, &v, NULL),
        0);
    assert_int_equal(notes.n_duplicates, 2);
    assert_string_equal(notes.duplicates[0], "m.x");
    assert_string_equal(notes.duplicates[1], "l[0].y");
}

static void large_objects_stay_consistent(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *o = jsn_object(&a);

    (void)state;
    for (int i = 0; i < 2000; i++)
        jsn_set_int(&a, o, arena_printf(&a, "k%d", i), i);
    for (int i = 0; i < 2000; i += 3)
        assert_true(jsn_del(o, arena_printf(&a, "k%d", i)));
    for (int i = 0; i < 2000; i++)
        assert_int_equal(jsn_get_int(o, arena_printf(&a, "k%d", i), -1), i % 3 ? i : -1);
    assert_int_equal(jsn_len(o), 1333);
    for (int i = 0; i < 2000; i += 3)
        jsn_set_int(&a, o, arena_printf(&a, "k%d", i), i);
    for (int i = 0; i < 2000; i++)
        assert_int_equal(jsn_get_int(o, arena_printf(&a, "k%d", i), -1), i);
}

static bool is_even(const struct jsn_member *m, const void *context)
{
    (void)context;
    return m->value->i % 2 == 0;
}

static void members_are_kept_by_choice(void **state)
{
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    for (int n = 0; n < 200; n += 7) {
        struct jsn *o = jsn_object(&a);

        for (int i = 0; i < n; i++)
            jsn_set_int(&a, o, arena_printf(&a, "k%d", i), i);
        jsn_keep_members(o, is_even, NULL);
        assert_int_equal(jsn_len(o), (n + 1) / 2);
        for (int i = 0; i < n; i++)
            assert_int_equal(jsn_get_int(o, arena_printf(&a, "k%d", i), -1), i % 2 ? -1 : i);
    }
}

static void paths_read_and_write(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *o = jsn_object(&a);
    struct jsn *copy;

    (void)state;
    jsn_set_path(&a, o, "metadata.labels.app", jsn_string(&a, "x"));
    jsn_set_path(&a, o, "spec.replicas", jsn_int(&a, 3));
    assert_string_equal(jsn_get_str(o, "metadata.labels.app"), "x");
    assert_int_equal(jsn_get_int(o, "spec.replicas", 0), 3);
    assert_null(jsn_get_str(o, "spec.replicas"));
    assert_null(jsn_get(o, "spec.replicas.deeper"));
    copy = jsn_clone(&a, o);
    assert_true(jsn_equal(copy, o));
    assert_true(jsn_del_path(copy, "metadata.labels.app"));
    assert_false(jsn_equal(copy, o));
    assert_null(jsn_get_str(NULL, "a.b"));
}

static void arrays_insert_and_remove(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct jsn *v = jsn_array(&a);
    int sum = 0;

    (void)state;
    for (int i = 0; i < 5; i++)
        jsn_insert(&a, v, 0, jsn_int(&a, i));
    jsn_remove_at(v, 1);
    jsn_print(&b, v);
    assert_string_equal(buf_str(&b), "[4,2,1,0]");
    JSN_FOR_ITEMS (item, v)
        sum += (int)item->i;
    assert_int_equal(sum, 7);
}

static void equality_is_by_meaning(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *x;
    struct jsn *y;

    (void)state;
    assert_int_equal(jsn_parse(&a, STR("{\"a\":1,\"b\":[1.0]}"), NULL, &x, NULL), 0);
    assert_int_equal(jsn_parse(&a, STR("{\"b\":[1],\"a\":1.0}"), NULL, &y, NULL), 0);
    assert_true(jsn_equal(x, y));
    assert_false(jsn_equal(x, NULL));
    assert_true(jsn_equal(NULL, NULL));
}

static void pretty_text_is_indented(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct jsn *v;

    (void)state;
    assert_int_equal(jsn_parse(&a, STR("{\"a\":[1],\"b\":{}}"), NULL, &v, NULL), 0);
    jsn_print_pretty(&b, v);
    assert_string_equal(buf_str(&b), "{\n  \"a\": [\n    1\n  ],\n  \"b\": {}\n}");
}

/* What requests bring is of any type: changing it is no reason to end the process. */
static void what_has_the_wrong_type_is_left_as_it_is(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *values[] = {NULL,           jsn_null(&a),        jsn_bool(&a, true),
                            jsn_int(&a, 3), jsn_string(&a, "x"), jsn_real(&a, 1.5)};
    struct jsn *list = jsn_array(&a);
    struct jsn *object = jsn_object(&a);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        enum jsn_type type = values[i] ? values[i]->type : JSN_NULL;

        jsn_set_int(&a, values[i], "a", 1);
        jsn_put_member(&a, values[i], STR("a"), jsn_int(&a, 1));
        jsn_set_path(&a, values[i], "a.b.c", jsn_int(&a, 1));
        assert_true(jsn_is(jsn_ensure_object(&a, values[i], "a"), JSN_OBJECT));
        assert_false(jsn_del_path(values[i], "a.b"));
        jsn_append(&a, values[i], jsn_int(&a, 1));
        jsn_remove_at(values[i], 0);
        assert_true(!values[i] || values[i]->type == type);
    }
    jsn_set_int(&a, list, "a", 1);
    jsn_append(&a, object, jsn_int(&a, 1));
    jsn_insert(&a, list, 1, jsn_int(&a, 1));
    jsn_append(&a, list, NULL);
    jsn_set(&a, object, "a", NULL);
    assert_int_equal(jsn_len(list) + jsn_len(object), 0);
    assert_true(jsn_real(&a, __builtin_inf())->d == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_parses_and_prints_back),
        cmocka_unit_test(strings_are_read_alike_at_any_offset),
        cmocka_unit_test(depth_is_capped),
        cmocka_unit_test(duplicates_are_named_by_path),
        cmocka_unit_test(large_objects_stay_consistent),
        cmocka_unit_test(members_are_kept_by_choice),
        cmocka_unit_test(paths_read_and_write),
        cmocka_unit_test(arrays_insert_and_remove),
        cmocka_unit_test(equality_is_by_meaning),
        cmocka_unit_test(pretty_text_is_indented),
        cmocka_unit_test(what_has_the_wrong_type_is_left_as_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
