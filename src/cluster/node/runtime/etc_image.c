/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /etc for containers.
 *
 * One rule decides: what not every user of the machine may read, no container sees; not even root
 * in one, for who is root there may be anybody.  So password hashes, host keys, sudo's rules and
 * the keys of services stay outside, whatever they are called.  Directories that others may not
 * enter are there, empty, with their owner and mode: programs insist on them.  Beyond the rule,
 * what belongs to another cluster is left out: configuration of Slurm, munge and Kubernetes.
 *
 * Programs that ask whether an account is valid (su, sshd) want a shadow file: they get one that
 * has every user and no password.
 *
 * It is a copy and not a view of /etc: a secret that comes to the machine later, or a file whose
 * mode changes, never shines through into a container that runs already.
 */
#include "src/cluster/node/runtime/etc_image.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/file.h"
#include "src/cluster/node/record.h"

#define MAX_FILE ((size_t)4 << 20)
#define MAX_DEPTH 12

/* What the copy of an entry is. */
enum kind { ABSENT, COPY, HOLLOW, ENTER, LINK };

/* Of another cluster: only its directories are there. */
static bool is_foreign(const char *name)
{
    static const char *const names[] = {"munge", "kubernetes", "rancher", "cni"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (streq(name, names[i]))
            return true;
    return starts_with(name, "slurm");
}

static bool is_shadow(const char *name)
{
    return starts_with(name, "shadow") || starts_with(name, "gshadow");
}

static enum kind kind_of(const char *name, const struct stat *st, int depth)
{
    bool top = depth == 0;

    if (S_ISDIR(st->st_mode)) {
        if (depth >= MAX_DEPTH)
            return ABSENT;
        return (top && is_foreign(name)) || !(st->st_mode & S_IXOTH) ? HOLLOW : ENTER;
    }
    if (top && (is_foreign(name) || is_shadow(name)))
        return ABSENT;
    if (S_ISLNK(st->st_mode))
        return LINK;
    if (!S_ISREG(st->st_mode) || !(st->st_mode & S_IROTH) || (size_t)st->st_size > MAX_FILE)
        return ABSENT;
    return COPY;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mode == b->st_mode && a->st_uid == b->st_uid &&
           a->st_gid == b->st_gid && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The owner and time of the original; a file that goes meanwhile is no failure of ours. */
static int like(const char *to, const struct stat *st, struct err *e)
{
    const struct timespec times[2] = {st->st_mtim, st->st_mtim};

    if (lchown(to, st->st_uid, st->st_gid) < 0 || chmod(to, st->st_mode & 07777) < 0 ||
        utimensat(AT_FDCWD, to, times, 0) < 0)
        return err_errno(e, errno, "cannot set the owner and mode of '%s'", to);
    return 0;
}

static int copy(const char *from, const char *to, const struct stat *st, struct err *e)
{
    AUTO(free) char *text = NULL;
    struct stat old;
    size_t n;
    int r;

    if (lstat(to, &old) == 0) {
        if (is_same(&old, st))
            return 0;
        if (!S_ISREG(old.st_mode)) {
            r = file_remove_tree(to, e);
            if (r < 0)
                return r;
        }
    }
    if (file_read(from, MAX_FILE, &text, &n, NULL) < 0)
        return 0;
    r = record_write(to, (struct str){text, n}, 0600, e);
    return r < 0 ? r : like(to, st, e);
}

static int copy_link(const char *from, const char *to, struct err *e)
{
    char now[1024], old[1024];
    ssize_t n = readlink(from, now, sizeof(now) - 1);
    ssize_t k = readlink(to, old, sizeof(old) - 1);

    if (n < 0 || (n == k && memcmp(now, old, (size_t)n) == 0))
        return 0;
    now[n] = '\0';
    if (file_remove_tree(to, e) < 0 || (unlink(to) < 0 && errno != ENOENT))
        return err_errno(e, errno, "cannot remove '%s'", to);
    return symlink(now, to) < 0 ? err_errno(e, errno, "cannot make the link '%s'", to) : 0;
}

static int make_dir(const char *to, const struct stat *st, struct err *e)
{
    struct stat old;

    if (lstat(to, &old) == 0 && !S_ISDIR(old.st_mode) && unlink(to) < 0)
        return err_errno(e, errno, "cannot remove '%s'", to);
    if (mkdir(to, 0700) < 0 && errno != EEXIST)
        return err_errno(e, errno, "cannot make the directory '%s'", to);
    return like(to, st, e);
}

/* Whatever is below `to` that the rule does not let in from `from` (any more). */
static int sweep(const char *from, const char *to, int depth, bool hollow, struct err *e)
{
    DIR *d = opendir(to);
    struct dirent *entry;
    int r = 0;

    while (d && r == 0 && (entry = readdir(d))) {
        AUTO(free) char *source = xasprintf("%s/%s", from, entry->d_name);
        AUTO(free) char *target = xasprintf("%s/%s", to, entry->d_name);
        struct stat st;

        if (streq(entry->d_name, ".") || streq(entry->d_name, "..") ||
            (depth == 0 && streq(entry->d_name, "shadow")))
            continue;
        if (hollow || lstat(source, &st) < 0 || kind_of(entry->d_name, &st, depth) == ABSENT) {
            r = file_remove_tree(target, e);
            (void)unlink(target); /* a link that leads nowhere */
        }
    }
    if (d)
        (void)closedir(d);
    return r;
}

static int sync_dir(const char *from, const char *to, int depth, struct err *e);

static int sync_one(const char *dir, const char *to_dir, const char *name, int depth, struct err *e)
{
    AUTO(free) char *from = xasprintf("%s/%s", dir, name);
    AUTO(free) char *to = xasprintf("%s/%s", to_dir, name);
    struct stat st;
    enum kind kind;
    int r = 0;

    if (lstat(from, &st) < 0)
        return 0;
    kind = kind_of(name, &st, depth);
    if (kind == COPY)
        r = copy(from, to, &st, e);
    else if (kind == LINK)
        r = copy_link(from, to, e);
    else if (kind != ABSENT)
        r = make_dir(to, &st, e);
    if (r == 0 && kind == ENTER)
        r = sync_dir(from, to, depth + 1, e);
    if (r == 0 && kind == HOLLOW)
        r = sweep(from, to, depth + 1, true, e);
    return r;
}

static int sync_dir(const char *from, const char *to, int depth, struct err *e)
{
    DIR *d = opendir(from);
    struct dirent *entry;
    int r = 0;

    while (d && r == 0 && (entry = readdir(d)))
        if (!streq(entry->d_name, ".") && !streq(entry->d_name, ".."))
            r = sync_one(from, to, entry->d_name, depth, e);
    if (d)
        (void)closedir(d);
    return r < 0 ? r : sweep(from, to, depth, false, e);
}

/* "name:*:::::::" for each user: valid, and without a password that could be right. */
static int write_shadow(const char *to, struct err *e)
{
    AUTO(free) char *passwd = xasprintf("%s/passwd", to);
    AUTO(free) char *shadow = xasprintf("%s/shadow", to);
    AUTO(free) char *text = NULL;
    AUTO(buf_done) struct buf b = {0};
    const struct group *group = getgrnam("shadow");
    struct str rest, line, name;
    size_t n = 0;
    bool changed = false;
    int r;

    if (file_read(passwd, MAX_FILE, &text, &n, NULL) < 0)
        return 0;
    rest = (struct str){text, n};
    while (str_split(&rest, '\n', &line))
        if (str_split(&line, ':', &name) && name.n && line.n)
            buf_printf(&b, STR_FMT ":*:::::::\n", STR_ARG(name));
    r = file_update(shadow, buf_view(&b), 0640, &changed, e);
    if (r == 0 && changed && group && chown(shadow, 0, group->gr_gid) < 0)
        r = err_errno(e, errno, "cannot set the owner of '%s'", shadow);
    return r;
}

int etc_image_sync(const char *from, const char *to, struct err *e)
{
    int r = file_make_dirs(to, 0755, e);

    if (r == 0)
        r = sync_dir(from, to, 0, e);
    return r < 0 ? r : write_shadow(to, e);
}

/* As one below the top: names have no meaning of their own there. */
int etc_image_copy(const char *from, const char *to, struct err *e)
{
    AUTO(free) char *dir = xstrdup(from);
    AUTO(free) char *to_dir = xstrdup(to);
    const char *name = strrchr(from, '/') + 1;

    *strrchr(dir, '/') = '\0';
    *strrchr(to_dir, '/') = '\0';
    return sync_one(dir, to_dir, name, 1, e);
}
