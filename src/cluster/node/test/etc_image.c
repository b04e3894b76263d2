/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the /etc that containers begin with. */
#include "src/base/test/unit.h"

#include <stdio.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/node/runtime/etc_image.h"

static char dir[] = "/tmp/node-etc-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
    return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return file_remove_tree(dir, NULL);
}

static char *at(const char *path)
{
    return xasprintf("%s/%s", dir, path);
}

static void put(const char *path, mode_t mode, const char *text)
{
    AUTO(free) char *full = at(path);

    assert_int_equal(file_write(full, str_of(text), mode, NULL), 0);
}

static void put_dir(const char *path, mode_t mode)
{
    AUTO(free) char *full = at(path);

    assert_int_equal(file_make_dirs(full, mode, NULL), 0);
}

/* The mode of what is there, 0 where there is nothing. */
static mode_t mode_of(const char *path)
{
    AUTO(free) char *full = at(path);
    struct stat st;

    return lstat(full, &st) == 0 ? st.st_mode & 07777 : 0;
}

static void assert_text(const char *path, const char *expected)
{
    AUTO(free) char *full = at(path);
    AUTO(free) char *text = NULL;
    size_t n;

    assert_int_equal(file_read(full, 4096, &text, &n, NULL), 0);
    assert_string_equal(text, expected);
}

static void sync_now(void)
{
    AUTO(free) char *from = at("etc");
    AUTO(free) char *to = at("image");
    struct err e = {0};

    if (etc_image_sync(from, to, &e) < 0)
        fail_msg("%s", e.text);
}

static void make_etc(void)
{
    put_dir("etc", 0755);
    put("etc/passwd", 0644, "root:x:0:0:root:/root:/bin/sh\njoe:x:1000:1000::/home/joe:/bin/sh\n");
    put("etc/shadow", 0640, "root:$y$hash:1::::::\n");
    put("etc/shadow-", 0644, "root:$y$older:1::::::\n");
    put("etc/group", 0644, "root:x:0:\n");
    put_dir("etc/ssh", 0755);
    put("etc/ssh/ssh_host_key", 0600, "secret");
    put("etc/ssh/ssh_config", 0644, "plain");
    put_dir("etc/private", 0710);
    put("etc/private/readable", 0644, "secret");
    put_dir("etc/slurm", 0755);
    put("etc/slurm/slurm.conf", 0644, "of another cluster");
    put_dir("etc/kubernetes", 0755);
    put("etc/kubernetes/admin.conf", 0644, "of another cluster");
}

static void what_not_everybody_may_read_is_left_out(void **state)
{
    (void)state;
    make_etc();
    sync_now();
    assert_text("image/ssh/ssh_config", "plain");
    assert_int_equal(mode_of("image/ssh/ssh_config"), 0644);
    assert_int_equal(mode_of("image/ssh/ssh_host_key"), 0);
    assert_int_equal(mode_of("image/private"), 0710);
    assert_int_equal(mode_of("image/private/readable"), 0);
    assert_int_equal(mode_of("image/shadow-"), 0);
}

static void other_clusters_leave_empty_directories(void **state)
{
    (void)state;
    make_etc();
    sync_now();
    assert_int_equal(mode_of("image/slurm"), 0755);
    assert_int_equal(mode_of("image/slurm/slurm.conf"), 0);
    assert_int_equal(mode_of("image/kubernetes/admin.conf"), 0);
}

static void every_user_is_valid_and_none_has_a_password(void **state)
{
    (void)state;
    make_etc();
    sync_now();
    assert_text("image/shadow", "root:*:::::::\njoe:*:::::::\n");
    assert_int_equal(mode_of("image/shadow"), 0640);
}

static void what_is_no_longer_for_all_goes(void **state)
{
    AUTO(free) char *config = at("etc/ssh/ssh_config");
    AUTO(free) char *group = at("etc/group");
    AUTO(free) char *ssh = at("etc/private");

    (void)state;
    make_etc();
    sync_now();
    assert_int_equal(chmod(config, 0600), 0);
    assert_int_equal(unlink(group), 0);
    assert_int_equal(chmod(ssh, 0755), 0);
    put("etc/passwd", 0644, "root:x:0:0:root:/root:/bin/sh\n");
    sync_now();
    assert_int_equal(mode_of("image/ssh/ssh_config"), 0);
    assert_int_equal(mode_of("image/group"), 0);
    assert_int_equal(mode_of("image/private/readable"), 0644);
    assert_text("image/shadow", "root:*:::::::\n");
    assert_int_equal(chmod(ssh, 0700), 0);
    sync_now();
    assert_int_equal(mode_of("image/private"), 0700);
    assert_int_equal(mode_of("image/private/readable"), 0);
}

static void kinds_may_change(void **state)
{
    AUTO(free) char *link = at("etc/localtime");
    AUTO(free) char *copied = at("image/localtime");
    char to[64];
    ssize_t n;

    (void)state;
    make_etc();
    put_dir("etc/localtime", 0755);
    put("etc/localtime/x", 0644, "x");
    sync_now();
    assert_int_equal(file_remove_tree(link, NULL), 0);
    assert_int_equal(symlink("/nowhere", link), 0);
    sync_now();
    n = readlink(copied, to, sizeof(to));
    assert_int_equal(n, 8);
    assert_int_equal(unlink(link), 0);
    put("etc/localtime", 0644, "file");
    sync_now();
    assert_text("image/localtime", "file");
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("/nowhere", link), 0);
    sync_now();
    assert_int_equal(unlink(link), 0);
    sync_now();
    assert_int_equal(mode_of("image/localtime"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_not_everybody_may_read_is_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_clusters_leave_empty_directories, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_user_is_valid_and_none_has_a_password, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_longer_for_all_goes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kinds_may_change, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
