/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store: committing, and what all of its files use.
 *
 * A commit is one transaction of SQLite in WAL mode with synchronous=FULL: when it returns it is on
 * disk.  Then the mark is moved (mark.c), and then the events go out.  Every data column has a
 * CRC-32 beside it that is held against it at each read, since SQLite itself does not notice
 * flipped bits inside a row.
 */
#include "src/cluster/apiserver/store.h"

#include <zlib.h>

#include "src/base/alloc.h"
#include "src/base/hash.h"
#include "src/base/log.h"
#include "src/cluster/apiserver/seal.h"
#include "src/cluster/apiserver/store_private.h"

int64_t store_sum(struct str data)
{
    return (int64_t)crc32_z(0, (const unsigned char *)data.p, data.n);
}

int store_fail(struct store *s, struct err *e, const char *doing)
{
    int code = sqlite3_errcode(s->db);

    switch (code & 0xFF) {
    case SQLITE_FULL:
        return err_set(e, -ENOSPC, ERR_RETRY,
                       "%s: the disk of the state directory is full; free some room", doing);
    case SQLITE_IOERR:
        return err_set(e, -EIO, ERR_RETRY, "%s: the disk of the state directory failed: %s", doing,
                       sqlite3_errmsg(s->db));
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
        return err_set(e, -EROFS, ERR_RETRY,
                       "%s: the state directory cannot be written (%s): is its file system "
                       "mounted read-only? Pods run on",
                       doing, sqlite3_errmsg(s->db));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return err_set(e, -EBADMSG, ERR_PERMANENT,
                       "%s: the database is corrupt (%s): bring a backup back with 'slurmkeeper "
                       "restore FILE'",
                       doing, sqlite3_errmsg(s->db));
    default:
        return err_set(e, -EIO, ERR_RETRY, "%s: %s", doing, sqlite3_errmsg(s->db));
    }
}

sqlite3_stmt *store_statement(struct store *s, enum store_statement which)
{
    sqlite3_stmt *q = s->statements[which];

    (void)sqlite3_reset(q);
    (void)sqlite3_clear_bindings(q);
    return q;
}

void store_bind_text(sqlite3_stmt *q, int at, const char *text)
{
    (void)sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC);
}

struct str store_column(sqlite3_stmt *q, int at)
{
    const char *p = sqlite3_column_blob(q, at);

    return (struct str){p ? p : "", (size_t)sqlite3_column_bytes(q, at)};
}

int store_run(struct store *s, sqlite3_stmt *q, const char *doing, struct err *e)
{
    int r = sqlite3_step(q) == SQLITE_DONE ? 0 : store_fail(s, e, doing);

    (void)sqlite3_reset(q);
    return r;
}

int store_check_row(sqlite3_stmt *q, int data_at, int sum_at, struct err *e)
{
    if (store_sum(store_column(q, data_at)) == sqlite3_column_int64(q, sum_at))
        return 0;
    return err_set(e, -EBADMSG, ERR_PERMANENT,
                   "the database is corrupt: a stored object does not match its checksum; bring a "
                   "backup back with 'slurmkeeper restore FILE'");
}

int store_exec(struct store *s, const char *sql, const char *doing, struct err *e)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : store_fail(s, e, doing);
}

int64_t store_chain(int64_t chain, const struct store_key *k, int64_t rv, int64_t sum)
{
    int64_t numbers[] = {chain, rv, sum};
    uint64_t h = hash_stable64((struct str){(const char *)numbers, sizeof(numbers)});

    return (int64_t)(h ^ hash_stable64(str_of(k->resource)) * 3 ^ hash_stable64(str_of(k->ns)) * 5 ^
                     hash_stable64(str_of(k->name)) * 7);
}

static void drop_pending(struct store *s)
{
    LIST_FOR_EACH (ev, &s->pending, struct store_event, link) {
        list_remove(&ev->link);
        free(ev);
    }
}

