/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that the operator sees of the cluster: one cache for each kind and namespace. */
#pragma once

#include "src/api/lookup.h"
#include "src/kube/cache.h"
#include "src/plan/kind.h"
#include "src/plan/pods.h"

struct world;

/* A change; `old` is NULL for what is new, `now` for what is gone.  Borrowed. */
typedef void (*world_change_fn)(void *arg, const char *kind, const struct kube_object *old,
                                const struct kube_object *now);

struct world_options {
    const char *const *namespaces; /* NULL-terminated; NULL or empty: all.  Borrowed */
    world_change_fn changed;
    void (*synced)(void *arg); /* everything needed is there, or there again */
    void *arg;
};

/* Starts to fill at once.  The client must outlive it. */
struct world *world_new(struct kube_client *c, const struct world_options *o);
struct world *world_free(struct world *w);
DEFINE_AUTO(struct world, world_free);

/* Is everything there that plans need?  `ret_missing` (may be NULL) gets a kind that is not. */
bool world_synced(const struct world *w, const char **ret_missing);
/* Does the server have the kind, as far as known? */
bool world_serves(const struct world *w, const char *kind);

/* The version in which the server has the kind, as far as known. */
const char *world_version(const struct world *w, const struct plan_kind *kind);

/* One object; NULL if there is none, or if nobody can tell. */
const struct kube_object *world_get(const struct world *w, const char *kind, const char *ns,
                                    const char *name);
/* Those of a kind in a namespace that an index has under `value`; items are borrowed until the
 * loop's next turn. */
struct kube_slice world_find(const struct world *w, const char *kind, const char *ns,
                             const char *index, const char *value);
/* Visit what an index has under a key, whatever the namespace. */
typedef void (*world_visit_fn)(void *arg, const struct kube_object *o);
void world_visit(const struct world *w, const char *kind, const char *index, const char *key,
                 world_visit_fn fn, void *arg);
/* Those that the object with this uid owns. */
struct kube_slice world_owned(const struct world *w, const char *kind, const char *ns,
                              const char *uid);

/* All of a kind in a namespace: `size_t at = 0; while ((o = world_next(...)))`; in no order. */
const struct kube_object *world_next(const struct world *w, const char *kind, const char *ns,
                                     size_t *at);

/* Go on as if the server had the object, until the loop turns; kube_cache_pretend. */
void world_pretend(const struct world *w, const char *kind, struct jsn *object);

/* Indexes: of all our kinds but the Controller; of those that have a name in Slurm, and of pods;
 * and of all our kinds, by "Secret/name", "ConfigMap/name" or "NodeSet/name" that they refer to. */
#define WORLD_BY_CONTROLLER "controller"
#define WORLD_BY_SLURM_NAME "slurm-name"
#define WORLD_BY_REFERENCE "reference"
/* Of pods, in all namespaces: world_visit with "all/NODE", or "all/" for those without one. */
#define WORLD_BY_MACHINE "machine"

/* Of pods of NodeSets that nobody controls, by the NodeSet that their labels name. */
#define WORLD_BY_LOST "lost"

/* How many objects of the kind are held, and what all of them cost. */
size_t world_count(const struct world *w, const char *kind);
size_t world_bytes(const struct world *w);

/* The caches as a look-up for checks and builders; objects are parsed into `a`. */
struct world_view {
    const struct world *world;
    struct arena *arena;
};
struct api_lookup world_lookup(struct world_view *view);
