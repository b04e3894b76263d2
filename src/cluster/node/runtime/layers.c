/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where containers keep what they write over the machine's own files.
 *
 * A container sees /usr, /etc and the like through overlays.  The upper layer of each is in
 * DIR/layers, with the other files of the container.  Linux does not take every place for it: not a
 * directory of another overlay, which is what the root of a live system or of a container is, and
 * none that lies in the lower layer.  There DIR/layers is memory: it counts in the limits of the
 * container that writes, and is gone with it.  Which place it is, is found by a try at the start.
 */
#include "src/cluster/node/runtime/layers.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/node/mounts.h"

static char *layers_path(const char *dir)
{
    return xasprintf("%s/layers", dir);
}

static int mount_memory(const char *path)
{
    return mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0700") < 0 ? -errno : 0;
}

/* In a child with a mount namespace of its own, so that nothing is left mounted. */
static int try_mounts(enum layers_place place, const char *base)
{
    AUTO(free) char *layers = layers_path(base);
    AUTO(free) char *upper = xasprintf("%s/upper", layers);
    AUTO(free) char *work = xasprintf("%s/work", layers);
    AUTO(free) char *to = xasprintf("%s/to", base);
    AUTO(free) char *options = xasprintf("lowerdir=/usr,upperdir=%s,workdir=%s", upper, work);
    int r = 0;

    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return -errno;
    if (place == LAYERS_IN_MEMORY)
        r = mount_memory(layers);
    if (r == 0)
        r = file_make_dirs(upper, 0755, NULL);
    if (r == 0)
        r = file_make_dirs(work, 0755, NULL);
    if (r == 0 && mount("overlay", to, "overlay", 0, options) < 0)
        r = -errno;
    return r;
}

static int try_place(enum layers_place place, const char *base, struct err *e)
{
    AUTO(free) char *layers = layers_path(base);
    AUTO(free) char *to = xasprintf("%s/to", base);
    int status = 0;
    int r = file_make_dirs(layers, 0700, e);
    pid_t pid;

    if (r == 0)
        r = file_make_dirs(to, 0700, e);
    if (r < 0)
        return r;
    pid = fork();
    if (pid == 0)
        _exit(-try_mounts(place, base));
    if (pid < 0)
        return err_errno(e, errno, "cannot start a process");
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

int layers_find(const char *state_dir, bool inside, enum layers_place *ret, struct err *e)
{
    static const enum layers_place places[] = {LAYERS_ON_DISK, LAYERS_IN_MEMORY};
    AUTO(free) char *base = xasprintf("%s/.overlay-test", state_dir);
    int r = -EOPNOTSUPP;

    if (strpbrk(state_dir, ",:\\\n"))
        return err_bad(e,
                       "'%s' cannot be a state directory: a comma, colon, backslash or line break "
                       "in its path has a meaning of its own for mounts",
                       state_dir);
    for (size_t i = inside ? 1 : 0; r < 0 && i < ARRAY_LEN(places); i++) {
        r = try_place(places[i], base, e);
        if (r == 0)
            *ret = places[i];
        (void)!file_remove_tree(base, NULL);
    }
    if (r == 0)
        return 0;
    return err_set(e, -EOPNOTSUPP, ERR_PERMANENT,
                   "pods see the machine's programs through overlays, and this kernel makes none, "
                   "on the disk of '%s' or in memory: %s",
                   state_dir, strerror(-r));
}

int layers_make(enum layers_place place, const char *dir, struct err *e)
{
    AUTO(free) char *path = layers_path(dir);
    int r = file_make_dirs(path, 0700, e);

    if (r < 0 || place == LAYERS_ON_DISK || mounts_is_one(path))
        return r;
    r = mount_memory(path);
    return r < 0 ? err_errno(e, -r, "cannot mount memory at '%s'", path) : 0;
}

int layers_remove(const char *dir, struct err *e)
{
    AUTO(free) char *path = layers_path(dir);

    (void)umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
    return file_remove_tree(path, e);
}
