/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a change in the cluster to the keys of what must be planned anew. */
#pragma once

#include "src/operator/agent_state.h"
#include "src/operator/queue.h"
#include "src/operator/world.h"

/* Keys are "Controller/ns/name", "NodeSet/ns/name" and "Partition/ns/name". */
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
/* All Partitions of a Controller: something about its Slurm has changed. */
void routes_partitions(const struct routes *r, const char *ns, const char *controller);
