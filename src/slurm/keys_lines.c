/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of NodeName, NodeSet, DownNodes, FrontendName and PowerAction lines of slurm.conf.
 *
 * Up to 23.02 slurmctld ends at a reconfigure that adds or removes a node and refuses a changed
 * number of CPUs; from 23.11 on both are ordinary changes.  Weight and generic resources of a node
 * can be set by RPC in all releases; the file then agrees with what is live.  Features could be,
 * too, but a NodeSet of a feature takes a node in only when the files are read.
 */
#include "src/slurm/keys_impl.h"

#define NODE_STATES "UNKNOWN DOWN IDLE ALLOCATED ERROR MIXED FUTURE CLOUD DRAIN FAIL EXTERNAL"

const struct conf_key keys_node[] = {
    {"BcastAddr", HOSTS, RECONFIGURE, .flags = KEY_PER_NODE | KEY_NOT_IN_DEFAULT},
    {"Boards", U16, RESTART_OLD, .dflt = "1"},
    {"CoreSpecCount", U16, RESTART_OLD, .dflt = "0"},
    {"CoresPerSocket", U16, RESTART_OLD, .dflt = "1"},
    {"CpuBind", WORD, RECONFIGURE, .flags = KEY_LENIENT},
    {"CPUs", U16, RESTART_OLD},
    {"CPUSpecList", TEXT, RESTART_OLD},
    {"Feature", OPTIONS, RECONFIGURE, .same_as = "Features"},
    {"Features", OPTIONS, RECONFIGURE},
    {"Gres", OPTIONS, BY_RPC},
    {"GresConf", TEXT, RECONFIGURE, .flags = KEY_OWN_ONLY, .since = SERIES(25, 11)},
    {"MemSpecLimit", U64, RESTART_OLD, .dflt = "0"},
    {"NodeAddr", HOSTS, RECONFIGURE, .flags = KEY_PER_NODE | KEY_NOT_IN_DEFAULT},
    {"NodeHostname", HOSTS, RESTART_OLD, .flags = KEY_PER_NODE | KEY_NOT_IN_DEFAULT},
    {"NodeName", HOSTS, RESTART_OLD},
    {"Parameters", OPTIONS, RECONFIGURE, .since = SERIES(25, 11)},
    {"Port", TEXT, RESTART_OLD, .flags = KEY_PER_NODE},
    {"Procs", U16, RESTART_OLD, .same_as = "CPUs"},
    {"RealMemory", U64, RECONFIGURE, .dflt = "1"},
    {"Reason", TEXT, RECONFIGURE},
    {"RestrictedCoresPerGPU", U16, RECONFIGURE, .since = SERIES(24, 5)},
    {"Sockets", U16, RESTART_OLD},
    {"SocketsPerBoard", U16, RESTART_OLD},
    {"State", {VALUE_PREFIX, NODE_STATES}, RECONFIGURE, .dflt = "UNKNOWN"},
    {"SuspendTime", {VALUE_SUSPEND}, RECONFIGURE, .since = SERIES(26, 5)},
    {"ThreadsPerCore", U16, RESTART_OLD, .dflt = "1"},
    {"TmpDisk", U32, RECONFIGURE, .dflt = "0"},
    {"Topology", TEXT, RECONFIGURE, .since = SERIES(25, 5)},
    {"TRESWeights", WEIGHTS, RECONFIGURE},
    {"Weight", U32, BY_RPC, .dflt = "1"},
    {KEYS_END},
};

const struct conf_key keys_nodeset[] = {
    {"Feature", TEXT, RECONFIGURE},
    {"Nodes", NODES, RECONFIGURE},
    {"NodeSet", TEXT, RECONFIGURE},
    {KEYS_END},
};

const struct conf_key keys_down[] = {
    {"DownNodes", HOSTS, RECONFIGURE},
    {"Reason", TEXT, RECONFIGURE},
    {"State", {VALUE_PREFIX, NODE_STATES}, RECONFIGURE, .flags = KEY_LENIENT},
    {KEYS_END},
};

const struct conf_key keys_frontend[] = {
    {"AllowGroups", OPTIONS, RESTART_OLD},
    {"AllowUsers", OPTIONS, RESTART_OLD},
    {"DenyGroups", OPTIONS, RESTART_OLD},
    {"DenyUsers", OPTIONS, RESTART_OLD},
    {"FrontendAddr", HOSTS, RESTART_OLD, .flags = KEY_NOT_IN_DEFAULT},
    {"FrontendName", HOSTS, RESTART_OLD, .gone = SERIES(25, 5)},
    {"Port", U16, RESTART_OLD},
    {"Reason", TEXT, RESTART_OLD},
    {"State", {VALUE_PREFIX, NODE_STATES}, RESTART_OLD},
    {KEYS_END},
};

const struct conf_key keys_power[] = {
    {"Location", WORD, RECONFIGURE},
    {"PowerAction", TEXT, RECONFIGURE, .since = SERIES(26, 5)},
    {"Program", TEXT, RECONFIGURE},
    {KEYS_END},
};
