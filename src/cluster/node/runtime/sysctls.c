/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * securityContext.sysctls.
 *
 * The pause process writes them, as root of the machine.  A setting that no namespace has for
 * itself would be the machine's: kernel.core_pattern names a program that root runs.  So only those
 * are taken that the kernel keeps for each network or IPC namespace, and only if the pod has one.
 */
#include "src/cluster/node/runtime/sysctls.h"

static bool is_of_ipc(const char *name)
{
    return streq(name, "kernel.sem") || starts_with(name, "kernel.shm") ||
           starts_with(name, "kernel.msg") || starts_with(name, "fs.mqueue.");
}

/* The name becomes a path below /proc/sys, which it must not leave. */
static bool is_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";

    return name[0] && strspn(name, allowed) == strlen(name) && !strstr(name, "..");
}

static int check(const struct pod_spec *p, const char *name, struct err *e)
{
    if (!name || !is_name(name))
        return err_bad(e, "sysctl '%s' is not a name like net.core.somaxconn", name ? name : "");
    if (starts_with(name, "net."))
        return p->host_network
                   ? err_bad(e, "sysctl '%s': the pod has the machine's network (hostNetwork)",
                             name)
                   : 0;
    if (is_of_ipc(name))
        return p->host_ipc
                   ? err_bad(e, "sysctl '%s': the pod shares the machine's IPC (hostIPC)", name)
                   : 0;
    return err_bad(e,
                   "sysctl '%s' is a setting of the whole machine; a pod has net.*, kernel.shm*, "
                   "kernel.msg*, kernel.sem and fs.mqueue.* of its own",
                   name);
}

int sysctls_check(const struct pod_spec *p, struct err *e)
{
    const struct jsn *list = jsn_get(p->json, "spec.securityContext.sysctls");

    if (jsn_len(list) > SYSCTLS_MAX)
        return err_bad(e, "%zu sysctls are more than the %d that a pod can have", jsn_len(list),
                       SYSCTLS_MAX);
    JSN_FOR_ITEMS (item, list) {
        int r = check(p, jsn_get_str(item, "name"), e);

        if (r < 0)
            return r;
        if (!jsn_get_str(item, "value"))
            return err_bad(e, "sysctl '%s' has no value", jsn_get_str(item, "name"));
    }
    return 0;
}
