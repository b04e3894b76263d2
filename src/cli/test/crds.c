/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of `slurmkeeper crds`: what is printed and written, for which kinds. */
#include "src/cli/test/run.h"

#include "src/api/crds.h"
#include "src/base/file.h"

static size_t count(const char *text, const char *word)
{
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, word)); at++)
        n++;
    return n;
}

static void all_kinds_are_printed_or_those_that_are_named(void **state)
{
    AUTO(run_done) struct run all = run_of("crds");
    AUTO(run_done) struct run two = run_of("crds Partition nodesets");

    (void)state;
    assert_int_equal(all.status, 0);
    assert_int_equal(count(all.out, "kind: CustomResourceDefinition\n"), API_N_KINDS);
    assert_int_equal(two.status, 0);
    assert_int_equal(count(two.out, "kind: CustomResourceDefinition\n"), 2);
    assert_true(strstr(two.out, "partitions.slurmkeeper.dev") <
                strstr(two.out, "nodesets.slinky.slurm.net"));
}

static void an_unknown_kind_is_told_with_those_that_there_are(void **state)
{
    AUTO(run_done) struct run r = run_of("crds NodeSet Fleet");

    (void)state;
    assert_int_equal(r.status, 2);
    assert_string_equal(r.out, "");
    API_FOR_KINDS (k)
        assert_non_null(strstr(r.err, k->kind));
}

static void plain_definitions_have_no_rules(void **state)
{
    AUTO(run_done) struct run with = run_of("crds");
    AUTO(run_done) struct run without = run_of("crds --plain");

    (void)state;
    assert_true(count(with.out, "x-kubernetes-validations") > 0);
    assert_int_equal(count(without.out, "x-kubernetes-validations"), 0);
}

static void a_directory_gets_a_file_for_each_kind(void **state)
{
    char directory[] = "/tmp/crds-XXXXXX";
    AUTO(free) char *line = NULL;
    struct err e = {0};

    (void)state;
    assert_non_null(mkdtemp(directory));
    line = xasprintf("crds --directory %s", directory);
    for (int i = 0; i < 2; i++) {
        AUTO(run_done) struct run r = run_of(line);

        assert_int_equal(r.status, 0);
        assert_string_equal(r.out, "");
    }
    API_FOR_KINDS (k) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(buf_done) struct buf printed = {0};
        AUTO(free) char *kept = NULL;
        size_t n;

        api_print_crds(&printed, k, true);
        assert_int_equal(file_read(arena_printf(&a, "%s/%s", directory, api_crd_file(&a, k)),
                                   (size_t)1 << 20, &kept, &n, &e),
                         0);
        assert_string_equal(kept, buf_str(&printed));
    }
    assert_int_equal(file_remove_tree(directory, &e), 0);
}

static void a_directory_that_is_not_there_is_told(void **state)
{
    AUTO(run_done) struct run r = run_of("crds --directory /nowhere/at/all");

    (void)state;
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.err, "/nowhere/at/all"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_are_printed_or_those_that_are_named),
        cmocka_unit_test(an_unknown_kind_is_told_with_those_that_there_are),
        cmocka_unit_test(plain_definitions_have_no_rules),
        cmocka_unit_test(a_directory_gets_a_file_for_each_kind),
        cmocka_unit_test(a_directory_that_is_not_there_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
