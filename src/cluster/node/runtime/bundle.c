/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bundle of a run: root file system, mounts, environment, command, limits, as config.json.
 *
 * Everything that is decided about a container comes together here; each decision has its own file.
 */
#include "src/cluster/node/runtime/bundle.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/node/pods/container.h"
#include "src/cluster/node/pods/worker.h"
#include "src/cluster/node/record.h"
#include "src/cluster/node/runtime/capability.h"
#include "src/cluster/node/runtime/confine.h"
#include "src/cluster/node/runtime/devices.h"
#include "src/cluster/node/runtime/slurms.h"

/* A container that writes its own groups has one inside of the one that holds it to its limits. */
static bool is_fenced(const struct container *c)
{
    return confine_is_confined(c->worker->spec, container_spec(c));
}

static char *outer_cgroup(const struct container *c)
{
    return xasprintf("%s/pod%s/%s-%d", cgroup_root(c->worker->node->cgroups), c->worker->uid,
                     container_spec(c)->name, c->attempt);
}

char *bundle_cgroup(const struct container *c)
{
    AUTO(free) char *outer = outer_cgroup(c);

    return xasprintf("%s%s", outer, is_fenced(c) ? "/inside" : "");
}

static int fence(const struct container *c, struct ctr_limits *limits, struct err *e)
{
    AUTO(free) char *outer = outer_cgroup(c);
    int r = cgroup_fence(c->worker->node->cgroups, outer, limits, e);

    *limits = (struct ctr_limits){0};
    return r;
}

static int add_etc_files(struct arena *a, const struct container *c, struct oci_mounts *m,
                         struct err *e)
{
    static const char *const names[] = {"hosts", "hostname", "resolv.conf"};
    const struct worker *w = c->worker;
    const char *message = arena_printf(a, "%s/termination-log", c->dir);
    int fd;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        oci_mounts_add(m, arena_printf(a, "/etc/%s", names[i]), "bind",
                       arena_printf(a, "%s/etc/%s", w->dir, names[i]), "bind\nrprivate\nrw");
    oci_mounts_add(m, "/dev/shm", "bind",
                   w->spec->host_ipc ? "/dev/shm" : arena_printf(a, "%s/shm", w->dir),
                   "bind\nrprivate\nrw");
    fd = open(message, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_errno(e, errno, "cannot make '%s'", message);
    /* its processes may be any user's; those of jobs have nothing to say about slurmd's end */
    (void)fchmod(fd, is_fenced(c) ? 0600 : 0666);
    (void)close(fd);
    oci_mounts_add(m, container_spec(c)->message_path, "bind", message, "bind\nrprivate\nrw");
    return 0;
}

static const char **base_env(struct arena *a, const struct container *c, const char *slurm)
{
    struct worker *w = c->worker;
    const char **services = node_service_env(w->node, a, w->spec);
    const char **env;
    size_t n = 0;

    while (services[n])
        n++;
    env = arena_calloc(a, n + 4, sizeof(*env));
    memcpy(env, services, n * sizeof(*env));
    env[n++] = rootfs_path(a, slurm);
    env[n++] = arena_printf(a, "HOSTNAME=%s", w->spec->host_name);
    if (container_spec(c)->tty)
        env[n++] = "TERM=xterm";
    return env;
}

static const char *find_entrypoint(struct arena *a, const struct container *c)
{
    const struct rootfs *r = c->worker->node->rootfs;
    const struct ctr_spec *s = container_spec(c);
    const char *found = rootfs_entrypoint(r, a, env_image_name(a, s->image));

    return found ? found : rootfs_entrypoint(r, a, s->name);
}

static void groups_of(struct arena *a, const struct pod_spec *p, struct oci_input *in)
{
    const struct jsn *security = jsn_get(p->json, "spec.securityContext");
    const struct jsn *list = jsn_key(security, "supplementalGroups");
    int64_t fs_group = jsn_get_int(security, "fsGroup", -1);
    uint32_t *groups = arena_calloc(a, jsn_len(list) + 1, sizeof(*groups));
    size_t n = 0;

    JSN_FOR_ITEMS (item, list)
        if (jsn_is(item, JSN_INT))
            groups[n++] = (uint32_t)item->i;
    if (fs_group >= 0)
        groups[n++] = (uint32_t)fs_group;
    in->groups = groups;
    in->n_groups = n;
}

static int make_process(struct arena *a, struct container *c, const struct field_context *fields,
                        const char *slurm, struct oci_input *in, struct err *e)
{
    struct worker *w = c->worker;
    const struct ctr_spec *s = container_spec(c);
    const char *cwd = jsn_get_str(s->json, "workingDir");
    struct env_context x = {
        .fields = fields, .source = &w->node->source, .before = base_env(a, c, slurm)};
    const char **env = NULL;
    const char **argv = NULL;
    int r = env_build(a, w->spec, s, &x, &env, e);

    if (r == 0)
        r = env_command(a, s, find_entrypoint(a, c), env, &argv, e);
    in->env = env;
    in->argv = argv;
    in->cwd = cwd && cwd[0] ? cwd : "/";
    return r;
}

static int write_config(struct arena *a, const struct container *c, const struct oci_input *in,
                        struct err *e)
{
    AUTO(buf_done) struct buf b = {0};
    const char *path = arena_printf(a, "%s/config.json", c->dir);
    struct jsn *config;
    int r = oci_config_build(a, in, &config, e);

