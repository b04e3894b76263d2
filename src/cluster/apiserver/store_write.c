/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store: writing.
 *
 * A write is a savepoint inside the turn's transaction: either all of its rows are there or none.
 * The event it causes waits in memory for store_commit.
 */
#include "src/base/alloc.h"
#include "src/cluster/apiserver/seal.h"
#include "src/cluster/apiserver/store_private.h"

static int exec(struct store *s, const char *sql, struct err *e)
{
    return store_exec(s, sql, "writing an object", e);
}

static int begin(struct store *s, struct err *e)
{
    int r = 0;

    if (s->open_transaction && sqlite3_get_autocommit(s->db))
        return err_set(e, -EIO, ERR_RETRY, "the transaction was undone by an earlier failure");
    if (!s->open_transaction)
        r = exec(s, "BEGIN IMMEDIATE", e);
    if (r == 0)
        s->open_transaction = true;
    return r;
}

static void bind_key(sqlite3_stmt *q, int at, const struct store_key *k)
{
    store_bind_text(q, at, k->resource);
    store_bind_text(q, at + 1, k->ns);
    store_bind_text(q, at + 2, k->name);
}

static int append_log(struct store *s, const struct store_key *k, int64_t rv,
                      enum store_change change, uint32_t schema, struct str data, int64_t chain,
                      struct err *e)
{
    sqlite3_stmt *q = store_statement(s, SQL_PUT_LOG);

    (void)sqlite3_bind_int64(q, 1, rv);
    bind_key(q, 2, k);
    (void)sqlite3_bind_int(q, 5, (int)change);
    (void)sqlite3_bind_int64(q, 6, schema);
    (void)sqlite3_bind_int64(q, 7, store_sum(data));
    (void)sqlite3_bind_blob64(q, 8, data.p, data.n, SQLITE_STATIC);
    (void)sqlite3_bind_int64(q, 9, chain);
    return store_run(s, q, "writing an object", e);
}

static int set_owners(struct store *s, const struct store_key *k, const char *const *owners,
                      struct err *e)
{
    sqlite3_stmt *q = store_statement(s, SQL_DROP_OWNERS);
    int r;

    bind_key(q, 1, k);
    r = store_run(s, q, "writing owner references", e);
    for (; r == 0 && owners && *owners; owners++) {
        q = store_statement(s, SQL_ADD_OWNER);
        store_bind_text(q, 1, *owners);
        bind_key(q, 2, k);
        r = store_run(s, q, "writing owner references", e);
    }
    return r;
}

static int move_current(struct store *s, const struct store_key *k, int64_t rv, struct err *e)
{
    sqlite3_stmt *q = store_statement(s, rv ? SQL_PUT_CURRENT : SQL_DROP_CURRENT);

    bind_key(q, 1, k);
    if (rv)
        (void)sqlite3_bind_int64(q, 4, rv);
    return store_run(s, q, "writing an object", e);
}

/* One block: the event, and after it the copies of all its texts. */
static void queue_event(struct store *s, const struct store_key *k, enum store_change change,
                        uint32_t schema, struct str data, struct str prev)
{
    size_t n[] = {strlen(k->resource) + 1, strlen(k->ns) + 1, strlen(k->name) + 1};
    struct store_event *ev = xmalloc(sizeof(*ev) + n[0] + n[1] + n[2] + data.n + prev.n + 2);
    char *at = (char *)(ev + 1);

    *ev = (struct store_event){.change = change};
    ev->row.rv = s->version;
    ev->row.schema = schema;
    ev->row.key.resource = memcpy(at, k->resource, n[0]);
    ev->row.key.ns = memcpy(at + n[0], k->ns, n[1]);
    ev->row.key.name = memcpy(at + n[0] + n[1], k->name, n[2]);
    at += n[0] + n[1] + n[2];
    ev->row.data = (struct str){memcpy(at, data.p, data.n), data.n};
    at[data.n] = '\0';
    at += data.n + 1;
    ev->prev = (struct str){at, prev.n};
    if (prev.n)
        memcpy(at, prev.p, prev.n);
    at[prev.n] = '\0';
    list_append(&s->pending, &ev->link);
}

static int write_rows(struct store *s, const struct store_key *k, enum store_change change,
                      uint32_t schema, struct str data, const char *const *owners, struct err *e)
{
    int64_t rv = s->version + 1;
    AUTO(buf_done) struct buf sealed = {0};
    int64_t chain;
    int r = exec(s, "SAVEPOINT one", e);

    if (r < 0)
        return r;
    if (s->keys && seal_wanted(k->resource)) {
        seal_close(s->keys, k, rv, data, &sealed);
        data = buf_view(&sealed);
    }
    chain = store_chain(s->chain, k, rv, store_sum(data));
    r = append_log(s, k, rv, change, schema, data, chain, e);
    if (r == 0)
        r = move_current(s, k, change == STORE_DELETED ? 0 : rv, e);
    if (r == 0)
        r = set_owners(s, k, owners, e);
    if (r < 0 && !sqlite3_get_autocommit(s->db))
        (void)sqlite3_exec(s->db, "ROLLBACK TO one; RELEASE one", NULL, NULL, NULL);
    if (r == 0)
        r = exec(s, "RELEASE one", e);
    if (r == 0)
        s->chain = chain;
    return r;
}

static int change_object(struct store *s, const struct store_key *k, bool removal, uint32_t schema,
                         struct str data, const char *const *owners, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    struct store_row old = {0};
    enum store_change change;
    int r = begin(s, e);

    if (r < 0)
        return r;
    r = store_get(s, k, &a, &old, e);
    if (r < 0 && (r != -ENOENT || removal))
        return r;
    change = removal ? STORE_DELETED : r == 0 ? STORE_MODIFIED : STORE_ADDED;
    r = write_rows(s, k, change, schema, data, owners, e);
    if (r < 0)
        return r;
    s->version++;
    queue_event(s, k, change, schema, data, old.data);
    return 0;
}

int store_put(struct store *s, const struct store_key *k, uint32_t schema, struct str data,
              const char *const *owners, struct err *e)
{
    return change_object(s, k, false, schema, data, owners, e);
}

int store_delete(struct store *s, const struct store_key *k, struct str last, struct err *e)
{
    return change_object(s, k, true, 0, last, NULL, e);
}

int store_compact(struct store *s, int64_t version, struct err *e)
{
    sqlite3_stmt *q;
    int r;

    if (version <= s->compacted)
        return 0;
    r = begin(s, e);
    if (r < 0)
        return r;
    q = store_statement(s, SQL_COMPACT);
    (void)sqlite3_bind_int64(q, 1, version);
    r = store_run(s, q, "compacting the log", e);
    if (r == 0)
        s->compacted = version;
    return r;
}
