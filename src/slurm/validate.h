/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks that a configuration will not be refused by slurmctld, nor end it. */
#pragma once

#include "src/slurm/model.h"

/* What is known beside the file. */
struct validate_context {
    uint32_t release;
    /* What is checked is a part of a file: partitions that it names may stand in another. */
    bool is_part;
    /*
     * Nodes that slurmctld has and the file has not (dynamic ones); NULL for none.  A partition
     * that names one of them is only warned about: it breaks when the node is deleted.
     */
    const struct host_set *dynamic_nodes;
    /*
     * Tells whether a plugin that is not one of Slurm's own ("auth/mine") is installed where the
     * daemons run; NULL if nobody can say, then it is only warned about.
     */
    bool (*plugin_installed)(void *arg, const char *plugin);
    void *arg;
    /*
     * A slurm.conf for which validate_model returned true, whatever else was said of it; or NULL.
     * Its partitions are not looked at again where they stand here in the same words, among the
     * same other lines: the faults that come out are the same as without it.
     */
    const struct model *known;
};

/*
 * Check a parsed file of any kind.  Every fault names file and line, key, value and what is
 * allowed.  What the file set as a whole needs (a cluster name, a controller, a partition) is
 * checked for slurm.conf.
 */
void validate_conf(const struct conf *conf, const struct validate_context *ctx,
                   struct faults *faults);

/* The same for a model that is there.  True if there is neither fault nor warning about a
 * partition, a node or another line that is no setting of the cluster. */
bool validate_model(const struct model *m, const struct validate_context *ctx,
                    struct faults *faults);

/*
 * Check what a NodeSet's or Partition's author may write after "PartitionName=x Nodes=y": pairs of
 * partition keys, one line.  `name` is used in messages.  Fails with the first fault.
 */
int validate_partition_config(const char *name, struct str config, uint32_t release,
                              struct err *e) MUST_CHECK;
