/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that containers are refused.
 *
 * The kernel asks for a capability in most of these calls anyway.  The filter stands in front of
 * that check: a fault of the kernel in mount, bpf or keyctl is out of reach for who cannot make the
 * call at all.  A container that was given the capability gets the calls, too.
 *
 * Calls are refused with EPERM, as the kernel itself would.  clone3 has its flags in memory, where
 * no filter can look: it does not exist (ENOSYS), and the C library goes on with clone.
 *
 * Pods share directories with the machine.  Whoever is root in one could leave a program there that
 * runs as root for everybody outside: so they make no set-user-id files, neither by chmod nor at
 * birth.  openat2 has its mode in memory, and does not exist there.
 *
 * New namespaces are refused without SYS_ADMIN, user namespaces among them: inside of one,
 * everybody is root and reaches what is behind all the checks above.  Rootless containers in jobs
 * (Apptainer, enroot) need them: a NodeSet says seccompProfile Unconfined for that.
 */
#include "src/cluster/node/runtime/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "src/cluster/node/runtime/capability.h"

#define MAX_CALLS 24

static const struct {
    const char *unless; /* the capability that lifts the ban; NULL: none does */
    const char *calls[MAX_CALLS];
} bans[] = {
    {NULL,
     {"_sysctl", "add_key", "create_module", "get_kernel_syms", "io_uring_enter",
      "io_uring_register", "io_uring_setup", "keyctl", "nfsservctl", "query_module", "request_key",
      "sysfs", "uselib", "userfaultfd", "ustat", "vm86", "vm86old"}},
    {"SYS_ADMIN", {"fanotify_init",  "fsconfig",   "fsmount",       "fsopen",      "fspick",
                   "lookup_dcookie", "mount",      "mount_setattr", "move_mount",  "open_tree",
                   "open_tree_attr", "pivot_root", "quotactl",      "quotactl_fd", "setdomainname",
                   "sethostname",    "setns",      "swapoff",       "swapon",      "umount",
                   "umount2"}},
    {"SYS_MODULE", {"delete_module", "finit_module", "init_module"}},
    {"SYS_BOOT", {"kexec_file_load", "kexec_load", "reboot"}},
    {"SYS_TIME",
     {"adjtimex", "clock_adjtime", "clock_adjtime64", "clock_settime", "clock_settime64",
      "settimeofday", "stime"}},
    {"BPF", {"bpf"}},
    {"SYSLOG", {"syslog"}},
    {"SYS_PACCT", {"acct"}},
    {"SYS_RAWIO", {"ioperm", "iopl"}},
    {"SYS_TTY_CONFIG", {"vhangup"}},
    {"DAC_READ_SEARCH", {"open_by_handle_at"}},
};

/*
 * Families of sockets that no job speaks.  Asking for one loads a part of the kernel that hardly
 * anybody has looked at.  AF_VSOCK leads from a virtual machine to its host, past every firewall.
 */
static const uint32_t families[] = {
    AF_AX25,   AF_IPX,  AF_APPLETALK, AF_NETROM, AF_ATMPVC, AF_X25,     AF_ROSE,
    AF_DECnet, AF_KEY,  AF_ECONET,    AF_ATMSVC, AF_IRDA,   AF_PPPOX,   AF_LLC,
    AF_CAN,    AF_TIPC, AF_BLUETOOTH, AF_RXRPC,  AF_ISDN,   AF_PHONET,  AF_IEEE802154,
    AF_CAIF,   AF_ALG,  AF_NFC,       AF_VSOCK,  AF_KCM,    AF_QIPCRTR,
};

/* Flags of clone and unshare that make a namespace. */
static const uint32_t namespaces[] = {CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWCGROUP, CLONE_NEWUTS,
                                      CLONE_NEWIPC,  CLONE_NEWPID, CLONE_NEWNET};

static bool has(uint64_t set, const char *capability)
{
    return capability && set & UINT64_C(1) << capability_number(capability);
}

static struct jsn *refuse(struct arena *a, struct jsn *rules, int errnum)
{
    struct jsn *rule = jsn_object(a);

    jsn_set(a, rule, "names", jsn_array(a));
    jsn_set_str(a, rule, "action", "SCMP_ACT_ERRNO");
    jsn_set_int(a, rule, "errnoRet", errnum);
    jsn_append(a, rules, rule);
    return rule;
}

static void name(struct arena *a, struct jsn *rule, const char *call)
{
    jsn_append(a, jsn_key(rule, "names"), jsn_string(a, call));
}

