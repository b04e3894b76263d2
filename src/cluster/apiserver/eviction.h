/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evictions: may a pod go, as far as the disruption budgets say? */
#pragma once

#include "src/json/jsn.h"

struct api_call;

/* How many pods a workload wants; `owner` is the controlling owner reference of a pod.  -1: not
 * known, then the pods that are there count. */
typedef int64_t (*eviction_replicas_fn)(void *arg, const struct jsn *owner);

/* What the decision is made from: everything in the pod's namespace. */
struct eviction_view {
    const struct jsn *budgets; /* array of PodDisruptionBudgets */
    const struct jsn *pods;    /* array */
    eviction_replicas_fn replicas;
    void *arg;
};

/* The budget's arithmetic at this moment. */
struct eviction_count {
    int64_t expected; /* pods that there should be */
    int64_t healthy;  /* ready, and not being evicted already */
    int64_t desired;  /* how many must be healthy */
    int64_t allowed;  /* how many may go now */
};

/* Does the budget select the pod? */
bool eviction_selects(struct arena *a, const struct jsn *budget, const struct jsn *pod);
/* Count for one budget; also what a controller puts into its status. */
struct eviction_count eviction_count(struct arena *a, const struct jsn *budget,
                                     const struct eviction_view *v, int64_t now_us);
/* Put a count into status, with the generation that it was made for. */
void eviction_set_status(struct arena *a, struct jsn *budget, const struct eviction_count *n);

/*
 * Decide.  0: the pod may be deleted; *ret_budget is then the budget whose status must be stored
 * first (a clone in the arena of the call), or NULL.  Otherwise the call has failed: with 429 where
 * a budget forbids it.
 */
int eviction_decide(struct api_call *c, const struct jsn *pod, const struct eviction_view *v,
                    int64_t now_us, struct jsn **ret_budget);
