/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Control groups.
 *
 * The runtime makes the groups of containers; here is what is around them: which hierarchies there
 * are, the group of the shims (they must not live in the group of the node process, or whoever
 * stops that kills them too), and the removal of what is left.
 */
#include "src/cluster/node/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/file.h"
#include "src/cluster/node/mounts.h"

#define MAX_HIERARCHIES 31

struct cgroup_tree {
    const char *top; /* below this directory they are mounted; only while they are looked for */
    char *root;
    char *points[MAX_HIERARCHIES]; /* where the hierarchies are mounted */
    size_t n;
    char *memory; /* the one that counts memory */
    bool v1;
    bool v2;
    const char *procs[MAX_HIERARCHIES + 1];
};

static bool add_point(void *arg, const char *path, const char *fs_type)
{
    struct cgroup_tree *t = arg;
    bool v1 = streq(fs_type, "cgroup");
    bool v2 = streq(fs_type, "cgroup2");

    if ((!v1 && !v2) || !starts_with(path, t->top) || t->n == MAX_HIERARCHIES)
        return true;
    t->v1 = t->v1 || v1;
    t->v2 = t->v2 || v2;
    if (v1 && (ends_with(path, "/memory") || strstr(path, "memory,")))
        t->memory = t->memory ? t->memory : xstrdup(path);
    t->points[t->n++] = xstrdup(path);
    return true;
}

int cgroup_tree_find(const char *mounts, const char *top, const char *root,
                     struct cgroup_tree **ret_tree, struct err *e)
{
    AUTO(cgroup_tree_free) struct cgroup_tree *t = xcalloc(1, sizeof(*t));
    int r;

    t->top = top;
    r = mounts_each_in(mounts, add_point, t, e);
    t->top = NULL;
    if (r < 0)
        return r;
    if (t->n == 0)
        return err_set(e, -ENOENT, ERR_PERMANENT,
                       "no control groups are mounted below %s: containers need them", top);
    if (!t->v1)
        t->memory = xstrdup(t->points[0]);
    t->root = xstrdup(root);
    *ret_tree = TAKE(t);
    return 0;
}

int cgroup_tree_new(const char *root, struct cgroup_tree **ret_tree, struct err *e)
{
    return cgroup_tree_find("/proc/self/mountinfo", "/sys/fs/cgroup", root, ret_tree, e);
}

struct cgroup_tree *cgroup_tree_free(struct cgroup_tree *t)
{
    if (!t)
        return NULL;
    for (size_t i = 0; i < t->n; i++) {
        free(t->points[i]);
        free((char *)(uintptr_t)t->procs[i]);
    }
    free(t->memory);
    free(t->root);
    free(t);
    return NULL;
}

bool cgroup_is_v2(const struct cgroup_tree *t)
{
    return !t->v1;
}
bool cgroup_is_hybrid(const struct cgroup_tree *t)
{
    return t->v1 && t->v2;
}
/* Is the word in the list of v2's controllers? */
static bool is_listed(const char *point, const char *controller)
{
    AUTO(free) char *path = xasprintf("%s/cgroup.controllers", point);
    AUTO(free) char *text = NULL;
    struct str rest, word;
    size_t n;

    if (file_read(path, 4096, &text, &n, NULL) < 0)
        return false;
    rest = str_trim((struct str){text, n});
    while (rest.n && str_split(&rest, ' ', &word))
        if (str_eqz(word, controller))
            return true;
    return false;
}

bool cgroup_limits(const struct cgroup_tree *t, const char *controller)
{
    for (size_t i = 0; i < t->n; i++) {
        const char *name = strrchr(t->points[i], '/');
        struct str rest = str_of(name ? name + 1 : ""), word;

        if (!t->v1 && is_listed(t->points[i], controller))
            return true;
        while (t->v1 && rest.n && str_split(&rest, ',', &word))
            if (str_eqz(word, controller))
                return true;
    }
    return false;
}

const char *cgroup_root(const struct cgroup_tree *t)
{
    return t->root;
}

