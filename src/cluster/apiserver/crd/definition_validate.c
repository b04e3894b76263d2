/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of a definition as a whole.
 *
 * Kubernetes keeps what is equal in all versions (schema, subresources, columns) at the top of its
 * internal form, and its refusals name the fields of that form: a definition with one version gets
 * complaints about spec.validation, spec.subresources and spec.additionalPrinterColumns, though it
 * has none of these.  People search for these sentences, so they are the same here.
 *
 * A conversion webhook would have to be called for every read; this server has none and refuses it
 * by name, instead of storing objects that no client could read back in its version.
 */
#include "src/base/alloc.h"
#include "src/base/map.h"
#include "src/cluster/apiserver/crd/definition.h"
#include "src/cluster/apiserver/gotext.h"

static struct jsn *version_at(const struct jsn *versions, size_t i)
{
    return jsn_item(versions, i);
}

/* Do all versions have the same there?  Absent in all counts. */
static bool same_in_all(const struct jsn *versions, const char *key)
{
    for (size_t i = 1; i < jsn_len(versions); i++)
        if (!jsn_equal(jsn_key(version_at(versions, 0), key),
                       jsn_key(version_at(versions, i), key)))
            return false;
    return true;
}

static bool has_status(const struct jsn *version)
{
    return jsn_is(jsn_get(version, "subresources.status"), JSN_OBJECT);
}

static bool any_has_status(const struct jsn *versions)
{
    JSN_FOR_ITEMS (version, versions)
        if (has_status(version))
            return true;
    return false;
}

/* Keywords that survive when the status is looked at by itself. */
static void check_status_root(struct causes *cs, const struct place *schema)
{
    static const char *const allowed[] = {"description",
                                          "type",
                                          "format",
                                          "title",
                                          "maximum",
                                          "exclusiveMaximum",
                                          "minimum",
                                          "exclusiveMinimum",
                                          "maxLength",
                                          "minLength",
                                          "pattern",
                                          "maxItems",
                                          "minItems",
                                          "uniqueItems",
                                          "multipleOf",
                                          "required",
                                          "items",
                                          "properties",
                                          "externalDocs",
                                          "example",
                                          "x-kubernetes-preserve-unknown-fields",
                                          "x-kubernetes-validations",
                                          NULL};
    struct place type = place_key(schema, "type");

    if (place_filled(&type) && !streq(place_str(&type), "object")) {
        place_invalid(cs, &type,
                      "only \"object\" is allowed as the type at the root of the schema if the "
                      "status subresource is enabled");
        return;
    }
    JSN_FOR_MEMBERS (m, schema->value) {
        if (strings_have(allowed, m->key.p) || (jsn_is(m->value, JSN_BOOL) && !m->value->b))
            continue;
        cause_invalid(cs, place_text(cs, schema), jsn_str(cs->arena, m->key),
                      "only [Description Type Format Title Maximum ExclusiveMaximum Minimum "
                      "ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems "
                      "MultipleOf Required Items Properties ExternalDocs Example "
                      "XPreserveUnknownFields XValidations] fields are allowed at the root of the "
                      "schema if the status subresource is enabled");
        return;
    }
}

/* `validation` is {"openAPIV3Schema": ...}. */
static void check_schema(struct causes *cs, const struct place *validation, bool status)
{
    struct place schema = place_key(validation, "openAPIV3Schema");
    struct place nullable = place_key(&schema, "nullable");
    size_t before = cs->n;
    struct err e = {0};
    int r = 0;

    if (!place_given(&schema))
        return;
    if (status)
        check_status_root(cs, &schema);
    if (place_true(&nullable))
        place_forbidden(cs, &nullable, "nullable cannot be true at the root");
    if (definition_check_structural(cs, &schema) && cs->n == before)
        r = definition_check_defaults(cs, &schema, &e);
    definition_check_openapi(cs, &schema);
    if (r < 0 && cs->n == before)
        place_invalid_text(cs, &schema, "\"\"", "%s", e.text);
}

