/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what `slurmkeeper up` shares with pods: not the machine's own directories, nothing
 * twice, and nothing through which root's paths lead.  They bring command lines of their own. */
#include "src/base/test/unit.h"

#include <stdarg.h>
#include <unistd.h>

#include "src/base/buf.h"
#include "src/cli/up.h"

#define STATE "/var/lib/slurmkeeper"

/* What --share names; ends with NULL. */
struct cli_args {
    const char *shares[4];
};

static char told[512];

const char *cli_get_at(const struct cli_args *args, const char *name, size_t i)
{
    assert_string_equal(name, "share");
    return i < ARRAY_LEN(args->shares) ? args->shares[i] : NULL;
}

int cli_failure(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(told, sizeof(told), fmt, ap);
    va_end(ap);
    return 1;
}

/* /mnt and /opt are on every Debian, and belong to nobody. */
static void the_working_directory_is_shared_unless_it_should_not_be(void **state)
{
    static const struct {
        const char *state;
        const char *here;
        const char *share;
        bool shared;
    } rows[] = {
        {STATE, "/mnt", NULL, true},
        {STATE, "/mnt", "/opt", true},
        {STATE, NULL, NULL, false},
        {STATE, "/nowhere/at/all", NULL, false},
        {STATE, "/etc/passwd", NULL, false},
        /* the machine's own */
        {STATE, "/", NULL, false},
        {STATE, "/root", NULL, false},
        {STATE, "/usr/lib", NULL, false},
        {STATE, "/tmp", NULL, false},
        {STATE, "/var/lib", NULL, false},
        /* it is shared anyway */
        {STATE, "/home", NULL, false},
        {STATE, "/mnt", "/mnt", false},
        /* jobs could exchange the cluster's own files */
        {"/mnt/cluster", "/mnt", NULL, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cli_args args = {{rows[i].share}};

        if (up_shares_here(&args, rows[i].state, rows[i].here) != rows[i].shared)
            fail_msg("row %zu: %s", i, rows[i].here);
    }
}

static void expect_args(const char *where, const char *here, const struct cli_args *args,
                        size_t max, const char *expected)
{
    const char *argv[16] = {"serve"};
    size_t n = up_share_args(args, where, here, argv, 1, max);
    AUTO(buf_done) struct buf b = {0};

    assert_true(n <= max);
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s%s", i ? " " : "", argv[i]);
    assert_string_equal(buf_str(&b), expected);
}

static void what_is_named_lasts_and_the_rest_is_for_now(void **state)
{
    static const struct cli_args none = {{NULL}};
    static const struct cli_args two = {{"/opt", "/media"}};

    (void)state;
    expect_args(STATE, "/mnt", &none, 16,
                "serve --share-now /home --share-now /srv --share-now /mnt");
    expect_args(STATE, "/root", &two, 16,
                "serve --share-now /home --share-now /srv --share /opt --share /media");
    /* the state directory lies in a home */
    expect_args("/home/ann/cluster", NULL, &none, 16, "serve --share-now /srv");
    expect_args(STATE, "/mnt", &two, 6, "serve --share-now /home --share-now /srv");
}

static void a_cluster_that_runs_shares_nothing_more(void **state)
{
    static const struct cli_args args = {{"/opt", "/mnt"}};
    char opt[] = "/opt";
    char mnt[] = "/mnt";
    char *one[] = {opt, NULL};
    char *both[] = {mnt, opt, NULL};
    struct choices c = {.shares = one};
    struct err e = {0};

    (void)state;
    assert_int_equal(up_share_check(&args, &c, &e), -EINVAL);
    assert_string_equal(e.text, "the cluster runs and does not share '/mnt': take it down first "
                                "('slurmkeeper down'), then bring it up with --share");
    c.shares = both;
    assert_int_equal(up_share_check(&args, &c, &e), 0);
    c.shares = NULL;
    assert_int_equal(up_share_check(&args, &c, &e), -EINVAL);
}

static void a_program_where_jobs_write_is_told_of(void **state)
{
    static const struct cli_args args = {{"/"}};
    static const struct cli_args none = {{NULL}};

    (void)state;
    told[0] = '\0';
    assert_int_equal(chdir("/"), 0);
    up_share_tell(&none, STATE, "/usr/bin/env");
    assert_null(strstr(told, "Slurm lies"));
    up_share_tell(&args, STATE, "/usr/bin/env");
    assert_non_null(strstr(told, "Slurm lies in '/', which jobs may write"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_working_directory_is_shared_unless_it_should_not_be),
        cmocka_unit_test(what_is_named_lasts_and_the_rest_is_for_now),
        cmocka_unit_test(a_cluster_that_runs_shares_nothing_more),
        cmocka_unit_test(a_program_where_jobs_write_is_told_of),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
