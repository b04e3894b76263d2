/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store: opening, checking, committing, compacting.
 *
 * Tables:
 *   log      every state of every object, keyed by version; a deletion is a state too
 *   current  where each live object stands in the log
 *   owners   owner uid -> dependent, for garbage collection
 *   meta     the compacted version, and the newest one at that time
 *
 * WAL mode with synchronous=FULL: a commit that returned is on disk.  Every data column has a
 * CRC-32 beside it that is held against it at each read, since SQLite itself does not notice
 * flipped bits inside a row; the file's structure is checked at each start.
 */
#include "src/cluster/apiserver/store.h"

#include <zlib.h>

#include "src/base/alloc.h"
#include "src/cluster/apiserver/store_private.h"

#define STORE_APPLICATION_ID 0x534b4150 /* "SKAP" */
#define STORE_FORMAT 1
#define STORE_CACHE_KIB 8192

static const char schema_sql[] =
    "CREATE TABLE log(rv INTEGER PRIMARY KEY, resource TEXT NOT NULL, ns TEXT NOT NULL,"
    "  name TEXT NOT NULL, change INTEGER NOT NULL, schema INTEGER NOT NULL, sum INTEGER NOT NULL,"
    "  data BLOB NOT NULL) STRICT;"
    "CREATE INDEX log_by_key ON log(resource, ns, name, rv);"
    "CREATE TABLE current(resource TEXT NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL,"
    "  rv INTEGER NOT NULL, PRIMARY KEY(resource, ns, name)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE owners(uid TEXT NOT NULL, resource TEXT NOT NULL, ns TEXT NOT NULL,"
    "  name TEXT NOT NULL, PRIMARY KEY(uid, resource, ns, name)) STRICT, WITHOUT ROWID;"
    "CREATE INDEX owners_by_key ON owners(resource, ns, name);"
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;"
    "INSERT INTO meta VALUES('version', 0), ('compacted', 0);";

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
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return err_set(e, -EBADMSG, ERR_PERMANENT, "%s: the database is corrupt: %s", doing,
                       sqlite3_errmsg(s->db));
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
                   "the database is corrupt: a stored object does not match its checksum; restore "
                   "the state directory from a backup");
}

static int exec(struct store *s, const char *sql, const char *doing, struct err *e)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : store_fail(s, e, doing);
}

/* The first column of the first row as a number. */
static int query_int(struct store *s, const char *sql, int64_t *ret, struct err *e)
{
    sqlite3_stmt *q = NULL;
    int r = 0;

    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK || sqlite3_step(q) != SQLITE_ROW)
        r = store_fail(s, e, "reading the database");
    else
        *ret = sqlite3_column_int64(q, 0);
    (void)sqlite3_finalize(q);
    return r;
}

static int check_structure(struct store *s, struct err *e)
{
    sqlite3_stmt *q = NULL;
    int r = 0;

    if (sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &q, NULL) != SQLITE_OK ||
        sqlite3_step(q) != SQLITE_ROW)
        r = store_fail(s, e, "checking the database");
    else if (!str_eqz(store_column(q, 0), "ok"))
        r = err_set(e, -EBADMSG, ERR_PERMANENT, "the database is corrupt: %s",
                    (const char *)sqlite3_column_text(q, 0));
    (void)sqlite3_finalize(q);
    return r;
}

static int create(struct store *s, struct err *e)
{
    AUTO(free)
    char *sql =
        xasprintf("BEGIN IMMEDIATE; %s PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT",
                  schema_sql, STORE_APPLICATION_ID, STORE_FORMAT);

    return exec(s, sql, "creating the database", e);
}

