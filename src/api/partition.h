/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kind Partition: a queue of a Slurm cluster over any of its nodes. */
#pragma once

#include "src/api/condition.h"
#include "src/api/lookup.h"
#include "src/api/meta.h"
#include "src/api/problems.h"
#include "src/api/refs.h"
#include "src/slurm/conf.h"

/* Keeps a Partition until slurmctld no longer has it. */
#define PARTITION_FINALIZER API_OWN_GROUP "/partition"

/*
 * Each setting is called like its key of slurm.conf, with a small letter first; that is how the two
 * find each other.  NULL, not set, or an empty list: left to Slurm.
 */
struct api_partition_spec {
    struct api_controller_ref controller_ref;
    struct api_refs nodeset_refs;
    const char *nodes; /* host list */
    bool all;
    const char *name; /* in Slurm; NULL: the object's */
    int state;        /* position in the names of State: UP, DOWN, DRAIN, INACTIVE */
    const bool *is_default;
    struct jsn_int_or_str max_time;
    struct jsn_int_or_str default_time;
    struct jsn_int_or_str over_time_limit;
    const int64_t *grace_time;
    const int64_t *priority_tier;
    const int64_t *priority_job_factor;
    struct jsn_int_or_str max_nodes;
    const int64_t *min_nodes;
    struct jsn_int_or_str max_cpus_per_node;
    struct jsn_int_or_str max_cpus_per_socket;
    const int64_t *max_mem_per_node;
    const int64_t *max_mem_per_cpu;
    const int64_t *def_mem_per_node;
    const int64_t *def_mem_per_cpu;
    const int64_t *def_mem_per_gpu;
    const int64_t *def_cpu_per_gpu;
    struct jsn_strs allow_groups;
    struct jsn_strs allow_accounts;
    struct jsn_strs deny_accounts;
    struct jsn_strs allow_qos;
    struct jsn_strs deny_qos;
    const char *alloc_nodes;
    const char *qos;
    const char *oversubscribe;
    const char *preempt_mode;
    const char *alternate;
    const bool *hidden;
    const bool *root_only;
    const bool *disable_root_jobs;
    const char *exclusive;
    const bool *exclusive_user;
    const bool *exclusive_topo;
    const bool *req_resv;
    const bool *lln;
    const bool *power_down_on_idle;
    struct jsn_int_or_str suspend_time;
    const int64_t *suspend_timeout;
    const int64_t *resume_timeout;
    const char *cpu_bind;
    const char *tres_billing_weights;
    const char *topology;
    const char *config; /* pairs for all other keys */
};

/* A field that is not as declared. */
struct api_partition_drift {
    const char *field;
    const char *declared;
    const char *live;
};

struct api_partition_drifts {
    struct api_partition_drift *items;
    size_t n;
};

struct api_partition_status {
    int64_t observed_generation;
    const char *name;  /* in Slurm */
    const char *line;  /* that stands for it in slurm.conf */
    const char *state; /* live, as all below; NULL: not known */
    const char *nodes;
    const int32_t *total_nodes; /* NULL: not known */
    const int32_t *pending_jobs;
    const int32_t *running_jobs;
    struct jsn_map live;
    struct api_partition_drifts drift;
    struct api_conditions conditions;
};

struct api_partition {
    struct api_meta meta;
    struct api_partition_spec spec;
    struct api_partition_status status;
    uint64_t digest; /* of what its line follows from: config_memo_digest; 0: not taken */
};

extern const struct jsn_field api_partition_fields[];
extern const struct jsn_field api_partition_status_fields[];

/* Decode into `a`; nothing points into v.  The error names the field. */
int api_partition_decode(struct arena *a, const struct jsn *v, struct api_partition *ret,
                         struct err *e) MUST_CHECK;

/* What Slurm calls it: spec.partitionName, or the object's name. */
const char *api_partition_slurm_name(const struct api_partition *part);

/*
 * Visit the settings that are given, in the table's order: the field ("maxTime"), the key
 * ("MaxTime") and the value as slurm.conf spells it.  Nodes, name and config are not among them.
 */
typedef void (*api_setting_fn)(void *arg, const char *field, const char *key, const char *value);
void api_partition_settings(struct arena *a, const struct api_partition *part, api_setting_fn fn,
                            void *arg);

/* Does it want to be the default? */
bool api_partition_is_default(const struct api_partition *part);

/*
 * The line of slurm.conf over these nodes ("a,b", "ALL"; "": none): "PartitionName=x Nodes=a,b
 * State=UP ...", the words of spec.config at its end.  Not checked.  `may_be_default` false:
 * without Default=YES, since another one is.  In `a`.
 */
const char *api_partition_line(struct arena *a, const struct api_partition *part, const char *nodes,
                               bool may_be_default);

/* Everything that the object alone tells.  `release` 0: any release may run it. */
void api_partition_check(const struct api_partition *part, uint32_t release,
                         struct api_problems *p);
/* What may not change. */
void api_partition_check_update(const struct api_partition *part, const struct api_partition *old,
                                struct api_problems *p);
/* What depends on other objects; `old` (may be NULL) passed already, with what has not changed. */
void api_partition_check_refs(const struct api_partition *part, const struct api_partition *old,
                              const struct api_lookup *l, struct api_problems *p);
