/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Partitions: doubles, defaults, values that do not fit together, and above all their nodes.
 *
 * A partition of a node that does not exist, or one that stands twice, ends slurmctld at the next
 * reconfigure (22.05, 23.02) and at the next start (all).  The nodes of a partition are worked out
 * as slurmctld does: node sets are replaced in the order of the file, each once, so that a set may
 * name only sets below it.
 */
#include <strings.h>

#include "src/base/alloc.h"
#include "src/slurm/validate_impl.h"

/* What the nodes of all partitions are looked up in. */
struct cluster_names {
    struct host_set *nodes;
    struct map sets; /* node sets by name */
    bool any_goes;   /* the only node is localhost: Slurm takes every name for it */
};

/* True for the Nodes of a node set that name nothing that could be missing. */
static bool names_no_host(const struct checker *c, const char *nodes)
{
    if (strcasecmp(nodes, "ALL") == 0) /* a release with the bug takes it for a node's name */
        return !profile_quirk(c->ctx->release, QUIRK_NODESET_ALL);
    return strchr(nodes, '{') && profile_has(c->ctx->release, PROFILE_HOST_FUNCTIONS);
}

/* Replace one node set in *names by what it names; false if that is no host list. */
static bool nodeset_replace(const struct checker *c, const struct model_object *o,
                            struct host_set **names)
{
    AUTO(hostlist_free) struct host_list *one = hostlist_new();
    AUTO(hostset_free) struct host_set *own = NULL;
    AUTO(hostset_free) struct host_set *rest = NULL;
    AUTO(hostset_free) struct host_set *inside = NULL;
    const char *nodes = model_get(o, "Nodes");

    if (nodes && names_no_host(c, nodes))
        nodes = NULL;
    if (hostset_parse(str_of(nodes), &inside, NULL) < 0)
        return false;
    hostlist_push(one, str_of(o->name));
    own = hostset_of(one);
    rest = hostset_minus(*names, own);
    hostset_free(*names);
    *names = hostset_union(rest, inside);
    return true;
}

/* Up to so many names are looked up one by one, beyond that every node set is. */
#define FEW_NAMES 64

/* The first node set of the file after `last` that is among the names; NULL if there is none. */
static const struct model_object *next_nodeset(const struct checker *c,
                                               const struct host_set *names, const struct map *sets,
                                               const struct model_object *last)
{
    const struct model_object *end = c->m->objects + c->m->n_objects;
    const struct model_object *next = NULL;
    AUTO(hostlist_free) struct host_list *list = NULL;
    AUTO(buf_done) struct buf name = {0};
    struct host_iter it = {0};

    if (hostset_count(names) > FEW_NAMES) {
        for (next = last ? last + 1 : c->m->objects; next < end; next++)
            if (next->section == CONF_NODESET && hostset_has(names, str_of(next->name)))
                return next;
        return NULL;
    }
    list = hostset_list(names);
    while (hostlist_next(list, &it, &name)) {
        const struct model_object *o = map_get(sets, buf_view(&name));

        if (o && (!last || o > last) && (!next || o < next))
            next = o;
    }
    return next;
}

/* Replace all node sets in *names, in the order of the file; false if one cannot be told. */
static bool nodesets_replace(const struct checker *c, const struct map *sets,
                             struct host_set **names)
{
    const struct model_object *o = NULL;

    while ((o = next_nodeset(c, *names, sets, o)))
        if (!nodeset_replace(c, o, names))
            return false;
    return true;
}

/* A node set that a partition names twice is replaced once; the other one is taken for a node. */
static void check_nodeset_twice(const struct checker *c, const struct model_object *o,
                                const struct host_list *list, const struct map *sets)
{
    AUTO(map_done) struct map seen = {0};
    AUTO(buf_done) struct buf name = {0};
    struct host_iter it = {0};

    while (hostlist_next(list, &it, &name)) {
        if (!map_get(sets, buf_view(&name)))
            continue;
        if (!map_put(&seen, buf_view(&name), (void *)(uintptr_t)o))
            validate_fault(c, FAULT_FATAL, o->line, "Nodes", "partition %s names node set %s twice",
                           o->name, buf_str(&name));
    }
}

