/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan for a Partition.
 *
 * Its line stands in the Controller's configuration, which the Controller's plan writes; here is
 * said what became of it.  As long as the line is as wanted in the slurm.conf that slurmctld has,
 * or in the ConfigMap (which follows), that is a look into the one and the other and into Slurm's
 * state, so that the counters of 500 busy partitions are cheap.  Only where it is in neither, and
 * had time to get there, the configuration of the whole cluster is built once to learn the reason.
 *
 * The condition Ready:
 *
 *   True     Applied: slurmctld has it
 *
 *   Unknown  Written: it is in the configuration, and slurmctld's state is not known
 *
 *   False    Writing, Applying    it is on its way
 *            Refused              slurmctld was handed this very line, and took the rest of the
 *                                 configuration; it is tried again now and then
 *            NodeSetNotFound      it is without some of its nodes
 *            Invalid              it is left out, or the last good line is at work
 *            ControllerNotFound   there is no such Controller
 *            External             slurmctld runs elsewhere
 *            ConfigInvalid        the Controller has to be mended first
 */
#include "src/plan/partition.h"

#include "src/build/controller_config.h"
#include "src/build/labels.h"
#include "src/plan/finalizer.h"
#include "src/plan/partition_live.h"
#include "src/plan/partition_private.h"

/* The Controller's plan takes a few milliseconds as a rule; where it takes longer, so does this. */
#define LOOK_AGAIN_US STATUS_LOOK_AGAIN_US

/* The line that it should have; *ret_missing gets a NodeSet that is not there, or NULL. */
static const char *partition_wanted_line(struct arena *a, const struct plan_partition *in,
                                         bool may_be_default, const char **ret_missing)
{
    const struct api_partition_spec *spec = &in->part->spec;
    AUTO(buf_done) struct buf nodes = {0};

    *ret_missing = NULL;
    for (size_t i = 0; i < spec->nodeset_refs.n; i++) {
        const char *name = spec->nodeset_refs.items[i].name;
        const struct jsn *found = NULL;
        struct nodeset ns;

        (void)api_lookup_get(in->lookup, "NodeSet", api_namespace(&in->part->meta), name, &found);
        if (found && nodeset_decode(a, found, &ns, NULL) == 0 &&
            streq(ns.spec.controller_ref.name, spec->controller_ref.name))
            buf_printf(&nodes, "%s%s", nodes.n ? "," : "", nodeset_slurm_name(a, &ns));
        else
            *ret_missing = name;
    }
    if (spec->nodes && spec->nodes[0])
        buf_printf(&nodes, "%s%s", nodes.n ? "," : "", spec->nodes);
    return api_partition_line(a, in->part, spec->all ? "ALL" : buf_str(&nodes), may_be_default);
}

/* The line that it should have, if it is in what slurmctld has or in the ConfigMap; else NULL. */
static const char *find_line(struct arena *a, const struct plan_partition *in,
                             const char **ret_missing)
{
    const char *name = api_partition_slurm_name(in->part);
    const char *const wanted[] = {partition_wanted_line(a, in, true, ret_missing),
                                  partition_wanted_line(a, in, false, ret_missing)};

    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        if (streq(in->written, wanted[i]))
            return wanted[i];
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        if (slurm_state_holds(in->slurm, name, wanted[i]))
            return wanted[i];
    return NULL;
}

bool partition_is_young(const struct plan_partition *in)
{
    bool pushing = in->slurm && in->slurm->pushing_us;

    return in->now_us < in->changed_us + (pushing ? STATUS_PATIENCE_US : LOOK_AGAIN_US);
}

void partition_look_again(const struct plan_partition *in, struct actions *to)
{
    bool soon = in->now_us < in->changed_us + LOOK_AGAIN_US;

    actions_requeue(to, in->changed_us + (soon ? LOOK_AGAIN_US : STATUS_PATIENCE_US));
}

/* A new generation, of this moment: what it leads to is under way. */
static bool is_fresh(const struct plan_partition *in)
{
    return in->part->status.observed_generation != in->part->meta.generation &&
           partition_is_young(in);
}

