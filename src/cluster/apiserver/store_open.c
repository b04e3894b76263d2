/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store: opening and checking.
 *
 * Tables:
 *   log      every state of every object, keyed by version; a deletion is a state too
 *   current  where each live object stands in the log
 *   owners   owner uid -> dependent, for garbage collection
 *   meta     the compacted version, and the newest one and its chain at that time; the epoch
 *   facts    the store's id
 *
 * The structure is checked at each start, and the newest version is held against the mark (mark.c
 * has the table of what may be found).  Until all of that is well nothing is written, and the
 * write-ahead log is not moved into the database: who is refused has the files as they were.
 *
 * The epoch is a random number.  It changes whenever the store does not go on from where it was:
 * after a restore, after a loss that a person accepted, and where the witness (a mark in /run,
 * which lives as long as the pods that run) has seen a newer store or another one in this place.
 * Then versions go on above everything that was ever shown, and all history counts as compacted:
 * each watch starts again with a list.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/apiserver/store_private.h"

#define STORE_APPLICATION_ID 0x534b4150 /* "SKAP" */
#define STORE_FORMAT 2
#define STORE_CACHE_KIB 8192
/* More than a store writes between two syncs of its mark. */
#define VERSION_GAP 1000000

#define WAYS                                                                                       \
    "Bring a backup back with 'slurmkeeper restore FILE', or go on without what is missing by "    \
    "'slurmkeeper recover --accept-loss'. Nothing was changed"

static const char schema_sql[] =
    "CREATE TABLE log(rv INTEGER PRIMARY KEY, resource TEXT NOT NULL, ns TEXT NOT NULL,"
    "  name TEXT NOT NULL, change INTEGER NOT NULL, schema INTEGER NOT NULL, sum INTEGER NOT NULL,"
    "  data BLOB NOT NULL, chain INTEGER NOT NULL DEFAULT 0) STRICT;"
    "CREATE INDEX log_by_key ON log(resource, ns, name, rv);"
    "CREATE TABLE current(resource TEXT NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL,"
    "  rv INTEGER NOT NULL, PRIMARY KEY(resource, ns, name)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE owners(uid TEXT NOT NULL, resource TEXT NOT NULL, ns TEXT NOT NULL,"
    "  name TEXT NOT NULL, PRIMARY KEY(uid, resource, ns, name)) STRICT, WITHOUT ROWID;"
    "CREATE INDEX owners_by_key ON owners(resource, ns, name);"
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;"
    "INSERT INTO meta VALUES('version', 0), ('compacted', 0);";

/* From format 1, and the rest of a new store. */
static const char second_sql[] =
    "CREATE TABLE facts(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;"
    "INSERT INTO meta VALUES('chain', 0), ('epoch', 0);";

int store_query_int(struct store *s, const char *sql, int64_t *ret, struct err *e)
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
        r = err_set(e, -EBADMSG, ERR_PERMANENT,
                    "the database is corrupt (%.100s): bring a backup back with 'slurmkeeper "
                    "restore FILE'",
                    (const char *)sqlite3_column_text(q, 0));
    (void)sqlite3_finalize(q);
    return r;
}

/* What is there before anything is opened for writing. */
struct finding {
    bool exists; /* a database, and not an empty file */
    int64_t format;
    enum mark_found mark;
    struct mark_point point;
};

static bool has_content(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && st.st_size > 0;
}

static int refuse_gone(const struct finding *f, const char *path, struct err *e)
{
    if (f->mark == MARK_DAMAGED)
        return err_set(e, -EBADMSG, ERR_PERMANENT,
                       "'%s' is missing or empty, and the mark of its last write is damaged. " WAYS,
                       path);
    return err_set(
        e, -EBADMSG, ERR_PERMANENT,
        "'%s' is missing or empty, though writes up to version %lld were acknowledged. " WAYS, path,
        (long long)f->point.version);
}

