/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the mark, and of a store that is held against it. */
#include "src/base/test/unit.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/file.h"
#include "src/cluster/apiserver/mark.h"
#include "src/cluster/apiserver/store.h"

struct fixture {
    char dir[32];
    char path[64];
    char wal[64];
    char mark[64];
    char witness[64];
    char copy[64];
    struct store_options options;
    struct store *store;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    (void)snprintf(f->dir, sizeof(f->dir), "/tmp/mark-test-XXXXXX");
    if (!mkdtemp(f->dir))
        return -1;
    (void)snprintf(f->path, sizeof(f->path), "%s/db", f->dir);
    (void)snprintf(f->wal, sizeof(f->wal), "%s/db-wal", f->dir);
    (void)snprintf(f->mark, sizeof(f->mark), "%s/mark", f->dir);
    (void)snprintf(f->witness, sizeof(f->witness), "%s/witness", f->dir);
    (void)snprintf(f->copy, sizeof(f->copy), "%s/copy", f->dir);
    f->options = (struct store_options){.path = f->path, .mark = f->mark};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    (void)store_free(f->store);
    (void)!file_remove_tree(f->dir, NULL);
    free(f);
    return 0;
}

static void open_store(struct fixture *f)
{
    struct err e = {0};

    if (store_open(&f->options, &f->store, &e) < 0)
        fail_msg("%s", e.text);
}

static void expect_refused(struct fixture *f, const char *words)
{
    struct err e = {0};

    assert_int_equal(store_open(&f->options, &f->store, &e), -EBADMSG);
    if (!strstr(e.text, words))
        fail_msg("%s", e.text);
    assert_true(strlen(e.text) < sizeof(e.text) - 1);
}

static void write_some(struct fixture *f, int n)
{
    struct err e = {0};

    for (int i = 0; i < n; i++) {
        char name[16];
        struct store_key k = {"pods", "a", name};

        (void)snprintf(name, sizeof(name), "x%lld", (long long)store_next_version(f->store));
        assert_int_equal(store_put(f->store, &k, 0, STR("{\"some\":\"content\"}"), NULL, &e), 0);
        assert_int_equal(store_commit(f->store, &e), 0);
    }
}

static void copy_file(const char *from, const char *to)
{
    AUTO(free) char *text = NULL;
    struct err e = {0};
    size_t n;

    assert_int_equal(file_read(from, 64 << 20, &text, &n, &e), 0);
    assert_int_equal(file_write(to, (struct str){text, n}, 0600, &e), 0);
}

/* End as if killed: the write-ahead log stays as it is. */
static void crash(struct fixture *f)
{
    char db[80];
    char wal[80];

    (void)snprintf(db, sizeof(db), "%s.db", f->copy);
    (void)snprintf(wal, sizeof(wal), "%s.wal", f->copy);
    copy_file(f->path, db);
    copy_file(f->wal, wal);
    f->store = store_free(f->store);
    copy_file(db, f->path);
    copy_file(wal, f->wal);
}

static void flip(const char *path, off_t at)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    char c = 0;

    assert_int_equal(pread(fd, &c, 1, at), 1);
    c = (char)(c ^ 0x40);
    assert_int_equal(pwrite(fd, &c, 1, at), 1);
    (void)close(fd);
}

static off_t size_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? st.st_size : -1;
}

