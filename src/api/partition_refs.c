/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of a Partition against other objects.
 *
 * A name that another partition of the cluster has is refused, whoever declares it.  All else is
 * only warned about: objects come in any order, a NodeSet may be made later, and the default may be
 * on its way from one partition to another.
 */
#include "src/api/controller.h"
#include "src/api/names.h"
#include "src/api/nodeset.h"
#include "src/api/partition.h"
#include "src/api/partition_conf.h"
#include "src/slurm/hostset.h"

#define MAX_PODS_LOOKED_AT 1024

static void check_name(const struct api_partition *part, const struct api_lookup *l,
                       struct api_problems *p)
{
    const char *name = api_partition_slurm_name(part);
    struct partition_claim claim;

    if (partition_claim_find(p->arena, l, api_namespace(&part->meta),
                             part->spec.controller_ref.name, name, "Partition", part->meta.name,
                             &claim))
        api_problem_value(
            p, API_DUPLICATE, part->spec.name ? "spec.partitionName" : "metadata.name",
            name_shown(p, name),
            "%s %s%s of the same cluster has a partition %s already; choose another "
            "name",
            claim.kind, claim.object, streq(claim.kind, "Controller") ? " (extraConf)" : "", name);
}

struct defaults {
    const struct api_partition *part;
    struct api_problems *p;
};

static bool look_for_default(void *arg, const struct partition_claim *claim)
{
    struct defaults *d = arg;

    if (!claim->is_default ||
        (streq(claim->kind, "Partition") && streq(claim->object, d->part->meta.name)))
        return true;
    api_problem_add(d->p, API_WARNING, "spec.default",
                    "partition %s (%s %s) is the default of the cluster and stays it until that "
                    "is changed: there can be only one",
                    claim->name, claim->kind, claim->object);
    return false;
}

static void warn_missing(const struct api_partition *part, const struct api_lookup *l,
                         struct api_problems *p)
{
    const struct api_refs *refs = &part->spec.nodeset_refs;
    const char *ns = api_namespace(&part->meta);
    const char *controller = part->spec.controller_ref.name;

    if (api_lookup_get(l, "Controller", ns, controller, NULL) == API_ABSENT)
        api_problem_add(p, API_WARNING, "spec.controllerRef.name",
                        "there is no Controller %s in namespace %s yet", controller, ns);
    for (size_t i = 0; i < refs->n; i++) {
        const char *field = api_problem_path(p, "spec.nodeSetRefs[%zu].name", i);
        const struct jsn *found = NULL;
        enum api_found r = api_lookup_get(l, "NodeSet", ns, refs->items[i].name, &found);
        const char *other = jsn_get_str(found, "spec.controllerRef.name");

        if (r == API_ABSENT)
            api_problem_add(p, API_WARNING, field,
                            "there is no NodeSet %s in namespace %s yet; the partition is without "
                            "its nodes until then",
                            refs->items[i].name, ns);
        else if (r == API_PRESENT && !streq(other, controller))
            api_problem_add(p, API_WARNING, field,
                            "NodeSet %s belongs to Controller %s: its nodes cannot be in a "
                            "partition of %s",
                            refs->items[i].name, other ? other : "", controller);
    }
}

struct hosts {
    const struct api_partition *part;
    const struct host_set *named;
    struct api_problems *p;
};

/* One of the first pods of the NodeSet among the hosts? */
static bool look_for_hosts(void *arg, const struct jsn *object)
{
    struct hosts *h = arg;
    struct nodeset ns;
    const char *prefix;

    if (nodeset_decode(h->p->arena, object, &ns, NULL) < 0 ||
        !streq(ns.spec.controller_ref.name, h->part->spec.controller_ref.name))
        return true;
    prefix = api_template_hostname(&ns.spec.template);
    for (int i = 0; i < MIN(MAX(ns.spec.replicas, 1), MAX_PODS_LOOKED_AT); i++) {
        const char *host =
            prefix ? arena_printf(h->p->arena, "%s%0*d", prefix, (int)ns.spec.ordinal_padding, i)
                   : arena_printf(h->p->arena, "%s-%0*d", ns.meta.name,
                                  (int)ns.spec.ordinal_padding, i);

        if (!hostset_has(h->named, str_of(host)))
            continue;
        api_problem_value(h->p, API_INVALID, "spec.nodes", name_shown(h->p, h->part->spec.nodes),
                          "%s is a pod of NodeSet %s, and pods come and go: name the NodeSet in "
                          "nodeSetRefs, or make one of a single node for it",
                          host, ns.meta.name);
        return false;
    }
    return true;
}

/* slurm.conf cannot name nodes that register by themselves: slurmctld would not start with it. */
static void check_hosts(const struct api_partition *part, const struct api_lookup *l,
                        struct api_problems *p)
{
    AUTO(hostset_free) struct host_set *named = NULL;
    struct hosts h = {part, NULL, p};

    if (!part->spec.nodes || !part->spec.nodes[0] ||
        hostset_parse(str_of(part->spec.nodes), &named, NULL) < 0)
        return;
    h.named = named;
    (void)api_lookup_each(l, "NodeSet", api_namespace(&part->meta), look_for_hosts, &h);
}

/* slurmctld powers nodes down by a program that the Controller names. */
static void warn_power(const struct api_partition *part, const struct api_lookup *l,
                       struct api_problems *p)
{
    const struct api_partition_spec *s = &part->spec;
    const struct jsn *found = NULL;
    struct controller c;

    if (!s->suspend_time.set && !s->suspend_timeout && !s->resume_timeout && !s->power_down_on_idle)
        return;
    if (api_lookup_get(l, "Controller", api_namespace(&part->meta), s->controller_ref.name,
                       &found) != API_PRESENT ||
        controller_decode(p->arena, found, &c, NULL) < 0 || c.spec.external ||
        controller_extra(p->arena, &c, "SuspendProgram"))
        return;
    api_problem_add(p, API_WARNING,
                    s->suspend_time.set     ? "spec.suspendTime"
                    : s->power_down_on_idle ? "spec.powerDownOnIdle"
                    : s->suspend_timeout    ? "spec.suspendTimeout"
                                            : "spec.resumeTimeout",
                    "powers no node down: Controller %s has no SuspendProgram in spec.extraConf",
                    c.meta.name);
}

void api_partition_check_refs(const struct api_partition *part, const struct api_partition *old,
                              const struct api_lookup *l, struct api_problems *p)
{
    struct defaults d = {part, p};

    warn_missing(part, l, p);
    warn_power(part, l, p);
    if (!old || !streq(part->spec.nodes, old->spec.nodes))
        check_hosts(part, l, p);
    if (!old || !streq(api_partition_slurm_name(part), api_partition_slurm_name(old)))
        check_name(part, l, p);
    if (api_partition_is_default(part) && (!old || !api_partition_is_default(old)))
        partition_claims_each(l, api_namespace(&part->meta), part->spec.controller_ref.name,
                              look_for_default, &d);
}
