/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the store: what is on disk after each step, and after a crash at each. */
#include "src/base/test/unit.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "src/agent/crash.h"
#include "src/agent/store.h"
#include "src/base/alloc.h"
#include "src/base/file.h"

static unsigned die_at; /* crash point, from 1; 0: never */
static unsigned passed;

void crash_point(const char *name)
{
    (void)name;
    if (++passed == die_at)
        _exit(99);
}

static char dir[64];

static int scratch_make(void **state)
{
    (void)state;
    die_at = passed = 0;
    (void)snprintf(dir, sizeof(dir), "/tmp/store-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int scratch_remove(void **state)
{
    struct err e = {0};

    (void)state;
    return file_remove_tree(dir, &e);
}

static struct store *store_make(void)
{
    struct store *s = NULL;
    struct err e = {0};

    assert_int_equal(store_open(dir, &s, &e), 0);
    return s;
}

static struct record *record_make(const char *conf, const char *other)
{
    struct record *r = record_new();
    struct err e = {0};

    assert_int_equal(fileset_put(&r->files, "slurm.conf", str_of(conf), 0644, &e), 0);
    if (other)
        assert_int_equal(fileset_put(&r->files, other, STR("x"), 0755, &e), 0);
    fileset_hash(&r->files, r->hash);
    return r;
}

static void apply(struct store *s, struct record *r)
{
    struct err e = {0};
    size_t changed;

    assert_int_equal(store_pend(s, r, &e), 0);
    assert_int_equal(store_write(s, &store_pending(s)->files, &changed, &e), 0);
    assert_int_equal(store_commit(s, &e), 0);
}

static char *live_text(const char *name)
{
    AUTO(free) char *path = xasprintf("%s/%s", dir, name);
    char *text = NULL;
    size_t n;

    if (file_read(path, 1000, &text, &n, NULL) < 0)
        return xstrdup("(none)");
    return text;
}

static void check_live(const char *name, const char *expected)
{
    AUTO(free) char *text = live_text(name);

    assert_string_equal(text, expected);
}

static void what_was_applied_is_there_after_a_restart(void **state)
{
    AUTO(store_free) struct store *s = store_make();
    char hash[SHA256_HEX_LEN + 1];

    (void)state;
    assert_null(store_good(s));
    apply(s, record_make("one", "p.sh"));
    memcpy(hash, store_good(s)->hash, sizeof(hash));
    assert_null(store_pending(s));
    (void)store_free(s);
    s = store_make();
    assert_string_equal(store_good(s)->hash, hash);
    assert_true(store_knows(s, hash));
    check_live("slurm.conf", "one");
    check_live("p.sh", "x");
}

static void files_that_are_gone_are_removed_and_others_stay(void **state)
{
    AUTO(store_free) struct store *s = store_make();
    AUTO(free) char *foreign = xasprintf("%s/foreign", dir);
    AUTO(free) char *key = xasprintf("%s/slurm.key", dir);
    struct err e = {0};

    (void)state;
    assert_int_equal(file_write(foreign, STR("f"), 0644, &e), 0);
    assert_int_equal(file_write(key, STR("k"), 0600, &e), 0);
    apply(s, record_make("one", "p.sh"));
    apply(s, record_make("two", NULL));
    check_live("slurm.conf", "two");
    check_live("p.sh", "(none)");
    check_live("foreign", "f");
    check_live("slurm.key", "k");
}

static void only_what_differs_is_written(void **state)
{
    AUTO(store_free) struct store *s = store_make();
    AUTO(record_free) struct record *same = record_make("one", "p.sh");
    AUTO(record_free) struct record *other = record_make("two", "p.sh");
    struct err e = {0};
    size_t changed = 9;

    (void)state;
    apply(s, record_make("one", "p.sh"));
    assert_int_equal(store_write(s, &same->files, &changed, &e), 0);
    assert_int_equal(changed, 0);
    assert_int_equal(store_write(s, &other->files, &changed, &e), 0);
    assert_int_equal(changed, 1);
    /* a mode is a difference */
    other->files.files[0].mode = 0700;
    assert_int_equal(store_write(s, &other->files, &changed, &e), 0);
    assert_int_equal(changed, 1);
}

static void a_link_in_place_of_a_file_is_replaced_and_not_followed(void **state)
{
    AUTO(store_free) struct store *s = store_make();
    AUTO(free) char *target = xasprintf("%s/target", dir);
    AUTO(free) char *link = xasprintf("%s/slurm.conf", dir);
    struct err e = {0};

    (void)state;
    assert_int_equal(file_write(target, STR("one"), 0644, &e), 0);
    assert_int_equal(symlink(target, link), 0);
    apply(s, record_make("two", NULL));
    check_live("slurm.conf", "two");
    check_live("target", "one");
}

static void history_is_kept_and_bounded(void **state)
{
    AUTO(store_free) struct store *s = store_make();
    AUTO(record_free) struct record *first = record_make("0", NULL);
    AUTO(record_free) struct record *last = NULL;

    (void)state;
    for (unsigned i = 0; i <= STORE_HISTORY; i++) {
        AUTO(free) char *text = xasprintf("%u", i);

        apply(s, record_make(text, NULL));
        last = record_free(last);
        last = record_make(text, NULL);
    }
    assert_false(store_knows(s, first->hash));
    (void)store_free(s);
    s = store_make();
    assert_true(store_knows(s, last->hash));
}

static void dropping_forgets_what_was_pending(void **state)
{
    AUTO(store_free) struct store *s = store_make();
    struct err e = {0};

    (void)state;
    apply(s, record_make("one", NULL));
    assert_int_equal(store_pend(s, record_make("two", NULL), &e), 0);
    assert_int_equal(store_drop(s, &e), 0);
    assert_null(store_pending(s));
    assert_int_equal(store_commit(s, &e), -ENOENT);
    (void)store_free(s);
    s = store_make();
    assert_null(store_pending(s));
    assert_int_equal(store_good(s)->files.n, 1);
}

static void keys_keep_their_mode(void **state)
{
    AUTO(store_free) struct store *s = store_make();
    AUTO(fileset_done) struct fileset keys = {0};
    AUTO(free) char *path = xasprintf("%s/slurm.key", dir);
    struct stat st;
    struct err e = {0};
    size_t changed = 0;

    (void)state;
    assert_int_equal(fileset_put(&keys, "slurm.key", STR("k"), 0400, &e), 0);
    assert_int_equal(store_write_keys(s, &keys, &changed, &e), 0);
    assert_int_equal(changed, 1);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0400);
}

/* In a process of its own: an apply that dies at the n-th point.  False: there is none. */
static bool crash_during(unsigned n)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        struct store *s = store_make();

        passed = 0;
        die_at = n;
        apply(s, record_make("two", "new.sh"));
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status) == 99;
}