/* A new cpuset group of v1 takes no process until it has processors and memory of its own. */
static void copy_setting(const char *from_dir, const char *to_dir, const char *name)
{
    AUTO(free) char *from = xasprintf("%s/%s", from_dir, name);
    AUTO(free) char *to = xasprintf("%s/%s", to_dir, name);
    AUTO(free) char *text = NULL;
    size_t n;

    if (file_read(from, 4096, &text, &n, NULL) == 0) {
        int fd = open(to, O_WRONLY | O_CLOEXEC);

        if (fd >= 0) {
            (void)!file_write_all(fd, (struct str){text, n});
            (void)close(fd);
        }
    }
}

static void make_group(const char *point, const char *parent, const char *name)
{
    AUTO(free) char *up = xasprintf("%s%s", point, parent);
    AUTO(free) char *dir = xasprintf("%s/%s", up, name);

    if (mkdir(dir, 0755) == 0 && strstr(point, "cpuset")) {
        copy_setting(up, dir, "cpuset.cpus");
        copy_setting(up, dir, "cpuset.mems");
    }
}

/* v2 gives a group only those controllers that its parent hands down. */
static void hand_down(const char *point, const char *group)
{
    static const char *const controllers[] = {"+cpuset", "+cpu", "+io", "+memory", "+pids"};
    AUTO(free) char *path = xasprintf("%s%s/cgroup.subtree_control", point, group);

    for (size_t i = 0; i < ARRAY_LEN(controllers); i++) {
        AUTO(close) int fd = open(path, O_WRONLY | O_CLOEXEC);

        if (fd >= 0)
            (void)!file_write_all(fd, str_of(controllers[i]));
    }
}

/* All groups on the way, and the last. */
static void make_groups(const struct cgroup_tree *t, const char *group)
{
    for (size_t i = 0; i < t->n; i++) {
        struct str rest = str_of(group + 1), name;
        AUTO(buf_done) struct buf parent = {0};

        while (str_split(&rest, '/', &name)) {
            AUTO(free) char *one = str_dup(name);

            if (!t->v1)
                hand_down(t->points[i], buf_str(&parent));
            make_group(t->points[i], buf_str(&parent), one);
            buf_printf(&parent, "/%s", one);
        }
        if (!t->v1)
            hand_down(t->points[i], group);
    }
}

void cgroup_settings(const struct ctr_limits *l, bool v2, struct buf *b)
{
    if (l->cpu_shares && v2)
        buf_printf(b, "cpu.weight=%llu\n",
                   1 + (unsigned long long)(l->cpu_shares - 2) * 9999 / 262142);
    else if (l->cpu_shares)
        buf_printf(b, "cpu.shares=%llu\n", (unsigned long long)l->cpu_shares);
    if (l->cpu_quota_us && v2)
        buf_printf(b, "cpu.max=%lld %lld\n", (long long)l->cpu_quota_us,
                   (long long)l->cpu_period_us);
    else if (l->cpu_quota_us)
        buf_printf(b, "cpu.cfs_period_us=%lld\ncpu.cfs_quota_us=%lld\n",
                   (long long)l->cpu_period_us, (long long)l->cpu_quota_us);
    if (l->memory_bytes)
        buf_printf(b, "%s=%lld\n", v2 ? "memory.max" : "memory.limit_in_bytes",
                   (long long)l->memory_bytes);
    if (l->tasks)
        buf_printf(b, "pids.max=%lld\n", (long long)l->tasks);
}

/* In whichever hierarchy has the file. */
static int set(const struct cgroup_tree *t, const char *group, const char *file, struct str value,
               struct err *e)
{
    for (size_t i = 0; i < t->n; i++) {
        AUTO(free) char *path = xasprintf("%s%s/%s", t->points[i], group, file);
        AUTO(close) int fd = open(path, O_WRONLY | O_CLOEXEC);

        if (fd < 0)
            continue;
        if (file_write_all(fd, value) < 0)
            return err_errno(e, errno, "cannot write '%s'", path);
        return 0;
    }
    return err_set(e, -ENOENT, ERR_RETRY, "control group '%s' has no '%s'", group, file);
}

int cgroup_fence(const struct cgroup_tree *t, const char *group, const struct ctr_limits *l,
                 struct err *e)
{
    AUTO(buf_done) struct buf settings = {0};
    struct str rest, line, file;
    int r = 0;

    make_groups(t, group);
    cgroup_settings(l, !t->v1, &settings);
    rest = buf_view(&settings);
    while (r == 0 && str_split(&rest, '\n', &line)) {
        AUTO(free) char *name = NULL;

        if (!line.n || !str_split(&line, '=', &file))
            continue;
        name = str_dup(file);
        r = set(t, group, name, line, e);
    }
    return r;
}

