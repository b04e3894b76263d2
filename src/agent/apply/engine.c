/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine: a queue of one.
 *
 * One request is being carried out; at most one waits for its end, the newest.  What the engine
 * does by itself stands in the same queue (own.c).  Plans change nothing and run beside it.
 */
#include "src/agent/apply/engine_impl.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/log.h"

#define SYNC_AFTER_MS 300

/* Once for many edits, and when nobody waits for one. */
static void on_sync(void *arg)
{
    struct engine *g = arg;
    struct err e = {0};

    if (g->current)
        loop_timer_arm(g->sync, SYNC_AFTER_MS);
    else if (store_sync(g->o.store, &e) < 0)
        log_error("%s", e.text);
}

struct engine *engine_new(const struct engine_options *o)
{
    struct engine *g = xcalloc(1, sizeof(*g));

    g->o = *o;
    if (!g->o.rehearse)
        g->o.rehearse = &rehearse_slurmctld;
    list_init(&g->plans);
    g->last.result = -1;
    g->fresh = o->store && !store_good(o->store);
    g->retry = loop_add_timer(o->loop, engine_on_retry, g);
    g->aside = loop_add_timer(o->loop, engine_on_aside, g);
    g->sync = loop_add_timer(o->loop, on_sync, g);
    return g;
}

struct engine *engine_free(struct engine *g)
{
    if (!g)
        return NULL;
    proof_stop(g);
    handed_forget(g);
    (void)loop_source_free(g->retry);
    (void)loop_source_free(g->aside);
    (void)loop_source_free(g->sync);
    (void)job_free(g->current);
    (void)request_free(g->next);
    LIST_FOR_EACH (j, &g->plans, struct job, link)
        (void)job_free(j);
    (void)candidate_free(g->running);
    fileset_done(&g->keys);
    arena_done(&g->last_arena);
    arena_done(&g->held_arena);
    free(g);
    return NULL;
}

const struct record *engine_declared(const struct engine *g)
{
    const struct record *pending = store_pending(g->o.store);

    return pending ? pending : store_good(g->o.store);
}

static void start_now(void *arg)
{
    struct engine *g = arg;

    if (g->current || !g->next)
        return;
    g->current = job_new(g, TAKE(g->next));
    job_start(g->current);
}

/* Not from within whatever brought it: nobody gets an answer before the question has returned. */
static void start_next(struct engine *g)
{
    if (!g->current && g->next)
        loop_defer(g->o.loop, start_now, g);
}

static void start_plan(void *arg)
{
    job_start(arg);
}

struct engine_waiter *engine_push(struct engine *g, struct record *r, engine_answer_fn fn,
                                  void *arg)
{
    g->next = request_new(REQUEST_PUSH, 0, r, TAKE(g->next));
    start_next(g);
    return request_wait(g->next, fn, arg);
}

bool engine_has_waiting(const struct engine *g)
{
    return g->next && g->next->kind == REQUEST_PUSH;
}

struct engine_waiter *engine_plan(struct engine *g, struct record *r, engine_answer_fn fn,
                                  void *arg)
{
    struct request *q = request_new(REQUEST_PLAN, 0, r, NULL);
    struct job *j = job_new(g, q);

    list_append(&g->plans, &j->link);
    loop_defer(g->o.loop, start_plan, j);
    return request_wait(q, fn, arg);
}

bool engine_own(struct engine *g, const struct record *r, unsigned wants)
{
    if (g->current || g->next || !r)
        return false;
    g->next = request_new(REQUEST_OWN, wants, record_copy(r), NULL);
    start_next(g);
    return true;
}

/* Remember an outcome; everything is copied. */
static void engine_last_set(struct engine *g, const struct wire_outcome *o)
{
    struct arena a = {0};
    struct wire_outcome copy = {.result = -1};
    struct err e = {0};

    if (wire_outcome_decode(&a, wire_outcome_encode(&a, o), &copy, &e) < 0) {
        log_error("the state does not tell of generation %lld: %s", (long long)o->generation,
                  e.text);
        arena_done(&a);
        return;
    }
    arena_done(&g->last_arena);
    g->last_arena = a;
    g->last = copy;
}

