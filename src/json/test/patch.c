/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of JSON merge patch and JSON patch. */
#include "src/base/test/unit.h"

#include "src/json/patch_json.h"
#include "src/json/patch_merge.h"

static struct jsn *parse(struct arena *a, const char *text)
{
    struct jsn *v;

    assert_int_equal(jsn_parse(a, str_of(text), NULL, &v, NULL), 0);
    return v;
}

static const char *text_of(struct arena *a, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    jsn_print(&b, v);
    return arena_str(a, buf_view(&b));
}

static void merge_patch_follows_the_rfc(void **state)
{
    static const char *const cases[][3] = {
        {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
        {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
        {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
        {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
        {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
        {"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
        {"{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"},
        {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
        {"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
        {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
        {"{\"z\":1,\"y\":2}", "{\"y\":3,\"x\":4}", "{\"z\":1,\"y\":3,\"x\":4}"},
        /* Further than the RFC: nulls inside new lists of objects go away, null items stay. */
        {"{}", "{\"l\":[{\"a\":null,\"b\":1},null]}", "{\"l\":[{\"b\":1},null]}"},
        {"{\"l\":{}}", "{\"l\":[{\"a\":null}]}", "{\"l\":[{\"a\":null}]}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *target = parse(&a, cases[i][0]);
        struct jsn *patch = parse(&a, cases[i][1]);

        assert_string_equal(text_of(&a, patch_merge(&a, target, patch)), cases[i][2]);
        assert_string_equal(text_of(&a, target), cases[i][0]);
        assert_string_equal(text_of(&a, patch), cases[i][1]);
    }
}

static void many_nulls_are_removed_in_linear_time(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *target = jsn_object(&a);
    struct jsn *patch = jsn_object(&a);

    (void)state;
    for (int i = 0; i < 100000; i++) {
        jsn_set_int(&a, target, arena_printf(&a, "k%d", i), i);
        jsn_set(&a, patch, arena_printf(&a, "k%d", i), jsn_null(&a));
    }
    assert_int_equal(jsn_len(patch_merge(&a, target, patch)), 0);
    assert_true(a.total_bytes < (size_t)100 << 20);
}

#define MISSING(op, name, path)                                                                    \
    op " operation does not apply: doc is missing " name ": \"" path "\": missing value"

static void json_patch_applies_its_operations(void **state)
{
    static const char *const cases[][3] = {
        {"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/b\",\"value\":[1]}]", "{\"a\":1,\"b\":[1]}"},
        {"{\"l\":[1,3]}", "[{\"op\":\"add\",\"path\":\"/l/1\",\"value\":2}]", "{\"l\":[1,2,3]}"},
        {"{\"l\":[1]}", "[{\"op\":\"add\",\"path\":\"/l/-\",\"value\":2}]", "{\"l\":[1,2]}"},
        {"{\"l\":[1]}", "[{\"op\":\"add\",\"path\":\"/l/1\",\"value\":2}]", "{\"l\":[1,2]}"},
        {"{\"l\":[1]}", "[{\"op\":\"add\",\"path\":\"/l/-1\",\"value\":2}]", "{\"l\":[1,2]}"},
        {"{\"a\":1,\"b\":2}", "[{\"op\":\"remove\",\"path\":\"/a\"}]", "{\"b\":2}"},
        {"{\"l\":[1,2]}", "[{\"op\":\"remove\",\"path\":\"/l/-1\"}]", "{\"l\":[1]}"},
        {"{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":2}]", "{\"a\":2}"},
        {"{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"/b\",\"value\":2}]", "{\"a\":1,\"b\":2}"},
        {"{\"l\":[1,2]}", "[{\"op\":\"replace\",\"path\":\"/l/1\",\"value\":5}]", "{\"l\":[1,5]}"},
        {"{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":{\"z\":1}}]", "{\"z\":1}"},
        {"{\"a\":{\"b\":1},\"c\":{}}", "[{\"op\":\"move\",\"from\":\"/a/b\",\"path\":\"/c/d\"}]",
         "{\"a\":{},\"c\":{\"d\":1}}"},
        {"{\"a\":{\"b\":1}}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/c\"}]",
         "{\"a\":{\"b\":1},\"c\":{\"b\":1}}"},
        {"{\"a/b\":{\"~x\":1}}", "[{\"op\":\"replace\",\"path\":\"/a~1b/~0x\",\"value\":2}]",
         "{\"a/b\":{\"~x\":2}}"},
        {"{\"\":1}", "[{\"op\":\"remove\",\"path\":\"/\"}]", "{}"},
        {"{\"a\":{\"b\":[1]}}",
         "[{\"op\":\"test\",\"path\":\"/a\",\"value\":{\"b\":[1.0]}},"
         "{\"op\":\"test\",\"path\":\"/nope\",\"value\":null},"
         "{\"op\":\"test\",\"path\":\"\",\"value\":{\"a\":{\"b\":[1]}}}]",
         "{\"a\":{\"b\":[1]}}"},
        {"{\"a\":1}", "[]", "{\"a\":1}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *target = parse(&a, cases[i][0]);
        struct err e = {0};
        struct jsn *v;

        assert_int_equal(patch_json(&a, target, parse(&a, cases[i][1]), &v, &e), 0);
        assert_string_equal(text_of(&a, v), cases[i][2]);
        assert_string_equal(text_of(&a, target), cases[i][0]);
    }
}

static void json_patch_says_what_is_wrong(void **state)
{
    static const struct {
        const char *patch;
        int num;
        const char *text;
    } cases[] = {
        {"{}", -EINVAL, "a JSON patch is a list of operations, not an object"},
        {"[1]", -EINVAL, "an operation of a JSON patch is an object, not integer"},
        {"[{}]", -EINVAL, "Unexpected kind: unknown"},
        {"[{\"op\":\"frob\",\"path\":\"/a\"}]", -EINVAL, "Unexpected kind: frob"},
        {"[{\"op\":\"remove\"}]", -EINVAL,
         "remove operation failed to decode path: operation missing path field"},
        {"[{\"op\":\"copy\",\"path\":\"/x\"}]", -EINVAL,
         "copy operation failed to decode from: operation missing from field"},
        {"[{\"op\":\"add\",\"path\":\"/x\"}]", -EINVAL,
         "add operation failed to decode value: operation missing value field"},
        {"[{\"op\":\"add\",\"path\":\"/x/y\",\"value\":1}]", -ECANCELED,
         MISSING("add", "path", "/x/y")},
        {"[{\"op\":\"add\",\"path\":\"/a/y\",\"value\":1}]", -ECANCELED,
         MISSING("add", "path", "/a/y")},
        {"[{\"op\":\"add\",\"path\":\"a\",\"value\":1}]", -ECANCELED, MISSING("add", "path", "a")},
        {"[{\"op\":\"add\",\"path\":\"\",\"value\":1}]", -ECANCELED, MISSING("add", "path", "")},
        {"[{\"op\":\"add\",\"path\":\"/l/3\",\"value\":1}]", -ECANCELED,
         "error in add for path: '/l/3': Unable to access invalid index: 3: invalid index "
         "referenced"},
        {"[{\"op\":\"remove\",\"path\":\"/x\"}]", -ECANCELED,
         "error in remove for path: '/x': Unable to remove nonexistent key: x: missing value"},
        {"[{\"op\":\"remove\",\"path\":\"/l/x\"}]", -ECANCELED,
         "error in remove for path: '/l/x': Unable to access invalid index: x: invalid index "
         "referenced"},
        {"[{\"op\":\"replace\",\"path\":\"/l/2\",\"value\":1}]", -ECANCELED,
         "replace operation does not apply: doc is missing key: /l/2: missing value"},
        {"[{\"op\":\"replace\",\"path\":\"\",\"value\":1}]", -ECANCELED,
         "replace operation value must be object or array"},
        {"[{\"op\":\"move\",\"from\":\"/o\",\"path\":\"/o/p/q\"}]", -ECANCELED,
         MISSING("move", "path", "/o/p/q")},
        {"[{\"op\":\"test\",\"path\":\"/a\",\"value\":2}]", -ECANCELED,
         "testing value /a failed: test failed"},
        {"[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"test\",\"path\":\"/a\",\"value\":1}]",
         -ECANCELED, "testing value /a failed: test failed"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *target = parse(&a, "{\"a\":1,\"l\":[1,2],\"o\":{\"p\":{}}}");
        struct err e = {0};
        struct jsn *v = NULL;

        assert_int_equal(patch_json(&a, target, parse(&a, cases[i].patch), &v, &e), cases[i].num);
        assert_string_equal(e.text, cases[i].text);
        assert_null(v);
    }
}

static void json_patch_is_bounded(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *target = parse(&a, "{\"a\":\"0123456789\"}");
    struct jsn *patch = jsn_array(&a);
    struct err e = {0};
    struct jsn *v;

    (void)state;
    for (int i = 0; i < 40; i++)
        jsn_append(&a, patch, parse(&a, "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}"));
    for (int i = 0; i < 40; i++) /* doubles each time */
        jsn_append(&a, patch,
                   parse(&a, i % 2 ? "{\"op\":\"move\",\"from\":\"/x\",\"path\":\"/a\"}"
                                   : "{\"op\":\"add\",\"path\":\"/x\",\"value\":{}}"));
    assert_int_equal(patch_json(&a, target, patch, &v, &e), 0);

    patch = jsn_array(&a);
    jsn_append(&a, patch, parse(&a, "{\"op\":\"add\",\"path\":\"/l\",\"value\":[1]}"));
    for (int i = 0; i < 60; i++)
        jsn_append(&a, patch, parse(&a, "{\"op\":\"copy\",\"from\":\"/l\",\"path\":\"/l/-\"}"));
    assert_int_equal(patch_json(&a, target, patch, &v, &e), -E2BIG);
    assert_non_null(strstr(e.text, "exceeding the limit 3145728"));

    patch = jsn_array(&a);
    for (int i = 0; i <= PATCH_JSON_MAX_OPERATIONS; i++)
        jsn_append(&a, patch, jsn_object(&a));
    assert_int_equal(patch_json(&a, target, patch, &v, &e), -E2BIG);
    assert_string_equal(e.text,
                        "The allowed maximum operations in a JSON patch is 10000, got 10001");
}

static void json_patch_cannot_dig_deeper_than_can_be_read(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf path = {0};
    struct jsn *patch = jsn_array(&a);
    struct err e = {0};
    struct jsn *v;

    (void)state;
    for (int i = 0; i < JSN_MAX_DEPTH; i++) {
        struct jsn *op = parse(&a, "{\"op\":\"add\",\"value\":{}}");

        if (i == JSN_MAX_DEPTH - 1)
            assert_int_equal(patch_json(&a, jsn_object(&a), patch, &v, &e), 0);
        buf_adds(&path, "/a");
        jsn_set_str(&a, op, "path", buf_str(&path));
        jsn_append(&a, patch, op);
    }
    assert_int_equal(patch_json(&a, jsn_object(&a), patch, &v, &e), -E2BIG);
    assert_string_equal(e.text, "the patch nests values deeper than 512 levels");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merge_patch_follows_the_rfc),
        cmocka_unit_test(many_nulls_are_removed_in_linear_time),
        cmocka_unit_test(json_patch_applies_its_operations),
        cmocka_unit_test(json_patch_says_what_is_wrong),
        cmocka_unit_test(json_patch_is_bounded),
        cmocka_unit_test(json_patch_cannot_dig_deeper_than_can_be_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
