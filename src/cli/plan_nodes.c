/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `slurmkeeper plan` says of nodes.
 *
 * Settings of nodes are in no file: slurmd brings them along, and the operator compares them with
 * slurmctld's records.  So NodeSets are compared here, as they are with as they would be.  Features
 * and weight are given to the nodes at once; for other settings, and for another template, pods are
 * replaced.  Of a NodeSet that stays as it is, the condition NodesApplied tells what is still to be
 * done.
 */
#include "src/build/node_line.h"
#include "src/build/nodeset_revision.h"
#include "src/cli/plan.h"

#define REPLACED "pods are replaced, each when no job can run on it"

struct comparison {
    struct arena *a;
    struct plan_cluster *c;
    const char *name;
};

static const char *shown(const char *value)
{
    return value && value[0] ? value : "not set";
}

static void tell(const struct comparison *x, const char *key, const char *was, const char *is,
                 const char *why)
{
    if (!streq(was ? was : "", is ? is : ""))
        plan_change_add(
            x->a, x->c, CHANGE_RPC,
            arena_printf(x->a, "NodeSet %s: %s: %s -> %s", x->name, key, shown(was), shown(is)),
            why);
}

static void read_line(struct arena *a, const struct nodeset *ns, struct node_line *ret)
{
    node_line_read(a, nodeset_slurm_name(a, ns), ns->spec.extra_conf, ret);
}

static const char *weight_of(const struct node_line *l)
{
    const char *weight = node_line_get(l, "Weight");

    return weight ? weight : "1";
}

static struct jsn *data_of(struct arena *a, const struct nodeset *ns)
{
    struct jsn *data = NULL;

    if (jsn_parse(a, str_of(revision_data(a, ns, NULL)), NULL, &data, NULL) < 0)
        abort(); /* it is ours */
    return data;
}

static void compare(const struct comparison *x, const struct nodeset *was, const struct nodeset *is)
{
    bool topology = profile_has(x->c->release, PROFILE_TOPOLOGY_YAML);
    struct node_line from;
    struct node_line to;
    size_t n;
    const char *lasting;

    read_line(x->a, was, &from);
    read_line(x->a, is, &to);
    tell(x, "Features", from.features, to.features, NULL);
    tell(x, "Weight", weight_of(&from), weight_of(&to), NULL);
    if (topology)
        tell(x, "Topology", node_line_get(&from, "Topology"), node_line_get(&to, "Topology"), NULL);
    if (revision_same_pods(x->a, data_of(x->a, was), data_of(x->a, is), topology))
        return;
    n = x->c->n;
    lasting = node_line_lasting(x->a, &from, topology);
    tell(x, "nodes", lasting, node_line_lasting(x->a, &to, topology), REPLACED);
    if (x->c->n == n)
        plan_change_add(x->a, x->c, CHANGE_RPC,
                        arena_printf(x->a, "NodeSet %s: another template", x->name), REPLACED);
}

/* What is not done yet of what was declared before. */
static void tell_rest(const struct comparison *x, const struct nodeset *ns)
{
    const struct api_condition *c = api_condition_find(&ns->status.conditions, "NodesApplied");

    if (!c || !streq(c->status, "False"))
        return;
    if (streq(c->reason, "Applying") || streq(c->reason, "WaitingForIdle"))
        plan_change_add(x->a, x->c, CHANGE_RPC,
                        arena_printf(x->a, "NodeSet %s: %s", x->name, c->message), NULL);
}

static const struct jsn *find(const struct plan_world *w, const struct jsn *o)
{
    for (size_t i = 0; i < w->n_now; i++)
        if (streq(jsn_get_str(w->now[i].object, "kind"), "NodeSet") &&
            streq(jsn_get_str(w->now[i].object, "metadata.namespace"),
                  jsn_get_str(o, "metadata.namespace")) &&
            streq(jsn_get_str(w->now[i].object, "metadata.name"), jsn_get_str(o, "metadata.name")))
            return w->now[i].object;
    return NULL;
}

void plan_nodes(const struct plan_world *w, struct plan_cluster *c)
{
    for (size_t i = 0; i < w->n_then; i++) {
        const struct jsn *o = w->then[i].object;
        const struct jsn *before;
        struct comparison x = {w->a, c, jsn_get_str(o, "metadata.name")};
        struct nodeset was;
        struct nodeset is;

        if (!streq(jsn_get_str(o, "kind"), "NodeSet") ||
            !streq(jsn_get_str(o, "metadata.namespace"), c->ns) ||
            !streq(jsn_get_str(o, "spec.controllerRef.name"), c->name))
            continue;
        before = find(w, o);
        if (!before || nodeset_decode(w->a, before, &was, NULL) < 0 ||
            nodeset_decode(w->a, o, &is, NULL) < 0)
            continue; /* one that is new is in the files; one that is bad was told */
        compare(&x, &was, &is);
        tell_rest(&x, &is);
    }
}
