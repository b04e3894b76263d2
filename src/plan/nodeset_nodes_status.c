/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a NodeSet's status says about the records of its nodes.
 *
 *   NodesApplied  True: slurmctld has every node as declared.  It exists while slurmctld has a node
 *                 of the NodeSet.  False, with the first of these that holds of any node:
 *
 *                   NotRegistered   slurmctld has no such node (nodeset_lost.c)
 *                   FilesRefused    slurmd does not start with the cluster's files, and goes on with
 *                                   those before; it says so in the node's comment
 *                   Refused         slurmctld refuses what slurmd brings: INVALID_REG
 *                   NotAsDeclared   the node has something else, and making it again would not help
 *                   WaitingForIdle  its pod is replaced when no job can run on it
 *                   ChangedInSlurm  see Drifted
 *                   Applying        it is on its way
 *
 *   Drifted       is the partition's, too: nodeset_partition.c puts both together
 */
#include "src/plan/nodeset_private.h"

#define MAX_NODES_SHOWN 4

/* What may be wrong with a node, the worst first. */
enum trouble {
    NOT_REGISTERED,
    FILES,
    REFUSED,
    NOT_AS_DECLARED,
    WAITING,
    CHANGED,
    APPLYING,
    N_TROUBLES
};

struct survey {
    struct arena *a;
    const struct plan_nodeset *in;
    const struct nodeset_view *view;
    size_t n; /* nodes that slurmctld tells of */
    size_t n_with[N_TROUBLES];
    struct buf texts[N_TROUBLES];
};

static void survey_done(struct survey *s)
{
    for (size_t i = 0; i < N_TROUBLES; i++)
        buf_done(&s->texts[i]);
}
DEFINE_AUTO_DONE(struct survey, survey_done);

static void note(struct survey *s, enum trouble which, const char *node, const char *text)
{
    if (s->n_with[which]++ < MAX_NODES_SHOWN)
        buf_printf(&s->texts[which], "%s%s: %s", s->texts[which].n ? "; " : "", node, text);
}

static const char *difference_text(struct arena *a, const struct node_differences *d, bool in_place)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < d->n; i++)
        if (d->items[i].in_place == in_place)
            buf_printf(&b, "%s%s is %s, declared %s", b.n ? ", " : "", d->items[i].key,
                       d->items[i].live ? d->items[i].live : "not set", d->items[i].declared);
    return arena_strdup(a, buf_str(&b));
}

/* Gres of a record that fitted has been changed by scontrol. */
static bool is_only_gres(const struct node_differences *d, const struct plan_pod *p)
{
    if (d->n_lasting != 1 || !p->record_checked)
        return false;
    for (size_t i = 0; i < d->n; i++)
        if (!d->items[i].in_place)
            return streq(d->items[i].key, "Gres");
    return false;
}

static const char *gres_hint(const struct survey *s)
{
    return s->view->gres_unknown
               ? arena_printf(s->a,
                              " (slurmctld leaves %s out: GresTypes in spec.extraConf of the "
                              "Controller does not name it)",
                              s->view->gres_unknown)
               : "";
}

static bool is_on_its_way(const struct survey *s, const struct plan_pod *p,
                          const struct slurm_node *n)
{
    return !streq(p->hash, s->view->hash) ||
           (p->registered_us && p->registered_us != n->started_us);
}

/* What slurmd's start script has noted (images/entrypoint/lib/files.sh); or NULL. */
static const char *files_refused(struct arena *a, const struct slurm_node *n)
{
    static const char mark[] = "[files refused: ";
    const char *at = n->comment ? strstr(n->comment, mark) : NULL;

    if (!at)
        return NULL;
    at += sizeof(mark) - 1;
    return arena_str(a, (struct str){at, strcspn(at, "]")});
}

