/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drift: partitions that are not as declared, because somebody used scontrol.
 *
 * Looked for whenever slurmctld told its partitions again and nothing is being applied.  Each field
 * is told with its declared and its live value; a partition that is missing or not declared counts
 * as a field of that name.  With the policy Revert everything is put back at once, but a partition
 * that has jobs is not deleted before they have ended.
 */
#include "src/agent/apply/engine_impl.h"

#include "src/base/alloc.h"
#include "src/base/log.h"
#include "src/wire/state.h"

static void drift_add(struct arena *a, struct jsn *list, const char *partition, const char *field,
                      const char *declared, const char *live)
{
    struct wire_drift d = {partition, field, declared, live};

    jsn_append(a, list, fields_encode(a, wire_drift_fields, &d));
}

/*
 * "compute" is declared, a NodeSet, and what slurmctld shows are nodes: say that they are no
 * NodeSet's any more, and how many it really has.  slurmctld 22.05 leaves none where it is told
 * nodes=+n1.
 */
static const char *nodes_shown(const struct engine *g, struct arena *a, const char *name,
                               const struct host_set *nodesets, const struct part_change *c)
{
    struct str declared = str_of(c->from);
    struct str first = {declared.p, strcspn(declared.p, ",")};

    if (c->to[0] && hub_partition_nodes(g->o.hub, name) == 0)
        return arena_printf(a, "no node at all (written as %s)", c->to);
    if (c->to[0] && hostset_has(nodesets, first))
        return arena_printf(a, "%s as a fixed list", c->to);
    return c->to;
}

static void partition_look(const struct engine *g, const struct model_object *o,
                           const struct host_set *nodesets, struct arena *a, struct jsn *list)
{
    const struct live_partition *live = live_find(hub_live(g->o.hub), o->name);
    AUTO(part_changes_done) struct part_changes drift = {0};
    AUTO(partition_done) struct partition declared = {0};

    if (!live) {
        drift_add(a, list, o->name, "PartitionName", o->name, "");
        return;
    }
    partition_init(&declared);
    if (model_partition(candidate_model(g->running), o, &declared, NULL) < 0)
        return;
    live_drift(live, &declared, NULL, nodesets, g->running->release, &drift);
    for (size_t i = 0; i < drift.n; i++)
        drift_add(a, list, o->name, drift.list[i].key->name, drift.list[i].from,
                  streq(drift.list[i].key->name, "Nodes")
                      ? nodes_shown(g, a, o->name, nodesets, &drift.list[i])
                      : drift.list[i].to);
}

static struct jsn *drift_find(const struct engine *g, struct arena *a)
{
    const struct model *m = candidate_model(g->running);
    AUTO(hostset_free) struct host_set *nodesets = model_nodesets(m);
    const struct live *live = hub_live(g->o.hub);
    struct jsn *list = jsn_array(a);

    for (size_t i = 0; i < m->n_objects; i++)
        if (m->objects[i].section == CONF_PARTITION)
            partition_look(g, &m->objects[i], nodesets, a, list);
    for (size_t i = 0; i < live->n; i++)
        if (!model_find(m, CONF_PARTITION, live->list[i].p.name))
            drift_add(a, list, live->list[i].p.name, "PartitionName", "", live->list[i].p.name);
    return list;
}

static void drift_log(const struct jsn *list, bool revert)
{
    JSN_FOR_ITEMS (item, list)
        log_warn("drift: partition '%s' has %s=%s, declared is %s%s",
                 jsn_get_str(item, "partition"), jsn_get_str(item, "field"),
                 jsn_get_str(item, "live"), jsn_get_str(item, "declared"),
                 revert ? "; putting it back" : "");
}

/* A partition that is not declared and has jobs: it stays until they have ended. */
static bool is_held(const struct engine *g, const char *partition)
{
    const struct jobs_group *jobs = jobs_of_partition(hub_jobs(g->o.hub), partition);

    return jobs && jobs->n > 0;
}

/* Note which ones are held.  Returns whether there is anything that can be put back. */
static bool held_note(struct engine *g, const struct jsn *list)
{
    size_t held = 0;

    arena_done(&g->held_arena);
    g->held_arena = (struct arena){0};
    g->held = arena_calloc(&g->held_arena, jsn_len(list) + 1, sizeof(*g->held));
    JSN_FOR_ITEMS (item, list) {
        const char *partition = jsn_get_str(item, "partition");

        if (!jsn_get_str(item, "declared")[0] &&
            streq(jsn_get_str(item, "field"), "PartitionName") && is_held(g, partition))
            g->held[held++] = arena_strdup(&g->held_arena, partition);
    }
    g->n_held = held;
    return jsn_len(list) > held;
}

/* The end of a job changes nothing in slurmctld's list of partitions. */
static bool one_is_free(const struct engine *g)
{
    for (size_t i = 0; i < g->n_held; i++)
        if (!is_held(g, g->held[i]))
            return true;
    return false;
}

void drift_look(struct engine *g)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf text = {0};
    const struct record *good = store_good(g->o.store);
    uint64_t seen = hub_partitions_seen(g->o.hub);
    struct jsn *list;

    if (!g->running || !good || (g->drift_seen == seen && !one_is_free(g)) ||
        hub_partitions_asked_ns(g->o.hub) < g->settled_ns)
        return;
    g->drift_seen = seen;
    list = drift_find(g, &a);
    jsn_print(&text, list);
    if (hub_section_put(g->o.hub, HUB_DRIFT, buf_view(&text)))
        drift_log(list, good->revert);
    metrics_drift(g->o.metrics, jsn_len(list));
    if (held_note(g, list) && good->revert)
        engine_revert(g);
}
