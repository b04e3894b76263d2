/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Schemas from the openAPIV3Schema of a CustomResourceDefinition. */
#pragma once

#include "src/json/schema.h"

#define SCHEMA_OPENAPI_MAX_DEPTH 128
#define SCHEMA_OPENAPI_MAX_NODES 100000

/*
 * Build the schema that `v` describes.  The nodes live in the arena and point into `v` (sources,
 * defaults, enums), which must live as long.  Nothing is lost: what has no field of its own (title,
 * externalDocs, example) is in `source`.  Fails where a keyword has a value of the wrong type, and
 * beyond the caps above; the error names the place ("spec.properties[size].type: ...").  Whether
 * the
 * schema is structural is not asked here.
 */
int schema_from_openapi(struct arena *a, const struct jsn *v, struct schema **ret,
                        struct err *e) MUST_CHECK;
