/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the store: versions, snapshots, changes, durability, corruption. */
#include "src/base/test/unit.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/buf.h"
#include "src/base/file.h"
#include "src/cluster/apiserver/store.h"

struct fixture {
    char dir[32];
    char path[64];
    char mark[64];
    char witness[64];
    struct store_options options;
    struct store *store;
    struct arena arena;
    struct buf seen; /* events and rows, as text */
};

static void note_event(void *arg, const struct store_event *ev)
{
    static const char *const names[] = {"added", "modified", "deleted"};
    struct fixture *f = arg;

    buf_printf(&f->seen, "%s %s@%lld;", names[ev->change], ev->row.key.name, (long long)ev->row.rv);
}

static bool note_change(void *arg, const struct store_event *ev)
{
    note_event(arg, ev);
    return true;
}

static bool note_one_change(void *arg, const struct store_event *ev)
{
    note_event(arg, ev);
    return false;
}

static bool note_row(void *arg, const struct store_row *row)
{
    struct fixture *f = arg;

    buf_printf(&f->seen, "%s/%s=" STR_FMT ";", row->key.ns, row->key.name, STR_ARG(row->data));
    return true;
}

static void open_store(struct fixture *f)
{
    struct err e = {0};

    assert_int_equal(store_open(&f->options, &f->store, &e), 0);
    store_on_commit(f->store, note_event, f);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    (void)snprintf(f->dir, sizeof(f->dir), "/tmp/store-test-XXXXXX");
    if (!mkdtemp(f->dir))
        return -1;
    (void)snprintf(f->path, sizeof(f->path), "%s/db", f->dir);
    (void)snprintf(f->mark, sizeof(f->mark), "%s/mark", f->dir);
    (void)snprintf(f->witness, sizeof(f->witness), "%s/witness", f->dir);
    f->options = (struct store_options){.path = f->path, .mark = f->mark};
    open_store(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    (void)store_free(f->store);
    arena_done(&f->arena);
    buf_done(&f->seen);
    (void)!file_remove_tree(f->dir, NULL);
    free(f);
    return 0;
}

static void put(struct fixture *f, const char *ns, const char *name, const char *data)
{
    struct store_key k = {"pods", ns, name};
    struct err e = {0};

    assert_int_equal(store_put(f->store, &k, 0, str_of(data), NULL, &e), 0);
}

static void drop(struct fixture *f, const char *ns, const char *name)
{
    struct store_key k = {"pods", ns, name};

    assert_int_equal(store_delete(f->store, &k, STR("{\"gone\":1}"), NULL), 0);
}

static void commit(struct fixture *f)
{
    struct err e = {0};

    assert_int_equal(store_commit(f->store, &e), 0);
}

static void expect_list(struct fixture *f, const struct store_list *l, const char *text)
{
    struct err e = {0};

    buf_clear(&f->seen);
    assert_int_equal(store_each(f->store, l, note_row, f, &e), 0);
    assert_string_equal(buf_str(&f->seen), text);
}

static void events_come_only_after_the_commit(void **state)
{
    struct fixture *f = *state;

    put(f, "a", "x", "{}");
    put(f, "a", "x", "{\"v\":2}");
    drop(f, "a", "x");
    assert_string_equal(buf_str(&f->seen), "");
    assert_true(store_dirty(f->store));
    commit(f);
    assert_string_equal(buf_str(&f->seen), "added x@1;modified x@2;deleted x@3;");
    assert_false(store_dirty(f->store));
}

static void writes_that_wait_for_the_commit_can_be_visited(void **state)
{
    struct fixture *f = *state;

    put(f, "a", "old", "0");
    commit(f);
    put(f, "a", "one", "1");
    put(f, "a", "old", "2");
    put(f, "b", "two", "3");
    drop(f, "b", "two");
    buf_clear(&f->seen);
    store_each_pending(f->store, "pods", note_row, f);
    store_each_pending(f->store, "services", note_row, f);
    assert_string_equal(buf_str(&f->seen), "a/one=1;a/old=2;b/two=3;");
    commit(f);
    buf_clear(&f->seen);
    store_each_pending(f->store, "pods", note_row, f);
    assert_string_equal(buf_str(&f->seen), "");
}

static void what_was_committed_is_there_after_reopening(void **state)
{
    struct fixture *f = *state;
    struct store_key k = {"pods", "a", "x"};
    struct store_row row;

    put(f, "a", "x", "{\"v\":1}");
    commit(f);
    put(f, "a", "x", "{\"v\":2}");
    f->store = store_free(f->store);
    open_store(f);
    assert_int_equal(store_version(f->store), 1);
    assert_int_equal(store_get(f->store, &k, &f->arena, &row, NULL), 0);
    assert_true(str_eqz(row.data, "{\"v\":1}"));
    put(f, "a", "y", "{}");
    assert_int_equal(store_version(f->store), 2);
}

static void lists_are_in_key_order_and_by_namespace(void **state)
{
    struct fixture *f = *state;

    put(f, "b", "x", "{}");
    put(f, "a", "y", "{}");
    put(f, "a", "x", "{}");
    expect_list(f, &(struct store_list){.resource = "pods"}, "a/x={};a/y={};b/x={};");
    expect_list(f, &(struct store_list){.resource = "pods", .ns = "a"}, "a/x={};a/y={};");
    expect_list(f, &(struct store_list){.resource = "pods", .after_ns = "a", .after_name = "x"},
                "a/y={};b/x={};");
    expect_list(f, &(struct store_list){.resource = "nodes"}, "");
}

static void the_past_can_be_listed_until_compacted(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};

    put(f, "a", "x", "{\"v\":1}");
    put(f, "a", "y", "{}");
    put(f, "a", "x", "{\"v\":2}");
    drop(f, "a", "y");
    commit(f);
    expect_list(f, &(struct store_list){.resource = "pods", .at_version = 2},
                "a/x={\"v\":1};a/y={};");
    expect_list(f, &(struct store_list){.resource = "pods", .at_version = 3},
                "a/x={\"v\":2};a/y={};");
    expect_list(f, &(struct store_list){.resource = "pods"}, "a/x={\"v\":2};");
    assert_int_equal(store_compact(f->store, 3, &e), 0);
    commit(f);
    expect_list(f, &(struct store_list){.resource = "pods", .at_version = 3},
                "a/x={\"v\":2};a/y={};");
    assert_int_equal(store_each(f->store, &(struct store_list){.resource = "pods", .at_version = 2},
                                note_row, f, &e),
                     -ESTALE);
}

