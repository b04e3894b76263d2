/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole files.
 *
 * file_write is the only way that files with content of value come into being: a crash at any
 * instruction leaves the old file or the new one.  Readers have a cap, so that a file that grew
 * without bounds becomes an error and not an exhausted memory.
 */
#include "src/base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <libgen.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/buf.h"

int file_read(const char *path, size_t max_bytes, char **ret_text, size_t *ret_n, struct err *e)
{
    AUTO(buf_done) struct buf b = {.max = max_bytes + 1};
    AUTO(close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return err_errno(e, errno, "cannot open '%s'", path);
    do {
        size_t want = MIN(max_bytes + 1 - b.n, (size_t)65536);

        n = read(fd, buf_room(&b, want), want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(e, errno, "cannot read '%s'", path);
        buf_grew(&b, (size_t)n);
        if (b.n > max_bytes)
            return err_set(e, -EFBIG, ERR_PERMANENT, "'%s' is larger than %zu bytes", path,
                           max_bytes);
    } while (n != 0);
    if (ret_n)
        *ret_n = b.n;
    *ret_text = buf_take(&b);
    return 0;
}

int file_write_all(int fd, struct str content)
{
    while (content.n > 0) {
        ssize_t n = write(fd, content.p, content.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        content.p += n;
        content.n -= (size_t)n;
    }
    return 0;
}

static int sync_parent(const char *path, struct err *e)
{
    AUTO(free) char *copy = xstrdup(path);
    AUTO(close) int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || fsync(fd) < 0)
        return err_errno(e, errno, "cannot sync the directory of '%s'", path);
    return 0;
}

static int write_new(const char *path, int fd, struct str content, mode_t mode, struct err *e)
{
    int r = file_write_all(fd, content);

    if (r < 0)
        return err_errno(e, -r, "cannot write '%s'", path);
    if (fchmod(fd, mode) < 0 || fsync(fd) < 0)
        return err_errno(e, errno, "cannot write '%s'", path);
    return 0;
}

int file_write(const char *path, struct str content, mode_t mode, struct err *e)
{
    AUTO(free) char *tmp = xasprintf("%s.new-XXXXXX", path);
    AUTO(close) int fd = mkostemp(tmp, O_CLOEXEC);
    int r;

    if (fd < 0)
        return err_errno(e, errno, "cannot create a file beside '%s'", path);
    r = write_new(path, fd, content, mode, e);
    if (r == 0 && rename(tmp, path) < 0)
        r = err_errno(e, errno, "cannot put '%s' in place", path);
    if (r < 0) {
        (void)unlink(tmp);
        return r;
    }
    return sync_parent(path, e);
}

int file_update(const char *path, struct str content, mode_t mode, bool *ret_changed, struct err *e)
{
    AUTO(free) char *old = NULL;
    struct stat st;
    size_t n = 0;
    bool same = stat(path, &st) == 0 && (st.st_mode & 07777) == mode &&
                file_read(path, content.n, &old, &n, NULL) == 0 &&
                str_eq((struct str){old, n}, content);
    int r = same ? 0 : file_write(path, content, mode, e);

    if (r == 0 && ret_changed)
        *ret_changed = !same;
    return r;
}

static int copy_all(int from, int to)
{
    char block[65536];
    ssize_t n;

    while ((n = read(from, block, sizeof(block))) > 0) {
        int r = file_write_all(to, (struct str){block, (size_t)n});

        if (r < 0)
            return r;
    }
    if (n < 0 || fsync(to) < 0)
        return -errno;
    return 0;
}

int file_copy(const char *from, const char *to, mode_t mode, struct err *e)
{
    AUTO(close) int in = open(from, O_RDONLY | O_CLOEXEC);
    AUTO(close) int out = -1;
    int r;

    if (in < 0)
        return err_errno(e, errno, "cannot read '%s'", from);
    out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out < 0 || fchmod(out, mode) < 0)
        return err_errno(e, errno, "cannot write '%s'", to);
    r = copy_all(in, out);
    if (r < 0) {
        (void)unlink(to);
        return err_errno(e, -r, "cannot copy '%s' to '%s'", from, to);
    }
    return 0;
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

long file_dir_count(const char *path)
{
    DIR *dir = opendir(path);
    long n = -2; /* itself and the one above */

    if (!dir)
        return -1;
    while (readdir(dir))
        n++;
    (void)closedir(dir);
    return n;
}

/* With that very mode: the umask of whoever started us has no say.  Fails with EEXIST. */
static int make_dir(const char *path, mode_t mode)
{
    if (mkdir(path, 0700) < 0)
        return -1;
    return chmod(path, mode);
}

int file_make_dirs(const char *path, mode_t mode, struct err *e)
{
    AUTO(free) char *copy = xstrdup(path);
    struct stat st;

    for (char *at = copy + 1;; at++) {
        bool end = *at == '\0';

        if (!end && *at != '/')
            continue;
        *at = '\0';
        if (make_dir(copy, mode) < 0 && errno != EEXIST)
            return err_errno(e, errno, "cannot make the directory '%s'", copy);
        if (end)
            break;
        *at = '/';
    }
    if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
        return err_set(e, -ENOTDIR, ERR_PERMANENT, "'%s' is there and is not a directory", path);
    return 0;
}

static int check_ours(int fd, const char *path, mode_t type, struct err *e)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return err_errno(e, errno, "cannot look at '%s'", path);
    if ((st.st_mode & S_IFMT) != type)
        return err_set(e, -EPERM, ERR_PERMANENT, "'%s' is not what should be there; remove it",
                       path);
    if (st.st_uid != geteuid())
        return err_set(e, -EPERM, ERR_PERMANENT,
                       "'%s' belongs to user %u, not to user %u who runs this; remove it", path,
                       (unsigned)st.st_uid, (unsigned)geteuid());
    return 0;
}

int file_private_dir(const char *path, struct err *e)
{
    AUTO(close) int fd = -1;
    int r;

    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return err_errno(e, errno, "cannot make the directory '%s'", path);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
        return err_set(e, -EPERM, ERR_PERMANENT,
                       "'%s' should be a directory of our own, and is not; remove it", path);
    if (fd < 0)
        return err_errno(e, errno, "cannot open '%s'", path);
    r = check_ours(fd, path, S_IFDIR, e);
    if (r == 0 && fchmod(fd, 0700) < 0)
        r = err_errno(e, errno, "cannot close '%s' to others", path);
    return r;
}

int file_private_open(const char *path, int *ret_fd, struct err *e)
{
    AUTO(close) int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    int r;

    if (fd < 0)
        return err_errno(e, errno, "cannot open '%s'", path);
    r = check_ours(fd, path, S_IFREG, e);
    if (r < 0)
        return r;
    *ret_fd = TAKE_FD(fd);
    return 0;
}

static int remove_entry(const FTSENT *entry)
{
    switch (entry->fts_info) {
    case FTS_D:
        return 0;
    case FTS_DP:
        return rmdir(entry->fts_accpath) < 0 && errno != ENOENT ? -errno : 0;
    case FTS_DNR:
    case FTS_ERR:
        return entry->fts_errno == ENOENT ? 0 : -entry->fts_errno;
    default:
        return unlink(entry->fts_accpath) < 0 && errno != ENOENT ? -errno : 0;
    }
}

int file_remove_tree(const char *path, struct err *e)
{
    AUTO(free) char *copy = xstrdup(path);
    char *roots[] = {copy, NULL};
    FTSENT *entry;
    int first = 0;
    FTS *fts;

    if (!file_exists(path))
        return 0;
    fts = fts_open(roots, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
    if (!fts)
        return err_errno(e, errno, "cannot remove '%s'", path);
    while ((entry = fts_read(fts))) {
        int r = remove_entry(entry);

        if (r < 0 && first == 0)
            first = err_errno(e, -r, "cannot remove '%s'", entry->fts_path);
    }
    (void)fts_close(fts);
    return first;
}
