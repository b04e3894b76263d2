/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many nodes a cluster may have.
 *
 * Nodes are dynamic, and slurmctld takes as many as MaxNodeCount says.  The operator sets it, and
 * raises it up to NODE_COUNT_MOST; what a Controller's extraConf says comes after that and counts.
 * More nodes than that would be pods that never become nodes.  Where the machines are known (the
 * embedded cluster), there may also be no more than these take pods.
 *
 * This is asked when somebody writes, so that the answer reaches its author: of a NodeSet that asks
 * for more than before, and of a Controller whose MaxNodeCount changes.  It is asked again when a
 * plan is made (src/plan/nodeset_scale.c), for servers that do not ask us.
 */
#include "src/api/node_count.h"

#include <strings.h>

#include "src/api/names.h"
#include "src/slurm/conf.h"

static int no_file(void *ctx, const char *path, struct str *ret_text, struct err *e)
{
    (void)ctx;
    (void)path;
    (void)e;
    *ret_text = STR("");
    return 0;
}

/* The last line counts, as in Slurm. */
static bool read_limit(const char *extra_conf, int64_t *ret)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free) struct conf *conf = NULL;
    struct conf_input in = {
        .kind = CONF_SLURM, .name = "extraConf", .text = str_of(extra_conf), .lookup = no_file};
    const struct conf_line *lines;
    bool found = false;
    uint32_t n = 0;
    size_t count;

    if (!extra_conf || conf_parse(&in, &faults, &conf, NULL) < 0)
        return false;
    lines = conf_lines(conf, &count);
    for (size_t i = 0; i < count; i++) {
        const struct conf_pair *pair = conf_line_get(&lines[i], "MaxNodeCount");

        found = pair && str_to_u32(str_of(pair->value), &n) == 0 ? true : found;
    }
    *ret = n;
    return found;
}

struct node_limit node_limit_of(const struct controller *c)
{
    struct node_limit limit = {.most = NODE_COUNT_MOST};

    if (c && c->spec.extra_conf)
        limit.from_user = read_limit(c->spec.extra_conf, &limit.most);
    if (!limit.from_user)
        limit.most = NODE_COUNT_MOST;
    return limit;
}

struct census {
    const char *controller;
    const char *except; /* a NodeSet's name; NULL: none */
    int64_t n;
};

static bool count_one(void *arg, const struct jsn *object)
{
    struct census *c = arg;

    if (streq(jsn_get_str(object, "spec.controllerRef.name"), c->controller) &&
        !(c->except && streq(jsn_get_str(object, "metadata.name"), c->except)) &&
        !jsn_get_str(object, "metadata.deletionTimestamp") &&
        !streq(jsn_get_str(object, "spec.scalingMode"), "DaemonSet"))
        c->n += MAX(jsn_get_int(object, "spec.replicas", 1), 0);
    return true;
}

int64_t node_count_others(const struct nodeset *ns, const struct api_lookup *l)
{
    struct census c = {ns->spec.controller_ref.name, ns->meta.name, 0};

    (void)api_lookup_each(l, "NodeSet", api_namespace(&ns->meta), count_one, &c);
    return c.n;
}

static struct node_limit find_limit(const struct nodeset *ns, const struct api_lookup *l,
                                    struct arena *a)
{
    const struct jsn *found = NULL;
    struct controller c;

    if (api_lookup_get(l, "Controller", api_namespace(&ns->meta), ns->spec.controller_ref.name,
                       &found) == API_PRESENT &&
        found && controller_decode(a, found, &c, NULL) == 0)
        return node_limit_of(&c);
    return node_limit_of(NULL);
}

static void check_cluster(const struct nodeset *ns, const struct api_lookup *l,
                          struct api_problems *p)
{
    struct node_limit limit = find_limit(ns, l, p->arena);
    int64_t others = node_count_others(ns, l);
    const char *value = api_problem_path(p, "%d", (int)ns->spec.replicas);
    const char *sum =
        others ? api_problem_path(p,
                                  "with the %lld nodes of other NodeSets the cluster "
                                  "would have %lld nodes",
                                  (long long)others, (long long)others + ns->spec.replicas)
               : "the cluster would have that many nodes";

    if (others + ns->spec.replicas <= limit.most)
        return;
    if (limit.from_user)
        api_problem_value(p, API_INVALID, "spec.replicas", value,
                          "%s, but MaxNodeCount is %lld in spec.extraConf of Controller %s; raise "
                          "it first, or ask for fewer",
                          sum, (long long)limit.most, ns->spec.controller_ref.name);
    else
        api_problem_value(p, API_INVALID, "spec.replicas", value,
                          "%s, but the operator sets MaxNodeCount to %lld at most; set it yourself "
                          "in spec.extraConf of the Controller, or ask for fewer",
                          sum, (long long)limit.most);
}

struct machines {
    int64_t n;
    int64_t pods;
};

static bool add_machine(void *arg, const struct jsn *object)
{
    struct machines *m = arg;
    const char *text = jsn_get_str(object, "status.allocatable.pods");
    int64_t pods = 0;

    if (text && str_to_i64(str_of(text), &pods) == 0) {
        m->n++;
        m->pods += pods;
    }
    return true;
}

/* Where nobody can list machines, or there is none yet, they do not bound anything. */
static void check_machines(const struct nodeset *ns, const struct api_lookup *l,
                           struct api_problems *p)
{
    struct machines m = {0};

    if (api_lookup_each(l, "Node", NULL, add_machine, &m) && m.n > 0 && ns->spec.replicas > m.pods)
        api_problem_value(
            p, API_INVALID, "spec.replicas", api_problem_path(p, "%d", (int)ns->spec.replicas),
            "%s %lld pods (status.allocatable.pods); ask for fewer",
            m.n == 1 ? "the machine takes" : "the machines together take", (long long)m.pods);
}

void nodeset_check_count(const struct nodeset *ns, const struct nodeset *old,
                         const struct api_lookup *l, struct api_problems *p)
{
    if (ns->spec.scaling_mode == NODESET_DAEMONSET ||
        (old && ns->spec.replicas <= old->spec.replicas))
        return;
    check_cluster(ns, l, p);
    check_machines(ns, l, p);
}

void controller_check_count(const struct controller *c, const struct controller *old,
                            const struct api_lookup *l, struct api_problems *p)
{
    struct node_limit limit = node_limit_of(c);
    struct census declared = {c->meta.name, NULL, 0};

    if (!limit.from_user || (old && node_limit_of(old).most <= limit.most))
        return;
    (void)api_lookup_each(l, "NodeSet", api_namespace(&c->meta), count_one, &declared);
    if (declared.n > limit.most)
        api_problem_add(p, API_INVALID, "spec.extraConf",
                        "MaxNodeCount=%lld is too low: the NodeSets of this cluster declare %lld "
                        "nodes (spec.replicas); scale them down first",
                        (long long)limit.most, (long long)declared.n);
}
