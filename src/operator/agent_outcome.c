/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What became of a configuration that an agent was handed.
 *
 * It comes by the answer, or, if that was lost, by the state; what the agent still did by itself
 * (one that was pending is applied, a partition is not refused any more) comes by the state. Beside
 * it stand two texts: the slurm.conf of the outcome, until slurmctld is known to have it, and the
 * one that slurmctld has.
 */
#include "src/operator/agent_outcome.h"

#include "src/base/alloc.h"

#define MAX_FAULTS 32

static const char *copy(struct arena *a, const char *text)
{
    return text && text[0] ? arena_strdup(a, text) : NULL;
}

static void read_faults(struct agent_outcome *p, const struct wire_problems *list)
{
    struct slurm_fault *faults = arena_calloc(&p->arena, MAX_FAULTS, sizeof(*faults));

    for (size_t i = 0; i < list->n && p->applied.n_faults < MAX_FAULTS; i++) {
        const struct wire_problem *f = &list->items[i];

        if (f->severity != WIRE_WARNING)
            faults[p->applied.n_faults++] =
                (struct slurm_fault){.file = copy(&p->arena, f->file),
                                     .line = f->line,
                                     .line_text = copy(&p->arena, f->object),
                                     .key = copy(&p->arena, f->key),
                                     .message = copy(&p->arena, f->message)};
    }
    p->applied.faults = faults;
}

static bool same_refusals(const struct slurm_applied *have, const struct wire_refusals *list)
{
    bool same = have->n_refused == list->n;

    for (size_t i = 0; same && i < list->n; i++)
        same = streq(have->refused[i].partition, list->items[i].partition) &&
               streq(have->refused[i].error, list->items[i].error);
    return same;
}

/* Partitions that slurmctld refuses, while it took the rest; true: there is news. */
static bool read_refusals(struct agent_outcome *p, const struct wire_refusals *list)
{
    struct slurm_refusal *refused;

    if (same_refusals(&p->applied, list))
        return false;
    refused = arena_calloc(&p->arena, list->n + 1, sizeof(*refused));
    for (size_t i = 0; i < list->n; i++)
        refused[i] = (struct slurm_refusal){
            .partition = copy(&p->arena, list->items[i].partition),
            .error = arena_strdup(&p->arena, list->items[i].error ? list->items[i].error : "")};
    p->applied.refused = refused;
    p->applied.n_refused = list->n;
    return true;
}

/* "partition debug: State=UP -> DRAIN" of each step that tells something. */
static const char *read_steps(struct arena *a, const struct wire_outcome *o)
{
    AUTO(buf_done) struct buf b = {.max = 1024};
    double ms = 0;

    for (size_t i = 0; i < o->steps.n; i++) {
        const char *what = o->steps.items[i].what;

        ms += o->steps.items[i].ms;
        if (what && what[0])
            buf_printf(&b, "%s%s", b.n ? "; " : "", what);
    }
    if (!o->class || streq(o->class, "none"))
        return NULL;
    return arena_printf(a, "%s%s%s (%.1f ms)", o->class, b.n ? ": " : "", buf_str(&b), ms);
}

void agent_outcome_done(struct agent_outcome *p)
{
    arena_done(&p->arena);
    free(p->tried);
    free(p->held);
    map_done(&p->lines);
    *p = (struct agent_outcome){0};
}

void agent_outcome_forget(struct agent_outcome *p)
{
    p->applied = (struct slurm_applied){0};
    free(TAKE(p->tried));
    free(TAKE(p->held));
    map_done(&p->lines);
}

static void start_outcome(struct agent_outcome *p, const char *hash, bool reverts, char *conf)
{
    arena_done(&p->arena);
    p->arena = (struct arena){0};
    p->applied = (struct slurm_applied){.hash = arena_strdup(&p->arena, hash), .reverts = reverts};
    free(p->tried);
    p->tried = conf;
}

/* Both mean that slurmctld has it. */
static bool is_there(const char *result)
{
    return streq(result, "applied") || streq(result, "unchanged");
}

/* Does slurmctld have it now?  What is pending may only wait for jobs of partitions that go. */
static bool note_held(struct agent_outcome *p, const struct wire_outcome *o)
{
    if (!p->tried || (!is_there(p->applied.result) && !streq(o->good, p->applied.hash)))
        return false;
    free(p->held);
    p->held = TAKE(p->tried);
    map_done(&p->lines);
    map_init(&p->lines, free);
    slurm_lines_read(&p->lines, p->held);
    p->applied.taken = true;
    return true;
}

void agent_outcome_take(struct agent_outcome *p, const char *hash, bool reverts, char *conf,
                        const struct wire_outcome *o)
{
    start_outcome(p, hash, reverts, conf);
    p->applied.result = wire_result_name((enum wire_result)o->result);
    if (o->result == WIRE_REFUSED) {
        p->applied.reason =
            arena_printf(&p->arena, "%s%s%s", o->step ? o->step : "", o->step ? ": " : "",
                         o->error ? o->error : "the agent gives no reason");
        read_faults(p, &o->problems);
        return;
    }
    (void)note_held(p, o);
    (void)read_refusals(p, &o->refused);
    p->applied.reason = copy(&p->arena, o->reason);
    p->applied.steps = read_steps(&p->arena, o);
}

static bool copy_if_other(struct arena *a, const char **text, const char *now)
{
    if (now && !now[0])
        now = NULL;
    if (streq(*text, now) || (!*text && !now))
        return false;
    *text = now ? arena_strdup(a, now) : NULL;
    return true;
}

bool agent_outcome_update(struct agent_outcome *p, const struct wire_outcome *o)
{
    const char *result = wire_result_name((enum wire_result)o->result);
    bool changed = false;

    if (!is_there(result) || !is_there(p->applied.result))
        changed = copy_if_other(&p->arena, &p->applied.result, result);
    if (copy_if_other(&p->arena, &p->applied.reason, o->error ? o->error : o->reason))
        changed = true;
    if (read_refusals(p, &o->refused))
        changed = true;
    return note_held(p, o) || changed;
}
