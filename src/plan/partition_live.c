/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A Partition as slurmctld has it: settings, nodes, jobs, and what somebody changed there.
 *
 * Drift comes from the agent, which knows what it applied.  A setting that differs and is no drift
 * is on its way; values are compared by meaning, so that "1-0" is "24:00:00".  A setting that was
 * taken out of the line shows by none of its values: that slurmctld has the line tells the agent,
 * once it has read everything back.  NodeSets have partitions, too, and ask here.  Where nothing is
 * known of slurmctld, what was seen last is not shown: an old number looks like a new one.
 */
#include "src/plan/partition_live.h"
#include "src/api/partition_conf.h"
#include "src/plan/partition_private.h"
#include "src/slurm/partition.h"
#include "src/slurm/profile.h"

static const int32_t *count(struct arena *a, unsigned n)
{
    int32_t *copy = arena_alloc(a, sizeof(*copy));

    *copy = (int32_t)MIN(n, (unsigned)INT32_MAX);
    return copy;
}

static bool has_drifted(const struct slurm_state *s, const char *name, const char *field)
{
    for (size_t i = 0; i < s->n_drift; i++)
        if (streq(s->drift[i].partition, name) &&
            str_eq_nocase(str_of(s->drift[i].field), str_of(field)))
            return true;
    return false;
}

const char *partition_live_drift(struct arena *a, const struct slurm_state *s, const char *name)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < s->n_drift; i++) {
        const struct slurm_drift *d = &s->drift[i];

        if (streq(d->partition, name))
            buf_printf(&b, "%s%s is %s, declared %s", b.n ? "; " : "", d->field,
                       d->live ? d->live : "not set", d->declared ? d->declared : "not set");
    }
    return b.n ? arena_strdup(a, buf_str(&b)) : NULL;
}

struct pairs {
    struct arena *a;
    struct conf_pair *items;
    size_t n;
    size_t cap;
};

static void add_pair(void *arg, const char *key, const char *value)
{
    struct pairs *p = arg;

    arena_reserve(p->a, &p->items, &p->cap, p->n + 1, sizeof(*p->items));
    p->items[p->n++] = (struct conf_pair){arena_strdup(p->a, key), arena_strdup(p->a, value), '='};
}

static bool has_key(const struct pairs *p, const char *key)
{
    for (size_t i = 0; i < p->n; i++)
        if (str_eq_nocase(str_of(p->items[i].key), str_of(key)))
            return true;
    return false;
}

/* The first setting of the line that slurmctld shows with another value; NULL: none. */
static const char *find_lag(struct arena *a, const struct slurm_state *s,
                            const struct slurm_partition *live, const char *line)
{
    const char *blank = strchr(line, ' ');
    AUTO(partition_done) struct partition want;
    AUTO(partition_done) struct partition have;
    AUTO(part_changes_done) struct part_changes changes = {0};
    struct pairs declared = {.a = a};
    struct pairs seen = {.a = a};
    uint32_t release;

    partition_init(&want);
    partition_init(&have);
    partition_config_each(str_of(blank ? blank + 1 : ""), add_pair, &declared);
    for (size_t i = 0; i < live->config.n; i++)
        add_pair(&seen, live->config.items[i].key, live->config.items[i].value);
    if (partition_load(&want, declared.items, declared.n, NULL) < 0 ||
        partition_load(&have, seen.items, seen.n, NULL) < 0)
        return NULL;
    if (s->release && release_parse(str_of(s->release), &release, NULL) == 0)
        partition_settle(&want, release);
    partition_diff(&want, &have, &changes);
    for (size_t i = 0; i < changes.n; i++) {
        const char *key = changes.list[i].key->name;

        if (!streq(key, "Nodes") && has_key(&declared, key) && has_key(&seen, key) &&
            !has_drifted(s, live->name, key))
            return arena_printf(a, "%s is %s in slurmctld and becomes %s", key, changes.list[i].to,
                                changes.list[i].from);
    }
    return NULL;
}

