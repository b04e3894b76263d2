/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of a NodeSet's nodes: what slurmctld has of each is what was declared.
 *
 * slurmctld makes a dynamic node's record when its slurmd registers for the first time, and goes on
 * with it when another slurmd of that name comes.  So a changed declaration reaches it in one of
 * two ways:
 *
 *   - features, weight and, where Slurm can, the topology are given to the record at once, and the
 *     pod stays.  Its revision is put right when slurmctld shows them: until then what differs is a
 *     declaration on its way, afterwards somebody has changed it (drift);
 *
 *   - all else (Gres, CPUs, memory, limits of the pod) needs a new record.  The pod is replaced as
 *     any outdated one, by nodeset_scale.c: drained first, never while a job may run.  When it is
 *     gone its record is deleted, and only then is the next pod made, whose slurmd registers again.
 *
 * A pod that was made when slurmctld had no record of it, or a fitting one, is marked so.  If its
 * node differs all the same (slurmd finds less than was declared), it is not replaced for that,
 * since the next one would fare no better: the condition NodesApplied says what differs.  A pod
 * without the mark is replaced once.
 *
 * Where slurmctld does not know the kind of a Gres, no record can have it: such pods are not marked
 * and not replaced either, before GresTypes names it.
 *
 * A record that somebody else holds, by a reason of theirs or a reservation, is never deleted.
 */
#include "src/build/controller_config.h"
#include "src/build/nodeset_pod.h"
#include "src/build/nodeset_revision.h"
#include "src/plan/nodeset_private.h"
#include "src/slurm/node_reason.h"

static const struct slurm_node *node_of(const struct plan_nodeset *in, const char *name)
{
    const struct slurm_node *n =
        in->slurm && !in->slurm->down ? slurm_state_node(in->slurm, name) : NULL;

    return n && (n->state & NODE_FLAG_DYNAMIC) ? n : NULL;
}

bool nodeset_record_is_ours(const struct slurm_node *n)
{
    if (!(n->state & NODE_FLAG_DYNAMIC) || (n->state & NODE_FLAG_RESERVED))
        return false;
    return !n->reason || nodeset_reason_is_ours(n->reason) ||
           node_reason_is_registration(n->reason, n->reason_user) ||
           node_reason_is_absence(n->reason, n->reason_user);
}

bool nodeset_record_may_go(const struct slurm_node *n)
{
    unsigned base = nodestate_base(n->state);

    return nodeset_record_is_ours(n) && n->jobs_known && n->jobs == 0 &&
           !(n->state & NODE_FLAG_COMPLETING) && (base == NODE_BASE_IDLE || base == NODE_BASE_DOWN);
}

/* Is the NodeSet's name among the node's features?  A node of somebody else may be called alike. */
static bool nodeset_record_is_member(struct arena *a, const struct nodeset *ns,
                                     const struct slurm_node *n)
{
    struct str rest = str_of(n->params && n->params->features ? n->params->features : "");
    const char *own = nodeset_slurm_name(a, ns);
    struct str feature;

    while (str_split(&rest, ',', &feature))
        if (own && str_eqz(str_trim(feature), own))
            return true;
    return false;
}

static const struct jsn *revision_of(const struct plan_nodeset *in, const char *hash)
{
    for (size_t i = 0; i < in->n_revisions; i++)
        if (streq(jsn_text(jsn_member(jsn_get(in->revisions[i], "metadata.labels"),
                                      STR(POD_HASH_LABEL))),
                  hash))
            return jsn_key(in->revisions[i], "data");
    return NULL;
}

/* Does its node need another record, and may have one? */
static bool needs_record(struct arena *a, const struct plan_nodeset *in,
                         const struct nodeset_view *view, const struct plan_pod *p)
{
    const struct slurm_node *n = node_of(in, p->slurm_name);
    struct node_differences d;

    if (!n || p->record_checked || view->gres_unknown || !nodeset_record_is_ours(n))
        return false;
    node_compare(a, &view->node, n, &d);
    return d.n_lasting > 0;
}

enum nodeset_fit nodeset_fit_of(struct arena *a, const struct plan_nodeset *in,
                                const struct nodeset_view *view, const struct plan_pod *p)
{
    bool same = streq(p->hash, view->hash);
    const struct jsn *data = same ? NULL : revision_of(in, p->hash);

    if (!same &&
        (plan_pod_is_empty(p) || !data || !revision_same_pods(a, data, view->data, view->topology)))
        return NODESET_OUTDATED;
    if (needs_record(a, in, view, p))
        return NODESET_OUTDATED;
    return same ? NODESET_FITS : NODESET_ALIKE;
}

/* Were its nodes, in the past that is remembered, registered with something else? */
static bool registered_otherwise(struct arena *a, const struct plan_nodeset *in,
                                 const struct nodeset_view *view)
{
    const char *now = revision_registration(a, view->data, view->topology);

    for (size_t i = 0; i < in->n_revisions; i++)
        if (!streq(revision_registration(a, jsn_key(in->revisions[i], "data"), view->topology),
                   now))
            return true;
    return false;
}

