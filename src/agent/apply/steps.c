/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carrying out the steps of a plan, one by one, on the loop.
 *
 * Each step starts, and calls step_done or step_failed now or later.  What slurmctld says decides:
 *   it took it             the next step
 *   a refusal              job_refuse: undo
 *   no answer, a death     job_suspend: nobody knows, try again later
 * with two exceptions: a slurmctld that dies of a reconfigure, or at once when it is started again,
 * gets its old files back.
 *
 * The same steps run when a declaration is undone; then nothing is refused any more, failures are
 * only told.
 */
#include "src/agent/apply/engine_impl.h"

#include "src/agent/crash.h"
#include "src/base/alloc.h"
#include "src/base/log.h"

#define READ_TIMEOUT_MS 10000

static void step_run(struct job *j);

const struct apply_step *step_now(const struct job *j)
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

/* Steps in which slurmctld says what is wrong with the files. */
static bool is_about_files(enum step_kind kind)
{
    return kind == STEP_REHEARSE || kind == STEP_RECONFIGURE;
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
    if (r == -EHOSTDOWN)
        (void)err_wrap(&why, r, "slurmctld does not answer");
    if (job_undoes(j)) {
        log_error("undoing: %s: %s; trying again", step_name(s->kind), why.text);
        j->engine->reassert_wanted = true;
        j->at++;
        step_run(j);
        return;
    }
    if (is_about_files(s->kind) && aside_blame(j, &why))
        return; /* it goes on without the partition that was named */
    if (is_about_files(s->kind) || s->kind == STEP_RESTART)
        blame_changes(&j->aim.compared, &why);
    if (step_is_refusal(r) || s->kind == STEP_REHEARSE || s->kind == STEP_WRITE ||
        s->kind == STEP_RECONFIGURE || s->kind == STEP_SETTLE)
        job_refuse(j, step_name(s->kind), &why);
    else
        job_suspend(j, step_name(s->kind), &why);
}

void steps_plan_again(struct job *j)
{
    struct err e = {0};
    int r;

    j->seen.assumed = false;
    plan_done(&j->plan);
    r = prepare_plan(j, &e);
    if (r < 0) {
        job_refuse(j, "plan", &e);
        return;
    }
    j->at = 0;
    step_run(j);
}

static void on_looked(struct job *j, int r, const struct err *e)
{
    if (r < 0)
        step_failed(j, r, e);
    else
        steps_plan_again(j);
}

void steps_look_again(struct job *j)
{
    j->seen.assumed = false;
    live_read(j, READ_TIMEOUT_MS, on_looked);
}

static void all_done(struct job *j)
{
    struct err e = {0};

    if (job_undoes(j)) {
        if (store_drop(j->engine->o.store, &e) < 0)
            log_error("%s", e.text);
        job_finish(j, WIRE_REFUSED);
        return;
    }
    if (!j->seen.live_known) {
        struct err down = j->report.why;

        (void)err_set(&e, -EHOSTDOWN, ERR_RETRY, "slurmctld does not answer%s%s",
                      down.text[0] ? ": " : "", down.text);
        job_suspend(j, "apply", &e);
        return;
    }
    if (step_pend(j, &e) < 0 || store_commit(j->engine->o.store, &e) < 0) {
        job_suspend(j, "commit", &e);
        return;
    }
    j->report.committed = true;
    (void)candidate_free(j->engine->running);
    j->engine->running = TAKE(j->aim.to);
    j->seen.from = NULL;
    job_finish(j, j->record->n_kept + j->record->n_aside > 0 ? WIRE_PENDING : WIRE_APPLIED);
}

static void step_run(struct job *j)
{
    const struct apply_step *s;

    /* one of the step before would call that step's function in this one */
    j->wait.timer = loop_source_free(j->wait.timer);
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
        step_partition(j);
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
    if (!job_undoes(j)) {
        job_set_progress(j, PROGRESS_STEPS);
        log_info("Reconfiguring Slurm...");
    }
    j->at = 0;
    step_run(j);
}
