/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Admission of our kinds.
 *
 * The same function serves the embedded API server and, on Kubernetes, the webhook.  The schema has
 * been checked before; here are the rules that it cannot express: between fields, against the old
 * object, against other objects, and in Slurm's own language.
 */
#include "src/api/admit.h"

#include "src/api/controller.h"
#include "src/api/nodeset.h"
#include "src/api/partition.h"
#include "src/api/restart.h"
#include "src/slurm/profile.h"

static void add_error(struct api_problems *p, const struct err *e)
{
    struct str text = str_of(e->text);
    size_t colon = str_find(text, ':');

    if (str_starts(text, "spec.") && colon + 2 < text.n)
        api_problem_add(p, API_INVALID,
                        api_problem_path(p, STR_FMT, STR_ARG(((struct str){text.p, colon}))), "%s",
                        e->text + colon + 2);
    else
        api_problem_add(p, API_INVALID, "", "%s", e->text);
}

static void admit_controller(const struct api_admission *in, struct api_problems *p)
{
    struct controller c;
    struct controller old;
    struct err e = {0};
    uint32_t release;

    if (controller_decode(p->arena, in->object, &c, &e) < 0) {
        add_error(p, &e);
        return;
    }
    release = controller_release(&c) ? controller_release(&c) : in->release;
    controller_check(&c, p);
    controller_check_conf(&c, release, p);
    controller_check_refs(&c, in->lookup, p);
    if (!in->old || controller_decode(p->arena, in->old, &old, NULL) < 0)
        return;
    controller_check_update(&c, &old, p);
    if (!c.spec.external)
        restart_warn(p, "spec.extraConf", old.spec.extra_conf, c.spec.extra_conf, release);
}

/* The release of a cluster that an object belongs to; 0: not known. */
static uint32_t cluster_release(const struct api_admission *in, const struct api_meta *meta,
                                const char *controller, struct arena *a)
{
    const struct jsn *found = NULL;
    struct controller c;
    uint32_t release = 0;

    if (api_lookup_get(in->lookup, "Controller", api_namespace(meta), controller, &found) ==
            API_PRESENT &&
        controller_decode(a, found, &c, NULL) == 0)
        release = controller_release(&c);
    return release ? release : in->release;
}

/* The release that a NodeSet's words will be read by. */
static uint32_t release_for(const struct api_admission *in, const struct nodeset *ns,
                            struct arena *a)
{
    const char *image = jsn_get_str(ns->spec.slurmd, "image");
    uint32_t release = cluster_release(in, &ns->meta, ns->spec.controller_ref.name, a);

    if (!release && image && release_parse(str_of(image), &release, NULL) < 0)
        release = 0;
    return release;
}

/* The line of a NodeSet's own partition; NULL: it has none. */
static const char *partition_line(struct arena *a, const struct nodeset *ns)
{
    const char *name = nodeset_slurm_name(a, ns);

    return nodeset_has_partition(ns) ? arena_printf(a, "PartitionName=%s Nodes=%s %s", name, name,
                                                    nodeset_partition_config(ns))
                                     : NULL;
}

static void admit_nodeset(const struct api_admission *in, struct api_problems *p)
{
    struct nodeset ns;
    struct nodeset old;
    bool had = in->old && nodeset_decode(p->arena, in->old, &old, NULL) == 0;
    struct err e = {0};
    uint32_t release;

    if (nodeset_decode(p->arena, in->object, &ns, &e) < 0) {
        add_error(p, &e);
        return;
    }
    release = release_for(in, &ns, p->arena);
    nodeset_check(&ns, release, p);
    nodeset_check_refs(&ns, in->lookup, p);
    if (had)
        nodeset_check_update(&ns, &old, p);
    restart_warn(p, "spec.partition.config", had ? partition_line(p->arena, &old) : NULL,
                 partition_line(p->arena, &ns), release);
}

static void admit_partition(const struct api_admission *in, struct api_problems *p)
{
    struct api_partition part;
    struct api_partition old;
    bool had = in->old && api_partition_decode(p->arena, in->old, &old, NULL) == 0;
    struct err e = {0};
    uint32_t release;

    if (api_partition_decode(p->arena, in->object, &part, &e) < 0) {
        add_error(p, &e);
        return;
    }
    release = cluster_release(in, &part.meta, part.spec.controller_ref.name, p->arena);
    api_partition_check(&part, release, p);
    api_partition_check_refs(&part, had ? &old : NULL, in->lookup, p);
    if (had)
        api_partition_check_update(&part, &old, p);
    restart_warn(p, "spec", had ? api_partition_line(p->arena, &old, "x", true) : NULL,
                 api_partition_line(p->arena, &part, "x", true), release);
}

/* Of an object whose spec is as it was. */
static void admit_metadata(const struct api_admission *in, const struct api_kind *kind,
                           struct api_problems *p)
{
    struct controller c;

    if (kind->fields == controller_fields && controller_decode(p->arena, in->object, &c, NULL) == 0)
        controller_check_annotations(&c, p);
}

void api_admit(const struct api_admission *in, struct api_problems *p)
{
    const struct api_kind *kind = api_kind_of(in->object);

    if (!kind || jsn_get_str(in->object, "metadata.deletionTimestamp"))
        return;
    if (!jsn_get_str(in->object, "metadata.name")) {
        api_problem_add(p, API_REQUIRED, "metadata.name", "name or generateName is required");
        return;
    }
    if (in->old && jsn_equal(jsn_key(in->object, "spec"), jsn_key(in->old, "spec")))
        admit_metadata(in, kind, p);
    else if (kind->fields == controller_fields)
        admit_controller(in, p);
    else if (kind->fields == nodeset_fields)
        admit_nodeset(in, p);
    else if (kind->fields == api_partition_fields)
        admit_partition(in, p);
}