/* An empty file becomes a new database; anything else must be one of ours, whole. */
static int check_or_create(struct store *s, struct err *e)
{
    int64_t tables = 0;
    int64_t id = 0;
    int64_t format = 0;
    int r = query_int(s, "SELECT count(*) FROM sqlite_master", &tables, e);

    if (r == 0)
        r = query_int(s, "PRAGMA application_id", &id, e);
    if (r == 0)
        r = query_int(s, "PRAGMA user_version", &format, e);
    if (r < 0)
        return r;
    if (tables == 0 && id == 0)
        return create(s, e);
    if (id != STORE_APPLICATION_ID)
        return err_set(e, -EBADMSG, ERR_PERMANENT, "the file is not a slurmkeeper database");
    if (format != STORE_FORMAT)
        return err_set(e, -EPROTO, ERR_PERMANENT,
                       "the database has format %lld, this program knows %d; use the release that "
                       "wrote it",
                       (long long)format, STORE_FORMAT);
    return check_structure(s, e);
}

static int prepare_all(struct store *s, struct err *e)
{
    for (size_t i = 0; i < SQL_N; i++)
        if (sqlite3_prepare_v3(s->db, store_sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &s->statements[i], NULL) != SQLITE_OK)
            return store_fail(s, e, "preparing the database");
    return 0;
}

static int load_versions(struct store *s, struct err *e)
{
    int64_t newest = 0;
    int r = query_int(s, "SELECT value FROM meta WHERE key='version'", &s->version, e);

    if (r == 0)
        r = query_int(s, "SELECT value FROM meta WHERE key='compacted'", &s->compacted, e);
    if (r == 0)
        r = query_int(s, "SELECT coalesce(max(rv), 0) FROM log", &newest, e);
    s->version = MAX(s->version, newest);
    s->committed = s->version;
    s->compacted_committed = s->compacted;
    return r;
}

int store_open(const char *path, struct store **ret_store, struct err *e)
{
    AUTO(store_free) struct store *s = xcalloc(1, sizeof(*s));
    AUTO(free)
    char *pragmas =
        xasprintf("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA locking_mode=EXCLUSIVE;"
                  "PRAGMA cache_size=-%d; PRAGMA temp_store=MEMORY; PRAGMA wal_autocheckpoint=2000",
                  STORE_CACHE_KIB);
    int r;

    list_init(&s->pending);
    if (sqlite3_open_v2(path, &s->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        r = store_fail(s, e, "opening the database");
    else
        r = exec(s, pragmas, "opening the database", e);
    if (r == 0)
        r = check_or_create(s, e);
    if (r == 0)
        r = prepare_all(s, e);
    if (r == 0)
        r = load_versions(s, e);
    if (r < 0)
        return err_wrap(e, r, "'%s'", path);
    *ret_store = TAKE(s);
    return 0;
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
 * only a compaction may remove that entry (of a deletion), and then both numbers are written.
 */
static int save_versions(struct store *s, struct err *e)
{
    int r;

    if (s->compacted == s->compacted_committed)
        return 0;
    r = set_meta(s, "version", s->version, e);
    return r < 0 ? r : set_meta(s, "compacted", s->compacted, e);
}

static void undo(struct store *s)
{
    for (size_t i = 0; i < SQL_N; i++)
        (void)sqlite3_reset(s->statements[i]);
    if (!sqlite3_get_autocommit(s->db))
        (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    s->open_transaction = false;
    s->version = s->committed;
    s->compacted = s->compacted_committed;
    drop_pending(s);
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
        r = save_versions(s, e);
    for (size_t i = 0; i < SQL_N; i++)
        (void)sqlite3_reset(s->statements[i]);
    if (r == 0)
        r = exec(s, "COMMIT", "making the write durable", e);
    if (r < 0) {
        undo(s);
        return r;
    }
    s->open_transaction = false;
    s->committed = s->version;
    s->compacted_committed = s->compacted;
    LIST_FOR_EACH (ev, &s->pending, struct store_event, link) {
        if (s->on_commit)
            s->on_commit(s->on_commit_arg, ev);
        list_remove(&ev->link);
        free(ev);
    }
    return 0;
}