/* Only where argument `index`, masked, is that value. */
static void add_condition(struct arena *a, struct jsn *rule, int index, uint32_t mask,
                          uint32_t value)
{
    struct jsn *arg = jsn_object(a);

    if (!jsn_key(rule, "args"))
        jsn_set(a, rule, "args", jsn_array(a));
    jsn_set_int(a, arg, "index", index);
    jsn_set_int(a, arg, "value", mask);
    jsn_set_int(a, arg, "valueTwo", value);
    jsn_set_str(a, arg, "op", "SCMP_CMP_MASKED_EQ");
    jsn_append(a, jsn_key(rule, "args"), arg);
}

static struct jsn *refuse_where(struct arena *a, struct jsn *rules, const char *call, int index,
                                uint32_t mask, uint32_t value)
{
    struct jsn *rule = refuse(a, rules, EPERM);

    name(a, rule, call);
    add_condition(a, rule, index, mask, value);
    return rule;
}

static void refuse_namespaces(struct arena *a, struct jsn *rules)
{
    for (size_t i = 0; i < ARRAY_LEN(namespaces); i++) {
        (void)refuse_where(a, rules, "clone", 0, namespaces[i], namespaces[i]);
        (void)refuse_where(a, rules, "unshare", 0, namespaces[i], namespaces[i]);
    }
    name(a, refuse(a, rules, ENOSYS), "clone3");
}

/* 32-bit programs may ask by socketcall, with the family in memory: they have the newer call. */
static void refuse_families(struct arena *a, struct jsn *rules)
{
    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        (void)refuse_where(a, rules, "socket", 0, UINT32_MAX, families[i]);
    name(a, refuse(a, rules, ENOSYS), "socketcall");
}

/* How a file gets a mode, and which argument that is. */
static void refuse_setuid_files(struct arena *a, struct jsn *rules)
{
    static const struct {
        const char *call;
        int mode;
    } calls[] = {{"chmod", 1}, {"fchmod", 1}, {"fchmodat", 2}, {"fchmodat2", 2},
                 {"creat", 1}, {"mknod", 1},  {"mknodat", 2}};
    static const struct {
        const char *call;
        int flags;
    } opens[] = {{"open", 1}, {"openat", 2}};

    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        (void)refuse_where(a, rules, calls[i].call, calls[i].mode, S_ISUID, S_ISUID);
    for (size_t i = 0; i < ARRAY_LEN(opens); i++) {
        struct jsn *rule = refuse_where(a, rules, opens[i].call, opens[i].flags, O_CREAT, O_CREAT);

        add_condition(a, rule, opens[i].flags + 1, S_ISUID, S_ISUID);
    }
    name(a, refuse(a, rules, ENOSYS), "openat2");
}

/* The other instruction sets that the kernel runs: without them, they would be a way around. */
static struct jsn *architectures(struct arena *a)
{
#if defined(__x86_64__)
    static const char *const names[] = {"SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"};
#elif defined(__aarch64__)
    static const char *const names[] = {"SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM"};
#else
    static const char *const names[] = {NULL};
#endif
    struct jsn *list = jsn_array(a);

    for (size_t i = 0; i < ARRAY_LEN(names) && names[i]; i++)
        jsn_append(a, list, jsn_string(a, names[i]));
    return list;
}

struct jsn *seccomp_profile(struct arena *a, uint64_t capabilities)
{
    struct jsn *profile = jsn_object(a);
    struct jsn *rules = jsn_array(a);

    for (size_t i = 0; i < ARRAY_LEN(bans); i++) {
        struct jsn *rule = has(capabilities, bans[i].unless) ? NULL : refuse(a, rules, EPERM);

        for (const char *const *call = bans[i].calls; rule && *call; call++)
            name(a, rule, *call);
    }
    if (!has(capabilities, "SYS_ADMIN")) {
        refuse_namespaces(a, rules);
        /* characters pushed into a terminal's input are commands for the shell that reads it next
         */
        (void)refuse_where(a, rules, "ioctl", 1, UINT32_MAX, TIOCSTI);
        (void)refuse_where(a, rules, "ioctl", 1, UINT32_MAX, TIOCLINUX);
    }
    refuse_families(a, rules);
    refuse_setuid_files(a, rules);
    jsn_set_str(a, profile, "defaultAction", "SCMP_ACT_ALLOW");
    if (jsn_len(architectures(a)))
        jsn_set(a, profile, "architectures", architectures(a));
    jsn_set(a, profile, "syscalls", rules);
    return profile;
}
