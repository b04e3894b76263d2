/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does a pod fit on the one node there is?  Pure. */
#pragma once

#include "src/cluster/node/pods/limits.h"

/* The node's object, and what its pods ask for already. */
struct schedule_view {
    const struct jsn *node;
    struct pod_demand used;
    int64_t pods;
};

/*
 * 0: it fits.  1: it does not, and `why` says it in a scheduler's words ("0/1 nodes are available:
 * 1 Insufficient cpu.").
 */
int schedule_fits(const struct jsn *pod, const struct schedule_view *v, struct buf *why) MUST_CHECK;

/* Does a pod count: it is on a node, and not over? */
bool schedule_counts(const struct jsn *pod);
