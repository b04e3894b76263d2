/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration files of a cluster, and the ConfigMaps that carry them. */
#pragma once

#include "src/api/node_count.h"
#include "src/api/problems.h"
#include "src/build/cluster.h"
#include "src/build/conf_text.h"

#define MAX_NODE_COUNT_LEAST 1024
#define MAX_NODE_COUNT_MOST NODE_COUNT_MOST

struct build_file {
    const char *name;
    const char *text;
};

/* What slurmctld reads and is not from the user's own ConfigMaps.  All of it lives in an arena. */
struct build_config {
    struct build_file files[2]; /* by name */
    size_t n;
    const char *hash; /* over all files that slurmctld reads, the user's ones too */
    const struct conf_origin *origins; /* where lines of slurm.conf come from, by line */
    size_t n_origins;
};

/*
 * Build slurm.conf and, unless the user brings one, cgroup.conf.  Everything that is wrong with
 * them is added to `p`, each thing at the object and field it comes from.
 *
 * Returns 0 if the files may be used: problems are then about single NodeSets and Partitions that
 * were left out.
 * -EINVAL if Slurm would refuse them: whatever runs must go on with what it has.  *ret is filled in
 * both cases, so that somebody can look at it.  Where the cluster has a memo, `p` must be empty.
 */
int build_config(struct arena *a, const struct build_cluster *c, struct build_config *ret,
                 struct api_problems *p) MUST_CHECK;

const char *build_config_file(const struct build_config *config, const char *name);

/* Where a line of slurm.conf comes from; its object is NULL if it was made here. */
const struct conf_origin *build_config_origin(const struct build_config *config, unsigned line);

/*
 * The same files for the agent: the body of a push.  NULL if one of them is no text; then the agent
 * gets them by its volume alone.
 */
struct jsn *build_config_push(struct arena *a, const struct build_cluster *c,
                              const struct build_config *config);
/* Whether changes past the declaration are to be undone. */
bool build_reverts_drift(const struct build_cluster *c);

/* ConfigMap <name>-config. */
struct jsn *build_config_map(struct arena *a, const struct build_cluster *c,
                             const struct build_config *config);

/*
 * ConfigMaps <name>-prolog and <name>-epilog: scripts for nodes whose Slurm cannot fetch them
 * (before 24.05).  NULL where Slurm can.  They exist even if they are empty, so that scripts reach
 * pods that run already.
 */
struct jsn *build_script_map(struct arena *a, const struct build_cluster *c, const char *option);
/* "<name>-prolog", "<name>-epilog", and the directories they are mounted at. */
const char *build_script_map_name(struct arena *a, const struct build_cluster *c,
                                  const char *option);
#define PROLOG_DIR "/etc/slurm.prolog.d"
#define EPILOG_DIR "/etc/slurm.epilog.d"
