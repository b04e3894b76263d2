/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Look-up in the key tables.
 *
 * The tables (keys_cluster.c, keys_partition.c, keys_lines.c, keys_files.c) were made from the
 * option tables of Slurm's own parser at 22.05.8, 23.02.8, 23.11.11, 24.05.8, 24.11.7, 25.05.8,
 * 25.11.7 and 26.05.3, and from what slurmctld does with a value at reconfigure.  They are sorted
 * (a unit test holds them to it), so that a key is found by halving.
 */
#include "src/slurm/keys.h"

#include <strings.h>

#include "src/slurm/keys_impl.h"

static const struct conf_key *table_of(enum conf_kind kind, enum conf_section section)
{
    static const struct conf_key *const slurm_tables[CONF_N_SECTIONS] = {
        [CONF_GLOBAL] = keys_cluster,      [CONF_NODE] = keys_node, [CONF_NODESET] = keys_nodeset,
        [CONF_PARTITION] = keys_partition, [CONF_DOWN] = keys_down, [CONF_FRONTEND] = keys_frontend,
        [CONF_POWER] = keys_power,
    };

    switch ((unsigned)kind) {
    case CONF_SLURM:
        return slurm_tables[section];
    case CONF_CGROUP:
        return section == CONF_GLOBAL ? keys_cgroup : NULL;
    case CONF_GRES:
        return section == CONF_GLOBAL ? keys_gres_file : keys_gres;
    default:
        return section == CONF_GLOBAL ? keys_topology_file : keys_topology;
    }
}

const struct conf_key *keys_of(enum conf_kind kind, enum conf_section section, size_t *ret_n)
{
    static size_t lengths[CONF_N_KINDS][CONF_N_SECTIONS]; /* 0: not counted yet */
    const struct conf_key *table = table_of(kind, section);
    size_t *n = &lengths[kind][section];

    while (table && table[*n].name)
        (*n)++;
    *ret_n = *n;
    return table;
}

/* Compare as strcasecmp does, with a view on one side. */
static int name_cmp(struct str a, const char *b)
{
    int r = strncasecmp(a.p, b, a.n);

    if (r != 0)
        return r;
    return strlen(b) > a.n ? -1 : 0;
}

const struct conf_key *keys_find(enum conf_kind kind, enum conf_section section, struct str name)
{
    size_t hi;
    size_t lo = 0;
    const struct conf_key *table = keys_of(kind, section, &hi);

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int r = name_cmp(name, table[mid].name);

        if (r == 0)
            return &table[mid];
        if (r < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

bool keys_in_release(const struct conf_key *key, uint32_t release)
{
    return release >= key->since && (key->gone == 0 || release < key->gone) &&
           (key->ignored == 0 || release < key->ignored);
}

enum change_class keys_class(const struct conf_key *key, uint32_t release)
{
    if (!keys_in_release(key, release))
        return CHANGE_NONE;
    /* a call with one that does not exist ends slurmctld; a file does not */
    if (streq(key->name, "QOS") && profile_quirk(release, QUIRK_PART_QOS_CRASH))
        return CHANGE_RECONFIGURE;
    return profile_has(release, PROFILE_RECONFIGURE_REFUSES) ? key->after : key->before;
}

const char *change_class_name(enum change_class class)
{
    static const char *const names[] = {"none", "rpc", "reconfigure", "restart"};

    assert((size_t)class < ARRAY_LEN(names));
    return names[class];
}
