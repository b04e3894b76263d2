/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reader of the type tables, second pass: fields to properties.
 *
 * Type names are resolved by pointer, so recursive types are loops in the graph.  What Go embeds is
 * spread into the outer object (JSON sees one object) and noted as an inline as well (protobuf sees
 * a message).  A field with attributes or a description of its own gets its own node: lists, maps
 * and scalars at once; of an object, a copy of the definition, made when all are complete.
 */
#include "src/cluster/apiserver/types/table.h"

#include "src/base/alloc.h"

enum { LINK_NEW, LINK_BUSY, LINK_DONE };

/* A copy that waits for its definition to be complete. */
struct pending {
    struct schema *node;
    const struct schema *base;
    const struct table_field *field;
    const char *file;
};

struct linker {
    struct table *t;
    struct pending *pending;
    size_t n, cap;
};

static struct schema *new_node(struct table *t, enum schema_type type)
{
    struct schema *s = arena_alloc(t->arena, sizeof(*s));

    schema_init(s, type);
    return s;
}

static struct table_def *find_def(const struct table *t, const struct table_group *g,
                                  struct str name)
{
    char key[192];
    int n;

    if (str_find(name, '.') < name.n)
        return map_get(&t->by_name, name);
    n = snprintf(key, sizeof(key), "%s." STR_FMT, g->alias, STR_ARG(name));
    return n < (int)sizeof(key) ? map_get(&t->by_name, str_of(key)) : NULL;
}

/* "schemaorbool" and its like: a schema of CRDs, or something simpler. */
static const struct schema *union_node(struct table *t, struct str type)
{
    static const struct {
        const char *word;
        const char *name;
        enum schema_codec codec;
    } unions[] = {
        {"schemaorbool", "JSONSchemaPropsOrBool", SCHEMA_OR_BOOL},
        {"schemaorarray", "JSONSchemaPropsOrArray", SCHEMA_OR_ARRAY},
        {"schemaorstrings", "JSONSchemaPropsOrStringArray", SCHEMA_OR_STRINGS},
    };
    const struct table_def *props = table_find(t, "apiextensions", "JSONSchemaProps");

    for (size_t i = 0; i < ARRAY_LEN(unions) && props; i++) {
        if (str_eqz(type, unions[i].word)) {
            struct schema *s = new_node(t, SCHEMA_ANY);

            s->codec = unions[i].codec;
            s->items = props->schema;
            s->name = arena_printf(t->arena, "%s.%s", props->group->prefix, unions[i].name);
            s->short_name = unions[i].name;
            s->go_type = arena_printf(t->arena, "v1.%s", unions[i].name);
            return s;
        }
    }
    return NULL;
}

/* The node of a type's text; NULL if a name in it is unknown. */
static const struct schema *resolve(struct table *t, const struct table_group *g, struct str type)
{
    const struct schema *inner;
    struct table_def *def;
    struct schema *s;

    if (str_starts(type, "[]")) {
        inner = resolve(t, g, (struct str){type.p + 2, type.n - 2});
        s = new_node(t, SCHEMA_ARRAY);
        s->items = inner;
        return inner ? s : NULL;
    }
    if (str_starts(type, "map[string]")) {
        inner = resolve(t, g, (struct str){type.p + 11, type.n - 11});
        s = new_node(t, SCHEMA_OBJECT);
        s->additional = inner;
        return inner ? s : NULL;
    }
    inner = table_scalar(type);
    if (!inner)
        inner = union_node(t, type);
    if (inner)
        return inner;
    def = find_def(t, g, type);
    return def ? def->schema : NULL;
}

static int default_value(struct arena *a, const struct schema *s, struct str text,
                         const struct jsn **ret)
{
    int64_t i;

    if (s->type == SCHEMA_INTEGER || s->type == SCHEMA_INT_OR_STRING) {
        if (str_to_i64(text, &i) == 0)
            *ret = jsn_int(a, i);
        else if (s->type == SCHEMA_INT_OR_STRING)
            *ret = jsn_str(a, text);
        else
            return -EINVAL;
    } else if (s->type == SCHEMA_BOOLEAN) {
        *ret = jsn_bool(a, str_eqz(text, "true"));
    } else if (s->type == SCHEMA_STRING) {
        *ret = jsn_str(a, text);
    } else if (s->type == SCHEMA_OBJECT && str_eqz(text, "{}")) {
        *ret = jsn_object(a);
    } else {
        return -EINVAL;
    }
    return 0;
}

static const char **split_keys(struct arena *a, struct str keys)
{
    const char **list = NULL;
    size_t n = 0, cap = 0;
    struct str key;

    while (str_split(&keys, ',', &key)) {
        arena_reserve(a, &list, &cap, n + 2, sizeof(*list));
        list[n++] = arena_str(a, key);
        list[n] = NULL;
    }
    return list;
}

static bool has_attributes(const struct table_field *f)
{
    return f->description.n || f->default_text.p || f->merge || f->keys.n || f->set || f->atomic ||
           f->granular || f->retain_keys || f->replace;
}

