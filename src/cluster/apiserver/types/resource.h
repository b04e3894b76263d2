/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A served resource: what its URL, its kinds and its verbs are. */
#pragma once

#include "src/json/schema.h"

/* Lists of strings end with NULL; a list without items may be NULL, too. */

struct subresource {
    const char *name; /* "status", "scale", "exec" */
    const char *group, *version, *kind;
    const char **verbs;
    const struct schema *schema; /* NULL: of options only, or unknown here */
};

/* A field that has another name where the object is stored. */
struct resource_rename {
    const char *here;
    const char *stored;
};

struct resource {
    const char *group, *version, *plural, *singular, *kind, *list_kind;
    const char **short_names, **categories, **verbs;
    bool namespaced;
    bool custom;   /* from a CustomResourceDefinition */
    bool unserved; /* a version that only stores: known to its definition, not to clients */
    struct subresource *subs;
    size_t n_subs;
    const struct schema *schema;      /* of one object, with apiVersion, kind and metadata */
    const struct schema *list_schema; /* of a list; NULL where nothing can be listed */

    /*
     * Where another version or group serves the same objects (CronJob v1beta1, events.k8s.io), the
     * resource that stores them; else NULL.  resource_to_stored and resource_from_stored convert.
     * Of a custom resource it is the version that its definition marks as stored.
     */
    const struct resource *stored;
    struct resource_rename *renames;
    size_t n_renames;

    const struct jsn *crd_version; /* spec.versions[i] of a custom one; lives as long as this */
    uint32_t schema_mark;          /* of a custom one: changes with its schema; never 0 */
    struct resource_owner *owner;  /* keeps custom ones alive, see registry.h; NULL: built in */
};

bool resource_has_verb(const struct resource *r, const char *verb);
const struct subresource *resource_sub(const struct resource *r, struct str name);
bool strings_have(const char *const *list, const char *s);

/*
 * Rewrite an object in place from the form of `r` to that of r->stored, and back; apiVersion and
 * kind included.  Nothing happens where r->stored is NULL.  New values come from the arena.
 */
void resource_to_stored(struct arena *a, const struct resource *r, struct jsn *object);
void resource_from_stored(struct arena *a, const struct resource *r, struct jsn *object);
