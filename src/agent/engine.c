/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine: a queue of one, and what makes it go on by itself.
 *
 * One declaration is being applied; at most one waits behind it, the newest.  By itself the engine
 *   - applies again what is pending, when slurmctld comes up, and else with growing pauses;
 *   - deletes kept partitions when their jobs have ended;
 *   - puts drift back, where that is the policy;
 *   - takes keys that the mount has brought;
 *   - tries the live files out, where slurmctld does not start with them (engine_proof.c).
 * All of that are jobs like any other, and give way to a push.
 */
#include "src/agent/engine_impl.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/log.h"

#define REGISTERED_BY_S 60
#define RETRY_FIRST_MS 1000
#define RETRY_MOST_MS 30000

static void on_retry(void *arg);

struct engine *engine_new(const struct engine_options *o)
{
    struct engine *g = xcalloc(1, sizeof(*g));

    g->o = *o;
    if (!g->o.rehearse)
        g->o.rehearse = &rehearse_slurmctld;
    g->fresh = o->store && !store_good(o->store);
    g->retry = loop_add_timer(o->loop, on_retry, g);
    return g;
}

struct engine *engine_free(struct engine *g)
{
    if (!g)
        return NULL;
    proof_stop(g);
    handed_forget(g);
    (void)loop_source_free(g->retry);
    (void)job_free(g->current);
    (void)job_free(g->next);
    (void)candidate_free(g->running);
    fileset_done(&g->keys);
    free(g->reason);
    free(g->hash);
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
    g->current = TAKE(g->next);
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

static struct engine_waiter *waiter_add(struct job *j, engine_answer_fn fn, void *arg)
{
    struct engine_waiter *w;

    if (!fn)
        return NULL;
    w = xcalloc(1, sizeof(*w));
    w->fn = fn;
    w->arg = arg;
    list_append(&j->waiters, &w->link);
    return w;
}

void engine_forget(struct engine_waiter *w)
{
    if (!w)
        return;
    list_remove(&w->link);
    free(w);
}

struct engine_waiter *engine_push(struct engine *g, struct record *r, engine_answer_fn fn,
                                  void *arg)
{
    struct job *j = job_new(g, r);
    struct engine_waiter *w = waiter_add(j, fn, arg);

    if (g->next) {
        LIST_FOR_EACH (old, &g->next->waiters, struct engine_waiter, link) {
            list_remove(&old->link);
            list_append(&j->waiters, &old->link);
        }
        (void)job_free(g->next);
    }
    g->next = j;
    start_next(g);
    return w;
}

bool engine_has_waiting(const struct engine *g)
{
    return g->next && !g->next->own;
}

struct engine_waiter *engine_plan(struct engine *g, struct record *r, engine_answer_fn fn,
                                  void *arg)
{
    struct job *j = job_new(g, r);
    struct engine_waiter *w = waiter_add(j, fn, arg);

    j->plan_only = true;
    loop_defer(g->o.loop, start_plan, j);
    return w;
}

/* A job of the engine's own; gives way to whatever is there. */
static struct job *own_job(struct engine *g, const struct record *r)
{
    if (g->current || g->next || !r)
        return NULL;
    g->next = job_new(g, record_copy(r));
    g->next->own = true;
    return g->next;
}

void engine_retry_later(struct engine *g)
{
    int64_t wait = RETRY_FIRST_MS;

    for (unsigned i = 0; i < g->failures && wait < RETRY_MOST_MS; i++)
        wait *= 2;
    g->failures++;
    loop_timer_arm(g->retry, MIN(wait, RETRY_MOST_MS));
}

static void on_retry(void *arg)
{
    struct engine *g = arg;
    const struct record *pending;
    struct job *j;

    if (!g->current && engine_give_up(g)) {
        engine_publish(g); /* slurmctld comes up from the old files: engine_on_up */
        return;
    }
    pending = store_pending(g->o.store);
    j = own_job(g, engine_declared(g));
    if (!j)
        return;
    j->reassert = g->reassert_wanted || pending;
    j->try_out = !g->seen_up && !pending;
    j->restart_for_keys = g->keys_changed;
    g->reassert_wanted = false;
    start_next(g);
}

static void remember_answer(struct engine *g, const struct job *j)
{
    g->result = j->result;
    g->class = j->class;
    free(g->reason);
    g->reason = j->why.text[0] ? xstrdup(j->why.text) : NULL;
    free(g->hash);
    g->hash = xstrdup(j->record->hash);
    g->generation = j->record->generation;
    g->applied_us = clock_wall_us();
}

static const char *const result_names[] = {"applied", "unchanged", "pending", "plan", "refused"};

static void answer_all(struct job *j)
{
    AUTO(arena_done) struct arena a = {0};
    int status;
    struct jsn *answer;

    if (list_empty(&j->waiters))
        return;
    answer = answer_make(&a, j, &status);
    while (!list_empty(&j->waiters)) {
        struct engine_waiter *w = LIST_ENTRY(j->waiters.next, struct engine_waiter, link);

        list_remove(&w->link);
        w->fn(w->arg, status, answer);
        free(w);
    }
}

static void free_job(void *arg)
{
    (void)job_free(arg);
}

/* Nobody needs to hear of a look that found nothing to do, but whoever was told to wait. */
static bool is_news(const struct engine *g, const struct job *j)
{
    bool was_pending = g->result == RESULT_PENDING && streq(g->hash, j->record->hash);

    return !j->own || j->result != RESULT_APPLIED || j->told || was_pending;
}

static void after_push(struct engine *g, struct job *j)
{
    metrics_push(g->o.metrics, result_names[j->result], change_class_name(j->class),
                 (double)(clock_mono_ns() - j->started_ns) / 1e9);
    if (is_news(g, j))
        remember_answer(g, j);
    store_remember(g->o.store, j->record->hash);
    if (j->told)
        hub_touch(g->o.hub);
    if (j->restart_for_keys && j->result == RESULT_APPLIED)
        g->keys_changed = false;
    if (j->told && j->class >= CHANGE_RECONFIGURE)
        g->fresh = true; /* slurmctld may just have started, and not know all its nodes yet */
    if (j->told && (j->result == RESULT_APPLIED || j->result == RESULT_PENDING))
        proof_on_applied(g, j->class);
    g->drift_seen = 0;
    g->settled_ns = clock_mono_ns();
    if (store_pending(g->o.store) || g->reassert_wanted || g->keys_changed || !g->seen_up)
        engine_retry_later(g);
    else if (j->result != RESULT_REFUSED)
        g->failures = 0;
}

void engine_job_over(struct engine *g, struct job *j)
{
    if (!j->plan_only) {
        g->current = NULL;
        after_push(g, j);
        engine_publish(g);
    }
    answer_all(j);
    /* whoever called is still inside it */
    loop_defer_free(g->o.loop, free_job, j);
    start_next(g);
}

void engine_running_find(struct engine *g)
{
    const struct record *good = store_good(g->o.store);
    const struct record *pending = store_pending(g->o.store);
    const struct record *runs = good;
    struct candidate *c = NULL;
    struct err e = {0};

    if (pending && hub_boot_time(g->o.hub) * 1000000 > pending->written_us)
        runs = pending;
    if (!runs)
        return;
    if (candidate_of(g, runs, hub_release(g->o.hub), &c, &e) < 0) {
        log_error("the recorded configuration cannot be read: %s", e.text);
        return;
    }
    (void)candidate_free(g->running);
    g->running = c;
}

void engine_running_refresh(struct engine *g)
{
    if (!g->running || g->running->release != hub_release(g->o.hub))
        engine_running_find(g);
}

static void on_warm(void *arg, int r, const struct jsn *answer, const struct err *e)
{
    (void)arg;
    (void)answer;
    if (r < 0)
        log_debug("the child for changes: %s", e->text);
}

/* Have the child for changes ready, so that the first one is as quick as the others. */
static void warm_up(struct engine *g)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *request = jsn_object(&a);

