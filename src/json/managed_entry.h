/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entries of metadata.managedFields. */
#pragma once

#include "src/json/apply.h"
#include "src/json/managed.h"

struct managed_entry {
    const char *manager;
    bool applied; /* operation Apply, else Update */
    const char *api_version;
    const char *subresource; /* never NULL */
    const char *time;        /* NULL: none */
    const struct fieldset *set;
};

/* One for each manager, operation and subresource, and version where it is an Update. */
struct managed_entries {
    struct managed_entry *items;
    size_t n;
    size_t cap;
};

int managed_decode(struct arena *a, const struct jsn *list, struct managed_entries *ret_entries,
                   struct err *e) MUST_CHECK;
/* Sorted as Kubernetes does; NULL if there is none. */
struct jsn *managed_encode(struct arena *a, struct managed_entries *entries);

/* The entry of this identity, or NULL; the version is compared only where it is an Update. */
struct managed_entry *managed_find(const struct managed_entries *entries,
                                   const struct managed_entry *identity);
void managed_add(struct arena *a, struct managed_entries *entries, struct managed_entry entry);
/* Drop entries whose set is empty. */
void managed_drop_empty(struct managed_entries *entries);
/* Merge the oldest Update entries until there are at most ten. */
void managed_cap(struct arena *a, struct managed_entries *entries);

/* The object without metadata.managedFields; shares all else with it. */
struct jsn *managed_strip(struct arena *a, const struct jsn *object);
/* Set them (NULL: none) in an object that managed_strip gave.  Sets that are nested deeper than can
 * be read again are left out. */
void managed_put(struct arena *a, struct jsn *object, struct jsn *list);

/* The fields that nobody manages. */
struct fieldset *managed_untracked(struct arena *a);

/*
 * Settle a change from `live` to `object` among all entries but `self`: what changed is taken from
 * them, what is gone leaves their sets.  Without `force` the former is a conflict (-EBUSY) and
 * nothing changes.  What changed, in the request's version, is in *ret_comparison.
 */
int managed_settle(struct arena *a, const struct managed_request *req, const struct jsn *live,
                   const struct jsn *object, struct managed_entries *entries,
                   const struct managed_entry *self, bool force,
                   struct apply_comparison *ret_comparison, struct managed_conflicts *ret_conflicts,
                   struct err *e) MUST_CHECK;

/* Note that the request's manager changed `live` into `object` by an update. */
int managed_note(struct arena *a, const struct managed_request *req, const char *manager,
                 const struct jsn *live, const struct jsn *object, struct managed_entries *entries,
                 struct err *e) MUST_CHECK;

/* Fit all sets to the schemas of today. */
void managed_fit(struct arena *a, const struct managed_request *req, const struct jsn *live,
                 struct managed_entries *entries);

/* The object in a version, with its schema; NULL if that version is not served. */
const struct jsn *managed_in_version(struct arena *a, const struct managed_request *req,
                                     const struct jsn *object, const char *api_version,
                                     const struct schema **ret_schema);

/* The time of the request, as entries show it. */
const char *managed_now(struct arena *a, const struct managed_request *req);

/* Client-side apply's annotation: the fields it speaks for and that still are as it says. */
int managed_last_applied(struct arena *a, const struct managed_request *req, const struct jsn *live,
                         struct fieldset **ret_set, struct err *e) MUST_CHECK;
/* Bring the annotation, if the object has one, up to date with what was applied. */
void managed_set_last_applied(struct arena *a, struct jsn *object, const struct jsn *config);
