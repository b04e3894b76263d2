/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of declarations, on disk and in memory.
 *
 *   .slurmkeeper/pending   what is being applied; written and synced before the first live file
 *   .slurmkeeper/good      what slurmctld took last; pending renamed
 *   .slurmkeeper/history   hashes of the last sets that became good, one a line
 *
 * An apply is: pend, write the live files, tell slurmctld, commit.  Killed before pend, nothing has
 * happened.  Killed later, the next process finds `pending` and goes through it again from the
 * start; every step of an apply may be repeated.  A roll-back writes the files of `good` and drops
 * `pending` after that, so it is repeated as well.
 *
 * That holds whenever the agent is killed.  When the machine loses power, it holds as well, save
 * for what was written lazily (store_set_lazy): of that, records may be lost or damaged, which
 * count as none, and the live files may be the old ones.
 */
#include "src/agent/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/agent/crash.h"
#include "src/agent/store_impl.h"
#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/log.h"

#define RECORD_MAX_BYTES (FILESET_MAX_BYTES + ((size_t)4 << 20))

/* Remove what an interrupted write left: in the live directory such names begin with a dot. */
static void sweep(const char *dir, bool hidden)
{
    DIR *d = opendir(dir);
    struct dirent *entry;

    while (d && (entry = readdir(d)))
        if (ends_with(entry->d_name, ".new-0") && (!hidden || entry->d_name[0] == '.'))
            (void)unlinkat(dirfd(d), entry->d_name, 0);
    if (d)
        (void)closedir(d);
}

static void record_load(struct store *s, const char *name, struct record **ret)
{
    AUTO(free) char *path = xasprintf("%s/%s", s->dir, name);
    AUTO(free) char *bad = xasprintf("%s.bad", path);
    AUTO(free) char *text = NULL;
    struct err e = {0};
    size_t n = 0;

    if (!file_exists(path))
        return;
    if (file_read(path, RECORD_MAX_BYTES, &text, &n, &e) == 0 &&
        record_parse((struct str){text, n}, ret, &e) == 0)
        return;
    log_error("the record '%s' is set aside as '%s': %s", path, bad, e.text);
    (void)rename(path, bad);
}

void store_remember(struct store *s, const char *hash)
{
    if (store_knows(s, hash))
        return;
    if (s->n_history == STORE_HISTORY) {
        memmove(s->history[0], s->history[1], sizeof(s->history[0]) * (STORE_HISTORY - 1));
        s->n_history--;
    }
    memcpy(s->history[s->n_history++], hash, SHA256_HEX_LEN + 1);
}

bool store_knows(const struct store *s, const char *hash)
{
    for (size_t i = 0; i < s->n_history; i++)
        if (streq(s->history[i], hash))
            return true;
    return false;
}

static void history_load(struct store *s)
{
    AUTO(free) char *path = xasprintf("%s/history", s->dir);
    AUTO(free) char *text = NULL;
    struct str rest;
    struct str line;
    size_t n = 0;

    if (file_read(path, (size_t)64 << 10, &text, &n, NULL) < 0)
        return;
    rest = (struct str){text, n};
    while (str_split(&rest, '\n', &line)) {
        AUTO(free) char *hash = str_dup(line);

        if (line.n == SHA256_HEX_LEN)
            store_remember(s, hash);
    }
}

/* Losing it in a crash only makes the agent look once more at files that it knows: no sync. */
static void history_save(const struct store *s)
{
    AUTO(free) char *path = xasprintf("%s/history", s->dir);
    AUTO(free) char *tmp = xasprintf("%s.new-0", path);
    FILE *f = fopen(tmp, "we");

    if (!f)
        return;
    for (size_t i = 0; i < s->n_history; i++)
        (void)fprintf(f, "%s\n", s->history[i]);
    if (fclose(f) == 0)
        (void)rename(tmp, path);
}

