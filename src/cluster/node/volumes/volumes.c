/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The volumes of a pod.
 *
 * Content from the API and emptyDir live in the pod's own directory, secrets in memory; hostPath is
 * where it says; claims are directories of the node.  fsGroup owns what is ours to give, and new
 * files in it.
 */
#include "src/cluster/node/volumes/volumes.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/node/mounts.h"
#include "src/cluster/node/pods/limits.h"
#include "src/cluster/node/runtime/shares.h"
#include "src/cluster/node/volumes/atomic.h"
#include "src/cluster/node/volumes/hostpath.h"
#include "src/cluster/node/volumes/subpath.h"

static const char *own_dir(struct arena *a, const struct volumes_context *x,
                           const struct jsn *volume)
{
    return arena_printf(a, "%s/volumes/%s", x->dir, jsn_get_str(volume, "name"));
}

/* The group's alone: daemons do not trust a place of their state that everybody may write. */
static int make_group_dir(const char *path, int64_t group, struct err *e)
{
    struct stat st;
    int r = file_make_dirs(path, 0755, e);

    if (r < 0)
        return r;
    if (stat(path, &st) == 0 && st.st_gid == (gid_t)group && (st.st_mode & 02070) == 02070)
        return 0;
    if (chown(path, (uid_t)-1, (gid_t)group) < 0)
        return err_errno(e, errno, "cannot give '%s' to group %lld", path, (long long)group);
    if (chmod(path, 02770) < 0)
        return err_errno(e, errno, "cannot set the mode of '%s'", path);
    return 0;
}

/* A directory that everybody may write, and the group owns. */
static int make_open_dir(const char *path, int64_t group, struct err *e)
{
    struct stat st;
    int r = file_make_dirs(path, 0755, e);

    if (r < 0)
        return r;
    if (stat(path, &st) == 0 && (st.st_mode & 0777) == 0777)
        return 0;
    if (group >= 0 && chown(path, (uid_t)-1, (gid_t)group) < 0)
        return err_errno(e, errno, "cannot give '%s' to group %lld", path, (long long)group);
    if (chmod(path, group >= 0 ? 02777 : 0777) < 0)
        return err_errno(e, errno, "cannot set the mode of '%s'", path);
    return 0;
}

static int make_empty(struct arena *a, const struct volumes_context *x, const struct jsn *volume,
                      struct err *e)
{
    const struct jsn *v = jsn_key(volume, "emptyDir");
    const char *path = own_dir(a, x, volume);
    int64_t size = limits_value(v, "sizeLimit", 0);
    const char *options = size > 0 ? arena_printf(a, "size=%lld", (long long)size) : "";
    bool memory = streq(jsn_get_str(v, "medium"), "Memory");
    int r;

    /* one that is there already is the pod's: its mode may be another by now, and stays */
    if (file_exists(path) && (!memory || mounts_is_one(path)))
        return 0;
    if (memory) {
        r = file_make_dirs(path, 0755, e);
        if (r < 0)
            return r;
        if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
            return err_errno(e, errno, "cannot mount memory at '%s'", path);
    }
    return make_open_dir(path, x->fs_group, e);
}

static int make_claim(struct arena *a, const struct volumes_context *x, const char *name,
                      struct err *e)
{
    const char *path = x->claim(x->claim_arg, a, x->payload.pod->ns, name, e);

    if (!path)
        return e->num;
    return x->fs_group >= 0 ? make_group_dir(path, x->fs_group, e) : make_open_dir(path, -1, e);
}

/* Does it hold what must never be on a disk? */
static bool is_secret(const struct jsn *volume)
{
    return jsn_key(volume, "secret") || jsn_key(volume, "projected");
}

/* Memory for a new volume.  One that is there is in use: a mount would hide it from its pod. */
static int mount_memory(const char *path, struct err *e)
{
    int r = file_exists(path) ? -EEXIST : file_make_dirs(path, 0755, e);

    if (r < 0)
        return r == -EEXIST ? 0 : r;
    if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,noswap") < 0 &&
        mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") < 0)
        return err_errno(e, errno, "cannot mount memory at '%s'", path);
    return 0;
}