static void changes_come_in_order_behind_a_version(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};

    put(f, "a", "x", "{}");
    put(f, "a", "y", "{}");
    put(f, "a", "x", "{\"v\":2}");
    drop(f, "a", "y");
    commit(f);
    buf_clear(&f->seen);
    assert_int_equal(store_changes(f->store, "pods", 1, note_change, f, &e), 0);
    assert_string_equal(buf_str(&f->seen), "added y@2;modified x@3;deleted y@4;");
    assert_int_equal(store_compact(f->store, 4, &e), 0);
    commit(f);
    assert_int_equal(store_changes(f->store, "pods", 3, note_change, f, &e), -ESTALE);
    assert_int_equal(store_changes(f->store, "pods", 4, note_change, f, &e), 0);
}

static void changes_stop_when_told_and_leave_out_what_is_not_on_disk(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};

    put(f, "a", "x", "{}");
    put(f, "a", "y", "{}");
    commit(f);
    put(f, "a", "z", "{}");
    assert_int_equal(store_committed(f->store), 2);
    buf_clear(&f->seen);
    assert_int_equal(store_changes(f->store, "pods", 0, note_one_change, f, &e), 0);
    assert_string_equal(buf_str(&f->seen), "added x@1;");
    buf_clear(&f->seen);
    assert_int_equal(store_changes(f->store, "pods", 0, note_change, f, &e), 0);
    assert_string_equal(buf_str(&f->seen), "added x@1;added y@2;");
    commit(f);
}

static void a_list_of_the_past_goes_on_behind_a_key(void **state)
{
    struct fixture *f = *state;

    put(f, "a", "x", "{}");
    put(f, "a", "y", "{}");
    put(f, "b", "x", "{}");
    put(f, "b", "y", "{}");
    commit(f);
    put(f, "a", "y", "{\"v\":2}");
    drop(f, "b", "x");
    put(f, "b", "z", "{}");
    commit(f);
    expect_list(f,
                &(struct store_list){
                    .resource = "pods", .at_version = 4, .after_ns = "a", .after_name = "x"},
                "a/y={};b/x={};b/y={};");
    expect_list(
        f,
        &(struct store_list){
            .resource = "pods", .ns = "b", .at_version = 6, .after_ns = "b", .after_name = ""},
        "b/y={};");
}

static void the_version_never_goes_back(void **state)
{
    struct fixture *f = *state;

    put(f, "a", "x", "{}");
    drop(f, "a", "x");
    commit(f);
    assert_int_equal(store_compact(f->store, 2, NULL), 0);
    commit(f);
    f->store = store_free(f->store);
    open_store(f);
    assert_int_equal(store_version(f->store), 2);
    assert_int_equal(store_compacted(f->store), 2);
}

