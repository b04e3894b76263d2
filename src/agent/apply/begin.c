/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the queue to the steps.
 *
 *   ask      which release slurmctld is of, and which nodes it has, if that is not known yet
 *   check    check.c
 *   plan     prepare.c; what only plans, or has nothing to do, is over here
 *   steps    steps.c
 */
#include "src/agent/apply/engine_impl.h"

#include "src/agent/apply/bug.h"
#include "src/base/clock.h"

#define READ_TIMEOUT_MS 5000

static void plan_and_go(struct job *j);

static void plan_describe(struct job *j)
{
    for (size_t i = 0; i < j->plan.n; i++)
        job_step_add(j, step_name(j->plan.steps[i].kind), j->plan.steps[i].what, 0);
}

/* The outcome must carry the name that the newest push has given it, after a restart, too. */
static bool same_name(const char *a, const char *b)
{
    return streq(a, b) || (!a && !b);
}

/* Nothing to do and nothing new to write. */
static bool is_unchanged(const struct job *j)
{
    const struct record *good = store_good(j->engine->o.store);

    return j->plan.n == 0 && !j->aim.all && !store_pending(j->engine->o.store) && good &&
           streq(good->hash, j->record->hash) && good->revert == j->record->revert &&
           good->restarts == j->record->restarts && same_name(good->declared, j->record->declared);
}

static void on_warm(struct job *j, int r, const struct jsn *answer, const struct err *e)
{
    (void)r;
    (void)answer;
    (void)e;
    steps_start(j);
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
    if (j->aim.class < CHANGE_RESTART || !j->seen.live_known ||
        job_ask(j, LANE_WRITE, request, 5000, on_warm) < 0)
        steps_start(j);
}

static void on_looked(struct job *j, int r, const struct err *e)
{
    if (r < 0) {
        j->seen.live_known = false;
        j->report.why = e ? *e : (struct err){0};
    }
    j->seen.assumed = false;
    plan_done(&j->plan);
    plan_and_go(j);
}

static void plan_and_go(struct job *j)
{
    struct err e = {0};
    int r = prepare_plan(j, &e);

    if (r < 0) {
        job_refuse(j, "plan", &e);
        return;
    }
    if (j->seen.assumed && !prepare_covers(j) && !bug_is(BUG_BLIND_TRUST)) {
        live_read(j, READ_TIMEOUT_MS, on_looked);
        return;
    }
    for (size_t i = 0; i < j->aim.compared.n; i++)
        if (j->aim.compared.list[i].why)
            job_warn(j, "%s: %s", j->aim.compared.list[i].text, j->aim.compared.list[i].why);
    if (j->request->kind == REQUEST_PLAN) {
        for (size_t i = 0; i < j->record->n_aside; i++)
            job_warn(j,
                     "partition %s: slurmctld refuses it as declared, and it stays as it was: %s",
                     j->record->aside[i].partition, j->record->aside[i].why);
        plan_describe(j);
        job_finish(j, WIRE_PLAN);
    } else if (is_unchanged(j)) {
        j->report.committed = true;
        job_finish(j, j->record->n_aside > 0 ? WIRE_PENDING : WIRE_UNCHANGED);
    } else {
        steps_prepare(j);
    }
}

void job_checked(struct job *j)
{
    job_step_note(j, "parse", NULL);
    plan_and_go(j);
}

static void begin(struct job *j)
{
    engine_running_refresh(j->engine);
    j->seen.from = j->engine->running;
    j->seen.release = hub_release(j->engine->o.hub);
    if (j->seen.release == 0) {
        /* there is no file yet from which libslurm could start; its parser has the last word */
        j->seen.release = RELEASE_NEWEST;
        job_warn(j, "the release of Slurm is not known yet: checked as for the newest");
    }
    check_start(j);
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
    j->report.started_ns = j->report.step_ns = clock_mono_ns();
    job_set_progress(j, PROGRESS_ASKING);
    /* what the files mean depends on the release */
    if (hub_release(j->engine->o.hub) == 0)
        hub_ping(j->engine->o.hub, 2000, on_pinged, j);
    else
        begin_with_nodes(j);
}
