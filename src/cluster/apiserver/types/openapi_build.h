/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of OpenAPI: a document while it is being built. */
#pragma once

#include "src/base/map.h"
#include "src/cluster/apiserver/types/registry.h"

struct openapi_build {
    struct arena *a;
    bool v3;
    struct jsn *paths;
    struct jsn *definitions; /* v3: components.schemas */
    struct map seen;         /* names of definitions */
    struct jsn *patch_ref;   /* of the definition of patches, once somebody needs it */
};

/*
 * How a schema is written where it is used: a reference to its definition, which is added to the
 * document, or the schema itself where it has no name.
 */
struct jsn *openapi_use(struct openapi_build *b, const struct schema *s);

/* The definition of a kind from a CRD. */
struct jsn *openapi_custom(struct openapi_build *b, const struct schema *s);

/* [{group, kind, version}], and one of them. */
struct jsn *openapi_gvk(struct arena *a, const char *group, const char *version, const char *kind);

/* Every path of a resource. */
void openapi_add_paths(struct openapi_build *b, const struct resource *r);

/* A version 2 document in gnostic's protobuf form. */
void openapi_to_proto(struct buf *out, const struct jsn *document);