int store_open(const char *live, struct store **ret, struct err *e)
{
    AUTO(store_free) struct store *s = xcalloc(1, sizeof(*s));
    int r = file_make_dirs(live, 0755, e);

    s->live = xstrdup(live);
    s->dir = xasprintf("%s/.slurmkeeper", live);
    if (r == 0)
        r = file_make_dirs(s->dir, 0700, e);
    if (r < 0)
        return r;
    if (chmod(s->dir, 0700) < 0)
        return err_errno(e, errno, "cannot close '%s' to others", s->dir);
    sweep(s->live, true);
    sweep(s->dir, false);
    record_load(s, "good", &s->good);
    record_load(s, "pending", &s->pending);
    history_load(s);
    if (s->good)
        store_remember(s, s->good->hash);
    if (s->pending)
        store_remember(s, s->pending->hash);
    *ret = TAKE(s);
    return 0;
}

struct store *store_free(struct store *s)
{
    if (!s)
        return NULL;
    free(s->live);
    free(s->dir);
    s->good = record_free(s->good);
    s->pending = record_free(s->pending);
    free(s);
    return NULL;
}

const char *store_live(const struct store *s)
{
    return s->live;
}

const char *store_dir(const struct store *s)
{
    return s->dir;
}

const struct record *store_good(const struct store *s)
{
    return s->good;
}

const struct record *store_pending(const struct store *s)
{
    return s->pending;
}

int store_pend(struct store *s, struct record *record, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/pending", s->dir);
    AUTO(free) char *tmp = xasprintf("%s.new-0", path);
    AUTO(buf_done) struct buf text = {0};
    int r;

    /* as of when it may be in the live files: noting it again does not change that */
    record->written_us = s->pending && streq(s->pending->hash, record->hash)
                             ? s->pending->written_us
                             : clock_wall_us();
    record_print(record, &text);
    /* synced before it is renamed, so that it is never half (one that was written lazily may be:
     * then it is not believed); the rename itself may be lost with the machine: then the live files
     * may be ahead of the record, and the next push settles it */
    r = store_write_new(tmp, buf_view(&text), 0600, !s->lazy, e);
    if (r < 0)
        return r;
    s->unsynced |= s->lazy;
    crash_point("pend: written");
    if (rename(tmp, path) < 0)
        return err_errno(e, errno, "cannot put '%s' in place", path);
    (void)record_free(s->pending);
    s->pending = record;
    store_remember(s, record->hash);
    crash_point("pend: renamed");
    return 0;
}

void store_set_lazy(struct store *s, bool lazy)
{
    s->lazy = lazy;
}

bool store_is_unsynced(const struct store *s)
{
    return s->unsynced;
}

static int sync_record(const struct store *s, const char *name, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/%s", s->dir, name);

    return store_sync_path(path, e);
}

int store_sync(struct store *s, struct err *e)
{
    int r = 0;

    if (!s->unsynced)
        return 0;
    if (s->good)
        r = sync_record(s, "good", e);
    if (r == 0 && s->pending)
        r = sync_record(s, "pending", e);
    if (r == 0)
        r = store_sync_path(s->dir, e);
    if (r == 0)
        r = store_sync_path(s->live, e);
    s->unsynced = r < 0;
    return r;
}

int store_commit(struct store *s, struct err *e)
{
    AUTO(free) char *from = xasprintf("%s/pending", s->dir);
    AUTO(free) char *to = xasprintf("%s/good", s->dir);

    if (!s->pending)
        return err_set(e, -ENOENT, ERR_PERMANENT, "nothing is pending");
    crash_point("commit: before");
    if (rename(from, to) < 0)
        return err_errno(e, errno, "cannot rename '%s'", from);
    crash_point("commit: renamed");
    (void)record_free(s->good);
    s->good = TAKE(s->pending);
    history_save(s);
    return 0;
}

int store_drop(struct store *s, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/pending", s->dir);

    if (unlink(path) < 0 && errno != ENOENT)
        return err_errno(e, errno, "cannot remove '%s'", path);
    s->pending = record_free(s->pending);
    history_save(s);
    crash_point("drop: removed");
    return 0;
}
