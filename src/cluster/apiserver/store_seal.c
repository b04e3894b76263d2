/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store: keys, and rows that are to be sealed.
 *
 * At the start the keys are held against the rows: a row whose key is missing refuses the start,
 * before anything is written, and a key is made only where no row needs one.  Then every row that
 * is secret and plain (of an older release), or sealed with a key that is not the newest (after
 * rotate-keys), is sealed again, in one transaction.
 *
 * Plain text must not stay in free pages and in the old write-ahead log either: the transaction
 * leaves a note, VACUUM writes the database without free pages, the log is cut to nothing, and then
 * the note goes.  A process that dies in between finds the note and does it again.
 */
#include "src/base/alloc.h"
#include "src/cluster/apiserver/seal.h"
#include "src/cluster/apiserver/store_private.h"

#define SECRET_ROWS "SELECT rv, ns, name, data FROM log WHERE resource = 'secrets'"

typedef int (*secret_fn)(struct store *s, const struct store_key *k, int64_t rv, struct str data,
                         struct err *e);

static int each_secret(struct store *s, secret_fn fn, struct err *e)
{
    sqlite3_stmt *q = NULL;
    int r = 0;
    int step = SQLITE_DONE;

    if (sqlite3_prepare_v2(s->db, SECRET_ROWS, -1, &q, NULL) != SQLITE_OK)
        r = store_fail(s, e, "reading Secrets");
    while (r == 0 && (step = sqlite3_step(q)) == SQLITE_ROW) {
        struct store_key k = {"secrets", (const char *)sqlite3_column_text(q, 1),
                              (const char *)sqlite3_column_text(q, 2)};

        r = fn(s, &k, sqlite3_column_int64(q, 0), store_column(q, 3), e);
    }
    if (r == 0 && step != SQLITE_DONE)
        r = store_fail(s, e, "reading Secrets");
    (void)sqlite3_finalize(q);
    return r;
}

static int check_one(struct store *s, const struct store_key *k, int64_t rv, struct str data,
                     struct err *e)
{
    AUTO(buf_done) struct buf plain = {0};
    int r = seal_is(data) ? seal_open(s->keys, k, rv, data, &plain, e) : 0;

    if (plain.p)
        explicit_bzero(plain.p, plain.n);
    return r;
}

int store_load_keys(struct store *s, const char *path, bool exists, struct err *e)
{
    struct err why = {0};
    int missing = path ? keyring_read(path, &s->keys, &why) : 0;
    int r;

    if (missing < 0 && missing != -ENOENT) {
        if (e)
            *e = why;
        return missing;
    }
    r = exists ? each_secret(s, check_one, e) : 0;
    if (r == -ENOKEY)
        return err_set(e, r, ERR_PERMANENT,
                       "its Secrets are encrypted, and the key file '%s' %s: bring that file back "
                       "from a backup. Nothing was changed",
                       path ? path : "", missing ? "is missing" : "does not have their key");
    if (r < 0 || !path || !missing)
        return r;
    return keyring_add(path, NULL, &s->keys, e);
}

static int seal_one(struct store *s, const struct store_key *k, int64_t rv, struct str data,
                    struct err *e)
{
    AUTO(buf_done) struct buf plain = {0};
    AUTO(buf_done) struct buf sealed = {0};
    sqlite3_stmt *q = NULL;
    int r = 0;

    if (seal_is_newest(s->keys, data))
        return 0;
    if (seal_is(data))
        r = seal_open(s->keys, k, rv, data, &plain, e);
    else
        buf_addstr(&plain, data);
    if (r == 0) {
        seal_close(s->keys, k, rv, buf_view(&plain), &sealed);
        if (sqlite3_prepare_v2(s->db, "UPDATE log SET data = ?1, sum = ?2 WHERE rv = ?3", -1, &q,
                               NULL) != SQLITE_OK)
            r = store_fail(s, e, "sealing Secrets");
    }
    if (r == 0) {
        (void)sqlite3_bind_blob64(q, 1, sealed.p, sealed.n, SQLITE_STATIC);
        (void)sqlite3_bind_int64(q, 2, store_sum(buf_view(&sealed)));
        (void)sqlite3_bind_int64(q, 3, rv);
        r = store_run(s, q, "sealing Secrets", e);
    }
    (void)sqlite3_finalize(q);
    if (plain.p)
        explicit_bzero(plain.p, plain.n);
    return r;
}

static int unsealed(struct store *s, const struct store_key *k, int64_t rv, struct str data,
                    struct err *e)
{
    (void)k;
    (void)rv;
    (void)e;
    return seal_is_newest(s->keys, data) ? 0 : -EAGAIN;
}

static int seal_rows(struct store *s, struct err *e)
{
    int r = store_exec(s,
                       "PRAGMA secure_delete=ON; BEGIN IMMEDIATE;"
                       "INSERT OR REPLACE INTO facts VALUES('scrub', 'due')",
                       "sealing Secrets", e);

    if (r == 0)
        r = each_secret(s, seal_one, e);
    if (r == 0)
        r = store_exec(s, "COMMIT", "sealing Secrets", e);
    if (r < 0 && !sqlite3_get_autocommit(s->db))
        (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return r;
}

/* No page keeps what was plain. */
static int scrub(struct store *s, struct err *e)
{
    int64_t due = 0;
    int r = store_query_int(s, "SELECT count(*) FROM facts WHERE key='scrub'", &due, e);

    if (r < 0 || !due)
        return r;
    return store_exec(s,
                      "PRAGMA secure_delete=ON; VACUUM; PRAGMA wal_checkpoint(TRUNCATE);"
                      "DELETE FROM facts WHERE key='scrub'; PRAGMA wal_checkpoint(TRUNCATE);"
                      "PRAGMA secure_delete=OFF",
                      "removing what was plain", e);
}

int store_seal_all(struct store *s, const char *path, struct err *e)
{
    int r;

    if (!s->keys)
        return 0;
    r = each_secret(s, unsealed, e);
    if (r == -EAGAIN)
        r = seal_rows(s, e);
    if (r == 0)
        r = scrub(s, e);
    return r < 0 ? r : keyring_prune(path, s->keys, e);
}

int store_rotate(struct store *s, struct err *e)
{
    struct keyring *fresh = NULL;
    struct keyring *old = s->keys;
    int r;

    if (!s->key_path || s->open_transaction)
        return err_set(e, -EINVAL, ERR_RETRY, "keys cannot be exchanged now");
    r = keyring_read(s->key_path, &fresh, e);
    if (r < 0)
        return r;
    s->keys = fresh;
    r = store_seal_all(s, s->key_path, e);
    if (r < 0) {
        s->keys = old;
        old = fresh;
    }
    (void)keyring_free(old);
    return r;
}
