/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm nodes whose pods are gone for good.
 *
 * A pod's node is a record in slurmctld that outlives the pod: `sinfo` would show it as down for
 * ever after the NodeSet was made smaller, or deleted.  It is deleted once there is no pod of that
 * name and none will be made; a pod that is only made again finds its record again.
 *
 * Only what is ours goes: a dynamic node with the name of one of the NodeSet's pods, as they are
 * called now or were called before (another hostname, another ordinalPadding; with hostNetwork the
 * names are those of machines), whose reason we have written when the pod was about to go.  A pod
 * that could not reach slurmctld when it ended has written none: its node goes when slurmctld finds
 * that it does not answer, if it has the NodeSet's feature.  One that somebody else has drained or
 * set down keeps its record, and with it the drain.  Never one that may have a job, or stands in a
 * reservation (slurmctld would refuse).
 */
#include "src/build/nodeset_pod.h"
#include "src/plan/nodeset_private.h"

/* How hosts of the NodeSet are called, or were by one of its revisions. */
struct form {
    const char *stem;    /* what stands before the number */
    const char *feature; /* its name in Slurm, which its nodes have as a feature */
    bool any;            /* its hosts have the names of machines (hostNetwork) */
};

static struct form form_of(struct arena *a, const struct nodeset *like, const struct jsn *pod_spec)
{
    struct nodeset ns = *like;
    const char *prefix;

    ns.spec.template.spec = pod_spec;
    prefix = api_template_hostname(&ns.spec.template);
    return (struct form){.stem = prefix ? prefix : arena_printf(a, "%s-", ns.meta.name),
                         .feature = nodeset_slurm_name(a, &ns),
                         .any = jsn_get_bool(pod_spec, "hostNetwork", false)};
}

static bool has_feature(const struct slurm_node *n, const char *feature)
{
    struct str rest = str_of(n->params && n->params->features ? n->params->features : "");
    struct str word;

    while (str_split(&rest, ',', &word))
        if (str_eqz(str_trim(word), feature))
            return true;
    return false;
}

static bool is_stem_and_number(const char *node, const char *stem)
{
    const char *digits = starts_with(node, stem) ? node + strlen(stem) : "";

    return digits[0] && strspn(digits, "0123456789") == strlen(digits);
}

static bool has_form(const struct slurm_node *n, const struct form *f)
{
    return is_stem_and_number(n->name, f->stem) || (f->any && has_feature(n, f->feature));
}

/* By what the NodeSet says now, or said when a pod was made of which a record may be left. */
static bool find_form(struct arena *a, const struct plan_nodeset *in, const struct slurm_node *n,
                      struct form *ret)
{
    *ret = form_of(a, in->ns, in->ns->spec.template.spec);
    if (has_form(n, ret))
        return true;
    for (size_t i = 0; i < in->n_revisions; i++) {
        const struct jsn *data = jsn_key(in->revisions[i], "data");

        *ret = form_of(a, in->ns, jsn_get(data, "spec.template.spec"));
        if (has_form(n, ret))
            return true;
    }
    return false;
}

static bool has_pod(const struct plan_nodeset *in, const char *node)
{
    for (size_t i = 0; i < in->n_pods; i++)
        if (streq(in->pods[i]->slurm_name, node))
            return true;
    return false;
}

static bool is_to_be_made(struct arena *a, const struct plan_nodeset *in,
                          const struct nodeset_scale *s, const char *node)
{
    const struct {
        const uint32_t *ordinals;
        size_t n;
    } lists[] = {{s->forget, s->n_forget}, {s->create, s->n_create}};

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (size_t k = 0; k < lists[i].n; k++) {
            struct build_worker w = {.ordinal = (int32_t)lists[i].ordinals[k]};

            if (streq(worker_hostname(a, in->ns, &w), node))
                return true;
        }
    return s->n_postponed > 0;
}

static bool may_go(const struct plan_nodeset *in, const struct slurm_node *n, const struct form *f)
{
    if (!nodeset_record_may_go(n))
        return false;
    if (nodeset_reason_is_ours(n->reason))
        return nodestate_base(n->state) == NODE_BASE_DOWN ||
               slurm_state_is_free(in->slurm, n->name);
    return (n->state & NODE_FLAG_NO_RESPOND) && has_feature(n, f->feature);
}

const char *nodeset_retire_later(struct arena *a, const struct plan_nodeset *in)
{
    for (size_t i = 0; in->slurm && !in->slurm->down && i < in->slurm->n; i++) {
        const struct slurm_node *n = &in->slurm->nodes[i];
        struct form form;

        if (nodeset_record_is_ours(n) && !has_pod(in, n->name) && find_form(a, in, n, &form) &&
            has_feature(n, form.feature))
            return n->name;
    }
    return NULL;
}

bool nodeset_form_is_in_use(struct arena *a, const struct plan_nodeset *in,
                            const struct jsn *revision)
{
    struct form now = form_of(a, in->ns, in->ns->spec.template.spec);
    struct form then = form_of(a, in->ns, jsn_get(revision, "data.spec.template.spec"));

    for (size_t i = 0; in->slurm && !in->slurm->down && i < in->slurm->n; i++) {
        const struct slurm_node *n = &in->slurm->nodes[i];

        if ((n->state & NODE_FLAG_DYNAMIC) && has_form(n, &then) && !has_form(n, &now) &&
            !has_pod(in, n->name))
            return true;
    }
    return false;
}

size_t nodeset_retire_plan(const struct plan_nodeset *in, const struct nodeset_scale *scale,
                           struct actions *to)
{
    size_t count = 0;

    actions_step(to, "Retire");
    for (size_t i = 0; in->slurm && !in->slurm->down && i < in->slurm->n; i++) {
        const struct slurm_node *n = &in->slurm->nodes[i];
        struct form form;

        if (!(n->state & NODE_FLAG_DYNAMIC) || has_pod(in, n->name) ||
            !find_form(to->arena, in, n, &form) || !may_go(in, n, &form) ||
            is_to_be_made(to->arena, in, scale, n->name))
            continue;
        count++;
        if (!slurm_state_was_asked(in->slurm, n->name, "delete"))
            actions_node(to, api_namespace(&in->ns->meta), in->ns->spec.controller_ref.name,
                         n->name, "delete", NULL, NULL);
    }
    return count;
}
