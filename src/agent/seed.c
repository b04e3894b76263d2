/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Seeding.
 *
 * slurmctld needs its files before the agent runs.
 *
 *   a pod whose containers were started again   has them; they may be newer than the mount, and
 * stay a new pod of a cluster that has run before  gets what slurmctld last served with (proven.c)
 *   the first pod                               gets what is mounted
 *
 * Keys always come from the mount: nobody else has them.
 */
#include "src/agent/seed.h"

#include "src/agent/installed.h"
#include "src/agent/proven.h"
#include "src/base/alloc.h"
#include "src/base/log.h"
#include "src/slurm/profile.h"

static int seed_mounted(struct store *s, struct fileset *declared, struct err *e)
{
    size_t changed = 0;

    fileset_open_modes(declared);
    return store_write(s, declared, &changed, e);
}

int seed_run(const struct agent_options *o, struct err *e)
{
    AUTO(store_free) struct store *s = NULL;
    AUTO(fileset_done) struct fileset declared = {0};
    AUTO(fileset_done) struct fileset there = {0};
    AUTO(fileset_done) struct fileset keys = {0};
    size_t changed = 0;
    int r = store_open(o->live, &s, e);

    if (r == 0)
        r = fileset_read(o->mount, &declared, e);
    if (r == 0)
        r = fileset_read(o->live, &there, e);
    if (r < 0)
        return r;
    fileset_split_keys(&declared, &keys);
    r = store_write_keys(s, &keys, &changed, e);
    if (r < 0)
        return r;
    if (fileset_get(&there, "slurm.conf")) {
        log_info("'%s' has a slurm.conf: left as it is", o->live);
        return 0;
    }
    if (o->proven[0]) {
        AUTO(installed_done) struct installed slurm;

        installed_find(o, &slurm);
        r = proven_restore(o->proven, s, slurm.release, e);
        if (r > 0)
            log_info("'%s' has the %zu files that slurmctld last served with", o->live,
                     store_good(s)->files.n);
        if (r != 0)
            return MIN(r, 0);
    }
    r = seed_mounted(s, &declared, e);
    if (r == 0)
        log_info("%zu files from '%s' to '%s'", declared.n, o->mount, o->live);
    return r;
}
