/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registry: which resources there are.
 *
 * Built-in resources come from the tables and stay; those of a CRD come and go.  A custom resource
 * with all its versions lives in an arena of its own (struct resource_owner), counted, so that a
 * watch may go on with the resource it began with.  After each change the sorted list and the hash
 * tables are made again: there are a few hundred entries at most and changes are rare.
 */
#include "src/cluster/apiserver/types/registry.h"

#include "src/base/alloc.h"
#include "src/base/map.h"
#include "src/cluster/apiserver/types/custom.h"
#include "src/cluster/apiserver/types/table.h"

struct registry {
    struct arena arena; /* of the tables */
    struct table table;
    struct map crds; /* name to struct resource_owner */
    uint64_t version;

    const struct resource **all; /* sorted */
    size_t n_all;
    struct registry_gv *gvs;
    size_t n_gvs;
    struct map by_plural; /* "group/version/plural" */
    struct map by_kind;   /* "group/version/Kind" */
};

static int group_rank(const struct registry *reg, const char *group)
{
    for (size_t i = 0; i < reg->table.n_groups; i++)
        if (streq(reg->table.groups[i]->group, group))
            return (int)i;
    return (int)reg->table.n_groups;
}

static int compare(const void *pa, const void *pb, void *arg)
{
    const struct resource *a = *(const struct resource *const *)pa;
    const struct resource *b = *(const struct resource *const *)pb;
    int d = group_rank(arg, a->group) - group_rank(arg, b->group);

    if (d == 0)
        d = strcmp(a->group, b->group);
    if (d == 0)
        d = registry_version_cmp(a->version, b->version);
    return d ? d : strcmp(a->plural, b->plural);
}

static void put_key(struct map *m, const struct resource *r, const char *last)
{
    AUTO(free) char *key = xasprintf("%s/%s/%s", r->group, r->version, last);

    /* Maps hold void *; nobody changes a resource through them. */
    map_put(m, str_of(key), (void *)(uintptr_t)r);
}

static void *get_key(const struct map *m, struct str group, struct str version, struct str last)
{
    char key[512];
    int n = snprintf(key, sizeof(key), STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(group),
                     STR_ARG(version), STR_ARG(last));

    return n < (int)sizeof(key) ? map_get(m, str_of(key)) : NULL;
}

static void collect(struct registry *reg)
{
    size_t n = reg->table.n_resources, at = 0;
    struct resource_owner *owner;

    while (map_next(&reg->crds, &at, NULL, &owner))
        n += owner->n_resources;
    free(reg->all);
    reg->all = xcalloc(n, sizeof(struct resource *));
    reg->n_all = 0;
    for (size_t i = 0; i < reg->table.n_resources; i++)
        reg->all[reg->n_all++] = reg->table.resources[i];
    at = 0;
    while (map_next(&reg->crds, &at, NULL, &owner))
        for (size_t i = 0; i < owner->n_resources; i++)
            if (!owner->resources[i].unserved)
                reg->all[reg->n_all++] = &owner->resources[i];
    qsort_r(reg->all, reg->n_all, sizeof(struct resource *), compare, reg);
}

static void rebuild(struct registry *reg)
{
    collect(reg);
    map_done(&reg->by_plural);
    map_done(&reg->by_kind);
    map_init(&reg->by_plural, NULL);
    map_init(&reg->by_kind, NULL);
    free(reg->gvs);
    reg->gvs = xcalloc(reg->n_all, sizeof(*reg->gvs));
    reg->n_gvs = 0;
    for (size_t i = 0; i < reg->n_all; i++) {
        const struct resource *r = reg->all[i];
        struct registry_gv *gv = reg->n_gvs ? &reg->gvs[reg->n_gvs - 1] : NULL;

        if (!gv || !streq(gv->group, r->group) || !streq(gv->version, r->version)) {
            gv = &reg->gvs[reg->n_gvs++];
            *gv = (struct registry_gv){r->group, r->version, &reg->all[i], 0};
        }
        gv->n_resources++;
        put_key(&reg->by_plural, r, r->plural);
        put_key(&reg->by_kind, r, r->kind);
    }
    reg->version++;
}

static void drop_owner(void *owner)
{
    resource_owner_unref(owner);
}

int registry_new(struct registry **ret, struct err *e)
{
    AUTO(registry_free) struct registry *reg = xcalloc(1, sizeof(*reg));
    int r;

    map_init(&reg->crds, drop_owner);
    r = table_read(&reg->arena, table_texts, &reg->table, e);
    if (r < 0)
        return r;
    rebuild(reg);
    *ret = TAKE(reg);
    return 0;
}

