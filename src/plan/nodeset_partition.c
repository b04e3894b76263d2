/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The partition of a NodeSet: is what was declared live?
 *
 * The condition PartitionApplied exists while there is a partition.  With the observedGeneration
 * that is metadata.generation it speaks of the last edit, so that whoever edits can wait for it:
 *
 *   True     Applied: slurmctld has the partition as this generation declares it.  The agent says
 *            so, after it has read the partition back; the state that comes a moment later is not
 *            waited for
 *
 *   Unknown  SlurmUnknown: nothing is known of slurmctld
 *
 *   False    Applying: on its way.  Refused, Pending: slurmctld was handed this very line.
 *            ChangedInSlurm: somebody has changed it there (Drifted says the same).  ConfigInvalid:
 *            the Controller has to be mended first.  External.  What hinders the NodeSet itself
 *            (ControllerNotFound, SlurmNameTaken, Invalid, ...) has the reason that Ready has
 *
 * An edit that does not touch the partition's line (replicas, a template) leaves it True: the line
 * is found in the slurm.conf that slurmctld has, whoever else edits at the same time.
 */
#include "src/plan/nodeset_private.h"
#include "src/plan/partition_live.h"

#define APPLIED "PartitionApplied"

/* What was said of this generation; NULL: nothing yet. */
static const struct api_condition *last_word(const struct status_scribe *s)
{
    const struct api_condition *was = api_condition_find(s->conditions, APPLIED);

    return was && was->generation == s->generation ? was : NULL;
}

/*
 * Does slurmctld have the line?  An agent or an operator that has just started has not compared the
 * configurations yet; so long what was true of this generation stays so, as far as it shows.
 */
static bool is_held(const struct plan_nodeset *in, const char *line, const struct status_scribe *s)
{
    const struct api_condition *was = last_word(s);
    const char *name = nodeset_slurm_name(s->to->arena, in->ns);

    if (in->slurm->held)
        return slurm_state_holds(in->slurm, name, line);
    return was && streq(was->status, "True") &&
           !partition_live_lag(s->to->arena, in->slurm, name, line);
}

/* It was handed over, and slurmctld does not have it. */
static void tell_outcome(const struct plan_nodeset *in, struct status_scribe *s)
{
    const struct slurm_applied *last = &in->slurm->applied;
    const char *name = nodeset_slurm_name(s->to->arena, in->ns);
    const struct slurm_fault *own =
        slurm_state_fault(in->slurm, arena_printf(s->to->arena, "NodeSet=%s", name),
                          arena_printf(s->to->arena, "PartitionName=%s", name));

    if (own)
        status_set(s, APPLIED, STATUS_FALSE, false, "Refused",
                   "slurmctld goes on with what it has: %s", slurm_fault_text(s->to->arena, own));
    else if (streq(last->result, "refused"))
        status_set(s, APPLIED, STATUS_FALSE, false, "Refused",
                   "slurmctld goes on with what it has, because of another part of the "
                   "configuration: %s; see the condition ConfigApplied of Controller %s",
                   last->n_faults ? slurm_fault_text(s->to->arena, &last->faults[0]) : last->reason,
                   in->cluster->controller->meta.name);
    else
        status_set(s, APPLIED, STATUS_FALSE, false, "Pending", "%s",
                   last->reason ? last->reason : "slurmctld does not have it all yet");
}

/* The Controller has had time to say that the configuration cannot be written at all. */
static bool is_blocked(const struct plan_nodeset *in, const struct status_scribe *s)
{
    const struct api_condition *was = last_word(s);
    const struct api_condition *config =
        api_condition_find(&in->cluster->controller->status.conditions, "ConfigApplied");

    return was && s->now_us >= was->since_us + STATUS_LOOK_AGAIN_US && config &&
           streq(config->status, "False") && streq(config->reason, "ConfigInvalid");
}