/* What versions have of their own, apart from what is the same in all. */
static void check_version(struct causes *cs, const struct place *versions, const struct place *v)
{
    struct place name = place_key(v, "name");
    struct place schema = place_key(v, "schema");
    struct place subresources = place_key(v, "subresources");
    struct place columns = place_key(v, "additionalPrinterColumns");
    struct place selectable = place_key(v, "selectableFields");

    definition_check_form(cs, &name, FORM_DNS1035_LABEL, "");
    definition_check_warning(cs, v);
    if (!same_in_all(versions->value, "schema"))
        check_schema(cs, &schema, has_status(v->value));
    if (!same_in_all(versions->value, "subresources"))
        definition_check_subresources(cs, &subresources);
    if (!same_in_all(versions->value, "additionalPrinterColumns"))
        definition_check_columns(cs, &columns);
    if (!same_in_all(versions->value, "selectableFields"))
        definition_check_selectable(cs, &selectable, jsn_get(v->value, "schema.openAPIV3Schema"));
}

/* What is the same in all versions, under the names that Kubernetes has for it at the top. */
static void check_common(struct causes *cs, const struct place *spec, const struct jsn *versions)
{
    const struct jsn *first = version_at(versions, 0);
    struct place schema = {.in = spec, .name = "validation", .value = jsn_key(first, "schema")};
    struct place subresources = {
        .in = spec, .name = "subresources", .value = jsn_key(first, "subresources")};
    struct place columns = {.in = spec,
                            .name = "additionalPrinterColumns",
                            .value = jsn_key(first, "additionalPrinterColumns")};
    struct place selectable = {
        .in = spec, .name = "selectableFields", .value = jsn_key(first, "selectableFields")};

    if (same_in_all(versions, "schema"))
        check_schema(cs, &schema, any_has_status(versions));
    if (same_in_all(versions, "subresources"))
        definition_check_subresources(cs, &subresources);
    if (same_in_all(versions, "additionalPrinterColumns"))
        definition_check_columns(cs, &columns);
    if (same_in_all(versions, "selectableFields"))
        definition_check_selectable(cs, &selectable, jsn_get(first, "schema.openAPIV3Schema"));
}

/* The versions in short, for messages: Kubernetes prints its whole inner form. */
static const char *versions_text(struct causes *cs, const struct jsn *versions)
{
    AUTO(buf_done) struct buf b = {0};

    buf_addc(&b, '[');
    JSN_FOR_ITEMS (v, versions) {
        const char *name = jsn_get_str(v, "name");

        buf_printf(&b, "%s{\"Name\":", v_i ? "," : "");
        jsn_print_string(&b, str_of(name ? name : ""));
        buf_printf(&b, ",\"Served\":%s,\"Storage\":%s}",
                   jsn_get_bool(v, "served", false) ? "true" : "false",
                   jsn_get_bool(v, "storage", false) ? "true" : "false");
    }
    buf_addc(&b, ']');
    return arena_str(cs->arena, buf_view(&b));
}

static bool names_twice(const struct jsn *versions)
{
    AUTO(map_done) struct map seen = {0};
    static char mark;

    JSN_FOR_ITEMS (v, versions) {
        const char *name = jsn_get_str(v, "name");

        if (!map_put(&seen, str_of(name ? name : ""), &mark))
            return true;
    }
    return false;
}

static void check_versions(struct causes *cs, const struct place *spec,
                           const struct place *versions)
{
    /* The inner form has the first version's name once more. */
    struct place first = {
        .in = spec, .name = "version", .value = jsn_key(version_at(versions->value, 0), "name")};
    size_t stored = 0;

    PLACE_FOR_ITEMS (v, versions) {
        struct place schema = place_key(&v, "schema");
        struct place openapi = place_key(&schema, "openAPIV3Schema");

        if (!place_given(&openapi))
            place_required(cs, &openapi, NULL);
    }
    PLACE_FOR_ITEMS (v, versions) {
        stored += jsn_get_bool(v.value, "storage", false);
        check_version(cs, versions, &v);
    }
    if (names_twice(versions->value))
        place_invalid_text(cs, versions, versions_text(cs, versions->value),
                           "must contain unique version names");
    if (stored != 1)
        place_invalid_text(cs, versions, versions_text(cs, versions->value),
                           "must have exactly one version marked as storage version");
    if (place_filled(&first))
        definition_check_form(cs, &first, FORM_DNS1035_LABEL, "");
}

static void check_group(struct causes *cs, const struct place *group)
{
    size_t before = cs->n;

    if (!check_filled(cs, group, NULL))
        return;
    definition_check_form(cs, group, FORM_DNS_SUBDOMAIN, "");
    if (cs->n == before && !strchr(place_str(group), '.'))
        place_invalid(cs, group, "should be a domain with at least one dot");
}

