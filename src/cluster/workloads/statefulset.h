/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stateful sets: pods with ordinals, names and claims that stay. */
#pragma once

#include "src/cluster/workloads/revision.h"

/* What a stateful set's controller sees; each array holds what it owns and what nobody does. */
struct statefulset_view {
    const struct jsn *set;
    const struct jsn *pods;
    const struct jsn *revisions;
    const struct jsn *claims; /* of the namespace; looked at only if the set has claim templates */
};

void statefulset_plan(struct plan *p, const struct statefulset_view *v);

/* Parts with files of their own. */

/* The ordinal in the pod's name if it is one of this set's; -1 if not. */
int64_t statefulset_ordinal(const struct jsn *set, const struct jsn *pod);
/* The pod of that ordinal, made from a revision, with its name, labels, host name and volumes. */
struct jsn *statefulset_pod(struct arena *a, const struct owner *o, const struct jsn *revision,
                            int64_t ordinal);
/* Plan the claims that the pod of this ordinal needs and that are not there. */
void statefulset_claims_make(struct plan *p, const struct statefulset_view *v, int64_t ordinal);
/* Hand the claims of a pod that goes for good to it, if the set says that they go too. */
void statefulset_claims_condemn(struct plan *p, const struct statefulset_view *v,
                                const struct jsn *pod);
/* Put the update's new status into the plan.  `pods` are those that it owns. */
void statefulset_status(struct plan *p, const struct jsn *set, const struct jsn *pods,
                        const struct revisions *r);
