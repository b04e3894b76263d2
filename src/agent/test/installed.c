/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests: which of several workers is started, and which slurmctld decides. */
#include "src/base/test/unit.h"

#include <stdio.h>
#include <sys/stat.h>

#include "src/agent/installed.h"
#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/slurm/profile.h"

#define WORKER "slurmkeeper-agent-worker"

static char root[64];

static void put(const char *path, const char *text)
{
    AUTO(free) char *full = xasprintf("%s/%s", root, path);
    AUTO(free) char *dir = xstrdup(full);
    struct err e = {0};

    *strrchr(dir, '/') = '\0';
    assert_int_equal(file_make_dirs(dir, 0755, &e), 0);
    assert_int_equal(file_write(full, str_of(text), 0755, &e), 0);
}

static int setup(void **state)
{
    (void)state;
    (void)snprintf(root, sizeof(root), "/tmp/installed-XXXXXX");
    assert_non_null(mkdtemp(root));
    put("all/" WORKER, "");
    put("all/" WORKER "-22.05", "");
    put("all/" WORKER "-24.11", "");
    put("image/" WORKER, "");
    put("opt/slurm/sbin/slurmctld", "#!/bin/sh\necho slurm 26.05.3\n");
    return 0;
}

static int teardown(void **state)
{
    struct err e = {0};

    (void)state;
    return file_remove_tree(root, &e);
}

static void the_worker_is_of_the_release_or_of_the_next_older_one(void **state)
{
    static const struct {
        const char *dir;
        uint32_t release;
        const char *found; /* "": none */
    } rows[] = {
        {"all", RELEASE(22, 5, 8), "-22.05"},
        {"all", RELEASE(24, 11, 5), "-24.11"},
        {"all", RELEASE(26, 5, 3), "-24.11"},
        {"all", RELEASE(23, 11, 1), "-22.05"},
        {"all", RELEASE(24, 5, 1), NULL}, /* nobody speaks with it: the plain one will say so */
        {"all", 0, NULL},
        {"image", RELEASE(26, 5, 3), NULL},
        {"none", RELEASE(26, 5, 3), ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(free) char *dir = xasprintf("%s/%s", root, rows[i].dir);
        AUTO(free)
        char *want = xasprintf("%s/" WORKER "%s", dir, rows[i].found ? rows[i].found : "");
        const char *const dirs[] = {"/nonexistent", dir, NULL};
        AUTO(free) char *found = installed_worker(dirs, rows[i].release);

        if (streq(rows[i].found, "") ? found != NULL : !streq(found, want))
            fail_msg("row %zu: %s", i, found ? found : "nothing");
    }
}

static void slurmctld_is_the_first_of_path_and_brings_its_library(void **state)
{
    AUTO(free) char *program = xasprintf("%s/opt/slurm/sbin/slurmctld", root);
    AUTO(free) char *path = xasprintf("%s/opt/slurm/bin:/usr/bin", root);
    AUTO(free) char *library = xasprintf("%s/opt/slurm/lib:%s/opt/slurm/lib64", root, root);
    AUTO(free) char *before = xstrdup_null(getenv("PATH"));
    AUTO(installed_done) struct installed found = {0};
    AUTO(installed_done) struct installed none = {0};
    struct agent_options o = {.worker = "/given"};

    (void)state;
    assert_int_equal(setenv("PATH", path, 1), 0);
    installed_find(&o, &found);
    assert_int_equal(setenv("PATH", before ? before : "/usr/bin", 1), 0);
    assert_string_equal(found.slurmctld, program);
    assert_int_equal(found.release, RELEASE(26, 5, 3));
    assert_string_equal(found.library_path, library);
    assert_string_equal(found.worker, "/given");
    o.slurmctld = "";
    installed_find(&o, &none);
    assert_null(none.slurmctld);
    assert_int_equal(none.release, 0);
    assert_null(none.library_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worker_is_of_the_release_or_of_the_next_older_one),
        cmocka_unit_test(slurmctld_is_the_first_of_path_and_brings_its_library),
    };

    return cmocka_run_group_tests_name("installed", tests, setup, teardown);
}
