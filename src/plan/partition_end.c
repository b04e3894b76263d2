/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a Partition.
 *
 * Its line goes from the configuration at once.  slurmctld keeps the partition, drained, until its
 * last job has ended; so long the object stays to be seen, and says which jobs those are.  Where
 * nothing is known of slurmctld the object goes with its line.  One whose name another object has
 * taken over has nothing to wait for.
 */
#include "src/api/partition_conf.h"
#include "src/plan/finalizer.h"
#include "src/plan/partition_private.h"

#define JOBS_SHOWN 20

static bool is_taken_over(struct arena *a, const struct plan_partition *in)
{
    struct partition_claim claim;

    return partition_claim_find(
        a, in->lookup, api_namespace(&in->part->meta), in->part->spec.controller_ref.name,
        api_partition_slurm_name(in->part), "Partition", in->part->meta.name, &claim);
}

static const char *name_jobs(struct arena *a, const struct slurm_waiting *w)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < w->n && i < JOBS_SHOWN; i++)
        buf_printf(&b, "%s%u", i ? ", " : "", (unsigned)w->jobs[i]);
    if (w->n > JOBS_SHOWN)
        buf_printf(&b, " and %zu more", w->n - JOBS_SHOWN);
    return arena_strdup(a, buf_str(&b));
}

/* What it waits for; NULL: nothing.  *ret_passing: that is a matter of moments as a rule. */
static const char *held_by(struct arena *a, const struct plan_partition *in, bool *ret_passing)
{
    const char *name = api_partition_slurm_name(in->part);
    const struct slurm_partition *live = slurm_state_partition(in->slurm, name);
    const struct slurm_waiting *w = slurm_state_waiting(in->slurm, name);

    if (!in->controller || in->controller->spec.external || is_taken_over(a, in))
        return NULL;
    *ret_passing = in->written || !((w && w->n) || (live && live->pending + live->running > 0));
    if (in->written)
        return "the configuration is being written without it";
    if (w && w->n)
        return arena_printf(a,
                            "slurmctld keeps it, drained, until these jobs have ended: %s; cancel "
                            "them to be done at once",
                            name_jobs(a, w));
    if (live && live->pending + live->running > 0)
        return arena_printf(a, "slurmctld keeps it, drained, until its %u %s ended",
                            live->pending + live->running,
                            word_for(live->pending + live->running, "job has", "jobs have"));
    return live ? "slurmctld is about to delete it" : NULL;
}

void partition_end_plan(const struct plan_partition *in, struct actions *to)
{
    const struct api_meta *m = &in->part->meta;
    struct api_partition_status st;
    struct status_scribe scribe;
    bool passing = false;
    const char *held;

    if (!finalizer_has(m, PARTITION_FINALIZER))
        return;
    held = finalizer_is_forced(m) ? NULL : held_by(to->arena, in, &passing);
    if (!held) {
        actions_step(to, "Release");
        finalizer_drop(to, "Partition", m, PARTITION_FINALIZER);
        return;
    }
    if (passing && partition_is_young(in)) {
        partition_look_again(in, to);
        return;
    }
    st = partition_status_copy(to->arena, in);
    scribe = (struct status_scribe){to, &st.conditions, m->generation, in->now_us};
    actions_step(to, "Status");
    status_set(&scribe, "Ready", STATUS_FALSE, true, "Deleting", "%s", held);
    partition_live_plan(in, &st, &scribe);
    partition_status_plan(in, &st, to);
}
