/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of a pod, as a function: (what it should be, what is seen) -> what to do next.
 *
 * Volumes and namespaces come first, then init containers one by one; a sidecar counts as through
 * when it has started and is kept running from then on.  Then all main containers.  What ends is
 * started again as the policy says, with a growing delay.  When no main container will run again
 * the outcome is decided, sidecars go, the last first, and the pod's resources are released.  A pod
 * that is deleted, or whose time is up, goes the same way from wherever it is: main containers at
 * once, then the sidecars.  A pod whose namespaces were lost is stopped whole and begins again.
 *
 * Actions are only what can be begun now; the caller asks again whenever something has changed.
 */
#include "src/cluster/node/pods/lifecycle.h"

#define FIRST_DELAY_MS 10000
#define MAX_DELAY_MS 300000

int64_t lifecycle_backoff_ms(unsigned int failures)
{
    int64_t delay = FIRST_DELAY_MS;

    if (failures <= 1)
        return 0;
    for (unsigned int i = 2; i < failures && delay < MAX_DELAY_MS; i++)
        delay *= 2;
    return MIN(delay, MAX_DELAY_MS);
}

static void act(struct pod_plan *plan, enum pod_act what, size_t ctr)
{
    if (plan->n < POD_PLAN_MAX)
        plan->actions[plan->n++] = (struct pod_action){what, ctr};
}

static void wake_at(struct pod_plan *plan, int64_t when_ms)
{
    if (!plan->wake_ms || when_ms < plan->wake_ms)
        plan->wake_ms = when_ms;
}

static bool is_alive(const struct ctr_view *c)
{
    return c->phase == CTR_STARTING || c->phase == CTR_UP || c->phase == CTR_STOPPING;
}

/* Start it, now or when its delay is over. */
static void start(struct pod_plan *plan, const struct ctr_view *c, size_t i, int64_t now_ms)
{
    if (c->retry_ms > now_ms)
        wake_at(plan, c->retry_ms);
    else
        act(plan, ACT_START, i);
}

bool lifecycle_restarts(const struct pod_spec *p, const struct ctr_spec *s, int exit_code)
{
    if (s->kind == CTR_SIDECAR)
        return true;
    if (s->kind == CTR_INIT)
        return exit_code != 0 && p->restart != RESTART_NEVER;
    return p->restart == RESTART_ALWAYS || (p->restart == RESTART_ON_FAILURE && exit_code != 0);
}

static bool restarts(const struct pod_spec *p, const struct ctr_spec *s, const struct ctr_view *c)
{
    return lifecycle_restarts(p, s, c->exit_code);
}

/* Has every container at or after `from` ended, or never begun? */
static bool all_quiet(const struct pod_spec *p, const struct ctr_view *ctrs, size_t from)
{
    for (size_t i = from; i < p->n; i++)
        if (is_alive(&ctrs[i]))
            return false;
    return true;
}

/* Main and plain init containers at once; a sidecar when everything after it has ended. */
static void stop_everything(const struct pod_spec *p, const struct ctr_view *ctrs,
                            struct pod_plan *plan)
{
    for (size_t i = 0; i < p->n; i++) {
        bool may = p->ctrs[i].kind != CTR_SIDECAR || all_quiet(p, ctrs, i + 1);

        if (may && (ctrs[i].phase == CTR_UP || ctrs[i].phase == CTR_STARTING))
            act(plan, ACT_STOP, i);
    }
    if (all_quiet(p, ctrs, 0))
        act(plan, ACT_RELEASE, 0);
}

/* Returns true when what follows may begin. */
static bool plan_init(const struct pod_spec *p, const struct ctr_view *ctrs, size_t i,
                      int64_t now_ms, struct pod_plan *plan)
{
    const struct ctr_view *c = &ctrs[i];

    switch (c->phase) {
    case CTR_IDLE:
        start(plan, c, i, now_ms);
        return false;
    case CTR_DOWN:
        if (c->exit_code == 0)
            return true;
        if (restarts(p, &p->ctrs[i], c))
            start(plan, c, i, now_ms);
        else
            plan->outcome = POD_FAILED;
        return false;
    case CTR_STARTING:
    case CTR_UP:
    case CTR_STOPPING:
        return false;
    }
    return false;
}

static bool plan_sidecar(const struct ctr_view *c, size_t i, int64_t now_ms, struct pod_plan *plan)
{
    if (c->phase == CTR_IDLE || c->phase == CTR_DOWN)
        start(plan, c, i, now_ms);
    else if (c->phase == CTR_UP && c->condemned)
        act(plan, ACT_STOP, i);
    return c->phase == CTR_UP && c->started;
}

/* Init containers in their order, up to the first that is not through. */
static bool plan_inits(const struct pod_spec *p, const struct pod_view *v,
                       const struct ctr_view *ctrs, int64_t now_ms, struct pod_plan *plan)
{
    for (size_t i = 0; i < p->n_init; i++) {
        bool through;

        if (p->ctrs[i].kind == CTR_SIDECAR)
            through = plan_sidecar(&ctrs[i], i, now_ms, plan);
        else
            through = v->initialized || plan_init(p, ctrs, i, now_ms, plan);
        if (!through && !v->initialized)
            return false;
    }
    return true;
}

static void plan_main(const struct pod_spec *p, const struct ctr_view *c, size_t i, int64_t now_ms,
                      struct pod_plan *plan)
{
    if (c->phase == CTR_UP && c->condemned)
        act(plan, ACT_STOP, i);
    else if (c->phase == CTR_IDLE || (c->phase == CTR_DOWN && restarts(p, &p->ctrs[i], c)))
        start(plan, c, i, now_ms);
}

/* Will any main container run again, or does one run still?  If not: how did it go? */
static enum pod_outcome outcome_of(const struct pod_spec *p, const struct ctr_view *ctrs)
{
    bool failed = false;

    for (size_t i = p->n_init; i < p->n; i++) {
        if (ctrs[i].phase != CTR_DOWN || restarts(p, &p->ctrs[i], &ctrs[i]))
            return POD_GOES_ON;
        failed = failed || ctrs[i].exit_code != 0;
    }
    return failed ? POD_FAILED : POD_SUCCEEDED;
}

void lifecycle_plan(const struct pod_spec *p, const struct pod_view *v, const struct ctr_view *ctrs,
                    int64_t now_ms, struct pod_plan *ret_plan)
{
    struct pod_plan *plan = ret_plan;

    *plan = (struct pod_plan){.outcome = v->outcome, .initialized = v->initialized};
    if (plan->outcome == POD_GOES_ON && v->initialized)
        plan->outcome = outcome_of(p, ctrs);
    if (plan->outcome == POD_GOES_ON && v->expired)
        plan->outcome = POD_FAILED;
    if (v->deleting || plan->outcome != POD_GOES_ON) {
        stop_everything(p, ctrs, plan);
        return;
    }
    if (!v->sandbox && !all_quiet(p, ctrs, 0)) {
        stop_everything(p, ctrs, plan);
        return;
    }
    if (!v->volumes)
        act(plan, ACT_MAKE_VOLUMES, 0);
    if (!v->sandbox)
        act(plan, ACT_MAKE_SANDBOX, 0);
    if (plan->n > 0)
        return;
    plan->initialized = plan_inits(p, v, ctrs, now_ms, plan) || v->initialized;
    for (size_t i = p->n_init; plan->initialized && i < p->n; i++)
        plan_main(p, &ctrs[i], i, now_ms, plan);
    if (plan->outcome != POD_GOES_ON)
        stop_everything(p, ctrs, plan);
}
