/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes that slurmctld does not have, although their pods live.
 *
 * Somebody has deleted the record, or slurmctld has lost it: 22.05 writes new nodes down minutes
 * after they have registered, and forgets them if it is killed before.  A slurmd registers when it
 * starts, and never again by itself.  So it is asked to start again: the annotation is a file in
 * its pod (slurm-etc), which the start script follows.  The container goes on, and the jobs in it;
 * a pod whose node is not known is never deleted for that, since nobody can tell what it runs.
 *
 * A pod that has become ready may still be about to register: it gets some seconds.  Asked again
 * after a minute, as long as it takes.  Once the node is there the annotation goes, so that a node
 * that is lost again, a moment later, does not wait for that minute.
 */
#include "src/build/labels.h"
#include "src/plan/nodeset_private.h"

#define ASK_AGAIN_US (60 * 1000000LL)

bool nodeset_is_unregistered(const struct plan_nodeset *in, const struct plan_pod *p)
{
    return in->slurm && !in->slurm->down && p->ready && !p->deleting && !plan_pod_is_empty(p) &&
           !slurm_state_node(in->slurm, p->slurm_name);
}

bool nodeset_is_lost(const struct plan_nodeset *in, const struct plan_pod *p)
{
    return nodeset_is_unregistered(in, p) && p->ready_us + PLAN_REGISTERS_WITHIN_US <= in->now_us;
}

static void annotate(const struct plan_pod *p, struct jsn *value, struct actions *to)
{
    struct jsn *patch = jsn_object(to->arena);
    struct jsn *meta = jsn_ensure_object(to->arena, patch, "metadata");
    struct action *a = actions_add(to, ACTION_PATCH);

    jsn_set(to->arena, jsn_ensure_object(to->arena, meta, "annotations"), ANNOTATION_REGISTER,
            value);
    a->kind = plan_kind_find("Pod");
    a->namespace = p->namespace;
    a->name = p->name;
    a->body = patch;
}

static void ask(const struct plan_nodeset *in, const struct plan_pod *p, struct actions *to)
{
    annotate(p, jsn_stringf(to->arena, "%lld", (long long)in->now_us), to);
    actions_event(to, true, "NodeLost",
                  "slurmctld has no node %s, although pod %s runs; its slurmd is started again to "
                  "register",
                  p->slurm_name, p->name);
}

/* The node is there again.  Not at once: else one that never stays would be asked without a pause.
 */
static void take_back(const struct plan_nodeset *in, const struct plan_pod *p, struct actions *to)
{
    int64_t due = p->register_us + PLAN_REGISTERS_WITHIN_US;

    if (!in->slurm || in->slurm->down || !slurm_state_node(in->slurm, p->slurm_name))
        return;
    if (due > in->now_us)
        actions_requeue(to, due);
    else
        annotate(p, jsn_null(to->arena), to);
}

void nodeset_lost_plan(const struct plan_nodeset *in, struct actions *to)
{
    actions_step(to, "Register");
    for (size_t i = 0; i < in->n_pods; i++) {
        const struct plan_pod *p = in->pods[i];
        int64_t due;

        if (!nodeset_is_unregistered(in, p)) {
            if (p->register_us && !p->deleting)
                take_back(in, p, to);
            continue;
        }
        due = MAX(p->ready_us + PLAN_REGISTERS_WITHIN_US,
                  p->register_us ? p->register_us + ASK_AGAIN_US : 0);
        if (due > in->now_us) {
            actions_requeue(to, due);
            continue;
        }
        ask(in, p, to);
        actions_requeue(to, in->now_us + ASK_AGAIN_US);
    }
}
