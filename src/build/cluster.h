/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that the objects of one Slurm cluster are built from. */
#pragma once

#include "src/api/accounting.h"
#include "src/api/controller.h"
#include "src/api/nodeset.h"
#include "src/api/partition.h"
#include "src/build/env.h"
#include "src/slurm/profile.h"

#define SLURMCTLD_PORT 6817
#define SLURMD_PORT 6818
#define SLURM_ETC "/etc/slurm"
/* Where slurmkeeper-agent listens, in slurmctld's pod. */
#define AGENT_PORT 6821

/* A snapshot; everything is borrowed. */
struct build_cluster {
    const struct build_env *env;
    const struct controller *controller;
    const struct nodeset *const *nodesets; /* of this cluster, in any order */
    size_t n_nodesets;
    const struct api_partition *const *partitions; /* likewise; none that is being deleted */
    size_t n_partitions;
    unsigned n_loginsets;                /* they have the cluster's keys, too */
    const struct accounting *accounting; /* NULL: none, or it is not there */
    const struct api_lookup *lookup;     /* ConfigMaps and Secrets; NULL: none are known */
    struct config_memo *memo;            /* NULL: the configuration is made each time */
    uint32_t runs; /* the release to build for, where it is another than the declared one; 0 */
};

/* The release that runs: the Controller's, else the environment's, else the newest.  Where no
 * images are pulled the environment's comes first. */
uint32_t build_release(const struct build_cluster *c);
/* The release that is declared: by the Controller's annotation, else by its image, or the machine's
 * own where pods run that.  0: none is. */
uint32_t build_declared_release(const struct build_cluster *c);
/* The same for the pods of a NodeSet, whose image may name another. */
uint32_t build_worker_release(const struct build_cluster *c, const struct nodeset *ns);
bool build_has(const struct build_cluster *c, enum profile_feature feature);
/* Whether daemons trust each other by munge: Slurm before 23.11 has nothing else. */
bool build_uses_munge(const struct build_cluster *c);

/* Do the nodes have users from sssd?  Without ssh they do if the Secret that is named is there:
 * Slinky's chart names one in any case. */
bool build_has_directory(const struct build_cluster *c, const struct nodeset *ns);

/* Whether slurmkeeper-agent stands beside slurmctld: not where each change is to restart it. */
bool build_has_agent(const struct build_cluster *c);

/* Where clients find slurmctld: "slurm-controller.ns" and 6817, or the external one.  In `a`. */
const char *build_slurmctld_host(struct arena *a, const struct build_cluster *c);
int32_t build_slurmctld_port(const struct build_cluster *c);

/* The domain in which hosts of the cluster's workers are names; in `a`. */
const char *build_search_domain(struct arena *a, const struct build_cluster *c);

int64_t build_slurm_uid(const struct build_cluster *c);
int64_t build_slurm_gid(const struct build_cluster *c);

/* "<prefix>slurmctld:25.11", where no image was given.  In `a`. */
const char *build_default_image(struct arena *a, const struct build_cluster *c, const char *name);

/* SHA-256 in hex of one key of a Secret, as it stands there; "" if it is not there.  In `a`. */
const char *build_key_hash(struct arena *a, const struct build_cluster *c,
                           const struct api_key_ref *ref);
