/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reader of the type tables: resources, and the lists that come with them.
 *
 *   resource PLURAL KIND namespaced|cluster [short=A,B] [categories=A,B] [verbs=A,B]
 * [stored=ALIAS.KIND] sub NAME KIND VERB...               KIND may be of another group:
 * policy.Eviction rename HERE STORED                  a field that has another name where the
 * object is stored
 *
 * Verbs default to all eight.  Every resource that can be listed gets a list kind, the kind with
 * "List" after it, as a definition of its own.
 */
#include "src/cluster/apiserver/types/table.h"

#include <ctype.h>

#include "src/base/alloc.h"

#define ALL_VERBS "create,delete,deletecollection,get,list,patch,update,watch"

static const char **split_list(struct arena *a, struct str text)
{
    const char **list = NULL;
    size_t n = 0, cap = 0;
    struct str part;

    while (str_split(&text, ',', &part)) {
        arena_reserve(a, &list, &cap, n + 2, sizeof(*list));
        list[n++] = arena_str(a, part);
        list[n] = NULL;
    }
    return list;
}

static const char *lower(struct arena *a, const char *s)
{
    char *low = arena_strdup(a, s);

    for (char *p = low; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return low;
}

/* The resource of "alias.Kind" among those read so far. */
static struct resource *find_resource(struct table *t, struct str name)
{
    struct table_def *def = map_get(&t->by_name, name);

    for (size_t i = 0; def && i < t->n_resources; i++) {
        struct resource *r = t->resources[i];

        if (streq(r->kind, def->schema->short_name) && streq(r->group, def->group->group) &&
            streq(r->version, def->group->version))
            return r;
    }
    return NULL;
}

static int read_attribute(struct table *t, struct resource *r, const struct table_line *line,
                          size_t i, struct err *e)
{
    struct str value = line->words[i], key;

    (void)str_split(&value, '=', &key);
    if (str_eqz(key, "short"))
        r->short_names = split_list(t->arena, value);
    else if (str_eqz(key, "categories"))
        r->categories = split_list(t->arena, value);
    else if (str_eqz(key, "verbs"))
        r->verbs = split_list(t->arena, value);
    else if (str_eqz(key, "stored"))
        r->stored = find_resource(t, value);
    else
        return table_err(e, line->file, line->number, "unknown attribute '%s'", line->words[i].p);
    if (str_eqz(key, "stored") && !r->stored)
        return table_err(e, line->file, line->number,
                         "no resource before this one has the kind '%s'", value.p);
    return 0;
}

int table_read_resource(struct table *t, const struct table_group *g, const struct table_line *line,
                        struct err *e)
{
    struct resource *r = arena_calloc(t->arena, 1, sizeof(*r));

    if (line->n < 4)
        return table_err(e, line->file, line->number, "resource needs plural, kind and scope");
    r->group = g->group;
    r->version = g->version;
    r->plural = line->words[1].p;
    r->kind = line->words[2].p;
    r->singular = lower(t->arena, r->kind);
    r->namespaced = str_eqz(line->words[3], "namespaced");
    r->verbs = split_list(t->arena, STR(ALL_VERBS));
    if (!r->namespaced && !str_eqz(line->words[3], "cluster"))
        return table_err(e, line->file, line->number, "the scope is namespaced or cluster");
    for (size_t i = 4; i < line->n; i++) {
        int res = read_attribute(t, r, line, i, e);

        if (res < 0)
            return res;
    }
    arena_reserve(t->arena, &t->resources, &t->cap_resources, t->n_resources + 1,
                  sizeof(struct resource *));
    t->resources[t->n_resources++] = r;
    return 0;
}

static void read_sub(struct table *t, struct resource *r, const struct table_line *line)
{
    struct arena *a = t->arena;
    struct subresource *grown = arena_calloc(a, r->n_subs + 1, sizeof(*grown));
    struct subresource *s;

    if (r->n_subs)
        memcpy(grown, r->subs, r->n_subs * sizeof(*grown));
    r->subs = grown;
    s = &r->subs[r->n_subs++];
    s->name = line->words[1].p;
    s->kind = line->words[2].p; /* still with its alias, see link_sub */
    s->verbs = arena_calloc(a, line->n - 2, sizeof(*s->verbs));
    for (size_t i = 3; i < line->n; i++)
        s->verbs[i - 3] = line->words[i].p;
}

static void read_rename(struct table *t, struct resource *r, const struct table_line *line)
{
    struct resource_rename *grown = arena_calloc(t->arena, r->n_renames + 1, sizeof(*grown));

    if (r->n_renames)
        memcpy(grown, r->renames, r->n_renames * sizeof(*grown));
    r->renames = grown;
    grown[r->n_renames++] = (struct resource_rename){line->words[1].p, line->words[2].p};
}

int table_read_resource_part(struct table *t, const struct table_group *g,
                             const struct table_line *line, struct err *e)
{
    struct resource *r = t->resources[t->n_resources - 1];

    (void)g;
    if (str_eqz(line->words[0], "sub") && line->n >= 4)
        read_sub(t, r, line);
    else if (str_eqz(line->words[0], "rename") && line->n == 3)
        read_rename(t, r, line);
    else
        return table_err(e, line->file, line->number,
                         "expected sub NAME KIND VERB... or rename A B");
    return 0;
}

static struct table_group *find_group(struct table *t, const char *group, const char *version)
{
    for (size_t i = 0; i < t->n_groups; i++)
        if (streq(t->groups[i]->group, group) && streq(t->groups[i]->version, version))
            return t->groups[i];
    return NULL;
}

/* The kind of a subresource, without its alias; group and version are the alias's. */
static void link_sub(struct table *t, const struct resource *r, struct subresource *s)
{
    struct str kind = str_of(s->kind), alias;
    const struct table_group *g = find_group(t, r->group, r->version);
    const struct table_def *def;

    if (str_find(kind, '.') < kind.n) {
        (void)str_split(&kind, '.', &alias);
        for (size_t i = 0; i < t->n_groups; i++)
            if (str_eqz(alias, t->groups[i]->alias))
                g = t->groups[i];
        s->kind = arena_str(t->arena, kind);
    }
    s->group = g->group;
    s->version = g->version;
    def = table_find(t, g->alias, s->kind);
    s->schema = def ? def->schema : NULL;
}

static void list_property(struct table *t, struct schema *s, struct schema_property p)
{
    size_t cap = s->n_properties;

    arena_reserve(t->arena, &s->properties, &cap, s->n_properties + 1, sizeof(p));
    s->properties[s->n_properties++] = p;
}

/* PodList: apiVersion, kind, metadata, items. */
static int add_list_kind(struct table *t, struct resource *r, const struct table_def *item,
                         struct err *e)
{
    const struct table_def *meta = table_find(t, "meta", "ListMeta");
    struct table_line where = {.file = item->file};
    struct schema *items = arena_alloc(t->arena, sizeof(*items));
    struct table_def *def;
    int res;

    if (!meta)
        return err_bad(e, "the tables lack meta.ListMeta");
    res = table_add_def(t, &where, item->group, str_of(r->list_kind), &def, e);
    if (res < 0)
        return res;
    schema_init(items, SCHEMA_ARRAY);
    items->items = item->schema;
    def->is_kind = true;
    def->schema->group = r->group;
    def->schema->version = r->version;
    def->schema->name = arena_printf(t->arena, "%s.%s", item->group->prefix, r->list_kind);
    def->schema->description = arena_printf(t->arena, "A list of objects of the kind %s.", r->kind);
    for (size_t i = 0; i < 2; i++)
        list_property(t, def->schema, item->schema->properties[i]);
    list_property(t, def->schema,
                  (struct schema_property){STR("metadata"), meta->schema, 1, false, false, true});
    list_property(t, def->schema,
                  (struct schema_property){STR("items"), items, 2, true, false, true});
    arena_reserve(t->arena, &t->defs, &t->cap_defs, t->n_defs + 1, sizeof(struct table_def *));
    t->defs[t->n_defs++] = def;
    r->list_schema = def->schema;
    return 0;
}

int table_link_resources(struct table *t, struct err *e)
{
    for (size_t i = 0; i < t->n_resources; i++) {
        struct resource *r = t->resources[i];
        const struct table_group *g = find_group(t, r->group, r->version);
        const struct table_def *def = table_find(t, g->alias, r->kind);
        int res;

        if (!def || !def->is_kind)
            return err_bad(e, "resource %s: there is no kind %s", r->plural, r->kind);
        r->schema = def->schema;
        r->list_kind = arena_printf(t->arena, "%sList", r->kind);
        for (size_t k = 0; k < r->n_subs; k++)
            link_sub(t, r, &r->subs[k]);
        if (!resource_has_verb(r, "list"))
            continue;
        res = add_list_kind(t, r, def, e);
        if (res < 0)
            return res;
    }
    return 0;
}
