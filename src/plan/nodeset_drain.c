/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which Slurm nodes are drained, and which are let back.
 *
 * A pod that is to go (too many, or of an old revision) has its node drained first; when nothing
 * runs on it any more, the pod is free and goes.  If it may stay after all, the node is let back.
 * An annotation on the pod has its node drained as long as it is there; so has its Kubernetes node,
 * as long as it is cordoned (machine.c).
 *
 * Only what is ours is undone: a node whose reason somebody else has written stays as it is, unless
 * that is slurmctld, which has refused slurmd's registration and takes it by now.  A
 * node that was set down when its pod ended (by the pod itself) is resumed when a new pod is ready.
 */
#include "src/plan/bug.h"
#include "src/plan/nodeset_private.h"
#include "src/slurm/node_reason.h"

/* Reasons of ours, and of Slinky's operator, whose cluster may have been taken over. */
static const char *const our_reasons[] = {"slurmkeeper: Pod ", "slurmkeeper: Node (",
                                          "slurm-operator: "};

static const char *our_prefix(const char *reason)
{
    for (size_t i = 0; reason && i < ARRAY_LEN(our_reasons); i++)
        if (starts_with(reason, our_reasons[i]))
            return our_reasons[i];
    return NULL;
}

bool nodeset_reason_is_ours(const char *reason)
{
    return our_prefix(reason) != NULL;
}

static bool is_draining(const struct slurm_node *n)
{
    return (n->state & NODE_FLAG_DRAIN) && !(n->state & NODE_FLAG_UNDRAIN);
}

bool nodeset_drain_is_ours(const struct slurm_node *n)
{
    return is_draining(n) && our_prefix(n->reason);
}

static const struct nodeset_drain *find_drain(const struct nodeset_scale *scale,
                                              const struct plan_pod *p)
{
    for (size_t i = 0; i < scale->n_drain; i++)
        if (scale->drain[i].pod == p)
            return &scale->drain[i];
    return NULL;
}

/* Why the pod's node should be drained; NULL: it should not. */
static const char *wish(struct arena *a, const struct plan_nodeset *in,
                        const struct nodeset_scale *scale, const struct plan_pod *p)
{
    const char *ns = api_namespace(&in->ns->meta);
    const struct nodeset_drain *d = find_drain(scale, p);

    if (d)
        return arena_printf(a, "slurmkeeper: Pod (%s/%s) is pending termination for %s", ns,
                            p->name, d->why);
    if (p->cordoned)
        return arena_printf(a, "slurmkeeper: Pod (%s/%s) was cordoned", ns, p->name);
    return p->node_drain ? arena_printf(a, "slurmkeeper: %s", p->node_drain) : NULL;
}

/* A change that was asked for before and does not show yet is not asked for again. */
static void ask(const struct plan_nodeset *in, const char *node, const char *what,
                const char *reason, const char *only_if, struct actions *to)
{
    if (!slurm_state_was_asked(in->slurm, node, what))
        actions_node(to, api_namespace(&in->ns->meta), in->ns->spec.controller_ref.name, node, what,
                     reason, only_if);
}

/*
 * slurmctld drains a node whose slurmd brings less than its record says, and leaves the drain when
 * that is over.  The flag tells whether it is.
 */
static bool is_forgiven(const struct plan_pod *p, const struct slurm_node *n)
{
    return is_draining(n) && !(n->state & (NODE_FLAG_INVALID_REG | NODE_FLAG_NO_RESPOND)) &&
           p->ready && node_reason_is_registration(n->reason, n->reason_user);
}

static void let_back(const struct plan_nodeset *in, const struct plan_pod *p,
                     const struct slurm_node *n, struct actions *to)
{
    const char *only_if = plan_bug_is(PLAN_BUG_ANY_REASON) ? our_prefix(n->reason) : n->reason;

    if (plan_bug_is(PLAN_BUG_FOREIGN_DRAIN))
        only_if = NULL;
    else if (!our_prefix(n->reason) && !is_forgiven(p, n))
        return;
    /* Only with the very reason that is seen here: by the time that this arrives, its pod may be
     * about to be deleted (nodeset_hold.c). */
    if (nodestate_base(n->state) == NODE_BASE_DOWN) {
        if (p->ready && !(n->state & NODE_FLAG_NO_RESPOND))
            ask(in, n->name, "resume", NULL, only_if, to);
    } else if (is_draining(n)) {
        ask(in, n->name, "undrain", NULL, only_if, to);
    }
}

/* Nobody may put a job on a node whose pod goes now. */
static bool goes_now(const struct nodeset_scale *scale, const struct plan_pod *p)
{
    for (size_t i = 0; i < scale->n_remove; i++)
        if (scale->remove[i] == p)
            return true;
    return false;
}

/* Where another pod is to take the place, not before it is known that it can be made. */
static void begin_drain(const struct plan_nodeset *in, const struct nodeset_scale *scale,
                        const struct plan_pod *p, const char *node, const char *why,
                        struct actions *to)
{
    const struct nodeset_drain *d = find_drain(scale, p);
    size_t from = to->n;

    ask(in, node, "drain", why, NULL, to);
    if (to->n > from && !d && !p->cordoned)
        actions_event(to, false, "NodeCordon", "Draining Slurm node %s: %s", node, p->node_drain);
    if (d && d->replaced && !p->cordoned)
        nodeset_guard(to, from);
}

void nodeset_drain_plan(const struct plan_nodeset *in, const struct nodeset_scale *scale,
                        struct actions *to)
{
    actions_step(to, "Cordon");
    for (size_t i = 0; i < in->n_pods && in->slurm && !in->slurm->down; i++) {
        const struct plan_pod *p = in->pods[i];
        const struct slurm_node *n = slurm_state_node(in->slurm, p->slurm_name);
        const char *why;

        if (!n || p->deleting || plan_pod_is_empty(p) || goes_now(scale, p))
            continue;
        why = wish(to->arena, in, scale, p);
        if (!why)
            let_back(in, p, n, to);
        else if (!is_draining(n))
            begin_drain(in, scale, p, n->name, why, to);
    }
}
