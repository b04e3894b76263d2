/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Undoing a declaration that was refused half-way.
 *
 * First the files: they are what a slurmctld that died will start from.  Then slurmctld, if it was
 * told anything: the way back is planned like any other, from what is live now to what was declared
 * before.  The record of what was under way goes last, so that a crash on the way back leads to the
 * same refusal again, and to the same way back.
 */
#include "src/agent/engine_impl.h"

#include "src/base/log.h"

#define READ_TIMEOUT_MS 10000

/* What the refused declaration brought and the old one has not. */
static void added_find(struct job *j, const struct model *refused)
{
    const struct model *old = candidate_model(j->from);

    j->n_leaving = 0;
    for (size_t i = 0; i < refused->n_objects; i++) {
        const struct model_object *o = &refused->objects[i];
        size_t cap = j->n_leaving;

        if (o->section != CONF_PARTITION || model_find(old, CONF_PARTITION, o->name))
            continue;
        arena_reserve(&j->arena, &j->leaving, &cap, j->n_leaving + 1, sizeof(*j->leaving));
        j->leaving[j->n_leaving++] = arena_strdup(&j->arena, o->name);
    }
}

static int way_back(struct job *j, const struct candidate *refused, struct err *e)
{
    AUTO(compare_done) struct comparison back = {0};
    struct apply_input in = {
        .release = j->release,
        .to = candidate_model(j->from),
        .class = j->class,
        .live = &j->live,
        .delete_first = true, /* they never stood in the old files */
        .recount = prepare_recount(j),
    };
    int r = compare_candidates(refused, j->from, &back, e);

    if (r < 0)
        return r;
    added_find(j, candidate_model(refused));
    in.diff = &back.slurm;
    in.leaving = j->leaving;
    in.n_leaving = j->n_leaving;
    plan_done(&j->plan);
    return apply_plan(&in, &j->plan, e);
}

static void on_live(void *arg, int r, const struct err *e)
{
    struct job *j = arg;
    struct candidate *refused = j->to;
    struct err why = {0};

    j->to = NULL;
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

/* slurmctld has ended on the new ones: they are not tried again until the mount brings others. */
static void keys_back(struct job *j)
{
    struct err e = {0};
    size_t changed;

    if (store_write_keys(j->engine->o.store, &j->old_keys, &changed, &e) < 0)
        log_error("the previous keys cannot be put back: %s", e.text);
    j->engine->keys_changed = false;
}

void undo_start(struct job *j)
{
    struct err e = {0};
    size_t changed;

    job_set_phase(j, APPLY_UNDO);
    if (j->from && j->written && store_write(j->engine->o.store, &j->from->files, &changed, &e) < 0)
        log_error("the previous files cannot be put back: %s", e.text);
    if (j->written && j->class >= CHANGE_RECONFIGURE)
        link_restart(j->engine->o.link); /* the children may have read what is gone again */
    if (j->start_failed && j->restart_for_keys)
        keys_back(j);
    if ((j->start_failed || j->lost) && j->engine->o.marker)
        restart_go_back(j->engine);
    if (j->start_failed)
        j->engine->reassert_wanted = true; /* nothing is left of what it was told */
    if (!j->from || !j->told || j->start_failed) {
        plan_done(&j->plan);
        steps_start(j);
        return;
    }
    live_read(j, READ_TIMEOUT_MS, on_live, j);
}
