/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pod that takes the place of another.
 *
 * Before a pod goes because another is to take its place, and before its node is drained for that,
 * the API server is asked whether it would make the other one (a dry run): only the API server knows
 * of a full quota, a ServiceAccount that is gone, a policy of the cluster.  If it says no,
 * what runs goes on running, and the refusal shows as the NodeSet's condition and event.  One pod
 * is tried for all of them, and only when something would be begun.
 *
 * A quota counts the old pod, too.  If both ask for the same, a quota that is just full is no
 * hindrance: what the old one asks for is known from its revision.
 */
#include "src/build/labels.h"
#include "src/build/nodeset_pod.h"
#include "src/plan/nodeset_private.h"

void nodeset_guard(struct actions *to, size_t from)
{
    for (size_t i = from; i < to->n; i++)
        to->items[i].guarded = true;
}

static bool begins(const struct plan_nodeset *in, const struct nodeset_drain *d)
{
    const struct slurm_node *n = slurm_state_node(in->slurm, d->pod->slurm_name);

    return d->replaced && n && !(n->state & NODE_FLAG_DRAIN);
}

/* A pod that would go, or have its node drained, for another one; NULL: none. */
static const struct plan_pod *first_to_go(const struct plan_nodeset *in,
                                          const struct nodeset_scale *scale)
{
    if (scale->n_remove > scale->first_replaced)
        return scale->remove[scale->first_replaced];
    for (size_t i = 0; i < scale->n_drain; i++)
        if (begins(in, &scale->drain[i]))
            return scale->drain[i].pod;
    return NULL;
}

/* Do both revisions ask for the same, as far as anybody counts it? */
static bool is_same_size(const struct plan_nodeset *in, const struct nodeset_view *view,
                         const struct plan_pod *p)
{
    static const char *const parts[] = {
        "spec.slurmd.resources",         "spec.logfile.resources",
        "spec.template.spec.resources",  "spec.template.spec.overhead",
        "spec.template.spec.containers", "spec.template.spec.initContainers"};

    for (size_t i = 0; i < in->n_revisions; i++) {
        const struct jsn *old = in->revisions[i];
        bool same =
            streq(jsn_text(jsn_member(jsn_get(old, "metadata.labels"), STR(LABEL_HASH))), p->hash);

        for (size_t k = 0; same && k < ARRAY_LEN(parts); k++) {
            const struct jsn *x = jsn_get(jsn_key(old, "data"), parts[k]);
            const struct jsn *y = jsn_get(view->data, parts[k]);

            same = x && y ? jsn_equal(x, y) : jsn_len(x) == 0 && jsn_len(y) == 0;
        }
        if (same)
            return true;
    }
    return false;
}

void nodeset_successor_plan(const struct plan_nodeset *in, const struct nodeset_view *view,
                            const struct nodeset_scale *scale, struct actions *to)
{
    const struct plan_pod *p = first_to_go(in, scale);
    struct build_worker w = {.hash = view->hash};
    struct api_problems ignored = {.arena = to->arena}; /* tried before */

    if (!p)
        return;
    w.ordinal = (int32_t)MAX(plan_pod_ordinal(p, in->ns->meta.name), 0);
    actions_step(to, "Successor");
    actions_try_pod(to, build_worker_pod(to->arena, in->cluster, in->ns, &w, &ignored),
                    is_same_size(in, view, p));
}
