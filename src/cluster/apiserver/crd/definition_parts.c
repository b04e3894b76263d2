/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of the parts of a definition other than schemas: names, subresources, printer columns,
 * selectable fields, deprecation, conversion, approval.
 */
#include <ctype.h>

#include "src/cluster/apiserver/crd/definition.h"
#include "src/json/format.h"

#define WARNING_MAX_BYTES 256
#define SELECTABLE_MAX 8

void definition_check_form(struct causes *cs, const struct place *at, enum name_form form,
                           const char *before)
{
    AUTO(buf_done) struct buf b = {0};
    char *text = arena_strdup(cs->arena, place_str(at));
    struct name_faults f;

    for (char *c = text; *before && *c; c++)
        *c = (char)tolower((unsigned char)*c);
    f = names_check(form, str_of(text));
    for (size_t i = 0; i < f.n; i++)
        buf_printf(&b, "%s%s", i ? "," : "", f.text[i]);
    if (f.n > 0)
        place_invalid(cs, at, "%s%s", before, buf_str(&b));
}

static void check_list(struct causes *cs, const struct place *list)
{
    PLACE_FOR_ITEMS (item, list)
        definition_check_form(cs, &item, FORM_DNS1035_LABEL, "");
}

void definition_check_names(struct causes *cs, const struct place *names)
{
    static const char mixed[] = "may have mixed case, but should otherwise match: ";
    static const struct {
        const char *key, *before;
    } fields[] = {{"plural", ""}, {"singular", ""}, {"kind", mixed}, {"listKind", mixed}};
    struct place kind = place_key(names, "kind");
    struct place list_kind = place_key(names, "listKind");
    struct place short_names = place_key(names, "shortNames");
    struct place categories = place_key(names, "categories");

    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        struct place at = place_key(names, fields[i].key);

        (void)check_filled(cs, &at, NULL);
    }
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        struct place at = place_key(names, fields[i].key);

        if (place_filled(&at))
            definition_check_form(cs, &at, FORM_DNS1035_LABEL, fields[i].before);
    }
    check_list(cs, &short_names);
    if (place_filled(&kind) && streq(place_str(&kind), place_str(&list_kind)))
        place_invalid(cs, &list_kind, "kind and listKind may not be the same");
    check_list(cs, &categories);
}

static bool is_simple_path(struct causes *cs, const struct place *at)
{
    if (place_str(at)[0] == '.')
        return true;
    place_invalid(cs, at, "must be a simple json path starting with .");
    return false;
}

/* A path in the scale subresource; Kubernetes names its field with a dot inside. */
static void check_scale_path(struct causes *cs, const struct place *scale, const char *key,
                             const char *const *under, const char *why)
{
    struct place at = place_key(scale, key);

    if (!is_simple_path(cs, &at))
        return;
    for (; *under; under++)
        if (starts_with(place_str(&at), *under))
            return;
    place_invalid(cs, &at, "%s", why);
}

void definition_check_subresources(struct causes *cs, const struct place *subresources)
{
    static const char *const spec[] = {".spec.", NULL}, *const status[] = {".status.", NULL},
                             *const both[] = {".spec.", ".status.", NULL};
    struct place scale = place_key(subresources, "scale");
    struct place wanted = place_key(&scale, "specReplicasPath");
    struct place shown = place_key(&scale, "statusReplicasPath");
    struct place selector = place_key(&scale, "labelSelectorPath");

    if (!place_given(&scale))
        return;
    if (check_filled(cs, &wanted, NULL))
        check_scale_path(cs, &scale, "specReplicasPath", spec, "should be a json path under .spec");
    if (check_filled(cs, &shown, NULL))
        check_scale_path(cs, &scale, "statusReplicasPath", status,
                         "should be a json path under .status");
    if (place_filled(&selector))
        check_scale_path(cs, &scale, "labelSelectorPath", both,
                         "should be a json path under either .spec or .status");
}

static void check_column(struct causes *cs, const struct place *column)
{
    static const char *const types[] = {"boolean", "date", "integer", "number", "string", NULL};
    static const char *const formats[] = {"byte",  "date",  "date-time", "double", "float",
                                          "int32", "int64", "password",  NULL};
    struct place name = place_key(column, "name");
    struct place type = place_key(column, "type");
    struct place format = place_key(column, "format");
    struct place path = {
        .in = column, .name = "JSONPath", .value = jsn_key(column->value, "jsonPath")};

    (void)check_filled(cs, &name, NULL);
    if (!place_filled(&type))
        place_required(cs, &type, "must be one of boolean,date,integer,number,string");
    else if (!strings_have(types, place_str(&type)))
        place_invalid(cs, &type, "must be one of boolean,date,integer,number,string");
    if (place_filled(&format) && !strings_have(formats, place_str(&format)))
        place_invalid(cs, &format,
                      "must be one of byte,date,date-time,double,float,int32,int64,password");
    if (check_filled(cs, &path, NULL))
        (void)is_simple_path(cs, &path);
}

void definition_check_columns(struct causes *cs, const struct place *columns)
{
    PLACE_FOR_ITEMS (column, columns)
        check_column(cs, &column);
}

/* The schema that ".spec.a.b" leads to; NULL: there is none. */
static const struct jsn *schema_at(const struct jsn *schema, const char *path)
{
    struct str rest = str_of(path), key;

    if (*path != '.')
        return NULL;
    rest = (struct str){path + 1, strlen(path) - 1};
    while (schema && str_split(&rest, '.', &key))
        schema = jsn_member(jsn_key(schema, "properties"), key);
    return schema;
}