struct registry *registry_free(struct registry *reg)
{
    if (!reg)
        return NULL;
    free(reg->all);
    free(reg->gvs);
    map_done(&reg->by_plural);
    map_done(&reg->by_kind);
    map_done(&reg->crds);
    table_done(&reg->table);
    arena_done(&reg->arena);
    free(reg);
    return NULL;
}

uint64_t registry_version(const struct registry *reg)
{
    return reg->version;
}

const struct registry_gv *registry_gvs(const struct registry *reg, size_t *ret_n)
{
    *ret_n = reg->n_gvs;
    return reg->gvs;
}

const struct registry_gv *registry_gv(const struct registry *reg, struct str group,
                                      struct str version)
{
    for (size_t i = 0; i < reg->n_gvs; i++)
        if (str_eqz(group, reg->gvs[i].group) && str_eqz(version, reg->gvs[i].version))
            return &reg->gvs[i];
    return NULL;
}

bool registry_has_group(const struct registry *reg, struct str group)
{
    for (size_t i = 0; i < reg->n_gvs; i++)
        if (str_eqz(group, reg->gvs[i].group))
            return true;
    return false;
}

const struct resource *registry_find(const struct registry *reg, struct str group,
                                     struct str version, struct str plural)
{
    return get_key(&reg->by_plural, group, version, plural);
}

const struct resource *registry_find_kind(const struct registry *reg, struct str group,
                                          struct str version, struct str kind)
{
    return get_key(&reg->by_kind, group, version, kind);
}

/* Does "plural.group", or "plural" alone in the core group, name this one? */
static bool is_stored_as(const struct resource *r, const char *name)
{
    size_t n = strlen(r->plural);

    if (r->stored || strncmp(name, r->plural, n) != 0)
        return false;
    return r->group[0] ? name[n] == '.' && streq(name + n + 1, r->group) : name[n] == '\0';
}

const struct resource *registry_find_stored(const struct registry *reg, const char *store_name)
{
    const struct resource_owner *owner = map_get(&reg->crds, str_of(store_name));

    for (size_t i = 0; owner && i < owner->n_resources; i++)
        if (!owner->resources[i].stored)
            return &owner->resources[i];
    for (size_t i = 0; i < reg->n_all; i++)
        if (is_stored_as(reg->all[i], store_name))
            return reg->all[i];
    return NULL;
}

const struct schema *registry_type(const struct registry *reg, const char *alias, const char *name)
{
    const struct table_def *def = table_find(&reg->table, alias, name);

    return def ? def->schema : NULL;
}

const struct schema *registry_kind_schema(const struct registry *reg, struct str api_version,
                                          struct str kind)
{
    struct str group = STR(""), version = api_version;

    if (str_find(api_version, '/') < api_version.n)
        (void)str_split(&version, '/', &group);
    for (size_t i = 0; i < reg->table.n_defs; i++) {
        const struct table_def *def = reg->table.defs[i];

        if (!def->is_kind || !str_eqz(kind, def->schema->short_name))
            continue;
        if (streq(def->group->alias, "meta") ||
            (str_eqz(group, def->group->group) && str_eqz(version, def->group->version)))
            return def->schema;
    }
    return NULL;
}

int registry_put_crd(struct registry *reg, const struct jsn *crd, struct err *e)
{
    const struct custom_types types = {.object_meta = registry_type(reg, "meta", "ObjectMeta"),
                                       .list_meta = registry_type(reg, "meta", "ListMeta"),
                                       .scale = registry_type(reg, "autoscaling", "Scale")};
    struct resource_owner *owner;
    int r = custom_from_crd(&types, crd, &owner, e);

    if (r < 0)
        return r;
    (void)map_put(&reg->crds, str_of(owner->name), owner);
    rebuild(reg);
    return 0;
}

bool registry_drop_crd(struct registry *reg, const char *name)
{
    if (!map_del(&reg->crds, str_of(name)))
        return false;
    rebuild(reg);
    return true;
}

const struct resource *resource_ref(const struct resource *r)
{
    if (r && r->owner)
        r->owner->refs++;
    return r;
}

const struct resource *resource_unref(const struct resource *r)
{
    if (r && r->owner)
        resource_owner_unref(r->owner);
    return NULL;
}
