/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directories that a container's root begins with.
 *
 * Packages make directories in /var, with owners and modes that their programs insist on; so /var
 * has the machine's directories down to /var/lib/NAME, and those below that belong to a user of
 * their own.  Files are never copied: what the machine's services have in /var is theirs.
 */
#include "src/cluster/node/runtime/skeleton.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"

#define MAX_DIRS 4096

struct entry {
    char *path; /* relative */
    mode_t mode;
    uid_t uid;
    gid_t gid;
    char *link; /* where it leads, if it is a link */
};

struct skeleton {
    struct entry *items;
    size_t n;
    size_t cap;
};

static void add(struct skeleton *s, const char *path, const struct stat *st, const char *link)
{
    if (s->n == MAX_DIRS)
        return;
    array_reserve(&s->items, &s->cap, s->n + 1, sizeof(*s->items));
    s->items[s->n++] = (struct entry){xstrdup(path), st->st_mode & 07777, st->st_uid, st->st_gid,
                                      xstrdup_null(link)};
}

static void add_plain(struct skeleton *s, const char *path, mode_t mode)
{
    struct stat st = {.st_mode = mode};

    add(s, path, &st, NULL);
}

static void add_link(struct skeleton *s, const char *path, const struct stat *st)
{
    AUTO(free) char *full = xasprintf("/%s", path);
    char to[256];
    ssize_t n = readlink(full, to, sizeof(to) - 1);

    if (n > 0) {
        to[n] = '\0';
        add(s, path, st, to);
    }
}

/* The directories below /PATH; deeper than `levels` only those of other users than root. */
static void scan(struct skeleton *s, const char *path, int levels, const char *except)
{
    AUTO(free) char *dir = xasprintf("/%s", path);
    DIR *d = opendir(dir);
    struct dirent *e;

    while (d && (e = readdir(d))) {
        AUTO(free) char *sub = xasprintf("%s/%s", path, e->d_name);
        AUTO(free) char *full = xasprintf("/%s", sub);
        struct stat st;

        if (e->d_name[0] == '.' || streq(full, except) || lstat(full, &st) < 0)
            continue;
        if (S_ISLNK(st.st_mode) && levels > 1)
            add_link(s, sub, &st);
        if (!S_ISDIR(st.st_mode) || (levels <= 0 && st.st_uid == 0))
            continue;
        add(s, sub, &st, NULL);
        if (levels > -1)
            scan(s, sub, levels - 1, except);
    }
    if (d)
        (void)closedir(d);
}

struct skeleton *skeleton_of_machine(const char *except)
{
    static const char *const plain[] = {"proc",  "sys", "dev",  "run", "mnt",
                                        "media", "srv", "home", "var"};
    struct skeleton *s = xcalloc(1, sizeof(*s));

    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        add_plain(s, plain[i], 0755);
    add_plain(s, "tmp", 01777);
    add_plain(s, "root", 0700);
    scan(s, "var", 2, except);
    scan(s, "home", 1, except);
    return s;
}

struct skeleton *skeleton_free(struct skeleton *s)
{
    for (size_t i = 0; s && i < s->n; i++) {
        free(s->items[i].path);
        free(s->items[i].link);
    }
    if (s)
        free(s->items);
    free(s);
    return NULL;
}

static int make_one(int root, const struct entry *x, struct err *e)
{
    if (x->link) {
        if (symlinkat(x->link, root, x->path) < 0 && errno != EEXIST)
            return err_errno(e, errno, "cannot make the link '%s'", x->path);
        return 0;
    }
    if (mkdirat(root, x->path, 0700) < 0 && errno != EEXIST)
        return err_errno(e, errno, "cannot make the directory '%s'", x->path);
    if (fchownat(root, x->path, x->uid, x->gid, AT_SYMLINK_NOFOLLOW) < 0 ||
        fchmodat(root, x->path, x->mode, 0) < 0)
        return err_errno(e, errno, "cannot set the owner and mode of '%s'", x->path);
    return 0;
}

int skeleton_make(const struct skeleton *s, const char *root, struct err *e)
{
    AUTO(close) int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return err_errno(e, errno, "cannot open '%s'", root);
    for (size_t i = 0; i < s->n; i++) {
        int r = make_one(fd, &s->items[i], e);

        if (r < 0)
            return err_wrap(e, r, "root file system in '%s'", root);
    }
    return 0;
}
