/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Seeding.
 *
 * slurmctld needs its files before the agent runs.  In a new pod the live directory is empty, and
 * what is mounted is as good as anything.  In a pod whose containers were started again it is not:
 * the agent has put files there that may be newer than the mount, and they stay.  Keys always come
 * from the mount: nobody else has them.
 */
#include "src/agent/seed.h"

#include "src/agent/store.h"
#include "src/base/log.h"

int seed_run(const char *mount, const char *live, struct err *e)
{
    AUTO(store_free) struct store *s = NULL;
    AUTO(fileset_done) struct fileset declared = {0};
    AUTO(fileset_done) struct fileset there = {0};
    AUTO(fileset_done) struct fileset keys = {0};
    size_t changed = 0;
    int r = store_open(live, &s, e);

    if (r == 0)
        r = fileset_read(mount, &declared, e);
    if (r == 0)
        r = fileset_read(live, &there, e);
    if (r < 0)
        return r;
    fileset_split_keys(&declared, &keys);
    r = store_write_keys(s, &keys, &changed, e);
    if (r < 0)
        return r;
    if (fileset_get(&there, "slurm.conf")) {
        log_info("'%s' has a slurm.conf: left as it is", live);
        return 0;
    }
    fileset_open_modes(&declared);
    r = store_write(s, &declared, &changed, e);
    if (r == 0)
        log_info("%zu files from '%s' to '%s'", declared.n, mount, live);
    return r;
}
