/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps that are calls about one partition: create, update, delete.
 *
 * A partition that slurmctld does not let go because of its jobs is no failure: it is drained, and
 * the record keeps its lines.
 */
#include "src/agent/apply/bug.h"
#include "src/agent/apply/engine_impl.h"
#include "src/agent/keep.h"

#define RPC_TIMEOUT_MS 30000
#define ESLURM_INVALID_PARTITION_NAME 2000
#define ESLURM_PARTITION_IN_USE 2075

/* Is the partition to blame, and not slurmctld, the way there or our rights? */
static bool is_its_own(int r)
{
    return step_is_refusal(r) && r != -EACCES;
}

static void call_failed(struct job *j, int r, const struct err *e)
{
    const char *partition = step_now(j)->partition;
    enum aside_verdict v = is_its_own(r) && e ? aside_take(j, partition, e) : ASIDE_NOT;

    if (v == ASIDE_NOT)
        step_failed(j, r, e);
    else if (v == ASIDE_BEFORE)
        step_done(j);
}

static void on_told(struct job *j, int r, const struct jsn *answer, const struct err *e)
{
    bool surprise = jsn_get_int(answer, "error.code", 0) == ESLURM_INVALID_PARTITION_NAME;

    /* it is there already, or not any more: somebody used scontrol */
    if (surprise && j->seen.assumed && !job_undoes(j)) {
        steps_look_again(j);
        return;
    }
    /* slurmctld has read its files since we looked */
    if (surprise && j->request->kind != REQUEST_OWN)
        r = -EBUSY;
    if (r < 0)
        call_failed(j, r, e);
    else
        step_done(j);
}

void step_call(struct job *j, const char *call, const char *partition,
               const struct conf_pair *pairs, size_t n, uint64_t timeout_ms, ask_fn fn)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *request = jsn_object(&a);
    struct err e = {0};
    int r = step_pend(j, &e);

    if (r < 0) {
        step_failed(j, -EINVAL, &e);
        return;
    }
    jsn_set_str(&a, request, "call", call);
    if (partition)
        jsn_set_str(&a, request, "name", partition);
    if (n > 0) {
        struct jsn *set = jsn_object(&a);

        for (size_t i = 0; i < n; i++)
            jsn_set_str(&a, set, pairs[i].key, pairs[i].value);
        jsn_set(&a, request, "set", set);
    }
    job_reach(j, REACH_SLURMCTLD);
    r = job_ask(j, LANE_WRITE, request, timeout_ms, fn);
    if (r < 0)
        step_failed(j, -EBUSY, &e);
}

/* slurmctld keeps it for its jobs: so do the files, and nothing new gets in. */
static void partition_drain(struct job *j, const char *name)
{
    static const struct conf_pair drain = {.key = "State", .value = "DRAIN", .op = '='};
    const struct live_partition *live = live_find(&j->seen.live, name);
    const struct model *m = candidate_model(j->aim.to);
    const struct model_object *o = model_find(m, CONF_PARTITION, name);
    const struct record_kept *kept = record_kept_find(j->record, name);
    const char *line = kept ? strstr(kept->lines, "PartitionName=") : NULL;
    AUTO(buf_done) struct buf lines = {0};
    struct err e = {0};
    int r;

    if (!o || !line) { /* made by hand: it never stood in a file, and stays as it is */
        step_done(j);
        return;
    }
    /* its NodeSets as they stand there, then the partition itself */
    buf_add(&lines, kept->lines, (size_t)(line - kept->lines));
    r = keep_declared(m, o, m, true, &lines, &e);
    if (r < 0) {
        step_failed(j, r, &e);
        return;
    }
    record_keep(j->record, name, buf_str(&lines));
    /* what was live before a reconfigure says nothing any more: the files may have had it UP */
    if (live && live->p.state == PART_DRAIN && j->aim.class < CHANGE_RECONFIGURE)
        step_done(j);
    else
        step_call(j, "partition-update", name, &drain, 1, RPC_TIMEOUT_MS, on_told);
}

static void on_deleted(struct job *j, int r, const struct jsn *answer, const struct err *e)
{
    struct apply_step *s = &j->plan.steps[j->at];
    bool in_use = jsn_get_int(answer, "error.code", 0) == ESLURM_PARTITION_IN_USE;

    if (in_use && !job_undoes(j) && !j->aim.delete_first && !bug_is(BUG_DELETE_BEFORE_DRAIN)) {
        s->what =
            arena_printf(&j->plan.arena, "partition %s: has jobs, drained first", s->partition);
        partition_drain(j, s->partition);
        return;
    }
    if (r < 0 && !(in_use && bug_is(BUG_DELETE_BEFORE_DRAIN))) {
        step_failed(j, in_use ? -EREMOTEIO : r, e);
        return;
    }
    record_unkeep(j->record, s->partition);
    step_done(j);
}

void step_partition(struct job *j)
{
    const struct apply_step *s = step_now(j);

    if (s->kind == STEP_DELETE)
        step_call(j, "partition-delete", s->partition, NULL, 0, RPC_TIMEOUT_MS, on_deleted);
    else
        step_call(j, s->kind == STEP_CREATE ? "partition-create" : "partition-update", s->partition,
                  s->pairs, s->n, RPC_TIMEOUT_MS, on_told);
}
