/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The step that has slurmctld read its files.
 *
 * One that does not answer has died of it, perhaps: it gets its old files back.
 */
#include "src/agent/apply/engine_impl.h"

#define RECONFIGURE_TIMEOUT_MS 60000

static bool settings_differ(const struct job *j)
{
    for (size_t i = 0; i < j->aim.compared.slurm.n; i++)
        if (j->aim.compared.slurm.list[i].section == CONF_GLOBAL)
            return true;
    return false;
}

/*
 * slurmctld is gone, or silent.  That may be an accident, the first time; when the same declaration
 * does it again, it is not.
 */
static void reconfigure_failed(struct job *j, int r, const struct err *e)
{
    struct engine *g = j->engine;
    struct err why = e ? *e : (struct err){0};

    if (!step_is_refusal(r)) {
        j->fate = FATE_LOST;
        why.class = streq(g->deadly, j->record->hash) ? ERR_PERMANENT : ERR_RETRY;
        memcpy(g->deadly, j->record->hash, sizeof(g->deadly));
    }
    step_failed(j, r, &why);
}

static void on_reconfigured(struct job *j, int r, const struct jsn *answer, const struct err *e)
{
    (void)answer;
    if (r < 0) {
        reconfigure_failed(j, r, e);
        return;
    }
    handed_note(j->engine);
    if (settings_differ(j))
        link_restart(j->engine->o.link);
    step_done(j);
}

static void reconfigure(struct job *j)
{
    step_call(j, "reconfigure", NULL, NULL, 0, RECONFIGURE_TIMEOUT_MS, on_reconfigured);
}

void step_reconfigure(struct job *j)
{
    handed_wait(j, reconfigure);
}
