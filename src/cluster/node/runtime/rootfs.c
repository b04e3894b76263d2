/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The root of a container: the software of this machine, and nothing of its life.
 *
 * /usr, /opt (and /bin, /lib and kin where they are not links) are the machine's, read-only: what
 * is installed or removed there, every container sees at once.  /etc follows a copy of the
 * machine's without its secrets (etc_image, etc_links).  /var is its own, with the machine's
 * directories, their owners and modes, and none of their files; /home has a directory for each of
 * the machine's; /run, /tmp and /root are empty.  Shared directories are the machine's own.  The
 * state directory is seen nowhere: where it lies below one of all these, nothing can be read in its
 * place.
 *
 * Two things need an overlay.  A volume may be mounted in one of those directories where the
 * machine has no such path: the nearest directory that there is becomes an overlay, to make the
 * place in. And a container that may mount could make a read-only mount writable: it sees them all
 * through overlays, whose writes stay with it.  What the machine changes below an overlay may not
 * show before the container starts again.  Where the layers of writes are is found by layers.c.
 */
#include "src/cluster/node/runtime/rootfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/path.h"
#include "src/base/texts.h"
#include "src/cluster/node/mounts.h"
#include "src/cluster/node/runtime/etc_image.h"
#include "src/cluster/node/runtime/etc_links.h"
#include "src/cluster/node/runtime/layers.h"
#include "src/cluster/node/runtime/shares.h"
#include "src/cluster/node/runtime/skeleton.h"

#define MAX_LAYERS 32
#define ETC_FRESH_MS 1000

/* "/bin" to "usr/bin" */
struct root_link {
    char *name;
    char *to;
};

struct rootfs {
    char *state_dir;
    char *entrypoint_dir;
    char **programs;          /* NULL-terminated */
    char **shares;            /* likewise */
    char *slurm;              /* prefix of the Slurm, or NULL */
    char *layers[MAX_LAYERS]; /* "usr", without the slash */
    size_t n_layers;
    struct root_link links[MAX_LAYERS];
    size_t n_links;
    char **inner; /* mounts of the machine below a layer, NULL-terminated */
    size_t n_inner;
    size_t cap_inner;
    struct skeleton *skeleton;
    char *pods_dir;
    char *etc;      /* the image of the machine's /etc */
    int64_t etc_ms; /* when it was last held against the machine's */
    enum layers_place place;
};

