/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A partition as typed fields: from and to a configuration line, compared field by field. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/slurm/hostset.h"
#include "src/slurm/keys.h"

/* Numbers of partition.state: the order of the State key's choices. */
enum part_state { PART_UP, PART_DOWN, PART_DRAIN, PART_INACTIVE };

/*
 * All settings of a partition, defaults resolved.  Texts are owned, NULL where not set ("ALL"
 * counts as not set where that is what not setting it means).  Numbers may be VALUE_INFINITE, and
 * VALUE_UNSET where Slurm falls back to the cluster's setting.  Memory is in MB; of a per-CPU and
 * per-node pair at most one is set, and 0 is not set.
 */
struct partition {
    char *name;
    char *nodes;    /* as written: hosts, NodeSets, ALL; NULL for none */
    char *nodesets; /* live partitions only: the NodeSets that `nodes` came from */
    char *alloc_nodes;
    char *allow_accounts;
    char *allow_groups;
    char *allow_qos;
    char *alternate;
    char *billing_weights;
    char *cpu_bind;
    char *deny_accounts;
    char *deny_qos;
    char *qos;
    char *select_parameters;
    char *topology;
    uint64_t is_default;
    uint64_t default_time; /* minutes */
    uint64_t def_cpu_per_gpu;
    uint64_t def_mem_per_cpu;
    uint64_t def_mem_per_gpu;
    uint64_t def_mem_per_node;
    uint64_t disable_root_jobs;
    uint64_t exclusive_topo;
    uint64_t exclusive_user;
    uint64_t grace_time; /* seconds */
    uint64_t hidden;
    uint64_t lln;
    uint64_t max_cpus_per_node;
    uint64_t max_cpus_per_socket;
    uint64_t max_mem_per_cpu;
    uint64_t max_mem_per_node;
    uint64_t max_nodes;
    uint64_t max_time; /* minutes */
    uint64_t min_nodes;
    uint64_t oversubscribe;   /* VALUE_SHARE */
    uint64_t over_time_limit; /* minutes */
    uint64_t power_down_on_idle;
    uint64_t preempt_mode; /* VALUE_PREEMPT */
    uint64_t priority_job_factor;
    uint64_t priority_tier;
    uint64_t req_resv;
    uint64_t resume_timeout; /* seconds */
    uint64_t root_only;
    uint64_t state; /* enum part_state */
    uint64_t suspend_time;
    uint64_t suspend_timeout;
};

/* Fill with what an empty line means; texts become NULL without being freed. */
void partition_init(struct partition *p);
void partition_done(struct partition *p);
DEFINE_AUTO_DONE(struct partition, partition_done);
void partition_copy(const struct partition *from, struct partition *to);

/*
 * Set fields from the pairs of a line (its PartitionName, too, if it is among them), with the same
 * precedence as Slurm: of a per-node and a per-CPU memory the former counts, OverSubscribe beats
 * Shared, Priority beats PriorityTier and PriorityJobFactor, and a DefaultTime above MaxTime is
 * dropped.  Keys that no partition has are skipped.  -EINVAL with a sentence for a bad value.
 */
int partition_load(struct partition *p, const struct conf_pair *pairs, size_t n,
                   struct err *e) MUST_CHECK;

/*
 * What slurmctld of this release makes of the whole: from 26.05 on ExclusiveTopo gives whole nodes
 * to a job, whatever OverSubscribe says.
 */
void partition_settle(struct partition *p, uint32_t release);

/* Append the value of a field as it would stand in a line; nothing where it is not set. */
void partition_value(const struct partition *p, const struct conf_key *key, struct buf *out);

/* Append the whole as a line: "PartitionName=x Nodes=... State=UP"; what is at its default is left
 * out. */
void partition_print(const struct partition *p, struct buf *out);

/* A field in which two partitions differ. */
struct part_change {
    const struct conf_key *key;
    char *from; /* owned; "" where not set */
    char *to;
};

/* At most one for each key. */
#define PARTITION_MAX_CHANGES 64
struct part_changes {
    struct part_change list[PARTITION_MAX_CHANGES];
    size_t n;
};
void part_changes_done(struct part_changes *c);
DEFINE_AUTO_DONE(struct part_changes, part_changes_done);
/* Takes both texts. */
void part_changes_add(struct part_changes *c, const struct conf_key *key, char *from, char *to);
/* Does the list of nodes have a function in braces?  What it comes to is slurmctld's to work out.
 */
bool partition_has_function(const struct partition *p);

/* What has to change to turn `from` into `to`; names and nodesets do not count. */
void partition_diff(const struct partition *from, const struct partition *to,
                    struct part_changes *ret);

/*
 * What is live and not as declared (from = declared, to = live).  Live nodes come expanded:
 * NodeSets count by name, hosts that are declared must be among the live ones, and without NodeSets
 * the two must be the same.  `all` are all nodes of the cluster for a partition of ALL; NULL if not
 * known. Nodes by a function count as they are. Fields that the release lacks are not looked at.
 */
void partition_drift(const struct partition *declared, const struct partition *live,
                     const struct host_set *all, const struct host_set *nodesets, uint32_t release,
                     struct part_changes *ret);
