/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing the live files.
 *
 * slurmctld may read them at any moment, also while it starts after a crash of its own: each file
 * is the old or the new one, never a part.  Several files change one after the other, slurm.conf
 * last, so that what it refers to is there before it.  Files go after that.
 *
 * Only what differs is written: one edited partition costs one synced file and one synced
 * directory.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/agent/crash.h"
#include "src/agent/store_impl.h"
#include "src/base/alloc.h"
#include "src/base/file.h"

int store_write_new(const char *path, struct str content, mode_t mode, bool sync, struct err *e)
{
    AUTO(close) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    int r;

    if (fd < 0)
        return err_errno(e, errno, "cannot create '%s'", path);
    r = file_write_all(fd, content);
    if (r == 0 && (fchmod(fd, mode) < 0 || (sync && fsync(fd) < 0)))
        r = -errno;
    if (r < 0) {
        (void)unlink(path);
        return err_errno(e, -r, "cannot write '%s'", path);
    }
    return 0;
}

static bool is_there(const char *path, const struct fileset_file *f)
{
    AUTO(free) char *text = NULL;
    struct stat st;
    size_t n = 0;

    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 07777) == f->mode &&
           (size_t)st.st_size == f->n && file_read(path, f->n, &text, &n, NULL) == 0 && n == f->n &&
           memcmp(text, f->text, n) == 0;
}

/* Keys belong to whom the Secret's volume gave them; only root can arrange that. */
static void own(const char *path, const struct fileset_file *f)
{
    if (f->uid != (uid_t)-1 && geteuid() == 0)
        (void)!lchown(path, f->uid, f->gid);
}

static int write_one(const struct store *s, const struct fileset_file *f, size_t *changed,
                     struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/%s", s->live, f->name);
    AUTO(free) char *tmp = xasprintf("%s/.%s.new-0", s->live, f->name);
    int r;

    if (is_there(path, f))
        return 0;
    r = store_write_new(tmp, (struct str){f->text, f->n}, f->mode, true, e);
    if (r < 0)
        return r;
    if (fileset_is_key(f->name))
        own(tmp, f);
    crash_point("live: written");
    if (rename(tmp, path) < 0) {
        r = err_errno(e, errno, "cannot put '%s' in place", path);
        (void)unlink(tmp);
        return r;
    }
    (*changed)++;
    crash_point("live: renamed");
    return 0;
}

static void remove_gone(const struct store *s, const struct record *r, const struct fileset *files,
                        size_t *changed)
{
    for (size_t i = 0; r && i < r->files.n; i++) {
        const char *name = r->files.files[i].name;
        AUTO(free) char *path = xasprintf("%s/%s", s->live, name);

        if (fileset_get(files, name) || unlink(path) < 0)
            continue;
        (*changed)++;
        crash_point("live: removed");
    }
}

int store_sync_path(const char *path, struct err *e)
{
    AUTO(close) int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fsync(fd) < 0)
        return err_errno(e, errno, "cannot sync '%s'", path);
    return 0;
}

static int write_all(const struct store *s, const struct fileset *files, size_t *changed,
                     struct err *e)
{
    const struct fileset_file *last = fileset_get(files, "slurm.conf");
    int r = 0;

    for (size_t i = 0; r == 0 && i < files->n; i++)
        if (&files->files[i] != last)
            r = write_one(s, &files->files[i], changed, e);
    if (r == 0 && last)
        r = write_one(s, last, changed, e);
    return r;
}

int store_write(struct store *s, const struct fileset *files, size_t *ret_changed, struct err *e)
{
    size_t changed = 0;
    int r = write_all(s, files, &changed, e);

    if (r < 0)
        return r;
    remove_gone(s, s->good, files, &changed);
    remove_gone(s, s->pending, files, &changed);
    if (changed > 0 && s->lazy)
        s->unsynced = true;
    else if (changed > 0)
        r = store_sync_path(s->live, e);
    if (r == 0)
        *ret_changed = changed;
    return r;
}

int store_write_keys(struct store *s, const struct fileset *keys, size_t *ret_changed,
                     struct err *e)
{
    size_t changed = 0;
    int r = write_all(s, keys, &changed, e);

    if (r == 0 && changed > 0)
        r = store_sync_path(s->live, e);
    if (r == 0)
        *ret_changed = changed;
    return r;
}
