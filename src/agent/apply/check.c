/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checking a declaration, before anything is touched.
 *
 * First by its meaning (meaning.c).  Then libslurm's parser (parse.c) and what is live are asked at
 * the same time: partitions, and jobs where they matter.  They answer in any order; check_answered
 * counts them.  A plain edit needs to ask neither.
 */
#include "src/agent/apply/engine_impl.h"

#include "src/base/log.h"

#define READ_TIMEOUT_MS 5000

static void check_answered(struct job *j)
{
    if (--j->check.open > 0)
        return;
    parse_end(j);
    if (j->check.r < 0)
        job_refuse(j, "parse", &j->check.e);
    else
        job_checked(j);
}

static void check_failed(struct job *j, int r, const struct err *e)
{
    if (j->check.r < 0)
        return;
    j->check.r = r;
    if (e)
        j->check.e = *e;
}

/* The parser names files by where its copy lies. */
static void take_problem(struct job *j, const struct jsn *v)
{
    AUTO(arena_done) struct arena a = {0};
    struct wire_problem p = {.severity = WIRE_ERROR};
    struct err e = {0};
    const char *slash;

    if (fields_decode(&a, wire_problem_fields, v, &p, &e) < 0)
        return;
    slash = p.file ? strrchr(p.file, '/') : NULL;
    p.severity = WIRE_ERROR;
    p.file = slash ? slash + 1 : p.file;
    job_problem(j, &p);
}

static void on_parsed(struct job *j, int r, const struct jsn *answer, const struct err *e)
{
    log_debug("generation %lld: parsed", (long long)j->record->generation);
    if (r < 0) {
        check_failed(j, r, e);
        JSN_FOR_ITEMS (problem, jsn_get(answer, "problems"))
            take_problem(j, problem);
    }
    check_answered(j);
}

static void on_live(struct job *j, int r, const struct err *e)
{
    log_debug("generation %lld: looked at what is live", (long long)j->record->generation);
    if (r < 0) {
        j->seen.live_known = false;
        j->report.why = e ? *e : (struct err){0};
    }
    check_answered(j);
}

static void on_jobs(void *arg, int r, const struct err *e)
{
    on_live(arg, r, e);
}

static void ask_parser(struct job *j)
{
    struct err e = {0};
    int r = parse_start(j, on_parsed, &e);

    if (r < 0)
        check_failed(j, r, &e);
    else if (r == 0)
        j->check.open++;
}

static void ask_live(struct job *j)
{
    bool with_jobs = j->aim.n_leaving > 0 || j->aim.class >= CHANGE_RECONFIGURE;
    bool with_live = live_matters(j) && !live_assume(j);

    j->check.open += with_jobs + with_live;
    if (with_live)
        live_read(j, READ_TIMEOUT_MS, on_live);
    if (with_jobs)
        hub_refresh(j->engine->o.hub, HUB_JOBS, READ_TIMEOUT_MS, on_jobs, j);
}

void check_start(struct job *j)
{
    struct err e = {0};
    int r;

    job_set_progress(j, PROGRESS_CHECKING);
    r = meaning_check(j, &e);
    job_step_note(j, "validate", NULL);
    if (r < 0) {
        job_refuse(j, "validate", &e);
        return;
    }
    j->check.open = 1; /* held until all have been started */
    j->seen.live_known = true;
    ask_parser(j);
    ask_live(j);
    check_answered(j);
}
