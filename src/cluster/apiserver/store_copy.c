/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store: whole copies, and what differs between two of them.
 *
 * A copy is made by VACUUM INTO: one moment, no free pages, no write-ahead log.  Secrets stay
 * sealed in it.  Differences are those of the tables of current versions.
 */
#include "src/base/alloc.h"
#include "src/cluster/apiserver/store_private.h"

int store_copy(struct store *s, const char *path, struct err *e)
{
    sqlite3_stmt *q = NULL;
    int r;

    if (s->open_transaction)
        return err_set(e, -EBUSY, ERR_RETRY, "writes wait for their commit");
    if (sqlite3_prepare_v2(s->db, "VACUUM INTO ?1", -1, &q, NULL) != SQLITE_OK)
        return store_fail(s, e, "copying the database");
    store_bind_text(q, 1, path);
    r = store_run(s, q, "copying the database", e);
    (void)sqlite3_finalize(q);
    if (r < 0)
        (void)unlink(path);
    return r;
}

static int each_missing(sqlite3 *db, const char *sql, bool made, store_difference_fn fn, void *arg)
{
    sqlite3_stmt *q = NULL;
    int step = SQLITE_ERROR;

    if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) == SQLITE_OK)
        while ((step = sqlite3_step(q)) == SQLITE_ROW) {
            struct store_key k = {(const char *)sqlite3_column_text(q, 0),
                                  (const char *)sqlite3_column_text(q, 1),
                                  (const char *)sqlite3_column_text(q, 2)};

            fn(arg, made, &k);
        }
    (void)sqlite3_finalize(q);
    return step == SQLITE_DONE ? 0 : -EIO;
}

#define KEYS "SELECT resource, ns, name FROM "
#define ORDER " ORDER BY resource, ns, name"

int store_difference(const char *newer, const char *older, store_difference_fn fn, void *arg,
                     struct err *e)
{
    char *attach = sqlite3_mprintf("ATTACH %Q AS older", older);
    sqlite3 *db = NULL;
    int r = -EIO;

    if (sqlite3_open_v2(newer, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK) {
        (void)sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        if (sqlite3_exec(db, attach, NULL, NULL, NULL) == SQLITE_OK)
            r = each_missing(db, KEYS "main.current EXCEPT " KEYS "older.current" ORDER, true, fn,
                             arg);
        if (r == 0)
            r = each_missing(db, KEYS "older.current EXCEPT " KEYS "main.current" ORDER, false, fn,
                             arg);
    }
    if (r < 0)
        r = err_set(e, -EIO, ERR_RETRY, "'%s' cannot be compared: %s", newer, sqlite3_errmsg(db));
    (void)sqlite3_close(db);
    sqlite3_free(attach);
    return r;
}
