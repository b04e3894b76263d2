/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When nobody acts and nothing fails, all comes to rest: as many pods as declared, each of the
 * declared template, each serving; the status says so; and nothing is written any more.
 */
#include "src/build/labels.h"
#include "tests/sim/sim.h"

static void check_node(struct sim *s, unsigned node)
{
    const struct sim_node *n = &s->slurm.nodes[node];
    const char *name = slurm_node_name(node);

    if (!n->exists || n->silent)
        sim_fail(s, "at rest: Slurm %s %s", n->exists ? "does not hear from" : "has no record of",
                 name);
    else if (n->down || n->drained)
        sim_fail(s, "at rest: node %s is %s: %s", name, n->down ? "down" : "drained", n->reason);
}

static void check_lost_node(struct sim *s, unsigned node)
{
    const struct sim_node *n = &s->slurm.nodes[node];

    if (n->exists && !n->by_admin && !n->risk_until_ms)
        sim_fail(s, "at rest: the record of %s is left, and it has no pod (%s)",
                 slurm_node_name(node), n->reason);
}

static unsigned check_pods(struct sim *s)
{
    unsigned pods = 0;

    for (unsigned i = 0; i < SIM_NODES; i++) {
        const struct rev *r = revs_find(&s->api.objects, "Pod", slurm_node_name(i));

        if (!r) {
            check_lost_node(s, i);
            continue;
        }
        pods++;
        if (!r->pod.ready || r->pod.deleting)
            sim_fail(s, "at rest: pod %s is not ready", r->name);
        check_node(s, i);
    }
    return pods;
}

static void check_number(struct sim *s, const struct jsn *set, const char *path, int64_t want)
{
    int64_t is = jsn_get_int(set, path, 0);

    if (is != want)
        sim_fail(s, "at rest: %s says %lld, and it is %lld", path, (long long)is, (long long)want);
}

static void check_hash(struct sim *s, const struct jsn *set)
{
    const char *hash = jsn_get_str(set, "status.nodeSetHash");

    for (unsigned i = 0; i < SIM_NODES; i++) {
        const struct rev *r = revs_find(&s->api.objects, "Pod", slurm_node_name(i));

        if (r && !streq(r->pod.hash, hash))
            sim_fail(s, "at rest: pod %s is of revision %s, and not of %s", r->name, r->pod.hash,
                     hash ? hash : "none");
    }
}

void rest_check(struct sim *s)
{
    const struct rev *r = revs_find(&s->api.objects, "NodeSet", SIM_SET);
    unsigned pods = check_pods(s);

    if (!r && pods > 0)
        sim_fail(s, "at rest: the NodeSet is gone, and %u pods are left", pods);
    if (!r)
        return;
    check_number(s, r->v, "spec.replicas", pods);
    check_number(s, r->v, "status.replicas", pods);
    check_number(s, r->v, "status.readyReplicas", pods);
    check_number(s, r->v, "status.observedGeneration", jsn_get_int(r->v, "metadata.generation", 0));
    check_hash(s, r->v);
}
