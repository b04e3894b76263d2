/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Another Slurm for a cluster that runs.
 *
 * What is declared is compared with what slurmctld says that it is.  Where they differ, slurmctld
 * goes first: its StatefulSet gets the new template, its pod is replaced, and the jobs run on. When
 * it says that it is the new one, the NodeSets follow (nodeset_upgrade.c), pod by pod, as for any
 * new template: within their budget, and none that may run a job.
 *
 * A step that Slurm does not make changes nothing at all, and the condition SlurmRelease says which
 * way there is.  So does a configuration that the new Slurm would refuse, in whole or in part.
 * Until slurmctld is the new one its configuration is made for the one that runs.
 */
#include "src/build/labels.h"
#include "src/plan/accounting.h"
#include "src/plan/controller_private.h"
#include "src/slurm/upgrade.h"

#define MAX_NODES_SHOWN 8

static uint32_t parse(const char *text)
{
    uint32_t release;

    return text && release_parse(str_of(text), &release, NULL) == 0 ? release : 0;
}

/* By its own word; else by the template that its pods were made from. */
static uint32_t slurmctld_runs(const struct plan_controller *in, struct arena *a)
{
    const struct build_cluster *c = in->cluster;
    const struct api_meta *m = &c->controller->meta;
    const struct jsn *set = NULL;
    const struct jsn *template;
    uint32_t release = in->slurm ? parse(in->slurm->release) : 0;

    if (release)
        return release;
    (void)api_lookup_get(c->lookup, "StatefulSet", api_namespace(m), labels_controller(a, m->name),
                         &set);
    template = jsn_get(set, "spec.template");
    release = parse(jsn_text(
        jsn_member(jsn_get(template, "metadata.annotations"), STR(API_RELEASE_ANNOTATION))));
    if (release || c->env->host_slurm)
        return release;
    JSN_FOR_ITEMS (container, jsn_get(template, "spec.containers"))
        if (streq(jsn_get_str(container, "name"), "slurmctld"))
            release = parse(jsn_get_str(container, "image"));
    return release;
}

/* Is a slurmd there that would have to be served?  A node of ours that has not told its release yet
 * is one. */
static bool counts(const struct slurm_node *n)
{
    return (n->release || (n->state & NODE_FLAG_DYNAMIC)) &&
           nodestate_base(n->state) != NODE_BASE_DOWN;
}

static uint32_t oldest_slurmd(const struct slurm_state *s)
{
    uint32_t oldest = 0;

    for (size_t i = 0; s && !s->down && i < s->n; i++) {
        uint32_t release = counts(&s->nodes[i]) ? parse(s->nodes[i].release) : 0;

        if (release && (!oldest || release < oldest))
            oldest = release;
    }
    return oldest;
}

/* Its own plan makes it the new one; until it serves as that it counts as what slurmctld is. */
static uint32_t slurmdbd_runs(const struct plan_controller *in, struct arena *a,
                              const struct upgrade_verdict *v)
{
    const struct accounting *acct = in->cluster->accounting;
    const struct jsn *set = NULL;

    if (!acct || acct->spec.external)
        return 0;
    (void)api_lookup_get(in->cluster->lookup, "StatefulSet",
                         api_namespace(&in->cluster->controller->meta),
                         labels_accounting(a, acct->meta.name), &set);
    return plan_accounting_runs(set, v->wants, v->runs);
}

/* A declared series is any release of it. */
static bool is_it(uint32_t runs, uint32_t wants)
{
    return upgrade_same_series(runs, wants) && ((wants & 0xff) == 0 || runs == wants);
}

static void hold(struct upgrade_verdict *v, const char *reason, const char *why)
{
    v->held = true;
    v->reason = reason;
    v->why = why;
}

void controller_plan_upgrade(const struct plan_controller *in, struct arena *a,
                             struct upgrade_verdict *v)
{
    struct upgrade_cluster c = {{0}};
    struct err e = {0};
    int r;

    *v = (struct upgrade_verdict){.wants = build_declared_release(in->cluster)};
    if (in->cluster->controller->spec.external || !v->wants)
        return;
    v->runs = slurmctld_runs(in, a);
    if (!v->runs || is_it(v->runs, v->wants))
        return;
    c.runs[UPGRADE_SLURMDBD] = slurmdbd_runs(in, a, v);
    c.runs[UPGRADE_SLURMCTLD] = v->runs;
    c.runs[UPGRADE_SLURMD] = oldest_slurmd(in->slurm);
    r = upgrade_check_part(&c, UPGRADE_SLURMCTLD, v->wants, &e);
    if (r < 0)
        hold(v, r == -EAGAIN ? "Waiting" : "StepNotAllowed", arena_strdup(a, e.text));
}

bool controller_upgrade_is_on(const struct upgrade_verdict *v)
{
    return v->wants && v->runs && !upgrade_same_series(v->runs, v->wants);
}