static bool is_software(const char *name)
{
    static const char *const names[] = {"usr", "etc", "opt", "bin", "sbin"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (streq(name, names[i]))
            return true;
    return starts_with(name, "lib");
}

static void note_link(struct rootfs *r, const char *name)
{
    char to[256];
    AUTO(free) char *path = xasprintf("/%s", name);
    ssize_t n = readlink(path, to, sizeof(to) - 1);

    if (n > 0 && r->n_links < MAX_LAYERS)
        r->links[r->n_links++] =
            (struct root_link){xstrdup(name), str_dup((struct str){to, (size_t)n})};
}

static void note_layer(struct rootfs *r, const char *name)
{
    if (r->n_layers < MAX_LAYERS)
        r->layers[r->n_layers++] = xstrdup(name);
}

/* Is a path at or below one of the machine's directories that containers see? */
static bool in_layer(const struct rootfs *r, const char *path)
{
    for (size_t i = 0; i < r->n_layers; i++) {
        AUTO(free) char *top = xasprintf("/%s", r->layers[i]);

        if (path_is_in(path, top))
            return true;
    }
    return false;
}

static int scan_top(struct rootfs *r, struct err *e)
{
    DIR *d = opendir("/");
    struct dirent *entry;

    if (!d)
        return err_errno(e, errno, "cannot read /");
    while ((entry = readdir(d))) {
        AUTO(free) char *path = xasprintf("/%s", entry->d_name);
        struct stat st;

        if (!is_software(entry->d_name) || lstat(path, &st) < 0)
            continue;
        if (S_ISLNK(st.st_mode))
            note_link(r, entry->d_name);
        else if (S_ISDIR(st.st_mode))
            note_layer(r, entry->d_name);
    }
    (void)closedir(d);
    return 0;
}

/* An overlay does not show what is mounted inside its lower directory: those are bound on top. */
static bool note_inner(void *arg, const char *path, const char *fs_type)
{
    struct rootfs *r = arg;

    (void)fs_type;
    if (starts_with(path, "/etc/") || path_is_in(path, r->state_dir) || !in_layer(r, path) ||
        !strchr(path + 1, '/'))
        return true;
    array_reserve(&r->inner, &r->cap_inner, r->n_inner + 1, sizeof(*r->inner));
    r->inner[r->n_inner++] = xstrdup(path);
    return true;
}

/* Users and settings that came meanwhile; a burst of containers pays for it once. */
static int refresh_etc(struct rootfs *r, struct err *e)
{
    int64_t now = clock_mono_ms();
    int err = 0;

    if (r->etc_ms == 0 || now - r->etc_ms > ETC_FRESH_MS)
        err = etc_image_sync("/etc", r->etc, e);
    if (err == 0)
        r->etc_ms = now;
    return err;
}

/* Of every container that is there: what runs, and what has ended. */
int rootfs_refresh(struct rootfs *r, struct err *e)
{
    AUTO(free) char *pattern = xasprintf("%s/*/containers/*/*", r->pods_dir);
    glob_t found = {0};
    int err = etc_image_sync("/etc", r->etc, e);

    if (err == 0)
        r->etc_ms = clock_mono_ms();
    if (err == 0 && glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            (void)!etc_links_follow(r->etc, found.gl_pathv[i], NULL);
    globfree(&found);
    return err;
}

int rootfs_new(const struct rootfs_options *o, struct rootfs **ret_rootfs, struct err *e)
{
    AUTO(rootfs_free) struct rootfs *r = xcalloc(1, sizeof(*r));
    int err;

    r->state_dir = xstrdup(o->state_dir);
    r->entrypoint_dir = xstrdup_null(o->entrypoint_dir);
    r->programs = texts_copy(o->programs);
    r->shares = shares_outer(o->shares);
    r->slurm = xstrdup_null(o->slurm);
    r->etc = xasprintf("%s/etc", o->node_dir);
    r->pods_dir = xasprintf("%s/pods", o->node_dir);
    err = scan_top(r, e);
    if (err == 0)
        err = layers_find(r->state_dir, in_layer(r, r->state_dir), &r->place, e);
    if (err == 0)
        err = mounts_each(note_inner, r, e);
    if (err == 0)
        err = refresh_etc(r, e);
    if (err < 0)
        return err;
    r->skeleton = skeleton_of_machine(o->state_dir);
    *ret_rootfs = TAKE(r);
    return 0;
}

struct rootfs *rootfs_free(struct rootfs *r)
{
    if (!r)
        return NULL;
    for (size_t i = 0; i < r->n_layers; i++)
        free(r->layers[i]);
    for (size_t i = 0; i < r->n_links; i++) {
        free(r->links[i].name);
        free(r->links[i].to);
    }
    for (size_t i = 0; i < r->n_inner; i++)
        free(r->inner[i]);
    (void)texts_free(r->programs);
    (void)texts_free(r->shares);
    free(r->inner);
    (void)skeleton_free(r->skeleton);
    free(r->state_dir);
    free(r->slurm);
    free(r->entrypoint_dir);
    free(r->etc);
    free(r->pods_dir);
    free(r);
    return NULL;
}

char *const *rootfs_shares(const struct rootfs *r)
{
    return r->shares;
}

const char *rootfs_kind(const struct rootfs *r)
{
    return r->place == LAYERS_ON_DISK ? "mounts" : "mounts whose writes are in memory";
}

/* An overlay at `path` ("/usr/local") over `lower`. */
static int make_layer(struct arena *a, const char *dir, const char *path, const char *lower,
                      struct oci_mounts *mounts, struct err *e)
{
    const char *upper = arena_printf(a, "%s/layers%s/.upper", dir, path);
    const char *work = arena_printf(a, "%s/layers%s/.work", dir, path);
    int r = file_make_dirs(upper, 0755, e);

    if (r == 0)
        r = file_make_dirs(work, 0755, e);
    if (r < 0)
        return r;
    oci_mounts_add(mounts, path, "overlay", "overlay",
                   arena_printf(a, "lowerdir=%s\nupperdir=%s\nworkdir=%s", lower, upper, work));
    return 0;
}

static bool is_mounted(const struct oci_mounts *m, size_t from, const char *path)
{
    for (size_t i = from; i < m->n; i++)
        if (streq(m->items[i].to, path))
            return true;
    return false;
}

/* The nearest directory of the machine above a path that it does not have; NULL if it has it, or if
 * that directory is not in `top`. */
static char *directory_above(const char *path, const char *top)
{
    AUTO(free) char *above = xstrdup(path);
    char *real;
    char *slash;

    if (file_exists(path))
        return NULL;
    while ((slash = strrchr(above, '/')) && slash != above) {
        *slash = '\0';
        if (!file_exists(above))
            continue;
        real = realpath(above, NULL);
        if (real && path_is_in(real, top))
            return real;
        free(real);
        return NULL;
    }
    return NULL;
}

/* /usr and kin: the machine's, with a place for each volume. */
static int add_software(struct arena *a, const char *dir, const char *name,
                        const struct rootfs_wish *w, struct oci_mounts *m, struct err *e)
{
    const char *top = arena_printf(a, "/%s", name);
    size_t first = m->n;
    int r = 0;

    if (w->may_mount)
        return make_layer(a, dir, top, top, m, e);
    oci_mounts_add(m, top, "bind", top, "bind\nrprivate\nro");
    for (const char *const *t = w->targets; r == 0 && t && *t; t++) {
        AUTO(free) char *above = path_is_below(*t, top) ? directory_above(*t, top) : NULL;

        if (!above || (is_mounted(m, first + 1, above)))
            continue;
        r = make_layer(a, dir, arena_strdup(a, above), arena_strdup(a, above), m, e);
    }
    return r;
}

static int add_etc(const struct rootfs *root, struct arena *a, const char *dir,
                   const struct rootfs_wish *w, struct oci_mounts *m, struct err *e)
{
    const char *own = arena_printf(a, "%s/" ETC_LINKS_OWN, dir);
    int r;

    if (w->may_mount)
        return make_layer(a, dir, "/etc", root->etc, m, e);
    r = etc_links_make(root->etc, own, w->targets, e);
    if (r < 0)
        return r;
    oci_mounts_add(m, ETC_LINKS_IMAGE, "bind", root->etc, "bind\nrprivate\nro");
    oci_mounts_add(m, "/etc", "bind", own, "bind\nrprivate\nrw");
    return 0;
}

static void add_kernel_mounts(struct oci_mounts *m, const struct rootfs_wish *w)
{
    oci_mounts_add(m, "/proc", "proc", "proc", "nosuid\nnoexec\nnodev");
    oci_mounts_add(m, "/dev", "tmpfs", "tmpfs", "nosuid\nstrictatime\nmode=755\nsize=65536k");
    oci_mounts_add(m, "/dev/pts", "devpts", "devpts",
                   "nosuid\nnoexec\nnewinstance\nptmxmode=0666\nmode=0620\ngid=5");
    oci_mounts_add(m, "/dev/mqueue", "mqueue", "mqueue", "nosuid\nnoexec\nnodev");
    oci_mounts_add(m, "/sys", "sysfs", "sysfs",
                   w->writes_sys ? "nosuid\nnoexec\nnodev" : "nosuid\nnoexec\nnodev\nro");
    oci_mounts_add(m, "/sys/fs/cgroup", "cgroup", "cgroup",
                   w->writes_cgroups ? "nosuid\nnoexec\nnodev\nrelatime"
                                     : "nosuid\nnoexec\nnodev\nrelatime\nro");
    oci_mounts_add(m, "/run", "tmpfs", "tmpfs", "nosuid\nnodev\nmode=755");
}

static void add_programs(const struct rootfs *r, struct arena *a, const char *slurm,
                         struct oci_mounts *m)
{
    if (slurm && !in_layer(r, slurm))
        oci_mounts_add(m, slurm, "bind", slurm, "rbind\nrprivate\nro");
    for (char **p = r->programs; *p; p++) {
        const char *slash = strrchr(*p, '/');

        oci_mounts_add(m, arena_printf(a, ROOTFS_LIBEXEC "/%s", slash ? slash + 1 : *p), "bind", *p,
                       "bind\nrprivate\nro");
    }
    if (r->entrypoint_dir)
        oci_mounts_add(m, ROOTFS_LIBEXEC "/entrypoint", "bind", r->entrypoint_dir,
                       "bind\nrprivate\nro");
}

/* Containers see `dir` of the machine; so they would see the state directory that lies in it, also
 * where `dir` is a link. */
static void hide_state(const struct rootfs *r, struct arena *a, const char *dir,
                       struct oci_mounts *m)
{
    AUTO(free) char *real = realpath(dir, NULL);

    if (real && path_is_in(r->state_dir, real))
        oci_mounts_add(m, arena_printf(a, "%s%s", dir, r->state_dir + strlen(real)), "tmpfs",
                       "tmpfs", "nosuid\nnodev\nro\nmode=0\nsize=4k");
}

static void add_own(const struct rootfs *r, struct arena *a, const char *slurm,
                    struct oci_mounts *m)
{
    add_programs(r, a, slurm, m);
    for (size_t i = 0; i < r->n_inner; i++)
        oci_mounts_add(m, r->inner[i], "bind", r->inner[i], "bind\nrprivate\nro");
    for (size_t i = 0; i < r->n_layers; i++)
        hide_state(r, a, arena_printf(a, "/%s", r->layers[i]), m);
    if (slurm)
        hide_state(r, a, slurm, m);
    for (char **s = r->shares; *s; s++) {
        oci_mounts_add(m, arena_strdup(a, *s), "bind", *s, "rbind\nrslave\nrw");
        hide_state(r, a, *s, m);
    }
}

int rootfs_make(struct rootfs *r, struct arena *a, const char *dir, const struct rootfs_wish *w,
                struct oci_mounts *mounts, struct err *e)
{
    const char *root = arena_printf(a, "%s/rootfs", dir);
    int err = file_make_dirs(root, 0755, e);

    if (err == 0)
        err = refresh_etc(r, e);
    if (err == 0)
        err = skeleton_make(r->skeleton, root, e);
    for (size_t i = 0; err == 0 && i < r->n_links; i++) {
        const char *path = arena_printf(a, "%s/%s", root, r->links[i].name);

        if (symlink(r->links[i].to, path) < 0 && errno != EEXIST)
            err = err_errno(e, errno, "cannot make '%s'", path);
    }
    if (err == 0)
        err = layers_make(r->place, dir, e);
    for (size_t i = 0; err == 0 && i < r->n_layers; i++)
        err = streq(r->layers[i], "etc") ? add_etc(r, a, dir, w, mounts, e)
                                         : add_software(a, dir, r->layers[i], w, mounts, e);
    if (err < 0)
        return err;
    add_kernel_mounts(mounts, w);
    add_own(r, a, w->slurm, mounts);
    return 0;
}

const char *rootfs_slurm(const struct rootfs *r)
{
    return r->slurm;
}

const char *rootfs_path(struct arena *a, const char *slurm)
{
    static const char usual[] =
        "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:" ROOTFS_LIBEXEC;

    if (!slurm)
        return arena_printf(a, "PATH=%s", usual);
    return arena_printf(a, "PATH=%s/sbin:%s/bin:%s", slurm, slurm, usual);
}

const char *rootfs_entrypoint(const struct rootfs *r, struct arena *a, const char *name)
{
    AUTO(free) char *path = NULL;

    if (!r->entrypoint_dir || !name[0] || strchr(name, '/') || name[0] == '.')
        return NULL;
    path = xasprintf("%s/%s", r->entrypoint_dir, name);
    if (access(path, X_OK) < 0)
        return NULL;
    return arena_printf(a, ROOTFS_LIBEXEC "/entrypoint/%s", name);
}
