/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of a restored store in another place: what is taken out, and what moves along. */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cli/restore_adapt.h"
#include "src/json/jsn.h"

struct fixture {
    char dir[32];
    char *path;
    struct arena arena;
    struct store *store;
};

static const struct {
    struct store_key key;
    const char *data;
} rows[] = {
    {{"pods", "d", "bound"}, "{\"spec\":{\"nodeName\":\"one\"}}"},
    {{"pods", "d", "waiting"}, "{\"spec\":{}}"},
    {{"nodes", "", "one"}, "{}"},
    {{"persistentvolumes", "", "ours"},
     "{\"spec\":{\"hostPath\":{\"path\":\"/a/node/claims/x\"}}}"},
    {{"persistentvolumes", "", "theirs"}, "{\"spec\":{\"hostPath\":{\"path\":\"/data\"}}}"},
    {{"configmaps", "d", "m"}, "{\"data\":{\"path\":\"/a/node/claims/x\"}}"},
};

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    struct store_options o = {0};
    struct err e = {0};

    (void)snprintf(f->dir, sizeof(f->dir), "/tmp/sk-adapt-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->path = xasprintf("%s/api.db", f->dir);
    o.path = f->path;
    if (store_open(&o, &f->store, &e) < 0)
        fail_msg("%s", e.text);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(store_put(f->store, &rows[i].key, 0, str_of(rows[i].data), NULL, &e), 0);
    assert_int_equal(store_commit(f->store, &e), 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    (void)store_free(f->store);
    arena_done(&f->arena);
    (void)!file_remove_tree(f->dir, NULL);
    free(f->path);
    free(f);
    return 0;
}

/* The text of a row; "" if there is none. */
static const char *text_of(struct fixture *f, size_t i)
{
    struct store_row row;
    struct err e = {0};
    int r = store_get(f->store, &rows[i].key, &f->arena, &row, &e);

    return r == -ENOENT ? "" : arena_str(&f->arena, row.data);
}

static void expect(struct fixture *f, const struct restore_site *to, size_t dropped, size_t moved)
{
    static const struct restore_site from = {"one", "/a"};
    struct err e = {0};
    size_t n_dropped;
    size_t n_moved;

    assert_int_equal(restore_adapt(f->store, &from, to, &n_dropped, &n_moved, &e), 0);
    assert_int_equal(n_dropped, dropped);
    assert_int_equal(n_moved, moved);
    assert_string_equal(text_of(f, 1), rows[1].data);
    assert_string_equal(text_of(f, 4), rows[4].data);
    assert_string_equal(text_of(f, 5), rows[5].data);
}

static void where_it_was_made_everything_stays(void **state)
{
    struct fixture *f = *state;

    expect(f, &(struct restore_site){"one", "/a"}, 0, 0);
    assert_string_equal(text_of(f, 0), rows[0].data);
    assert_string_equal(text_of(f, 3), rows[3].data);
}

static void on_another_machine_no_pod_of_the_old_one_runs(void **state)
{
    struct fixture *f = *state;

    expect(f, &(struct restore_site){"two", "/a"}, 2, 0);
    assert_string_equal(text_of(f, 0), "");
    assert_string_equal(text_of(f, 2), "");
    assert_string_equal(text_of(f, 3), rows[3].data);
}

static void in_another_directory_volumes_of_claims_move_along(void **state)
{
    struct fixture *f = *state;

    expect(f, &(struct restore_site){"one", "/var/lib/b"}, 1, 1);
    assert_string_equal(text_of(f, 0), "");
    assert_string_equal(text_of(f, 2), rows[2].data);
    assert_non_null(strstr(text_of(f, 3), "\"path\":\"/var/lib/b/node/claims/x\""));
    assert_non_null(strstr(text_of(f, 3), "\"resourceVersion\":\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(where_it_was_made_everything_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(on_another_machine_no_pod_of_the_old_one_runs, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(in_another_directory_volumes_of_claims_move_along, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests_name("restore_adapt", tests, NULL, NULL);
}
