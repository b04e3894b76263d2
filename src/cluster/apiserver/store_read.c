/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store: reading.
 *
 * Lists of the present join the table of current versions with the log; lists of the past take, for
 * each key, the newest log entry at or before the version asked for.  Rows are shown to a callback
 * one by one and borrowed for its duration, so that a list costs memory for one row.
 */
#include "src/cluster/apiserver/seal.h"
#include "src/cluster/apiserver/store_private.h"

/* What was decrypted does not stay in memory that others get. */
static void wipe(struct buf *b)
{
    if (b->p)
        explicit_bzero(b->p, b->n);
    buf_clear(b);
}

static void wipe_done(struct buf *b)
{
    wipe(b);
    buf_done(b);
}
DEFINE_AUTO_DONE(struct buf, wipe_done);

#define COLUMNS "l.rv, l.resource, l.ns, l.name, l.schema, l.sum, l.data"

const char *const store_sql[SQL_N] = {
    [SQL_GET] = "SELECT " COLUMNS " FROM current c JOIN log l ON l.rv = c.rv"
                " WHERE c.resource = ?1 AND c.ns = ?2 AND c.name = ?3",
    [SQL_PUT_CURRENT] = "INSERT INTO current VALUES(?1, ?2, ?3, ?4)"
                        " ON CONFLICT DO UPDATE SET rv = excluded.rv",
    [SQL_PUT_LOG] = "INSERT INTO log(rv, resource, ns, name, change, schema, sum, data,"
                    " chain) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [SQL_DROP_CURRENT] = "DELETE FROM current WHERE resource = ?1 AND ns = ?2 AND name = ?3",
    [SQL_DROP_OWNERS] = "DELETE FROM owners WHERE resource = ?1 AND ns = ?2 AND name = ?3",
    [SQL_ADD_OWNER] = "INSERT OR IGNORE INTO owners VALUES(?1, ?2, ?3, ?4)",
    [SQL_LIST] = "SELECT " COLUMNS " FROM current c CROSS JOIN log l ON l.rv = c.rv"
                 " WHERE c.resource = ?1 AND (c.ns, c.name) > (?3, ?4)"
                 " AND (?2 IS NULL OR c.ns = ?2) ORDER BY c.ns, c.name",
    /* Walks the index in the order of keys: whoever stops early has paid for what it saw. */
    [SQL_LIST_AT] = "SELECT " COLUMNS " FROM log l INDEXED BY log_by_key"
                    " WHERE l.resource = ?1 AND (l.ns, l.name) > (?3, ?4)"
                    " AND (?2 IS NULL OR l.ns = ?2) AND l.rv <= ?5 AND l.change <> 2"
                    " AND NOT EXISTS (SELECT 1 FROM log n WHERE n.resource = l.resource"
                    "  AND n.ns = l.ns AND n.name = l.name AND n.rv > l.rv AND n.rv <= ?5)"
                    " ORDER BY l.ns, l.name",
    [SQL_COUNT] = "SELECT count(*) FROM current c WHERE c.resource = ?1"
                  " AND (c.ns, c.name) > (?3, ?4) AND (?2 IS NULL OR c.ns = ?2)",
    [SQL_CHANGES] = "SELECT " COLUMNS ", l.change FROM log l WHERE l.rv > ?1 AND l.rv <= ?3"
                    " AND l.resource = ?2 ORDER BY l.rv",
    [SQL_PREVIOUS] = "SELECT " COLUMNS " FROM log l WHERE l.resource = ?1 AND l.ns = ?2"
                     " AND l.name = ?3 AND l.rv < ?4 ORDER BY l.rv DESC LIMIT 1",
    [SQL_DEPENDENTS] = "SELECT " COLUMNS " FROM owners o JOIN current c ON c.resource = o.resource"
                       " AND c.ns = o.ns AND c.name = o.name JOIN log l ON l.rv = c.rv"
                       " WHERE o.uid = ?1 ORDER BY o.resource, o.ns, o.name",
    [SQL_OWNERS] = "SELECT DISTINCT uid FROM owners ORDER BY uid",
    [SQL_RESOURCES_IN] = "SELECT DISTINCT resource FROM current WHERE ns = ?1 ORDER BY resource",
    /* As in etcd: of each key the newest state at or before the version stays, unless it is gone.
     */
    [SQL_COMPACT] = "DELETE FROM log WHERE rv <= ?1 AND (change = 2 OR EXISTS"
                    " (SELECT 1 FROM log n WHERE n.resource = log.resource AND n.ns = log.ns"
                    "  AND n.name = log.name AND n.rv > log.rv AND n.rv <= ?1))",
    [SQL_SET_META] = "UPDATE meta SET value = ?2 WHERE key = ?1",
};

