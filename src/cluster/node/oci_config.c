/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config.json: a container of a pod in the words of the OCI runtime specification.
 *
 * Network, host name and inter-process communication are the pod's, held by its pause process; the
 * process tree is the container's own unless the pod shares one.  What securityContext says about
 * users, groups, capabilities, privileges and the root file system is here; paths of /proc and /sys
 * that tell or change too much are masked, but for privileged containers.
 */
#include "src/cluster/node/oci_config.h"

#include "src/cluster/node/capability.h"

void oci_mounts_add(struct oci_mounts *m, const char *to, const char *type, const char *from,
                    const char *options)
{
    arena_reserve(m->arena, &m->items, &m->cap, m->n + 1, sizeof(*m->items));
    m->items[m->n++] = (struct oci_mount){to, type, from, options};
}

const struct jsn *oci_security(const struct pod_spec *p, const struct ctr_spec *c, const char *key)
{
    const struct jsn *own = jsn_key(jsn_key(c->json, "securityContext"), key);

    return own ? own : jsn_key(jsn_get(p->json, "spec.securityContext"), key);
}

bool oci_is_privileged(const struct ctr_spec *c)
{
    return jsn_get_bool(c->json, "securityContext.privileged", false);
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
    int64_t gid = int_or(oci_security(in->pod, in->ctr, "runAsGroup"), 0);

    jsn_set_int(a, user, "uid", int_or(oci_security(in->pod, in->ctr, "runAsUser"), 0));
    jsn_set_int(a, user, "gid", gid);
    for (size_t i = 0; i < in->n_groups; i++)
        jsn_append(a, groups, jsn_int(a, in->groups[i]));
    if (in->n_groups)
        jsn_set(a, user, "additionalGids", groups);
    return user;
}

/* "ALL" or a name; -1 fails. */
static int apply_capabilities(const struct jsn *names, bool add, uint64_t all, uint64_t *set,
                              struct err *e)
{
    JSN_FOR_ITEMS (item, names) {
        const char *name = jsn_text(item);
        int n = capability_number(name);

        if (n < 0 && !streq(name, "ALL"))
            return err_bad(e, "there is no capability '%s'", name ? name : "");
        if (n < 0)
            *set = add ? all : 0;
        else if (add)
            *set |= UINT64_C(1) << n;
        else
            *set &= ~(UINT64_C(1) << n);
    }
    return 0;
}

static int capabilities_of(struct arena *a, const struct oci_input *in, struct jsn **ret,
                           struct err *e)
{
    static const char *const sets[] = {"bounding", "effective", "permitted"};
    const struct jsn *wish = jsn_get(in->ctr->json, "securityContext.capabilities");
    const struct jsn *drop = jsn_key(wish, "drop");
    uint64_t set = oci_is_privileged(in->ctr) ? in->may_have : capability_default();
    struct jsn *list = jsn_array(a);
    int r;

    /* "drop ALL, add X" means X: so first what is dropped. */
    r = apply_capabilities(drop, false, in->may_have, &set, e);
    if (r == 0)
        r = apply_capabilities(jsn_key(wish, "add"), true, in->may_have, &set, e);
    if (r < 0)
        return r;
    set &= in->may_have;
    for (unsigned int i = 0; capability_name(i); i++)
        if (set & UINT64_C(1) << i)
            jsn_append(a, list, jsn_string(a, capability_name(i)));
    *ret = jsn_object(a);
    for (size_t i = 0; i < ARRAY_LEN(sets); i++)
        jsn_set(a, *ret, sets[i], list);
    return 0;
}

static int process_of(struct arena *a, const struct oci_input *in, struct jsn **ret, struct err *e)
{
    struct jsn *p = jsn_object(a);
    struct jsn *caps;
    const struct jsn *escalate = oci_security(in->pod, in->ctr, "allowPrivilegeEscalation");
    int r = capabilities_of(a, in, &caps, e);

    if (r < 0)
        return r;
    jsn_set_bool(a, p, "terminal", in->ctr->tty);
    jsn_set(a, p, "user", user_of(a, in));
    jsn_set(a, p, "args", strings(a, in->argv));
    jsn_set(a, p, "env", strings(a, in->env));
    jsn_set_str(a, p, "cwd", in->cwd);
    jsn_set(a, p, "capabilities", caps);
    jsn_set_bool(a, p, "noNewPrivileges", jsn_is(escalate, JSN_BOOL) && !escalate->b);
    *ret = p;
    return 0;
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
    if (in->cgroup_v2)
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

static struct jsn *resources_of(struct arena *a, const struct oci_input *in)
{
    struct jsn *r = jsn_object(a);
    struct jsn *cpu = jsn_object(a);
    struct jsn *devices = jsn_array(a);
    struct jsn *rule = jsn_object(a);

    jsn_set_bool(a, rule, "allow", oci_is_privileged(in->ctr));
    jsn_set_str(a, rule, "access", "rwm");
    jsn_append(a, devices, rule);
    jsn_set(a, r, "devices", devices);
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

static struct jsn *linux_of(struct arena *a, const struct oci_input *in)
{
    static const char *const masked[] = {
        "/proc/acpi",       "/proc/kcore", "/proc/keys",    "/proc/latency_stats",
        "/proc/timer_list", "/proc/scsi",  "/sys/firmware", NULL};
    static const char *const readonly[] = {
        "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger", NULL};
    struct jsn *l = jsn_object(a);

    jsn_set_str(a, l, "cgroupsPath", in->cgroups_path);
    jsn_set(a, l, "namespaces", namespaces_of(a, in));
    jsn_set(a, l, "resources", resources_of(a, in));
    if (oci_is_privileged(in->ctr)) {
        jsn_set(a, l, "devices", devices_of(a, in));
    } else {
        jsn_set(a, l, "maskedPaths", strings(a, masked));
        jsn_set(a, l, "readonlyPaths", strings(a, readonly));
    }
    return l;
}

int oci_config_build(struct arena *a, const struct oci_input *in, struct jsn **ret_config,
                     struct err *e)
{
    struct jsn *c = jsn_object(a);
    struct jsn *process;
    int r = process_of(a, in, &process, e);

    if (r < 0)
        return r;
    jsn_set_str(a, c, "ociVersion", "1.0.2");
    jsn_set(a, c, "process", process);
    jsn_set_path(a, c, "root.path", jsn_string(a, "rootfs"));
    jsn_set_path(
        a, c, "root.readonly",
        jsn_bool(a, jsn_get_bool(in->ctr->json, "securityContext.readOnlyRootFilesystem", false)));
    jsn_set(a, c, "mounts", mounts_of(a, in->mounts));
    jsn_set(a, c, "linux", linux_of(a, in));
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