    if (r < 0)
        return r;
    jsn_print(&b, config);
    return record_write(path, buf_view(&b), 0600, e);
}

/* What is asked for, as far as the machine can hold a container to it. */
static void limit(const struct container *c, struct ctr_limits *limits)
{
    const struct cgroup_tree *t = c->worker->node->cgroups;

    limits_of(jsn_key(container_spec(c)->json, "resources"), limits);
    if (!cgroup_limits(t, "cpu"))
        limits->cpu_shares = limits->cpu_quota_us = 0;
    if (!cgroup_limits(t, "memory"))
        limits->memory_bytes = 0;
    if (cgroup_limits(t, "pids"))
        limits->tasks = limits_tasks_each(c->worker->node->tasks);
}

/* Of volumes, and what else is mounted in every container. */
static const char *const *targets_of(struct arena *a, const struct ctr_spec *s)
{
    static const char *const always[] = {"/etc/hosts", "/etc/hostname", "/etc/resolv.conf"};
    const struct jsn *list = jsn_key(s->json, "volumeMounts");
    const char **targets = arena_calloc(a, jsn_len(list) + ARRAY_LEN(always) + 2, sizeof(*targets));
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(always); i++)
        targets[n++] = always[i];
    targets[n++] = s->message_path;
    JSN_FOR_ITEMS (mount, list)
        if (jsn_get_str(mount, "mountPath"))
            targets[n++] = jsn_get_str(mount, "mountPath");
    return targets;
}

/* Without a word about the capabilities it is not started anyway. */
static bool may_mount(const struct container *c)
{
    const struct worker *w = c->worker;
    uint64_t set = 0;

    if (confine_capabilities(w->spec, container_spec(c), w->node->capabilities, &set, NULL) < 0)
        return true;
    return set & (UINT64_C(1) << capability_number("SYS_ADMIN"));
}

int bundle_make(struct container *c, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(free) char *cgroup = bundle_cgroup(c);
    struct worker *w = c->worker;
    const struct ctr_spec *s = container_spec(c);
    struct rootfs_wish wish = {confine_is_privileged(w->spec, s),
                               confine_writes_cgroups(w->spec, s), may_mount(c), NULL,
                               targets_of(&a, s)};
    struct oci_mounts mounts = {.arena = &a};
    struct device_list devices = {.arena = &a};
    struct field_context fields;
    struct volumes_context volumes;
    struct oci_input in = {.pod = w->spec,
                           .ctr = s,
                           .mounts = &mounts,
                           .cgroups_path = cgroup,
                           .pause_pid = sandbox_pid(w->sandbox),
                           .may_have = w->node->capabilities,
                           .own_cgroups =
                               cgroup_is_v2(w->node->cgroups) || confine_is_confined(w->spec, s)};
    int r;

    worker_fields(w, &fields);
    worker_volumes(w, &fields, &volumes);
    limit(c, &in.limits);
    groups_of(&a, w->spec, &in);
    if (wish.writes_sys)
        devices_of_machine(&devices);
    else if (is_fenced(c))
        devices_of_mounts(&devices, w->spec, s);
    in.devices = devices.items;
    in.n_devices = devices.n;
    r = slurms_choose(&a, w->node->state_dir, w->spec, rootfs_slurm(w->node->rootfs), &wish.slurm,
                      e);
    if (r == 0)
        r = make_process(&a, c, &fields, wish.slurm, &in, e);
    if (r == 0 && is_fenced(c))
        r = fence(c, &in.limits, e);
    if (r == 0)
        r = file_make_dirs(c->dir, 0700, e);
    if (r == 0)
        r = rootfs_make(w->node->rootfs, &a, c->dir, &wish, &mounts, e);
    if (r == 0)
        r = add_etc_files(&a, c, &mounts, e);
    if (r == 0)
        r = volumes_mount(&a, &volumes, s, in.env, &mounts, e);
    return r < 0 ? r : write_config(&a, c, &in, e);
}
