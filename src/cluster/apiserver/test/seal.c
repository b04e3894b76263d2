/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of seals, and of a store that has secrets. */
#include "src/base/test/unit.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/file.h"
#include "src/cluster/apiserver/seal.h"

#define VALUE "the-value-that-nobody-may-read"

struct fixture {
    char dir[32];
    char path[64];
    char keys[64];
    char mark[64];
    struct store_options options;
    struct store *store;
    struct arena arena;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    (void)snprintf(f->dir, sizeof(f->dir), "/tmp/seal-test-XXXXXX");
    if (!mkdtemp(f->dir))
        return -1;
    (void)snprintf(f->path, sizeof(f->path), "%s/db", f->dir);
    (void)snprintf(f->keys, sizeof(f->keys), "%s/keys/store.key", f->dir);
    (void)snprintf(f->mark, sizeof(f->mark), "%s/mark", f->dir);
    f->options = (struct store_options){.path = f->path, .mark = f->mark, .keys = f->keys};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    (void)store_free(f->store);
    arena_done(&f->arena);
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

static void put(struct fixture *f, const char *resource, const char *name)
{
    struct store_key k = {resource, "a", name};
    struct err e = {0};

    assert_int_equal(store_put(f->store, &k, 0, STR("{\"v\":\"" VALUE "\"}"), NULL, &e), 0);
    assert_int_equal(store_commit(f->store, &e), 0);
}

static void expect_secret(struct fixture *f, const char *name)
{
    struct store_key k = {"secrets", "a", name};
    struct store_row row;
    struct err e = {0};

    if (store_get(f->store, &k, &f->arena, &row, &e) < 0)
        fail_msg("%s", e.text);
    assert_true(str_eqz(row.data, "{\"v\":\"" VALUE "\"}"));
}

/* Does any file of the database show it? */
static bool shows_value(struct fixture *f)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    bool found = false;

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        AUTO(free) char *text = NULL;
        char path[80];
        size_t n;

        (void)snprintf(path, sizeof(path), "%s%s", f->path, ends[i]);
        if (file_read(path, 64 << 20, &text, &n, NULL) == 0)
            found = found || memmem(text, n, VALUE, strlen(VALUE));
    }
    return found;
}

static void what_is_sealed_opens_where_it_was_put_and_nowhere_else(void **state)
{
    struct fixture *f = *state;
    AUTO(keyring_free) struct keyring *ring = NULL;
    AUTO(buf_done) struct buf sealed = {0};
    AUTO(buf_done) struct buf again = {0};
    struct store_key k = {"secrets", "a", "x"};
    struct store_key other = {"secrets", "a", "y"};
    struct err e = {0};

    assert_int_equal(keyring_add(f->keys, NULL, &ring, &e), 0);
    seal_close(ring, &k, 7, STR(VALUE), &sealed);
    seal_close(ring, &k, 7, STR(VALUE), &again);
    assert_true(seal_is(buf_view(&sealed)));
    assert_false(str_eq(buf_view(&sealed), buf_view(&again)));
    buf_clear(&again);
    assert_int_equal(seal_open(ring, &k, 7, buf_view(&sealed), &again, &e), 0);
    assert_string_equal(buf_str(&again), VALUE);
    assert_int_equal(seal_open(ring, &k, 8, buf_view(&sealed), &again, &e), -EBADMSG);
    assert_int_equal(seal_open(ring, &other, 7, buf_view(&sealed), &again, &e), -EBADMSG);
    for (size_t i = 20; i < sealed.n; i += 7) {
        sealed.p[i] = (char)(sealed.p[i] ^ 1);
        assert_int_equal(seal_open(ring, &k, 7, buf_view(&sealed), &again, &e), -EBADMSG);
        sealed.p[i] = (char)(sealed.p[i] ^ 1);
    }
}

