/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of a NodeSet: what the object alone tells, and what may not change.
 *
 * Two kinds of names are guarded.  Host names are made of the NodeSet's name (or
 * template.spec.hostname) and a number, and must stay DNS labels.  The name in Slurm must not be a
 * word that slurm.conf takes for something else: `all` in Nodes=, `default` in PartitionName=.
 */
#include <strings.h>

#include "src/api/names.h"
#include "src/api/node_features.h"
#include "src/api/nodeset.h"
#include "src/api/partition_conf.h"

static size_t count_digits(uint64_t n)
{
    size_t digits = 1;

    while (n >= 10) {
        n /= 10;
        digits++;
    }
    return digits;
}

/* Characters that the number takes after the name. */
static size_t ordinal_width(const struct nodeset *ns)
{
    uint64_t last = ns->spec.replicas > 0 ? (uint64_t)ns->spec.replicas - 1 : 0;

    return MAX(count_digits(last), (size_t)ns->spec.ordinal_padding);
}

static void check_hostname(const struct nodeset *ns, struct api_problems *p)
{
    const char *prefix = api_template_hostname(&ns->spec.template);
    const char *fault = prefix ? name_prefix_fault(str_of(prefix)) : NULL;

    if (!prefix)
        return;
    if (fault)
        api_problem_value(p, API_INVALID, "spec.template.spec.hostname", name_shown(p, prefix),
                          "the nodes' names begin with it, so it %s ('-' at the end is fine)",
                          fault);
    else if (strlen(prefix) + ordinal_width(ns) > NODESET_HOSTNAME_MAX)
        api_problem_value(p, API_INVALID, "spec.template.spec.hostname", name_shown(p, prefix),
                          "is too long: with a number of %zu digits after it the nodes' names have "
                          "more than %d characters",
                          ordinal_width(ns), NODESET_HOSTNAME_MAX);
}

static void check_name(const struct nodeset *ns, struct api_problems *p)
{
    const char *name = ns->meta.name ? ns->meta.name : "";
    const char *fault = name_label_fault(str_of(name));

    if (fault)
        api_problem_value(p, API_INVALID, "metadata.name", name_shown(p, name), "a name %s", fault);
    else if (strlen(name) + 1 + ordinal_width(ns) > NODESET_HOSTNAME_MAX)
        api_problem_value(p, API_INVALID, "metadata.name", name_shown(p, name),
                          "is too long: with '-' and a number of %zu digits after it the pods' "
                          "names have more than %d characters",
                          ordinal_width(ns), NODESET_HOSTNAME_MAX);
}

static void check_slurm_name(const struct nodeset *ns, struct api_problems *p)
{
    const char *name = nodeset_slurm_name(p->arena, ns);
    const char *field =
        api_template_hostname(&ns->spec.template) ? "spec.template.spec.hostname" : "metadata.name";

    if (!name)
        return;
    if (strcasecmp(name, "all") == 0)
        api_problem_value(p, API_INVALID, field, name_shown(p, name),
                          "Slurm takes the word for all nodes of the cluster; choose another name");
    if (nodeset_has_partition(ns) && partition_name_fault(name))
        api_problem_value(p, API_INVALID, field, name_shown(p, name), "the name of a partition %s",
                          partition_name_fault(name));
}

static void check_controller_ref(const struct nodeset *ns, struct api_problems *p)
{
    const struct api_controller_ref *ref = &ns->spec.controller_ref;

    name_check_ref(p, "spec.controllerRef.name", ref->name);
    if (ref->namespace && ref->namespace[0] && ns->meta.namespace &&
        !streq(ref->namespace, ns->meta.namespace))
        api_problem_value(
            p, API_INVALID, "spec.controllerRef.namespace", name_shown(p, ref->namespace),
            "the Controller must be in the NodeSet's own namespace, %s", ns->meta.namespace);
}