const char *partition_live_lag(struct arena *a, const struct slurm_state *s, const char *name,
                               const char *line)
{
    const struct slurm_partition *live = slurm_state_partition(s, name);
    const char *lag = live ? find_lag(a, s, live, line) : NULL;

    if (!live)
        return "slurmctld does not have the partition yet";
    if (!lag && s->held && !slurm_state_holds(s, name, line))
        return "the configuration that has it is on its way to slurmctld";
    return lag;
}

const char *partition_live_hidden(struct arena *a, const struct slurm_state *s, const char *name,
                                  const char *line)
{
    const struct slurm_partition *live = slurm_state_partition(s, name);
    const char *blank = strchr(line, ' ');
    struct pairs declared = {.a = a};
    struct pairs seen = {.a = a};

    if (!live)
        return NULL;
    partition_config_each(str_of(blank ? blank + 1 : ""), add_pair, &declared);
    for (size_t i = 0; i < live->config.n; i++)
        add_pair(&seen, live->config.items[i].key, live->config.items[i].value);
    for (size_t i = 0; i < declared.n; i++)
        if (!streq(declared.items[i].key, "Nodes") && !has_key(&seen, declared.items[i].key))
            return declared.items[i].key;
    return NULL;
}

static bool was_known(const struct api_partition_drifts *list, const struct slurm_drift *d)
{
    for (size_t i = 0; i < list->n; i++)
        if (streq(list->items[i].field, d->field) && streq(list->items[i].live, d->live) &&
            streq(list->items[i].declared, d->declared))
            return true;
    return false;
}

/* An event for each that is new: field, declared and live value. */
static void gather_drift(const struct plan_partition *in, struct api_partition_status *st,
                         struct status_scribe *s)
{
    struct arena *a = s->to->arena;
    struct api_partition_drifts list = {
        arena_calloc(a, in->slurm->n_drift + 1, sizeof(*list.items)), 0};

    for (size_t i = 0; i < in->slurm->n_drift; i++) {
        const struct slurm_drift *d = &in->slurm->drift[i];

        if (!streq(d->partition, api_partition_slurm_name(in->part)))
            continue;
        if (!was_known(&st->drift, d))
            actions_event(s->to, true, "Drifted", "%s is %s in slurmctld and declared as %s",
                          d->field, d->live, d->declared);
        list.items[list.n++] = (struct api_partition_drift){d->field, d->declared, d->live};
    }
    st->drift = list;
}

static void judge_drift(struct api_partition_status *st, struct status_scribe *s)
{
    const struct api_condition *was = api_condition_find(s->conditions, "Drifted");
    AUTO(buf_done) struct buf text = {0};

    for (size_t i = 0; i < st->drift.n; i++)
        buf_printf(&text, "%s%s: declared %s, live %s", i ? "; " : "", st->drift.items[i].field,
                   st->drift.items[i].declared, st->drift.items[i].live);
    if (st->drift.n) {
        status_set(s, "Drifted", STATUS_TRUE, false, "ChangedInSlurm", "%s", buf_str(&text));
        return;
    }
    if (was && streq(was->status, "True"))
        actions_event(s->to, false, "DriftEnded", "slurmctld has the partition as declared again");
    status_set(s, "Drifted", STATUS_FALSE, false, "AsDeclared",
               "nobody changed the partition in slurmctld");
}

void partition_live_plan(const struct plan_partition *in, struct api_partition_status *st,
                         struct status_scribe *s)
{
    struct arena *a = s->to->arena;
    const struct slurm_partition *live = slurm_state_partition(in->slurm, st->name);

    st->state = st->nodes = NULL;
    st->total_nodes = st->pending_jobs = st->running_jobs = NULL;
    st->live = (struct jsn_map){0};
    if (!in->slurm || !in->slurm->partitions_known) {
        status_set(s, "Drifted", STATUS_UNKNOWN, false, "SlurmUnknown",
                   "slurmctld's state is not known");
        return;
    }
    if (live) {
        st->state = jsn_map_get(&live->config, "State");
        st->nodes = live->nodes;
        st->total_nodes = count(a, live->total_nodes);
        st->pending_jobs = count(a, live->pending);
        st->running_jobs = count(a, live->running);
        st->live = live->config;
    }
    gather_drift(in, st, s);
    judge_drift(st, s);
}