static int make_payload(struct arena *a, const struct volumes_context *x, const struct jsn *volume,
                        bool *ret_changed, struct err *e)
{
    struct payload p = {.arena = a};
    int r = payload_build(&p, &x->payload, volume, e);

    if (r == 0 && is_secret(volume))
        r = mount_memory(own_dir(a, x, volume), e);
    return r < 0 ? r : atomic_write(own_dir(a, x, volume), &p, x->fs_group, ret_changed, e);
}

/* A claim that is made for the pod alone is named after both. */
static const char *claim_name(struct arena *a, const struct volumes_context *x,
                              const struct jsn *volume)
{
    if (jsn_key(volume, "ephemeral"))
        return arena_printf(a, "%s-%s", x->payload.pod->name, jsn_get_str(volume, "name"));
    return jsn_get_str(volume, "persistentVolumeClaim.claimName");
}

static bool is_claim(const struct jsn *volume)
{
    return jsn_key(volume, "persistentVolumeClaim") || jsn_key(volume, "ephemeral");
}

static int make_one(struct arena *a, const struct volumes_context *x, const struct jsn *volume,
                    struct err *e)
{
    bool changed;

    if (payload_is(volume))
        return make_payload(a, x, volume, &changed, e);
    if (jsn_key(volume, "emptyDir"))
        return make_empty(a, x, volume, e);
    if (jsn_key(volume, "hostPath"))
        return hostpath_check(jsn_key(volume, "hostPath"), x->shares, e);
    if (is_claim(volume))
        return make_claim(a, x, claim_name(a, x, volume), e);
    return err_bad(e, "volumes of this kind do not exist on this machine; there are configMap, "
                      "secret, downwardAPI, projected, emptyDir, hostPath and "
                      "persistentVolumeClaim");
}

int volumes_make(struct arena *a, const struct volumes_context *x, struct err *e)
{
    JSN_FOR_ITEMS (v, jsn_get(x->payload.pod->json, "spec.volumes")) {
        int r = make_one(a, x, v, e);

        if (r < 0)
            return err_wrap(e, r, "MountVolume.SetUp failed for volume \"%s\"",
                            jsn_get_str(v, "name"));
    }
    return 0;
}

int volumes_refresh(struct arena *a, const struct volumes_context *x, bool *ret_changed,
                    struct err *e)
{
    int result = 0;

    *ret_changed = false;
    JSN_FOR_ITEMS (v, jsn_get(x->payload.pod->json, "spec.volumes")) {
        bool changed = false;
        int r = payload_is(v) ? make_payload(a, x, v, &changed, e) : 0;

        if (r < 0)
            result = err_wrap(e, r, "MountVolume.SetUp failed for volume \"%s\"",
                              jsn_get_str(v, "name"));
        *ret_changed = *ret_changed || changed;
    }
    return result;
}

static const struct jsn *find_volume(const struct volumes_context *x, const char *name)
{
    JSN_FOR_ITEMS (v, jsn_get(x->payload.pod->json, "spec.volumes"))
        if (streq(jsn_get_str(v, "name"), name))
            return v;
    return NULL;
}

static const char *path_of(struct arena *a, const struct volumes_context *x, const struct jsn *v,
                           struct err *e)
{
    if (jsn_key(v, "hostPath"))
        return jsn_get_str(v, "hostPath.path");
    if (is_claim(v))
        return x->claim(x->claim_arg, a, x->payload.pod->ns, claim_name(a, x, v), e);
    return own_dir(a, x, v);
}

/* Where the parts of volumes are held that containers of the pod mount: beside the directories of
 * pods, for those are removed with all that is seen in them. */
static char *pins_of(const char *pod_dir)
{
    const char *uid = strrchr(pod_dir, '/') + 1;
    AUTO(free) char *pods = str_dup((struct str){pod_dir, (size_t)(uid - 1 - pod_dir)});
    const char *last = strrchr(pods, '/');

    return xasprintf("%.*s/subpaths/%s", (int)(last - pods), pods, uid);
}

