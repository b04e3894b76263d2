/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aggregated discovery: APIGroupDiscoveryList, versions v2 and v2beta1.
 *
 * One document holds all groups with their versions and resources; the first version of a group is
 * the preferred one.  Every resource and subresource names its kind with group and version, which
 * older clients read without asking.  The group of core kinds has no name.
 */
#include "src/cluster/apiserver/types/discovery_form.h"

static struct jsn *response_kind(struct arena *a, const char *group, const char *version,
                                 const char *kind)
{
    struct jsn *o = jsn_object(a);

    jsn_set_str(a, o, "group", group);
    jsn_set_str(a, o, "version", version);
    jsn_set_str(a, o, "kind", kind);
    return o;
}

static struct jsn *subresources(struct arena *a, const struct resource *r)
{
    struct jsn *list = jsn_array(a);

    for (size_t i = 0; i < r->n_subs; i++) {
        const struct subresource *s = &r->subs[i];
        struct jsn *o = jsn_object(a);

        jsn_set_str(a, o, "subresource", s->name);
        jsn_set(a, o, "responseKind", response_kind(a, s->group, s->version, s->kind));
        jsn_set(a, o, "verbs", discovery_strings(a, s->verbs));
        jsn_append(a, list, o);
    }
    return list;
}

static struct jsn *one_resource(struct arena *a, const struct resource *r)
{
    struct jsn *o = jsn_object(a);

    jsn_set_str(a, o, "resource", r->plural);
    jsn_set(a, o, "responseKind", response_kind(a, r->group, r->version, r->kind));
    jsn_set_str(a, o, "scope", r->namespaced ? "Namespaced" : "Cluster");
    jsn_set_str(a, o, "singularResource", r->singular);
    jsn_set(a, o, "verbs", discovery_strings(a, r->verbs));
    if (r->short_names && *r->short_names)
        jsn_set(a, o, "shortNames", discovery_strings(a, r->short_names));
    if (r->categories && *r->categories)
        jsn_set(a, o, "categories", discovery_strings(a, r->categories));
    if (r->n_subs)
        jsn_set(a, o, "subresources", subresources(a, r));
    return o;
}

static struct jsn *one_version(struct arena *a, const struct registry_gv *gv)
{
    struct jsn *o = jsn_object(a), *list = jsn_array(a);

    jsn_set_str(a, o, "version", gv->version);
    for (size_t i = 0; i < gv->n_resources; i++)
        jsn_append(a, list, one_resource(a, gv->resources[i]));
    jsn_set(a, o, "resources", list);
    jsn_set_str(a, o, "freshness", "Current");
    return o;
}

static struct jsn *one_group(struct arena *a, const struct registry_gv *gvs, size_t n, size_t at)
{
    struct jsn *o = jsn_object(a), *meta = jsn_object(a), *versions = jsn_array(a);

    if (*gvs[at].group)
        jsn_set_str(a, meta, "name", gvs[at].group);
    jsn_set(a, o, "metadata", meta);
    for (size_t i = at; i < n && streq(gvs[i].group, gvs[at].group); i++)
        jsn_append(a, versions, one_version(a, &gvs[i]));
    jsn_set(a, o, "versions", versions);
    return o;
}

struct jsn *discovery_aggregated(struct arena *a, const struct registry *reg, bool core,
                                 enum discovery_form form)
{
    size_t n;
    const struct registry_gv *gvs = registry_gvs(reg, &n);
    struct jsn *o = jsn_object(a), *items = jsn_array(a);

    jsn_set_str(a, o, "kind", "APIGroupDiscoveryList");
    jsn_set_str(a, o, "apiVersion",
                form == DISCOVERY_V2 ? "apidiscovery.k8s.io/v2" : "apidiscovery.k8s.io/v2beta1");
    jsn_set(a, o, "metadata", jsn_object(a));
    for (size_t i = 0; i < n; i++) {
        bool first = i == 0 || !streq(gvs[i].group, gvs[i - 1].group);

        if (first && core == !*gvs[i].group)
            jsn_append(a, items, one_group(a, gvs, n, i));
    }
    jsn_set(a, o, "items", items);
    return o;
}
