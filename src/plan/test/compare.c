/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the comparison of observed and desired objects. */
#include "src/base/test/unit.h"

#include "src/plan/compare.h"

static struct jsn *parse(struct arena *a, const char *text)
{
    struct jsn *v = NULL;
    struct err e = {0};

    if (!text)
        return NULL;
    assert_int_equal(jsn_parse(a, str_of(text), NULL, &v, &e), 0);
    return v;
}

static void covers_asks_only_for_what_is_wanted(void **state)
{
    static const struct {
        const char *observed;
        const char *desired;
        bool covered;
    } rows[] = {
        {"{\"a\":1,\"b\":2}", "{\"a\":1}", true},
        {"{\"b\":2}", "{\"a\":1}", false},
        {"{\"a\":{\"x\":1,\"y\":2}}", "{\"a\":{\"x\":1}}", true},
        {"{\"a\":[{\"x\":1,\"d\":0}]}", "{\"a\":[{\"x\":1}]}", true},
        {"{\"a\":[{\"x\":1},{\"x\":2}]}", "{\"a\":[{\"x\":1}]}", false},
        {"{\"a\":[2,1]}", "{\"a\":[1,2]}", false},
        {"{}", "{\"a\":{}}", true},
        {"{}", "{\"a\":null}", true},
        {"{}", "{\"a\":false}", true},
        {"{}", "{\"a\":true}", false},
        {"{\"a\":\"x\"}", "{\"a\":\"\"}", false},
        {"{\"cpu\":\"1\"}", "{\"cpu\":\"1000m\"}", true},
        {"{\"cpu\":\"1\"}", "{\"cpu\":1}", true},
        {"{\"memory\":\"2Gi\"}", "{\"memory\":\"2048Mi\"}", true},
        {"{\"memory\":\"2Gi\"}", "{\"memory\":\"2G\"}", false},
        {NULL, NULL, true},
        {NULL, "{\"a\":1}", false},
        {"{\"a\":1}", NULL, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(arena_done) struct arena a = {0};

        assert_int_equal(compare_covers(parse(&a, rows[i].observed), parse(&a, rows[i].desired)),
                         rows[i].covered);
    }
}

static void a_patch_makes_the_one_of_the_other(void **state)
{
    static const struct {
        const char *observed;
        const char *desired;
        const char *patch;
    } rows[] = {
        {"{\"a\":1}", "{\"a\":1}", NULL},
        {"{\"a\":1}", "{\"a\":2}", "{\"a\":2}"},
        {"{\"a\":1,\"b\":2}", "{\"a\":1}", "{\"b\":null}"},
        {"{\"a\":{\"x\":1,\"y\":1}}", "{\"a\":{\"x\":2}}", "{\"a\":{\"x\":2,\"y\":null}}"},
        {"{\"a\":[1,2]}", "{\"a\":[1]}", "{\"a\":[1]}"},
        {NULL, "{\"a\":1}", "{\"a\":1}"},
        {"{\"a\":1}", NULL, "null"},
        {"{}", NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(buf_done) struct buf b = {0};
        struct jsn *patch =
            compare_patch(&a, parse(&a, rows[i].observed), parse(&a, rows[i].desired));

        if (!rows[i].patch) {
            assert_null(patch);
            continue;
        }
        jsn_print(&b, patch);
        assert_string_equal(buf_str(&b), rows[i].patch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(covers_asks_only_for_what_is_wanted),
        cmocka_unit_test(a_patch_makes_the_one_of_the_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
