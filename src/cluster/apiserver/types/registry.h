/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything the API serves: the built-in resources and those of CustomResourceDefinitions. */
#pragma once

#include "src/cluster/apiserver/types/resource.h"

struct registry;

/* One group and version with its resources, sorted by plural. */
struct registry_gv {
    const char *group, *version;
    const struct resource **resources;
    size_t n_resources;
};

/* Read the embedded tables.  Fails only if these are broken. */
int registry_new(struct registry **ret, struct err *e) MUST_CHECK;
struct registry *registry_free(struct registry *reg);
DEFINE_AUTO(struct registry, registry_free);

/* Rises with every change; documents made from the registry are good for one value of it. */
uint64_t registry_version(const struct registry *reg);

/*
 * All groups and versions in the order of discovery: the core group first, then the built-in
 * groups, then those of CRDs by name.  The versions of a group stand together, the preferred one
 * first. Borrowed, valid until the next change.
 */
const struct registry_gv *registry_gvs(const struct registry *reg, size_t *ret_n);

/* Look-ups; NULL if there is none.  Borrowed until the next change: resource_ref keeps one longer.
 */
const struct registry_gv *registry_gv(const struct registry *reg, struct str group,
                                      struct str version);
const struct resource *registry_find(const struct registry *reg, struct str group,
                                     struct str version, struct str plural);
const struct resource *registry_find_kind(const struct registry *reg, struct str group,
                                          struct str version, struct str kind);
/* By the name that the store uses, "pods" or "nodesets.slinky.slurm.net": the preferred version of
 * the resource that holds the objects, or NULL. */
const struct resource *registry_find_stored(const struct registry *reg, const char *store_name);
bool registry_has_group(const struct registry *reg, struct str group);

/* A built-in definition by alias and name: ("meta", "ObjectMeta"), ("autoscaling", "Scale"). */
const struct schema *registry_type(const struct registry *reg, const char *alias, const char *name);

/*
 * The type of a built-in kind, resource or not (Eviction, PodList), by its apiVersion and kind.
 * Kinds of requests and answers (DeleteOptions, Status) exist in every group and version.
 */
const struct schema *registry_kind_schema(const struct registry *reg, struct str api_version,
                                          struct str kind);

/*
 * Serve the versions of a CRD (the whole object) whose `served` is true; what the CRD of that name
 * served before is replaced.  The names are taken from spec.names: whoever calls has settled
 * conflicts.  The object is copied.  On failure nothing has changed.
 */
int registry_put_crd(struct registry *reg, const struct jsn *crd, struct err *e) MUST_CHECK;

/* Stop serving the CRD of that name ("nodesets.slinky.slurm.net"); false if it was not served. */
bool registry_drop_crd(struct registry *reg, const char *name);

/* Keep a resource alive beyond changes of the registry; nothing to do for built-in ones. */
const struct resource *resource_ref(const struct resource *r);
const struct resource *resource_unref(const struct resource *r);
DEFINE_AUTO(const struct resource, resource_unref);

/* Order of version names: v2, v1, v1beta2, v1beta1, v1alpha1, then others by name.  As strcmp. */
int registry_version_cmp(const char *a, const char *b);
