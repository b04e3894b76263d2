/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What plans are made from, out of the caches: decoded, in the arena of the plan. */
#pragma once

#include "src/build/cluster.h"
#include "src/operator/reconcile.h"
#include "src/plan/pods.h"

/* An object of the key's namespace; NULL: there is none, or nobody can tell. */
const struct jsn *snapshot_object(struct reconcile *r, const char *kind, const char *name);

/* The cluster of a Controller with what is the same for all plans: the Controller (NULL: there is
 * none that decodes), its Accounting, and a look-up over the caches.  Nothing that names the
 * Controller is in it yet. */
struct build_cluster *snapshot_cluster(struct reconcile *r, const char *controller);
/* Put into the cluster what all kinds have for its configuration. */
void snapshot_members(struct reconcile *r, const char *controller, struct build_cluster *cluster);

/* Copies of the pods that an object controls, by name; and of one pod. */
const struct plan_pod **snapshot_pods(struct reconcile *r, const char *owner_uid, size_t *ret_n);
const struct plan_pod *snapshot_pod(struct reconcile *r, const struct plan_pod *from);

/* What is known of the Slurm of a Controller; NULL: nothing. */
const struct slurm_state *snapshot_slurm(struct reconcile *r, const char *controller);
