/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper version, completion, manual: what the program says about itself.
 */
#include <stdio.h>

#include "src/cli/verbs.h"

static int print(void (*fill)(struct buf *b))
{
    AUTO(buf_done) struct buf b = {0};

    fill(&b);
    return fputs(buf_str(&b), stdout) < 0 || fflush(stdout) != 0 ? 1 : 0;
}

int verb_completion_run(const struct cli_args *args)
{
    (void)args;
    return print(cli_print_completion);
}

int verb_manual_run(const struct cli_args *args)
{
    (void)args;
    return print(cli_print_manual);
}

int verb_version_run(const struct cli_args *args)
{
    (void)args;
    return puts("slurmkeeper " SLURMKEEPER_VERSION) < 0 ? 1 : 0;
}
