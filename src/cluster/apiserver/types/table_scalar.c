/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types that tables do not define: scalars, and the values with a form of their own.
 *
 * Their nodes are shared by all fields that say nothing else about themselves.  Those with a name
 * are definitions in OpenAPI documents, as in Kubernetes' own.
 */
#include "src/cluster/apiserver/types/table.h"

#define META "io.k8s.apimachinery.pkg.apis.meta.v1."
#define NO_BOUNDS                                                                                  \
    .min_length = -1, .max_length = -1, .min_items = -1, .max_items = -1, .min_properties = -1,    \
    .max_properties = -1

static const struct {
    const char *word;
    struct schema node;
} scalars[] = {
    {"string", {NO_BOUNDS, .type = SCHEMA_STRING, .go_type = "string"}},
    {"bool", {NO_BOUNDS, .type = SCHEMA_BOOLEAN, .go_type = "bool"}},
    {"int32", {NO_BOUNDS, .type = SCHEMA_INTEGER, .format = "int32", .go_type = "int32"}},
    {"int64", {NO_BOUNDS, .type = SCHEMA_INTEGER, .format = "int64", .go_type = "int64"}},
    {"double", {NO_BOUNDS, .type = SCHEMA_NUMBER, .format = "double", .go_type = "float64"}},
    {"bytes",
     {NO_BOUNDS, .type = SCHEMA_STRING, .format = "byte", .codec = SCHEMA_BYTES,
      .go_type = "[]uint8"}},
    {"time",
     {NO_BOUNDS, .type = SCHEMA_STRING, .format = "date-time", .codec = SCHEMA_TIME,
      .name = META "Time", .short_name = "Time", .go_type = "v1.Time",
      .description = "A point in time, in RFC 3339 form."}},
    {"microtime",
     {NO_BOUNDS, .type = SCHEMA_STRING, .format = "date-time", .codec = SCHEMA_MICRO_TIME,
      .name = META "MicroTime", .short_name = "MicroTime", .go_type = "v1.MicroTime",
      .description = "A point in time, in RFC 3339 form with microseconds."}},
    {"quantity",
     {NO_BOUNDS, .type = SCHEMA_STRING, .codec = SCHEMA_QUANTITY,
      .name = "io.k8s.apimachinery.pkg.api.resource.Quantity", .short_name = "Quantity",
      .go_type = "resource.Quantity",
      .description = "A number with a suffix: m, k, M, G, T, P, E or Ki, Mi, Gi, Ti, Pi, Ei."}},
    {"intorstring",
     {NO_BOUNDS, .type = SCHEMA_INT_OR_STRING, .format = "int-or-string",
      .codec = SCHEMA_IS_INT_OR_STRING, .name = "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
      .short_name = "IntOrString", .go_type = "intstr.IntOrString",
      .description = "A number or a text, such as a port's number or its name."}},
    {"any",
     {NO_BOUNDS, .type = SCHEMA_OBJECT, .preserve_unknown = true, .codec = SCHEMA_RAW,
      .name = "io.k8s.apimachinery.pkg.runtime.RawExtension", .short_name = "RawExtension",
      .go_type = "runtime.RawExtension", .description = "An object of any kind."}},
    {"json",
     {NO_BOUNDS, .type = SCHEMA_ANY, .preserve_unknown = true, .codec = SCHEMA_JSON,
      .name = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON", .short_name = "JSON",
      .go_type = "v1.JSON", .description = "Any JSON value."}},
    {"fieldsv1",
     {NO_BOUNDS, .type = SCHEMA_OBJECT, .preserve_unknown = true, .codec = SCHEMA_FIELDS_V1,
      .name = META "FieldsV1", .short_name = "FieldsV1", .go_type = "v1.FieldsV1",
      .description = "A set of fields: f:<name>, k:<keys>, v:<value>, i:<index>."}},
};

const struct schema *table_scalar(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(scalars); i++)
        if (str_eqz(name, scalars[i].word))
            return &scalars[i].node;
    return NULL;
}
