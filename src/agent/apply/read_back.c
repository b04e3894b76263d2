/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading back: is slurmctld as it was told to be?
 *
 * Its partition calls stop half-way at a bad field, and drop some values without a word.  What was
 * meant to change must have; others that differ after a reconfigure are only told.  Where the plan
 * rests on the hub's picture, what differs may be somebody else's doing: then the plan is made
 * again from what was read, once.
 */
#include "src/agent/apply/engine_impl.h"

#define READ_TIMEOUT_MS 10000

/* Was this one meant to change? */
static bool must_match(const struct job *j, const char *name)
{
    for (size_t i = 0; i < j->plan.n; i++)
        if (streq(j->plan.steps[i].partition, name))
            return true;
    for (size_t i = 0; i < j->aim.compared.slurm.n; i++)
        if (j->aim.compared.slurm.list[i].section == CONF_PARTITION &&
            streq(j->aim.compared.slurm.list[i].object, name))
            return true;
    return false;
}

static int read_back_one(struct job *j, const struct model_object *o, struct err *e)
{
    AUTO(hostset_free) struct host_set *nodesets = model_nodesets(candidate_model(j->aim.to));
    AUTO(part_changes_done) struct part_changes drift = {0};
    AUTO(partition_done) struct partition declared = {0};
    const struct live_partition *live = live_find(&j->seen.live, o->name);
    int r;

    if (!live)
        return err_set(e, -EREMOTEIO, ERR_PERMANENT,
                       "partition '%s' is not there, though slurmctld took it", o->name);
    partition_init(&declared);
    r = model_partition(candidate_model(j->aim.to), o, &declared, e);
    if (r < 0)
        return r;
    live_drift(live, &declared, NULL, nodesets, j->seen.release, &drift);
    if (drift.n == 0)
        return 0;
    return err_set(e, -EREMOTEIO, ERR_PERMANENT,
                   "partition '%s' has %s=%s after the change, and not %s", o->name,
                   drift.list[0].key->name, drift.list[0].to, drift.list[0].from);
}

/* What slurmctld has not taken it has refused; true: the step is over. */
static bool refuse(struct job *j, const char *partition, int r, const struct err *why)
{
    enum aside_verdict v = aside_take(j, partition, why);

    if (v == ASIDE_NOT)
        step_failed(j, r, why);
    return v != ASIDE_BEFORE;
}

static void on_read_back(struct job *j, int r, const struct err *e)
{
    const struct model *m = job_undoes(j) ? NULL : candidate_model(j->aim.to);

    if (r < 0) {
        step_failed(j, r, e);
        return;
    }
    for (size_t i = 0; m && i < m->n_objects; i++) {
        const struct model_object *o = &m->objects[i];
        struct err why = {0};

        if (o->section != CONF_PARTITION ||
            (j->aim.class < CHANGE_RECONFIGURE && !must_match(j, o->name)))
            continue;
        r = read_back_one(j, o, &why);
        if (r == 0)
            continue;
        /* somebody has changed it since the hub looked, or slurmctld has not taken it */
        if (j->seen.assumed) {
            steps_plan_again(j);
            return;
        }
        if (must_match(j, o->name) && refuse(j, o->name, r, &why))
            return;
        if (!must_match(j, o->name))
            job_warn(j, "%s", why.text);
    }
    step_done(j);
}

void step_read_back(struct job *j)
{
    live_read(j, READ_TIMEOUT_MS, on_read_back);
}
