/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what outlives the pod: saved by one store, given to another. */
#include "src/base/test/unit.h"

#include <stdio.h>
#include <sys/stat.h>

#include "src/agent/proven.h"
#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/slurm/profile.h"

static char dir[64];

static int scratch_make(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof(dir), "/tmp/proven-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int scratch_remove(void **state)
{
    struct err e = {0};

    (void)state;
    return file_remove_tree(dir, &e);
}

static struct store *store_in(const char *pod)
{
    AUTO(free) char *live = xasprintf("%s/%s", dir, pod);
    struct store *s = NULL;
    struct err e = {0};

    assert_int_equal(store_open(live, &s, &e), 0);
    return s;
}

static void apply(struct store *s, const char *conf, const char *kept)
{
    struct record *r = record_new();
    struct err e = {0};

    assert_int_equal(fileset_put(&r->files, "slurm.conf", str_of(conf), 0644, &e), 0);
    assert_int_equal(fileset_put(&r->files, "prolog.sh", STR("#!/bin/sh\n"), 0755, &e), 0);
    fileset_hash(&r->files, r->hash);
    r->generation = 7;
    if (kept)
        record_keep(r, "old", kept);
    assert_int_equal(store_pend(s, r, &e), 0);
    assert_int_equal(store_commit(s, &e), 0);
}

/* What a pod has in slurm.conf. */
static void check_conf(const char *pod, const char *expected)
{
    AUTO(free) char *path = xasprintf("%s/%s/slurm.conf", dir, pod);
    AUTO(free) char *text = NULL;
    struct err e = {0};
    size_t n;

    assert_int_equal(file_read(path, 1000, &text, &n, &e), 0);
    assert_string_equal(text, expected);
}

static char *place(void)
{
    return xasprintf("%s/state", dir);
}

static void save(const struct store *s, uint32_t release)
{
    AUTO(free) char *to = place();
    struct err e = {0};

    assert_int_equal(proven_save(to, s, release, &e), 0);
}

static int restore(struct store *s, uint32_t release)
{
    AUTO(free) char *from = place();
    struct err e = {0};

    return proven_restore(from, s, release, &e);
}

static void the_next_pod_starts_from_it(void **state)
{
    AUTO(store_free) struct store *first = store_in("first");
    AUTO(store_free) struct store *second = store_in("second");
    AUTO(free) char *kept_at = place();
    char older[SHA256_HEX_LEN + 1];
    struct stat st;

    (void)state;
    apply(first, "one\n", NULL);
    memcpy(older, store_good(first)->hash, sizeof(older));
    apply(first, "two\n", "PartitionName=old State=DRAIN\n");
    save(first, RELEASE(22, 5, 8));
    assert_int_equal(stat(kept_at, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);

    assert_int_equal(restore(second, RELEASE(22, 5, 9)), 1);
    check_conf("second", "# Kept by slurmkeeper until the jobs of these partitions have ended.\n"
                         "PartitionName=old State=DRAIN\ntwo\n");
    assert_null(store_pending(second));
    assert_string_equal(store_good(second)->hash, store_good(first)->hash);
    assert_int_equal(store_good(second)->generation, 7);
    assert_non_null(record_kept_find(store_good(second), "old"));
    assert_true(store_knows(second, older)); /* a mount that lags behind is still old news */
}

static void the_newest_counts(void **state)
{
    AUTO(store_free) struct store *first = store_in("first");
    AUTO(store_free) struct store *second = store_in("second");

    (void)state;
    apply(first, "one\n", NULL);
    save(first, RELEASE(22, 5, 8));
    apply(first, "two\n", NULL);
    save(first, RELEASE(22, 5, 8));
    assert_int_equal(restore(second, RELEASE(22, 5, 8)), 1);
    check_conf("second", "two\n");
}

static void nothing_is_restored_that_may_be_wrong(void **state)
{
    static const struct {
        const char *damage; /* instead of what was saved; NULL: as it was */
        uint32_t release;
    } rows[] = {
        {NULL, RELEASE(23, 11, 1)}, /* another slurmctld, that may not know all the settings */
        {NULL, 0},
        {"", RELEASE(22, 5, 8)},
        {"{}", RELEASE(22, 5, 8)},
        {"{\"series\":\"22.05\"}\n", RELEASE(22, 5, 8)},
        {"{\"series\":\"22.05\"}\n{\"hash\":\"x\"}\n", RELEASE(22, 5, 8)},
        {"not JSON\n{}\n", RELEASE(22, 5, 8)},
    };
    AUTO(store_free) struct store *first = store_in("first");
    AUTO(store_free) struct store *second = store_in("second");
    AUTO(free) char *file = xasprintf("%s/state/proven", dir);

    (void)state;
    assert_int_equal(restore(second, RELEASE(22, 5, 8)), 0); /* nothing was saved */
    apply(first, "one\n", NULL);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = {0};

        save(first, RELEASE(22, 5, 8));
        if (rows[i].damage)
            assert_int_equal(file_write(file, str_of(rows[i].damage), 0600, &e), 0);
        if (restore(second, rows[i].release) != 0)
            fail_msg("row %zu was restored", i);
        assert_null(store_good(second));
    }
}

static void what_cannot_be_saved_is_told(void **state)
{
    AUTO(store_free) struct store *first = store_in("first");
    AUTO(free) char *nowhere = xasprintf("%s/no/such", dir);
    AUTO(free) char *to = place();
    struct err e = {0};

    (void)state;
    assert_int_equal(proven_save(to, first, RELEASE(22, 5, 8), &e), -ENOENT);
    apply(first, "one\n", NULL);
    assert_int_equal(proven_save(nowhere, first, RELEASE(22, 5, 8), &e), -ENOENT);
    assert_non_null(strstr(e.text, "/no/such"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_next_pod_starts_from_it, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(the_newest_counts, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(nothing_is_restored_that_may_be_wrong, scratch_make,
                                        scratch_remove),
        cmocka_unit_test_setup_teardown(what_cannot_be_saved_is_told, scratch_make, scratch_remove),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
