/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resources from a CustomResourceDefinition.
 *
 * Each version becomes a resource; one that is not served may still be the one that stores.  Its
 * schema is the version's openAPIV3Schema with the properties that every object has: apiVersion,
 * kind and metadata are Kubernetes' own; all that a CRD may add are rules for name and
 * generateName. A version without a schema accepts everything.  Definition names turn the group
 * around, as Kubernetes does: net.slurm.slinky.v1beta1.NodeSet.
 */
#include "src/cluster/apiserver/types/custom.h"

#include "src/base/alloc.h"
#include "src/base/hash.h"
#include "src/json/pattern.h"
#include "src/json/schema_openapi.h"

static const char *crd_verbs[] = {"delete", "deletecollection", "get",   "list", "patch",
                                  "create", "update",           "watch", NULL};
static const char *sub_verbs[] = {"get", "patch", "update", NULL};

void resource_owner_unref(struct resource_owner *o)
{
    if (!o || --o->refs > 0)
        return;
    (void)pattern_cache_free(o->patterns);
    arena_done(&o->arena);
    free(o);
}

/* "slinky.slurm.net" to "net.slurm.slinky". */
static const char *reverse_group(struct arena *a, const char *group)
{
    char *out = arena_alloc(a, strlen(group) + 1);
    size_t at = strlen(group);
    struct str rest = str_of(group), part;

    out[at] = '\0';
    while (str_split(&rest, '.', &part)) {
        at -= part.n;
        memcpy(out + at, part.p, part.n);
        if (at > 0)
            out[--at] = '.';
    }
    return out;
}

static const char **string_list(struct arena *a, const struct jsn *v)
{
    const char **list = arena_calloc(a, jsn_len(v) + 1, sizeof(*list));
    size_t n = 0;

    JSN_FOR_ITEMS (item, v)
        if (jsn_text(item))
            list[n++] = jsn_text(item);
    return list;
}

static struct schema *new_schema(struct arena *a, enum schema_type type)
{
    struct schema *s = arena_alloc(a, sizeof(*s));

    schema_init(s, type);
    return s;
}

static struct schema *text_schema(struct arena *a, const char *description)
{
    struct schema *s = new_schema(a, SCHEMA_STRING);

    s->description = description;
    s->go_type = "string";
    return s;
}

/* ObjectMeta with the rules that a CRD has for name and generateName. */
static struct schema *own_metadata(struct arena *a, const struct schema *meta,
                                   const struct schema *wanted)
{
    struct schema *own = new_schema(a, SCHEMA_OBJECT);

    *own = *meta;
    own->refines = meta;
    own->description = "Name, labels and other facts about the object.";
    own->properties = arena_calloc(a, meta->n_properties, sizeof(*own->properties));
    for (size_t i = 0; i < meta->n_properties; i++) {
        struct str name = meta->properties[i].name;
        const struct schema_property *p = schema_property(wanted, name);

        own->properties[i] = meta->properties[i];
        if (p && (str_eqz(name, "name") || str_eqz(name, "generateName"))) {
            struct schema *rules = new_schema(a, SCHEMA_STRING);

            *rules = *p->schema;
            rules->description = meta->properties[i].schema->description;
            own->properties[i].schema = rules;
        }
    }
    return own;
}

/* apiVersion, kind and metadata in front; then what the CRD says, without its own idea of these. */
static void add_object_properties(struct arena *a, struct schema *s, const struct schema *meta)
{
    struct schema_property *p = arena_calloc(a, s->n_properties + 3, sizeof(*p));
    const struct schema_property *wanted = schema_property(s, STR("metadata"));
    struct schema *own_meta = own_metadata(a, meta, wanted ? wanted->schema : NULL);
    size_t n = 0;

    p[n++] = (struct schema_property){
        .name = STR("apiVersion"),
        .schema = text_schema(a, "Group and version that the object is written in.")};
    p[n++] = (struct schema_property){.name = STR("kind"),
                                      .schema = text_schema(a, "Kind of the object.")};
    p[n++] = (struct schema_property){.name = STR("metadata"), .schema = own_meta};
    for (size_t i = 0; i < s->n_properties; i++) {
        struct str name = s->properties[i].name;

        if (!str_eq(name, p[0].name) && !str_eq(name, p[1].name) && !str_eq(name, p[2].name))
            p[n++] = s->properties[i];
    }
    s->properties = p;
    s->n_properties = n;
}

static int make_schema(const struct custom_types *types, struct arena *a, struct resource *r,
                       const struct jsn *version, const char *name, struct err *e)
{
    const struct jsn *source = jsn_get(version, "schema.openAPIV3Schema");
    struct schema *s = new_schema(a, SCHEMA_OBJECT);
    int res;

    s->preserve_unknown = true;
    if (source) {
        res = schema_from_openapi(a, source, &s, e);
        if (res < 0)
            return err_wrap(e, res, "version %s: schema.openAPIV3Schema", r->version);
    }
    add_object_properties(a, s, types->object_meta);
    s->type = SCHEMA_OBJECT;
    s->name = name;
    s->short_name = r->kind;
    s->group = r->group;
    s->version = r->version;
    r->schema = s;
    return 0;
}

