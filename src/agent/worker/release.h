/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one place that knows how libslurm's interface differs from release to release. */
#pragma once

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <stdbool.h>
#include <stdint.h>

/* Numbers that a release may lack; they never change. */
#define RELEASE_CODE_BACKOFF 1804        /* 23.02: rate limit */
#define RELEASE_CODE_BAD_TRANSITION 2180 /* 25.11: node state; 2028 before */
#define RELEASE_PART_PDOI (1U << 7)      /* 23.02: PowerDownOnIdle */
#define RELEASE_PART_PDOI_CLR (1U << 15)
#define RELEASE_PART_EXC_TOPO (1U << 16) /* 24.05: ExclusiveTopo */
#define RELEASE_PART_EXC_TOPO_CLR (1U << 17)
#define RELEASE_MESSAGE_FILES 1004 /* slurmctld hands its files on to a node */
/* partition_info_t.cr_type; 25.11 takes the names away */
#define RELEASE_CR_SOCKET 0x02
#define RELEASE_CR_CORE 0x04
#define RELEASE_CR_MEMORY 0x10

/* The release that this program was built for, as src/slurm/profile.h counts. */
uint32_t release_built_for(void);

/* Partition: fields that came later.  Setting one that this release lacks answers false. */
uint32_t release_part_max_cpus_per_socket(const partition_info_t *p); /* INFINITE if it lacks it */
bool release_part_set_max_cpus_per_socket(partition_info_t *p, uint32_t n);
const char *release_part_topology(const partition_info_t *p);
bool release_part_set_topology(partition_info_t *p, char *name);
/* Adds to the flags; false where a bit does not exist in this release. */
bool release_part_add_flags(partition_info_t *p, uint32_t bits);
/* An update with a QOS that does not exist ends slurmctld. */
bool release_part_qos_kills(void);
/* DefCpuPerGPU and DefMemPerGPU of a loaded partition; NO_VAL64 where not set. */
void release_part_job_defaults(const partition_info_t *p, uint64_t *ret_cpu_per_gpu,
                               uint64_t *ret_mem_per_gpu);

/* Node. */
unsigned release_node_cpus_allocated(const node_info_t *n);
const char *release_node_instance_id(const node_info_t *n);
const char *release_node_instance_type(const node_info_t *n);
const char *release_node_topology(const node_info_t *n);
time_t release_node_resume_after(const node_info_t *n);
bool release_node_set_resume_after(update_node_msg_t *m, uint32_t seconds);
bool release_node_set_instance_id(update_node_msg_t *m, char *text);
bool release_node_set_instance_type(update_node_msg_t *m, char *text);
bool release_node_set_topology(update_node_msg_t *m, char *text);

/* Reservation.  `counts` must stay until the message has been sent: two numbers for each field. */
struct release_counts {
    uint32_t nodes[2];
    uint32_t cores[2];
};
void release_resv_set_nodes(resv_desc_msg_t *m, struct release_counts *counts, uint32_t n);
void release_resv_set_cores(resv_desc_msg_t *m, struct release_counts *counts, uint32_t n);
bool release_resv_set_comment(resv_desc_msg_t *m, char *text);
bool release_resv_set_qos(resv_desc_msg_t *m, char *text);
bool release_resv_set_partitions(resv_desc_msg_t *m, char *text);
const char *release_resv_comment(const reserve_info_t *r);
const char *release_resv_qos(const reserve_info_t *r);
const char *release_resv_partitions(const reserve_info_t *r);
/* Create it: the error code, 0 if it is there. */
int release_resv_create(resv_desc_msg_t *m);

/* Job. */
uint32_t release_job_id(const slurm_job_info_t *j);

/* Configuration. */
void release_conf_free(slurm_conf_t *conf);
void release_stats_free(stats_info_response_msg_t *stats);
