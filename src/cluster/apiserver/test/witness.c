/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of second marks: whose they are, and when they go. */
#include "src/base/test/unit.h"

#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/cluster/apiserver/witness.h"

#define DAY_S 86400

struct fixture {
    char dir[32];
    char *witnesses;
    char *state;
};

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));

    (void)snprintf(f->dir, sizeof(f->dir), "/tmp/sk-witness-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->witnesses = xasprintf("%s/run", f->dir);
    f->state = xasprintf("%s/state", f->dir);
    assert_int_equal(mkdir(f->state, 0700), 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    (void)!file_remove_tree(f->dir, NULL);
    free(f->witnesses);
    free(f->state);
    free(f);
    return 0;
}

/* A mark as mark.c leaves it. */
static char *make_mark(const struct fixture *f)
{
    char *mark = witness_place(f->witnesses, f->state);
    struct err e = {0};

    assert_non_null(mark);
    assert_int_equal(file_write(mark, STR("x"), 0600, &e), 0);
    return mark;
}

static int64_t now_s(void)
{
    return clock_wall_us() / 1000000;
}

static void a_directory_has_one_place(void **state)
{
    struct fixture *f = *state;
    AUTO(free) char *mark = make_mark(f);
    AUTO(free) char *same = witness_place(f->witnesses, f->state);
    AUTO(free) char *none = xasprintf("%s/none", f->dir);
    struct stat st;

    assert_string_equal(mark, same);
    assert_null(witness_place(f->witnesses, none));
    assert_int_equal(stat(f->witnesses, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

static void the_mark_of_a_directory_that_is_there_stays(void **state)
{
    struct fixture *f = *state;
    AUTO(free) char *mark = make_mark(f);

    witness_sweep(f->witnesses, now_s() + 100 * DAY_S);
    assert_true(file_exists(mark));
}

static void the_mark_of_a_removed_directory_goes_after_a_day(void **state)
{
    struct fixture *f = *state;
    AUTO(free) char *mark = make_mark(f);

    assert_int_equal(rmdir(f->state), 0);
    witness_sweep(f->witnesses, now_s() + DAY_S / 2);
    assert_true(file_exists(mark));
    witness_sweep(f->witnesses, now_s() + 2 * DAY_S);
    assert_false(file_exists(mark));
    assert_int_equal(rmdir(f->witnesses), 0); /* the link has gone, too */
}

static void a_directory_that_cannot_be_reached_keeps_its_mark(void **state)
{
    struct fixture *f = *state;
    AUTO(free) char *mark = make_mark(f);

    /* ELOOP is not "it is gone" */
    assert_int_equal(rmdir(f->state), 0);
    assert_int_equal(symlink(f->state, f->state), 0);
    witness_sweep(f->witnesses, now_s() + 2 * DAY_S);
    assert_true(file_exists(mark));
}

static void a_purge_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    AUTO(free) char *mark = make_mark(f);

    witness_forget(f->witnesses, f->state);
    assert_false(file_exists(mark));
    assert_int_equal(rmdir(f->witnesses), 0);
}

static void marks_without_a_directory_are_left_alone(void **state)
{
    struct fixture *f = *state;
    AUTO(free) char *mark = make_mark(f);
    AUTO(free) char *older = xasprintf("%s/0123456789abcdef.mark", f->witnesses);
    struct err e = {0};

    assert_int_equal(file_write(older, STR("x"), 0600, &e), 0);
    witness_sweep(f->witnesses, now_s() + 2 * DAY_S);
    assert_true(file_exists(older));
    assert_true(file_exists(mark));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_directory_has_one_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_mark_of_a_directory_that_is_there_stays, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_mark_of_a_removed_directory_goes_after_a_day, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_directory_that_cannot_be_reached_keeps_its_mark, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_purge_leaves_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(marks_without_a_directory_are_left_alone, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests_name("witness", tests, NULL, NULL);
}
