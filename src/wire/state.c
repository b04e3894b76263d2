/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state, as tables: each member that goes over the wire has its one row here.
 *
 * The agent's children write records of nodes, partitions and reservations; the agent adds what it
 * knows of their jobs, and writes the sections.  The operator and `slurmkeeper plan` read.  Rows
 * may be added within a version of the protocol; docs/agent-protocol.md has a line for each, and a
 * test holds the two against each other.
 */
#include "src/wire/state.h"

#define AT(member) offsetof(struct wire_node, member)
const struct jsn_field wire_node_fields[] = {
    {"name", JSN_STR, AT(name), JSN_REQ},
    {"state", JSN_STR, AT(state), 0},
    {"reason", JSN_STR, AT(reason), 0},
    {"reasonUser", JSN_STR, AT(reason_user), 0},
    {"reasonTime", JSN_I64, AT(reason_time), 0},
    {"comment", JSN_STR, AT(comment), 0},
    {"extra", JSN_STR, AT(extra), 0},
    {"features", JSN_STR, AT(features), 0},
    {"activeFeatures", JSN_STR, AT(active_features), 0},
    {"gres", JSN_STR, AT(gres), 0},
    {"address", JSN_STR, AT(address), 0},
    {"hostname", JSN_STR, AT(hostname), 0},
    {"version", JSN_STR, AT(version), 0},
    {"topology", JSN_STR, AT(topology), 0},
    {"instanceId", JSN_STR, AT(instance_id), 0},
    {"instanceType", JSN_STR, AT(instance_type), 0},
    {"bootTime", JSN_I64, AT(boot_time), 0},
    {"slurmdStartTime", JSN_I64, AT(slurmd_start_time), 0},
    {"resumeAfter", JSN_I64, AT(resume_after), 0},
    {"cpus", JSN_I64, AT(cpus), JSN_KEEP},
    {"cpusAllocated", JSN_I64, AT(cpus_allocated), JSN_KEEP},
    {"boards", JSN_I64, AT(boards), JSN_KEEP},
    {"sockets", JSN_I64, AT(sockets), JSN_KEEP},
    {"cores", JSN_I64, AT(cores), JSN_KEEP},
    {"threads", JSN_I64, AT(threads), JSN_KEEP},
    {"memory", JSN_I64, AT(memory), JSN_KEEP},
    {"tmpDisk", JSN_I64, AT(tmp_disk), JSN_KEEP},
    {"memSpec", JSN_I64, AT(mem_spec), JSN_KEEP},
    {"coreSpec", JSN_I64, AT(core_spec), JSN_KEEP},
    {"weight", JSN_I64, AT(weight), JSN_KEEP},
    JSN_END,
};
#undef AT

const struct jsn_field wire_node_jobs_fields[] = {
    {"jobs", JSN_RAW, offsetof(struct wire_node_jobs, jobs), JSN_ANY},
    {"busyUntil", JSN_I64, offsetof(struct wire_node_jobs, busy_until), 0},
    JSN_END,
};

const struct jsn_field wire_partition_fields[] = {
    {"name", JSN_STR, offsetof(struct wire_partition, name), JSN_REQ},
    {"config", JSN_RAW, offsetof(struct wire_partition, config), 0},
    {"nodes", JSN_STR, offsetof(struct wire_partition, nodes), 0},
    {"nodesets", JSN_STR, offsetof(struct wire_partition, nodesets), 0},
    {"totalNodes", JSN_I64, offsetof(struct wire_partition, total_nodes), JSN_KEEP},
    {"totalCpus", JSN_I64, offsetof(struct wire_partition, total_cpus), JSN_KEEP},
    {"tres", JSN_STR, offsetof(struct wire_partition, tres), 0},
    JSN_END,
};

const struct jsn_field wire_job_counts_fields[] = {
    {"pending", JSN_U32, offsetof(struct wire_job_counts, pending), JSN_KEEP},
    {"running", JSN_U32, offsetof(struct wire_job_counts, running), JSN_KEEP},
    JSN_END,
};

#define AT(member) offsetof(struct wire_reservation, member)
const struct jsn_field wire_reservation_fields[] = {
    {"name", JSN_STR, AT(name), JSN_REQ},
    {"startTime", JSN_I64, AT(start_time), 0},
    {"endTime", JSN_I64, AT(end_time), 0},
    {"flags", JSN_STRS, AT(flags), JSN_KEEP},
    {"nodes", JSN_STR, AT(nodes), 0},
    {"nodeCount", JSN_I64, AT(node_count), JSN_KEEP},
    {"coreCount", JSN_I64, AT(core_count), JSN_KEEP},
    {"users", JSN_STR, AT(users), 0},
    {"accounts", JSN_STR, AT(accounts), 0},
    {"groups", JSN_STR, AT(groups), 0},
    {"partition", JSN_STR, AT(partition), 0},
    {"features", JSN_STR, AT(features), 0},
    {"licenses", JSN_STR, AT(licenses), 0},
    {"burstBuffer", JSN_STR, AT(burst_buffer), 0},
    {"tres", JSN_STR, AT(tres), 0},
    {"comment", JSN_STR, AT(comment), 0},
    {"qos", JSN_STR, AT(qos), 0},
    {"allowedPartitions", JSN_STR, AT(allowed_partitions), 0},
    JSN_END,
};
#undef AT

const struct jsn_field wire_drift_fields[] = {
    {"partition", JSN_STR, offsetof(struct wire_drift, partition), JSN_REQ},
    {"field", JSN_STR, offsetof(struct wire_drift, field), JSN_REQ},
    {"declared", JSN_STR, offsetof(struct wire_drift, declared), 0},
    {"live", JSN_STR, offsetof(struct wire_drift, live), 0},
    JSN_END,
};

const struct jsn_field wire_waiting_fields[] = {
    {"partition", JSN_STR, offsetof(struct wire_waiting, partition), JSN_REQ},
    {"jobs", JSN_RAW, offsetof(struct wire_waiting, jobs), JSN_ANY},
    JSN_END,
};

const struct jsn_field wire_controller_fields[] = {
    {"name", JSN_STR, offsetof(struct wire_controller, name), 0},
    {"mode", JSN_STR, offsetof(struct wire_controller, mode), 0},
    {"up", JSN_FLAG, offsetof(struct wire_controller, up), JSN_KEEP},
    {"error", JSN_STR, offsetof(struct wire_controller, error), 0},
    JSN_END,
};

const struct jsn_field wire_slurmctld_fields[] = {
    {"up", JSN_FLAG, offsetof(struct wire_slurmctld, up), JSN_KEEP},
    {"release", JSN_STR, offsetof(struct wire_slurmctld, release), 0},
    {"bootTime", JSN_I64, offsetof(struct wire_slurmctld, boot_time), JSN_KEEP},
    {"controllers", JSN_RAW, offsetof(struct wire_slurmctld, controllers), JSN_ANY},
    {"error", JSN_STR, offsetof(struct wire_slurmctld, error), 0},
    {"keys", JSN_STR, offsetof(struct wire_slurmctld, keys), 0},
    JSN_END,
};
