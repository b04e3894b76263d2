/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Undoing a declaration that was refused half-way.
 *
 * First the files: they are what a slurmctld that died will start from.  Then slurmctld, if it was
 * told anything: the way back is planned like any other, from what is live now to what was declared
 * before.  The record of what was under way goes last, so that a crash on the way back leads to the
 * same refusal again, and to the same way back.
 */
#include "src/agent/apply/engine_impl.h"

#include "src/base/log.h"

#define READ_TIMEOUT_MS 10000

/* What the refused declaration brought and the old one has not. */
static void added_find(struct job *j, const struct model *refused)
{
    const struct model *old = candidate_model(j->seen.from);

    j->aim.n_leaving = 0;
    for (size_t i = 0; i < refused->n_objects; i++) {
        const struct model_object *o = &refused->objects[i];

        if (o->section == CONF_PARTITION && !model_find(old, CONF_PARTITION, o->name))
            leaving_add(j, o->name);
    }
    for (size_t i = 0; i < j->record->n_aside; i++) /* half of it may have been made */
        if (!model_find(old, CONF_PARTITION, j->record->aside[i].partition))
            leaving_add(j, j->record->aside[i].partition);
}

static int way_back(struct job *j, const struct candidate *refused, struct err *e)
{
    AUTO(compare_done) struct comparison back = {0};
    struct apply_input in = {
        .release = j->seen.release,
        .to = candidate_model(j->seen.from),
        .class = j->aim.class,
        .live = &j->seen.live,
        .delete_first = true, /* they never stood in the old files */
        .recount = prepare_recount(j),
    };
    int r = compare_candidates(refused, j->seen.from, &back, e);

    if (r < 0)
        return r;
    added_find(j, candidate_model(refused));
    in.diff = &back.slurm;
    in.leaving = j->aim.leaving;
    in.n_leaving = j->aim.n_leaving;
    plan_done(&j->plan);
    return apply_plan(&in, &j->plan, e);
}

/* How far it has come: a partition that was deleted or drained is no longer kept as it was. */
static struct candidate *refused_take(struct job *j)
{
    AUTO(candidate_free) struct candidate *planned = TAKE(j->aim.to);
    struct candidate *reached = NULL;

    if (!planned || candidate_of(j->engine, j->record, j->seen.release, &reached, NULL) < 0)
        return TAKE(planned);
    return reached;
}

static void on_live(struct job *j, int r, const struct err *e)
{
    struct candidate *refused = refused_take(j);
    struct err why = {0};

    plan_done(&j->plan);
    /* away: it will start from the old files */
    if (r == 0 && !refused)
        r = err_set(&why, -EINVAL, ERR_RETRY, "what slurmctld has taken is not known");
    else if (r == 0)
        r = way_back(j, refused, &why);
    else if (e)
        why = *e;
    if (r < 0) {
        log_error("undoing: %s; trying again", why.text);
        j->engine->reassert_wanted = true;
    }
    (void)candidate_free(refused);
    steps_start(j);
}

void undo_start(struct job *j)
{
    bool heavy = j->aim.class >= CHANGE_RECONFIGURE;

    job_set_progress(j, PROGRESS_UNDOING);
    files_back(j);
    if (j->reach >= REACH_FILES && heavy)
        link_restart(j->engine->o.link); /* the children may have read what is gone again */
    if (j->fate != FATE_SERVES && j->engine->o.marker)
        restart_go_back(j->engine);
    if (j->fate == FATE_ENDED)
        j->engine->reassert_wanted = true; /* nothing is left of what it was told */
    if (!j->seen.from || j->reach < REACH_SLURMCTLD || j->fate == FATE_ENDED) {
        plan_done(&j->plan);
        steps_start(j);
        return;
    }
    live_read(j, READ_TIMEOUT_MS, on_live);
}
