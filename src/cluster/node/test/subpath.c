/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of parts of volumes.  Pins are mounts: root makes them, in a namespace of the test's.
 */
#include "src/cluster/node/test/parse.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "src/base/file.h"
#include "src/cluster/node/volumes/subpath.h"

#define TRIES 3000

static char dir[] = "/tmp/sk-subpath-XXXXXX";
static bool can_mount;

/* DIR/NAME, in the arena. */
static const char *at(struct arena *a, const char *name)
{
    return arena_printf(a, "%s/%s", dir, name);
}

static int begin(void **state)
{
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    can_mount = geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
                mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
    if (!mkdtemp(dir) || mkdir(at(&a, "volume"), 0755) < 0 || mkdir(at(&a, "outside"), 0755) < 0 ||
        symlink("../outside", at(&a, "volume/link")) < 0 || mkdir(at(&a, "volume/own"), 0755) < 0 ||
        symlink("own", at(&a, "volume/inner")) < 0)
        return -1;
    return file_update(at(&a, "volume/file"), STR("text"), 0644, &(bool){0}, NULL);
}

static int end(void **state)
{
    (void)state;
    return file_remove_tree(dir, NULL);
}

static void parts_are_bound_and_let_go_without_a_trace(void **state)
{
    static const char *const good[] = {"own", "inner", "inner/deep/er", "file", "new//one", "."};

    (void)state;
    if (!can_mount)
        skip();
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct stat there, pinned;

        assert_int_equal(subpath_pin(at(&a, "volume"), good[i], -1, at(&a, "pins/p"), NULL), 0);
        assert_int_equal(stat(at(&a, arena_printf(&a, "volume/%s", good[i])), &there), 0);
        assert_int_equal(stat(at(&a, "pins/p"), &pinned), 0);
        assert_int_equal(there.st_ino, pinned.st_ino);
        subpath_release(at(&a, "pins"));
        assert_false(file_exists(at(&a, "pins")));
        assert_int_equal(stat(at(&a, "volume/file"), &there), 0);
    }
}

static void what_leads_out_is_refused_and_nothing_is_made_there(void **state)
{
    static const char *const bad[] = {"link", "link/new", "/etc", "own/../../outside", "link/a/b"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct err e = {0};

        assert_int_equal(subpath_pin(at(&a, "volume"), bad[i], -1, at(&a, "pins/p"), &e), -EINVAL);
        assert_non_null(strstr(e.text, "leads out of the volume"));
        assert_int_equal(rmdir(at(&a, "outside")), 0); /* it is empty */
        assert_int_equal(mkdir(at(&a, "outside"), 0755), 0);
    }
}

static atomic_bool stop;

/* A directory in the volume and a link to the outside change places as fast as they can. */
static void *swap(void *arg)
{
    AUTO(arena_done) struct arena a = {0};
    const char *one = at(&a, "volume/own"), *other = at(&a, "volume/link");

    while (!stop)
        (void)syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, 2U /* RENAME_EXCHANGE */);
    return arg;
}

static void a_link_that_comes_in_between_wins_nothing(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct stat outside, pinned;
    pthread_t thread;
    int bound = 0;

    (void)state;
    if (!can_mount)
        skip();
    assert_int_equal(stat(at(&a, "outside"), &outside), 0);
    assert_int_equal(pthread_create(&thread, NULL, swap, NULL), 0);
    for (int i = 0; i < TRIES; i++) {
        if (subpath_pin(at(&a, "volume"), "own", -1, at(&a, "pins/p"), NULL) < 0)
            continue;
        bound++;
        assert_int_equal(stat(at(&a, "pins/p"), &pinned), 0);
        assert_int_not_equal(pinned.st_ino, outside.st_ino);
    }
    stop = true;
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(bound > 0);
    subpath_release(at(&a, "pins"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_bound_and_let_go_without_a_trace),
        cmocka_unit_test(what_leads_out_is_refused_and_nothing_is_made_there),
        cmocka_unit_test(a_link_that_comes_in_between_wins_nothing),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
