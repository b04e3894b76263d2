/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who manages which fields: metadata.managedFields of every write, and server-side apply. */
#pragma once

#include "src/json/fieldset.h"

/*
 * The object in another version, with that version's schema; NULL if the version is not served
 * (what was recorded for it is then forgotten).  May return the object itself where versions differ
 * in schema only.
 */
typedef const struct jsn *(*managed_convert_fn)(const void *context, struct arena *a,
                                                const struct jsn *object, const char *api_version,
                                                const struct schema **ret_schema);

/* A write, as far as field management goes. */
struct managed_request {
    const char *manager;         /* who writes; NULL or "" is "unknown" */
    const char *api_version;     /* of the request: "apps/v1" */
    const char *subresource;     /* "status", "scale"; NULL or "" is the object itself */
    const struct schema *schema; /* of the object in that version, metadata included */
    const struct fieldset
        *reset;              /* fields that this endpoint ignores, such as status; may be NULL */
    const struct jsn *empty; /* how an object of the kind looks with nothing set; NULL: {} */
    int64_t now_us;
    managed_convert_fn convert; /* NULL: all versions look alike and share the schema */
    const void *context;        /* of convert */
};

/*
 * Note a create, update or patch.  `live` is the object as it was (NULL on create), `object` as it
 * is going to be, with the client's managedFields in it: none, or undecodable, means that the live
 * ones stay and are amended; [] or [{}] that they are cleared; others replace the live ones (not
 * through a subresource).  An object without any tracks nothing until it is applied to, unless it
 * is new.
 *
 * The answer is `object` with new managedFields; it shares all else with `object`, which is
 * unchanged. Never fails: where a value does not fit its schema, or is nested so deep that
 * its fields could not be read back, the managedFields are dropped.
 */
struct jsn *managed_update(struct arena *a, const struct managed_request *req,
                           const struct jsn *live, const struct jsn *object);

struct managed_conflict {
    const char *manager; /* as messages show it: "B" using kw.test/v1 */
    const char *path;    /* .spec.replicas */
    const struct fieldset_path *fields;
};

/* Sorted by manager, then by path. */
struct managed_conflicts {
    struct managed_conflict *items;
    size_t n;
    size_t cap;
};

/*
 * Apply a configuration.  `live` is NULL when there is no object yet.  The merged object,
 * managedFields included, is a new tree; where nothing changed it equals the live object to the
 * last field.
 *
 *   -EINVAL   the configuration, or the live object, does not fit the schema (500)
 *   -EBADMSG  the configuration is for another version, or holds managedFields (400)
 *   -EBUSY    it would change fields of others and `force` is not set; *ret_conflicts names them
 * (409)
 *
 * Fields that this manager applied last time and does not apply now are removed unless somebody
 * else manages them.  The manager "kubectl" takes over what client-side apply left in its
 * annotation.
 */
int managed_apply(struct arena *a, const struct managed_request *req, const struct jsn *live,
                  const struct jsn *config, bool force, struct jsn **ret_object,
                  struct managed_conflicts *ret_conflicts, struct err *e) MUST_CHECK;

/* "Apply failed with 1 conflict: conflict with "B" using kw.test/v1: .spec.replicas" */
void managed_conflict_message(struct buf *b, const struct managed_conflicts *conflicts);