/* How patches and apply merge the field. */
static void set_merge(struct arena *a, struct schema *s, const struct table_field *f)
{
    struct str keys = f->keys.n ? f->keys : f->merge_key;

    s->patch |= f->merge ? SCHEMA_PATCH_MERGE : 0u;
    s->patch |= f->retain_keys ? SCHEMA_PATCH_RETAIN_KEYS : 0u;
    s->patch |= f->replace ? SCHEMA_PATCH_REPLACE : 0u;
    if (f->merge_key.n)
        s->patch_key = arena_str(a, f->merge_key);
    if (f->atomic) {
        s->merge = SCHEMA_MERGE_ATOMIC;
    } else if (f->granular) {
        s->merge = SCHEMA_MERGE_GRANULAR;
    } else if (keys.n) {
        s->merge = SCHEMA_MERGE_MAP;
        s->list_keys = split_keys(a, keys);
    } else if (f->set || (f->merge && s->type == SCHEMA_ARRAY)) {
        s->merge = SCHEMA_MERGE_SET;
    }
}

static int refine(struct table *t, struct schema *s, const struct table_field *f, const char *file,
                  struct err *e)
{
    if (f->description.n)
        s->description = arena_str(t->arena, f->description);
    if (f->default_text.p && default_value(t->arena, s, f->default_text, &s->default_value) < 0)
        return table_err(e, file, f->line, "the default does not suit the type");
    set_merge(t->arena, s, f);
    return 0;
}

/* The node of a field: the type's own where the field adds nothing to it. */
static int field_node(struct linker *l, const struct table_def *def, const struct table_field *f,
                      const struct schema **ret, struct err *e)
{
    const struct schema *base = resolve(l->t, def->group, f->type);
    struct schema *node;

    if (!base)
        return table_err(e, def->file, f->line, "unknown type '" STR_FMT "'", STR_ARG(f->type));
    *ret = base;
    if (!has_attributes(f))
        return 0;
    node = new_node(l->t, base->type);
    *ret = node;
    if (base->type == SCHEMA_OBJECT && base->name) {
        arena_reserve(l->t->arena, &l->pending, &l->cap, l->n + 1, sizeof(*l->pending));
        l->pending[l->n++] = (struct pending){node, base, f, def->file};
        return 0;
    }
    *node = *base;
    node->refines = base->name ? base : NULL;
    return refine(l->t, node, f, def->file, e);
}

static void add_property(struct table *t, struct schema *s, size_t *cap, struct schema_property p)
{
    arena_reserve(t->arena, &s->properties, cap, s->n_properties + 1, sizeof(p));
    s->properties[s->n_properties++] = p;
}

static int link_def(struct linker *l, struct table_def *def, struct err *e);

static int link_inline(struct linker *l, struct table_def *def, const struct table_field *f,
                       size_t *cap, struct err *e)
{
    struct table_def *inner = find_def(l->t, def->group, f->type);
    struct schema *s = def->schema;
    struct schema_inline *grown;
    int r;

    if (!inner || inner->state == LINK_BUSY)
        return table_err(e, def->file, f->line, "cannot embed '" STR_FMT "'", STR_ARG(f->type));
    r = link_def(l, inner, e);
    if (r < 0)
        return r;
    grown = arena_calloc(l->t->arena, s->n_inlines + 1, sizeof(*grown));
    if (s->n_inlines)
        memcpy(grown, s->inlines, s->n_inlines * sizeof(*grown));
    grown[s->n_inlines++] = (struct schema_inline){f->proto, inner->schema};
    s->inlines = grown;
    for (size_t i = 0; i < inner->schema->n_properties; i++) {
        struct schema_property p = inner->schema->properties[i];

        p.proto = 0;
        add_property(l->t, s, cap, p);
    }
    return 0;
}

static void add_type_meta(struct table *t, struct schema *s, size_t *cap)
{
    static const char *const texts[][2] = {
        {"apiVersion", "Group and version that the object is written in."},
        {"kind", "Kind of the object."},
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct schema *node = new_node(t, SCHEMA_STRING);

        *node = *table_scalar(STR("string"));
        node->description = texts[i][1];
        add_property(t, s, cap,
                     (struct schema_property){.name = str_of(texts[i][0]), .schema = node});
    }
}

static int link_def(struct linker *l, struct table_def *def, struct err *e)
{
    size_t cap = 0;

    if (def->state != LINK_NEW)
        return 0;
    def->state = LINK_BUSY;
    if (def->is_kind)
        add_type_meta(l->t, def->schema, &cap);
    for (size_t i = 0; i < def->n_fields; i++) {
        struct table_field *f = &def->fields[i];
        struct schema_property p = {.name = f->name,
                                    .proto = f->proto,
                                    .required = f->required,
                                    .pointer = f->pointer,
                                    .always = f->always};
        int r;

        if (def->is_kind && str_eqz(f->name, "metadata") && !f->description.n)
            f->description = STR("Name, labels and other facts about the object.");
        if (str_eqz(f->name, "inline")) {
            r = link_inline(l, def, f, &cap, e);
        } else {
            r = field_node(l, def, f, &p.schema, e);
            add_property(l->t, def->schema, &cap, p);
        }
        if (r < 0)
            return r;
    }
    def->state = LINK_DONE;
    return 0;
}

int table_link(struct table *t, struct err *e)
{
    struct linker l = {.t = t};

    for (size_t i = 0; i < t->n_defs; i++) {
        int r = link_def(&l, t->defs[i], e);

        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < l.n; i++) {
        const struct pending *p = &l.pending[i];
        int r;

        *p->node = *p->base;
        p->node->refines = p->base;
        r = refine(t, p->node, p->field, p->file, e);
        if (r < 0)
            return r;
    }
    return 0;
}
