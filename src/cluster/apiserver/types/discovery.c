/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Discovery by path and Accept header.
 *
 * /api and /apis come in two forms: legacy, and aggregated (all resources of all groups in one
 * document; versions v2beta1 and v2).  The content type of the aggregated form repeats the words of
 * the Accept header, since clients compare it as text.  What lies below is legacy only.
 */
#include "src/cluster/apiserver/types/discovery.h"

#include "src/base/alloc.h"
#include "src/cluster/apiserver/types/discovery_form.h"

struct discovery {
    struct document_cache cache;
    const char *address;
};

struct discovery *discovery_new(const struct registry *reg, const char *address)
{
    struct discovery *d = xcalloc(1, sizeof(*d));

    document_cache_init(&d->cache, reg);
    d->address = address;
    return d;
}

struct discovery *discovery_free(struct discovery *d)
{
    if (!d)
        return NULL;
    document_cache_done(&d->cache);
    free(d);
    return NULL;
}

/* What one element of an Accept header asks for; false if it is nothing that we have. */
static bool read_clause(struct str clause, enum discovery_form *ret)
{
    struct str type, param, key;
    bool list = false, group = false;

    (void)str_split(&clause, ';', &type);
    type = str_trim(type);
    if (!str_eqz(type, "application/json") && !str_eqz(type, "*/*") &&
        !str_eqz(type, "application/*"))
        return false;
    *ret = DISCOVERY_LEGACY;
    while (str_split(&clause, ';', &param)) {
        (void)str_split(&param, '=', &key);
        key = str_trim(key);
        if (str_eqz(key, "as"))
            list = str_eqz(str_trim(param), "APIGroupDiscoveryList");
        else if (str_eqz(key, "g"))
            group = str_eqz(str_trim(param), "apidiscovery.k8s.io");
        else if (str_eqz(key, "v") && str_eqz(str_trim(param), "v2"))
            *ret = DISCOVERY_V2;
        else if (str_eqz(key, "v") && str_eqz(str_trim(param), "v2beta1"))
            *ret = DISCOVERY_V2BETA1;
        else if (str_eqz(key, "v"))
            return false;
    }
    return *ret == DISCOVERY_LEGACY ? !list && !group : list && group;
}

/* The form that an Accept header asks for; *ret_type is the content type of the answer. */
static enum discovery_form discovery_form(const char *accept, const char **ret_type)
{
    static const char *const types[] = {
        [DISCOVERY_LEGACY] = "application/json",
        [DISCOVERY_V2BETA1] =
            "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
        [DISCOVERY_V2] = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    };
    enum discovery_form form = DISCOVERY_LEGACY;
    struct str rest = str_of(accept), clause;
    bool found = false;

    while (!found && accept && str_split(&rest, ',', &clause))
        found = read_clause(clause, &form);
    form = found ? form : DISCOVERY_LEGACY;
    *ret_type = types[form];
    return form;
}

/* {"kind":"APIVersions","versions":["v1"],...} */
static struct jsn *api_versions(struct arena *a, const char *address)
{
    struct jsn *o = jsn_object(a), *versions = jsn_array(a), *where = jsn_array(a);

    jsn_set_str(a, o, "kind", "APIVersions");
    jsn_append(a, versions, jsn_string(a, "v1"));
    jsn_set(a, o, "versions", versions);
    if (address) {
        struct jsn *cidr = jsn_object(a);

        jsn_set_str(a, cidr, "clientCIDR", "0.0.0.0/0");
        jsn_set_str(a, cidr, "serverAddress", address);
        jsn_append(a, where, cidr);
    }
    jsn_set(a, o, "serverAddressByClientCIDRs", where);
    return o;
}

static struct jsn *make_root(struct discovery *d, struct arena *a, bool core,
                             enum discovery_form form)
{
    if (form != DISCOVERY_LEGACY)
        return discovery_aggregated(a, d->cache.reg, core, form);
    return core ? api_versions(a, d->address) : discovery_group_list(a, d->cache.reg);
}

static struct jsn *make_below(struct discovery *d, struct arena *a, bool core, struct str rest)
{
    const struct registry_gv *gv;
    struct str group = STR("");

    if (!core)
        (void)str_split(&rest, '/', &group);
    if (!rest.p)
        return discovery_group(a, d->cache.reg, group);
    gv = registry_gv(d->cache.reg, group, rest);
    return gv && (core || *gv->group) ? discovery_resource_list(a, gv) : NULL;
}

/* Cut "/api" or "/apis" off; false if the path begins with neither. */
static bool split_path(struct str *path, bool *ret_core)
{
    struct str first, rest = *path;

    if (rest.n && rest.p[rest.n - 1] == '/')
        rest.n--;
    if (!str_split(&rest, '/', &first) || first.n || !str_split(&rest, '/', &first))
        return false;
    *ret_core = str_eqz(first, "api");
    *path = rest;
    return *ret_core || str_eqz(first, "apis");
}

const struct document *discovery_get(struct discovery *d, struct str path, const char *accept)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    const char *type = "application/json";
    enum discovery_form form = DISCOVERY_LEGACY;
    const struct document *found;
    struct document *made;
    struct jsn *v;
    const char *key;
    bool core;

    if (!split_path(&path, &core))
        return NULL;
    if (!path.p)
        form = discovery_form(accept, &type);
    key = arena_printf(&a, "%d%s/" STR_FMT, (int)form, core ? "api" : "apis",
                       STR_ARG(path.p ? path : STR("")));
    found = document_find(&d->cache, key);
    if (found)
        return found;
    v = path.p ? make_below(d, &a, core, path) : make_root(d, &a, core, form);
    if (!v)
        return NULL;
    jsn_print(&b, v);
    made = document_keep(&d->cache, key, &b, type);
    made->vary_accept = !path.p;
    return made;
}
