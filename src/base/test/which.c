/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the search for programs. */
#include "src/base/test/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/file.h"
#include "src/base/which.h"

static char root[64];

static void put(const char *path, mode_t mode)
{
    AUTO(free) char *full = xasprintf("%s/%s", root, path);
    AUTO(free) char *dir = xstrdup(full);
    struct err e = {0};
    int fd;

    *strrchr(dir, '/') = '\0';
    assert_int_equal(file_make_dirs(dir, 0755, &e), 0);
    fd = open(full, O_WRONLY | O_CREAT | O_CLOEXEC, mode);
    assert_true(fd >= 0);
    (void)fchmod(fd, mode);
    (void)close(fd);
}

static int setup(void **state)
{
    (void)state;
    (void)snprintf(root, sizeof(root), "/tmp/which-XXXXXX");
    assert_non_null(mkdtemp(root));
    put("opt/sbin/slurmctld-x", 0755);
    put("opt/bin/sinfo-x", 0755);
    put("local/sbin/slurmctld-x", 0755);
    put("local/bin/sinfo-x", 0755);
    put("data/bin/sinfo-x", 0644);
    put("tree/bin/sinfo-x/file", 0755);
    return 0;
}

static int teardown(void **state)
{
    struct err e = {0};

    (void)state;
    return file_remove_tree(root, &e);
}

/* R stands for the directory of the test. */
static char *expand(const char *list)
{
    AUTO(buf_done) struct buf b = {0};

    for (; *list; list++) {
        if (*list == 'R')
            buf_adds(&b, root);
        else
            buf_addc(&b, *list);
    }
    return xstrdup(buf_str(&b));
}

static void the_first_of_the_path_counts(void **state)
{
    static const struct {
        const char *path; /* NULL: there is none */
        const char *name;
        const char *found; /* NULL: nothing */
    } rows[] = {
        {"R/opt/sbin:R/local/sbin", "slurmctld-x", "R/opt/sbin/slurmctld-x"},
        {"R/local/sbin:R/opt/sbin", "slurmctld-x", "R/local/sbin/slurmctld-x"},
        {"R/none:R/opt/sbin/", "slurmctld-x", "R/opt/sbin/slurmctld-x"},
        /* a PATH without sbin */
        {"R/opt/bin:R/local/sbin", "slurmctld-x", "R/opt/sbin/slurmctld-x"},
        {"R/opt/sbin", "sinfo-x", NULL},
        /* what is no program, or no place to look in */
        {"R/data/bin:R/tree/bin:R/local/bin", "sinfo-x", "R/local/bin/sinfo-x"},
        {"opt/sbin:.::R/local/sbin", "slurmctld-x", "R/local/sbin/slurmctld-x"},
        /* the usual places come last, and need no PATH */
        {"R/opt/sbin", "sh", "/usr/bin/sh"},
        {"", "sh", "/usr/bin/sh"},
        {NULL, "sh", "/usr/bin/sh"},
        {NULL, "slurmctld-x", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(free) char *path = rows[i].path ? expand(rows[i].path) : NULL;
        AUTO(free) char *want = rows[i].found ? expand(rows[i].found) : NULL;
        AUTO(free) char *found = which_program(rows[i].name, path);

        if (!streq(found, want) && (found || want))
            fail_msg("row %zu: %s and not %s", i, found, want);
    }
}

static void a_program_is_in_a_prefix(void **state)
{
    static const char *const rows[][2] = {
        {"/opt/slurm-26.05/sbin/slurmctld", "/opt/slurm-26.05"},
        {"/usr/sbin/slurmctld", "/usr"},
        {"/sbin/slurmctld", "/usr"},
        {"/usr/local/bin/sinfo", "/usr/local"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(free) char *prefix = which_prefix(rows[i][0]);

        assert_string_equal(prefix, rows[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_of_the_path_counts),
        cmocka_unit_test(a_program_is_in_a_prefix),
    };

    return cmocka_run_group_tests_name("which", tests, setup, teardown);
}
