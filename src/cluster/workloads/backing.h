/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pods behind a service, with the ports that it reaches them on. */
#pragma once

#include "src/cluster/workloads/plan.h"

/* Pods that a service reaches on the same port numbers. */
struct backing_group {
    struct jsn *ports; /* [{"name", "port", "protocol"}]; empty for a headless one without ports */
    struct jsn *pods;  /* sorted by address */
};

struct backing {
    struct backing_group *groups;
    size_t n;
    size_t cap;
};

/* A service whose addresses somebody else writes: without a selector, or only a name. */
bool backing_is_foreign(const struct jsn *service);
bool backing_is_headless(const struct jsn *service);
/* Is the pod behind it: chosen, with an address, not ended? */
bool backing_has(const struct jsn *service, const struct jsn *pod);
/* Group the pods that the selector chooses and that have an address and have not ended. */
struct backing backing_of(struct arena *a, const struct jsn *service, const struct jsn *pods);
/* Should clients be sent there?  A pod that is going never, unless the service says always. */
bool backing_is_ready(const struct jsn *service, const struct jsn *pod);
/* Put into an address who the pod is: targetRef, its node, its name in the service's domain. */
void backing_describe(struct arena *a, struct jsn *address, const struct jsn *service,
                      const struct jsn *pod);

/* Plans for the two kinds that hold the result; `old` NULL: not there yet. */
void endpoints_plan(struct plan *p, const struct jsn *service, const struct jsn *pods,
                    const struct jsn *old);
void slices_plan(struct plan *p, const struct jsn *service, const struct jsn *pods,
                 const struct jsn *old);
