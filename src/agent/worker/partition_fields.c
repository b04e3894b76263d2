/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of partition fields.
 *
 * One row for each key whose field holds the number or text as it is, one for each bit.  Keys that
 * share a field (memory, the defaults for GPUs), have two (Priority) or need a word for a number
 * (State, CpuBind) are worked out by partition_read.c and partition_write.c.
 */
#include "src/agent/worker/partition_fields.h"

#include "src/agent/worker/release.h"

#define ROW(key, kind, member, model)                                                              \
    {key, kind, offsetof(partition_info_t, member), offsetof(struct partition, model)}

#define READ(key, kind, member, model)                                                             \
    {key, kind, offsetof(partition_info_t, member), offsetof(struct partition, model), true}

const struct part_field part_fields[] = {
    ROW("AllocNodes", PART_TEXT, allow_alloc_nodes, alloc_nodes),
    ROW("AllowAccounts", PART_TEXT, allow_accounts, allow_accounts),
    ROW("AllowGroups", PART_TEXT, allow_groups, allow_groups),
    ROW("AllowQos", PART_TEXT, allow_qos, allow_qos),
    ROW("Alternate", PART_TEXT, alternate, alternate),
    ROW("DefaultTime", PART_U32, default_time, default_time),
    ROW("DenyAccounts", PART_TEXT, deny_accounts, deny_accounts),
    ROW("DenyQos", PART_TEXT, deny_qos, deny_qos),
    ROW("GraceTime", PART_U32, grace_time, grace_time),
    ROW("MaxCPUsPerNode", PART_U32, max_cpus_per_node, max_cpus_per_node),
    ROW("MaxNodes", PART_U32, max_nodes, max_nodes),
    ROW("MaxTime", PART_U32, max_time, max_time),
    ROW("MinNodes", PART_U32, min_nodes, min_nodes),
    ROW("Nodes", PART_TEXT, nodes, nodes),
    ROW("OverSubscribe", PART_U16, max_share, oversubscribe),
    ROW("OverTimeLimit", PART_U16, over_time_limit, over_time_limit),
    ROW("PreemptMode", PART_U16, preempt_mode, preempt_mode),
    ROW("PriorityJobFactor", PART_U16, priority_job_factor, priority_job_factor),
    ROW("PriorityTier", PART_U16, priority_tier, priority_tier),
    ROW("QOS", PART_TEXT, qos_char, qos),
    READ("ResumeTimeout", PART_U16, resume_timeout, resume_timeout),
    READ("SuspendTime", PART_U32, suspend_time, suspend_time),
    READ("SuspendTimeout", PART_U16, suspend_timeout, suspend_timeout),
    ROW("TRESBillingWeights", PART_TEXT, billing_weights_str, billing_weights),
};
const size_t part_n_fields = ARRAY_LEN(part_fields);

#define FLAG(key, set, clear, model) {key, set, clear, offsetof(struct partition, model)}

const struct part_flag part_flags[] = {
    FLAG("Default", PART_FLAG_DEFAULT, PART_FLAG_DEFAULT_CLR, is_default),
    FLAG("DisableRootJobs", PART_FLAG_NO_ROOT, PART_FLAG_NO_ROOT_CLR, disable_root_jobs),
    FLAG("ExclusiveTopo", RELEASE_PART_EXC_TOPO, RELEASE_PART_EXC_TOPO_CLR, exclusive_topo),
    FLAG("ExclusiveUser", PART_FLAG_EXCLUSIVE_USER, PART_FLAG_EXC_USER_CLR, exclusive_user),
    FLAG("Hidden", PART_FLAG_HIDDEN, PART_FLAG_HIDDEN_CLR, hidden),
    FLAG("LLN", PART_FLAG_LLN, PART_FLAG_LLN_CLR, lln),
    FLAG("PowerDownOnIdle", RELEASE_PART_PDOI, RELEASE_PART_PDOI_CLR, power_down_on_idle),
    FLAG("ReqResv", PART_FLAG_REQ_RESV, PART_FLAG_REQ_RESV_CLR, req_resv),
    FLAG("RootOnly", PART_FLAG_ROOT_ONLY, PART_FLAG_ROOT_ONLY_CLR, root_only),
};
const size_t part_n_flags = ARRAY_LEN(part_flags);

const uint16_t part_states[4] = {PARTITION_UP, PARTITION_DOWN, PARTITION_DRAIN, PARTITION_INACTIVE};

const struct part_cpu_bind part_cpu_binds[PART_N_CPU_BINDS] = {
    {"none", CPU_BIND_NONE},     {"socket", CPU_BIND_TO_SOCKETS}, {"ldom", CPU_BIND_TO_LDOMS},
    {"core", CPU_BIND_TO_CORES}, {"thread", CPU_BIND_TO_THREADS}, {"off", CPU_BIND_OFF},
};
