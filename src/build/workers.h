/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all NodeSets of a cluster share, and the configuration of one NodeSet's sshd. */
#pragma once

#include "src/build/cluster.h"
#include "src/json/jsn.h"

/* Service slurm-workers-<controller>: headless, names every worker. */
struct jsn *build_workers_service(struct arena *a, const struct build_cluster *c);
/* PodDisruptionBudget slurm-workers-pdb-<controller>: no worker with a job may be evicted. */
struct jsn *build_workers_pdb(struct arena *a, const struct build_cluster *c);
/* ConfigMap <nodeset>-ssh-config; NULL where ssh is not enabled. */
struct jsn *build_ssh_config(struct arena *a, const struct nodeset *ns);
