/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the list of Slurms that pods may run. */
#include "src/base/test/unit.h"

#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/local/slurms.h"
#include "src/slurm/profile.h"

static char root[] = "/tmp/sk-slurms-XXXXXX";

static void put_slurm(const char *name)
{
    AUTO(free) char *dir = xasprintf("%s/%s/sbin", root, name);
    AUTO(free) char *path = xasprintf("%s/slurmctld", dir);

    assert_int_equal(file_make_dirs(dir, 0755, NULL), 0);
    assert_int_equal(file_write(path, STR("#!/bin/sh\n"), 0755, NULL), 0);
}

static void note(const char *name, uint32_t release)
{
    AUTO(free) char *prefix = xasprintf("%s/%s", root, name);
    struct install i = {prefix, release};

    assert_int_equal(slurms_note(root, &i, NULL), 0);
}

static void expect(const char *lines)
{
    AUTO(free) char *path = xasprintf("%s/slurms", root);
    AUTO(free) char *text = NULL;
    AUTO(buf_done) struct buf b = {0};
    size_t n;

    assert_int_equal(file_read(path, 4096, &text, &n, NULL), 0);
    for (const char *p = text; *p; p++) {
        if (strncmp(p, root, strlen(root)) == 0)
            p += strlen(root);
        buf_addc(&b, *p);
    }
    assert_string_equal(buf_str(&b), lines);
}

static void each_prefix_is_known_once_while_it_is_there(void **state)
{
    AUTO(free) char *old = xasprintf("%s/old", root);

    (void)state;
    put_slurm("old");
    put_slurm("new");
    note("old", RELEASE(24, 11, 5));
    expect("24.11.5 /old\n");
    note("new", RELEASE(26, 5, 3));
    expect("24.11.5 /old\n26.05.3 /new\n");
    note("new", RELEASE(26, 5, 5)); /* the packages were upgraded */
    note("new", RELEASE(26, 5, 5));
    expect("24.11.5 /old\n26.05.5 /new\n");
    assert_int_equal(file_remove_tree(old, NULL), 0);
    note("new", RELEASE(26, 5, 5));
    expect("26.05.5 /new\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_prefix_is_known_once_while_it_is_there),
    };
    int r;

    if (!mkdtemp(root))
        return 1;
    r = cmocka_run_group_tests(tests, NULL, NULL);
    (void)!file_remove_tree(root, NULL);
    return r;
}