static void a_key_file_is_private_and_a_damaged_one_is_refused(void **state)
{
    struct fixture *f = *state;
    AUTO(keyring_free) struct keyring *ring = NULL;
    struct err e = {0};
    struct stat st;
    int fd;

    assert_int_equal(keyring_read(f->keys, &ring, &e), -ENOENT);
    assert_int_equal(keyring_add(f->keys, NULL, &ring, &e), 0);
    assert_int_equal(stat(f->keys, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    fd = open(f->keys, O_RDWR | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "0", 1, 30), 1);
    assert_int_equal(pwrite(fd, "1", 1, 31), 1);
    (void)close(fd);
    ring = keyring_free(ring);
    assert_int_equal(keyring_read(f->keys, &ring, &e), -EBADMSG);
    assert_non_null(strstr(e.text, "is damaged"));
}

static bool count_row(void *arg, const struct store_row *row)
{
    size_t *n = arg;

    *n += memmem(row->data.p, row->data.n, VALUE, strlen(VALUE)) != NULL;
    return true;
}

static bool count_event(void *arg, const struct store_event *ev)
{
    size_t *n = arg;

    *n += memmem(ev->row.data.p, ev->row.data.n, VALUE, strlen(VALUE)) != NULL;
    *n += ev->prev.n && memmem(ev->prev.p, ev->prev.n, VALUE, strlen(VALUE)) != NULL;
    return true;
}

static void secrets_are_on_no_page_and_can_be_read_all_the_same(void **state)
{
    struct fixture *f = *state;
    struct store_list l = {.resource = "secrets"};
    struct err e = {0};
    size_t n = 0;

    open_store(f);
    put(f, "secrets", "x");
    put(f, "secrets", "x");
    put(f, "secrets", "y");
    assert_false(shows_value(f));
    expect_secret(f, "x");
    assert_int_equal(store_each(f->store, &l, count_row, &n, &e), 0);
    assert_int_equal(n, 2);
    l.at_version = 2;
    assert_int_equal(store_each(f->store, &l, count_row, &n, &e), 0);
    assert_int_equal(n, 3);
    n = 0;
    assert_int_equal(store_changes(f->store, "secrets", 0, count_event, &n, &e), 0);
    assert_int_equal(n, 4);
    f->store = store_free(f->store);
    assert_false(shows_value(f));
    open_store(f);
    expect_secret(f, "y");
    put(f, "configmaps", "plain");
    assert_true(shows_value(f));
}

static void a_plain_store_is_sealed_at_its_next_start(void **state)
{
    struct fixture *f = *state;

    f->options.keys = NULL;
    open_store(f);
    for (int i = 0; i < 200; i++)
        put(f, "secrets", i % 2 ? "x" : "y");
    assert_true(shows_value(f));
    f->store = store_free(f->store);
    f->options.keys = f->keys;
    open_store(f);
    assert_false(shows_value(f));
    expect_secret(f, "x");
    f->store = store_free(f->store);
    assert_false(shows_value(f));
}

static void expect_refused(struct fixture *f, int num, const char *words)
{
    struct err e = {0};

    assert_int_equal(store_open(&f->options, &f->store, &e), num);
    if (!strstr(e.text, words))
        fail_msg("%s", e.text);
}

static void a_lost_or_wrong_key_is_told_and_nothing_is_overwritten(void **state)
{
    struct fixture *f = *state;
    AUTO(keyring_free) struct keyring *ring = NULL;
    char other[80];
    struct err e = {0};

    open_store(f);
    put(f, "secrets", "x");
    f->store = store_free(f->store);
    (void)snprintf(other, sizeof(other), "%s.kept", f->keys);
    assert_int_equal(rename(f->keys, other), 0);
    expect_refused(f, -ENOKEY, "is missing: bring that file back");
    assert_false(file_exists(f->keys));
    assert_int_equal(keyring_add(f->keys, NULL, &ring, &e), 0);
    expect_refused(f, -ENOKEY, "does not have their key");
    assert_int_equal(rename(other, f->keys), 0);
    open_store(f);
    expect_secret(f, "x");
}

/* The file of keys has a line for each. */
static size_t count_keys(const struct fixture *f)
{
    AUTO(free) char *text = NULL;
    struct err e = {0};
    size_t lines = 0;
    size_t n;

    assert_int_equal(file_read(f->keys, 4096, &text, &n, &e), 0);
    for (size_t i = 0; i < n; i++)
        lines += text[i] == '\n';
    return lines;
}

static void a_new_key_is_taken_at_the_next_start_and_the_old_one_goes(void **state)
{
    struct fixture *f = *state;
    AUTO(keyring_free) struct keyring *old = NULL;
    AUTO(keyring_free) struct keyring *both = NULL;
    AUTO(keyring_free) struct keyring *now = NULL;
    struct err e = {0};

    open_store(f);
    put(f, "secrets", "x");
    f->store = store_free(f->store);
    assert_int_equal(keyring_read(f->keys, &old, &e), 0);
    assert_int_equal(keyring_add(f->keys, old, &both, &e), 0);
    assert_int_equal(count_keys(f), 2);
    open_store(f);
    expect_secret(f, "x");
    assert_int_equal(keyring_read(f->keys, &now, &e), 0);
    assert_int_equal(count_keys(f), 1);
    f->store = store_free(f->store);
    open_store(f);
    expect_secret(f, "x");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(what_is_sealed_opens_where_it_was_put_and_nowhere_else),
        CASE(a_key_file_is_private_and_a_damaged_one_is_refused),
        CASE(secrets_are_on_no_page_and_can_be_read_all_the_same),
        CASE(a_plain_store_is_sealed_at_its_next_start),
        CASE(a_lost_or_wrong_key_is_told_and_nothing_is_overwritten),
        CASE(a_new_key_is_taken_at_the_next_start_and_the_old_one_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