static void look(struct survey *s, const struct plan_pod *p)
{
    const struct slurm_node *n = slurm_state_node(s->in->slurm, p->slurm_name);
    struct node_differences d;

    if (nodeset_is_lost(s->in, p)) {
        s->n++;
        note(s, NOT_REGISTERED, p->slurm_name, arena_printf(s->a, "pod %s runs", p->name));
    }
    if (!n || !n->params || p->deleting || !(n->state & NODE_FLAG_DYNAMIC))
        return;
    s->n++;
    if (files_refused(s->a, n))
        note(s, FILES, n->name, files_refused(s->a, n));
    if (n->state & NODE_FLAG_INVALID_REG)
        note(s, REFUSED, n->name, n->reason ? n->reason : "slurmctld gives no reason");
    node_compare(s->a, &s->view->node, n, &d);
    if (nodeset_fit_of(s->a, s->in, s->view, p) == NODESET_OUTDATED)
        note(s, WAITING, n->name,
             d.n ? arena_printf(s->a, "%s%s%s", difference_text(s->a, &d, false),
                                d.n_lasting && d.n > d.n_lasting ? ", " : "",
                                difference_text(s->a, &d, true))
                 : "its pod has an older template");
    else if (d.n_lasting && !p->record_checked && !s->view->gres_unknown &&
             !nodeset_record_is_ours(n))
        note(s, WAITING, n->name,
             arena_printf(s->a, "%s (it is held: %s)", difference_text(s->a, &d, false),
                          n->reason ? n->reason : "it stands in a reservation"));
    else if (d.n_lasting)
        note(s, is_only_gres(&d, p) && !s->view->gres_unknown ? CHANGED : NOT_AS_DECLARED, n->name,
             arena_printf(s->a, "%s%s", difference_text(s->a, &d, false), gres_hint(s)));
    if (nodeset_fit_of(s->a, s->in, s->view, p) != NODESET_OUTDATED && d.n > d.n_lasting)
        note(s, is_on_its_way(s, p, n) ? APPLYING : CHANGED, n->name,
             difference_text(s->a, &d, true));
}

static void survey(struct survey *s)
{
    if (!s->view || !s->in->slurm || s->in->slurm->down)
        return;
    for (size_t i = 0; i < s->in->n_pods; i++)
        look(s, s->in->pods[i]);
}

const char *nodeset_nodes_drift(struct arena *a, const struct plan_nodeset *in,
                                const struct nodeset_view *view)
{
    AUTO(survey_done) struct survey s = {.a = a, .in = in, .view = view};

    survey(&s);
    if (s.n_with[CHANGED] > MAX_NODES_SHOWN)
        buf_printf(&s.texts[CHANGED], "; and %zu more", s.n_with[CHANGED] - MAX_NODES_SHOWN);
    return s.n_with[CHANGED] ? arena_strdup(a, buf_str(&s.texts[CHANGED])) : NULL;
}

void nodeset_nodes_judge(const struct plan_nodeset *in, const struct nodeset_view *view,
                         struct status_scribe *scribe)
{
    static const struct {
        const char *reason;
        const char *intro;
    } words[N_TROUBLES] = {
        [NOT_REGISTERED] = {"NotRegistered",
                            "slurmctld does not have the node, whose slurmd is asked "
                            "to register again"},
        [FILES] = {"FilesRefused", "slurmd does not start with the cluster's files, and runs with "
                                   "those before"},
        [REFUSED] = {"Refused", "slurmctld refuses what slurmd reports"},
        [NOT_AS_DECLARED] = {"NotAsDeclared", "slurmctld has something else from slurmd"},
        [WAITING] = {"WaitingForIdle", "registered again when no job can run there"},
        [CHANGED] = {"ChangedInSlurm", "somebody has changed nodes in slurmctld"},
        [APPLYING] = {"Applying", "on its way to slurmctld"},
    };
    AUTO(survey_done) struct survey s = {.a = scribe->to->arena, .in = in, .view = view};

    if (!in->slurm || in->slurm->down) {
        status_unknown(scribe, "NodesApplied", "nothing is known of slurmctld");
        return;
    }
    if (!view)
        return; /* nothing is known of what they should be */
    survey(&s);
    for (size_t i = 0; i < N_TROUBLES; i++)
        if (s.n_with[i]) {
            status_set(scribe, "NodesApplied", STATUS_FALSE, i <= NOT_AS_DECLARED, words[i].reason,
                       "%s: %s%s", words[i].intro, buf_str(&s.texts[i]),
                       s.n_with[i] > MAX_NODES_SHOWN ? "; and more" : "");
            return;
        }
    if (s.n)
        status_set(scribe, "NodesApplied", STATUS_TRUE, false, "AsDeclared",
                   "slurmctld has every node as declared");
    else
        (void)api_condition_drop(scribe->conditions, "NodesApplied");
}