/* Borrowed until the next step; the data of a sealed row is in `plain`. */
static int read_row(struct store *s, sqlite3_stmt *q, struct store_row *row, struct buf *plain,
                    struct err *e)
{
    int r;

    row->rv = sqlite3_column_int64(q, 0);
    row->key.resource = (const char *)sqlite3_column_text(q, 1);
    row->key.ns = (const char *)sqlite3_column_text(q, 2);
    row->key.name = (const char *)sqlite3_column_text(q, 3);
    row->schema = (uint32_t)sqlite3_column_int64(q, 4);
    row->data = store_column(q, 6);
    r = store_check_row(q, 6, 5, e);
    if (r < 0 || !seal_is(row->data))
        return r;
    wipe(plain);
    r = seal_open(s->keys, &row->key, row->rv, row->data, plain, e);
    row->data = buf_view(plain);
    return r;
}

int store_get(struct store *s, const struct store_key *k, struct arena *a,
              struct store_row *ret_row, struct err *e)
{
    sqlite3_stmt *q = store_statement(s, SQL_GET);
    AUTO(wipe_done) struct buf plain = {0};
    struct store_row row = {0};
    int r;

    store_bind_text(q, 1, k->resource);
    store_bind_text(q, 2, k->ns);
    store_bind_text(q, 3, k->name);
    r = sqlite3_step(q);
    if (r == SQLITE_ROW)
        r = read_row(s, q, &row, &plain, e);
    else
        r = r == SQLITE_DONE ? -ENOENT : store_fail(s, e, "reading an object");
    if (r == 0) {
        *ret_row = row;
        ret_row->key = *k;
        ret_row->data = (struct str){arena_str(a, row.data), row.data.n};
    }
    (void)sqlite3_reset(q);
    return r;
}

static sqlite3_stmt *bind_list(struct store *s, enum store_statement which,
                               const struct store_list *l)
{
    sqlite3_stmt *q = store_statement(s, which);

    store_bind_text(q, 1, l->resource);
    if (l->ns)
        store_bind_text(q, 2, l->ns);
    store_bind_text(q, 3, l->after_ns ? l->after_ns : l->ns ? l->ns : "");
    store_bind_text(q, 4, l->after_name ? l->after_name : "");
    if (which == SQL_LIST_AT)
        (void)sqlite3_bind_int64(q, 5, l->at_version);
    return q;
}

/* Step through the rows until the callback has enough. */
static int each_row(struct store *s, sqlite3_stmt *q, store_row_fn fn, void *arg, struct err *e)
{
    AUTO(wipe_done) struct buf plain = {0};
    int r = 0;
    int step;

    while (r == 0 && (step = sqlite3_step(q)) != SQLITE_DONE) {
        struct store_row row;

        if (step != SQLITE_ROW) {
            r = store_fail(s, e, "listing objects");
            break;
        }
        r = read_row(s, q, &row, &plain, e);
        if (r == 0 && !fn(arg, &row))
            break;
    }
    (void)sqlite3_reset(q);
    return r;
}

static int refuse_compacted(const struct store *s, int64_t version, struct err *e)
{
    if (version >= s->compacted)
        return 0;
    return err_set(e, -ESTALE, ERR_PERMANENT, "version %lld is compacted (oldest is %lld)",
                   (long long)version, (long long)s->compacted);
}

int store_each(struct store *s, const struct store_list *l, store_row_fn fn, void *arg,
               struct err *e)
{
    bool past = l->at_version != 0 && l->at_version != s->version;
    int r = past ? refuse_compacted(s, l->at_version, e) : 0;

