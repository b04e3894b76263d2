/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `slurmkeeper plan` says of another Slurm.
 *
 * The Controller's annotation names the release; else the tags of images do, if the tag that is
 * there now is right about what runs.  The order, the length of the step and the way are those of
 * src/slurm/upgrade.h, which the operator goes by, too.  Until slurmctld is the new one its files
 * are made for the one that runs, so the rest of the plan is made for that.
 */
#include "src/api/controller.h"
#include "src/cli/plan.h"
#include "src/slurm/upgrade.h"

static uint32_t parse(const char *text)
{
    uint32_t release;

    return text && release_parse(str_of(text), &release, NULL) == 0 ? release : 0;
}

static const struct render_doc *find(const struct render_doc *list, size_t n,
                                     const struct plan_cluster *c)
{
    for (size_t i = 0; i < n; i++)
        if (streq(jsn_get_str(list[i].object, "kind"), "Controller") &&
            streq(jsn_get_str(list[i].object, "metadata.namespace"), c->ns) &&
            streq(jsn_get_str(list[i].object, "metadata.name"), c->name))
            return &list[i];
    return NULL;
}

static const char *said(const struct jsn *controller)
{
    return jsn_text(
        jsn_member(jsn_get(controller, "metadata.annotations"), STR(API_RELEASE_ANNOTATION)));
}

static uint32_t declared(const struct plan_world *w, const struct plan_cluster *c, uint32_t runs)
{
    const struct render_doc *now = find(w->now, w->n_now, c);
    const struct render_doc *then = find(w->then, w->n_then, c);
    uint32_t release = then ? parse(said(then->object)) : 0;
    uint32_t tag = now ? parse(jsn_get_str(now->object, "spec.slurmctld.image")) : 0;

    if (release || !then || !tag || !upgrade_same_series(tag, runs))
        return release;
    return parse(jsn_get_str(then->object, "spec.slurmctld.image"));
}

static void tell_nodes(const struct plan_world *w, struct plan_cluster *c, const char *release)
{
    for (size_t i = 0; i < w->n_then; i++) {
        const struct jsn *o = w->then[i].object;

        if (!streq(jsn_get_str(o, "kind"), "NodeSet") ||
            !streq(jsn_get_str(o, "metadata.namespace"), c->ns) ||
            !streq(jsn_get_str(o, "spec.controllerRef.name"), c->name))
            continue;
        plan_change_add(w->a, c, CHANGE_RPC,
                        arena_printf(w->a, "NodeSet %s: Slurm %s, when slurmctld is it",
                                     jsn_get_str(o, "metadata.name"), release),
                        "pods are replaced within the bounds of its updateStrategy, each when no "
                        "job can run on it");
    }
}

/* The Controller is drawn up as if what runs was declared. */
static void pretend(struct plan_world *w, const struct plan_cluster *c, uint32_t runs)
{
    struct render_doc *then = (struct render_doc *)(uintptr_t)find(w->then, w->n_then, c);
    struct jsn *copy = jsn_clone(w->a, then->object);
    struct jsn *meta = jsn_ensure_object(w->a, copy, "metadata");
    char text[RELEASE_TEXT_LEN];

    release_text(runs, text);
    jsn_set_member(w->a, jsn_ensure_object(w->a, meta, "annotations"), STR(API_RELEASE_ANNOTATION),
                   jsn_string(w->a, text));
    then->object = copy;
}

void plan_upgrade(struct plan_world *w, struct plan_cluster *c, uint32_t runs)
{
    struct upgrade_cluster parts = {.runs = {[UPGRADE_SLURMCTLD] = runs}};
    uint32_t to = runs ? declared(w, c, runs) : 0;
    char was[RELEASE_TEXT_LEN];
    char is[RELEASE_TEXT_LEN];
    struct err e = {0};

    if (!to || runs == to || (upgrade_same_series(to, runs) && (to & 0xff) == 0))
        return;
    release_text(runs, was);
    if (to & 0xff)
        release_text(to, is);
    else
        release_series_text(to, is);
    if (upgrade_check_part(&parts, UPGRADE_SLURMCTLD, to, &e) < 0) {
        c->refused = arena_strdup(w->a, e.text);
    } else {
        plan_change_add(w->a, c, CHANGE_RESTART,
                        arena_printf(w->a, "slurmctld: Slurm %s -> %s, before its nodes", was, is),
                        "its pod is replaced; jobs run on");
        tell_nodes(w, c, is);
    }
    if (!upgrade_same_series(to, runs))
        pretend(w, c, runs);
}