static void check_spec(struct causes *cs, const struct place *spec)
{
    static const char *const scopes[] = {"Cluster", "Namespaced", NULL};
    struct place group = place_key(spec, "group");
    struct place scope = place_key(spec, "scope");
    struct place versions = place_key(spec, "versions");
    struct place names = place_key(spec, "names");
    struct place conversion = place_key(spec, "conversion");

    check_group(cs, &group);
    if (check_filled(cs, &scope, NULL))
        check_enum(cs, &scope, scopes);
    check_versions(cs, spec, &versions);
    definition_check_names(cs, &names);
    check_common(cs, spec, versions.value);
    definition_check_conversion(cs, &conversion);
}

/* A definition is named after what it defines; this cannot change later. */
static void check_name(struct causes *cs, const struct jsn *crd)
{
    struct place root = place_root(crd);
    struct place meta = place_key(&root, "metadata");
    struct place name = place_key(&meta, "name");
    const char *plural = jsn_get_str(crd, "spec.names.plural");
    const char *group = jsn_get_str(crd, "spec.group");
    const char *want = arena_printf(cs->arena, "%s.%s", plural ? plural : "", group ? group : "");

    if (!streq(place_str(&name), want))
        place_invalid(cs, &name, "must be spec.names.plural+\".\"+spec.group");
}

static bool has_version(const struct jsn *versions, const char *name)
{
    JSN_FOR_ITEMS (v, versions)
        if (streq(jsn_get_str(v, "name"), name))
            return true;
    return false;
}

static bool has_text(const struct jsn *list, const char *text)
{
    JSN_FOR_ITEMS (item, list)
        if (streq(jsn_text(item), text))
            return true;
    return false;
}

static void check_stored(struct causes *cs, const struct jsn *crd)
{
    struct place root = place_root(crd);
    struct place status = place_key(&root, "status");
    struct place stored = place_key(&status, "storedVersions");
    const struct jsn *versions = jsn_get(crd, "spec.versions");

    if (jsn_len(stored.value) == 0) {
        place_invalid_text(cs, &stored, "null", "must have at least one stored version");
        return;
    }
    JSN_FOR_ITEMS (v, versions) {
        const char *name = jsn_get_str(v, "name");

        if (jsn_get_bool(v, "storage", false) && !has_text(stored.value, name))
            place_invalid_text(cs, &stored, gotext_value(cs->arena, stored.value),
                               "must have the storage version %s", name ? name : "");
    }
    PLACE_FOR_ITEMS (v, &stored)
        if (!has_version(versions, place_str(&v)))
            place_invalid(cs, &v, "must appear in spec.versions");
}

void definition_validate(struct causes *cs, const struct jsn *crd)
{
    struct place root = place_root(crd);
    struct place spec = place_key(&root, "spec");
    struct place preserve = place_key(&spec, "preserveUnknownFields");

    /* On create there is no version yet; afterwards the name and what it is made of are fixed. */
    if (!jsn_get_str(crd, "metadata.resourceVersion"))
        check_name(cs, crd);
    check_spec(cs, &spec);
    check_stored(cs, crd);
    if (!jsn_get_str(crd, "metadata.resourceVersion"))
        definition_check_approval(cs, crd);
    if (place_true(&preserve))
        place_invalid(cs, &preserve,
                      "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                      "spec.versions[*].schema instead");
}

void definition_validate_update(struct causes *cs, const struct jsn *crd, const struct jsn *old)
{
    struct place root = place_root(crd);
    struct place spec = place_key(&root, "spec");
    struct place names = place_key(&spec, "names");
    struct place scope = place_key(&spec, "scope");
    struct place kind = place_key(&names, "kind");
    struct place group = place_key(&spec, "group");
    struct place plural = place_key(&names, "plural");

    if (definition_is(old, "Established")) {
        check_immutable(cs, &scope, jsn_get(old, "spec.scope"));
        check_immutable(cs, &kind, jsn_get(old, "spec.names.kind"));
    }
    check_immutable(cs, &group, jsn_get(old, "spec.group"));
    check_immutable(cs, &plural, jsn_get(old, "spec.names.plural"));
    if (definition_approval(crd) != definition_approval(old))
        definition_check_approval(cs, crd);
}
