/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ControllerRevisions: the templates that a stateful set has had. */
#pragma once

#include "src/cluster/workloads/owned.h"

struct revisions {
    const struct jsn *current; /* what status.currentRevision names; the update where it is gone */
    const struct jsn *update;  /* of the template as it is now */
    int64_t collisions;        /* for status.collisionCount */
};

/*
 * Find the revision of the set's template among those it owns; plan to make it, or to make it the
 * newest again (an undo), where needed.
 */
struct revisions revision_find(struct plan *p, const struct owner *o, const struct jsn *owned);
/* The template that a revision holds. */
struct jsn *revision_template(struct arena *a, const struct jsn *revision);
/* Plan to delete the oldest that no pod uses, beyond spec.revisionHistoryLimit. */
void revision_trim(struct plan *p, const struct jsn *set, const struct jsn *owned,
                   const struct revisions *r, const struct jsn *pods);