static const char *sub_path(struct arena *a, const struct volumes_context *x,
                            const struct ctr_spec *c, size_t index, const char *root,
                            const char *sub, struct err *e)
{
    AUTO(free) char *dir = pins_of(x->dir);
    const char *pin = arena_printf(a, "%s/%s-%zu", dir, c->name, index);

    return subpath_pin(root, sub, x->fs_group, pin, e) < 0 ? NULL : pin;
}

/* What jobs may replace by a link is found below its share, as a part of that. */
static const char *in_share(struct arena *a, const struct volumes_context *x,
                            const struct ctr_spec *c, size_t index, const char *path, size_t n,
                            const char *sub, struct err *e)
{
    const char *share = arena_printf(a, "%.*s", (int)n, path);
    const char *rest = path + n + strspn(path + n, "/");
    const char *from;

    if (sub && sub[0])
        rest = arena_printf(a, "%s/%s", rest, sub);
    from = sub_path(a, x, c, index, share, rest, e);
    if (!from)
        (void)err_wrap(e, e->num, "'%s' lies in '%s', which jobs may write", path, share);
    return from;
}

/* What is to be mounted, in `a`; NULL with e set. */
static const char *source_of(struct arena *a, const struct volumes_context *x,
                             const struct ctr_spec *c, size_t index, const struct jsn *v,
                             const char *sub, struct err *e)
{
    const char *path = path_of(a, x, v, e);
    bool is_given = jsn_key(v, "hostPath") || is_claim(v); /* a path that somebody else chose */
    size_t n = path && is_given ? shares_above(x->shares, path) : 0;

    if (!path)
        return NULL;
    if (n)
        return in_share(a, x, c, index, path, n, sub, e);
    if (is_given && shares_keep_out(x->shares, path, e) < 0)
        return NULL;
    return sub && sub[0] ? sub_path(a, x, c, index, path, sub, e) : path;
}

static const char *mount_options(const struct jsn *m, bool read_only)
{
    const char *propagation = jsn_get_str(m, "mountPropagation");

    if (streq(propagation, "Bidirectional"))
        return read_only ? "rbind\nrshared\nro" : "rbind\nrshared\nrw";
    if (streq(propagation, "HostToContainer"))
        return read_only ? "rbind\nrslave\nro" : "rbind\nrslave\nrw";
    return read_only ? "rbind\nrprivate\nro" : "rbind\nrprivate\nrw";
}

static bool is_read_only(const struct jsn *v, const struct jsn *m)
{
    return jsn_get_bool(m, "readOnly", false) || payload_is(v) ||
           jsn_get_bool(v, "persistentVolumeClaim.readOnly", false);
}

int volumes_mount(struct arena *a, const struct volumes_context *x, const struct ctr_spec *c,
                  const char *const *env, struct oci_mounts *mounts, struct err *e)
{
    size_t index = 0;

    JSN_FOR_ITEMS (m, jsn_key(c->json, "volumeMounts")) {
        const char *name = jsn_get_str(m, "name");
        const char *to = jsn_get_str(m, "mountPath");
        const char *sub = jsn_get_str(m, "subPath");
        const char *expr = jsn_get_str(m, "subPathExpr");
        const struct jsn *v = find_volume(x, name);
        const char *from;

        if (!v || !to)
            return err_bad(e, "container %s mounts a volume '%s' that the pod does not have",
                           c->name, name ? name : "");
        if (expr && expr[0])
            sub = env_expand(a, expr, env);
        from = source_of(a, x, c, index++, v, sub, e);
        if (!from)
            return err_wrap(e, e->num, "volume '%s'", name);
        oci_mounts_add(mounts, to, "bind", from, mount_options(m, is_read_only(v, m)));
    }
    return 0;
}

int volumes_make_shm(const char *pod_dir, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/shm", pod_dir);
    int r = file_make_dirs(path, 0755, e);

    if (r < 0 || mounts_is_one(path))
        return r;
    if (mount("shm", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=1777") < 0)
        return err_errno(e, errno, "cannot mount memory at '%s'", path);
    return 0;
}

void volumes_unmount(const char *pod_dir)
{
    AUTO(free) char *pins = pins_of(pod_dir);

    subpath_release(pins);
    mounts_detach_below(pod_dir);
}
