/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * As much of a NodeSet as its cluster's configuration is made from.
 *
 * A whole one, with its pod template and status, takes some ten kilobytes and 20 us to decode.  Who
 * needs all NodeSets of a cluster at once, at each change of one, keeps them in this form.
 */
#include "src/api/nodeset.h"

static const char *copy(struct arena *a, const char *text)
{
    return text ? arena_strdup(a, text) : NULL;
}

void nodeset_brief(struct arena *a, const struct nodeset *ns, struct nodeset *ret)
{
    const char *hostname = api_template_hostname(&ns->spec.template);

    *ret = (struct nodeset){
        .meta = {.name = copy(a, ns->meta.name),
                 .namespace = copy(a, ns->meta.namespace),
                 .uid = copy(a, ns->meta.uid),
                 .generation = ns->meta.generation,
                 .created_us = ns->meta.created_us,
                 .deleted_us = ns->meta.deleted_us},
        .spec = {.controller_ref.name = copy(a, ns->spec.controller_ref.name),
                 .replicas = ns->spec.replicas},
    };
    if (ns->spec.ssh) {
        struct nodeset_ssh *ssh = arena_calloc(a, 1, sizeof(*ssh));

        ssh->enabled = ns->spec.ssh->enabled;
        ssh->sssd_conf_ref.name = copy(a, ns->spec.ssh->sssd_conf_ref.name);
        ret->spec.ssh = ssh;
    }
    if (hostname) {
        struct jsn *pod = jsn_object(a);

        jsn_set_str(a, pod, "hostname", hostname);
        ret->spec.template.spec = pod;
    }
    if (ns->spec.partition) {
        struct nodeset_partition *p = arena_calloc(a, 1, sizeof(*p));

        *p = (struct nodeset_partition){ns->spec.partition->enabled,
                                        copy(a, ns->spec.partition->config)};
        ret->spec.partition = p;
    }
}
