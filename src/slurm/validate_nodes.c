/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes and node sets: names that stand twice, lists along the names that do not fit, reserved
 * words.
 *
 * A node that two lines define ends slurmctld in every release.  The lists of addresses, host names
 * and ports must be as long as the list of names, or have one element.
 */
#include <strings.h>

#include "src/base/alloc.h"
#include "src/slurm/validate_impl.h"

/* Check one list along the names of a line. */
static void check_along(const struct checker *c, const struct model_object *o, const char *key,
                        size_t names)
{
    AUTO(hostlist_free) struct host_list *list = NULL;
    AUTO(free) char *bracketed = NULL;
    const char *value = model_get(o, key);
    bool port = streq(key, "Port");
    size_t n;

    if (!value)
        return;
    if (port && value[0] != '[' && strpbrk(value, "-,"))
        bracketed = xasprintf("[%s]", value);
    if (hostlist_parse(str_of(bracketed ? bracketed : value), &list, NULL) < 0) {
        if (port) /* the others are host lists to the key table, too, and reported there */
            validate_fault(c, FAULT_FATAL, o->line, "Port",
                           "Port: '%s' is not a port or a range of ports", value);
        return;
    }
    n = hostlist_count(list);
    if (n != names && n != 1)
        validate_fault(c, FAULT_FATAL, o->line, key,
                       "%s has %zu elements for %zu %s; it needs as many, or one", key, n, names,
                       word_for(names, "node", "nodes"));
}

static void check_ports(const struct checker *c, const struct model_object *o)
{
    AUTO(hostlist_free) struct host_list *list = NULL;
    AUTO(free) char *bracketed = NULL;
    const char *value = model_get(o, "Port");
    const struct host_range *ranges;
    size_t n;

    if (!value)
        return;
    if (value[0] != '[' && strpbrk(value, "-,"))
        bracketed = xasprintf("[%s]", value);
    if (hostlist_parse(str_of(bracketed ? bracketed : value), &list, NULL) < 0)
        return;
    ranges = hostlist_ranges(list, &n);
    for (size_t i = 0; i < n; i++)
        if (ranges[i].bare || ranges[i].prefix_n > 0 || ranges[i].lo == 0 ||
            ranges[i].hi > UINT16_MAX) {
            validate_fault(c, FAULT_FATAL, o->line, "Port", "Port: '%s' is not within 1 to 65535",
                           value);
            return;
        }
}

/* Names of `list` that stand in an earlier line, or twice in this one. */
static void check_doubles(const struct checker *c, const struct model_object *o,
                          const struct host_list *list, struct map *seen)
{
    AUTO(hostlist_free) struct host_list *doubles = hostlist_new();
    AUTO(buf_done) struct buf name = {0};
    AUTO(buf_done) struct buf text = {0};
    const struct conf_line *first = NULL;
    struct host_iter it = {0};

    while (hostlist_next(list, &it, &name)) {
        const struct conf_line *before = map_get(seen, buf_view(&name));

        if (before) {
            first = first ? first : before;
            hostlist_push(doubles, buf_view(&name));
        } else {
            map_put(seen, buf_view(&name), (void *)(uintptr_t)o->line);
        }
    }
    if (!first)
        return;
    hostlist_print(doubles, &text);
    validate_fault(c, FAULT_FATAL, o->line, "NodeName",
                   "node %.200s is defined already, in %s line %u", buf_str(&text), first->file,
                   first->line);
}

static void check_node_line(const struct checker *c, const struct model_object *o, struct map *seen)
{
    static const char *const along[] = {"NodeHostname", "NodeAddr", "BcastAddr", "Port"};
    AUTO(hostlist_free) struct host_list *names = NULL;

    if (strcasecmp(o->name, "ALL") == 0) {
        validate_fault(c, FAULT_FATAL, o->line, "NodeName", "a node cannot be called %s", o->name);
        return;
    }
    if (hostlist_parse(str_of(o->name), &names, NULL) < 0)
        return; /* reported by the key table */
    if (hostlist_count(names) == 0)
        validate_fault(c, FAULT_FATAL, o->line, "NodeName", "NodeName is empty");
    for (size_t i = 0; i < ARRAY_LEN(along); i++)
        check_along(c, o, along[i], hostlist_count(names));
    check_ports(c, o);
    check_doubles(c, o, names, seen);
}

static void check_nodeset(const struct checker *c, const struct model_object *o,
                          const struct map *nodes, struct map *seen)
{
    const char *list = model_get(o, "Nodes");

    if (!map_put(seen, str_of(o->name), (void *)(uintptr_t)o->line))
        validate_fault(c, FAULT_WARNING, o->line, "NodeSet",
                       "node set %s stands twice; the first one counts", o->name);
    if (map_get(nodes, str_of(o->name)))
        validate_fault(c, c->ctx->release >= SERIES(24, 11) ? FAULT_FATAL : FAULT_WARNING, o->line,
                       "NodeSet", "NodeSet %s has the name of a node", o->name);
    if (!list && !model_get(o, "Feature"))
        validate_fault(c, FAULT_WARNING, o->line, "NodeSet",
                       "node set %s has neither Feature nor Nodes: it is "
                       "empty",
                       o->name);
    if (list && strcasecmp(list, "ALL") == 0 && profile_quirk(c->ctx->release, QUIRK_NODESET_ALL))
        validate_fault(c, FAULT_WARNING, o->line, "Nodes",
                       "node set %s: Nodes=ALL does not work in a node set of this release",
                       o->name);
}

static void check_down(const struct checker *c, const struct model_object *o,
                       const struct map *nodes)
{
    AUTO(hostlist_free) struct host_list *list = NULL;
    AUTO(buf_done) struct buf name = {0};
    struct host_iter it = {0};

    if (hostlist_parse(str_of(o->name), &list, NULL) < 0)
        return;
    while (hostlist_next(list, &it, &name))
        if (!map_get(nodes, buf_view(&name))) {
            validate_fault(c, FAULT_WARNING, o->line, "DownNodes", "DownNodes: there is no node %s",
                           buf_str(&name));
            return;
        }
}

void check_nodes(const struct checker *c)
{
    AUTO(map_done) struct map nodes = {0};
    AUTO(map_done) struct map sets = {0};
    const struct model *m = c->m;

    for (size_t i = 0; i < m->n_objects; i++)
        if (m->objects[i].section == CONF_NODE)
            check_node_line(c, &m->objects[i], &nodes);
    for (size_t i = 0; i < m->n_objects; i++) {
        const struct model_object *o = &m->objects[i];

        if (o->section == CONF_NODESET)
            check_nodeset(c, o, &nodes, &sets);
        else if (o->section == CONF_DOWN)
            check_down(c, o, &nodes);
        else if (o->section == CONF_FRONTEND)
            validate_fault(c, FAULT_FATAL, o->line, "FrontendName",
                           "FrontendName needs a Slurm that was built for front ends");
    }
    if (nodes.n == 0 && !model_setting(m, "MaxNodeCount"))
        validate_fault(c, FAULT_FATAL, NULL, "MaxNodeCount",
                       "no node is defined, and without MaxNodeCount none can join");
}