/* Nothing is there: that is well where nothing was ever acknowledged. */
static int check_empty(const struct store_options *o, const struct finding *f, struct err *e)
{
    if (o->accept || f->mark == MARK_NONE || (f->mark == MARK_WHOLE && f->point.version == 0))
        return 0;
    return refuse_gone(f, o->path, e);
}

static int look(const struct store_options *o, struct finding *f, struct err *e)
{
    int r = o->mark ? mark_read(o->mark, &f->mark, &f->point, e) : 0;

    f->exists = has_content(o->path);
    return r < 0 || f->exists ? r : check_empty(o, f, e);
}

static int open_database(struct store *s, const char *path, struct err *e)
{
    AUTO(free)
    char *pragmas =
        xasprintf("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                  "PRAGMA cache_size=-%d; PRAGMA temp_store=MEMORY; PRAGMA wal_autocheckpoint=2000",
                  STORE_CACHE_KIB);

    if (sqlite3_open_v2(path, &s->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        return store_fail(s, e, "opening the database");
    (void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return store_exec(s, pragmas, "opening the database", e);
}

/* An empty file is for a new database; anything else must be one of ours, whole. */
static int check_format(struct store *s, struct finding *f, struct err *e)
{
    int64_t tables = 0;
    int64_t id = 0;
    int r = store_query_int(s, "SELECT count(*) FROM sqlite_master", &tables, e);

    if (r == 0)
        r = store_query_int(s, "PRAGMA application_id", &id, e);
    if (r == 0)
        r = store_query_int(s, "PRAGMA user_version", &f->format, e);
    if (r < 0)
        return r;
    f->exists = tables != 0 || id != 0;
    if (!f->exists)
        return 0;
    if (id != STORE_APPLICATION_ID)
        return err_set(e, -EBADMSG, ERR_PERMANENT, "the file is not a slurmkeeper database");
    if (f->format < 1 || f->format > STORE_FORMAT)
        return err_set(e, -EPROTO, ERR_PERMANENT,
                       "the database has format %lld, this program knows up to %d; use the release "
                       "that wrote it",
                       (long long)f->format, STORE_FORMAT);
    return check_structure(s, e);
}

/* The chain at a version; -ENOENT where that entry is compacted. */
static int chain_at(struct store *s, int64_t version, int64_t *ret, struct err *e)
{
    AUTO(free)
    char *sql =
        xasprintf("SELECT chain FROM log WHERE rv=%lld UNION ALL SELECT c.value FROM meta c,"
                  " meta v WHERE c.key='chain' AND v.key='version' AND v.value=%lld LIMIT 1",
                  (long long)version, (long long)version);
    sqlite3_stmt *q = NULL;
    int r = 0;

    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
        r = store_fail(s, e, "reading the database");
    else if (sqlite3_step(q) == SQLITE_ROW)
        *ret = sqlite3_column_int64(q, 0);
    else
        r = -ENOENT;
    (void)sqlite3_finalize(q);
    return r;
}

static int load_id(struct store *s, struct err *e)
{
    sqlite3_stmt *q = NULL;
    int r = 0;

    if (sqlite3_prepare_v2(s->db, "SELECT value FROM facts WHERE key='id'", -1, &q, NULL) !=
            SQLITE_OK ||
        sqlite3_step(q) != SQLITE_ROW || sqlite3_column_bytes(q, 0) != ENCODE_UUID_LEN)
        r = err_set(e, -EBADMSG, ERR_PERMANENT, "the database is corrupt: it has no id");
    else
        memcpy(s->at.id, sqlite3_column_text(q, 0), ENCODE_UUID_LEN + 1);
    (void)sqlite3_finalize(q);
    return r;
}

static int load_versions(struct store *s, int64_t format, struct err *e)
{
    int64_t newest = 0;
    int r = store_query_int(s, "SELECT value FROM meta WHERE key='version'", &s->version, e);

    if (r == 0)
        r = store_query_int(s, "SELECT value FROM meta WHERE key='compacted'", &s->compacted, e);
    if (r == 0)
        r = store_query_int(s, "SELECT coalesce(max(rv), 0) FROM log", &newest, e);
    s->version = MAX(s->version, newest);
    if (r == 0 && format > 1) {
        r = store_query_int(s, "SELECT value FROM meta WHERE key='epoch'", &s->epoch, e);
        if (r == 0)
            r = load_id(s, e);
        if (r == 0 && chain_at(s, s->version, &s->chain, e) == -EBADMSG)
            r = -EBADMSG;
    }
    s->at.version = s->version;
    s->at.chain = s->chain;
    s->compacted_committed = s->compacted;
    return r;
}

static int refuse_standing(const struct store *s, const struct mark_point *mark,
                           enum mark_standing standing, struct err *e)
{
    switch (standing) {
    case STANDING_WHOLE:
        return 0;
    case STANDING_SHORT:
        return err_set(e, -EBADMSG, ERR_PERMANENT,
                       "acknowledged writes are missing: they went up to version %lld, and the "
                       "database ends at %lld. Its write-ahead log is damaged or missing, or the "
                       "file is an older one. " WAYS,
                       (long long)mark->version, (long long)s->version);
    case STANDING_FORK:
        return err_set(e, -EBADMSG, ERR_PERMANENT,
                       "the writes up to version %lld are not those that were acknowledged: the "
                       "file comes from another time of this cluster. " WAYS,
                       (long long)mark->version);
    case STANDING_OTHER:
        return err_set(e, -EBADMSG, ERR_PERMANENT,
                       "the database is not the one that was in use here. " WAYS);
    }
    return 0;
}

static enum mark_standing judge(struct store *s, const struct mark_point *mark)
{
    int64_t chain = 0;
    int r = chain_at(s, mark->version, &chain, NULL);

    return mark_judge(mark, &s->at, r == 0 ? &chain : NULL);
}

/* A store of format 1 has no id: it gets the mark's, which an interrupted conversion has left. */
static int check_mark(struct store *s, const struct finding *f, struct err *e)
{
    if (f->mark == MARK_WHOLE && f->format == 1)
        return refuse_standing(s, &f->point,
                               f->point.version > s->version ? STANDING_SHORT : STANDING_WHOLE, e);
    if (f->mark == MARK_WHOLE)
        return refuse_standing(s, &f->point, judge(s, &f->point), e);
    if (f->format == 1)
        return 0;
    return err_set(e, -EBADMSG, ERR_PERMANENT,
                   "the mark of the last acknowledged write is %s: nobody can tell whether this "
                   "database is the newest. If it is, run 'slurmkeeper recover --accept-loss'; "
                   "else bring a backup back with 'slurmkeeper restore FILE'. Nothing was changed",
                   f->mark == MARK_NONE ? "missing" : "damaged");
}

/* The mark comes before the database: what is interrupted in between is begun again. */
static int make_mark(struct store *s, const struct store_options *o, struct err *e)
{
    return o->mark && !s->mark ? mark_open(o->mark, &s->at, &s->mark, e) : 0;
}

static int create(struct store *s, const struct store_options *o, const struct finding *f,
                  struct err *e)
{
    AUTO(free) char *sql = NULL;
    int r;

    if (f->mark == MARK_WHOLE && (f->exists || f->point.version == 0))
        memcpy(s->at.id, f->point.id, sizeof(s->at.id));
    else
        encode_uuid(s->at.id);
    sql = xasprintf(
        "BEGIN IMMEDIATE; %s %s INSERT INTO facts VALUES('id', '%s'); PRAGMA application_id=%d;"
        "PRAGMA user_version=%d; COMMIT",
        f->exists ? "ALTER TABLE log ADD COLUMN chain INTEGER NOT NULL DEFAULT 0;" : schema_sql,
        second_sql, s->at.id, STORE_APPLICATION_ID, STORE_FORMAT);
    r = o->accept ? 0 : make_mark(s, o, e);
    return r < 0 ? r : store_exec(s, sql, "creating the database", e);
}

static int prepare_all(struct store *s, struct err *e)
{
    for (size_t i = 0; i < SQL_N; i++)
        if (sqlite3_prepare_v3(s->db, store_sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &s->statements[i], NULL) != SQLITE_OK)
            return store_fail(s, e, "preparing the database");
    return 0;
}

/* Go on above everything that was ever shown, in a new epoch. */
static int start_epoch(struct store *s, int64_t above, struct err *e)
{
    int64_t version = MAX(above, s->version) + VERSION_GAP;
    AUTO(free) char *sql = NULL;
    int r;

    encode_random(&s->epoch, sizeof(s->epoch));
    s->epoch &= INT64_MAX;
    sql = xasprintf("BEGIN IMMEDIATE; UPDATE meta SET value=%lld WHERE key IN ('version', "
                    "'compacted'); UPDATE meta SET value=%lld WHERE key IN ('epoch', 'chain'); "
                    "COMMIT",
                    (long long)version, (long long)s->epoch);
    r = store_exec(s, sql, "beginning a new epoch", e);
    if (r < 0)
        return r;
    s->version = s->compacted = s->compacted_committed = version;
    s->chain = s->epoch;
    s->at.version = version;
    s->at.chain = s->chain;
    return 0;
}

/* The witness has seen what ran here since the machine was started. */
static int ask_witness(struct store *s, const struct store_options *o, struct err *e)
{
    struct mark_point seen;
    enum mark_found found;

    if (!o->witness || mark_read(o->witness, &found, &seen, NULL) < 0 || found != MARK_WHOLE ||
        judge(s, &seen) == STANDING_WHOLE)
        return 0;
    s->note = xasprintf("this store (version %lld) is not the newest that has run here (version "
                        "%lld): versions go on above both, and pods that it does not know are kept",
                        (long long)s->version, (long long)seen.version);
    return start_epoch(s, seen.version, e);
}

static int settle(struct store *s, const struct store_options *o, const struct finding *f,
                  struct err *e)
{
    int64_t seen = MAX(o->above, f->mark == MARK_WHOLE ? f->point.version : 0);
    int r = f->exists && f->format == STORE_FORMAT ? 0 : create(s, o, f, e);

    if (r == 0)
        r = o->accept ? start_epoch(s, seen, e) : 0;
    if (r == 0)
        r = ask_witness(s, o, e);
    if (r == 0)
        r = make_mark(s, o, e);
    if (r == 0 && s->mark)
        r = mark_set(s->mark, &s->at, e);
    if (r == 0)
        r = store_seal_all(s, o->keys, e);
    if (r == 0 && o->witness && mark_open(o->witness, &s->at, &s->witness, NULL) < 0)
        s->witness = NULL; /* /run may not be ours to write; the mark counts */
    return r < 0 ? r : prepare_all(s, e);
}

int store_open(const struct store_options *o, struct store **ret_store, struct err *e)
{
    AUTO(store_free) struct store *s = xcalloc(1, sizeof(*s));
    struct finding f = {0};
    int r = look(o, &f, e);

    list_init(&s->pending);
    if (r < 0)
        return r;
    s->key_path = xstrdup_null(o->keys);
    store_files_init(s, o->path);
    r = open_database(s, o->path, e);
    if (r == 0)
        r = check_format(s, &f, e);
    if (r == 0)
        r = f.exists ? load_versions(s, f.format, e) : check_empty(o, &f, e);
    if (r == 0 && f.exists && o->mark && !o->accept)
        r = check_mark(s, &f, e);
    if (r == 0)
        r = store_load_keys(s, o->keys, f.exists, e);
    if (r == 0)
        r = settle(s, o, &f, e);
    if (r < 0)
        return err_wrap(e, r, "'%s'", o->path);
    (void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    *ret_store = TAKE(s);
    return 0;
}