static void report_unknown(const struct checker *c, const struct model_object *o,
                           const struct host_set *unknown)
{
    const struct host_set *dynamic = c->ctx->dynamic_nodes;
    AUTO(hostset_free) struct host_set *nowhere = NULL;
    AUTO(buf_done) struct buf text = {0};

    if (hostset_count(unknown) == 0)
        return;
    nowhere = dynamic ? hostset_minus(unknown, dynamic) : NULL;
    if (nowhere && hostset_count(nowhere) == 0) {
        hostset_print(unknown, &text);
        validate_fault(c, FAULT_WARNING, o->line, "Nodes",
                       "partition %s: node %.200s is dynamic, and slurmctld will not start without "
                       "it; use a node set of a feature instead",
                       o->name, buf_str(&text));
        return;
    }
    hostset_print(nowhere ? nowhere : unknown, &text);
    validate_fault(c, FAULT_FATAL, o->line, "Nodes",
                   "partition %s: there is no node or node set %.200s in this configuration",
                   o->name, buf_str(&text));
}

static void check_part_nodes(const struct checker *c, const struct model_object *o,
                             const struct cluster_names *names)
{
    AUTO(hostlist_free) struct host_list *list = NULL;
    AUTO(hostset_free) struct host_set *set = NULL;
    AUTO(hostset_free) struct host_set *unknown = NULL;
    const char *nodes = model_get(o, "Nodes");

    if (!nodes || strcasecmp(nodes, "ALL") == 0 ||
        strchr(nodes, '{')) /* a function, or reported by the key table */
        return;
    if (hostlist_parse(str_of(nodes), &list, NULL) < 0)
        return; /* reported by the key table */
    check_nodeset_twice(c, o, list, &names->sets);
    set = hostset_of(list);
    if (!nodesets_replace(c, &names->sets, &set) || names->any_goes)
        return;
    unknown = hostset_minus(set, names->nodes);
    report_unknown(c, o, unknown);
}

static void check_part_values(const struct checker *c, const struct model_object *o)
{
    const struct conf_key *time = keys_find(CONF_SLURM, CONF_PARTITION, STR("MaxTime"));
    const char *preempt = model_get(o, "PreemptMode");
    const char *dflt = model_get(o, "DefaultTime");
    const char *max = model_get(o, "MaxTime");
    uint64_t a = 0;
    uint64_t b = VALUE_INFINITE;

    if (dflt && max && value_number(time->type, str_of(dflt), &a) == 0 &&
        value_number(time->type, str_of(max), &b) == 0 && a > b)
        validate_fault(c, FAULT_WARNING, o->line, "DefaultTime",
                       "partition %s: DefaultTime=%s is above MaxTime=%s and is ignored", o->name,
                       dflt, max);
    for (const char *const *pair =
             (const char *const[]){"AllowAccounts", "DenyAccounts", "AllowQos", "DenyQos", NULL};
         *pair; pair += 2) {
        const char *allow = model_get(o, pair[0]);

        if (allow && strcasecmp(allow, "ALL") != 0 && model_get(o, pair[1]))
            validate_fault(c, FAULT_WARNING, o->line, pair[1],
                           "partition %s: %s is ignored beside %s", o->name, pair[1], pair[0]);
    }
    for (const char *const *pair = (const char *const[]){"DefMemPerNode", "DefMemPerCPU",
                                                         "MaxMemPerNode", "MaxMemPerCPU", NULL};
         *pair; pair += 2)
        if (model_get(o, pair[0]) && model_get(o, pair[1]))
            validate_fault(c, FAULT_WARNING, o->line, pair[1],
                           "partition %s: %s is ignored beside %s", o->name, pair[1], pair[0]);
    if (preempt &&
        value_number((struct value_type){VALUE_PREEMPT, NULL}, str_of(preempt), &a) == 0 &&
        (a & VALUE_PREEMPT_GANG))
        validate_fault(c, FAULT_WARNING, o->line, "PreemptMode",
                       "partition %s: GANG is for the cluster's PreemptMode, not for a partition's",
                       o->name);
}

/* True if Slurm keeps account of a resource: one of the fixed ones, or in AccountingStorageTRES. */
static bool resource_tracked(const struct checker *c, struct str name)
{
    static const char fixed[] = "cpu,mem,energy,node,billing,fs/disk,vmem,pages";
    struct str lists[2] = {str_of(fixed), str_of(model_setting(c->m, "AccountingStorageTRES"))};
    struct str item;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        while (str_split(&lists[i], ',', &item))
            if (str_eq_nocase(str_trim(item), name))
                return true;
    return false;
}