static void check_max_unavailable(const struct nodeset *ns, struct api_problems *p)
{
    static const char field[] = "spec.updateStrategy.rollingUpdate.maxUnavailable";
    const struct jsn_int_or_str *max = &ns->spec.update_strategy.max_unavailable;
    struct str text = str_of(max->str);
    uint32_t percent = 0;

    if (!max->str && max->i < 1)
        api_problem_value(p, API_INVALID, field, api_problem_path(p, "%d", max->i),
                          "must be at least 1, or no update would ever go on");
    if (!max->str)
        return;
    if (!str_ends(text, "%") || str_to_u32((struct str){text.p, text.n - 1}, &percent) < 0 ||
        percent > 100)
        api_problem_value(p, API_INVALID, field, name_shown(p, max->str),
                          "must be a number or a share from 1%% to 100%%");
    else if (percent == 0)
        api_problem_value(p, API_INVALID, field, name_shown(p, max->str),
                          "must be more than 0%%, or no update would ever go on");
}

static void check_strategy(const struct nodeset *ns, struct api_problems *p)
{
    const struct nodeset_strategy *s = &ns->spec.update_strategy;

    check_max_unavailable(ns, p);
    if (s->type == NODESET_SCHEDULED_UPDATE && (!s->scheduled || s->scheduled->start_us == 0))
        api_problem_add(p, API_REQUIRED, "spec.updateStrategy.scheduledUpdate.startTime",
                        "must say when the update may begin, since type is ScheduledUpdate");
    if (s->scheduled && s->scheduled->duration_ms < 60000)
        api_problem_add(p, API_INVALID, "spec.updateStrategy.scheduledUpdate.duration",
                        "must be at least 1m: Slurm reserves nodes by the minute");
}

static void check_ssh(const struct nodeset *ns, struct api_problems *p)
{
    const struct nodeset_ssh *ssh = ns->spec.ssh;

    if (!ssh || !ssh->enabled)
        return;
    if (!ssh->sssd_conf_ref.name || !ssh->sssd_conf_ref.name[0])
        api_problem_add(p, API_REQUIRED, "spec.ssh.sssdConfRef.name",
                        "must name the Secret with sssd.conf, since ssh is enabled");
    else
        name_check_ref(p, "spec.ssh.sssdConfRef.name", ssh->sssd_conf_ref.name);
}

static void check_conf(const struct nodeset *ns, uint32_t release, struct api_problems *p)
{
    struct err e = {0};

    if (ns->spec.extra_conf && nodeset_conf_check(str_of(ns->spec.extra_conf), release, &e) < 0)
        api_problem_add(p, API_INVALID, "spec.extraConf", "%s", e.text);
    if (ns->spec.partition && nodeset_partition_config(ns)[0] &&
        partition_config_check(
            arena_printf(p->arena, "partition %s", nodeset_slurm_name(p->arena, ns)),
            str_of(nodeset_partition_config(ns)), release, &e) < 0)
        api_problem_add(p, API_INVALID, "spec.partition.config", "%s", e.text);
}

static void check_claim_type(const struct nodeset_claim_template *t, size_t i,
                             struct api_problems *p)
{
    static const char field[] = "spec.volumeClaimTemplates[%zu].%s";

    if (t->api_version && !streq(t->api_version, "v1"))
        api_problem_value(p, API_INVALID, api_problem_path(p, field, i, "apiVersion"),
                          name_shown(p, t->api_version), "must be v1, or left out");
    if (t->kind && !streq(t->kind, "PersistentVolumeClaim"))
        api_problem_value(p, API_INVALID, api_problem_path(p, field, i, "kind"),
                          name_shown(p, t->kind), "must be PersistentVolumeClaim, or left out");
    if (jsn_len(t->status))
        api_problem_add(p, API_WARNING, api_problem_path(p, field, i, "status"), "is not used");
}

