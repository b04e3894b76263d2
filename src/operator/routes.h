/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a change in the cluster to the keys of what must be planned again. */
#pragma once

#include "src/operator/agent_state.h"
#include "src/operator/queue.h"
#include "src/operator/world.h"

/* Keys are "NodeSet/ns/name": a kind of ours, namespace, name. */
struct routes {
    const struct world *world; /* NULL while it is being made: then indexes lead nowhere */
    struct queue *queue;
};

/* A world_change_fn's work: put every key that the change concerns into the queue. */
void routes_follow(const struct routes *r, const char *kind, const struct kube_object *old,
                   const struct kube_object *now);

/* The same for a change in Slurm. */
void routes_follow_slurm(const struct routes *r, const char *ns, const char *controller,
                         const struct agent_change *c);
/* Everything of a cluster: the Controller and all that name it. */
void routes_follow_cluster(const struct routes *r, const char *ns, const char *controller);

/* For the functions of kinds (kinds.h): put into the queue one object, all of a kind that an index
 * has under a value, all that name a Controller, the owner of a pod. */
void routes_add(const struct routes *r, const char *kind, const char *ns, const char *name);
void routes_add_index(const struct routes *r, const char *kind, const char *ns, const char *index,
                      const char *value);
/* Those of a kind that have one of these names in Slurm. */
void routes_add_named(const struct routes *r, const char *kind, const char *ns,
                      const char *const *names, size_t n);
/* Those of a kind that name a Controller and that `wanted` picks; it gets what the cache keeps
 * decoded of each, NULL where that failed. */
typedef bool (*routes_pick_fn)(const void *kept, const void *arg);
void routes_add_some(const struct routes *r, const char *kind, const char *ns,
                     const char *controller, routes_pick_fn wanted, const void *arg);
void routes_add_members(const struct routes *r, const char *ns, const char *controller);
void routes_add_pod_owner(const struct routes *r, const struct kube_object *o);
