/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The claims of a NodeSet's pods.
 *
 * A claim is made before its pod and outlives it, so that the next pod of that number has the data
 * again.  Where persistentVolumeClaimRetentionPolicy says so, claims of pods that were scaled away
 * are deleted, and the others belong to the NodeSet and go with it.  A pod that is only made again
 * (an update, a cordoned node) was not scaled away: as long as one is missing, no claim goes.
 */
#include "src/build/labels.h"
#include "src/build/nodeset_pod.h"
#include "src/plan/nodeset_private.h"
#include "src/plan/sync.h"

struct claims {
    const struct plan_nodeset *in;
    struct actions *to;
    bool complete; /* all pods are there that should be */
};

/* The number of the pod that a claim is for, or -1: it is none of this NodeSet. */
static int64_t ordinal_of(const struct claims *c, const char *name)
{
    const struct nodeset *ns = c->in->ns;
    const char *digits = strrchr(name, '-');
    uint32_t v;

    if (!digits || str_to_u32(str_of(digits + 1), &v) < 0 || v > INT32_MAX)
        return -1;
    for (size_t i = 0; i < ns->spec.claim_templates.n; i++) {
        const char *of = jsn_get_str(ns->spec.claim_templates.items[i].metadata, "name");
        struct build_worker w = {.ordinal = (int32_t)v};

        if (streq(worker_claim_name(c->to->arena, ns, &w, of), name))
            return v;
    }
    return -1;
}

static bool has_pod(const struct plan_nodeset *in, int64_t ordinal)
{
    for (size_t i = 0; i < in->n_pods; i++)
        if (plan_pod_ordinal(in->pods[i], in->ns->meta.name) == ordinal)
            return true;
    return false;
}

static bool is_labelled(const struct jsn *claim, const struct nodeset *ns)
{
    const struct jsn *labels = jsn_get(claim, "metadata.labels");

    return streq(jsn_text(jsn_member(labels, STR(LABEL_NAME))), "slurmd") &&
           streq(jsn_text(jsn_member(labels, STR(LABEL_INSTANCE))), ns->meta.name);
}

static bool is_owned(const struct jsn *claim, const struct nodeset *ns)
{
    JSN_FOR_ITEMS (owner, jsn_get(claim, "metadata.ownerReferences"))
        if (streq(jsn_get_str(owner, "uid"), ns->meta.uid))
            return true;
    return false;
}

/* The list with the NodeSet, or without it; what others have put there stays. */
static void settle_owner(const struct claims *c, const struct jsn *claim)
{
    const struct nodeset *ns = c->in->ns;
    bool want = ns->spec.claim_policy.when_deleted == NODESET_DELETE;
    struct jsn *owner = labels_owner(c->to->arena, "NodeSet", &ns->meta, false);
    struct jsn *owners = jsn_array(c->to->arena);
    struct jsn *patch = jsn_object(c->to->arena);

    if (!owner || is_owned(claim, ns) == want)
        return;
    JSN_FOR_ITEMS (other, jsn_get(claim, "metadata.ownerReferences"))
        if (!streq(jsn_get_str(other, "uid"), ns->meta.uid))
            jsn_append(c->to->arena, owners, other);
    if (want)
        jsn_append(c->to->arena, owners, owner);
    jsn_set_path(c->to->arena, patch, "metadata.ownerReferences", owners);
    sync_patch(c->to, plan_kind_find("PersistentVolumeClaim"), claim, patch);
}

static bool visit(void *arg, const struct jsn *claim)
{
    const struct claims *c = arg;
    const char *name = jsn_get_str(claim, "metadata.name");
    int64_t ordinal;

    if (!name || !is_labelled(claim, c->in->ns) || jsn_get_str(claim, "metadata.deletionTimestamp"))
        return true;
    ordinal = ordinal_of(c, name);
    if (ordinal < 0)
        return true;
    if (c->in->ns->spec.claim_policy.when_scaled == NODESET_DELETE && c->complete &&
        !has_pod(c->in, ordinal))
        actions_delete(c->to, "PersistentVolumeClaim", jsn_get_str(claim, "metadata.namespace"),
                       name, jsn_get_str(claim, "metadata.uid"), "SuccessfulDelete",
                       "Deleted claim %s of a pod that was scaled away", name);
    else
        settle_owner(c, claim);
    return true;
}

void nodeset_claims_plan(const struct plan_nodeset *in, const struct nodeset_scale *scale,
                         struct actions *to)
{
    struct claims c = {in, to, in->n_pods >= (size_t)MAX(in->ns->spec.replicas, 0)};

    actions_step(to, "Claims");
    if (in->ns->spec.claim_templates.n == 0)
        return;
    for (size_t i = 0; i < scale->n_create; i++) {
        struct build_worker w = {.ordinal = (int32_t)scale->create[i]};

        JSN_FOR_ITEMS (claim, build_worker_claims(to->arena, in->cluster, in->ns, &w))
            (void)sync_built(to, in->cluster->lookup, claim);
    }
    (void)api_lookup_each(in->cluster->lookup, "PersistentVolumeClaim",
                          api_namespace(&in->ns->meta), visit, &c);
}
