/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of paths. */
#include "src/base/test/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/alloc.h"
#include "src/base/arena.h"
#include "src/base/file.h"
#include "src/base/path.h"

static void what_lies_in_a_directory(void **state)
{
    static const struct {
        const char *path;
        const char *dir;
        bool in;
        bool below;
    } cases[] = {
        {"/a/b", "/a", true, true},   {"/a", "/a", true, false},   {"/a/", "/a", true, false},
        {"/a//b", "/a/", true, true}, {"/ab", "/a", false, false}, {"/", "/a", false, false},
        {"/a", "/", true, true},      {"/", "/", true, false},     {"/b/a", "/a", false, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(path_is_in(cases[i].path, cases[i].dir), cases[i].in);
        assert_int_equal(path_is_below(cases[i].path, cases[i].dir), cases[i].below);
    }
}

/* share/ may be written by others; out/ may not. */
static void make_tree(struct arena *a, const char *top)
{
    static const char *const links[][2] = {
        {"share/real", "out/into"},
        {"../share/real", "out/into-by-dots"},
        {"/opt", "share/leaves"},
        {"share/leaves", "out/through"},
        {"out", "alias"},
        {"share", "share-link"},
        {"share/real/deep", "out/deeper"},
        {"loop", "out/loop"},
        {"share/missing", "out/dangling"},
    };

    assert_int_equal(file_make_dirs(arena_printf(a, "%s/share/real/deep", top), 0755, NULL), 0);
    assert_int_equal(file_make_dirs(arena_printf(a, "%s/out/plain", top), 0755, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(links); i++) {
        const char *to = links[i][0];

        if (to[0] == 's')
            to = arena_printf(a, "%s/%s", top, to);
        assert_int_equal(symlink(to, arena_printf(a, "%s/%s", top, links[i][1])), 0);
    }
}

static void what_a_path_leads_through(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    char made[] = "/tmp/sk-path-XXXXXX";
    static const struct {
        const char *path;
        bool enters;
    } cases[] = {
        {"out/plain", false},    {"out/into", true},          {"out/into-by-dots", true},
        {"out/through", true},   {"alias/plain", false},      {"alias/into/deep", true},
        {"share-link", false},   {"share-link/real", true},   {"share/real", false},
        {"share/leaves", false}, {"out/deeper", true},        {"out/loop", true},
        {"out/none", false},     {"share-link/leaves", true}, {"out/dangling", true},
    };

    (void)state;
    assert_non_null(mkdtemp(made));
    make_tree(&a, made);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (path_enters(arena_printf(&a, "%s/%s", made, cases[i].path),
                        arena_printf(&a, "%s/share", made)) != cases[i].enters)
            fail_msg("%s", cases[i].path);
    assert_int_equal(file_remove_tree(made, NULL), 0);
}

static void the_real_path_of_what_is_not_there(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    char made[] = "/tmp/sk-path-XXXXXX";
    AUTO(free) char *there = NULL;
    AUTO(free) char *later = NULL;

    (void)state;
    assert_non_null(mkdtemp(made));
    make_tree(&a, made);
    there = path_real(arena_printf(&a, "%s/out/into", made));
    later = path_real(arena_printf(&a, "%s/out/into/x/y", made));
    assert_string_equal(there, arena_printf(&a, "%s/share/real", made));
    assert_string_equal(later, arena_printf(&a, "%s/share/real/x/y", made));
    assert_int_equal(file_remove_tree(made, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lies_in_a_directory),
        cmocka_unit_test(what_a_path_leads_through),
        cmocka_unit_test(the_real_path_of_what_is_not_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
