/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the place of containers' writes.  Root mounts, in a namespace of the test's. */
#include "src/base/test/unit.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/node/mounts.h"
#include "src/cluster/node/runtime/layers.h"

static char dir[] = "/tmp/sk-layers-XXXXXX";

static int begin(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return 0;
    return mount("tmpfs", dir, "tmpfs", 0, "") < 0 ? -1 : 0;
}

static int end(void **state)
{
    (void)state;
    (void)umount2(dir, MNT_DETACH);
    return file_remove_tree(dir, NULL);
}

/* DIR/NAME as a new directory; on an overlay if asked. */
static char *make_place(const char *name, bool on_overlay)
{
    AUTO(free) char *below = xasprintf("%s/%s", dir, name);
    AUTO(free)
    char *options = xasprintf("lowerdir=%s/l,upperdir=%s/u,workdir=%s/w", below, below, below);
    static const char *const parts[] = {"l", "u", "w", "at"};

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        AUTO(free) char *path = xasprintf("%s/%s", below, parts[i]);

        assert_int_equal(file_make_dirs(path, 0755, NULL), 0);
    }
    if (on_overlay) {
        AUTO(free) char *at = xasprintf("%s/at", below);

        assert_int_equal(mount("overlay", at, "overlay", 0, options), 0);
    }
    return xasprintf("%s/at", below);
}

static void memory_is_for_places_that_hold_no_overlay(void **state)
{
    static const struct {
        const char *name;
        bool on_overlay;
        bool inside;
        enum layers_place place;
    } cases[] = {
        {"plain", false, false, LAYERS_ON_DISK},
        {"overlay", true, false, LAYERS_IN_MEMORY},
        {"inside", false, true, LAYERS_IN_MEMORY},
    };

    (void)state;
    if (!mounts_is_one(dir))
        skip();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(free) char *at = make_place(cases[i].name, cases[i].on_overlay);
        enum layers_place place;
        struct err e = {0};

        assert_int_equal(layers_find(at, cases[i].inside, &place, &e), 0);
        assert_int_equal(place, cases[i].place);
        assert_int_equal(file_dir_count(at), 0);
    }
}

static void layers_in_memory_are_kept_and_go_without_a_trace(void **state)
{
    AUTO(free) char *layers = xasprintf("%s/layers", dir);
    AUTO(free) char *file = xasprintf("%s/file", layers);
    struct err e = {0};

    (void)state;
    if (!mounts_is_one(dir))
        skip();
    assert_int_equal(layers_make(LAYERS_IN_MEMORY, dir, &e), 0);
    assert_true(mounts_is_one(layers));
    assert_int_equal(file_write(file, STR("x"), 0600, &e), 0);
    assert_int_equal(layers_make(LAYERS_IN_MEMORY, dir, &e), 0);
    assert_true(file_exists(file));
    assert_int_equal(layers_remove(dir, &e), 0);
    assert_false(mounts_is_one(layers));
    assert_false(file_exists(layers));
}

static void paths_that_mounts_cannot_name_are_refused(void **state)
{
    static const char *const bad[] = {"/a,b", "/a:b", "/a\\b", "/a\nb"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        enum layers_place place;
        struct err e = {0};

        assert_int_equal(layers_find(bad[i], false, &place, &e), -EINVAL);
        assert_non_null(strstr(e.text, "cannot be a state directory"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_for_places_that_hold_no_overlay),
        cmocka_unit_test(layers_in_memory_are_kept_and_go_without_a_trace),
        cmocka_unit_test(paths_that_mounts_cannot_name_are_refused),
    };

    return cmocka_run_group_tests_name("layers", tests, begin, end);
}
