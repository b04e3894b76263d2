/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resources from a CustomResourceDefinition. */
#pragma once

#include "src/cluster/apiserver/types/resource.h"

struct pattern_cache;

/* The resources of one CRD, one for each version, and all they point to; counted. */
struct resource_owner {
    struct arena arena;
    unsigned int refs;
    const char *name; /* of the CRD */
    struct resource *resources;
    size_t n_resources;
    struct pattern_cache *patterns; /* of its schemas, compiled as they are needed */
};

/* Built-in definitions that custom kinds refer to. */
struct custom_types {
    const struct schema *object_meta;
    const struct schema *list_meta;
    const struct schema *scale;
};

/*
 * Make the resources of a CRD object, which is copied.  *ret has one reference, the caller's.  The
 * error names the version whose schema cannot be read.
 */
int custom_from_crd(const struct custom_types *types, const struct jsn *crd,
                    struct resource_owner **ret, struct err *e) MUST_CHECK;
void resource_owner_unref(struct resource_owner *o);
DEFINE_AUTO(struct resource_owner, resource_owner_unref);