    if (r < 0)
        return r;
    return each_row(s, bind_list(s, past ? SQL_LIST_AT : SQL_LIST, l), fn, arg, e);
}

int store_count(struct store *s, const struct store_list *l, int64_t *ret_n, struct err *e)
{
    sqlite3_stmt *q = bind_list(s, SQL_COUNT, l);
    int r = 0;

    if (sqlite3_step(q) == SQLITE_ROW)
        *ret_n = sqlite3_column_int64(q, 0);
    else
        r = store_fail(s, e, "counting objects");
    (void)sqlite3_reset(q);
    return r;
}

/* The state before a change; empty for none. */
static int previous(struct store *s, const struct store_row *row, struct arena *a,
                    struct str *ret_prev, struct err *e)
{
    sqlite3_stmt *q = store_statement(s, SQL_PREVIOUS);
    AUTO(wipe_done) struct buf plain = {0};
    struct store_row old;
    int r;

    store_bind_text(q, 1, row->key.resource);
    store_bind_text(q, 2, row->key.ns);
    store_bind_text(q, 3, row->key.name);
    (void)sqlite3_bind_int64(q, 4, row->rv);
    r = sqlite3_step(q);
    if (r == SQLITE_ROW) {
        r = read_row(s, q, &old, &plain, e);
        if (r == 0)
            *ret_prev = (struct str){arena_str(a, old.data), old.data.n};
    } else {
        r = r == SQLITE_DONE ? 0 : store_fail(s, e, "reading changes");
    }
    (void)sqlite3_reset(q);
    return r;
}

int store_changes(struct store *s, const char *resource, int64_t behind, store_change_fn fn,
                  void *arg, struct err *e)
{
    bool more = true;
    int r = refuse_compacted(s, behind, e);
    sqlite3_stmt *q;
    int step;

    if (r < 0)
        return r;
    q = store_statement(s, SQL_CHANGES);
    (void)sqlite3_bind_int64(q, 1, behind);
    store_bind_text(q, 2, resource);
    (void)sqlite3_bind_int64(q, 3, s->at.version);
    while (r == 0 && more && (step = sqlite3_step(q)) != SQLITE_DONE) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(wipe_done) struct buf plain = {0};
        struct store_event ev = {0};

        if (step != SQLITE_ROW) {
            r = store_fail(s, e, "reading changes");
            break;
        }
        r = read_row(s, q, &ev.row, &plain, e);
        ev.change = (enum store_change)sqlite3_column_int(q, 7);
        if (r == 0 && ev.change != STORE_ADDED)
            r = previous(s, &ev.row, &a, &ev.prev, e);
        if (r == 0)
            more = fn(arg, &ev);
    }
    (void)sqlite3_reset(q);
    return r;
}

int store_dependents(struct store *s, const char *owner_uid, store_row_fn fn, void *arg,
                     struct err *e)
{
    sqlite3_stmt *q = store_statement(s, SQL_DEPENDENTS);

    store_bind_text(q, 1, owner_uid);
    return each_row(s, q, fn, arg, e);
}

static int each_text(struct store *s, sqlite3_stmt *q, bool (*fn)(void *arg, const char *text),
                     void *arg, struct err *e)
{
    int r = 0;
    int step;

    while ((step = sqlite3_step(q)) == SQLITE_ROW)
        if (!fn(arg, (const char *)sqlite3_column_text(q, 0)))
            break;
    if (step != SQLITE_ROW && step != SQLITE_DONE)
        r = store_fail(s, e, "reading the database");
    (void)sqlite3_reset(q);
    return r;
}

int store_owner_uids(struct store *s, bool (*fn)(void *arg, const char *uid), void *arg,
                     struct err *e)
{
    return each_text(s, store_statement(s, SQL_OWNERS), fn, arg, e);
}

int store_resources_in(struct store *s, const char *ns, bool (*fn)(void *arg, const char *res),
                       void *arg, struct err *e)
{
    sqlite3_stmt *q = store_statement(s, SQL_RESOURCES_IN);

    store_bind_text(q, 1, ns);
    return each_text(s, q, fn, arg, e);
}
