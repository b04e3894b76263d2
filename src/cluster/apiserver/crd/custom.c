/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Custom objects between the generic verbs and the schema of their definition.
 *
 * Order, as in kube-apiserver: a body loses nulls and unknown fields, then gets defaults, and is
 * validated by the version it came through.  The version that stores has the last word: what is
 * stored has been pruned and defaulted by its schema, and carries the schema's mark, so that
 * reading it back needs no look at it until the schema changes.
 *
 * Validation goes through the schema, the numbers of the scale subresource, embedded resources,
 * lists that are sets or maps, and at last the rules; those only if nothing before them was so
 * wrong that they could not be evaluated.
 */
#include "src/cluster/apiserver/crd/custom.h"

#include "src/cluster/apiserver/types/custom.h"
#include "src/json/structural.h"

uint32_t custom_schema_mark(const struct resource *res)
{
    return res->schema_mark;
}

/* Kubernetes' own schema of metadata, without the rules that the definition added. */
static const struct schema *object_meta(const struct resource *res)
{
    const struct schema_property *p = schema_property(res->schema, STR("metadata"));

    if (!p)
        return NULL;
    return p->schema->refines ? p->schema->refines : p->schema;
}

static struct structural how(const struct resource *res)
{
    return (struct structural){.object_meta = object_meta(res),
                               .patterns = res->owner ? res->owner->patterns : NULL};
}

static void note(struct arena *a, struct type_notes *n, const char *what, const char *path)
{
    if (!n || n->n_texts >= TYPE_MAX_NOTES)
        return;
    arena_reserve(a, &n->texts, &n->cap_texts, n->n_texts + 1, sizeof(*n->texts));
    n->texts[n->n_texts++] = arena_printf(a, "%s field \"%s\"", what, path);
}

/* metadata as Go's type has it; what it does not know goes without a word, pruning has noted it. */
static int check_metadata(struct arena *a, const struct resource *res, struct jsn *object,
                          struct err *e)
{
    struct schema_property p = {.name = STR("metadata"), .schema = object_meta(res)};
    struct schema s = {
        .type = SCHEMA_OBJECT, .short_name = res->kind, .properties = &p, .n_properties = 1};
    struct jsn *meta = jsn_key(object, "metadata");
    struct jsn *only = jsn_object(a);

    if (!meta)
        return 0;
    jsn_set(a, only, "metadata", meta);
    return type_check(a, &s, only, NULL, e);
}

int custom_on_write(struct arena *a, const struct resource *res, struct jsn *object,
                    struct type_notes *notes, struct err *e)
{
    const struct structural by = how(res);
    const struct jsn_notes *parsed = notes ? notes->parsed : NULL;
    struct schema_unknown unknown = {.arena = a};
    int r;

    for (size_t i = 0; parsed && i < parsed->n_duplicates; i++)
        note(a, notes, "duplicate", parsed->duplicates[i]);
    schema_drop_nulls(object, res->schema);
    schema_prune(&by, object, res->schema, notes ? &unknown : NULL);
    for (size_t i = 0; i < unknown.n; i++)
        note(a, notes, "unknown", unknown.paths[i]);
    r = check_metadata(a, res, object, e);
    return r < 0 ? r : embedded_check_types(a, res->schema, object, by.object_meta, e);
}

void custom_default(struct arena *a, const struct resource *res, struct jsn *object)
{
    schema_default(a, object, res->schema);
}

void custom_on_read(struct arena *a, const struct resource *res, struct jsn *object)
{
    const struct structural by = how(res);

    schema_default(a, object, res->schema);
    schema_prune(&by, object, res->schema, NULL);
}

static void add_faults(struct causes *cs, const struct schema_faults *f)
{
    for (size_t i = 0; i < f->n; i++)
        cause_add(cs, f->items[i].reason, f->items[i].field, "%s", f->items[i].text);
}

/* The object with kind and apiVersion, which a schema may require. */
static struct jsn *whole(struct arena *a, const struct resource *res, const struct jsn *object)
{
    struct jsn *o = jsn_object(a);

    jsn_set(a, o, "apiVersion", jsn_stringf(a, "%s/%s", res->group, res->version));
    jsn_set_str(a, o, "kind", res->kind);
    JSN_FOR_MEMBERS (m, object)
        jsn_set_member(a, o, m->key, m->value);
    return o;
}

/* The status by itself, under its own name. */
static void validate_status(const struct structural *by, const struct resource *res,
                            const struct jsn *object, struct schema_faults *f)
{
    struct schema_property p = {.name = STR("status"),
                                .schema = schema_member(res->schema, STR("status"))};
    struct schema s;

    schema_init(&s, SCHEMA_OBJECT);
    s.properties = &p;
    s.n_properties = 1;
    schema_validate(by, &s, object, NULL, false, f);
}

static void validate_schema(struct causes *cs, const struct resource *res, const struct jsn *object,
                            enum custom_door door)
{
    const struct structural by = how(res);
    struct schema_faults f = {.arena = cs->arena};

    if (door == CUSTOM_WHOLE)
        schema_validate(&by, res->schema, object, NULL, true, &f);
    else
        validate_status(&by, res, object, &f);
    add_faults(cs, &f);
}

/* A list that had doubles before may keep them: they came in when the schema allowed it. */
static void validate_lists(struct causes *cs, const struct resource *res, const struct jsn *object,
                           const struct jsn *old)
{
    struct schema_faults before = {.arena = cs->arena}, f = {.arena = cs->arena};

    if (old)
        schema_validate_lists(res->schema, old, NULL, &before);
    if (before.n > 0)
        return;
    schema_validate_lists(res->schema, object, NULL, &f);
    add_faults(cs, &f);
}

/* Values of a wrong type or size would make rules fail for reasons of their own. */
static bool blocks_rules(const struct causes *cs)
{
    static const char *const reasons[] = {"FieldValueRequired",     "FieldValueTooLong",
                                          "FieldValueTooMany",      "FieldValueTypeInvalid",
                                          "FieldValueNotSupported", NULL};

    for (size_t i = 0; i < cs->n; i++)
        if (strings_have(reasons, cs->items[i].reason))
            return true;
    return false;
}

static void validate_rules(struct causes *cs, const struct resource *res, const struct jsn *object,
                           const struct jsn *old)
{
    const struct structural by = how(res);
    struct schema_faults f = {.arena = cs->arena};

    if (!res->schema->has_rules)
        return;
    if (blocks_rules(cs)) {
        cause_add(cs, "FieldValueInvalid", "<nil>",
                  "Invalid value: null: some validation rules were not checked because the "
                  "object was invalid; correct the existing errors to complete validation");
        return;
    }
    schema_validate_rules(&by, res->schema, object, old, &f);
    add_faults(cs, &f);
}

void custom_validate(struct causes *cs, const struct resource *res, const struct jsn *object,
                     const struct jsn *old, enum custom_door door)
{
    const struct jsn *o = whole(cs->arena, res, object);

    validate_schema(cs, res, o, door);
    custom_validate_scale(cs, res, o, door);
    if (door == CUSTOM_WHOLE)
        embedded_validate(cs, res->schema, o);
    validate_lists(cs, res, o, old);
    validate_rules(cs, res, o, old ? whole(cs->arena, res, old) : NULL);
}
