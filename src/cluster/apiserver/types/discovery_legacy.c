/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Legacy discovery: APIResourceList, APIGroup and APIGroupList.
 *
 * The members stand in the order of Kubernetes' own documents.  The list of the core group has no
 * apiVersion, as there.  A subresource names its group and version only where they are not the
 * list's.
 */
#include "src/cluster/apiserver/types/discovery_form.h"

#include "src/base/encode.h"
#include "src/base/hash.h"

struct jsn *discovery_strings(struct arena *a, const char *const *list)
{
    struct jsn *v = jsn_array(a);

    for (; list && *list; list++)
        jsn_append(a, v, jsn_string(a, *list));
    return v;
}

static void set_list(struct arena *a, struct jsn *o, const char *key, const char *const *list)
{
    if (list && *list)
        jsn_set(a, o, key, discovery_strings(a, list));
}

/* What Kubernetes calls the storage version hash: eight bytes of the SHA-256 of the stored kind. */
static struct jsn *storage_hash(struct arena *a, const struct resource *r)
{
    const struct resource *stored = r->stored ? r->stored : r;
    const char *text = arena_printf(a, "%s/%s/%s", stored->group, stored->version, stored->kind);
    AUTO(buf_done) struct buf b = {0};
    char hex[SHA256_HEX_LEN + 1];
    char bytes[8];

    hash_sha256_hex(str_of(text), hex);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        const char *digits = "0123456789abcdef";

        bytes[i] = (char)((strchr(digits, hex[2 * i]) - digits) << 4 |
                          (strchr(digits, hex[2 * i + 1]) - digits));
    }
    encode_base64(&b, (struct str){bytes, sizeof(bytes)});
    return jsn_str(a, buf_view(&b));
}

static struct jsn *one_resource(struct arena *a, const struct resource *r)
{
    struct jsn *o = jsn_object(a);

    jsn_set_str(a, o, "name", r->plural);
    jsn_set_str(a, o, "singularName", r->singular);
    jsn_set_bool(a, o, "namespaced", r->namespaced);
    jsn_set_str(a, o, "kind", r->kind);
    jsn_set(a, o, "verbs", discovery_strings(a, r->verbs));
    set_list(a, o, "shortNames", r->short_names);
    set_list(a, o, "categories", r->categories);
    if (resource_has_verb(r, "list"))
        jsn_set(a, o, "storageVersionHash", storage_hash(a, r));
    return o;
}

static struct jsn *one_sub(struct arena *a, const struct resource *r, const struct subresource *s)
{
    struct jsn *o = jsn_object(a);

    jsn_set(a, o, "name", jsn_stringf(a, "%s/%s", r->plural, s->name));
    jsn_set_str(a, o, "singularName", "");
    jsn_set_bool(a, o, "namespaced", r->namespaced);
    if (!streq(s->group, r->group) || !streq(s->version, r->version)) {
        jsn_set_str(a, o, "group", s->group);
        jsn_set_str(a, o, "version", s->version);
    }
    jsn_set_str(a, o, "kind", s->kind);
    jsn_set(a, o, "verbs", discovery_strings(a, s->verbs));
    return o;
}

struct jsn *discovery_resource_list(struct arena *a, const struct registry_gv *gv)
{
    struct jsn *o = jsn_object(a), *list = jsn_array(a);

    jsn_set_str(a, o, "kind", "APIResourceList");
    if (*gv->group)
        jsn_set_str(a, o, "apiVersion", "v1");
    jsn_set(a, o, "groupVersion",
            jsn_stringf(a, "%s%s%s", gv->group, *gv->group ? "/" : "", gv->version));
    for (size_t i = 0; i < gv->n_resources; i++) {
        const struct resource *r = gv->resources[i];

        jsn_append(a, list, one_resource(a, r));
        for (size_t k = 0; k < r->n_subs; k++)
            jsn_append(a, list, one_sub(a, r, &r->subs[k]));
    }
    jsn_set(a, o, "resources", list);
    return o;
}

static struct jsn *one_version(struct arena *a, const struct registry_gv *gv)
{
    struct jsn *o = jsn_object(a);

    jsn_set(a, o, "groupVersion", jsn_stringf(a, "%s/%s", gv->group, gv->version));
    jsn_set_str(a, o, "version", gv->version);
    return o;
}

/* Name, versions and preferred version of the group that begins at gvs[at]. */
static void fill_group(struct arena *a, struct jsn *o, const struct registry_gv *gvs, size_t n,
                       size_t at)
{
    struct jsn *versions = jsn_array(a);

    jsn_set_str(a, o, "name", gvs[at].group);
    for (size_t i = at; i < n && streq(gvs[i].group, gvs[at].group); i++)
        jsn_append(a, versions, one_version(a, &gvs[i]));
    jsn_set(a, o, "versions", versions);
    jsn_set(a, o, "preferredVersion", one_version(a, &gvs[at]));
}

struct jsn *discovery_group(struct arena *a, const struct registry *reg, struct str group)
{
    size_t n;
    const struct registry_gv *gvs = registry_gvs(reg, &n);
    struct jsn *o = jsn_object(a);

    jsn_set_str(a, o, "kind", "APIGroup");
    jsn_set_str(a, o, "apiVersion", "v1");
    for (size_t i = 0; i < n; i++) {
        if (*gvs[i].group && str_eqz(group, gvs[i].group)) {
            fill_group(a, o, gvs, n, i);
            return o;
        }
    }
    return NULL;
}

struct jsn *discovery_group_list(struct arena *a, const struct registry *reg)
{
    size_t n;
    const struct registry_gv *gvs = registry_gvs(reg, &n);
    struct jsn *o = jsn_object(a), *groups = jsn_array(a);

    jsn_set_str(a, o, "kind", "APIGroupList");
    jsn_set_str(a, o, "apiVersion", "v1");
    for (size_t i = 0; i < n; i++) {
        struct jsn *group = jsn_object(a);

        if (!*gvs[i].group || (i > 0 && streq(gvs[i].group, gvs[i - 1].group)))
            continue;
        fill_group(a, group, gvs, n, i);
        jsn_append(a, groups, group);
    }
    jsn_set(a, o, "groups", groups);
    return o;
}
