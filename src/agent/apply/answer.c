/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers to pushes and plans, and the part of the state that tells of them.
 */
#include "src/agent/apply/engine_impl.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"

const char *result_name(enum apply_result r)
{
    static const char *const names[] = {
        [RESULT_APPLIED] = "applied", [RESULT_UNCHANGED] = "unchanged",
        [RESULT_PENDING] = "pending", [RESULT_PLAN] = "plan",
        [RESULT_REFUSED] = "refused",
    };

    return names[r];
}

void answer_waiting(struct arena *a, const struct engine *g, const struct record *r,
                    struct jsn *into)
{
    struct jsn *list = jsn_array(a);

    for (size_t i = 0; r && i < r->n_kept; i++) {
        const char *name = r->kept[i].partition;
        const struct jobs_group *jobs = jobs_of_partition(hub_jobs(g->o.hub), name);
        struct jsn *item = jsn_object(a);
        struct jsn *ids = jsn_array(a);

        for (size_t k = 0; jobs && k < jobs->n; k++)
            jsn_append(a, ids, jsn_int(a, jobs->ids[k]));
        jsn_set_str(a, item, "partition", name);
        jsn_set(a, item, "jobs", ids);
        jsn_append(a, list, item);
    }
    jsn_set(a, into, "waiting", list);
}

static void changes_put(struct arena *a, const struct job *j, struct jsn *into)
{
    struct jsn *list = jsn_array(a);

    for (size_t i = 0; i < j->aim.compared.n; i++) {
        struct jsn *item = jsn_object(a);

        jsn_set_str(a, item, "change", j->aim.compared.list[i].text);
        jsn_set_str(a, item, "class", change_class_name(j->aim.compared.list[i].class));
        jsn_append(a, list, item);
    }
    jsn_set(a, into, "changes", list);
}

/* "partition old waits for jobs 12, 13" */
static const char *reason_of(struct arena *a, const struct job *j)
{
    if (j->report.why.text[0])
        return j->report.why.text;
    if (j->record->n_kept == 0)
        return "";
    return arena_printf(a, "partition '%s'%s drained and deleted when its jobs have ended",
                        j->record->kept[0].partition,
                        j->record->n_kept > 1 ? " and others are" : " is");
}

struct jsn *answer_make(struct arena *a, struct job *j, int *ret_status)
{
    struct jsn *answer = jsn_object(a);

    /* 503: the declaration is not to blame, and whoever made it may try again */
    *ret_status = j->report.result != RESULT_REFUSED     ? 200
                  : j->report.why.class == ERR_PERMANENT ? 422
                                                         : 503;
    jsn_set_str(a, answer, "result", result_name(j->report.result));
    jsn_set_str(a, answer, "class", change_class_name(j->aim.class));
    jsn_set_str(a, answer, "hash", j->record->hash);
    jsn_set_int(a, answer, "generation", j->record->generation);
    if (j->report.result == RESULT_REFUSED) {
        jsn_set_str(a, answer, "error", j->report.why.text);
        jsn_set_str(a, answer, "step", j->report.failed_step);
        jsn_set(a, answer, "problems", j->report.problems);
        jsn_set_bool(a, answer, "ended", j->fate == FATE_ENDED);
    }
    jsn_set(a, answer, "steps", j->report.steps);
    jsn_set(a, answer, "warnings", j->report.warnings);
    if (j->request->kind == REQUEST_PLAN)
        changes_put(a, j, answer);
    answer_waiting(a, j->engine, j->request->kind == REQUEST_PLAN ? NULL : j->record, answer);
    if (j->report.result == RESULT_PENDING)
        jsn_set_str(a, answer, "reason", reason_of(a, j));
    return answer;
}

/* The "config" of the state: what was answered last, and what holds. */
void engine_publish(struct engine *g)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf text = {0};
    struct jsn *config = jsn_object(&a);
    const struct record *good = store_good(g->o.store);
    char when[CLOCK_RFC3339_LEN];

    if (g->last.hash) {
        jsn_set_str(&a, config, "hash", g->last.hash);
        jsn_set_int(&a, config, "generation", g->last.generation);
        jsn_set_str(&a, config, "result", result_name(g->last.result));
        jsn_set_str(&a, config, "class", change_class_name(g->last.class));
        if (g->last.reason)
            jsn_set_str(&a, config, g->last.result == RESULT_REFUSED ? "error" : "reason",
                        g->last.reason);
        clock_rfc3339(g->last.applied_us, when);
        jsn_set_str(&a, config, "appliedAt", when);
    }
    if (good) {
        struct jsn *last = jsn_object(&a);

        jsn_set_str(&a, last, "hash", good->hash);
        jsn_set_int(&a, last, "generation", good->generation);
        if (good->declared)
            jsn_set_str(&a, last, "declared", good->declared);
        jsn_set(&a, config, "good", last);
    }
    answer_waiting(&a, g, engine_declared(g), config);
    jsn_print(&text, config);
    (void)hub_section_put(g->o.hub, HUB_CONFIG, buf_view(&text));
}