struct store *store_free(struct store *s)
{
    if (!s)
        return NULL;
    drop_pending(s);
    for (size_t i = 0; i < SQL_N; i++)
        (void)sqlite3_finalize(s->statements[i]);
    (void)sqlite3_close(s->db);
    (void)mark_free(s->mark);
    (void)mark_free(s->witness);
    (void)keyring_free(s->keys);
    store_files_done(s);
    free(s->note);
    free(s->key_path);
    free(s);
    return NULL;
}

void store_on_commit(struct store *s, store_event_fn fn, void *arg)
{
    s->on_commit = fn;
    s->on_commit_arg = arg;
}

int64_t store_version(const struct store *s)
{
    return s->version;
}

const char *store_id(const struct store *s)
{
    return s->at.id;
}

int64_t store_epoch(const struct store *s)
{
    return s->epoch;
}

const char *store_note(const struct store *s)
{
    return s->note;
}

int64_t store_committed(const struct store *s)
{
    return s->at.version;
}

int64_t store_next_version(const struct store *s)
{
    return s->version + 1;
}

int64_t store_compacted(const struct store *s)
{
    return s->compacted;
}

void store_each_pending(const struct store *s, const char *resource, store_row_fn fn, void *arg)
{
    LIST_FOR_EACH (ev, &s->pending, struct store_event, link)
        if (ev->change != STORE_DELETED && streq(ev->row.key.resource, resource) &&
            !fn(arg, &ev->row))
            return;
}

bool store_dirty(const struct store *s)
{
    return s->open_transaction;
}

static int set_meta(struct store *s, const char *key, int64_t value, struct err *e)
{
    sqlite3_stmt *q = store_statement(s, SQL_SET_META);

    store_bind_text(q, 1, key);
    (void)sqlite3_bind_int64(q, 2, value);
    return store_run(s, q, "writing the version", e);
}

/*
 * The newest version is that of the newest log entry, so most commits need not touch the meta page;
 * only a compaction may remove that entry (of a deletion), and then all numbers are written.
 */
static int save_versions(struct store *s, struct err *e)
{
    int r;

    if (s->compacted == s->compacted_committed)
        return 0;
    r = set_meta(s, "version", s->version, e);
    if (r == 0)
        r = set_meta(s, "chain", s->chain, e);
    return r < 0 ? r : set_meta(s, "compacted", s->compacted, e);
}

static void undo(struct store *s)
{
    for (size_t i = 0; i < SQL_N; i++)
        (void)sqlite3_reset(s->statements[i]);
    if (!sqlite3_get_autocommit(s->db))
        (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    s->open_transaction = false;
    s->version = s->at.version;
    s->chain = s->at.chain;
    s->compacted = s->compacted_committed;
    drop_pending(s);
}

/* The commit is durable already: a mark that stays behind only finds less. */
static void move_mark(struct store *s)
{
    struct err e = {0};

    s->at.version = s->version;
    s->at.chain = s->chain;
    if (s->mark && mark_set(s->mark, &s->at, &e) < 0)
        log_warn("the mark of the last acknowledged write stays behind: %s", e.text);
    if (s->witness)
        (void)!mark_set(s->witness, &s->at, NULL);
}

int store_commit(struct store *s, struct err *e)
{
    int r;

    if (!s->open_transaction)
        return 0;
    /* SQLite ends a transaction by itself on some failures (a full disk): then it is lost. */
    if (sqlite3_get_autocommit(s->db))
        r = err_set(e, -EIO, ERR_RETRY, "the transaction was undone by an earlier failure");
    else
        r = store_files_check(s, e);
    if (r == 0)
        r = save_versions(s, e);
    for (size_t i = 0; i < SQL_N; i++)
        (void)sqlite3_reset(s->statements[i]);
    if (r == 0)
        r = store_exec(s, "COMMIT", "making the write durable", e);
    if (r < 0) {
        undo(s);
        return r;
    }
    s->open_transaction = false;
    move_mark(s);
    s->compacted_committed = s->compacted;
    LIST_FOR_EACH (ev, &s->pending, struct store_event, link) {
        if (s->on_commit)
            s->on_commit(s->on_commit_arg, ev);
        list_remove(&ev->link);
        free(ev);
    }
    return 0;
}
