/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which Slurm the pods of a NodeSet are to run.
 *
 * The one that is declared (by the Controller's annotation, or by images), as soon as slurmctld
 * serves it: slurmctld goes first.  Until then pods stay as they are.  Where the annotation
 * decides, pods that have to be made meanwhile are made as the last ones were; where their image
 * does, none is made, since its slurmd could not register.
 */
#include "src/build/labels.h"
#include "src/plan/nodeset_private.h"
#include "src/slurm/upgrade.h"

/* What pods were to run before, by the revision that the status names; false: there was none. */
static bool last_release(const struct plan_nodeset *in, const char **ret)
{
    for (size_t i = 0; in->ns->status.hash && i < in->n_revisions; i++) {
        const struct jsn *labels = jsn_get(in->revisions[i], "metadata.labels");

        if (!streq(jsn_text(jsn_member(labels, STR(LABEL_HASH))), in->ns->status.hash))
            continue;
        *ret = jsn_get_str(jsn_key(in->revisions[i], "data"), "slurmRelease");
        return true;
    }
    return false;
}

/* The release that slurmctld runs, as far as it tells; 0: not known. */
static uint32_t served_by(const struct plan_nodeset *in)
{
    uint32_t release;

    return in->slurm && !in->slurm->down && in->slurm->release &&
                   release_parse(str_of(in->slurm->release), &release, NULL) == 0
               ? release
               : 0;
}

void nodeset_release_of(struct arena *a, const struct plan_nodeset *in, struct nodeset_release *ret)
{
    uint32_t wants = build_worker_release(in->cluster, in->ns);
    struct upgrade_cluster c = {.runs = {[UPGRADE_SLURMCTLD] = served_by(in)}};
    const char *last = NULL;
    bool by_image;
    struct err e = {0};
    uint32_t said;

    *ret =
        (struct nodeset_release){.text = controller_release_said(in->cluster->controller, &said)};
    by_image = wants && !(ret->text && said == wants);
    if (!wants ||
        (c.runs[UPGRADE_SLURMCTLD] && upgrade_check_part(&c, UPGRADE_SLURMD, wants, &e) == 0))
        return;
    if (by_image) {
        ret->held = c.runs[UPGRADE_SLURMCTLD] ? arena_strdup(a, e.text) : NULL;
        ret->makes_none = ret->held != NULL;
        return;
    }
    if (!last_release(in, &last) || streq(last, ret->text))
        return; /* the first ones, or as before */
    ret->text = last;
    ret->held = c.runs[UPGRADE_SLURMCTLD]
                    ? arena_strdup(a, e.text)
                    : arena_printf(a,
                                   "another Slurm (%s) is declared, and what slurmctld runs is "
                                   "not known",
                                   controller_release_said(in->cluster->controller, &said));
}