static void judging_is_a_table(void **state)
{
    static const struct {
        struct mark_point mark;
        struct mark_point store;
        int64_t there;
        bool known;
        enum mark_standing expected;
    } cases[] = {
        {{"a", 5, 50}, {"a", 5, 50}, 50, true, STANDING_WHOLE},
        {{"a", 5, 50}, {"a", 7, 70}, 50, true, STANDING_WHOLE},
        {{"a", 5, 50}, {"a", 7, 70}, 0, false, STANDING_WHOLE},
        {{"a", 5, 50}, {"a", 4, 40}, 0, false, STANDING_SHORT},
        {{"a", 5, 50}, {"a", 7, 71}, 51, true, STANDING_FORK},
        {{"a", 5, 50}, {"b", 7, 70}, 50, true, STANDING_OTHER},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(
            mark_judge(&cases[i].mark, &cases[i].store, cases[i].known ? &cases[i].there : NULL),
            cases[i].expected);
}

static void a_torn_slot_leaves_the_one_before_it(void **state)
{
    struct fixture *f = *state;
    struct mark_point p = {"id", 1, 10};
    struct mark_point q;
    enum mark_found found;
    struct mark *m = NULL;
    struct err e = {0};

    assert_int_equal(mark_read(f->mark, &found, &q, &e), 0);
    assert_int_equal(found, MARK_NONE);
    assert_int_equal(mark_open(f->mark, &p, &m, &e), 0);
    p = (struct mark_point){"id", 2, 20};
    assert_int_equal(mark_set(m, &p, &e), 0);
    assert_int_equal(mark_read(f->mark, &found, &q, &e), 0);
    assert_int_equal(q.version, 2);
    (void)mark_free(m);
    flip(f->mark, 512 + 20);
    assert_int_equal(mark_read(f->mark, &found, &q, &e), 0);
    assert_int_equal(found, MARK_WHOLE);
    assert_int_equal(q.version, 1);
    flip(f->mark, 20);
    assert_int_equal(mark_read(f->mark, &found, &q, &e), 0);
    assert_int_equal(found, MARK_DAMAGED);
}

static void a_crash_is_no_loss(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    write_some(f, 30);
    crash(f);
    open_store(f);
    assert_int_equal(store_version(f->store), 30);
    assert_int_equal(store_epoch(f->store), 0);
    write_some(f, 1);
    assert_int_equal(store_version(f->store), 31);
}

static void a_damaged_log_is_refused_and_left_as_it_was(void **state)
{
    struct fixture *f = *state;
    off_t was;

    open_store(f);
    write_some(f, 30);
    crash(f);
    was = size_of(f->wal);
    flip(f->wal, was / 2);
    expect_refused(f, "acknowledged writes are missing: they went up to version 30");
    assert_int_equal(size_of(f->wal), was);
    expect_refused(f, "recover --accept-loss");
    flip(f->wal, was / 2);
    open_store(f);
    assert_int_equal(store_version(f->store), 30);
}

static void a_missing_log_is_refused(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    write_some(f, 30);
    crash(f);
    assert_int_equal(unlink(f->wal), 0);
    expect_refused(f, "missing or empty, though writes up to version 30");
    f->options.accept = true;
    open_store(f);
    f->store = store_free(f->store);
    f->options.accept = false;
    open_store(f);
    write_some(f, 30);
    crash(f);
    assert_int_equal(unlink(f->wal), 0);
    expect_refused(f, "acknowledged writes are missing");
}

static void a_log_that_was_moved_into_the_database_is_not_missed(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    write_some(f, 30);
    f->store = store_free(f->store);
    (void)unlink(f->wal);
    open_store(f);
    assert_int_equal(store_version(f->store), 30);
}

static void a_missing_or_emptied_database_is_refused(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    write_some(f, 3);
    f->store = store_free(f->store);
    assert_int_equal(truncate(f->path, 0), 0);
    expect_refused(f, "missing or empty, though writes up to version 3");
    assert_int_equal(unlink(f->path), 0);
    expect_refused(f, "missing or empty, though writes up to version 3");
    assert_int_equal(size_of(f->path), -1);
}

static void an_older_copy_is_refused_and_so_is_one_that_went_on(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    write_some(f, 3);
    f->store = store_free(f->store);
    copy_file(f->path, f->copy);
    open_store(f);
    write_some(f, 3);
    f->store = store_free(f->store);
    copy_file(f->copy, f->path);
    expect_refused(f, "ends at 3");
    f->options.mark = NULL;
    open_store(f);
    for (int i = 0; i < 3; i++) {
        struct store_key k = {"pods", "b", "other"};

        assert_int_equal(store_put(f->store, &k, 0, STR("{}"), NULL, NULL), 0);
        assert_int_equal(store_commit(f->store, NULL), 0);
    }
    f->store = store_free(f->store);
    f->options.mark = f->mark;
    expect_refused(f, "are not those that were acknowledged");
}

static void a_lost_mark_is_refused_and_so_is_the_store_of_another(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    write_some(f, 3);
    f->store = store_free(f->store);
    copy_file(f->mark, f->copy);
    assert_int_equal(unlink(f->mark), 0);
    expect_refused(f, "is missing: nobody can tell");
    assert_int_equal(unlink(f->path), 0);
    open_store(f);
    write_some(f, 9);
    f->store = store_free(f->store);
    copy_file(f->copy, f->mark);
    expect_refused(f, "not the one that was in use here");
}

static void an_accepted_loss_goes_on_above_everything_that_was_shown(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};

    open_store(f);
    write_some(f, 30);
    crash(f);
    assert_int_equal(unlink(f->wal), 0);
    f->options.accept = true;
    open_store(f);
    assert_true(store_version(f->store) > 30);
    assert_int_equal(store_compacted(f->store), store_version(f->store));
    assert_true(store_epoch(f->store) != 0);
    assert_int_equal(store_changes(f->store, "pods", 30, NULL, NULL, &e), -ESTALE);
    f->store = store_free(f->store);
    f->options.accept = false;
    open_store(f);
    write_some(f, 2);
}

