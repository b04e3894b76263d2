/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the store's own files share. */
#pragma once

#include <sqlite3.h>
#include <sys/types.h>

#include "src/cluster/apiserver/mark.h"
#include "src/cluster/apiserver/store.h"

enum store_statement {
    SQL_GET,
    SQL_PUT_CURRENT,
    SQL_PUT_LOG,
    SQL_DROP_CURRENT,
    SQL_DROP_OWNERS,
    SQL_ADD_OWNER,
    SQL_LIST,
    SQL_LIST_AT,
    SQL_COUNT,
    SQL_CHANGES,
    SQL_PREVIOUS,
    SQL_DEPENDENTS,
    SQL_OWNERS,
    SQL_RESOURCES_IN,
    SQL_COMPACT,
    SQL_SET_META,
    SQL_N,
};

/* A file of the database: which one it was when it was first seen. */
struct store_file {
    char *path;
    bool seen;
    dev_t device;
    ino_t number;
};

struct store {
    sqlite3 *db;
    struct store_file files[2]; /* the database and its log (store_files.c) */
    sqlite3_stmt *statements[SQL_N];
    int64_t version; /* newest write, uncommitted ones included */
    int64_t chain;   /* over all writes up to that version */
    int64_t epoch;
    struct mark_point at; /* the newest durable write */
    struct mark *mark;    /* NULL: none is kept */
    struct mark *witness;
    struct keyring *keys; /* of what is secret; NULL: nothing is sealed */
    char *note;
    char *key_path;
    int64_t compacted;
    int64_t compacted_committed;
    struct list pending; /* struct store_event of the open transaction */
    store_event_fn on_commit;
    void *on_commit_arg;
    bool open_transaction;
};

extern const char *const store_sql[SQL_N];

void store_files_init(struct store *s, const char *path);
void store_files_done(struct store *s);
/* Are they still the files that were opened?  -ESTALE: what is written would be lost. */
int store_files_check(struct store *s, struct err *e) MUST_CHECK;

int store_exec(struct store *s, const char *sql, const char *doing, struct err *e) MUST_CHECK;
/* The chain with one more write. */
int64_t store_chain(int64_t chain, const struct store_key *k, int64_t rv, int64_t sum);
/* Read the keys, or make the first one where no row needs any (store_seal.c). */
int store_load_keys(struct store *s, const char *path, bool exists, struct err *e) MUST_CHECK;
/* Seal every secret row that is not sealed with the newest key. */
int store_seal_all(struct store *s, const char *path, struct err *e) MUST_CHECK;
/* The first column of the first row as a number. */
int store_query_int(struct store *s, const char *sql, int64_t *ret, struct err *e) MUST_CHECK;
/* The statement, reset and ready to be bound. */
sqlite3_stmt *store_statement(struct store *s, enum store_statement which);
void store_bind_text(sqlite3_stmt *q, int at, const char *text);
struct str store_column(sqlite3_stmt *q, int at);
/* A sentence from SQLite's own; full disks and busy files are worth a retry. */
int store_fail(struct store *s, struct err *e, const char *doing);
/* Run a statement that answers no row. */
int store_run(struct store *s, sqlite3_stmt *q, const char *doing, struct err *e) MUST_CHECK;
/* The data column against the checksum column beside it. */
int store_check_row(sqlite3_stmt *q, int data_at, int sum_at, struct err *e) MUST_CHECK;
int64_t store_sum(struct str data);
