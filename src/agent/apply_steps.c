/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carrying out the steps of a plan, one by one, on the loop.
 *
 * Each step starts, and calls step_done or step_failed now or later.  What slurmctld says decides:
 *   it took it             the next step
 *   a refusal              job_refuse: undo
 *   no answer, a death     job_suspend: nobody knows, try again later
 * with two exceptions: a slurmctld that dies of a reconfigure, or at once when it is started anew,
 * gets its old files back.
 *
 * The same steps run when a declaration is undone; then nothing is refused any more, failures are
 * only told.
 */
#include "src/agent/engine_impl.h"

#include "src/agent/crash.h"
#include "src/base/alloc.h"
#include "src/base/log.h"

static void step_run(struct job *j);

static const struct apply_step *step_now(const struct job *j)
{
    return &j->plan.steps[j->at];
}

void step_done(struct job *j)
{
    const struct apply_step *s = step_now(j);

    crash_point(step_name(s->kind));
    job_step_note(j, step_name(s->kind), s->what);
    j->at++;
    step_run(j);
}

bool step_is_refusal(int r)
{
    return r == -EREMOTEIO || r == -EACCES || r == -EINVAL;
}

void step_failed(struct job *j, int r, const struct err *e)
{
    const struct apply_step *s = step_now(j);
    struct err why = e && e->text[0] ? *e : (struct err){0};

    if (!why.text[0])
        (void)err_set(&why, r, ERR_RETRY, "no answer");
    if (step_is_refusal(r) && r != -EACCES)
        why.class = ERR_PERMANENT;
    if (s->partition)
        (void)err_wrap(&why, r, "partition '%s'", s->partition);
    if (j->phase == APPLY_UNDO) {
        log_error("undoing: %s: %s; trying again", step_name(s->kind), why.text);
        j->engine->reassert_wanted = true;
        j->at++;
        step_run(j);
    } else if (step_is_refusal(r) || s->kind == STEP_REHEARSE || s->kind == STEP_WRITE ||
               s->kind == STEP_RECONFIGURE || s->kind == STEP_SETTLE) {
        job_refuse(j, step_name(s->kind), &why);
    } else {
        job_suspend(j, step_name(s->kind), &why);
    }
}

int step_pend(struct job *j, struct err *e)
{
    struct record *copy;
    int r;

    copy = record_copy(j->record);
    r = store_pend(j->engine->o.store, copy, e);
    if (r < 0)
        (void)record_free(copy);
    else
        j->pended = true;
    return r;
}

/* Keys are in no record: those that slurmctld has now are held for the way back. */
static int write_keys(struct job *j, struct err *e)
{
    AUTO(fileset_done) struct fileset live = {0};
    struct store *s = j->engine->o.store;
    size_t changed;
    int r = fileset_read(store_live(s), &live, e);

    if (r < 0)
        return r;
    fileset_done(&j->old_keys);
    fileset_split_keys(&live, &j->old_keys);
    return store_write_keys(s, &j->engine->keys, &changed, e);
}

static void step_write(struct job *j)
{
    struct err e = {0};
    size_t changed;
    int r = j->phase == APPLY_UNDO || j->pended ? 0 : step_pend(j, &e);

    if (r == 0) {
        if (j->class >= CHANGE_RECONFIGURE)
            handed_forget(j->engine);
        j->written = true;
        r = store_write(j->engine->o.store, &j->to->files, &changed, &e);
    }
    if (r == 0 && j->restart_for_keys)
        r = write_keys(j, &e);
    if (r < 0)
        step_failed(j, r, &e);
    else
        step_done(j);
}

static void on_rehearsed(void *arg, int r, const struct err *e)
{
    struct job *j = arg;

    j->rehearsal = NULL;
    if (r < 0)
        step_failed(j, r, e);
    else
        step_done(j);
}

static void step_rehearse(struct job *j)
{
    AUTO(hostset_free) struct host_set *dynamic = hub_nodes(j->engine->o.hub, true);
    struct rehearse_options o = {.slurmctld = j->engine->o.slurmctld,
                                 .live = store_live(j->engine->o.store),
                                 .dynamic_nodes = dynamic};
    struct err e = {0};
    int r = j->engine->o.rehearse->start(j->engine->o.loop, &o, j->to, on_rehearsed, j,
                                         &j->rehearsal, &e);

    if (r < 0)
        step_failed(j, r, &e);
}

/* The files once more, if what is kept in them has changed. */
static void step_settle(struct job *j)
{
    struct candidate *settled = NULL;
    struct err e = {0};
    size_t changed;
    int r;

    for (size_t i = 0; i < j->n_leaving; i++)
        if (!live_find(&j->live, j->leaving[i])) /* gone before, by us or by hand */
            record_unkeep(j->record, j->leaving[i]);
    r = candidate_of(j->engine, j->record, j->release, &settled, &e);
    if (r == 0 && !fileset_same(&settled->files, &j->to->files)) {
        r = step_pend(j, &e);
        j->written = true;
        if (r == 0)
            r = store_write(j->engine->o.store, &settled->files, &changed, &e);
    }
    if (r < 0) {
        (void)candidate_free(settled);
        step_failed(j, r, &e);
        return;
    }
    (void)candidate_free(j->to);
    j->to = settled;
    step_done(j);
}

static void all_done(struct job *j)
{
    struct err e = {0};

    if (j->phase == APPLY_UNDO) {
        if (store_drop(j->engine->o.store, &e) < 0)
            log_error("%s", e.text);
        job_finish(j, RESULT_REFUSED);
        return;
    }
    if (!j->live_known) {
        struct err down = j->why;

        (void)err_set(&e, -EHOSTDOWN, ERR_RETRY, "slurmctld does not answer%s%s",
                      down.text[0] ? ": " : "", down.text);
        job_suspend(j, "apply", &e);
        return;
    }
    if ((!j->pended && step_pend(j, &e) < 0) || store_commit(j->engine->o.store, &e) < 0) {
        job_suspend(j, "commit", &e);
        return;
    }
    (void)candidate_free(j->engine->running);
    j->engine->running = TAKE(j->to);
    j->from = NULL;
    job_finish(j, j->record->n_kept > 0 ? RESULT_PENDING : RESULT_APPLIED);
}

static void step_run(struct job *j)
{
    const struct apply_step *s;

    if (j->at == j->plan.n) {
        all_done(j);
        return;
    }
    s = step_now(j);
    switch (s->kind) {
    case STEP_REHEARSE:
        step_rehearse(j);
        break;
    case STEP_WRITE:
        step_write(j);
        break;
    case STEP_CREATE:
    case STEP_UPDATE:
    case STEP_DELETE:
        step_partition(j, s);
        break;
    case STEP_RECONFIGURE:
        step_reconfigure(j);
        break;
    case STEP_RESTART:
        step_restart(j);
        break;
    case STEP_SETTLE:
        step_settle(j);
        break;
    case STEP_READ_BACK:
        step_read_back(j);
        break;
    case STEP_N:
        abort();
    }
}

void steps_start(struct job *j)
{
    if (j->phase != APPLY_UNDO) {
        job_set_phase(j, APPLY_STEPS);
        log_info("Reconfiguring Slurm...");
    }
    j->at = 0;
    step_run(j);
}
