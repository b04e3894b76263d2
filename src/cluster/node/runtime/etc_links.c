/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A container's /etc that follows the machine's.
 *
 * The node keeps one image of the machine's /etc (etc_image), which all containers see read-only
 * and live.  Each container has a small directory of its own as /etc, with a link into the image
 * for every entry: so users, the linker's cache and alternatives are those of the machine at every
 * moment and the same in all containers, and a container can still replace an entry or add one for
 * itself.  An overlay would not do: what changes below it while it is mounted may or may not show.
 *
 * Names that no longer are in the image lose their link, new ones get one.  Directories that had to
 * be copied, because something is mounted in them, stay as they were when the container started.
 */
#include "src/cluster/node/runtime/etc_links.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/path.h"
#include "src/cluster/node/runtime/etc_image.h"

enum place { LINKED, MOUNTED, ON_THE_WAY };

/* What becomes of /etc/NAME. */
static enum place place_of(const char *name, const char *const *targets)
{
    AUTO(free) char *path = xasprintf("/etc/%s", name);
    enum place found = LINKED;

    for (; targets && *targets; targets++) {
        if (path_is_below(*targets, path))
            found = ON_THE_WAY;
        else if (path_is_in(*targets, path))
            return MOUNTED;
    }
    return found;
}

/* Links are taken over as they are: they may be relative to /etc. */
static int link_one(int image, int to, const char *name, struct err *e)
{
    char path[PATH_MAX];
    ssize_t n = readlinkat(image, name, path, sizeof(path) - 1);

    if (n >= 0)
        path[n] = '\0';
    else
        (void)snprintf(path, sizeof(path), ETC_LINKS_IMAGE "/%s", name);
    if (symlinkat(path, to, name) < 0 && errno != EEXIST)
        return err_errno(e, errno, "cannot make the link '%s' of a container's /etc", name);
    return 0;
}

static int place_one(const char *image, int from, const char *to, int fd, const char *name,
                     const char *const *targets, struct err *e)
{
    AUTO(free) char *source = xasprintf("%s/%s", image, name);
    AUTO(free) char *target = xasprintf("%s/%s", to, name);

    switch (place_of(name, targets)) {
    case MOUNTED:
        return 0;
    case ON_THE_WAY:
        return etc_image_copy(source, target, e);
    case LINKED:
        break;
    }
    return link_one(from, fd, name, e);
}

int etc_links_make(const char *image, const char *to, const char *const *targets, struct err *e)
{
    DIR *d = opendir(image);
    AUTO(close) int fd = -1;
    struct dirent *entry;
    int r = d ? file_make_dirs(to, 0755, e) : err_errno(e, errno, "cannot read '%s'", image);

    if (r == 0)
        fd = open(to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (r == 0 && fd < 0)
        r = err_errno(e, errno, "cannot open '%s'", to);
    while (d && r == 0 && (entry = readdir(d)))
        if (!streq(entry->d_name, ".") && !streq(entry->d_name, ".."))
            r = place_one(image, dirfd(d), to, fd, entry->d_name, targets, e);
    if (d)
        (void)closedir(d);
    return r;
}

/* Only a link that we made, and that leads to nothing any more. */
static void drop_stale(int to, int image, const char *name)
{
    AUTO(free) char *ours = xasprintf(ETC_LINKS_IMAGE "/%s", name);
    char path[PATH_MAX];
    struct stat st;
    ssize_t n = readlinkat(to, name, path, sizeof(path) - 1);

    if (n < 0)
        return;
    path[n] = '\0';
    if (streq(path, ours) && fstatat(image, name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
        (void)unlinkat(to, name, 0);
}

static int update(const char *image, const char *to, struct err *e)
{
    DIR *d = opendir(image);
    DIR *old = NULL;
    int fd = open(to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct dirent *entry;
    int r = !d || fd < 0 ? err_errno(e, errno, "cannot read '%s' or '%s'", image, to) : 0;

    if (r == 0)
        old = fdopendir(fd);
    while (old && (entry = readdir(old)))
        if (entry->d_type == DT_LNK)
            drop_stale(fd, dirfd(d), entry->d_name);
    while (r == 0 && (entry = readdir(d)))
        if (!streq(entry->d_name, ".") && !streq(entry->d_name, ".."))
            r = link_one(dirfd(d), fd, entry->d_name, e);
    if (d)
        (void)closedir(d);
    if (old)
        (void)closedir(old);
    else if (fd >= 0)
        (void)close(fd);
    return r;
}

int etc_links_follow(const char *image, const char *dir, struct err *e)
{
    AUTO(free) char *own = xasprintf("%s/" ETC_LINKS_OWN, dir);
    AUTO(free) char *made = xasprintf("%s/pid", dir); /* by the runtime, when it is done */

    return file_exists(own) && file_exists(made) ? update(image, own, e) : 0;
}