const char *const *cgroup_shim_procs(struct cgroup_tree *t)
{
    for (size_t i = 0; i < t->n; i++) {
        make_group(t->points[i], "", t->root + 1);
        make_group(t->points[i], t->root, "shims");
        if (!t->procs[i])
            t->procs[i] = xasprintf("%s%s/shims/cgroup.procs", t->points[i], t->root);
    }
    return t->procs;
}

char *cgroup_oom_file(const struct cgroup_tree *t, const char *group)
{
    if (!t->memory)
        return NULL;
    return xasprintf("%s%s/%s", t->memory, group, t->v1 ? "memory.oom_control" : "memory.events");
}

/* Calls fn for a group and, before it, for all below. */
static void walk(const char *dir, void (*fn)(const char *dir))
{
    DIR *d = opendir(dir);
    struct dirent *entry;

    if (!d)
        return;
    while ((entry = readdir(d))) {
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
            AUTO(free) char *sub = xasprintf("%s/%s", dir, entry->d_name);

            walk(sub, fn);
        }
    }
    (void)closedir(d);
    fn(dir);
}

static bool has_process(const char *dir)
{
    AUTO(free) char *procs = xasprintf("%s/cgroup.procs", dir);
    AUTO(free) char *text = NULL;
    DIR *d = opendir(dir);
    struct dirent *entry;
    size_t n = 0;
    bool found = file_read(procs, 1 << 20, &text, &n, NULL) == 0 && n > 0;

    while (d && !found && (entry = readdir(d))) {
        AUTO(free) char *sub = xasprintf("%s/%s", dir, entry->d_name);

        found = entry->d_type == DT_DIR && entry->d_name[0] != '.' && has_process(sub);
    }
    if (d)
        (void)closedir(d);
    return found;
}

bool cgroup_busy(const struct cgroup_tree *t, const char *group)
{
    for (size_t i = 0; i < t->n; i++) {
        AUTO(free) char *dir = xasprintf("%s%s", t->points[i], group);

        if (has_process(dir))
            return true;
    }
    return false;
}

void cgroup_children(const struct cgroup_tree *t, void (*fn)(void *arg, const char *name),
                     void *arg)
{
    AUTO(free) char *dir = xasprintf("%s%s", t->points[0], t->root);
    DIR *d = opendir(dir);
    struct dirent *entry;

    while (d && (entry = readdir(d)))
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
            fn(arg, entry->d_name);
    if (d)
        (void)closedir(d);
}

static void remove_one(const char *dir)
{
    (void)rmdir(dir);
}

static void kill_one(const char *dir)
{
    AUTO(free) char *path = xasprintf("%s/cgroup.procs", dir);
    AUTO(free) char *text = NULL;
    struct str rest, line;
    size_t n;
    int64_t pid;

    if (file_read(path, 1 << 20, &text, &n, NULL) < 0)
        return;
    rest = (struct str){text, n};
    while (str_split(&rest, '\n', &line))
        if (str_to_i64(line, &pid) == 0 && pid > 1)
            (void)kill((pid_t)pid, SIGKILL);
}

static void thaw_one(const char *dir)
{
    static const char *const settings[][2] = {{"freezer.state", "THAWED"}, {"cgroup.freeze", "0"}};

    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        AUTO(free) char *path = xasprintf("%s/%s", dir, settings[i][0]);
        AUTO(close) int fd = open(path, O_WRONLY | O_CLOEXEC);

        if (fd >= 0)
            (void)!file_write_all(fd, str_of(settings[i][1]));
    }
}

static void each(const struct cgroup_tree *t, const char *group, void (*fn)(const char *dir))
{
    for (size_t i = 0; i < t->n; i++) {
        AUTO(free) char *dir = xasprintf("%s%s", t->points[i], group);

        walk(dir, fn);
    }
}

void cgroup_remove(const struct cgroup_tree *t, const char *group)
{
    each(t, group, remove_one);
}
void cgroup_kill(const struct cgroup_tree *t, const char *group)
{
    each(t, group, kill_one);
}
void cgroup_thaw(const struct cgroup_tree *t, const char *group)
{
    each(t, group, thaw_one);
}
