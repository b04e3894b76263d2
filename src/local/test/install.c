/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the search for a Slurm: which of several is the cluster's. */
#include "src/base/test/unit.h"

#include <stdio.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/file.h"
#include "src/local/host.h"
#include "src/slurm/profile.h"

static char root[64];

static void put(const char *path, const char *says)
{
    AUTO(free) char *full = xasprintf("%s/%s", root, path);
    AUTO(free) char *dir = xstrdup(full);
    AUTO(free) char *script = xasprintf("#!/bin/sh\necho 'slurm-wlm %s'\n", says);
    struct err e = {0};

    *strrchr(dir, '/') = '\0';
    assert_int_equal(file_make_dirs(dir, 0755, &e), 0);
    assert_int_equal(file_write(full, str_of(script), 0755, &e), 0);
}

static void put_all(const char *prefix, const char *release)
{
    static const char *const programs[] = {"sbin/slurmctld", "sbin/slurmd", "bin/sinfo",
                                           "sbin/sackd"};

    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        AUTO(free) char *path = xasprintf("%s/%s", prefix, programs[i]);

        put(path, release);
    }
}

static void link_to(const char *to, const char *path)
{
    AUTO(free) char *target = xasprintf("%s/%s", root, to);
    AUTO(free) char *full = xasprintf("%s/%s", root, path);

    assert_int_equal(symlink(target, full), 0);
}

static int setup(void **state)
{
    (void)state;
    (void)snprintf(root, sizeof(root), "/tmp/install-XXXXXX");
    assert_non_null(mkdtemp(root));
    put_all("opt/slurm-26.05", "26.05.3");
    put_all("local", "24.11.5");
    link_to("opt/slurm-26.05", "opt/slurm");
    put("half/sbin/slurmctld", "25.11.1");
    put("half/bin/sinfo", "25.11.1");
    put("nosack/sbin/slurmctld", "24.05.1");
    put("nosack/sbin/slurmd", "24.05.1");
    put("nosack/bin/sinfo", "24.05.1");
    put_all("strange", "of another kind");
    return 0;
}

static int teardown(void **state)
{
    struct err e = {0};

    (void)state;
    return file_remove_tree(root, &e);
}

/* R stands for the directory of the test. */
static char *expand(const char *text)
{
    AUTO(buf_done) struct buf b = {0};

    for (; text && *text; text++) {
        if (*text == 'R')
            buf_adds(&b, root);
        else
            buf_addc(&b, *text);
    }
    return text ? xstrdup(buf_str(&b)) : NULL;
}

