/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What slurmctld runs, as far as the record and its start time tell.
 */
#include "src/agent/apply/engine_impl.h"

#include "src/base/log.h"

void engine_running_find(struct engine *g)
{
    const struct record *good = store_good(g->o.store);
    const struct record *pending = store_pending(g->o.store);
    const struct record *runs = good;
    struct candidate *c = NULL;
    struct err e = {0};

    if (pending && hub_boot_time(g->o.hub) * 1000000 > pending->written_us)
        runs = pending;
    if (!runs)
        return;
    if (candidate_of(g, runs, hub_release(g->o.hub), &c, &e) < 0) {
        log_error("the recorded configuration cannot be read: %s", e.text);
        return;
    }
    (void)candidate_free(g->running);
    g->running = c;
}

void engine_running_refresh(struct engine *g)
{
    if (!g->running || g->running->release != hub_release(g->o.hub))
        engine_running_find(g);
}
