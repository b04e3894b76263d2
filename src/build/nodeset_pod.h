/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pods of a NodeSet: names, the pod itself, its claims. */
#pragma once

#include "src/api/problems.h"
#include "src/build/cluster.h"
#include "src/json/jsn.h"

/* Which one of a NodeSet's pods. */
struct build_worker {
    int32_t ordinal;      /* its number; -1: it belongs to a Kubernetes node (DaemonSet) */
    const char *node;     /* the Kubernetes node it must run on; NULL: any */
    const char *hostname; /* where ordinal is -1: from the Kubernetes node; else NULL */
    const char *hash;     /* of its revision */
    const char *release;  /* of Slurm that it runs, where one is declared; or NULL */
    bool record_checked;  /* Slurm has no record of its node, or one that fits */
};

/* "compute-007", and the host's name "gpu-007": template.spec.hostname and the number.  In `a`. */
/* The number, filled with zeros. */
const char *worker_index(struct arena *a, const struct nodeset *ns, int32_t ordinal);
const char *worker_pod_name(struct arena *a, const struct nodeset *ns, int32_t ordinal);
const char *worker_hostname(struct arena *a, const struct nodeset *ns,
                            const struct build_worker *w);

/*
 * The pod.  Its name is worker_pod_name, or left to the API server (generateName) where it belongs
 * to a Kubernetes node.  Settings that cannot be laid over are problems.
 */
struct jsn *build_worker_pod(struct arena *a, const struct build_cluster *c,
                             const struct nodeset *ns, const struct build_worker *w,
                             struct api_problems *p);

/* Whose its pods are: metadata.ownerReferences. */
struct jsn *build_worker_owners(struct arena *a, const struct build_cluster *c,
                                const struct nodeset *ns);

/* The pod's claims, an array, one for each volumeClaimTemplate. */
struct jsn *build_worker_claims(struct arena *a, const struct build_cluster *c,
                                const struct nodeset *ns, const struct build_worker *w);
const char *worker_claim_name(struct arena *a, const struct nodeset *ns,
                              const struct build_worker *w, const char *template_name);

/* Does its topology come from the Kubernetes node?  Not where extraConf says one, or Slurm takes
 * none. */
bool worker_takes_topology(struct arena *a, const struct build_cluster *c,
                           const struct nodeset *ns);
/* Arguments of slurmd, an array; the last ones are the user's. */
struct jsn *worker_slurmd_args(struct arena *a, const struct build_cluster *c,
                               const struct nodeset *ns);
