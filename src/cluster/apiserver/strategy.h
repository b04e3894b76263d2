/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strategies: what is special about each built-in kind. */
#pragma once

#include "src/cluster/apiserver/status.h"

/* How the names of a kind look. */
enum name_rule {
    NAME_SUBDOMAIN,
    NAME_LABEL,
    NAME_DNS1035,
    NAME_PATH_SEGMENT,
    NAME_CUSTOM, /* a subdomain, of a custom resource: finalizers may be any qualified name */
};

/*
 * The generic code does everything that holds for all kinds (metadata, versions, ownership, merge,
 * finalizers); a strategy adds the rest.  Objects are in stored form; every function may be NULL.
 * `old` is never changed.  New values come from c->arena.
 */
struct strategy {
    const char *resource; /* store name: "pods", "statefulsets.apps" */
    enum name_rule names;
    bool no_generation;        /* metadata.generation is not kept (ConfigMap, Secret, Event, ...) */
    bool status_reset;         /* has a status subresource: the main endpoint ignores .status */
    bool bare_deletion;        /* deletion sets the time alone: no grace, no new generation */
    bool annotations_count;    /* a change of annotations is a new generation (Deployment) */
    bool status_on_create;     /* ... but takes it when the object is made (Node) */
    bool create_on_update;     /* PUT of a missing object creates it (Lease, Event, Endpoints) */
    bool needs_version;        /* PUT without a resourceVersion is refused */
    bool deletes_to_object;    /* DELETE answers the object instead of a Status */
    const char *default_grace; /* path of the field with the grace period, or NULL: none */

    /* Fill in what the tables' own defaults cannot (they have been applied). */
    void (*set_defaults)(struct arena *a, struct jsn *object);
    /* What the server decides itself: clusterIP, status.phase, data from stringData. */
    int (*prepare_create)(struct api_call *c, struct jsn *object);
    int (*prepare_update)(struct api_call *c, struct jsn *object, const struct jsn *old);
    void (*validate)(struct causes *cs, const struct jsn *object);
    void (*validate_update)(struct causes *cs, const struct jsn *object, const struct jsn *old);
    /* Before an object is deleted; may refuse (default namespaces), or take off a finalizer that
     * the server itself has put on (claims that no pod uses). */
    int (*check_delete)(struct api_call *c, struct jsn *object);
};

/* The strategy of a stored resource; a plain one for kinds that have none. */
const struct strategy *strategy_of(const struct resource *stored);

/* metadata of any object: names, labels, annotations, owner references, finalizers. */
void validate_metadata(struct causes *cs, const struct jsn *object, enum name_rule names,
                       bool namespaced);
/* What an update may not change in the metadata; on top of validate_metadata. */
void validate_metadata_update(struct causes *cs, const struct jsn *object, const struct jsn *old);
/* A list of finalizers at a place; `qualified`: only standard names may do without a "/". */
struct place;
void validate_finalizers(struct causes *cs, const struct place *at, bool qualified);
