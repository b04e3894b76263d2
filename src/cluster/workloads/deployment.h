/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Deployments: replica sets that follow one another. */
#pragma once

#include "src/cluster/workloads/owned.h"

struct deployment_view {
    const struct jsn *deployment;
    const struct jsn *replicasets; /* its own and those that nobody controls */
    const struct jsn *pods;        /* of the namespace; needed for Recreate only */
};

void deployment_plan(struct plan *p, const struct deployment_view *v);

/* The state of one plan, between its files. */
struct rollout_set {
    struct jsn *object;
    int64_t replicas; /* spec.replicas, with what the plan has changed */
    int64_t available;
    bool fresh;   /* to be created */
    bool changed; /* to be updated */
};

struct rollout_state {
    struct plan *p;
    const struct deployment_view *v;
    struct rollout_set *old; /* oldest first */
    size_t n_old;
    struct rollout_set *new; /* of the template as it is now; NULL while there is none */
    int64_t wanted;          /* spec.replicas */
    int64_t surge;           /* how many more there may be */
    int64_t unavailable;     /* how many less may be available */
};

/* Sort replica sets into old and new, make the new one, number the revisions. */
void deployment_sets_find(struct rollout_state *x, const struct owner *o, const struct jsn *owned,
                          int64_t *collisions);
/* Put sets that changed into the plan; delete old ones beyond the limit of the history. */
void deployment_sets_store(struct rollout_state *x);
void deployment_scale(struct rollout_set *s, int64_t replicas);
/* The deployment's revision, as the annotation says; of replica sets, too. */
int64_t deployment_revision(const struct jsn *object);

/* How many of each set there should be now. */
void deployment_roll(struct rollout_state *x);
/* Counts and conditions, from what was observed. */
void deployment_status(struct rollout_state *x, int64_t collisions);