static void one_answer_out_of_what_is_named_kept_and_in_path(void **state)
{
    static const struct {
        const char *named;
        const char *kept;
        const char *path;
        const char *prefix; /* or what is said */
        uint32_t release;   /* 0: it fails */
    } rows[] = {
        /* the first of PATH, be it /opt or /usr/local; with sbin or with bin alone */
        {NULL, NULL, "R/opt/slurm-26.05/sbin:R/local/sbin", "R/opt/slurm-26.05", RELEASE(26, 5, 3)},
        {NULL, NULL, "R/local/bin:R/opt/slurm-26.05/bin", "R/local", RELEASE(24, 11, 5)},
        {NULL, NULL, "R/none:R/opt/slurm-26.05/bin", "R/opt/slurm-26.05", RELEASE(26, 5, 3)},
        /* what the cluster has goes before PATH, and --slurm before both */
        {NULL, "R/local", "R/opt/slurm-26.05/bin", "R/local", RELEASE(24, 11, 5)},
        {"R/opt/slurm-26.05/", "R/local", "R/local/bin", "R/opt/slurm-26.05", RELEASE(26, 5, 3)},
        {"R/local", NULL, NULL, "R/local", RELEASE(24, 11, 5)},
        /* a link may lead elsewhere tomorrow; the cluster's Slurm is where it leads now */
        {"R/opt/slurm/", NULL, NULL, "R/opt/slurm-26.05", RELEASE(26, 5, 3)},
        {NULL, NULL, "R/opt/slurm/sbin", "R/opt/slurm-26.05", RELEASE(26, 5, 3)},
        /* one that is gone, not whole, or none */
        {NULL, "R/gone", "R/local/bin", "which is not there any more; --slurm PREFIX", 0},
        {"R/gone", NULL, "R/local/bin", "lacks sbin/slurmctld, sbin/slurmd, bin/sinfo;", 0},
        {NULL, NULL, "R/half/sbin:R/local/sbin", "half' lacks sbin/slurmd;", 0},
        {"R/nosack", NULL, NULL, "R/nosack", RELEASE(24, 5, 1)}, /* munge does without */
        {"R/strange", NULL, NULL, "release", 0},
        {"local", NULL, NULL, "'local' is not the absolute path of a prefix", 0},
        {"/", NULL, NULL, "'/' is not the absolute path of a prefix", 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(free) char *named = rows[i].named ? expand(rows[i].named) : NULL;
        AUTO(free) char *kept = rows[i].kept ? expand(rows[i].kept) : NULL;
        AUTO(free) char *path = rows[i].path ? expand(rows[i].path) : NULL;
        AUTO(free) char *prefix = expand(rows[i].prefix);
        AUTO(install_done) struct install found = {0};
        struct install_wish wish = {named, kept, path};
        struct err e = {0};
        int r = install_find(&wish, &found, &e);

        if (rows[i].release == 0 && (r == 0 || !strstr(e.text, rows[i].prefix)))
            fail_msg("row %zu: %s", i, r == 0 ? found.prefix : e.text);
        if (rows[i].release != 0 && (r < 0 || found.release != rows[i].release))
            fail_msg("row %zu: %s", i, r < 0 ? e.text : "another release");
        if (rows[i].release != 0)
            assert_string_equal(found.prefix, prefix);
    }
}

static void a_step_that_slurm_does_not_make_is_refused(void **state)
{
    static const struct {
        uint32_t from;
        uint32_t to;
        const char *says; /* NULL: it is fine */
    } rows[] = {
        {0, SERIES(26, 5), NULL},
        {RELEASE(22, 5, 8), RELEASE(22, 5, 9), NULL},
        {RELEASE(22, 5, 8), RELEASE(23, 11, 1), NULL},
        {RELEASE(22, 5, 8), RELEASE(24, 11, 5),
         "written by another release: Slurm 22.05 cannot become 24.11 at once"},
        {RELEASE(24, 11, 5), RELEASE(26, 5, 3), NULL},
        {RELEASE(26, 5, 3), RELEASE(24, 11, 5), "Slurm 26.05 cannot become 24.11 again"},
        {RELEASE(26, 5, 3), RELEASE(26, 5, 1), NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = {0};
        int r = install_check_step(rows[i].from, rows[i].to, &e);

        if ((r == 0) != (rows[i].says == NULL) || (r < 0 && !strstr(e.text, rows[i].says)))
            fail_msg("row %zu: %s", i, e.text);
    }
}

static void an_agent_that_does_not_speak_with_this_slurm_is_told(void **state)
{
    AUTO(free) char *program = xasprintf("%s/ours/slurmkeeper", root);
    char prefix[] = "/opt/slurm-26.05";
    struct install slurm = {.prefix = prefix, .release = RELEASE(26, 5, 3)};
    struct err e = {0};

    (void)state;
    assert_int_equal(host_find_agent(program, &slurm, &e), 0);
    put("ours/slurmkeeper-agent", "");
    put("ours/slurmkeeper-agent-worker-22.05", "");
    assert_int_equal(host_find_agent(program, &slurm, &e), -ENOENT);
    assert_non_null(strstr(e.text, "not built for Slurm 26.05, which is in '/opt/slurm-26.05': "
                                   "configure the build with -Dslurm=/opt/slurm-26.05"));
    put("ours/slurmkeeper-agent-worker-24.11", "");
    assert_int_equal(host_find_agent(program, &slurm, &e), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_answer_out_of_what_is_named_kept_and_in_path),
        cmocka_unit_test(a_step_that_slurm_does_not_make_is_refused),
        cmocka_unit_test(an_agent_that_does_not_speak_with_this_slurm_is_told),
    };

    return cmocka_run_group_tests_name("install", tests, setup, teardown);
}
