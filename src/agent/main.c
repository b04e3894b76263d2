/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entry point of slurmkeeper-agent.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "src/agent/agent.h"
#include "src/agent/seed.h"
#include "src/base/log.h"

static int fail(const struct err *e)
{
    log_error("%s", e->text);
    return 1;
}

static int help(void)
{
    AUTO(buf_done) struct buf text = {0};

    options_help(&text);
    (void)fputs(buf_str(&text), stdout);
    return 0;
}

int main(int argc, char **argv)
{
    struct agent_options o;
    struct err e = {0};

    (void)umask(077);
    log_set_name("agent");
    if (options_parse(argc, argv, &o, &e) < 0) {
        (void)fprintf(stderr, "slurmkeeper-agent: %s\n", e.text);
        return 2;
    }
    switch (o.mode) {
    case AGENT_HELP:
        return help();
    case AGENT_VERSION:
        (void)puts("slurmkeeper-agent " SLURMKEEPER_VERSION);
        return 0;
    case AGENT_SEED:
        return seed_run(&o, &e) < 0 ? fail(&e) : 0;
    case AGENT_RUN:
        break;
    }
    return agent_run(&o, &e) < 0 ? fail(&e) : 0;
}
