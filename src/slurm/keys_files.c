/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of cgroup.conf, gres.conf and topology.conf.
 *
 * slurmctld reads all three at a reconfigure.  slurmd reads cgroup.conf again, too, but sets up its
 * cgroup plugin and its generic resources only when it starts (up to 23.02) or is started again by
 * the reconfigure (from 23.11 on).
 */
#include "src/slurm/keys_impl.h"

const struct conf_key keys_cgroup[] = {
    {"AllowedDevicesFile", TEXT, RECONFIGURE},
    {"AllowedKmemSpace", FLOAT, RECONFIGURE, .gone = SERIES(23, 11)},
    {"AllowedRAMSpace", FLOAT, RECONFIGURE, .dflt = "100"},
    {"AllowedSwapSpace", FLOAT, RECONFIGURE, .dflt = "0"},
    {"CgroupAutomount", BOOL, RECONFIGURE, .ignored = SERIES(23, 11)},
    {"CgroupJobIdPaths", BOOL, RESTART_OLD, .since = SERIES(26, 5)},
    {"CgroupMountpoint", TEXT, RESTART_OLD, .dflt = "/sys/fs/cgroup"},
    {"CgroupPlugin", ENUM("autodetect cgroup/v1 cgroup/v2 disabled>24.05"), RESTART_OLD,
     .dflt = "autodetect", .warning = "slurmd must be restarted, with no job on the node"},
    {"CgroupReleaseAgentDir", TEXT, RECONFIGURE, .gone = SERIES(25, 11)},
    {"CgroupSlice", TEXT, RESTART_OLD, .since = SERIES(25, 11)},
    {"ConstrainCores", BOOL, RECONFIGURE, .dflt = "NO"},
    {"ConstrainDevices", BOOL, RECONFIGURE, .dflt = "NO"},
    {"ConstrainKmemSpace", BOOL, RECONFIGURE, .gone = SERIES(23, 11)},
    {"ConstrainRAMSpace", BOOL, RECONFIGURE, .dflt = "NO"},
    {"ConstrainSwapSpace", BOOL, RECONFIGURE, .dflt = "NO"},
    {"EnableControllers", BOOL, RESTART_OLD, .since = SERIES(23, 2)},
    {"EnableExtraControllers", NAMES, RESTART_OLD, .since = SERIES(25, 5)},
    {"IgnoreSystemd", BOOL, RESTART_OLD, .dflt = "NO"},
    {"IgnoreSystemdOnFailure", BOOL, RESTART_OLD, .dflt = "NO"},
    {"MaxKmemPercent", FLOAT, RECONFIGURE, .gone = SERIES(23, 11)},
    {"MaxRAMPercent", FLOAT, RECONFIGURE, .dflt = "100"},
    {"MaxSwapPercent", FLOAT, RECONFIGURE, .dflt = "100"},
    {"MemoryLimitEnforcement", BOOL, RECONFIGURE},
    {"MemoryLimitThreshold", FLOAT, RECONFIGURE},
    {"MemorySwappiness", U64, RECONFIGURE},
    {"MinKmemSpace", U64, RECONFIGURE, .gone = SERIES(23, 11)},
    {"MinRAMSpace", U64, RECONFIGURE, .dflt = "30"},
    {"RootOwnedCgroups", BOOL, RECONFIGURE, .since = SERIES(23, 2), .gone = SERIES(23, 11)},
    {"SignalChildrenProcesses", BOOL, RECONFIGURE, .since = SERIES(23, 11)},
    {"SystemdTimeout", U64, RECONFIGURE, .since = SERIES(24, 5)},
    {KEYS_END},
};

const struct conf_key keys_gres_file[] = {
    {"AutoDetect", NAMES, RESTART_OLD},
    {KEYS_END},
};

const struct conf_key keys_gres[] = {
    {"AutoDetect", NAMES, RESTART_OLD}, {"Cores", OPTIONS, RESTART_OLD},
    {"Count", TEXT, RESTART_OLD},       {"CPUs", OPTIONS, RESTART_OLD, .same_as = "Cores"},
    {"File", HOSTS, RESTART_OLD},       {"Files", HOSTS, RESTART_OLD, .same_as = "File"},
    {"Flags", NAMES, RESTART_OLD},      {"Link", TEXT, RESTART_OLD, .same_as = "Links"},
    {"Links", TEXT, RESTART_OLD},       {"MultipleFiles", HOSTS, RESTART_OLD},
    {"Name", WORD, RESTART_OLD},        {"NodeName", HOSTS, RESTART_OLD},
    {"Type", TEXT, RESTART_OLD},        {KEYS_END},
};

const struct conf_key keys_topology_file[] = {
    {"BlockSizes", OPTIONS, RECONFIGURE, .since = SERIES(23, 11)},
    {KEYS_END},
};

const struct conf_key keys_topology[] = {
    {"BlockName", TEXT, RECONFIGURE, .since = SERIES(23, 11)},
    {"LinkSpeed", U32, RECONFIGURE},
    {"Nodes", HOSTS, RECONFIGURE},
    {"RingName", TEXT, RECONFIGURE, .since = SERIES(26, 5)},
    {"Switches", HOSTS, RECONFIGURE},
    {"SwitchName", TEXT, RECONFIGURE},
    {KEYS_END},
};
