/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last look before a pod is deleted.
 *
 * Caches and Slurm's state are always old: since they were read a job may have started, somebody
 * may have undrained the node, another operator may have planned something else.  So the deletion goes with two
 * conditions.  The API server deletes the pod only as it was read.  And before it is asked,
 * slurmctld drains the node, once more, and says that it has no work.
 *
 * The reason of that drain names the very pod.  From then on a deletion may be on its way, also if
 * its answer was lost, and may arrive at any time.  So a node whose
 * reason names its present pod stays drained, and the pod goes.  A node whose reason names an
 * earlier pod is undrained.
 */
#include "src/plan/bug.h"
#include "src/plan/finalizer.h"
#include "src/plan/nodeset_private.h"

static const char *reason_of(struct arena *a, const struct plan_nodeset *in,
                             const struct plan_pod *p)
{
    return arena_printf(a, "slurmkeeper: Pod (%s/%s, %.8s) is being deleted",
                        api_namespace(&in->ns->meta), p->name, p->uid ? p->uid : "");
}

const struct action_hold *nodeset_hold_of(struct arena *a, const struct plan_nodeset *in,
                                          const struct plan_pod *p)
{
    struct action_hold *h;

    if (!in->slurm || in->slurm->down || plan_pod_is_over(p) || !p->slurm_name ||
        finalizer_is_forced(&in->ns->meta) || plan_bug_is(PLAN_BUG_NO_HOLD))
        return NULL;
    h = arena_calloc(a, 1, sizeof(*h));
    *h = (struct action_hold){
        .controller = in->ns->spec.controller_ref.name,
        .node = p->slurm_name,
        .reason = reason_of(a, in, p),
        .may_be_absent = !slurm_state_node(in->slurm, p->slurm_name),
    };
    return h;
}

bool nodeset_is_held(struct arena *a, const struct plan_nodeset *in, const struct plan_pod *p)
{
    const struct slurm_node *n = slurm_state_node(in->slurm, p->slurm_name);

    return n && !plan_bug_is(PLAN_BUG_LET_GO_BACK) && !p->deleting && nodeset_drain_is_ours(n) &&
           streq(n->reason, reason_of(a, in, p));
}
