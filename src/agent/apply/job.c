/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One request on its way to slurmctld.
 *
 *   QUEUED -> ASKING -> CHECKING -> STEPS -> OVER            applied, unchanged, or pending
 *                          |          |---> UNDOING -> OVER  refused: everything as before
 *                          |---------------> OVER            refused (nothing touched), or a plan
 *
 * Three ways to end badly:
 *   refuse    a definite no, from us, libslurm or slurmctld: what was done is undone;
 *   suspend   slurmctld is away or nobody knows what it did: the files stay, the record says
 *             "pending", and the engine tries again.  All steps can be repeated;
 *   a crash   the next process finds the record and starts from the beginning.
 */
#include "src/agent/apply/engine_impl.h"

#include <stdio.h>

#include "src/agent/apply/bug.h"
#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/log.h"

struct job *job_new(struct engine *g, struct request *r)
{
    struct job *j = xcalloc(1, sizeof(*j));

    j->engine = g;
    j->rehearse = g->o.rehearse;
    j->request = r;
    j->record = record_copy(r->declared);
    j->aim.all = request_wants(r, WANT_ALL);
    list_init(&j->asks);
    return j;
}

struct job *job_free(struct job *j)
{
    if (!j)
        return NULL;
    list_remove(&j->link);
    asks_free(j);
    (void)j->rehearse->stop(j->rehearsal);
    (void)loop_source_free(j->wait.timer);
    plan_done(&j->plan);
    live_done(&j->seen.live);
    compare_done(&j->aim.compared);
    faults_done(&j->aim.faults);
    fileset_done(&j->old_keys);
    (void)hostset_free(j->handed_before);
    (void)candidate_free(j->aim.to);
    (void)record_free(j->record);
    (void)request_free(j->request);
    free(j->check.dir);
    arena_done(&j->report.arena);
    free(j);
    return NULL;
}

const char *progress_name(enum apply_progress p)
{
    static const char *const names[PROGRESS_N] = {
        [PROGRESS_QUEUED] = "queued",     [PROGRESS_ASKING] = "asking",
        [PROGRESS_CHECKING] = "checking", [PROGRESS_STEPS] = "steps",
        [PROGRESS_UNDOING] = "undoing",   [PROGRESS_OVER] = "over",
    };

    return names[p];
}

void job_set_progress(struct job *j, enum apply_progress progress)
{
    const struct engine_options *o = &j->engine->o;

    assert(progress > j->progress); /* never back, and over only once */
    log_debug("generation %lld: %s -> %s", (long long)j->record->generation,
              progress_name(j->progress), progress_name(progress));
    if (o->on_progress)
        o->on_progress(o->progress_arg, j->progress, progress);
    j->progress = progress;
}

void job_reach(struct job *j, enum job_reach reach)
{
    static const char *const names[] = {"nothing", "the record", "the files", "slurmctld"};

    if (reach <= j->reach)
        return;
    log_debug("generation %lld: has reached %s", (long long)j->record->generation, names[reach]);
    j->reach = reach;
}

void job_warn(struct job *j, const char *fmt, ...)
{
    struct wire_problem p = {.severity = WIRE_WARNING};
    AUTO(free) char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    text = xvasprintf(fmt, ap);
    va_end(ap);
    p.message = text;
    wire_problem_add(&j->report.arena, &j->report.problems, &p);
}

void job_problem(struct job *j, const struct wire_problem *problem)
{
    struct wire_problem p = *problem;
    const struct fileset_file *f = p.file ? fileset_get(&j->record->files, p.file) : NULL;

    if (f)
        p.object = wire_problem_object(&j->report.arena, (struct str){f->text, f->n}, p.line);
    wire_problem_add(&j->report.arena, &j->report.problems, &p);
}

void job_step_add(struct job *j, const char *step, const char *what, double ms)
{
    struct job_report *t = &j->report;

    arena_reserve(&t->arena, &t->steps, &t->cap_steps, t->n_steps + 1, sizeof(*t->steps));
    t->steps[t->n_steps++] = (struct wire_step){
        .step = step, .what = what ? arena_strdup(&t->arena, what) : NULL, .ms = ms};
}

void job_step_note(struct job *j, const char *step, const char *what)
{
    int64_t now = clock_mono_ns();
    int64_t us = (now - j->report.step_ns) / 1000;

    log_debug("generation %lld: step %s", (long long)j->record->generation, step);
    job_step_add(j, step, what, (double)us / 1000);
    metrics_step(j->engine->o.metrics, step, (double)us / 1e6);
    j->report.step_ns = now;
}

/* "partition debug: State=UP -> DRAIN; partition gpu: deleted" */
static void work_print(const struct job *j, struct buf *out)
{
    for (size_t i = 0; i < j->plan.n && i < 8; i++) {
        const struct apply_step *s = &j->plan.steps[i];

        if (s->what)
            buf_printf(out, "%s%s", out->n > 0 ? "; " : "", s->what);
    }
    if (out->n == 0 && j->aim.compared.n > 0)
        buf_printf(out, "%s%s", j->aim.compared.list[0].text, j->aim.compared.n > 1 ? ", ..." : "");
}

static void job_log(const struct job *j)
{
    AUTO(buf_done) struct buf work = {0};
    double ms = (double)(clock_mono_ns() - j->report.started_ns) / 1e6;
    const char *class = change_class_name(j->aim.class);

    work_print(j, &work);
    switch (j->report.result) {
    case WIRE_APPLIED:
        log_info("SUCCESS");
        log_info("generation %lld: applied by %s in %.1f ms: %s", (long long)j->record->generation,
                 class, ms, work.n > 0 ? buf_str(&work) : "nothing to tell slurmctld");
        break;
    case WIRE_PENDING:
        log_warn("generation %lld: pending after %.1f ms: %s", (long long)j->record->generation, ms,
                 j->report.why.text[0]     ? j->report.why.text
                 : j->record->n_aside == 0 ? "partitions wait for their jobs"
                                           : "all is applied but what is refused");
        break;
    case WIRE_REFUSED:
        log_error("generation %lld: refused at step '%s' after %.1f ms, the last good "
                  "configuration stays: %s",
                  (long long)j->record->generation, j->report.failed_step, ms, j->report.why.text);
        break;
    case WIRE_UNCHANGED:
    case WIRE_PLAN:
    case WIRE_N_RESULTS:
        log_debug("generation %lld: nothing was changed", (long long)j->record->generation);
        break;
    }
}

void job_finish(struct job *j, enum wire_result result)
{
    j->report.result = result;
    job_set_progress(j, PROGRESS_OVER);
    job_log(j);
    engine_job_over(j->engine, j);
}

void job_refuse(struct job *j, const char *step, const struct err *e)
{
    /* what was pending when this process or the last one left off has touched files before */
    bool again = j->request->kind == REQUEST_OWN && store_pending(j->engine->o.store);

    j->report.failed_step = step;
    j->report.why = *e;
    if (again)
        job_reach(j, REACH_SLURMCTLD);
    if (j->reach > REACH_NOTHING && !bug_is(BUG_FORGET_UNDO))
        undo_start(j);
    else
        job_finish(j, WIRE_REFUSED);
}

void job_suspend(struct job *j, const char *step, const struct err *e)
{
    j->report.failed_step = step;
    j->report.why = *e;
    job_finish(j, WIRE_PENDING);
}
