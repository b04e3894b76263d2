/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config.json: a container of a pod in the words of the OCI runtime specification.
 *
 * Network, host name and inter-process communication are the pod's, held by its pause process; the
 * process tree is the container's own unless the pod shares one.  What securityContext says about
 * users, groups, capabilities, privileges and the root file system is here; paths of /proc and /sys
 * that tell or change too much are masked, and system calls that nobody in a container needs are
 * refused, but for privileged containers.
 */
#include "src/cluster/node/runtime/oci_config.h"

#include "src/cluster/node/runtime/capability.h"
#include "src/cluster/node/runtime/confine.h"
#include "src/cluster/node/runtime/seccomp.h"

#define UMASK 022 /* of processes in containers, whatever ours is */

void oci_mounts_add(struct oci_mounts *m, const char *to, const char *type, const char *from,
                    const char *options)
{
    arena_reserve(m->arena, &m->items, &m->cap, m->n + 1, sizeof(*m->items));
    m->items[m->n++] = (struct oci_mount){to, type, from, options};
}

static bool is_privileged(const struct oci_input *in)
{
    return confine_is_privileged(in->pod, in->ctr);
}

static struct jsn *strings(struct arena *a, const char *const *list)
{
    struct jsn *array = jsn_array(a);

    for (; list && *list; list++)
        jsn_append(a, array, jsn_string(a, *list));
    return array;
}

static int64_t int_or(const struct jsn *v, int64_t otherwise)
{
    return jsn_is(v, JSN_INT) ? v->i : otherwise;
}

static struct jsn *user_of(struct arena *a, const struct oci_input *in)
{
    struct jsn *user = jsn_object(a);
    struct jsn *groups = jsn_array(a);
    int64_t gid = int_or(confine_setting(in->pod, in->ctr, "runAsGroup"), 0);

    jsn_set_int(a, user, "uid", int_or(confine_setting(in->pod, in->ctr, "runAsUser"), 0));
    jsn_set_int(a, user, "gid", gid);
    jsn_set_int(a, user, "umask", UMASK);
    for (size_t i = 0; i < in->n_groups; i++)
        jsn_append(a, groups, jsn_int(a, in->groups[i]));
    if (in->n_groups)
        jsn_set(a, user, "additionalGids", groups);
    return user;
}

static struct jsn *capabilities_of(struct arena *a, uint64_t set)
{
    static const char *const sets[] = {"bounding", "effective", "permitted"};
    struct jsn *list = jsn_array(a);
    struct jsn *o = jsn_object(a);

    for (unsigned int i = 0; capability_name(i); i++)
        if (set & UINT64_C(1) << i)
            jsn_append(a, list, jsn_string(a, capability_name(i)));
    for (size_t i = 0; i < ARRAY_LEN(sets); i++)
        jsn_set(a, o, sets[i], list);
    return o;
}

static struct jsn *process_of(struct arena *a, const struct oci_input *in, uint64_t capabilities)
{
    struct jsn *p = jsn_object(a);
    const struct jsn *escalate = confine_setting(in->pod, in->ctr, "allowPrivilegeEscalation");

    jsn_set_bool(a, p, "terminal", in->ctr->tty);
    jsn_set(a, p, "user", user_of(a, in));
    jsn_set(a, p, "args", strings(a, in->argv));
    jsn_set(a, p, "env", strings(a, in->env));
    jsn_set_str(a, p, "cwd", in->cwd);
    jsn_set(a, p, "capabilities", capabilities_of(a, capabilities));
    jsn_set_bool(a, p, "noNewPrivileges", jsn_is(escalate, JSN_BOOL) && !escalate->b);
    return p;
}

static struct jsn *mounts_of(struct arena *a, const struct oci_mounts *m)
{
    struct jsn *list = jsn_array(a);

    for (size_t i = 0; i < m->n; i++) {
        struct jsn *o = jsn_object(a);
        struct jsn *options = jsn_array(a);
        struct str rest = str_of(m->items[i].options);
        struct str one;

        while (str_split(&rest, '\n', &one))
            if (one.n)
                jsn_append(a, options, jsn_str(a, one));
        jsn_set_str(a, o, "destination", m->items[i].to);
        jsn_set_str(a, o, "type", m->items[i].type);
        jsn_set_str(a, o, "source", m->items[i].from);
        jsn_set(a, o, "options", options);
        jsn_append(a, list, o);
    }
    return list;
}

static void add_namespace(struct arena *a, struct jsn *list, const char *type, const char *path)
{
    struct jsn *o = jsn_object(a);

    jsn_set_str(a, o, "type", type);
    if (path)
        jsn_set_str(a, o, "path", path);
    jsn_append(a, list, o);
}

static struct jsn *namespaces_of(struct arena *a, const struct oci_input *in)
{
    const struct pod_spec *p = in->pod;
    struct jsn *list = jsn_array(a);

    add_namespace(a, list, "mount", NULL);
    if (in->own_cgroups)
        add_namespace(a, list, "cgroup", NULL);
    if (p->share_pid && !p->host_pid)
        add_namespace(a, list, "pid", arena_printf(a, "/proc/%d/ns/pid", in->pause_pid));
    else if (!p->host_pid)
        add_namespace(a, list, "pid", NULL);
    if (!p->host_network) {
        add_namespace(a, list, "network", arena_printf(a, "/proc/%d/ns/net", in->pause_pid));
        add_namespace(a, list, "uts", arena_printf(a, "/proc/%d/ns/uts", in->pause_pid));
    }
    if (!p->host_ipc)
        add_namespace(a, list, "ipc", arena_printf(a, "/proc/%d/ns/ipc", in->pause_pid));
    return list;
}

/* Who may open which device: privileged containers all, others those that are named.  The runtime
 * adds the harmless ones. */
