/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of a NodeSet against other objects.
 *
 * Two NodeSets of one cluster may not have one name in Slurm: their nodes would be one set, and a
 * partition that stands twice ends slurmctld.  A Controller that is not there yet is only warned
 * about, since manifests come in any order.
 */
#include "src/api/names.h"
#include "src/api/nodeset.h"
#include "src/api/partition_conf.h"

struct rivals {
    const struct nodeset *ns;
    const char *slurm_name;
    struct api_problems *p;
};

static bool visit_rival(void *arg, const struct jsn *object)
{
    struct rivals *r = arg;
    struct arena_mark mark = arena_mark(r->p->arena);
    struct nodeset other;
    bool clash;

    if (streq(jsn_get_str(object, "metadata.name"), r->ns->meta.name) ||
        !streq(jsn_get_str(object, "spec.controllerRef.name"), r->ns->spec.controller_ref.name) ||
        jsn_get_str(object, "metadata.deletionTimestamp"))
        return true;
    clash = nodeset_decode(r->p->arena, object, &other, NULL) == 0 &&
            streq(nodeset_slurm_name(r->p->arena, &other), r->slurm_name);
    arena_rewind(r->p->arena, mark);
    if (!clash)
        return true;
    api_problem_value(r->p, API_DUPLICATE,
                      api_template_hostname(&r->ns->spec.template) ? "spec.template.spec.hostname"
                                                                   : "metadata.name",
                      name_shown(r->p, r->slurm_name),
                      "NodeSet %s of the same cluster has the name %s in Slurm already; choose "
                      "another name or hostname",
                      jsn_get_str(object, "metadata.name"), r->slurm_name);
    return false;
}

/* Among NodeSets the name is looked for above, with a partition or without. */
static void check_partition(const struct nodeset *ns, const struct api_lookup *l,
                            struct api_problems *p, const char *name)
{
    struct partition_claim claim;

    if (nodeset_has_partition(ns) &&
        partition_claim_find(p->arena, l, api_namespace(&ns->meta), ns->spec.controller_ref.name,
                             name, "NodeSet", ns->meta.name, &claim) &&
        !streq(claim.kind, "NodeSet"))
        api_problem_value(p, API_DUPLICATE, "spec.partition", name_shown(p, name),
                          "%s %s%s of the same cluster has a partition %s already; disable this "
                          "one or choose another name",
                          claim.kind, claim.object,
                          streq(claim.kind, "Controller") ? " (extraConf)" : "", name);
}

static void warn_missing(const struct nodeset *ns, const struct api_lookup *l,
                         struct api_problems *p, const char *field, const char *kind,
                         const char *name)
{
    if (name && name[0] &&
        api_lookup_get(l, kind, api_namespace(&ns->meta), name, NULL) == API_ABSENT)
        api_problem_add(p, API_WARNING, field, "there is no %s %s in namespace %s yet", kind, name,
                        api_namespace(&ns->meta));
}

void nodeset_check_refs(const struct nodeset *ns, const struct api_lookup *l,
                        struct api_problems *p)
{
    struct rivals r = {ns, nodeset_slurm_name(p->arena, ns), p};

    warn_missing(ns, l, p, "spec.controllerRef.name", "Controller", ns->spec.controller_ref.name);
    if (ns->spec.ssh && ns->spec.ssh->enabled)
        warn_missing(ns, l, p, "spec.ssh.sssdConfRef.name", "Secret",
                     ns->spec.ssh->sssd_conf_ref.name);
    if (r.slurm_name)
        (void)api_lookup_each_named(l, "NodeSet", api_namespace(&ns->meta), r.slurm_name,
                                    visit_rival, &r);
    check_partition(ns, l, p, r.slurm_name);
}
