/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a NodeSet.
 *
 * One that is being deleted is scaled down to nothing, by the same rules as ever: a pod goes when
 * it is certain that no job runs on it.  When the last one is gone, so is the finalizer, and the
 * API server removes the NodeSet.  An annotation lets go at once.
 *
 * The garbage collector's part: a background deletion waits for the finalizer.  A foreground one
 * (kubectl delete --cascade=foreground) does not, and would delete the pods, were they not owned by
 * the Controller, too; as it is, they only lose the NodeSet from among their owners.  Who deletes
 * with --cascade=orphan wants the pods to stay: then they do.
 */
#include "src/plan/nodeset_private.h"

#include "src/plan/finalizer.h"

#define SEEN_GONE_WITHIN_US (600 * 1000000LL)

static bool keeps_pods(const struct api_meta *m)
{
    return finalizer_has(m, "orphan");
}

static void note_cascade(const struct plan_nodeset *in, struct actions *to)
{
    const struct api_meta *m = &in->ns->meta;
    struct jsn *patch = jsn_object(to->arena);
    struct action *a;

    if (!finalizer_has(m, "foregroundDeletion") || api_annotation(m, DELETE_CASCADE))
        return;
    jsn_set_str(to->arena,
                jsn_ensure_object(to->arena, jsn_ensure_object(to->arena, patch, "metadata"),
                                  "annotations"),
                DELETE_CASCADE, "foreground");
    a = actions_add(to, ACTION_PATCH);
    a->kind = plan_kind_find("NodeSet");
    a->namespace = api_namespace(m);
    a->name = m->name;
    a->body = patch;
}

/* Everything goes, whatever may be running. */
static void force(const struct plan_nodeset *in, struct nodeset_scale *s)
{
    s->n_remove = s->n_waiting = s->n_drain = 0;
    for (size_t i = 0; i < in->n_pods; i++)
        if (!in->pods[i]->deleting)
            s->remove[s->n_remove++] = in->pods[i];
}

static struct nodeset_hindrance explain(struct arena *a, const struct plan_nodeset *in,
                                        const struct nodeset_scale *s)
{
    const char *way_out =
        "to delete them and their jobs, annotate the NodeSet with " FORCE_DELETE "=true";

    if (s->n_waiting == 0)
        return (struct nodeset_hindrance){"Deleting", "its pods are ending"};
    if (in->slurm && !in->slurm->down)
        return (struct nodeset_hindrance){
            "Deleting", arena_printf(a, "%zu %s to end; %s", s->n_waiting,
                                     word_for(s->n_waiting, "pod waits for its jobs",
                                              "pods wait for their jobs"),
                                     way_out)};
    return (struct nodeset_hindrance){
        "Deleting", arena_printf(a, "%s, so nothing tells that no job runs on %zu %s; %s",
                                 in->cluster->controller ? "slurmctld's state is not known"
                                                         : "its Controller is gone",
                                 s->n_waiting, word_for(s->n_waiting, "pod", "pods"), way_out)};
}

/* slurmctld had nodes of it, and cannot be asked to delete them now.  Where the Controller goes,
 * too, or is gone, its records go with it. */
static bool leaves_records(const struct plan_nodeset *in)
{
    const struct controller *c = in->cluster->controller;

    return c && !c->meta.deleted_us && !(in->slurm && !in->slurm->down) &&
           api_condition_find(&in->ns->status.conditions, "NodesApplied");
}

/* slurmctld asks its nodes now and then whether they are there; not for ever, since a node of
 * somebody else may have such a name and go on answering. */
static const char *awaited_node(struct arena *a, const struct plan_nodeset *in)
{
    return in->now_us < in->ns->meta.deleted_us + SEEN_GONE_WITHIN_US ? nodeset_retire_later(a, in)
                                                                      : NULL;
}

static void wait_for_node(const struct plan_nodeset *in, const struct plan_nodeset *end,
                          const struct nodeset_scale *scale, const char *node, struct actions *to)
{
    const struct nodeset_hindrance why = {
        "Deleting",
        arena_printf(to->arena,
                     "its pods are gone; the record of node %s is deleted when slurmctld has seen "
                     "that nobody is there (or annotate the NodeSet with " FORCE_DELETE "=true)",
                     node)};

    actions_step(to, "Status");
    nodeset_status_plan(end, in->ns->status.hash, NULL, scale, &why, to);
    actions_requeue(to, in->ns->meta.deleted_us + SEEN_GONE_WITHIN_US);
}

static void wait_for_slurm(const struct plan_nodeset *in, const struct plan_nodeset *end,
                           const struct nodeset_scale *scale, struct actions *to)
{
    const struct nodeset_hindrance why = {
        "Deleting",
        "its pods are gone; the records of its nodes are deleted when slurmctld answers "
        "(or annotate the NodeSet with " FORCE_DELETE "=true)"};

    actions_step(to, "Status");
    nodeset_status_plan(end, in->ns->status.hash, NULL, scale, &why, to);
}

/* What holds up one whose pods are gone: records that cannot be deleted yet. */
static bool waits_for_records(const struct plan_nodeset *in, const struct plan_nodeset *end,
                              const struct nodeset_scale *scale, struct actions *to)
{
    const char *node = awaited_node(to->arena, in);

    if (leaves_records(in))
        wait_for_slurm(in, end, scale, to);
    else if (node)
        wait_for_node(in, end, scale, node, to);
    else
        return false;
    return true;
}

void nodeset_end_plan(const struct plan_nodeset *in, struct actions *to)
{
    struct nodeset none = *in->ns;
    struct plan_nodeset end = *in;
    struct nodeset_hindrance why;
    struct nodeset_scale scale;
    bool forced = finalizer_is_forced(&in->ns->meta);

    if (!finalizer_has(&in->ns->meta, FINALIZER_NODESET))
        return;
    actions_step(to, "Finalizer");
    note_cascade(in, to);
    none.spec.replicas = 0;
    end.ns = &none;
    scale = nodeset_scale_of(to->arena, &end, NULL);
    if (forced)
        force(in, &scale);
    if (!keeps_pods(&in->ns->meta) && in->n_pods > 0) {
        nodeset_pods_plan(&end, &scale, to);
        why = explain(to->arena, in, &scale);
        actions_step(to, "Status");
        nodeset_status_plan(&end, in->ns->status.hash, NULL, &scale, &why, to);
        if (!forced)
            return;
    }
    /* The records of its nodes go first; what is not known to be there holds nothing up. */
    if (!forced && !keeps_pods(&in->ns->meta) && nodeset_retire_plan(&end, &scale, to) > 0)
        return;
    if (!forced && !keeps_pods(&in->ns->meta) && waits_for_records(in, &end, &scale, to))
        return;
    actions_step(to, "Release");
    finalizer_drop(to, "NodeSet", &in->ns->meta, FINALIZER_NODESET);
}
