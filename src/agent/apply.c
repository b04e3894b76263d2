/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One declaration on its way to slurmctld.
 *
 *   WAITING -> CHECKING -> STEPS -> OVER          applied, unchanged, or pending
 *                  |          |---> UNDO -> OVER  refused: everything as before
 *                  |--------------> OVER          refused (nothing was touched), or a plan
 *
 * Three ways to end badly:
 *   refuse    a definite no, from us, libslurm or slurmctld: what was done is undone;
 *   suspend   slurmctld is away or nobody knows what it did: the files stay, the record says
 *             "pending", and the engine tries again.  All steps can be repeated;
 *   a crash   the next process finds the record and starts from the beginning.
 */
#include "src/agent/engine_impl.h"

#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/log.h"

struct job *job_new(struct engine *g, struct record *r)
{
    struct job *j = xcalloc(1, sizeof(*j));

    j->engine = g;
    j->record = r;
    list_init(&j->waiters);
    j->steps = jsn_array(&j->arena);
    j->warnings = jsn_array(&j->arena);
    j->problems = jsn_array(&j->arena);
    return j;
}

struct job *job_free(struct job *j)
{
    if (!j)
        return NULL;
    LIST_FOR_EACH (w, &j->waiters, struct engine_waiter, link) {
        list_remove(&w->link);
        free(w);
    }
    (void)j->engine->o.rehearse->stop(j->rehearsal);
    (void)loop_source_free(j->timer);
    plan_done(&j->plan);
    live_done(&j->live);
    compare_done(&j->compared);
    faults_done(&j->faults);
    fileset_done(&j->old_keys);
    (void)candidate_free(j->to);
    (void)record_free(j->record);
    arena_done(&j->arena);
    free(j);
    return NULL;
}

void job_set_phase(struct job *j, enum apply_phase phase)
{
    static const char *const names[] = {"waiting", "checking", "steps", "undo", "over"};

    log_debug("generation %lld: %s -> %s", (long long)j->record->generation, names[j->phase],
              names[phase]);
    j->phase = phase;
}

void job_warn(struct job *j, const char *fmt, ...)
{
    va_list ap;
    char *text;

    va_start(ap, fmt);
    text = xvasprintf(fmt, ap);
    va_end(ap);
    jsn_append(&j->arena, j->warnings, jsn_string(&j->arena, text));
    free(text);
}

void job_step_note(struct job *j, const char *step, const char *what)
{
    int64_t now = clock_mono_ns();
    double ms = (double)(now - j->step_ns) / 1e6;
    struct jsn *item = jsn_object(&j->arena);

    jsn_set_str(&j->arena, item, "step", step);
    if (what)
        jsn_set_str(&j->arena, item, "what", what);
    jsn_set(&j->arena, item, "ms", jsn_real(&j->arena, (double)(int64_t)(ms * 1000) / 1000));
    jsn_append(&j->arena, j->steps, item);
    metrics_step(j->engine->o.metrics, step, ms / 1e3);
    j->step_ns = now;
}

/* "partition debug: State=UP -> DRAIN; partition gpu: deleted" */
static void work_print(const struct job *j, struct buf *out)
{
    for (size_t i = 0; i < j->plan.n && i < 8; i++) {
        const struct apply_step *s = &j->plan.steps[i];

        if (s->what)
            buf_printf(out, "%s%s", out->n > 0 ? "; " : "", s->what);
    }
    if (out->n == 0 && j->compared.n > 0)
        buf_printf(out, "%s%s", j->compared.list[0].text, j->compared.n > 1 ? ", ..." : "");
}

static void job_log(const struct job *j)
{
    AUTO(buf_done) struct buf work = {0};
    double ms = (double)(clock_mono_ns() - j->started_ns) / 1e6;
    const char *class = change_class_name(j->class);

    work_print(j, &work);
    switch (j->result) {
    case RESULT_APPLIED:
        log_info("SUCCESS");
        log_info("generation %lld: applied by %s in %.1f ms: %s", (long long)j->record->generation,
                 class, ms, work.n > 0 ? buf_str(&work) : "nothing to tell slurmctld");
        break;
    case RESULT_PENDING:
        log_warn("generation %lld: pending after %.1f ms: %s", (long long)j->record->generation, ms,
                 j->why.text[0] ? j->why.text : "partitions wait for their jobs");
        break;
    case RESULT_REFUSED:
        log_error("generation %lld: refused at step '%s' after %.1f ms, the last good "
                  "configuration stays: %s",
                  (long long)j->record->generation, j->failed_step, ms, j->why.text);
        break;
    case RESULT_UNCHANGED:
    case RESULT_PLAN:
        log_debug("generation %lld: nothing was changed", (long long)j->record->generation);
        break;
    }
}

