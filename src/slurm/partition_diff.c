/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compare partitions field by field: what to change, and what has drifted.
 *
 * Both give a list of (key, from, to) with values as they would stand in a line, ready for a
 * message or an event.  Drift differs in one point: slurmctld tells the nodes of a live partition
 * expanded, with the names of the NodeSets that they came from, so that the declared text must be
 * taken apart before the two can be held against each other.
 */
#include "src/base/alloc.h"
#include "src/slurm/keys_impl.h"
#include "src/slurm/partition.h"

void part_changes_done(struct part_changes *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->list[i].from);
        free(c->list[i].to);
    }
    c->n = 0;
}

static char *value_of(const struct partition *p, const struct conf_key *key)
{
    AUTO(buf_done) struct buf text = {0};

    partition_value(p, key, &text);
    return buf_take(&text);
}

void part_changes_add(struct part_changes *c, const struct conf_key *key, char *from, char *to)
{
    assert(c->n < PARTITION_MAX_CHANGES);
    c->list[c->n++] = (struct part_change){.key = key, .from = from, .to = to};
}

static void field_compare(const struct conf_key *key, const struct partition *from,
                          const struct partition *to, struct part_changes *ret)
{
    AUTO(free) char *a = value_of(from, key);
    AUTO(free) char *b = value_of(to, key);

    if (!value_same(key->type, str_of(a), str_of(b)))
        part_changes_add(ret, key, TAKE(a), TAKE(b));
}

void partition_diff(const struct partition *from, const struct partition *to,
                    struct part_changes *ret)
{
    ret->n = 0;
    for (const struct conf_key *key = keys_partition; key->name; key++)
        if (key->text_at || key->number_at)
            field_compare(key, from, to, ret);
}

/* Split what is declared into names of NodeSets and hosts. */
static void nodes_split(const struct host_set *declared, const struct host_set *nodesets,
                        struct host_set **ret_sets, struct host_set **ret_hosts)
{
    AUTO(hostset_free) struct host_set *hosts = hostset_minus(declared, nodesets);

    *ret_sets = hostset_minus(declared, hosts);
    *ret_hosts = TAKE(hosts);
}

/* A partition of all nodes has no NodeSets; since 23.11 slurmctld says so by the name ALL. */
static bool is_all(const struct host_set *sets)
{
    return hostset_count(sets) == 0 || (hostset_count(sets) == 1 && hostset_has(sets, STR("ALL")));
}

bool partition_has_function(const struct partition *p)
{
    return p->nodes && strchr(p->nodes, '{');
}

static bool nodes_agree(const struct partition *declared, const struct partition *live,
                        const struct host_set *all, const struct host_set *nodesets)
{
    AUTO(hostset_free) struct host_set *wanted = NULL;
    AUTO(hostset_free) struct host_set *have = NULL;
    AUTO(hostset_free) struct host_set *live_sets = NULL;
    AUTO(hostset_free) struct host_set *sets = NULL;
    AUTO(hostset_free) struct host_set *hosts = NULL;
    AUTO(hostset_free) struct host_set *missing = NULL;

    if (partition_has_function(declared))
        return true;
    if (hostset_parse(str_of(live->nodes), &have, NULL) < 0 ||
        hostset_parse(str_of(live->nodesets), &live_sets, NULL) < 0)
        return false;
    if (declared->nodes && str_eq_nocase(str_of(declared->nodes), STR("ALL")))
        return is_all(live_sets) && (!all || hostset_equal(all, have));
    if (hostset_parse(str_of(declared->nodes), &wanted, NULL) < 0)
        return false;
    nodes_split(wanted, nodesets, &sets, &hosts);
    if (!hostset_equal(sets, live_sets))
        return false;
    if (hostset_count(sets) == 0)
        return hostset_equal(hosts, have);
    missing = hostset_minus(hosts, have);
    return hostset_count(missing) == 0;
}

/* What a live partition has, for the message: its NodeSets if it has any, else its hosts. */
static char *live_nodes(const struct partition *live)
{
    if (live->nodesets && live->nodesets[0])
        return xasprintf("%s (%s)", live->nodesets, live->nodes ? live->nodes : "");
    return xstrdup(live->nodes ? live->nodes : "");
}

void partition_drift(const struct partition *declared, const struct partition *live,
                     const struct host_set *all, const struct host_set *nodesets, uint32_t release,
                     struct part_changes *ret)
{
    ret->n = 0;
    for (const struct conf_key *key = keys_partition; key->name; key++) {
        if ((!key->text_at && !key->number_at) || !keys_in_release(key, release))
            continue;
        if (!streq(key->name, "Nodes"))
            field_compare(key, declared, live, ret);
        else if (!nodes_agree(declared, live, all, nodesets))
            part_changes_add(ret, key, value_of(declared, key), live_nodes(live));
    }
}