/* With slurmdbd a resource may be known from earlier days; without it only the file counts. */
static void check_weights(const struct checker *c, const struct model_object *o)
{
    bool database = strstr(model_setting(c->m, "AccountingStorageType"), "slurmdbd");
    struct str rest = str_of(model_get(o, "TRESBillingWeights"));
    struct str item;

    while (str_split(&rest, ',', &item)) {
        struct str name = {item.p, str_find(item, '=')};

        if (name.n < item.n && !resource_tracked(c, name))
            validate_fault(c, database ? FAULT_WARNING : FAULT_FATAL, o->line, "TRESBillingWeights",
                           "partition %s: TRESBillingWeights names " STR_FMT
                           ", which is not in AccountingStorageTRES",
                           o->name, STR_ARG(name));
    }
}

/* More than one Default=YES: the last one has it. */
static void check_default(const struct checker *c, const struct model_object *o,
                          const struct model_object **dflt)
{
    const char *value = model_get(o, "Default");
    uint64_t yes = 0;

    if (!value || value_number((struct value_type){VALUE_BOOL, NULL}, str_of(value), &yes) < 0 ||
        !yes)
        return;
    if (*dflt)
        validate_fault(c, FAULT_WARNING, o->line, "Default",
                       "partition %s takes Default from partition %s: only one can be the default",
                       o->name, (*dflt)->name);
    *dflt = o;
}

/* Slurm keeps any name, and refuses the jobs that it would send there. */
static void check_alternate(const struct checker *c, const struct model_object *o)
{
    const char *other = model_get(o, "Alternate");

    if (other && other[0] && strcasecmp(other, "NONE") != 0 && !c->ctx->is_part &&
        !model_find(c->m, CONF_PARTITION, other))
        validate_fault(c, FAULT_WARNING, o->line, "Alternate",
                       "partition %s: its Alternate %s is not a partition of this configuration",
                       o->name, other);
}

static void check_alternates(const struct checker *c)
{
    for (size_t i = 0; i < c->m->n_objects; i++)
        if (c->m->objects[i].section == CONF_PARTITION)
            check_alternate(c, &c->m->objects[i]);
}

/* slurmctld ends on a second one of a name. */
static void check_twice(const struct checker *c)
{
    AUTO(map_done) struct map seen = {0};
    size_t n = 0;

    for (size_t i = 0; i < c->m->n_objects; i++)
        n += c->m->objects[i].section == CONF_PARTITION;
    if (n == c->m->by_name[CONF_PARTITION].n)
        return;
    for (size_t i = 0; i < c->m->n_objects; i++) {
        const struct model_object *o = &c->m->objects[i];
        const struct model_object *before = map_get(&seen, str_of(o->name));

        if (o->section != CONF_PARTITION)
            continue;
        if (before)
            validate_fault(c, FAULT_FATAL, o->line, "PartitionName",
                           "partition %s stands twice, first in %s line %u", o->name,
                           before->line->file, before->line->line);
        else
            map_put(&seen, str_of(o->name), (void *)(uintptr_t)o);
    }
}

void check_partitions(const struct checker *c)
{
    AUTO(hostset_free) struct host_set *nodes = model_nodes(c->m);
    struct cluster_names names = {.nodes = nodes};
    const struct model_object *dflt = NULL;

    check_twice(c);
    names.any_goes = hostset_count(nodes) == 1 && hostset_has(nodes, STR("localhost"));
    for (size_t i = 0; i < c->m->n_objects; i++)
        if (c->m->objects[i].section == CONF_NODESET &&
            !map_get(&names.sets, str_of(c->m->objects[i].name)))
            map_put(&names.sets, str_of(c->m->objects[i].name), &c->m->objects[i]);
    for (size_t i = 0; i < c->m->n_objects; i++) {
        const struct model_object *o = &c->m->objects[i];

        if (o->section != CONF_PARTITION)
            continue;
        if (!validate_is_known(c, o->line)) {
            check_part_nodes(c, o, &names);
            check_part_values(c, o);
            check_weights(c, o);
        }
        check_default(c, o, &dflt);
    }
    map_done(&names.sets);
    check_alternates(c);
    if (c->m->by_name[CONF_PARTITION].n == 0 && c->ctx->release < SERIES(23, 2))
        validate_fault(
            c, FAULT_FATAL, NULL, NULL,
            "no partition is defined, and slurmctld of this release does not start without "
            "one");
}