void job_finish(struct job *j, enum apply_result result)
{
    j->result = result;
    job_set_phase(j, APPLY_OVER);
    job_log(j);
    engine_job_over(j->engine, j);
}

void job_refuse(struct job *j, const char *step, const struct err *e)
{
    /* what was pending when this process or the last one left off has touched files before */
    bool again = j->own && !j->plan_only && store_pending(j->engine->o.store);

    j->failed_step = step;
    j->why = *e;
    j->written = j->written || again;
    j->told = j->told || again;
    if (j->pended || j->written || j->told)
        undo_start(j);
    else
        job_finish(j, RESULT_REFUSED);
}

void job_suspend(struct job *j, const char *step, const struct err *e)
{
    j->failed_step = step;
    j->why = *e;
    job_finish(j, RESULT_PENDING);
}

static void plan_describe(struct job *j)
{
    for (size_t i = 0; i < j->plan.n; i++) {
        const struct apply_step *s = &j->plan.steps[i];
        struct jsn *item = jsn_object(&j->arena);

        jsn_set_str(&j->arena, item, "step", step_name(s->kind));
        if (s->what)
            jsn_set_str(&j->arena, item, "what", s->what);
        jsn_append(&j->arena, j->steps, item);
    }
}

/* Nothing to do and nothing new to write. */
static bool is_unchanged(const struct job *j)
{
    const struct record *good = store_good(j->engine->o.store);

    return j->plan.n == 0 && !j->reassert && !store_pending(j->engine->o.store) && good &&
           streq(good->hash, j->record->hash) && good->revert == j->record->revert;
}

static void on_warm(void *arg, int r, const struct jsn *answer, const struct err *e)
{
    (void)r;
    (void)answer;
    (void)e;
    steps_start(arg);
}

/*
 * The child that will ask slurmctld to end must know where it listens, which the new files may not
 * say any more: have it read the old ones.
 */
static void steps_prepare(struct job *j)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *request = jsn_object(&a);

    jsn_set_str(&a, request, "call", "ping");
    if (j->class < CHANGE_RESTART || !j->live_known ||
        link_call(j->engine->o.link, LANE_WRITE, request, 5000, on_warm, j) < 0)
        steps_start(j);
}

static void checked(struct job *j)
{
    struct err e = {0};
    int r;

    job_step_note(j, "parse", NULL);
    r = prepare_plan(j, &e);
    if (r < 0) {
        job_refuse(j, "plan", &e);
        return;
    }
    for (size_t i = 0; i < j->compared.n; i++)
        if (j->compared.list[i].why)
            job_warn(j, "%s: %s", j->compared.list[i].text, j->compared.list[i].why);
    if (j->plan_only) {
        plan_describe(j);
        job_finish(j, RESULT_PLAN);
    } else if (is_unchanged(j)) {
        job_finish(j, RESULT_UNCHANGED);
    } else {
        steps_prepare(j);
    }
}

static void begin(struct job *j)
{
    engine_running_refresh(j->engine);
    j->from = j->engine->running;
    j->release = hub_release(j->engine->o.hub);
    if (j->release == 0) {
        /* there is no file yet from which libslurm could start; its parser has the last word */
        j->release = RELEASE_NEWEST;
        job_warn(j, "the release of Slurm is not known yet: checked as for the newest");
    }
    check_start(j, checked);
}

static void on_nodes(void *arg, int r, const struct err *e)
{
    (void)r;
    (void)e;
    begin(arg);
}

/* Which nodes there are decides what is sound, and what a reconfigure does to their jobs. */
static void begin_with_nodes(struct job *j)
{
    struct hub *h = j->engine->o.hub;

    if (hub_up(h) && !hub_knows(h, HUB_NODES))
        hub_refresh(h, HUB_NODES, 5000, on_nodes, j);
    else
        begin(j);
}

static void on_pinged(void *arg, int r, const struct err *e)
{
    (void)r;
    (void)e;
    begin_with_nodes(arg);
}

void job_start(struct job *j)
{
    j->started_ns = j->step_ns = clock_mono_ns();
    /* what the files mean depends on the release */
    if (hub_release(j->engine->o.hub) == 0)
        hub_ping(j->engine->o.hub, 2000, on_pinged, j);
    else
        begin_with_nodes(j);
}
