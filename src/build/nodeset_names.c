/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of a NodeSet's pods, hosts and claims.
 *
 * With numbers: pod `<nodeset>-<number>`, host `<template hostname><number>` or the pod's name.  On
 * Kubernetes nodes (DaemonSet): the API server makes up the pod's name, the host has the Kubernetes
 * node's.  Numbers are filled with zeros to ordinalPadding digits.
 */
#include "src/build/labels.h"
#include "src/build/nodeset_pod.h"

const char *worker_index(struct arena *a, const struct nodeset *ns, int32_t ordinal)
{
    return arena_printf(a, "%0*d", (int)ns->spec.ordinal_padding, ordinal);
}

const char *worker_pod_name(struct arena *a, const struct nodeset *ns, int32_t ordinal)
{
    return arena_printf(a, "%s-%s", ns->meta.name, worker_index(a, ns, ordinal));
}

const char *worker_hostname(struct arena *a, const struct nodeset *ns, const struct build_worker *w)
{
    const char *prefix = api_template_hostname(&ns->spec.template);

    if (w->ordinal < 0)
        return w->hostname ? w->hostname : "";
    if (!prefix)
        return worker_pod_name(a, ns, w->ordinal);
    return arena_printf(a, "%s%s", prefix, worker_index(a, ns, w->ordinal));
}

const char *worker_claim_name(struct arena *a, const struct nodeset *ns,
                              const struct build_worker *w, const char *template_name)
{
    return arena_printf(a, "%s-%s-%s", template_name, ns->meta.name,
                        w->ordinal < 0 ? worker_hostname(a, ns, w)
                                       : worker_index(a, ns, w->ordinal));
}

static struct jsn *make_claim(struct arena *a, const struct nodeset *ns,
                              const struct build_worker *w, const struct nodeset_claim_template *t)
{
    const char *name = jsn_get_str(t->metadata, "name");
    struct jsn *owner = ns->spec.claim_policy.when_deleted == NODESET_DELETE
                            ? labels_owner(a, "NodeSet", &ns->meta, false)
                            : NULL;
    struct jsn *labels = jsn_object(a);
    struct jsn *annotations = jsn_object(a);

    JSN_FOR_MEMBERS (m, jsn_key(t->metadata, "labels"))
        jsn_set_member(a, labels, m->key, m->value);
    JSN_FOR_MEMBERS (m, labels_selector(a, APP_WORKER, ns->meta.name))
        jsn_set_member(a, labels, m->key, m->value);
    JSN_FOR_MEMBERS (m, jsn_key(t->metadata, "annotations"))
        jsn_set_member(a, annotations, m->key, m->value);
    return build_tree(
        a, "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':'$meta','spec':'$spec'}",
        SLOTS({"meta", labels_meta(a, worker_claim_name(a, ns, w, name), api_namespace(&ns->meta),
                                   labels, annotations, owner)},
              {"spec", t->spec}));
}

struct jsn *build_worker_claims(struct arena *a, const struct build_cluster *c,
                                const struct nodeset *ns, const struct build_worker *w)
{
    struct jsn *list = jsn_array(a);

    (void)c;
    for (size_t i = 0; i < ns->spec.claim_templates.n; i++)
        jsn_append(a, list, make_claim(a, ns, w, &ns->spec.claim_templates.items[i]));
    return list;
}