bool plan_partition_needs_cluster(struct arena *a, const struct plan_partition *in)
{
    const char *missing;

    return in->controller && !in->part->meta.deleted_us && !is_fresh(in) &&
           !find_line(a, in, &missing);
}

struct api_partition_status partition_status_copy(struct arena *a, const struct plan_partition *in)
{
    struct api_partition_status st = in->part->status;
    struct api_conditions list = {
        arena_calloc(a, st.conditions.n + 1, sizeof(struct api_condition)), st.conditions.n};

    if (list.n)
        memcpy(list.items, st.conditions.items, list.n * sizeof(*list.items));
    st.conditions = list;
    st.observed_generation = in->part->meta.generation;
    st.name = api_partition_slurm_name(in->part);
    return st;
}

void partition_status_plan(const struct plan_partition *in, struct api_partition_status *st,
                           struct actions *to)
{
    status_write(to, "Partition", &in->part->meta, jsn_get(in->object, "status"),
                 fields_encode(to->arena, api_partition_status_fields, st));
}

/* What the builder says of this very object; NULL: nothing. */
static const char *find_problem(struct arena *a, const struct plan_partition *in, int *ret_built)
{
    struct api_problems p = {.arena = a};
    struct build_config config;
    const char *object = arena_printf(a, "Partition %s", api_full_name(a, &in->part->meta));

    *ret_built = build_config(a, in->cluster, &config, &p);
    for (size_t i = 0; i < p.n; i++)
        if (p.items[i].reason != API_WARNING && streq(p.items[i].object, object))
            return arena_printf(a, "%s: %s", p.items[i].field, p.items[i].text);
    return NULL;
}

/* Its line is not there: say why. */
static void judge_absent(const struct plan_partition *in, struct status_scribe *s)
{
    struct arena *a = s->to->arena;
    const char *line = in->part->status.line;
    const char *name = in->part->spec.controller_ref.name;
    int built = 0;
    const char *problem = in->cluster ? find_problem(a, in, &built) : NULL;

    if (problem)
        status_set(s, "Ready", STATUS_FALSE, true, "Invalid", "%s%s", problem,
                   line && streq(line, in->written) ? "; what was declared before stays at work"
                   : strstr(problem, "left out")    ? ""
                                                    : "; the partition is left out");
    else if (built < 0)
        status_set(s, "Ready", STATUS_FALSE, false, "ConfigInvalid",
                   "the configuration is not written before Controller %s is mended; see its "
                   "condition ConfigApplied",
                   name);
    else
        status_set(s, "Ready", STATUS_FALSE, false, "Writing",
                   "the configuration is being written");
    if (!problem && built == 0)
        status_look_again(s, "Ready"); /* if it is refused, nothing else may change */
}

/*
 * A setting that slurmctld does not show, while the agent has not told which configuration
 * slurmctld has: nobody knows.  What was true of this generation stays so.
 */
static const char *find_unproven(const struct plan_partition *in, const char *line,
                                 const struct status_scribe *s)
{
    const struct api_condition *was = api_condition_find(s->conditions, "Ready");

    if (in->slurm->held || (was && was->generation == s->generation && streq(was->status, "True")))
        return NULL;
    return partition_live_hidden(s->to->arena, in->slurm, api_partition_slurm_name(in->part), line);
}

