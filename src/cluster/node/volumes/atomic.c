/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of a volume that change all at once.
 *
 *   volume/slurm.conf -> ..data/slurm.conf
 *   volume/..data     -> ..2026_01_09_10_00_00.123456789
 *   volume/..2026_01_09_10_00_00.123456789/slurm.conf
 *
 * A new set is written into a directory of its own; then one rename turns ..data over to it, so
 * that a reader sees the old set or the new one, and never a mix.  Programs that wait for changes
 * watch ..data, which is why the names are a kubelet's.
 */
#include "src/cluster/node/volumes/atomic.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/clock.h"
#include "src/base/encode.h"
#include "src/base/file.h"

#define MAX_LINK 256

static bool same_file(int data_fd, const struct payload_file *f)
{
    AUTO(close) int fd = openat(data_fd, f->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    AUTO(buf_done) struct buf b = {0};
    struct stat st;
    char *room;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (size_t)st.st_size != f->data.n)
        return false;
    if ((st.st_mode & 0333) != (f->mode & 0333)) /* a group may have gained the right to read */
        return false;
    room = buf_room(&b, f->data.n + 1);
    return room && read(fd, room, f->data.n + 1) == (ssize_t)f->data.n &&
           memcmp(room, f->data.p, f->data.n) == 0;
}

static size_t count_files(int dir_fd)
{
    int copy = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    struct dirent *entry;
    size_t n = 0;

    if (!d)
        return 0;
    while ((entry = readdir(d))) {
        struct stat st;

        if (streq(entry->d_name, ".") || streq(entry->d_name, "..") ||
            fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (S_ISDIR(st.st_mode)) {
            AUTO(close) int sub = openat(dir_fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

            n += sub >= 0 ? count_files(sub) : 0;
        } else {
            n++;
        }
    }
    (void)closedir(d);
    return n;
}

static bool is_current(int dir_fd, const struct payload *p)
{
    AUTO(close) int data = openat(dir_fd, "..data", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (data < 0 || count_files(data) != p->n)
        return false;
    for (size_t i = 0; i < p->n; i++)
        if (!same_file(data, &p->files[i]))
            return false;
    return true;
}

static void set_name(char name[64])
{
    char time[CLOCK_RFC3339_LEN];
    uint32_t random;

    encode_random(&random, sizeof(random));
    clock_rfc3339(clock_wall_us(), time);
    for (char *c = time; *c; c++)
        if (*c == '-' || *c == ':' || *c == 'T')
            *c = '_';
    (void)snprintf(name, 64, "..%.19s.%09u", time, random % 1000000000U);
}

/* Everybody may pass, whatever our umask is: the files have modes of their own. */
static int make_dir(int dir_fd, const char *path)
{
    if (mkdirat(dir_fd, path, 0700) < 0)
        return -1;
    return fchmodat(dir_fd, path, 0755, 0);
}

/* The directories on the way to a file. */
static int make_parents(int dir_fd, const char *path, struct err *e)
{
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        AUTO(free) char *part = str_dup((struct str){path, (size_t)(slash - path)});

        if (make_dir(dir_fd, part) < 0 && errno != EEXIST)
            return err_errno(e, errno, "cannot make the directory '%s'", part);
    }
    return 0;
}

static int write_one(int dir_fd, const struct payload_file *f, int64_t group, struct err *e)
{
    AUTO(close) int fd = -1;
    mode_t mode = f->mode;
    int r = make_parents(dir_fd, f->path, e);

    if (r < 0)
        return r;
    fd = openat(dir_fd, f->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(e, errno, "cannot make the file '%s'", f->path);
    r = file_write_all(fd, f->data);
    if (r < 0)
        return err_errno(e, -r, "cannot write the file '%s'", f->path);
    if (group >= 0) {
        if (fchown(fd, (uid_t)-1, (gid_t)group) < 0)
            return err_errno(e, errno, "cannot give '%s' to group %lld", f->path, (long long)group);
        mode |= 0440;
    }
    if (fchmod(fd, mode) < 0)
        return err_errno(e, errno, "cannot set the mode of '%s'", f->path);
    return 0;
}

static int write_set(int set_fd, const struct payload *p, int64_t group, struct err *e)
{
    for (size_t i = 0; i < p->n; i++) {
        int r = write_one(set_fd, &p->files[i], group, e);

        if (r < 0)
            return r;
    }
    return 0;
}

/* A link for each first component of a path; returns its length. */
static size_t first_part(const char *path)
{
    return str_find(str_of(path), '/');
}

static int link_names(int dir_fd, const struct payload *p, struct err *e)
{
    for (size_t i = 0; i < p->n; i++) {
        size_t n = first_part(p->files[i].path);
        AUTO(buf_done) struct buf to = {0};
        AUTO(free) char *name = str_dup((struct str){p->files[i].path, n});
        char now[MAX_LINK];
        ssize_t got;

        buf_printf(&to, "..data/%s", name);
        got = readlinkat(dir_fd, name, now, sizeof(now));
        if (got >= 0 && str_eq((struct str){now, (size_t)got}, buf_view(&to)))
            continue;
        if (symlinkat(buf_str(&to), dir_fd, name) < 0 && errno != EEXIST)
            return err_errno(e, errno, "cannot make the link '%s'", name);
    }
    return 0;
}

static bool has_first_part(const struct payload *p, const char *name)
{
    for (size_t i = 0; i < p->n; i++)
        if (str_eqz((struct str){p->files[i].path, first_part(p->files[i].path)}, name))
            return true;
    return false;
}

/* Links of files that are no more, and sets that are no longer in use. */
static void clean(const char *dir, int dir_fd, const struct payload *p, const char *set)
{
    int copy = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    struct dirent *entry;

    if (!d)
        return;
    while ((entry = readdir(d))) {
        AUTO(buf_done) struct buf path = {0};
        const char *name = entry->d_name;

        if (streq(name, ".") || streq(name, "..") || streq(name, "..data") || streq(name, set))
            continue;
        buf_printf(&path, "%s/%s", dir, name);
        if (entry->d_type == DT_LNK && !has_first_part(p, name))
            (void)unlinkat(dir_fd, name, 0);
        else if (starts_with(name, ".."))
            (void)!file_remove_tree(buf_str(&path), NULL);
    }
    (void)closedir(d);
}

int atomic_write(const char *dir, const struct payload *p, int64_t group, bool *ret_changed,
                 struct err *e)
{
    AUTO(close) int dir_fd = -1;
    AUTO(close) int set_fd = -1;
    char set[64];
    int r = file_make_dirs(dir, 0755, e);

    if (r < 0)
        return r;
    dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0)
        return err_errno(e, errno, "cannot open '%s'", dir);
    *ret_changed = !is_current(dir_fd, p);
    if (!*ret_changed)
        return 0;
    set_name(set);
    if (make_dir(dir_fd, set) < 0)
        return err_errno(e, errno, "cannot make a directory in '%s'", dir);
    set_fd = openat(dir_fd, set, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (set_fd < 0)
        return err_errno(e, errno, "cannot open a directory in '%s'", dir);
    r = write_set(set_fd, p, group, e);
    if (r < 0)
        return r;
    (void)unlinkat(dir_fd, "..data_tmp", 0);
    if (symlinkat(set, dir_fd, "..data_tmp") < 0 ||
        renameat(dir_fd, "..data_tmp", dir_fd, "..data") < 0)
        return err_errno(e, errno, "cannot turn '%s' over to its new content", dir);
    r = link_names(dir_fd, p, e);
    if (r == 0)
        clean(dir, dir_fd, p, set);
    return r;
}