static const char *print(struct arena *a, const struct api_problem *p)
{
    AUTO(buf_done) struct buf b = {0};

    api_problem_print(p, &b);
    return arena_strdup(a, buf_str(&b));
}

static bool has_problem(struct arena *a, const struct api_problems *list, const char *text)
{
    for (size_t i = 0; i < list->n; i++)
        if (streq(print(a, &list->items[i]), text))
            return true;
    return false;
}

void controller_upgrade_check_config(const struct plan_controller *in, struct arena *a,
                                     const struct api_problems *now, struct upgrade_verdict *v)
{
    struct api_problems then = {.arena = a};
    struct build_config config;
    char release[RELEASE_TEXT_LEN];

    if (!controller_upgrade_is_on(v) || v->held)
        return;
    release_series_text(v->wants, release);
    (void)!build_config(a, in->cluster, &config, &then);
    for (size_t i = 0; i < then.n; i++) {
        const char *text = print(a, &then.items[i]);

        if (then.items[i].reason == API_WARNING || has_problem(a, now, text))
            continue;
        hold(v, "ConfigNotReady",
             arena_printf(a, "Slurm %s would not take the configuration as it is declared: %s",
                          release, text));
        return;
    }
}

/* Nodes whose slurmd is not the new one yet: how many, and some names. */
static size_t count_behind(const struct slurm_state *s, uint32_t wants, size_t *ret_all,
                           size_t *ret_down, struct buf *names)
{
    size_t n = 0;

    *ret_all = *ret_down = 0;
    for (size_t i = 0; s && i < s->n; i++) {
        *ret_down += nodestate_base(s->nodes[i].state) == NODE_BASE_DOWN;
        if (!counts(&s->nodes[i]))
            continue;
        ++*ret_all;
        if (is_it(parse(s->nodes[i].release), wants))
            continue;
        if (n++ < MAX_NODES_SHOWN)
            buf_printf(names, "%s%s", n > 1 ? ", " : "", s->nodes[i].name);
    }
    if (n > MAX_NODES_SHOWN)
        buf_printf(names, " and %zu more", n - MAX_NODES_SHOWN);
    return n;
}

/* A node that is gone, or down, tells no release. */
static void look_again(struct status_scribe *s)
{
    const struct api_condition *c = api_condition_find(s->conditions, "SlurmRelease");

    if (c && !streq(c->status, "True"))
        status_look_again(s, "SlurmRelease");
}

void controller_judge_upgrade(const struct plan_controller *in, const struct upgrade_verdict *v,
                              struct status_scribe *s)
{
    bool said = api_annotation(&in->cluster->controller->meta, API_RELEASE_ANNOTATION) != NULL;
    AUTO(buf_done) struct buf names = {0};
    char wants[RELEASE_TEXT_LEN];
    char runs[RELEASE_TEXT_LEN];
    size_t all;
    size_t down;
    size_t behind;

    if (!v->wants)
        (void)api_condition_drop(s->conditions, "SlurmRelease");
    if (!v->wants || !v->runs)
        return;
    release_text(v->wants, wants);
    if ((v->wants & 0xff) == 0)
        release_series_text(v->wants, wants);
    release_text(v->runs, runs);
    behind = count_behind(in->slurm, v->wants, &all, &down, &names);
    if (v->held)
        status_set(s, "SlurmRelease", STATUS_FALSE, true, v->reason,
                   "slurmctld goes on as Slurm %s, and %s that is declared changes nothing: %s",
                   runs, wants, v->why);
    else if (!is_it(v->runs, v->wants))
        status_set(s, "SlurmRelease", STATUS_FALSE, false, "UpgradingSlurmctld",
                   "slurmctld runs Slurm %s and is started again as %s; jobs run on, nodes follow "
                   "after it",
                   runs, wants);
    else if (!in->slurm || in->slurm->down) {
        if (said)
            status_set(s, "SlurmRelease", STATUS_UNKNOWN, false, "SlurmctldDown",
                       "slurmctld does not answer; it is to run Slurm %s", wants);
    } else if (behind && (said || api_condition_find(s->conditions, "SlurmRelease")))
        status_set(s, "SlurmRelease", STATUS_FALSE, false, "UpgradingNodes",
                   "slurmctld runs Slurm %s, and %zu of %zu nodes do; the others follow within the "
                   "bounds of their NodeSets, as no job can run on them: %s",
                   wants, all - behind, all, buf_str(&names));
    else if (said || api_condition_find(s->conditions, "SlurmRelease"))
        status_set(s, "SlurmRelease", STATUS_TRUE, false, "Current",
                   "slurmctld and %s%s run Slurm %s",
                   all == 1 ? "its node" : arena_printf(s->to->arena, "all %zu nodes", all),
                   down ? " that are up" : "", wants);
    if (controller_upgrade_is_on(v) || behind)
        look_again(s);
}
