/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of a PartitionName line, each with its field in struct partition.
 *
 * The class is what the update RPC can do.  Where it cannot take a value back (KEY_NO_UNSET),
 * classify.c raises that one change to a reconfigure.  A default here is what leaving the key out
 * means; numbers without one are unset then.
 */
#include "src/slurm/keys_impl.h"
#include "src/slurm/partition.h"

#define TEXT_AT(name) .text_at = offsetof(struct partition, name) + 1
#define NUMBER_AT(name) .number_at = offsetof(struct partition, name) + 1

#define CPU_BIND                                                                                   \
    "none no:none socket sockets:socket ldom ldoms:ldom core cores:core thread threads:thread off"

const struct conf_key keys_partition[] = {
    {"AllocNodes", HOSTS, BY_RPC, .dflt = "ALL", TEXT_AT(alloc_nodes)},
    {"AllowAccounts", NAMES, BY_RPC, .dflt = "ALL", TEXT_AT(allow_accounts)},
    {"AllowGroups", OPTIONS, BY_RPC, .dflt = "ALL", TEXT_AT(allow_groups)},
    {"AllowQos", NAMES, BY_RPC, .dflt = "ALL", TEXT_AT(allow_qos)},
    {"Alternate", TEXT, BY_RPC, .dflt = "NONE", TEXT_AT(alternate)},
    {"CpuBind", ENUM(CPU_BIND), BY_RPC, .flags = KEY_LENIENT, .dflt = "off", TEXT_AT(cpu_bind)},
    {"Default", BOOL, BY_RPC, .dflt = "NO", NUMBER_AT(is_default)},
    {"DefaultTime", MINUTES, BY_RPC, .flags = KEY_NO_UNSET, NUMBER_AT(default_time)},
    {"DefCPUPerGPU", U64, BY_RPC, NUMBER_AT(def_cpu_per_gpu)},
    {"DefMemPerCPU", U64, BY_RPC, NUMBER_AT(def_mem_per_cpu)},
    {"DefMemPerGPU", U64, BY_RPC, NUMBER_AT(def_mem_per_gpu)},
    {"DefMemPerNode", U64, BY_RPC, NUMBER_AT(def_mem_per_node)},
    {"DenyAccounts", NAMES, BY_RPC, TEXT_AT(deny_accounts)},
    {"DenyQos", NAMES, BY_RPC, TEXT_AT(deny_qos)},
    {"DisableRootJobs", BOOL, BY_RPC, .flags = KEY_OWN_ONLY, NUMBER_AT(disable_root_jobs)},
    {"Exclusive", ENUM("NO NODE USER TOPO NONE:NO"), BY_RPC, .since = SERIES(26, 5)},
    {"ExclusiveTopo", BOOL, BY_RPC, .flags = KEY_OWN_ONLY, .since = SERIES(24, 5), .dflt = "NO",
     NUMBER_AT(exclusive_topo)},
    {"ExclusiveUser", BOOL, BY_RPC, .flags = KEY_OWN_ONLY, .dflt = "NO", NUMBER_AT(exclusive_user)},
    {"GraceTime", U32, BY_RPC, .dflt = "0", NUMBER_AT(grace_time)},
    {"Hidden", BOOL, BY_RPC, .dflt = "NO", NUMBER_AT(hidden)},
    {"LLN", BOOL, BY_RPC, .dflt = "NO", NUMBER_AT(lln)},
    {"MaxCPUsPerNode", U32, BY_RPC, .dflt = "UNLIMITED", NUMBER_AT(max_cpus_per_node)},
    {"MaxCPUsPerSocket", U32, BY_RPC, .since = SERIES(23, 2), .dflt = "UNLIMITED",
     NUMBER_AT(max_cpus_per_socket)},
    {"MaxMemPerCPU", U64, BY_RPC, NUMBER_AT(max_mem_per_cpu)},
    {"MaxMemPerNode", U64, BY_RPC, NUMBER_AT(max_mem_per_node)},
    {"MaxNodes", U32, BY_RPC, .dflt = "UNLIMITED", NUMBER_AT(max_nodes)},
    {"MaxTime", MINUTES, BY_RPC, .dflt = "UNLIMITED", NUMBER_AT(max_time)},
    {"MinNodes", U32, BY_RPC, .dflt = "0", NUMBER_AT(min_nodes)},
    {"Nodes", NODES, BY_RPC, TEXT_AT(nodes)},
    {"OverSubscribe", {VALUE_SHARE}, BY_RPC, .dflt = "NO", NUMBER_AT(oversubscribe)},
    {"OverTimeLimit", {VALUE_OVERTIME}, BY_RPC, .flags = KEY_NO_UNSET, NUMBER_AT(over_time_limit)},
    {"PartitionName", TEXT, BY_RPC},
    {"PowerDownOnIdle", BOOL, BY_RPC, .flags = KEY_OWN_ONLY, .since = SERIES(23, 2), .dflt = "NO",
     NUMBER_AT(power_down_on_idle)},
    {"PreemptMode", {VALUE_PREEMPT}, BY_RPC, .flags = KEY_NO_UNSET, NUMBER_AT(preempt_mode)},
    {"Priority", U16, BY_RPC},
    {"PriorityJobFactor", U16, BY_RPC, .dflt = "1", NUMBER_AT(priority_job_factor)},
    {"PriorityTier", U16, BY_RPC, .dflt = "1", NUMBER_AT(priority_tier)},
    {"QOS", TEXT, BY_RPC, TEXT_AT(qos)},
    {"ReqResv", BOOL, BY_RPC, .dflt = "NO", NUMBER_AT(req_resv)},
    {"ResumeTimeout", U16, RECONFIGURE, NUMBER_AT(resume_timeout)},
    {"RootOnly", BOOL, BY_RPC, .dflt = "NO", NUMBER_AT(root_only)},
    {"SelectTypeParameters",
     {VALUE_PREFIX, "CR_Core_Memory CR_Core CR_Socket_Memory CR_Socket"},
     RESTART_OLD,
     .flags = KEY_OWN_ONLY,
     TEXT_AT(select_parameters)},
    {"Shared", {VALUE_SHARE}, BY_RPC},
    {"State", {VALUE_PREFIX, "UP DOWN DRAIN INACTIVE"}, BY_RPC, .dflt = "UP", NUMBER_AT(state)},
    {"SuspendTime", {VALUE_SUSPEND}, RECONFIGURE, .flags = KEY_OWN_ONLY, NUMBER_AT(suspend_time)},
    {"SuspendTimeout", U16, RECONFIGURE, NUMBER_AT(suspend_timeout)},
    {"Topology", TEXT, BY_RPC, .since = SERIES(25, 5), TEXT_AT(topology)},
    {"TRESBillingWeights", WEIGHTS, BY_RPC, TEXT_AT(billing_weights)},
    {KEYS_END},
};
