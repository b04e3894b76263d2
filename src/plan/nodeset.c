/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan for a NodeSet in StatefulSet mode.
 *
 * Steps in order: Finalizer, Adopt, SSHConfig, Revision, Claims, NodeSetPods, Nodes, Successor,
 * Register, Protection, SlurmState, Cordon, Removal, Retire, Status.  What the NodeSets of a
 * cluster share is made by their Controller's plan.  What hinders (no Controller, a name that is
 * taken, a bad spec) is told by the Ready condition; pods that run stay as they are, and none is
 * made.
 */
#include "src/plan/nodeset.h"

#include "src/api/node_features.h"
#include "src/api/node_gres.h"
#include "src/build/labels.h"
#include "src/build/nodeset_pod.h"
#include "src/build/nodeset_revision.h"
#include "src/build/workers.h"
#include "src/plan/bug.h"
#include "src/plan/finalizer.h"
#include "src/plan/nodeset_private.h"
#include "src/plan/pod_conditions.h"
#include "src/plan/sync.h"

static void bring_about(const struct plan_nodeset *in, struct jsn *object, struct actions *to)
{
    (void)sync_built(to, in->cluster->lookup, object);
}

static struct nodeset_hindrance find_hindrance(struct arena *a, const struct plan_nodeset *in)
{
    const struct nodeset *ns = in->ns;
    struct api_problems p = {.arena = a};
    const char *rival;
    struct err e = {0};

    if (!in->cluster->controller)
        return (struct nodeset_hindrance){
            "ControllerNotFound",
            arena_printf(a,
                         "there is no Controller %s in namespace %s; create it, or correct "
                         "spec.controllerRef.name",
                         ns->spec.controller_ref.name ? ns->spec.controller_ref.name : "",
                         api_namespace(&ns->meta))};
    if (in->twin)
        return (struct nodeset_hindrance){
            "SlurmNameTaken",
            arena_printf(a,
                         "NodeSet %s is called %s in Slurm already; give one of both another "
                         "name or another template.spec.hostname",
                         in->twin, nodeset_slurm_name(a, ns))};
    rival = nodeset_feature_rival(a, ns, in->cluster->lookup);
    if (rival)
        return (struct nodeset_hindrance){
            "FeatureTaken",
            arena_printf(a,
                         "a feature in spec.extraConf is the name of NodeSet %s in Slurm, whose "
                         "partitions these nodes would join; choose another",
                         rival)};
    nodeset_check(ns, build_release(in->cluster), &p);
    /* One pod for a try: settings that cannot be laid over show here. */
    (void)build_worker_pod(a, in->cluster, ns, &(struct build_worker){.hash = ""}, &p);
    if (api_problems_error(&p, &e) < 0)
        return (struct nodeset_hindrance){"Invalid", arena_strdup(a, e.text)};
    if (ns->spec.scaling_mode == NODESET_DAEMONSET)
        return (struct nodeset_hindrance){
            "NotSupported", "scalingMode DaemonSet is not there yet; use StatefulSet"};
    return (struct nodeset_hindrance){0};
}

static void plan_ssh(const struct plan_nodeset *in, struct actions *to)
{
    actions_step(to, "SSHConfig");
    bring_about(in, build_ssh_config(to->arena, in->ns), to);
}

/*
 * Pods that a NodeSet of this name has left: it was deleted with --cascade=orphan, or an operator
 * that had not seen its end made them.  They have the names that ours would have.  Returns whether
 * there are any; what they are, the next plan sees.
 */
static bool adopt(const struct plan_nodeset *in, struct actions *to)
{
    actions_step(to, "Adopt");
    for (size_t i = 0; i < in->n_orphans; i++) {
        const struct plan_pod *p = in->orphans[i];
        struct jsn *patch = jsn_object(to->arena);
        struct jsn *meta = jsn_ensure_object(to->arena, patch, "metadata");
        struct action *a;

        if (p->deleting)
            continue;
        jsn_set(to->arena, meta, "ownerReferences",
                build_worker_owners(to->arena, in->cluster, in->ns));
        jsn_set_str(to->arena, meta, "uid", p->uid);
        a = actions_add(to, ACTION_PATCH);
        a->kind = plan_kind_find("Pod");
        a->namespace = p->namespace;
        a->name = p->name;
        a->body = patch;
        a->reason = "Adopted";
        a->text = arena_printf(to->arena, "Adopted pod %s, which nobody controlled", p->name);
    }
    return in->n_orphans > 0;
}