static void make_list_schema(const struct custom_types *types, struct arena *a, struct resource *r,
                             const char *name)
{
    struct schema *s = new_schema(a, SCHEMA_OBJECT), *items = new_schema(a, SCHEMA_ARRAY);
    struct schema_property *p = arena_calloc(a, 4, sizeof(*p));

    items->items = r->schema;
    p[0] = r->schema->properties[0];
    p[1] = r->schema->properties[1];
    p[2] = (struct schema_property){.name = STR("metadata"), .schema = types->list_meta};
    p[3] = (struct schema_property){.name = STR("items"), .schema = items, .required = true};
    s->properties = p;
    s->n_properties = 4;
    s->name = name;
    s->short_name = r->list_kind;
    s->description = arena_printf(a, "A list of objects of the kind %s.", r->kind);
    s->group = r->group;
    s->version = r->version;
    r->list_schema = s;
}

static void make_subs(const struct custom_types *types, struct arena *a, struct resource *r,
                      const struct jsn *version)
{
    r->subs = arena_calloc(a, 2, sizeof(*r->subs));
    if (jsn_is(jsn_get(version, "subresources.status"), JSN_OBJECT))
        r->subs[r->n_subs++] =
            (struct subresource){"status", r->group, r->version, r->kind, sub_verbs, r->schema};
    if (jsn_is(jsn_get(version, "subresources.scale"), JSN_OBJECT))
        r->subs[r->n_subs++] =
            (struct subresource){"scale", "autoscaling", "v1", "Scale", sub_verbs, types->scale};
}

/* Objects carry the mark of the schema they were written by; a new way of applying schemas would
 * need a new number here. */
static uint32_t mark_of(const struct jsn *version)
{
    const struct jsn *schema = jsn_key(version, "schema");
    AUTO(buf_done) struct buf b = {0};
    uint32_t mark;

    buf_adds(&b, "1:");
    if (schema)
        jsn_print(&b, schema);
    mark = hash_stable32(buf_view(&b));
    return mark ? mark : 1;
}

static int make_version(const struct custom_types *types, struct resource_owner *o,
                        const struct jsn *crd, const struct jsn *version, struct err *e)
{
    struct resource *r = &o->resources[o->n_resources];
    struct arena *a = &o->arena;
    const struct jsn *names = jsn_get(crd, "spec.names");
    const char *prefix;
    int res;

    r->group = jsn_get_str(crd, "spec.group");
    r->version = jsn_get_str(version, "name");
    r->plural = jsn_get_str(names, "plural");
    r->kind = jsn_get_str(names, "kind");
    if (!r->group || !r->version || !r->plural || !r->kind)
        return err_bad(e, "the definition lacks its group, its names or the name of a version");
    r->singular = jsn_get_str(names, "singular");
    r->singular = r->singular ? r->singular : "";
    r->list_kind = jsn_get_str(names, "listKind");
    r->list_kind = r->list_kind ? r->list_kind : arena_printf(a, "%sList", r->kind);
    r->short_names = string_list(a, jsn_key(names, "shortNames"));
    r->categories = string_list(a, jsn_key(names, "categories"));
    r->verbs = crd_verbs;
    r->namespaced = streq(jsn_get_str(crd, "spec.scope"), "Namespaced");
    r->custom = true;
    r->owner = o;
    r->crd_version = version;
    r->unserved = !jsn_get_bool(version, "served", false);
    r->schema_mark = mark_of(version);
    prefix = arena_printf(a, "%s.%s", reverse_group(a, r->group), r->version);
    res = make_schema(types, a, r, version, arena_printf(a, "%s.%s", prefix, r->kind), e);
    if (res < 0)
        return res;
    make_list_schema(types, a, r, arena_printf(a, "%s.%s", prefix, r->list_kind));
    make_subs(types, a, r, version);
    o->n_resources++;
    return 0;
}

/* Point every version to the one that stores. */
static void link_stored(struct resource_owner *o)
{
    const struct resource *stored = NULL;

    for (size_t i = 0; i < o->n_resources; i++)
        if (jsn_get_bool(o->resources[i].crd_version, "storage", false))
            stored = &o->resources[i];
    for (size_t i = 0; i < o->n_resources; i++)
        o->resources[i].stored = &o->resources[i] == stored ? NULL : stored;
}

int custom_from_crd(const struct custom_types *types, const struct jsn *crd,
                    struct resource_owner **ret, struct err *e)
{
    AUTO(resource_owner_unref) struct resource_owner *o = xcalloc(1, sizeof(*o));
    const struct jsn *copy, *versions;

    o->refs = 1;
    copy = jsn_clone(&o->arena, crd);
    versions = jsn_get(copy, "spec.versions");
    o->name = jsn_get_str(copy, "metadata.name");
    if (!o->name)
        return err_bad(e, "the definition has no name");
    o->resources = arena_calloc(&o->arena, jsn_len(versions) + 1, sizeof(*o->resources));
    JSN_FOR_ITEMS (version, versions) {
        int r = make_version(types, o, copy, version, e);

        if (r < 0)
            return err_wrap(e, r, "custom resource definition %s", o->name);
    }
    link_stored(o);
    o->patterns = pattern_cache_new();
    *ret = TAKE(o);
    return 0;
}