static void tell_absence(const struct plan_nodeset *in, const struct nodeset_hindrance *why,
                         const char *line, struct status_scribe *s)
{
    const char *name = nodeset_slurm_name(s->to->arena, in->ns);
    const char *lag;

    if (slurm_conf_has(in->slurm->tried, line)) {
        tell_outcome(in, s);
    } else if (why->reason) {
        status_set(s, APPLIED, STATUS_FALSE, false, why->reason, "%s", why->text);
    } else if (is_blocked(in, s)) {
        status_set(s, APPLIED, STATUS_FALSE, false, "ConfigInvalid",
                   "the configuration is not written before Controller %s is mended; see its "
                   "condition ConfigApplied",
                   in->cluster->controller->meta.name);
        status_look_again(s, APPLIED);
    } else {
        lag = partition_live_lag(s->to->arena, in->slurm, name, line);
        status_set(s, APPLIED, STATUS_FALSE, false, "Applying", "%s",
                   lag ? lag : "the configuration that has it is on its way to slurmctld");
        status_look_again(s, APPLIED);
    }
}

/* What of slurmctld is known, held against the line. */
static void judge_line(const struct plan_nodeset *in, const struct nodeset_hindrance *why,
                       struct status_scribe *s)
{
    struct arena *a = s->to->arena;
    const char *line = nodeset_partition_line(a, in->ns);
    const char *name = nodeset_slurm_name(a, in->ns);
    const char *drift = partition_live_drift(a, in->slurm, name);
    const char *refusal = slurm_state_refusal(in->slurm, name, line);

    if (refusal)
        status_set(s, APPLIED, STATUS_FALSE, true, "Refused",
                   "slurmctld refuses it and goes on with what it has: %s", refusal);
    else if (!is_held(in, line, s))
        tell_absence(in, why, line, s);
    else if (drift)
        status_set(s, APPLIED, STATUS_FALSE, false, "ChangedInSlurm",
                   "it was applied, and somebody has changed it in slurmctld: %s", drift);
    else
        status_set(s, APPLIED, STATUS_TRUE, false, "Applied",
                   "slurmctld has the partition as declared");
}

static void judge_applied(const struct plan_nodeset *in, const struct nodeset_hindrance *why,
                          struct status_scribe *s)
{
    const struct controller *c = in->cluster->controller;

    if (!nodeset_has_partition(in->ns) || in->ns->meta.deleted_us)
        (void)api_condition_drop(s->conditions, APPLIED);
    else if (!c || in->twin) /* the line that is there is another's */
        status_set(s, APPLIED, STATUS_FALSE, false, why->reason, "%s", why->text);
    else if (c->spec.external)
        status_set(s, APPLIED, STATUS_FALSE, false, "External",
                   "slurmctld of Controller %s runs elsewhere, and its partitions are declared "
                   "there",
                   c->meta.name);
    else if (!in->slurm || !in->slurm->partitions_known)
        status_set(s, APPLIED, STATUS_UNKNOWN, false, "SlurmUnknown",
                   "slurmctld's state is not known");
    else
        judge_line(in, why, s);
}

/* Somebody changed it past its declaration. */
static void judge_drift(const struct plan_nodeset *in, const struct nodeset_view *view,
                        struct status_scribe *s)
{
    const char *name = nodeset_slurm_name(s->to->arena, in->ns);
    const char *nodes;
    const char *drift;

    if (!in->slurm || in->slurm->down) {
        status_unknown(s, "Drifted", "nothing is known of slurmctld");
        return;
    }
    drift =
        nodeset_has_partition(in->ns) ? partition_live_drift(s->to->arena, in->slurm, name) : NULL;
    nodes = nodeset_nodes_drift(s->to->arena, in, view);
    if (drift)
        status_set(s, "Drifted", STATUS_TRUE, true, "ChangedInSlurm", "partition %s: %s%s%s", name,
                   drift, nodes ? "; node " : "", nodes ? nodes : "");
    else if (nodes)
        status_set(s, "Drifted", STATUS_TRUE, true, "ChangedInSlurm", "node %s", nodes);
    else
        (void)api_condition_drop(s->conditions, "Drifted");
}

void nodeset_partition_judge(const struct plan_nodeset *in, const struct nodeset_view *view,
                             const struct nodeset_hindrance *why, struct status_scribe *s)
{
    judge_applied(in, why, s);
    judge_drift(in, view, s);
}
