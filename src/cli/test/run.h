/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests: a command line, carried out in this process; what it printed and how it ended. */
#pragma once

#include "src/base/test/unit.h"

#include <stdio.h>
#include <unistd.h>

#include "src/base/alloc.h"
#include "src/base/str.h"
#include "src/cli/cli.h"

#define RUN_MAX_WORDS 16

/* Texts are owned by the caller: run_done. */
struct run {
    int status;
    char *out;
    char *err;
};

static inline UNUSED void run_done(struct run *r)
{
    free(r->out);
    free(r->err);
    *r = (struct run){0};
}
DEFINE_AUTO_DONE(struct run, run_done);

/* Send a descriptor to a file without a name; returns the old one. */
static inline UNUSED int run_divert(FILE *stream, FILE **ret_file)
{
    int old = dup(fileno(stream));

    *ret_file = tmpfile();
    assert_non_null(*ret_file);
    (void)fflush(stream);
    assert_true(dup2(fileno(*ret_file), fileno(stream)) >= 0);
    return old;
}

static inline UNUSED char *run_restore(FILE *stream, FILE *file, int old)
{
    char *text;
    long n;

    (void)fflush(stream);
    assert_true(dup2(old, fileno(stream)) >= 0);
    (void)close(old);
    n = lseek(fileno(file), 0, SEEK_END);
    text = xcalloc((size_t)n + 1, 1);
    assert_int_equal(pread(fileno(file), text, (size_t)n, 0), n);
    (void)fclose(file);
    return text;
}

/* run_of("crds NodeSet --plain"): words with blanks between. */
static inline UNUSED struct run run_of(const char *line)
{
    AUTO(free) char *words = xstrdup(line);
    char program[] = "slurmkeeper";
    char *argv[RUN_MAX_WORDS + 2] = {program};
    struct run r = {0};
    FILE *out;
    FILE *err;
    char *at = words;
    int argc = 1;
    int old_out;
    int old_err;

    while (at && *at && argc <= RUN_MAX_WORDS)
        argv[argc++] = strsep(&at, " ");
    old_out = run_divert(stdout, &out);
    old_err = run_divert(stderr, &err);
    r.status = cli_main(argc, argv);
    r.out = run_restore(stdout, out, old_out);
    r.err = run_restore(stderr, err, old_err);
    return r;
}
