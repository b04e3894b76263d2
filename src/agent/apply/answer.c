/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outcome of a declaration: for those who wait for it, and in the state.
 *
 * Both get the same outcome (src/wire), so that nothing is lost with an answer that does not get
 * through.  The state has the last one, with what still waits for jobs at this moment.
 */
#include "src/agent/apply/engine_impl.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/wire/state.h"
#include "src/wire/version.h"

/* Partitions that are kept for their jobs. */
static struct jsn *waiting_of(struct arena *a, const struct engine *g, const struct record *r)
{
    struct jsn *list = jsn_array(a);

    for (size_t i = 0; r && i < r->n_kept; i++) {
        const char *name = r->kept[i].partition;
        const struct jobs_group *jobs = jobs_of_partition(hub_jobs(g->o.hub), name);
        struct jsn *ids = jsn_array(a);
        struct wire_waiting w = {.partition = name, .jobs = ids};

        for (size_t k = 0; jobs && k < jobs->n; k++)
            jsn_append(a, ids, jsn_int(a, jobs->ids[k]));
        jsn_append(a, list, fields_encode(a, wire_waiting_fields, &w));
    }
    return list;
}

/* Partitions that are set aside. */
static struct wire_refusals refusals_of(struct arena *a, const struct record *r)
{
    struct wire_refusals list = {0};

    if (!r || r->n_aside == 0)
        return list;
    list.items = arena_calloc(a, r->n_aside, sizeof(*list.items));
    for (size_t i = 0; i < r->n_aside; i++)
        list.items[list.n++] =
            (struct wire_refusal){.partition = arena_strdup(a, r->aside[i].partition),
                                  .error = arena_strdup(a, r->aside[i].why)};
    return list;
}

static void changes_put(struct arena *a, const struct job *j, struct wire_outcome *o)
{
    const struct comparison *c = &j->aim.compared;

    o->changes.items = arena_calloc(a, c->n + 1, sizeof(*o->changes.items));
    for (size_t i = 0; i < c->n; i++)
        o->changes.items[o->changes.n++] =
            (struct wire_change){.change = c->list[i].text,
                                 .class = change_class_name(c->list[i].class),
                                 .why = c->list[i].why};
}

/* "partition 'gpu' is refused and stays as it was: ..." */
static const char *aside_reason(struct arena *a, const struct record *r)
{
    const struct record_aside *x = &r->aside[0];
    const char *stays = x->lines[0] ? "stays as it was" : "is left out";

    if (r->n_aside == 1)
        return arena_printf(a, "partition '%s' is refused and %s; the rest is applied: %s",
                            x->partition, stays, x->why);
    return arena_printf(a, "partition '%s' and %zu more are refused; the rest is applied: %s",
                        x->partition, r->n_aside - 1, x->why);
}

/* "partition 'old' is drained and deleted when its jobs have ended" */
static const char *reason_of(struct arena *a, const struct job *j)
{
    if (j->report.why.text[0])
        return j->report.why.text;
    if (j->record->n_aside > 0)
        return aside_reason(a, j->record);
    if (j->record->n_kept == 0)
        return NULL;
    return arena_printf(a, "partition '%s'%s drained and deleted when its jobs have ended",
                        j->record->kept[0].partition,
                        j->record->n_kept > 1 ? " and others are" : " is");
}

void outcome_of(struct arena *a, const struct job *j, struct wire_outcome *ret)
{
    bool plan = j->request->kind == REQUEST_PLAN;

    *ret = (struct wire_outcome){.result = (int)j->report.result,
                                 .class = change_class_name(j->aim.class),
                                 .declared = j->record->declared,
                                 .hash = j->record->hash,
                                 .generation = j->record->generation,
                                 .problems = j->report.problems,
                                 .steps = {j->report.steps, j->report.n_steps},
                                 .waiting = waiting_of(a, j->engine, plan ? NULL : j->record),
                                 .applied_us = clock_wall_us()};
    if (j->report.result != WIRE_REFUSED)
        ret->refused = refusals_of(a, j->record);
    if (j->report.committed)
        ret->good = j->record->declared;
    if (j->report.result == WIRE_PENDING)
        ret->reason = reason_of(a, j);
    if (plan)
        changes_put(a, j, ret);
    if (j->report.result != WIRE_REFUSED)
        return;
    ret->error = j->report.why.text;
    ret->step = j->report.failed_step;
    ret->ended = j->fate == FATE_ENDED;
    ret->retry = j->report.why.class != ERR_PERMANENT;
}

int outcome_status(const struct wire_outcome *o)
{
    return o->result != WIRE_REFUSED ? 200 : o->retry ? 503 : 422;
}

/* The "config" of the state: what was answered last, and what holds. */
void engine_publish(struct engine *g)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf text = {0};
    const struct record *good = store_good(g->o.store);
    struct wire_outcome last = g->last;
    struct jsn *config;

    last.waiting = waiting_of(&a, g, engine_declared(g));
    last.refused = refusals_of(&a, engine_declared(g));
    last.good = NULL; /* as it is now, below */
    config = wire_outcome_encode(&a, &last);
    if (good) {
        struct jsn *holds = jsn_object(&a);

        jsn_set_str(&a, holds, "hash", good->hash);
        jsn_set_int(&a, holds, "generation", good->generation);
        if (good->declared)
            jsn_set_str(&a, holds, "declared", good->declared);
        jsn_set(&a, config, "good", holds);
    }
    jsn_print(&text, config);
    (void)hub_section_put(g->o.hub, HUB_CONFIG, buf_view(&text));
}