/* What pods and nodes should be, by this revision. */
static struct nodeset_view view_of(const struct plan_nodeset *in, struct actions *to)
{
    struct nodeset_view view = {.topology = build_has(in->cluster, PROFILE_TOPOLOGY_YAML)};
    struct jsn *data = NULL;
    const char *text;

    nodeset_release_of(to->arena, in, &view.release);
    text = revision_data(to->arena, in->ns, view.release.text);
    if (jsn_parse(to->arena, str_of(text), NULL, &data, NULL) < 0)
        abort(); /* it is ours */
    view.data = data;
    view.hash = nodeset_revision_plan(in, text, to);
    node_declare(to->arena, in->ns, view.topology, &view.node);
    if (in->cluster->controller)
        view.gres_unknown = node_gres_unknown(to->arena, in->ns, in->cluster->controller);
    return view;
}

bool nodeset_is_gone(const struct plan_nodeset *in, const char *machine)
{
    for (size_t i = 0; i < in->n_gone; i++)
        if (streq(in->gone[i], machine))
            return true;
    return false;
}

/* The Kubernetes node that an ordinal stays on, or NULL. */
static const char *pinned_to(struct arena *a, const struct plan_nodeset *in, uint32_t ordinal)
{
    const char *node;

    if (!in->ns->spec.pin_to_node)
        return NULL;
    node = jsn_map_get(&in->ns->status.ordinal_to_node, arena_printf(a, "%u", ordinal));
    return nodeset_is_gone(in, node) ? NULL : node;
}

/* Does Slurm have no record of the node, or one that fits?  A pod may go on with that. */
static bool is_checked(const struct plan_nodeset *in, const struct nodeset_view *view,
                       const struct build_worker *w, struct arena *a)
{
    return in->slurm && !in->slurm->down && !view->gres_unknown &&
           !nodeset_record_is_stale(a, in, view, worker_hostname(a, in->ns, w));
}

static void plan_pods(const struct plan_nodeset *in, const struct nodeset_view *view,
                      const struct nodeset_scale *scale, struct actions *to)
{
    struct api_problems ignored = {.arena = to->arena}; /* tried before */

    actions_step(to, "NodeSetPods");
    if (scale->n_create)
        actions_event(to, false, "ScalingUp", "Creating %zu Pod(s) to stabilize at %d replicas",
                      scale->n_create, (int)in->ns->spec.replicas);
    for (size_t i = 0; i < scale->n_create; i++) {
        struct build_worker w = {.ordinal = (int32_t)scale->create[i],
                                 .node = pinned_to(to->arena, in, scale->create[i]),
                                 .hash = view->hash,
                                 .release = view->release.text};
        struct jsn *pod;

        w.record_checked = is_checked(in, view, &w, to->arena);
        pod = build_worker_pod(to->arena, in->cluster, in->ns, &w, &ignored);

        actions_create(to, pod, "SuccessfulCreate", "Created pod %s",
                       jsn_get_str(pod, "metadata.name"));
    }
    /* Where pods wait for a machine, each that gets one leads to the next plan. */
    if (scale->n_postponed && scale->n_create)
        actions_requeue(to, in->now_us);
}

static void plan_removal(const struct plan_nodeset *in, const struct nodeset_scale *scale,
                         struct actions *to)
{
    actions_step(to, "Removal");
    for (size_t i = 0; i < scale->n_remove; i++) {
        const struct plan_pod *p = scale->remove[i];
        size_t from = to->n;
        struct action *a = actions_delete(to, "Pod", p->namespace, p->name, p->uid,
                                          "SuccessfulDelete", "Deleted pod %s", p->name);

        a->hold = nodeset_hold_of(to->arena, in, p);
        if (!finalizer_is_forced(&in->ns->meta) && !plan_bug_is(PLAN_BUG_ANY_VERSION))
            a->version = p->version;
        if (i >= scale->first_replaced)
            nodeset_guard(to, from);
    }
}

/* It is deleted by this plan, as it was read: a change before would stand in the way. */
static bool goes_now(const struct nodeset_scale *scale, const struct plan_pod *p)
{
    for (size_t i = 0; i < scale->n_remove && i < scale->first_replaced; i++)
        if (scale->remove[i] == p)
            return true;
    return false;
}