bool nodeset_record_is_stale(struct arena *a, const struct plan_nodeset *in,
                             const struct nodeset_view *view, const char *node)
{
    const struct slurm_node *n = node_of(in, node);
    struct node_differences d;

    if (!n || !n->params ||
        !(nodeset_reason_is_ours(n->reason) || nodeset_record_is_member(a, in->ns, n)))
        return false;
    node_compare(a, &view->node, n, &d);
    return d.n_lasting > 0 || registered_otherwise(a, in, view);
}

/* Has somebody changed the node past its declaration?  What is on its way has another hash, or
 * belongs to a slurmd that has registered again with the arguments of an older revision. */
static bool is_drift(const struct nodeset_view *view, const struct plan_pod *p,
                     const struct slurm_node *n)
{
    return streq(p->hash, view->hash) && !(p->registered_us && p->registered_us != n->started_us);
}

/* Gres of a record that fitted: scontrol changes that, and nothing else of what lasts. */
static bool is_changed_gres(const struct node_difference *x, const struct plan_pod *p)
{
    return streq(x->key, "Gres") && p->record_checked;
}

/* What the record is to be given; NULL: nothing. */
static struct jsn *update_body(struct arena *a, const struct node_differences *d,
                               const struct plan_pod *p, bool gres)
{
    struct jsn *body = jsn_object(a);

    for (size_t i = 0; i < d->n; i++) {
        const struct node_difference *x = &d->items[i];
        int64_t weight;

        if (streq(x->key, "Features")) {
            jsn_set_str(a, body, "features", x->declared);
            /* slurmctld refuses features without those that are active. */
            jsn_set_str(a, body, "activeFeatures", x->declared);
        } else if (streq(x->key, "Topology")) {
            jsn_set_str(a, body, "topology", x->declared);
        } else if (streq(x->key, "Weight") && str_to_i64(str_of(x->declared), &weight) == 0) {
            jsn_set_int(a, body, "weight", weight);
        } else if (gres && is_changed_gres(x, p)) {
            jsn_set_str(a, body, "gres", x->declared);
        }
    }
    return jsn_len(body) ? body : NULL;
}

/* The pod is as one of the present revision would be. */
static void adopt(const struct plan_nodeset *in, const struct nodeset_view *view,
                  const struct plan_pod *p, const struct slurm_node *n, struct actions *to)
{
    struct jsn *patch = jsn_object(to->arena);
    struct jsn *meta = jsn_ensure_object(to->arena, patch, "metadata");
    bool other = !streq(p->hash, view->hash);
    struct action *a;

    (void)in;
    if (!other && (!p->registered_us || p->registered_us == n->started_us))
        return;
    jsn_set_str(to->arena, jsn_ensure_object(to->arena, meta, "labels"), POD_HASH_LABEL,
                view->hash);
    jsn_set(to->arena, jsn_ensure_object(to->arena, meta, "annotations"), POD_REGISTERED,
            jsn_stringf(to->arena, "%lld", (long long)n->started_us));
    a = actions_add(to, ACTION_PATCH);
    a->kind = plan_kind_find("Pod");
    a->namespace = p->namespace;
    a->name = p->name;
    a->body = patch;
}

/* The same update was asked for, and does not show yet. */
static bool was_asked(const struct plan_nodeset *in, const struct action *update)
{
    AUTO(buf_done) struct buf text = {0};

    jsn_print(&text, update->body);
    return slurm_state_was_asked(in->slurm, update->node, buf_str(&text));
}

static void keep_node(const struct plan_nodeset *in, const struct nodeset_view *view,
                      const struct plan_pod *p, struct actions *to)
{
    const struct slurm_node *n = node_of(in, p->slurm_name);
    struct node_differences d;
    bool drift;
    bool reverts;
    struct jsn *body;

    if (!n || !n->params || p->deleting || plan_pod_is_empty(p) ||
        nodeset_fit_of(to->arena, in, view, p) == NODESET_OUTDATED)
        return;
    node_compare(to->arena, &view->node, n, &d);
    drift = is_drift(view, p, n);
    reverts = build_reverts_drift(in->cluster);
    body = update_body(to->arena, &d, p, drift && reverts && !view->gres_unknown);
    if (d.n == d.n_lasting)
        adopt(in, view, p, n, to);
    if (!body || (drift && !reverts))
        return;
    actions_node_update(to, api_namespace(&in->ns->meta), in->ns->spec.controller_ref.name, n->name,
                        body);
    if (was_asked(in, &to->items[to->n - 1]))
        to->n--;
}

static void forget(const struct plan_nodeset *in, uint32_t ordinal, struct actions *to)
{
    struct build_worker w = {.ordinal = (int32_t)ordinal};
    const char *node = worker_hostname(to->arena, in->ns, &w);

    if (!slurm_state_was_asked(in->slurm, node, "delete"))
        actions_node(to, api_namespace(&in->ns->meta), in->ns->spec.controller_ref.name, node,
                     "delete", NULL, NULL);
}

void nodeset_nodes_plan(const struct plan_nodeset *in, const struct nodeset_view *view,
                        const struct nodeset_scale *scale, struct actions *to)
{
    actions_step(to, "Nodes");
    for (size_t i = 0; i < scale->n_forget; i++)
        forget(in, scale->forget[i], to);
    for (size_t i = 0; i < in->n_pods; i++)
        keep_node(in, view, in->pods[i], to);
}
