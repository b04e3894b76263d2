/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what lies in shared directories. */
#include "src/cluster/node/test/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/file.h"
#include "src/base/texts.h"
#include "src/cluster/node/runtime/shares.h"

static void a_share_in_another_is_seen_through_that(void **state)
{
    const char *const list[] = {"/home/a/work", "/home/",  "/homes", "/srv",
                                "/home",        "/srv//x", NULL};
    char **outer = shares_outer(list);

    (void)state;
    assert_string_equal(outer[0], "/home/");
    assert_string_equal(outer[1], "/homes");
    assert_string_equal(outer[2], "/srv");
    assert_string_equal(outer[3], "/home");
    assert_null(outer[4]);
    (void)texts_free(outer);
    outer = shares_outer(NULL);
    assert_null(outer[0]);
    (void)texts_free(outer);
}

static void the_outermost_share_above_a_path_is_found(void **state)
{
    char *shares[] = {(char[]){"/srv/data/in"}, (char[]){"/srv/data/"}, (char[]){"/x"}, NULL};
    static const struct {
        const char *path;
        size_t n;
    } cases[] = {
        {"/srv/data/in/a", 9}, {"/srv/data/in", 9}, {"/srv/data//in", 9},
        {"/srv/data", 0},      {"/srv/data/", 0},   {"/srv/data2/a", 0},
        {"/srv", 0},           {"/x/y", 2},         {"/", 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(shares_above(shares, cases[i].path), cases[i].n);
    assert_int_equal(shares_above(NULL, "/x/y"), 0);
}

static void a_share_that_is_a_link_is_known_by_its_end(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    char dir[] = "/tmp/sk-shares-XXXXXX";
    char *shares[] = {NULL, NULL};
    const char *real;

    (void)state;
    assert_non_null(mkdtemp(dir));
    real = arena_printf(&a, "%s/real", dir);
    assert_int_equal(file_make_dirs(real, 0755, NULL), 0);
    shares[0] = arena_printf(&a, "%s/link", dir);
    assert_int_equal(symlink("real", shares[0]), 0);
    assert_int_equal(shares_above(shares, arena_printf(&a, "%s/x", shares[0])), strlen(shares[0]));
    assert_int_equal(shares_above(shares, arena_printf(&a, "%s/x", real)), strlen(real));
    assert_int_equal(file_remove_tree(dir, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_in_another_is_seen_through_that),
        cmocka_unit_test(the_outermost_share_above_a_path_is_found),
        cmocka_unit_test(a_share_that_is_a_link_is_known_by_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
