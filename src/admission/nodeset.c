/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Admission of NodeSets: the object, in the language of the release that its pods or its cluster
 * run, what it refers to, what may not change.
 */
#include "src/api/nodeset.h"

#include "src/admission/kinds.h"
#include "src/admission/pods.h"
#include "src/admission/restart.h"
#include "src/api/node_count.h"
#include "src/api/node_features.h"
#include "src/api/node_gres.h"
#include "src/slurm/profile.h"

/* The release that a NodeSet's words will be read by. */
static uint32_t release_for(const struct admission_request *in, const struct nodeset *ns,
                            struct api_problems *p)
{
    const char *image = jsn_get_str(ns->spec.slurmd, "image");
    uint32_t release = admission_release(in, &ns->meta, ns->spec.controller_ref.name, p->arena);
    uint32_t named = 0;

    if (image && release_parse(str_of(image), &named, NULL) < 0)
        named = 0;
    if (in->host_slurm)
        return admission_running(in, named, "spec.slurmd.image", p);
    return release ? release : named;
}

/* The line of a NodeSet's own partition; NULL: it has none. */
static const char *partition_line(struct arena *a, const struct nodeset *ns)
{
    const char *name = nodeset_slurm_name(a, ns);

    return nodeset_has_partition(ns) ? arena_printf(a, "PartitionName=%s Nodes=%s %s", name, name,
                                                    nodeset_partition_config(ns))
                                     : NULL;
}

static void check(const struct admission_request *in, struct api_problems *p)
{
    struct nodeset ns;
    struct nodeset old;
    bool had = in->old && nodeset_decode(p->arena, in->old, &old, NULL) == 0;
    struct err e = {0};
    uint32_t release;

    if (nodeset_decode(p->arena, in->object, &ns, &e) < 0) {
        admission_add_error(p, &e);
        return;
    }
    release = release_for(in, &ns, p);
    nodeset_check(&ns, release, p);
    nodeset_check_refs(&ns, in->lookup, p);
    nodeset_check_gres(&ns, in->lookup, p);
    nodeset_check_feature_names(&ns, had ? &old : NULL, in->lookup, p);
    nodeset_check_count(&ns, had ? &old : NULL, in->lookup, p);
    pods_check_nodeset(in, &ns, release, p);
    if (had)
        nodeset_check_update(&ns, &old, p);
    restart_warn(p, "spec.partition.config", had ? partition_line(p->arena, &old) : NULL,
                 partition_line(p->arena, &ns), release);
}

const struct admission_kind admit_nodeset = {check, admission_any_metadata};