void engine_last_note(struct engine *g, enum wire_result result, enum change_class class,
                      const char *why, const struct record *r, int64_t when_us)
{
    struct wire_outcome o = {.result = (int)result,
                             .class = change_class_name(class),
                             .declared = r->declared,
                             .hash = r->hash,
                             .generation = r->generation,
                             .applied_us = when_us};

    if (result == WIRE_REFUSED)
        o.error = why;
    else
        o.reason = why;
    engine_last_set(g, &o);
}

static void answer_all(struct job *j, const struct wire_outcome *o)
{
    AUTO(arena_done) struct arena a = {0};

    if (!list_empty(&j->request->waiters))
        request_answer(j->request, outcome_status(o), wire_outcome_encode(&a, o));
}

static void free_job(void *arg)
{
    (void)job_free(arg);
}

/* Nobody needs to hear of a look that found nothing to do, but whoever was told to wait. */
static bool is_news(const struct engine *g, const struct job *j)
{
    bool was_pending = g->last.result == WIRE_PENDING && streq(g->last.hash, j->record->hash);

    return j->request->kind != REQUEST_OWN || j->report.result != WIRE_APPLIED ||
           j->reach == REACH_SLURMCTLD || was_pending;
}

/* All that slurmctld was told about was read back, and is noted in the hub's picture. */
static bool is_read_back(const struct job *j)
{
    return j->report.result == WIRE_APPLIED && j->aim.class == CHANGE_RPC && !j->aim.all;
}

static void after_push(struct engine *g, struct job *j, const struct wire_outcome *o)
{
    bool told = j->reach == REACH_SLURMCTLD;

    metrics_push(g->o.metrics, wire_result_name(j->report.result), change_class_name(j->aim.class),
                 (double)(clock_mono_ns() - j->report.started_ns) / 1e9);
    if (is_news(g, j))
        engine_last_set(g, o);
    store_remember(g->o.store, j->record->hash);
    store_set_lazy(g->o.store, false);
    if (store_is_unsynced(g->o.store) && !loop_timer_armed(g->sync))
        loop_timer_arm(g->sync, SYNC_AFTER_MS);
    if (told)
        hub_touch(g->o.hub);
    if (request_wants(j->request, WANT_KEYS) && j->report.result == WIRE_APPLIED)
        g->keys_changed = false;
    if (told && j->aim.class >= CHANGE_RECONFIGURE)
        g->fresh = true; /* slurmctld may just have started, and not know all its nodes yet */
    if (told && (j->report.result == WIRE_APPLIED || j->report.result == WIRE_PENDING))
        proof_on_applied(g, j->aim.class);
    g->drift_seen = 0;
    g->settled_ns = clock_mono_ns();
    if (told && !is_read_back(j))
        g->unsure_ns = g->settled_ns;
    if (j->report.set_aside || request_wants(j->request, WANT_ASIDE) || !loop_timer_armed(g->aside))
        engine_aside_later(g, !request_wants(j->request, WANT_ASIDE));
    if (store_pending(g->o.store) || g->reassert_wanted || g->keys_changed || !g->seen_up)
        engine_retry_later(g);
    else if (j->report.result != WIRE_REFUSED)
        g->failures = 0;
}

void engine_job_over(struct engine *g, struct job *j)
{
    AUTO(arena_done) struct arena a = {0};
    struct wire_outcome o;

    outcome_of(&a, j, &o);
    if (j->request->kind != REQUEST_PLAN) {
        g->current = NULL;
        after_push(g, j, &o);
        engine_publish(g);
    }
    list_remove(&j->link);
    answer_all(j, &o);
    /* whoever called is still inside it */
    loop_defer_free(g->o.loop, free_job, j);
    start_next(g);
}