static void a_crash_anywhere_leaves_old_or_new_and_says_which(void **state)
{
    unsigned n;

    (void)state;
    for (n = 1; n < 100; n++) {
        AUTO(store_free) struct store *s = NULL;
        AUTO(free) char *text = NULL;
        bool died;

        s = store_make();
        apply(s, record_make("one", "old.sh"));
        (void)store_free(s);
        died = crash_during(n);
        s = store_make();
        text = live_text("slurm.conf");
        assert_true(streq(text, "one") || streq(text, "two"));
        /* new files without a record that tells of them: never */
        if (streq(text, "two"))
            assert_true(store_pending(s) || store_good(s)->files.n == 2);
        if (store_pending(s)) {
            struct err e = {0};
            size_t changed;

            assert_int_equal(store_write(s, &store_pending(s)->files, &changed, &e), 0);
            assert_int_equal(store_commit(s, &e), 0);
            check_live("slurm.conf", "two");
            check_live("old.sh", "(none)");
        }
        if (!died)
            break;
    }
    assert_in_range(n, 8, 20);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, scratch_make, scratch_remove)
    const struct CMUnitTest tests[] = {
        TEST(what_was_applied_is_there_after_a_restart),
        TEST(files_that_are_gone_are_removed_and_others_stay),
        TEST(only_what_differs_is_written),
        TEST(a_link_in_place_of_a_file_is_replaced_and_not_followed),
        TEST(history_is_kept_and_bounded),
        TEST(dropping_forgets_what_was_pending),
        TEST(keys_keep_their_mode),
        TEST(a_crash_anywhere_leaves_old_or_new_and_says_which),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
