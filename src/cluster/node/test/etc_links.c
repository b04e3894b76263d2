/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of a container's /etc that follows an image. */
#include "src/base/test/unit.h"

#include <stdio.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/node/runtime/etc_links.h"

static char top[64];

static char *at(const char *name)
{
    return xasprintf("%s/%s", top, name);
}

static void put(const char *name, const char *text)
{
    AUTO(free) char *path = at(name);
    AUTO(free) char *dir = xstrdup(path);
    struct err e = {0};

    *strrchr(dir, '/') = '\0';
    assert_int_equal(file_make_dirs(dir, 0755, &e), 0);
    assert_int_equal(file_write(path, str_of(text), 0644, &e), 0);
}

/* Where a link leads; "" if it is none. */
static const char *link_of(const char *name)
{
    static char to[256];
    AUTO(free) char *path = at(name);
    ssize_t n = readlink(path, to, sizeof(to) - 1);

    to[n > 0 ? n : 0] = '\0';
    return to;
}

static bool is_there(const char *name)
{
    AUTO(free) char *path = at(name);
    struct stat st;

    return lstat(path, &st) == 0;
}

static void drop(const char *name)
{
    AUTO(free) char *path = at(name);

    assert_int_equal(unlink(path), 0);
}

static void make(const char *const *targets)
{
    AUTO(free) char *image = at("image");
    AUTO(free) char *to = at(ETC_LINKS_OWN);
    struct err e = {0};

    put("image/passwd", "root:x:0:0::/root:/bin/sh\n");
    put("image/hosts", "127.0.0.1 vm\n");
    put("image/sssd/conf.d/a", "a");
    put("image/ssl/certs", "c");
    if (etc_links_make(image, to, targets, &e) < 0)
        fail_msg("%s", e.text);
}

static void update(void)
{
    AUTO(free) char *image = at("image");
    struct err e = {0};

    put("pid", "1"); /* the runtime has made the container */
    if (etc_links_follow(image, top, &e) < 0)
        fail_msg("%s", e.text);
}

static int setup(void **state)
{
    (void)state;
    (void)snprintf(top, sizeof(top), "/tmp/sk-etc-XXXXXX");
    return mkdtemp(top) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return file_remove_tree(top, NULL);
}

static void entries_are_links_but_for_what_is_mounted(void **state)
{
    static const char *const targets[] = {"/etc/hosts", "/etc/sssd/sssd.conf", "/usr/x",
                                          "/etc/slurm", NULL};
    AUTO(free) char *relative = at("image/os-release");

    (void)state;
    assert_int_equal(file_make_dirs(top, 0755, NULL), 0);
    put("image/x", "");
    assert_int_equal(symlink("../usr/lib/os-release", relative), 0);
    make(targets);
    assert_string_equal(link_of(ETC_LINKS_OWN "/passwd"), "/.etc/passwd");
    assert_string_equal(link_of(ETC_LINKS_OWN "/ssl"), "/.etc/ssl");
    assert_string_equal(link_of(ETC_LINKS_OWN "/os-release"), "../usr/lib/os-release");
    assert_false(is_there(ETC_LINKS_OWN "/hosts"));
    assert_false(is_there(ETC_LINKS_OWN "/slurm"));
    assert_true(is_there(ETC_LINKS_OWN "/sssd/conf.d/a"));
    assert_string_equal(link_of(ETC_LINKS_OWN "/sssd"), "");
}

static void entries_come_and_go(void **state)
{
    (void)state;
    make(NULL);
    put("image/subuid", "joe:1:1\n");
    drop("image/hosts");
    update();
    assert_string_equal(link_of(ETC_LINKS_OWN "/subuid"), "/.etc/subuid");
    assert_false(is_there(ETC_LINKS_OWN "/hosts"));
    assert_string_equal(link_of(ETC_LINKS_OWN "/passwd"), "/.etc/passwd");
}

static void what_the_container_made_stays(void **state)
{
    AUTO(free) char *outside = at("outside");
    AUTO(free) char *trap = at(ETC_LINKS_OWN "/trap");

    (void)state;
    make(NULL);
    put(ETC_LINKS_OWN "/mine", "mine");
    drop(ETC_LINKS_OWN "/passwd");
    put(ETC_LINKS_OWN "/passwd", "its own");
    put("outside", "safe");
    assert_int_equal(symlink(outside, trap), 0);
    put("image/trap", "new");
    put("image/mine", "the machine's");
    update();
    assert_string_equal(link_of(ETC_LINKS_OWN "/passwd"), "");
    assert_string_equal(link_of(ETC_LINKS_OWN "/mine"), "");
    assert_string_equal(link_of(ETC_LINKS_OWN "/trap"), outside);
}

static void a_directory_that_became_a_link_is_not_followed(void **state)
{
    AUTO(free) char *image = at("image");
    AUTO(free) char *own = at(ETC_LINKS_OWN);
    AUTO(free) char *aside = at("aside");
    AUTO(free) char *elsewhere = at("elsewhere");

    (void)state;
    make(NULL);
    assert_int_equal(mkdir(elsewhere, 0755), 0);
    assert_int_equal(rename(own, aside), 0);
    assert_int_equal(symlink(elsewhere, own), 0);
    put("pid", "1");
    assert_true(etc_links_follow(image, top, NULL) < 0);
    assert_false(is_there("elsewhere/passwd"));
}

/* /etc/slurm is a volume, and the runtime has not made its place yet. */
static void no_link_takes_the_place_of_a_volume(void **state)
{
    static const char *const targets[] = {"/etc/slurm", NULL};
    AUTO(free) char *image = at("image");
    AUTO(free) char *to = at(ETC_LINKS_OWN);

    (void)state;
    put("image/slurm/slurm.conf", "the machine's");
    put("image/passwd", "root:x:0:0::/root:/bin/sh\n");
    assert_int_equal(etc_links_follow(image, top, NULL), 0); /* it has no /etc of its own */
    assert_int_equal(etc_links_make(image, to, targets, NULL), 0);
    put("image/subuid", "joe:1:1\n");
    assert_int_equal(etc_links_follow(image, top, NULL), 0);
    assert_false(is_there(ETC_LINKS_OWN "/slurm"));
    assert_false(is_there(ETC_LINKS_OWN "/subuid"));
    put(ETC_LINKS_OWN "/slurm/slurm.conf", "the volume's");
    put("pid", "1");
    assert_int_equal(etc_links_follow(image, top, NULL), 0);
    assert_string_equal(link_of(ETC_LINKS_OWN "/slurm"), "");
    assert_string_equal(link_of(ETC_LINKS_OWN "/subuid"), "/.etc/subuid");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(entries_are_links_but_for_what_is_mounted, setup, teardown),
        cmocka_unit_test_setup_teardown(entries_come_and_go, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_container_made_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(no_link_takes_the_place_of_a_volume, setup, teardown),
        cmocka_unit_test_setup_teardown(a_directory_that_became_a_link_is_not_followed, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
