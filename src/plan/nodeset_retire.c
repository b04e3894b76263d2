/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm nodes whose pods are gone for good.
 *
 * A pod's node is a record in slurmctld that outlives the pod: `sinfo` would show it as down for
 * ever after the NodeSet was made smaller, or deleted.  It is deleted once there is no pod of that
 * name and none will be made; a pod that is only made again finds its record again.
 *
 * Only what is ours goes: a dynamic node with the name of one of the NodeSet's pods, whose reason
 * we have written when the pod was about to go.  A pod that could not reach slurmctld when it ended
 * has written none: its node goes when slurmctld finds that it does not answer, if it has the
 * NodeSet's feature.  One that somebody else has drained or set down keeps its record, and with it
 * the drain.  Never one that may have a job, or stands in a reservation (slurmctld would refuse).
 */
#include "src/build/nodeset_pod.h"
#include "src/plan/nodeset_private.h"

/* The ordinal of the pod that a Slurm node belongs to, or -1: it is not of this NodeSet. */
static int32_t ordinal_of(struct arena *a, const struct nodeset *ns, const char *node)
{
    size_t n = strlen(node);
    struct build_worker w;
    uint32_t v;

    while (n > 0 && node[n - 1] >= '0' && node[n - 1] <= '9')
        n--;
    if (str_to_u32(str_of(node + n), &v) < 0 || v > INT32_MAX)
        return -1;
    w = (struct build_worker){.ordinal = (int32_t)v};
    return streq(worker_hostname(a, ns, &w), node) ? w.ordinal : -1;
}

static bool has_pod(const struct plan_nodeset *in, const char *node)
{
    for (size_t i = 0; i < in->n_pods; i++)
        if (streq(in->pods[i]->slurm_name, node))
            return true;
    return false;
}

static bool is_to_be_made(const struct nodeset_scale *s, int32_t ordinal)
{
    for (size_t i = 0; i < s->n_forget; i++)
        if (s->forget[i] == (uint32_t)ordinal)
            return true;
    for (size_t i = 0; i < s->n_create; i++)
        if (s->create[i] == (uint32_t)ordinal)
            return true;
    return s->n_postponed > 0;
}

static bool may_go(struct arena *a, const struct plan_nodeset *in, const struct slurm_node *n)
{
    if (!nodeset_record_may_go(n))
        return false;
    if (nodeset_reason_is_ours(n->reason))
        return nodestate_base(n->state) == NODE_BASE_DOWN ||
               slurm_state_is_free(in->slurm, n->name);
    return (n->state & NODE_FLAG_NO_RESPOND) && nodeset_record_is_member(a, in->ns, n);
}

size_t nodeset_retire_plan(const struct plan_nodeset *in, const struct nodeset_scale *scale,
                           struct actions *to)
{
    size_t count = 0;

    actions_step(to, "Retire");
    for (size_t i = 0; in->slurm && !in->slurm->down && i < in->slurm->n; i++) {
        const struct slurm_node *n = &in->slurm->nodes[i];
        int32_t ordinal;

        if (!may_go(to->arena, in, n) || has_pod(in, n->name))
            continue;
        ordinal = ordinal_of(to->arena, in->ns, n->name);
        if (ordinal < 0 || is_to_be_made(scale, ordinal))
            continue;
        count++;
        if (!slurm_state_was_asked(in->slurm, n->name, "delete"))
            actions_node(to, api_namespace(&in->ns->meta), in->ns->spec.controller_ref.name,
                         n->name, "delete", NULL, NULL);
    }
    return count;
}