static void check_selectable(struct causes *cs, const struct place *path, const struct jsn *schema)
{
    static const char *const types[] = {"string", "boolean", "integer", NULL};
    const struct jsn *found = schema_at(schema, place_str(path));
    bool in_metadata = starts_with(place_str(path), ".metadata");

    if (!found && !in_metadata) {
        place_invalid(cs, path, "is an invalid path: it leads to no field of the schema");
        return;
    }
    if (in_metadata)
        place_invalid(cs, path, "must not point to fields in metadata");
    else if (!strings_have(types, jsn_get_str(found, "type")))
        place_invalid(cs, path,
                      "must point to a field of type string, boolean or integer. Enum string "
                      "fields and strings with formats are allowed.");
}

void definition_check_selectable(struct causes *cs, const struct place *fields,
                                 const struct jsn *schema)
{
    PLACE_FOR_ITEMS (item, fields) {
        struct place path = place_key(&item, "jsonPath");
        size_t twin = 0;

        if (!check_filled(cs, &path, NULL))
            continue;
        check_selectable(cs, &path, schema);
        while (twin < item.index &&
               !streq(jsn_get_str(jsn_item(fields->value, twin), "jsonPath"), place_str(&path)))
            twin++;
        if (twin < item.index)
            place_duplicate(cs, &path);
    }
    if (jsn_len(fields->value) > SELECTABLE_MAX)
        cause_add(cs, "FieldValueTooMany", place_text(cs, fields),
                  "Too many: %zu: must have at most %d items", jsn_len(fields->value),
                  SELECTABLE_MAX);
}

void definition_check_warning(struct causes *cs, const struct place *version)
{
    struct place deprecated = place_key(version, "deprecated");
    struct place warning = place_key(version, "deprecationWarning");
    const char *text = place_str(&warning);

    if (!place_given(&warning))
        return;
    if (!place_true(&deprecated)) {
        place_invalid(cs, &warning, "can only be set for deprecated versions");
        return;
    }
    if (strlen(text) > WARNING_MAX_BYTES)
        place_invalid(cs, &warning, "must be <= %d characters long", WARNING_MAX_BYTES);
    if (!*text)
        place_invalid(cs, &warning, "must not be an empty string");
    for (size_t i = 0; text[i]; i++) {
        if (!iscntrl((unsigned char)text[i]))
            continue;
        place_invalid(cs, &warning,
                      "must only contain printable UTF-8 characters; non-printable character found "
                      "at index %zu",
                      i);
        return;
    }
}

void definition_check_conversion(struct causes *cs, const struct place *conversion)
{
    static const char *const strategies[] = {"None", "Webhook", NULL};
    struct place strategy = place_key(conversion, "strategy");
    struct place client = {.in = conversion, .name = "webhookClientConfig"};
    struct place review = {.in = conversion, .name = "conversionReviewVersions"};

    if (!place_given(conversion))
        return;
    if (!check_filled(cs, &strategy, NULL))
        return;
    check_enum(cs, &strategy, strategies);
    if (streq(place_str(&strategy), "Webhook"))
        place_invalid(cs, &strategy,
                      "this API server converts between versions with the strategy None only; "
                      "define the versions so that they differ in nothing but apiVersion, or serve "
                      "one version");
    if (!streq(place_str(&strategy), "None"))
        return;
    if (jsn_get(conversion->value, "webhook.clientConfig"))
        place_forbidden(cs, &client, "should not be set when strategy is not set to Webhook");
    if (jsn_len(jsn_get(conversion->value, "webhook.conversionReviewVersions")) > 0)
        place_forbidden(cs, &review, "should not be set when strategy is not set to Webhook");
}

static const char *approval_text(const struct jsn *crd)
{
    const struct jsn *annotations = jsn_get(crd, "metadata.annotations");
    const char *text = jsn_text(jsn_key(annotations, "api-approved.kubernetes.io"));

    return text ? text : "";
}

static bool is_group_of(const char *group, const char *domain)
{
    size_t n = strlen(group), m = strlen(domain);

    return n >= m && streq(group + n - m, domain) && (n == m || group[n - m - 1] == '.');
}

enum definition_approval definition_approval(const struct jsn *crd)
{
    const char *group = jsn_get_str(crd, "spec.group");
    const char *text = approval_text(crd);

    if (!group || (!is_group_of(group, "k8s.io") && !is_group_of(group, "kubernetes.io")))
        return APPROVAL_NOT_NEEDED;
    if (!*text)
        return APPROVAL_MISSING;
    if (starts_with(text, "unapproved"))
        return APPROVAL_BYPASSED;
    return strstr(text, "://") && strstr(text, "://")[3] && format_uri(str_of(text))
               ? APPROVAL_GIVEN
               : APPROVAL_BAD;
}

void definition_check_approval(struct causes *cs, const struct jsn *crd)
{
    static const char field[] = "metadata.annotations[api-approved.kubernetes.io]";
    static const char needs[] =
        "protected groups must have approval annotation \"api-approved.kubernetes.io\"";
    static const char see[] = "see https://github.com/kubernetes/enhancements/pull/1111";
    enum definition_approval state = definition_approval(crd);

    if (state == APPROVAL_MISSING)
        cause_required(cs, field, arena_printf(cs->arena, "%s, %s", needs, see));
    else if (state == APPROVAL_BAD)
        cause_invalid(cs, field, jsn_string(cs->arena, approval_text(crd)),
                      "%s with either a URL or a reason starting with \"unapproved\", %s", needs,
                      see);
}
