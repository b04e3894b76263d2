/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * subPath: a part of a volume.
 *
 * Who writes a volume can replace a directory in it by a link at any moment: between our look and
 * the runtime's mount, too.  A path that was checked is therefore worth nothing.  So the kernel
 * resolves the path below the volume's own directory (openat2 refuses whatever leads out), and the
 * very file that it found is bound to a place of ours, the pin.  The runtime mounts the pin.
 *
 * Missing directories are made one at a time, each in the parent that was found that way.
 */
#include "src/cluster/node/volumes/subpath.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/node/mounts.h"

static int open_beneath(int root, const char *sub, int flags)
{
    struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC),
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};

    return (int)syscall(SYS_openat2, root, sub, &how, sizeof(how));
}

static int leads_out(const char *sub, struct err *e)
{
    return err_bad(e, "subPath '%s' leads out of the volume", sub);
}

static int explain(const char *sub, struct err *e)
{
    if (errno == EXDEV || errno == ELOOP)
        return leads_out(sub, e);
    return err_errno(e, errno, "subPath '%s'", sub);
}

/* The new directory is ours alone until it has its owner and its mode. */
static int make_in(int parent, const char *name, int64_t group, mode_t mode, struct err *e)
{
    AUTO(close) int fd = -1;

    if (mkdirat(parent, name, 0700) < 0)
        return errno == EEXIST ? 0 : err_errno(e, errno, "cannot make the directory '%s'", name);
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || (group >= 0 && fchown(fd, (uid_t)-1, (gid_t)group) < 0) || fchmod(fd, mode) < 0)
        return err_errno(e, errno, "cannot set the owner and mode of '%s'", name);
    return 0;
}

/* Make each directory on the way that is not there. */
static int make_missing(int root, const char *sub, int64_t group, mode_t mode, struct err *e)
{
    struct str rest = str_of(sub), name;
    AUTO(free) char *way = xstrdup(".");

    while (rest.n && str_split(&rest, '/', &name)) {
        AUTO(free) char *one = str_dup(name);
        AUTO(close) int parent = open_beneath(root, way, O_PATH | O_DIRECTORY);
        char *next = xasprintf("%s/%s", way, one);
        int r;

        free(way);
        way = next;
        if (parent < 0)
            return explain(sub, e);
        if (!name.n || streq(one, "."))
            continue;
        r = make_in(parent, one, group, mode, e);
        if (r < 0)
            return r;
    }
    return 0;
}

static int find(const char *root, const char *sub, int64_t group, int *ret_fd, struct err *e)
{
    AUTO(close) int volume = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd, r = 0;

    if (volume < 0)
        return err_errno(e, errno, "cannot open the volume '%s'", root);
    fd = open_beneath(volume, sub, O_PATH);
    if (fd < 0 && errno == ENOENT) {
        r = make_missing(volume, sub, group, group >= 0 ? 02777 : 0777, e);
        fd = r == 0 ? open_beneath(volume, sub, O_PATH) : -1;
    }
    if (r < 0 || fd < 0)
        return r < 0 ? r : explain(sub, e);
    *ret_fd = fd;
    return 0;
}

static int make_file(int volume, const char *dir, const char *name, struct err *e)
{
    AUTO(close) int parent = open_beneath(volume, dir[0] ? dir : ".", O_PATH | O_DIRECTORY);
    AUTO(close) int fd = -1;

    if (parent < 0)
        return explain(dir, e);
    fd = openat(parent, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0 || fchmod(fd, 0644) < 0)
        return explain(name, e);
    return 0;
}

int subpath_make(const char *root, const char *sub, bool is_file, struct err *e)
{
    AUTO(close) int volume = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const char *slash = strrchr(sub, '/');
    AUTO(free) char *dir = str_dup((struct str){sub, slash ? (size_t)(slash - sub) : 0});
    int r;

    if (volume < 0)
        return err_errno(e, errno, "cannot open '%s'", root);
    r = make_missing(volume, is_file ? dir : sub, -1, 0755, e);
    return r == 0 && is_file ? make_file(volume, dir, slash ? slash + 1 : sub, e) : r;
}

/* A directory or an empty file for the pin: whatever is to be bound there. */
static int make_place(const char *pin, bool is_dir, struct err *e)
{
    AUTO(free) char *parent = str_dup((struct str){pin, (size_t)(strrchr(pin, '/') - pin)});
    AUTO(close) int fd = -1;
    int r = file_make_dirs(parent, 0700, e);

    if (r < 0)
        return r;
    while (umount2(pin, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
        ;
    (void)unlink(pin);
    (void)rmdir(pin);
    if (is_dir)
        return mkdir(pin, 0700) < 0 ? err_errno(e, errno, "cannot make '%s'", pin) : 0;
    fd = open(pin, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return fd < 0 ? err_errno(e, errno, "cannot make '%s'", pin) : 0;
}

int subpath_pin(const char *root, const char *sub, int64_t group, const char *pin, struct err *e)
{
    AUTO(close) int fd = -1;
    AUTO(free) char *from = NULL;
    struct stat st;
    int r;

    if (sub[0] == '/' || strstr(sub, ".."))
        return leads_out(sub, e);
    r = find(root, sub, group, &fd, e);
    if (r < 0)
        return r;
    if (fstat(fd, &st) < 0)
        return err_errno(e, errno, "subPath '%s'", sub);
    r = make_place(pin, S_ISDIR(st.st_mode), e);
    if (r < 0)
        return r;
    from = xasprintf("/proc/self/fd/%d", fd);
    if (mount(from, pin, NULL, MS_BIND | MS_REC, NULL) < 0)
        return err_errno(e, errno, "cannot hold subPath '%s' at '%s'", sub, pin);
    return 0;
}

void subpath_release(const char *dir)
{
    DIR *d;
    struct dirent *entry;

    mounts_detach_below(dir);
    d = opendir(dir);
    /* never what is inside: a pin that is still mounted is busy, and stays */
    while (d && (entry = readdir(d))) {
        AUTO(free) char *pin = xasprintf("%s/%s", dir, entry->d_name);

        if (unlink(pin) < 0)
            (void)rmdir(pin);
    }
    if (d)
        (void)closedir(d);
    (void)rmdir(dir);
}
