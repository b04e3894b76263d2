/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests and limits of a container as control-group settings; pure. */
#pragma once

#include <stdint.h>

#include "src/json/jsn.h"

struct ctr_limits {
    uint64_t cpu_shares;   /* cgroup v1's scale; 0: not to be set */
    int64_t cpu_quota_us;  /* 0: none */
    int64_t cpu_period_us; /* of the quota */
    int64_t memory_bytes;  /* 0: none */
    int64_t tasks;         /* processes and threads; 0: no limit */
};

/* From the `resources` of a container (or NULL). */
void limits_of(const struct jsn *resources, struct ctr_limits *ret);

/*
 * What all pods of a cluster together may have of a machine with so much memory and so many tasks;
 * the rest is the machine's own, whatever jobs do.
 */
void limits_of_cluster(int64_t memory_bytes, int64_t tasks, struct ctr_limits *ret);
/* What one container may have of those tasks. */
int64_t limits_tasks_each(int64_t tasks);

/* What a pod asks for, in thousandths of processors and in bytes: as a scheduler counts. */
struct pod_demand {
    int64_t cpu_milli;
    int64_t memory_bytes;
};
struct pod_demand limits_demand(const struct jsn *pod_spec);

/* A quantity member as whole units or thousandths; `otherwise` if absent or bad. */
int64_t limits_value(const struct jsn *list, const char *key, int64_t otherwise);
int64_t limits_milli(const struct jsn *list, const char *key, int64_t otherwise);
