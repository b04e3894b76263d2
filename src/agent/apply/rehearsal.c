/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The step that has a scratch slurmctld start on the candidate.  It is about the candidate alone:
 * nothing has been touched yet.
 */
#include "src/agent/apply/engine_impl.h"

static void on_rehearsed(void *arg, int r, const struct err *e)
{
    struct job *j = arg;

    j->rehearsal = NULL;
    if (r < 0)
        step_failed(j, r, e);
    else
        step_done(j);
}

void step_rehearse(struct job *j)
{
    const struct host_set *dynamic = hub_nodes(j->engine->o.hub, true);
    struct rehearse_options o = {.slurmctld = j->engine->o.slurmctld,
                                 .live = store_live(j->engine->o.store),
                                 .dynamic_nodes = dynamic};
    struct err e = {0};
    int r = j->engine->o.rehearse->start(j->engine->o.loop, &o, j->aim.to, on_rehearsed, j,
                                         &j->rehearsal, &e);

    if (r < 0)
        step_failed(j, r, &e);
}
