/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of databases in a backup: what is asked of their start script, and what it may answer.
 * A thread stands for the script. */
#include "src/base/test/unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cli/backup_databases.h"

struct fixture {
    char top[32];
    char *claim;
    bool writes; /* the script can write its dump */
    pthread_t script;
    struct arena arena;
    struct buf told;
};

static char *path_of(const struct fixture *f, const char *name)
{
    return xasprintf("%s/%s", f->claim, name);
}

static void put(const struct fixture *f, const char *name)
{
    AUTO(free) char *path = path_of(f, name);
    struct err e = {0};

    if (file_write(path, STR("x"), 0600, &e) < 0)
        fail_msg("%s", e.text);
}

static void fixture_init(struct fixture *f, const char *claim)
{
    AUTO(free) char *data = NULL;

    *f = (struct fixture){.top = "/tmp/sk-databases-XXXXXX", .writes = true};
    assert_non_null(mkdtemp(f->top));
    f->claim = xasprintf("%s/%s", f->top, claim);
    assert_int_equal(mkdir(f->claim, 0700), 0);
    data = path_of(f, "data");
    assert_int_equal(mkdir(data, 0700), 0);
}

static void fixture_done(struct fixture *f)
{
    struct err e = {0};

    assert_int_equal(file_remove_tree(f->top, &e), 0);
    free(f->claim);
    arena_done(&f->arena);
    buf_done(&f->told);
}
DEFINE_AUTO_DONE(struct fixture, fixture_done);

/* As images/entrypoint/mariadb: the request takes another name, which goes when the dump is whole.
 */
static void *answer(void *arg)
{
    static const struct timespec pause = {0, 1000000};
    const struct fixture *f = arg;
    AUTO(free) char *wanted = path_of(f, "dump-wanted");
    AUTO(free) char *making = path_of(f, "dump-making");

    while (rename(wanted, making) < 0)
        (void)nanosleep(&pause, NULL);
    if (f->writes)
        put(f, "dump.sql");
    (void)unlink(making);
    return NULL;
}

static int run(struct fixture *f, struct backup_databases *ret, struct err *e)
{
    int r;

    assert_int_equal(pthread_create(&f->script, NULL, answer, f), 0);
    r = backup_databases(&f->arena, f->top, ret, &f->told, e);
    assert_int_equal(pthread_join(f->script, NULL), 0);
    return r;
}

static void a_database_that_runs_writes_itself_down(void **state)
{
    struct backup_databases done = {0};
    AUTO(fixture_done) struct fixture f;
    struct err e = {0};

    (void)state;
    fixture_init(&f, "claim");
    put(&f, "data/ibdata1");
    assert_int_equal(run(&f, &done, &e), 0);
    assert_int_equal(done.n, 1);
    assert_string_equal(done.left_out[0], "claim/data");
    assert_string_equal(buf_str(&f.told), "");
}

static void without_a_new_dump_there_is_no_backup(void **state)
{
    static const struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};

    (void)state;
    for (int older = 0; older < 2; older++) {
        struct backup_databases done = {0};
        AUTO(fixture_done) struct fixture f;
        AUTO(free) char *dump = NULL;
        struct err e = {0};

        fixture_init(&f, "claim");
        put(&f, "data/ibdata1");
        f.writes = false;
        dump = path_of(&f, "dump.sql");
        if (older) {
            put(&f, "dump.sql");
            assert_int_equal(utimensat(AT_FDCWD, dump, old, 0), 0);
        }
        assert_int_equal(run(&f, &done, &e), -EIO);
        assert_string_equal(e.text, "the database of claim claim could not write its dump; its "
                                    "pod's log says why");
    }
}

/* Names in a claim are its pod's: they are not followed out of it. */
static void a_dump_that_is_a_link_is_none(void **state)
{
    struct backup_databases done = {0};
    AUTO(fixture_done) struct fixture f;
    AUTO(free) char *dump = NULL;
    struct err e = {0};

    (void)state;
    fixture_init(&f, "claim");
    put(&f, "data/ibdata1");
    f.writes = false;
    dump = path_of(&f, "dump.sql");
    assert_int_equal(symlink("/etc/passwd", dump), 0);
    assert_int_equal(run(&f, &done, &e), -EIO);
}

static void claims_without_a_database_are_left_alone(void **state)
{
    struct backup_databases done = {0};
    AUTO(fixture_done) struct fixture f;
    AUTO(free) char *link = NULL;
    AUTO(free) char *wanted = NULL;
    struct err e = {0};

    (void)state;
    fixture_init(&f, "claim");
    link = xasprintf("%s/linked", f.top);
    wanted = path_of(&f, "dump-wanted");
    assert_int_equal(symlink("claim", link), 0);
    assert_int_equal(backup_databases(&f.arena, f.top, &done, &f.told, &e), 0);
    assert_int_equal(done.n, 0);
    assert_int_equal(access(wanted, F_OK), -1);
    assert_int_equal(backup_databases(&f.arena, "/nowhere/at/all", &done, &f.told, &e), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_database_that_runs_writes_itself_down),
        cmocka_unit_test(without_a_new_dump_there_is_no_backup),
        cmocka_unit_test(a_dump_that_is_a_link_is_none),
        cmocka_unit_test(claims_without_a_database_are_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