/* Its line is there: say whether slurmctld has it. */
static void judge_live(const struct plan_partition *in, const char *line, struct status_scribe *s)
{
    const char *name = api_partition_slurm_name(in->part);
    const char *refusal;
    const char *unproven;
    const char *reason;
    const char *lag;

    if (!in->slurm || !in->slurm->partitions_known) {
        status_set(s, "Ready", STATUS_UNKNOWN, false, "Written",
                   "it is in the configuration; slurmctld's state is not known");
        return;
    }
    refusal = slurm_state_refusal(in->slurm, name, line);
    lag = partition_live_lag(s->to->arena, in->slurm, name, line);
    unproven = find_unproven(in, line, s);
    /* what others are refused for, or wait for, is not why this one is not there yet */
    reason = in->slurm->applied.taken ? NULL : in->slurm->applied.reason;
    if (refusal)
        status_set(s, "Ready", STATUS_FALSE, true, "Refused",
                   slurm_state_partition(in->slurm, name)
                       ? "slurmctld refuses it and goes on with what it has of it: %s"
                       : "slurmctld refuses it: %s",
                   refusal);
    else if (lag)
        status_set(s, "Ready", STATUS_FALSE, reason != NULL, "Applying", "%s%s%s", lag,
                   reason ? ": " : "", reason ? reason : "");
    else if (unproven) {
        status_set(s, "Ready", STATUS_FALSE, reason != NULL, "Applying",
                   "slurmctld does not show %s, and its agent has not told yet whether it has "
                   "it%s%s",
                   unproven, reason ? ": " : "", reason ? reason : "");
        status_look_again(s, "Ready");
    } else {
        status_set(s, "Ready", STATUS_TRUE, false, "Applied", "slurmctld has it as declared");
    }
}

static void judge_ready(const struct plan_partition *in, struct api_partition_status *st,
                        struct status_scribe *s)
{
    struct arena *a = s->to->arena;
    const char *missing = NULL;
    const char *line = find_line(a, in, &missing);

    if (!in->controller) {
        status_set(s, "Ready", STATUS_FALSE, true, "ControllerNotFound",
                   "there is no Controller %s in namespace %s; create it, or correct "
                   "spec.controllerRef.name",
                   in->part->spec.controller_ref.name, api_namespace(&in->part->meta));
        return;
    }
    if (in->controller->spec.external) {
        status_set(s, "Ready", STATUS_FALSE, true, "External",
                   "slurmctld of Controller %s runs elsewhere, and its partitions are declared "
                   "there",
                   in->controller->meta.name);
        return;
    }
    if (!line) {
        judge_absent(in, s);
        return;
    }
    st->line = line;
    if (missing)
        status_set(s, "Ready", STATUS_FALSE, true, "NodeSetNotFound",
                   "there is no NodeSet %s in this cluster: the partition is without its nodes",
                   missing);
    else
        judge_live(in, line, s);
}

/* Another partition is the default, although this one wants to be. */
static void judge_default(const struct plan_partition *in, const struct api_partition_status *st,
                          struct status_scribe *s)
{
    const char *missing;

    if (api_partition_is_default(in->part) && st->line &&
        !streq(st->line, partition_wanted_line(s->to->arena, in, true, &missing)))
        status_set(s, "Default", STATUS_FALSE, true, "DefaultTaken",
                   "another partition of the cluster is the default; there can be only one");
    else
        (void)api_condition_drop(s->conditions, "Default");
}

/* On its way, as any change is for some milliseconds: nobody needs to be told before it lasts. */
static bool is_passing(const struct plan_partition *in, const struct api_conditions *list)
{
    const char *reason = api_condition_find(list, "Ready")->reason;

    return is_fresh(in) && (streq(reason, "Writing") || streq(reason, "Applying"));
}

void plan_partition(const struct plan_partition *in, struct actions *to)
{
    const struct api_meta *m = &in->part->meta;
    struct api_partition_status st;
    struct status_scribe scribe;
    size_t before;

    if (m->deleted_us) {
        partition_end_plan(in, to);
        return;
    }
    actions_step(to, "Finalizer");
    if (!finalizer_has(m, PARTITION_FINALIZER))
        finalizer_add(to, "Partition", m, PARTITION_FINALIZER);
    st = partition_status_copy(to->arena, in);
    scribe = (struct status_scribe){to, &st.conditions, m->generation, in->now_us};
    actions_step(to, "Status");
    before = to->n;
    judge_ready(in, &st, &scribe);
    if (is_passing(in, &st.conditions)) {
        to->n = before;
        partition_look_again(in, to);
        return;
    }
    judge_default(in, &st, &scribe);
    partition_live_plan(in, &st, &scribe);
    partition_status_plan(in, &st, to);
}