static void check_claims(const struct nodeset *ns, struct api_problems *p)
{
    const struct nodeset_claim_templates *t = &ns->spec.claim_templates;

    for (size_t i = 0; i < t->n; i++) {
        const char *name = jsn_get_str(t->items[i].metadata, "name");
        const char *field = api_problem_path(p, "spec.volumeClaimTemplates[%zu].metadata.name", i);
        const char *fault = name_label_fault(str_of(name));

        check_claim_type(&t->items[i], i, p);
        if (!name || !name[0])
            api_problem_add(p, API_REQUIRED, field, "must name the volume");
        else if (fault)
            api_problem_value(p, API_INVALID, field, name_shown(p, name), "a name %s", fault);
        for (size_t k = 0; name && k < i; k++)
            if (streq(jsn_get_str(t->items[k].metadata, "name"), name))
                api_problem_value(p, API_DUPLICATE, field, name_shown(p, name), "stands twice");
        if (!t->items[i].spec)
            api_problem_add(p, API_REQUIRED,
                            api_problem_path(p, "spec.volumeClaimTemplates[%zu].spec", i),
                            "must say what to claim");
    }
}

/* sssdConfRef is used without ssh, too: jobs have their users' names by it. */
static void check_unused_ssh(const struct nodeset_ssh *ssh, struct api_problems *p)
{
    if (ssh && !ssh->enabled && ssh->extra_sshd_config && ssh->extra_sshd_config[0])
        api_problem_add(p, API_WARNING, "spec.ssh.extraSshdConfig",
                        "is not used, since ssh.enabled is false");
}

static void check_unused_strategy(const struct nodeset_strategy *s, struct api_problems *p)
{
    if (s->scheduled && s->type != NODESET_SCHEDULED_UPDATE)
        api_problem_add(p, API_WARNING, "spec.updateStrategy.scheduledUpdate",
                        "is not used, since type is not ScheduledUpdate");
    else if (s->scheduled && s->scheduled->flags.n)
        api_problem_add(
            p, API_WARNING, "spec.updateStrategy.scheduledUpdate.flags",
            "are not used: nodes are drained one by one in that time, and not reserved");
}

static void check_unused(const struct nodeset *ns, struct api_problems *p)
{
    const struct nodeset_spec *s = &ns->spec;

    check_unused_ssh(s->ssh, p);
    check_unused_strategy(&s->update_strategy, p);
    if (s->scaling_mode == NODESET_DAEMONSET)
        api_problem_add(p, API_WARNING, "spec.scalingMode",
                        "DaemonSet is not there yet: no pods are made or changed before it is "
                        "StatefulSet");

    if (s->scaling_mode == NODESET_DAEMONSET && s->pin_to_node)
        api_problem_add(p, API_WARNING, "spec.pinToNode",
                        "is not used, since scalingMode is DaemonSet");
    if (s->prune_records != NODESET_PRUNE_NEVER)
        api_problem_add(p, API_WARNING, "spec.pruneSlurmNodeRecords",
                        "changes nothing: records of nodes whose pods are gone for good are "
                        "deleted in any case");
}

void nodeset_check(const struct nodeset *ns, uint32_t release, struct api_problems *p)
{
    check_name(ns, p);
    check_hostname(ns, p);
    check_slurm_name(ns, p);
    check_controller_ref(ns, p);
    check_strategy(ns, p);
    check_ssh(ns, p);
    check_conf(ns, release, p);
    nodeset_check_features(ns, p);
    check_claims(ns, p);
    check_unused(ns, p);
}

static bool same_claims(const struct nodeset_claim_templates *a,
                        const struct nodeset_claim_templates *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!jsn_equal(a->items[i].metadata, b->items[i].metadata) ||
            !jsn_equal(a->items[i].spec, b->items[i].spec))
            return false;
    return true;
}

void nodeset_check_update(const struct nodeset *ns, const struct nodeset *old,
                          struct api_problems *p)
{
    if (!streq(ns->spec.controller_ref.name, old->spec.controller_ref.name))
        api_problem_add(p, API_FORBIDDEN, "spec.controllerRef",
                        "cannot be changed: nodes do not move between clusters; make another "
                        "NodeSet");
    if (!same_claims(&ns->spec.claim_templates, &old->spec.claim_templates))
        api_problem_add(p, API_FORBIDDEN, "spec.volumeClaimTemplates",
                        "cannot be changed: claims that exist stay as they are; make another "
                        "NodeSet");
}