static struct jsn *device_rules_of(struct arena *a, const struct oci_input *in)
{
    struct jsn *rules = jsn_array(a);
    struct jsn *first = jsn_object(a);

    jsn_set_bool(a, first, "allow", is_privileged(in));
    jsn_set_str(a, first, "access", "rwm");
    jsn_append(a, rules, first);
    for (size_t i = 0; !is_privileged(in) && i < in->n_devices; i++) {
        struct jsn *rule = jsn_object(a);

        jsn_set_bool(a, rule, "allow", true);
        jsn_set_str(a, rule, "type", in->devices[i].block ? "b" : "c");
        jsn_set_int(a, rule, "major", in->devices[i].major);
        jsn_set_int(a, rule, "minor", in->devices[i].minor);
        jsn_set_str(a, rule, "access", "rw");
        jsn_append(a, rules, rule);
    }
    return rules;
}

static struct jsn *resources_of(struct arena *a, const struct oci_input *in)
{
    struct jsn *r = jsn_object(a);
    struct jsn *cpu = jsn_object(a);

    jsn_set(a, r, "devices", device_rules_of(a, in));
    if (in->limits.cpu_shares) {
        jsn_set_int(a, cpu, "shares", (int64_t)in->limits.cpu_shares);
        jsn_set(a, r, "cpu", cpu);
    }
    if (in->limits.cpu_quota_us) {
        jsn_set_int(a, cpu, "quota", in->limits.cpu_quota_us);
        jsn_set_int(a, cpu, "period", in->limits.cpu_period_us);
    }
    if (in->limits.memory_bytes)
        jsn_set_int(a, jsn_ensure_object(a, r, "memory"), "limit", in->limits.memory_bytes);
    if (in->limits.tasks)
        jsn_set_int(a, jsn_ensure_object(a, r, "pids"), "limit", in->limits.tasks);
    return r;
}

static struct jsn *devices_of(struct arena *a, const struct oci_input *in)
{
    struct jsn *list = jsn_array(a);

    for (size_t i = 0; i < in->n_devices; i++) {
        const struct oci_device *d = &in->devices[i];
        struct jsn *o = jsn_object(a);

        jsn_set_str(a, o, "path", d->path);
        jsn_set_str(a, o, "type", d->block ? "b" : "c");
        jsn_set_int(a, o, "major", d->major);
        jsn_set_int(a, o, "minor", d->minor);
        jsn_set_int(a, o, "fileMode", d->mode);
        jsn_append(a, list, o);
    }
    return list;
}

/* What tells of the machine or of other containers; and what changes the machine. */
static void hide_paths(struct arena *a, struct jsn *l)
{
    static const char *const masked[] = {"/proc/acpi",
                                         "/proc/asound",
                                         "/proc/interrupts",
                                         "/proc/kcore",
                                         "/proc/keys",
                                         "/proc/latency_stats",
                                         "/proc/scsi",
                                         "/proc/sched_debug",
                                         "/proc/timer_list",
                                         "/proc/timer_stats",
                                         "/sys/firmware",
                                         "/sys/devices/virtual/powercap",
                                         NULL};
    static const char *const readonly[] = {
        "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger", NULL};

    jsn_set(a, l, "maskedPaths", strings(a, masked));
    jsn_set(a, l, "readonlyPaths", strings(a, readonly));
}

static struct jsn *linux_of(struct arena *a, const struct oci_input *in, uint64_t capabilities,
                            bool unfiltered)
{
    struct jsn *l = jsn_object(a);

    jsn_set_str(a, l, "cgroupsPath", in->cgroups_path);
    jsn_set(a, l, "namespaces", namespaces_of(a, in));
    jsn_set(a, l, "resources", resources_of(a, in));
    if (!unfiltered)
        jsn_set(a, l, "seccomp", seccomp_profile(a, capabilities));
    if (is_privileged(in))
        jsn_set(a, l, "devices", devices_of(a, in));
    else
        hide_paths(a, l);
    return l;
}

int oci_config_build(struct arena *a, const struct oci_input *in, struct jsn **ret_config,
                     struct err *e)
{
    struct jsn *c = jsn_object(a);
    uint64_t capabilities = 0;
    bool unfiltered = false;
    int r = confine_capabilities(in->pod, in->ctr, in->may_have, &capabilities, e);

    if (r == 0)
        r = confine_unfiltered(in->pod, in->ctr, &unfiltered, e);
    if (r < 0)
        return r;
    jsn_set_str(a, c, "ociVersion", "1.0.2");
    jsn_set(a, c, "process", process_of(a, in, capabilities));
    jsn_set_path(a, c, "root.path", jsn_string(a, "rootfs"));
    jsn_set_path(
        a, c, "root.readonly",
        jsn_bool(a, jsn_get_bool(in->ctr->json, "securityContext.readOnlyRootFilesystem", false)));
    jsn_set(a, c, "mounts", mounts_of(a, in->mounts));
    jsn_set(a, c, "linux", linux_of(a, in, capabilities, unfiltered));
    *ret_config = c;
    return 0;
}

struct jsn *oci_config_exec(struct arena *a, const struct jsn *config, const struct jsn *command,
                            bool tty)
{
    struct jsn *p = jsn_clone(a, jsn_key(config, "process"));
    struct jsn *env = jsn_key(p, "env");

    jsn_set(a, p, "args", jsn_clone(a, command));
    jsn_set_bool(a, p, "terminal", tty);
    if (tty && env) {
        bool has_term = false;

        JSN_FOR_ITEMS (item, env)
            has_term = has_term || starts_with(jsn_text(item), "TERM=");
        if (!has_term)
            jsn_append(a, env, jsn_string(a, "TERM=xterm"));
    }
    return p;
}
