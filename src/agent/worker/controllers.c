/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The controllers of the cluster.
 *
 * libslurm pings a controller by its number and tells nobody how many there are, at least not while
 * none of them is up.  So the file is read once more with our own parser.  A file that cannot be
 * read counts as one with a single controller, which is what most of them have.
 */
#include "src/agent/worker/controllers.h"

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "src/base/alloc.h"
#include "src/slurm/conf.h"

#define CONTROLLERS_MAX 16

static char *names[CONTROLLERS_MAX];
static size_t count;

/* "name(address)" is called name. */
static void controller_add(const char *host)
{
    struct str name = {host, str_find(str_of(host), '(')};

    if (count < CONTROLLERS_MAX)
        names[count++] = str_dup(name);
}

void controllers_read(const struct conf *conf)
{
    size_t n = 0;
    const struct conf_line *lines = conf ? conf_lines(conf, &n) : NULL;

    for (size_t i = 0; i < n; i++)
        if (lines[i].section == CONF_GLOBAL &&
            str_eq_nocase(str_of(lines[i].pairs[0].key), STR("SlurmctldHost")))
            controller_add(lines[i].pairs[0].value);
    if (count == 0)
        controller_add("slurmctld");
}

size_t controllers_count(void)
{
    return count;
}

const char *controllers_name(size_t i)
{
    return names[i];
}

int controllers_ping(size_t i)
{
    int r;

    errno = 0;
    r = slurm_ping((int)i);
    if (r == SLURM_SUCCESS)
        return 0;
    return errno ? errno : r;
}

bool controllers_all_down(void)
{
    for (size_t i = 0; i < count; i++) {
        int code = controllers_ping(i);

        if (code != SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR &&
            code != SLURM_COMMUNICATIONS_CONNECTION_ERROR)
            return false;
    }
    return count > 0;
}
