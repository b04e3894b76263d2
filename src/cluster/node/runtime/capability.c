/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capabilities: names and sets.
 *
 * A container can only be given what we have ourselves; on machines that are themselves containers,
 * or that lock capabilities away, a privileged container gets what there is instead of an error.
 */
#include "src/cluster/node/runtime/capability.h"

#include <sys/prctl.h>

static const char *const names[] = {
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_DAC_READ_SEARCH",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_SETGID",
    "CAP_SETUID",
    "CAP_SETPCAP",
    "CAP_LINUX_IMMUTABLE",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_BROADCAST",
    "CAP_NET_ADMIN",
    "CAP_NET_RAW",
    "CAP_IPC_LOCK",
    "CAP_IPC_OWNER",
    "CAP_SYS_MODULE",
    "CAP_SYS_RAWIO",
    "CAP_SYS_CHROOT",
    "CAP_SYS_PTRACE",
    "CAP_SYS_PACCT",
    "CAP_SYS_ADMIN",
    "CAP_SYS_BOOT",
    "CAP_SYS_NICE",
    "CAP_SYS_RESOURCE",
    "CAP_SYS_TIME",
    "CAP_SYS_TTY_CONFIG",
    "CAP_MKNOD",
    "CAP_LEASE",
    "CAP_AUDIT_WRITE",
    "CAP_AUDIT_CONTROL",
    "CAP_SETFCAP",
    "CAP_MAC_OVERRIDE",
    "CAP_MAC_ADMIN",
    "CAP_SYSLOG",
    "CAP_WAKE_ALARM",
    "CAP_BLOCK_SUSPEND",
    "CAP_AUDIT_READ",
    "CAP_PERFMON",
    "CAP_BPF",
    "CAP_CHECKPOINT_RESTORE",
};

int capability_number(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (streq(names[i], name) || streq(names[i] + 4, name))
            return (int)i;
    return -1;
}

const char *capability_name(unsigned int number)
{
    return number < ARRAY_LEN(names) ? names[number] : NULL;
}

/*
 * As CRI-O has it, and sshd's.  Container runtimes once gave more: raw packets, by which a pod
 * speaks in the name of its neighbours; device nodes; files that carry capabilities, which in a
 * shared directory are a gift to every user of the machine.  Whoever needs one of those names it.
 */
uint64_t capability_default(void)
{
    static const char *const given[] = {"AUDIT_WRITE", "CHOWN",  "DAC_OVERRIDE",     "FOWNER",
                                        "FSETID",      "KILL",   "NET_BIND_SERVICE", "SETGID",
                                        "SETPCAP",     "SETUID", "SYS_CHROOT"};
    uint64_t set = 0;

    for (size_t i = 0; i < ARRAY_LEN(given); i++)
        set |= UINT64_C(1) << capability_number(given[i]);
    return set;
}

uint64_t capability_own(void)
{
    uint64_t set = 0;

    for (unsigned int i = 0; i < ARRAY_LEN(names); i++)
        if (prctl(PR_CAPBSET_READ, i) == 1)
            set |= UINT64_C(1) << i;
    return set;
}
