/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Databases in a backup.
 *
 * The start script of a database (images/entrypoint/mariadb) looks into its claim every second: a
 * file `dump-wanted` there makes it write dump.sql, of one moment, while everything goes on.  It
 * takes the name dump-making at once, and the file goes when the dump is whole.  Whoever restores
 * the claim, without the data beside the dump, gets a database that is made from it at its start.
 *
 * A claim belongs to its pod: names in it are not followed.  A request that nobody takes says that
 * no server runs: its files are at rest, and are copied.
 */
#include "src/cli/backup_databases.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"

#define TAKEN_MS 15000
#define MADE_MS 1800000
#define WANTED "dump-wanted"
#define MAKING "dump-making"
#define DUMP "dump.sql"

static bool is_there(int dir, const char *name)
{
    struct stat st;

    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Until the name is gone; false: it is still there. */
static bool wait_gone(int dir, const char *name, int64_t ms)
{
    struct timespec t = {0, 50000000};
    int64_t until_ms = clock_mono_ms() + ms;

    while (is_there(dir, name)) {
        if (clock_mono_ms() > until_ms)
            return false;
        (void)nanosleep(&t, NULL);
    }
    return true;
}

static int take(int dir, const char *claim, bool *ret_dumped, struct err *e)
{
    AUTO(close) int fd = -1;
    struct stat st = {0};
    time_t before = time(NULL);

    *ret_dumped = false;
    (void)unlinkat(dir, WANTED, 0);
    fd = openat(dir, WANTED, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return err_errno(e, errno, "cannot ask the database of claim %s for a dump", claim);
    if (!wait_gone(dir, WANTED, TAKEN_MS)) {
        (void)unlinkat(dir, WANTED, 0);
        return 0;
    }
    if (!wait_gone(dir, MAKING, MADE_MS))
        return err_set(e, -ETIMEDOUT, ERR_RETRY,
                       "the dump of the database of claim %s takes more "
                       "than half an hour",
                       claim);
    if (fstatat(dir, DUMP, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
        st.st_mtime + 2 < before)
        return err_set(e, -EIO, ERR_RETRY,
                       "the database of claim %s could not write its dump; its pod's log says why",
                       claim);
    *ret_dumped = true;
    return 0;
}

static int add(struct arena *a, int claims, const char *name, struct backup_databases *ret,
               struct buf *told, struct err *e)
{
    AUTO(close) int dir = openat(claims, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const char **longer;
    bool dumped;
    int r;

    if (dir < 0 || !is_there(dir, "data/ibdata1"))
        return 0;
    r = take(dir, name, &dumped, e);
    if (r < 0)
        return r;
    if (!dumped) {
        buf_printf(told,
                   "the database in claim %s does not run: its files are copied as they are\n",
                   name);
        return 0;
    }
    longer = arena_calloc(a, ret->n + 1, sizeof(*longer));
    if (ret->n)
        memcpy(longer, ret->left_out, ret->n * sizeof(*longer));
    longer[ret->n++] = arena_printf(a, "%s/data", name);
    ret->left_out = longer;
    return 0;
}

int backup_databases(struct arena *a, const char *claims, struct backup_databases *ret,
                     struct buf *told, struct err *e)
{
    DIR *list = opendir(claims);
    struct dirent *d;
    int r = 0;

    *ret = (struct backup_databases){0};
    while (list && r == 0 && (d = readdir(list)))
        if (d->d_name[0] != '.')
            r = add(a, dirfd(list), d->d_name, ret, told, e);
    if (list)
        (void)closedir(list);
    return r;
}