    jsn_set_str(&a, request, "call", "ping");
    if (link_call(g->o.link, LANE_WRITE, request, 5000, on_warm, g) < 0)
        log_debug("the child for changes has enough to do");
}

void engine_on_up(struct engine *g)
{
    warm_up(g);
    proof_on_up(g);
    if (g->current)
        return; /* it waits for slurmctld itself, or fails and is tried again */
    engine_running_find(g);
    g->drift_seen = 0;
    g->settled_ns = clock_mono_ns();
    if (store_pending(g->o.store) || g->reassert_wanted || g->keys_changed) {
        g->failures = 0;
        on_retry(g);
    }
}

void engine_keys(struct engine *g, const struct fileset *keys)
{
    AUTO(fileset_done) struct fileset copy = {0};
    struct err e = {0};
    size_t changed;

    fileset_copy(keys, &copy);
    fileset_done(&g->keys);
    g->keys = copy;
    copy = (struct fileset){0};
    g->keys_changed = true;
    /* one that is down may be so for want of them, and nothing is told to it before it is up */
    if (!hub_up(g->o.hub) && store_write_keys(g->o.store, &g->keys, &changed, &e) < 0)
        log_error("the keys cannot be put in place: %s", e.text);
    log_info("keys have changed: slurmctld is started anew with them");
    on_retry(g);
}

void engine_revert(struct engine *g)
{
    struct job *j = own_job(g, store_good(g->o.store));

    if (!j)
        return;
    j->reassert = j->remove_foreign = true;
    start_next(g);
}

/* Can a kept partition go now? */
static bool kept_is_free(const struct engine *g, const struct record *good)
{
    for (size_t i = 0; good && i < good->n_kept; i++) {
        const struct jobs_group *jobs =
            jobs_of_partition(hub_jobs(g->o.hub), good->kept[i].partition);

        if (!jobs || jobs->n == 0)
            return true;
    }
    return false;
}

/*
 * In a new pod slurmctld starts from other files than its nodes may have, and one that has just
 * started does not know them all when it gets others.  They are told when they come.
 */
static bool tell_older_nodes(struct engine *g, const struct record *good)
{
    struct job *j;

    if (!g->fresh || !good)
        return false;
    if (!hub_has_older_nodes(g->o.hub, g->handed_to)) {
        /* they register after slurmctld's start, some later than others */
        g->fresh = clock_wall_us() / 1000000 < hub_boot_time(g->o.hub) + REGISTERED_BY_S;
        return false;
    }
    g->fresh = false;
    j = own_job(g, good);
    if (j)
        j->tell_nodes = true;
    return j != NULL;
}

void engine_on_round(struct engine *g)
{
    const struct record *good = store_good(g->o.store);

    if (g->current || g->next || !hub_complete(g->o.hub) || store_pending(g->o.store))
        return;
    engine_running_refresh(g);
    if (tell_older_nodes(g, good) || (kept_is_free(g, good) && own_job(g, good))) {
        start_next(g);
        return;
    }
    proof_on_round(g);
    drift_look(g);
    engine_publish(g);
}
