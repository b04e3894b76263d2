/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Working on keys.
 *
 * A key is planned for out of the caches, and the plan carried out.  A plan that fails comes back
 * after a back-off.  If the server refused it for good, the object's status says so; a conflict is
 * tried again without a word.
 */
#include "src/operator/work.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/log.h"

/* So many failures in a row are worth a line in the log. */
#define LOUD_FAILURES 4
#define PUT_OFF_MS 50

/* One key. */
struct job {
    struct list link;
    struct work *work;
    struct execution *execution;
    char *key;
    char *kind;
    int64_t since_ns;
    struct execution_end end; /* of the plan, while its failure is being told */
    char *step;
};

void work_init(struct work *w, const struct work_tools *tools)
{
    w->tools = *tools;
    list_init(&w->jobs);
    host_keys_init(&w->host_keys, tools->loop, tools->queue);
}

static void job_free(struct job *j)
{
    list_remove(&j->link);
    free(j->key);
    free(j->kind);
    free(j->step);
    free(j);
}

void work_done(struct work *w)
{
    memos_done(&w->memos);
    host_keys_done(&w->host_keys);
    if (!w->jobs.next)
        return;
    LIST_FOR_EACH (j, &w->jobs, struct job, link) {
        (void)execution_cancel(j->execution);
        job_free(j);
    }
}

static void log_failure(const struct job *j, int64_t delay_ms)
{
    unsigned failures = queue_failures(j->work->tools.queue, j->key);

    if (j->end.first.class == ERR_CONFLICT && failures < LOUD_FAILURES)
        log_debug("%s: trying again in %lld ms: %s", j->key, (long long)delay_ms,
                  j->end.first.text);
    else
        log_warn("%s: step \"%s\" failed, trying again in %lld ms: %s", j->key,
                 j->step ? j->step : "", (long long)delay_ms, j->end.first.text);
}

static void job_end(struct job *j)
{
    const struct work_tools *t = &j->work->tools;
    bool failed = j->end.failures > 0;
    int64_t now_ms = loop_now_ms(t->loop);
    int64_t delay;

    metrics_reconciled(t->metrics, j->kind,
                       failed          ? "failed"
                       : j->end.writes ? "changed"
                                       : "same",
                       (double)(clock_mono_ns() - j->since_ns) / 1e9);
    if (j->end.has_requeue)
        queue_add_at(t->queue, j->key,
                     now_ms + MAX(j->end.requeue_us - clock_wall_us(), 0) / 1000 + 1);
    delay = queue_done(t->queue, j->key, failed, now_ms);
    if (failed)
        log_failure(j, delay);
    job_free(j);
    t->ended(t->arg);
}

static void on_told(void *arg, const struct execution_end *end)
{
    struct job *j = arg;

    (void)end; /* the next attempt tells it again */
    j->execution = NULL;
    job_end(j);
}

static void execute(struct job *j, struct reconcile *r, execution_done_fn done)
{
    struct kube_reference about = {
        .api_version = jsn_get_str(r->object, "apiVersion"),
        .kind = r->kind,
        .namespace = r->namespace,
        .name = r->name,
        .uid = jsn_get_str(r->object, "metadata.uid"),
        .version = jsn_get_str(r->object, "metadata.resourceVersion"),
    };

    j->execution =
        execution_start(j->work->tools.executor, &about, &r->arena, &r->actions, done, j);
}

/* A refusal for good goes into the status; returns whether that is under way. */
static bool tell_failure(struct job *j)
{
    AUTO(reconcile_done) struct reconcile r = {0};
    const struct work_tools *t = &j->work->tools;

    if (j->end.failures == 0 || j->end.first.class != ERR_PERMANENT || !t->may_work(t->arg))
        return false;
    reconcile_open(&r, j->key);
    reconcile_plan_failure(&r, t->world, j->step ? j->step : "", j->end.first.text,
                           clock_wall_us());
    if (r.actions.n == 0)
        return false;
    execute(j, &r, on_told);
    return true;
}

static void on_executed(void *arg, const struct execution_end *end)
{
    struct job *j = arg;

    j->execution = NULL;
    j->end = *end;
    j->step = xstrdup_null(end->step);
    j->end.step = NULL;
    if (!tell_failure(j))
        job_end(j);
}

/* Two configurations are on their way to slurmctld, and what would be planned now waits for both of
 * them: when the first one is answered, the key is due again. */
static bool waits_for_agent(const struct work *w, const struct reconcile *r)
{
    struct agent_link *link = streq(r->kind, "Controller") && w->tools.agents
                                  ? agents_find(w->tools.agents, r->namespace, r->name)
                                  : NULL;

    return link && agent_link_is_full(link);
}

static void put_off(struct work *w, const char *key)
{
    AUTO(free) char *copy = xstrdup(key); /* the queue's own may go */
    int64_t now_ms = loop_now_ms(w->tools.loop);

    (void)queue_done(w->tools.queue, copy, false, now_ms);
    queue_add_at(w->tools.queue, copy, now_ms + PUT_OFF_MS);
}

void work_start(struct work *w, const char *key)
{
    AUTO(reconcile_done) struct reconcile r = {0};
    struct job *j;

    reconcile_open(&r, key);
    if (waits_for_agent(w, &r)) {
        put_off(w, key);
        return;
    }
    j = xcalloc(1, sizeof(*j));
    j->work = w;
    j->key = xstrdup(key);
    j->since_ns = clock_mono_ns();
    list_append(&w->jobs, &j->link);
    r.agents = w->tools.agents;
    r.memos = &w->memos;
    r.tails = w->tools.tails;
    r.host_keys = &w->host_keys;
    j->kind = xstrdup(r.kind);
    log_debug("%s: planning", key);
    reconcile_plan(&r, w->tools.world, w->tools.env, clock_wall_us());
    log_debug("%s: planned, %zu actions", key, r.actions.n);
    if (r.actions.n == 0)
        job_end(j);
    else
        execute(j, &r, on_executed);
}
