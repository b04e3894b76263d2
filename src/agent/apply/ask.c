/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of the link by a job.
 *
 * Whether an answer is awaited is known here, and not taken on trust: one that comes a second time,
 * or after the job is over, would push the machine a step further than slurmctld is.  So each call
 * is remembered until the job is gone.
 */
#include "src/agent/apply/bug.h"
#include "src/agent/apply/engine_impl.h"
#include "src/base/alloc.h"
#include "src/base/log.h"

struct ask {
    struct list link; /* in job->asks */
    struct job *job;
    ask_fn fn;
    char call[32];
    bool answered;
};

static void on_answer(void *arg, int r, const struct jsn *answer, const struct err *e)
{
    struct ask *a = arg;

    if ((a->answered && !bug_is(BUG_TAKE_DOUBLE)) || a->job->progress == PROGRESS_OVER) {
        log_error("an answer to '%s' that nobody waits for was dropped", a->call);
        return;
    }
    a->answered = true;
    a->fn(a->job, r, answer, e);
}

int job_ask(struct job *j, enum link_lane lane, const struct jsn *request, uint64_t timeout_ms,
            ask_fn fn)
{
    struct ask *a = xcalloc(1, sizeof(*a));
    const char *call = jsn_get_str(request, "call");
    int r;

    a->job = j;
    a->fn = fn;
    (void)snprintf(a->call, sizeof(a->call), "%s", call ? call : "");
    r = link_call(j->engine->o.link, lane, request, timeout_ms, on_answer, a);
    if (r < 0)
        free(a);
    else
        list_append(&j->asks, &a->link);
    return r;
}

void asks_free(struct job *j)
{
    LIST_FOR_EACH (a, &j->asks, struct ask, link) {
        list_remove(&a->link);
        free(a);
    }
}