/* Busy pods carry the label that the disruption budget selects.  Unknown: as it is. */
static void plan_protection(const struct plan_nodeset *in, const struct nodeset_scale *scale,
                            struct actions *to)
{
    actions_step(to, "Protection");
    for (size_t i = 0; in->slurm && !in->slurm->down && i < in->n_pods; i++) {
        const struct plan_pod *p = in->pods[i];
        bool want = in->ns->spec.disruption_protection && !plan_pod_is_empty(p) &&
                    !slurm_state_is_idle(in->slurm, p->slurm_name);
        struct jsn *patch = jsn_object(to->arena);
        struct jsn *labels;
        struct action *a;

        if (p->deleting || want == p->protected || goes_now(scale, p))
            continue;
        labels =
            jsn_ensure_object(to->arena, jsn_ensure_object(to->arena, patch, "metadata"), "labels");
        jsn_set(to->arena, labels, LABEL_POD_PROTECT,
                want ? jsn_string(to->arena, "true") : jsn_null(to->arena));
        a = actions_add(to, ACTION_PATCH);
        a->kind = plan_kind_find("Pod");
        a->namespace = p->namespace;
        a->name = p->name;
        a->body = patch;
    }
}

static void plan_mirror(const struct plan_nodeset *in, const struct nodeset_scale *scale,
                        struct actions *to)
{
    actions_step(to, "SlurmState");
    for (size_t i = 0; in->slurm && !in->slurm->down && i < in->n_pods; i++)
        if (!goes_now(scale, in->pods[i]))
            pod_conditions_plan(to, in->pods[i],
                                slurm_state_node(in->slurm, in->pods[i]->slurm_name), in->now_us);
}

void nodeset_pods_plan(const struct plan_nodeset *in, const struct nodeset_scale *scale,
                       struct actions *to)
{
    nodeset_lost_plan(in, to);
    plan_protection(in, scale, to);
    plan_mirror(in, scale, to);
    nodeset_drain_plan(in, scale, to);
    plan_removal(in, scale, to);
    (void)nodeset_retire_plan(in, scale, to);
}

/* A pod that becomes available by the passing of time alone is looked at again then. */
static void plan_wakeup(const struct plan_nodeset *in, struct actions *to)
{
    int64_t wait_us = in->ns->spec.min_ready_seconds * 1000000LL;
    const struct nodeset_strategy *s = &in->ns->spec.update_strategy;

    if (s->type == NODESET_SCHEDULED_UPDATE && s->scheduled && s->scheduled->start_us > in->now_us)
        actions_requeue(to, s->scheduled->start_us);
    for (size_t i = 0; i < in->n_pods; i++) {
        const struct plan_pod *p = in->pods[i];

        if (p->ready && !p->deleting && p->ready_us + wait_us > in->now_us)
            actions_requeue(to, p->ready_us + wait_us);
    }
}

void plan_nodeset(const struct plan_nodeset *in, struct actions *to)
{
    struct nodeset_hindrance why;
    struct nodeset_scale scale = {0};
    struct nodeset_view view = {0};

    if (in->ns->meta.deleted_us) {
        nodeset_end_plan(in, to);
        return;
    }
    /* All else comes with the next plan: pods without it could go with their jobs. */
    if (!finalizer_has(&in->ns->meta, FINALIZER_NODESET)) {
        if (nodeset_revision_take_over(in, to))
            return;
        actions_step(to, "Finalizer");
        finalizer_add(to, "NodeSet", &in->ns->meta, FINALIZER_NODESET);
        return;
    }
    why = find_hindrance(to->arena, in);
    if (!why.reason && adopt(in, to))
        return;
    if (!why.reason) {
        plan_ssh(in, to);
        view = view_of(in, to);
        scale = nodeset_scale_of(to->arena, in, &view);
        if (scale.n_forget == 0) /* they tell which records do not fit */
            nodeset_revisions_forget(in, view.hash, to);
        nodeset_claims_plan(in, &scale, to);
        plan_pods(in, &view, &scale, to);
        nodeset_nodes_plan(in, &view, &scale, to);
        nodeset_successor_plan(in, &view, &scale, to);
        nodeset_pods_plan(in, &scale, to);
    }
    actions_step(to, "Status");
    nodeset_status_plan(in, view.hash ? view.hash : in->ns->status.hash, view.hash ? &view : NULL,
                        &scale, &why, to);
    plan_wakeup(in, to);
}