static void dependents_are_found_by_owner(void **state)
{
    struct fixture *f = *state;
    struct store_key k = {"pods", "a", "x"};
    const char *owners[] = {"u1", "u2", NULL};

    assert_int_equal(store_put(f->store, &k, 0, STR("{}"), owners, NULL), 0);
    buf_clear(&f->seen);
    assert_int_equal(store_dependents(f->store, "u2", note_row, f, NULL), 0);
    assert_string_equal(buf_str(&f->seen), "a/x={};");
    assert_int_equal(store_put(f->store, &k, 0, STR("{}"), NULL, NULL), 0);
    buf_clear(&f->seen);
    assert_int_equal(store_dependents(f->store, "u2", note_row, f, NULL), 0);
    assert_string_equal(buf_str(&f->seen), "");
}

static void a_missing_object_is_enoent(void **state)
{
    struct fixture *f = *state;
    struct store_key k = {"pods", "a", "none"};
    struct store_row row;

    assert_int_equal(store_get(f->store, &k, &f->arena, &row, NULL), -ENOENT);
    assert_int_equal(store_delete(f->store, &k, STR("{}"), NULL), -ENOENT);
    commit(f);
}

static void a_flipped_bit_in_a_row_is_reported(void **state)
{
    struct fixture *f = *state;
    struct store_key k = {"pods", "a", "x"};
    struct store_row row;
    struct err e = {0};
    sqlite3 *db;

    put(f, "a", "x", "{\"value\":\"good\"}");
    commit(f);
    f->store = store_free(f->store);
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE log SET data = CAST('{\"value\":\"gooe\"}' AS BLOB)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    (void)sqlite3_close(db);
    open_store(f);
    assert_int_equal(store_get(f->store, &k, &f->arena, &row, &e), -EBADMSG);
    assert_non_null(strstr(e.text, "does not match its checksum"));
}

/* Overwrite `n` bytes of the file at `at`, or cut it there when n is 0. */
static void damage(const char *path, off_t at, size_t n)
{
    char junk[8192];
    int fd = open(path, O_RDWR | O_CLOEXEC);

    memset(junk, 0x5A, sizeof(junk));
    assert_true(fd >= 0);
    if (n == 0)
        assert_int_equal(ftruncate(fd, at), 0);
    else
        assert_int_equal(pwrite(fd, junk, n, at), (ssize_t)n);
    (void)close(fd);
}

static void a_damaged_file_is_refused(void **state)
{
    static const struct {
        off_t at;
        size_t n;
    } cases[] = {{0, 100}, {4096, 4096}, {5000, 0}};
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err e = {0};

        for (int k = 0; k < 50; k++)
            put(f, "a", "x", "{\"some\":\"text that fills pages of the database\"}");
        commit(f);
        f->store = store_free(f->store);
        damage(f->path, cases[i].at, cases[i].n);
        assert_true(store_open(&f->options, &f->store, &e) < 0);
        assert_true(strlen(e.text) > 20);
        assert_int_equal(unlink(f->path), 0);
        assert_int_equal(unlink(f->mark), 0);
        open_store(f);
    }
}

static void a_foreign_or_newer_database_is_refused(void **state)
{
    static const char *const cases[][2] = {
        {"CREATE TABLE t(x)", "is not a slurmkeeper database"},
        {"PRAGMA user_version=99", "use the release that wrote it"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err e = {0};
        sqlite3 *db;

        f->store = store_free(f->store);
        if (i == 0)
            assert_int_equal(unlink(f->path), 0);
        (void)unlink(f->mark);
        assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, cases[i][0], NULL, NULL, NULL), SQLITE_OK);
        (void)sqlite3_close(db);
        assert_true(store_open(&f->options, &f->store, &e) < 0);
        assert_non_null(strstr(e.text, cases[i][1]));
        if (i == 0) {
            assert_int_equal(unlink(f->path), 0);
            open_store(f);
        }
    }
    (void)unlink(f->path);
    open_store(f);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(events_come_only_after_the_commit),
        CASE(writes_that_wait_for_the_commit_can_be_visited),
        CASE(what_was_committed_is_there_after_reopening),
        CASE(lists_are_in_key_order_and_by_namespace),
        CASE(the_past_can_be_listed_until_compacted),
        CASE(changes_come_in_order_behind_a_version),
        CASE(changes_stop_when_told_and_leave_out_what_is_not_on_disk),
        CASE(a_list_of_the_past_goes_on_behind_a_key),
        CASE(the_version_never_goes_back),
        CASE(dependents_are_found_by_owner),
        CASE(a_missing_object_is_enoent),
        CASE(a_flipped_bit_in_a_row_is_reported),
        CASE(a_damaged_file_is_refused),
        CASE(a_foreign_or_newer_database_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