static void a_loss_of_everything_can_be_accepted(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    write_some(f, 5);
    f->store = store_free(f->store);
    assert_int_equal(unlink(f->path), 0);
    f->options.accept = true;
    open_store(f);
    assert_true(store_version(f->store) > 5);
    f->store = store_free(f->store);
    f->options.accept = false;
    open_store(f);
}

static void the_witness_tells_an_older_pair_of_database_and_mark(void **state)
{
    struct fixture *f = *state;
    char mark[80];

    (void)snprintf(mark, sizeof(mark), "%s.mark", f->copy);
    f->options.witness = f->witness;
    open_store(f);
    write_some(f, 3);
    f->store = store_free(f->store);
    copy_file(f->path, f->copy);
    copy_file(f->mark, mark);
    open_store(f);
    assert_null(store_note(f->store));
    write_some(f, 7);
    f->store = store_free(f->store);
    copy_file(f->copy, f->path);
    copy_file(mark, f->mark);
    open_store(f);
    assert_non_null(strstr(store_note(f->store), "version 10"));
    assert_true(store_version(f->store) > 10);
    assert_true(store_epoch(f->store) != 0);
    f->store = store_free(f->store);
    open_store(f);
    assert_null(store_note(f->store));
}

static void a_store_of_the_first_format_is_converted(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};
    sqlite3 *db;

    open_store(f);
    write_some(f, 4);
    f->store = store_free(f->store);
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "ALTER TABLE log DROP COLUMN chain; DROP TABLE facts;"
                                  "DELETE FROM meta WHERE key IN ('chain', 'epoch');"
                                  "PRAGMA user_version=1",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    (void)sqlite3_close(db);
    assert_int_equal(unlink(f->mark), 0);
    open_store(f);
    assert_int_equal(store_version(f->store), 4);
    write_some(f, 2);
    f->store = store_free(f->store);
    open_store(f);
    assert_int_equal(store_version(f->store), 6);
    assert_int_equal(e.num, 0);
}

static void a_first_start_that_was_interrupted_is_begun_again(void **state)
{
    struct fixture *f = *state;
    struct mark_point p = {"0", 0, 0};
    struct mark *m = NULL;
    struct err e = {0};

    encode_uuid(p.id);
    assert_int_equal(mark_open(f->mark, &p, &m, &e), 0);
    (void)mark_free(m);
    open_store(f);
    assert_string_equal(store_id(f->store), p.id);
    write_some(f, 1);
}

/* Whatever is done to the files of an open store: the next write is refused, and the last stays. */
static void a_file_that_is_taken_away_is_noticed_by_the_next_write(void **state)
{
    struct fixture *f = *state;
    const char *const files[] = {f->path, f->wal};

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct store_key k = {"things", "", "one"};
        struct err e = {0};

        open_store(f);
        assert_int_equal(store_put(f->store, &k, 0, STR("{}"), NULL, &e), 0);
        assert_int_equal(store_commit(f->store, &e), 0);
        assert_int_equal(rename(files[i], f->copy), 0);
        assert_int_equal(store_put(f->store, &k, 0, STR("{}"), NULL, &e), 0);
        assert_int_equal(store_commit(f->store, &e), -ESTALE);
        assert_non_null(strstr(e.text, "was removed or exchanged while the server runs"));
        assert_int_equal(rename(f->copy, files[i]), 0); /* put back: it goes on */
        assert_int_equal(store_put(f->store, &k, 0, STR("{}"), NULL, &e), 0);
        assert_int_equal(store_commit(f->store, &e), 0);
        f->store = store_free(f->store);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_file_that_is_taken_away_is_noticed_by_the_next_write),
        CASE(judging_is_a_table),
        CASE(a_torn_slot_leaves_the_one_before_it),
        CASE(a_crash_is_no_loss),
        CASE(a_damaged_log_is_refused_and_left_as_it_was),
        CASE(a_missing_log_is_refused),
        CASE(a_log_that_was_moved_into_the_database_is_not_missed),
        CASE(a_missing_or_emptied_database_is_refused),
        CASE(an_older_copy_is_refused_and_so_is_one_that_went_on),
        CASE(a_lost_mark_is_refused_and_so_is_the_store_of_another),
        CASE(an_accepted_loss_goes_on_above_everything_that_was_shown),
        CASE(a_loss_of_everything_can_be_accepted),
        CASE(the_witness_tells_an_older_pair_of_database_and_mark),
        CASE(a_store_of_the_first_format_is_converted),
        CASE(a_first_start_that_was_interrupted_is_begun_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
