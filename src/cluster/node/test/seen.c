/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of which store was seen. */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/node/pods/seen.h"

static void only_a_store_that_goes_on_tells_of_deletions(void **state)
{
    static const struct {
        const char *before;
        int64_t before_version;
        const char *now;
        int64_t now_version;
        enum seen_verdict expected;
    } cases[] = {
        {NULL, 0, "u/a/1", 5, SEEN_NEVER},    {"u/a/1", 5, "u/a/1", 5, SEEN_SAME},
        {"u/a/1", 5, "u/a/1", 9, SEEN_SAME},  {"u/a/1", 5, "u/a/1", 4, SEEN_OLDER},
        {"u/a/1", 5, "u/a/2", 9, SEEN_OTHER}, {"u/a/1", 5, "v/a/1", 9, SEEN_OTHER},
        {"u/", 5, "u/", 4, SEEN_OLDER},       {"u/", 5, "u/a/1", 9, SEEN_OTHER},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(seen_done)
        struct seen before = {xstrdup_null(cases[i].before), cases[i].before_version};
        AUTO(seen_done) struct seen now = {xstrdup(cases[i].now), cases[i].now_version};

        assert_int_equal(seen_judge(&before, &now), cases[i].expected);
        assert_true(strlen(seen_text(cases[i].expected)) > 10);
    }
}

static void the_name_of_a_store_is_that_of_kube_system_with_its_epoch(void **state)
{
    static const char *const cases[][2] = {
        {"{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[{\"metadata\":{\"uid\":\"u\","
         "\"annotations\":{\"slurmkeeper.dev/store\":\"a/1\"}}}]}",
         "u/a/1"},
        {"{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[{\"metadata\":{\"uid\":\"u\"}}]}",
         "u/"},
        {"{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}", NULL},
        {"{\"items\":[{\"metadata\":{\"uid\":\"u\"}}]}", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(seen_done) struct seen s = {0};
        struct err e = {0};
        struct jsn *v;

        assert_int_equal(jsn_parse(&a, str_of(cases[i][0]), NULL, &v, &e), 0);
        assert_int_equal(seen_of_namespaces(v, &s, &e), cases[i][1] ? 0 : -ENOENT);
        if (cases[i][1])
            assert_string_equal(s.store, cases[i][1]);
    }
}

static void what_was_seen_is_kept_and_a_damaged_note_is_none(void **state)
{
    char path[] = "/tmp/seen-test-XXXXXX";
    AUTO(close) int fd = mkstemp(path);
    AUTO(seen_done) struct seen s = {xstrdup("u/a/1"), 42};
    AUTO(seen_done) struct seen t = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(seen_save(path, &s, &e), 0);
    seen_load(path, &t);
    assert_int_equal(seen_judge(&s, &t), SEEN_SAME);
    assert_int_equal(t.version, 42);
    seen_done(&t);
    assert_int_equal(file_write(path, STR("{\"store\":"), 0600, &e), 0);
    seen_load(path, &t);
    assert_int_equal(seen_judge(&t, &s), SEEN_NEVER);
    (void)unlink(path);
    seen_load(path, &t);
    assert_null(t.store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_store_that_goes_on_tells_of_deletions),
        cmocka_unit_test(the_name_of_a_store_is_that_of_kube_system_with_its_epoch),
        cmocka_unit_test(what_was_seen_is_kept_and_a_damaged_note_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
