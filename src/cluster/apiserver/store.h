/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store: every object of the API with its recent past, in SQLite. */
#pragma once

#include "src/base/arena.h"
#include "src/cluster/apiserver/row.h"

/*
 * One rising sequence of versions over all objects, as in etcd.  A write appends the new state to a
 * log and moves the object's entry in a table of current versions; so recent versions can still be
 * listed and watched until they are compacted away.
 *
 * Writes join the open transaction and are visible to reads at once, but they count only when
 * store_commit says so; then, and only then, the on_commit callback gets the events.  When it fails
 * everything since the last commit is undone and the sequence goes back.
 */
struct store;

struct store_options {
    const char *path;    /* of the database */
    const char *mark;    /* how far acknowledged writes went (mark.h); NULL: none is kept */
    const char *witness; /* a second mark, where no backup brings it back; NULL: none */
    const char *keys;    /* of what is secret (seal.h), made at need; NULL: nothing is sealed */
    int64_t above;       /* with accept: versions go on above this one as well */
    bool accept;         /* a person's word: go on with what is there, whatever the mark says */
};

/*
 * Open or create the database.  A file that is torn, corrupt, of a newer format, or that lacks
 * acknowledged writes is refused with a sentence that says so, and nothing is changed then.
 * *ret_store is owned.
 */
int store_open(const struct store_options *o, struct store **ret_store, struct err *e) MUST_CHECK;
struct store *store_free(struct store *s);
DEFINE_AUTO(struct store, store_free);

void store_on_commit(struct store *s, store_event_fn fn, void *arg);

/* Who the store is, and which of its lives this is: the epoch changes when it does not go on from
 * where it was. */
const char *store_id(const struct store *s);
int64_t store_epoch(const struct store *s);
/* What a person should know about how it was opened; NULL: nothing. */
const char *store_note(const struct store *s);

/* The version of the newest write, and the oldest that watches may start after. */
int64_t store_version(const struct store *s);
int64_t store_compacted(const struct store *s);
/* The version of the newest write that is on disk. */
int64_t store_committed(const struct store *s);
/* The version that the next write will get: put it into the data before writing. */
int64_t store_next_version(const struct store *s);

/* The current state, in the arena.  -ENOENT: no such object. */
int store_get(struct store *s, const struct store_key *k, struct arena *a,
              struct store_row *ret_row, struct err *e) MUST_CHECK;

/*
 * Write a new state; `owners` are the uids of its owner references, NULL-terminated or NULL.
 * The caller has read the current state in this same turn: the store does not compare versions.
 */
int store_put(struct store *s, const struct store_key *k, uint32_t schema, struct str data,
              const char *const *owners, struct err *e) MUST_CHECK;
/* Remove; `last` is the final state to show. */
int store_delete(struct store *s, const struct store_key *k, struct str last,
                 struct err *e) MUST_CHECK;

struct store_list {
    const char *resource;
    const char *ns;       /* NULL: all */
    int64_t at_version;   /* 0: current */
    const char *after_ns; /* start after this key; NULL: from the start */
    const char *after_name;
};

/* Visit objects in key order (namespace, name).  -ESTALE: that version is compacted. */
int store_each(struct store *s, const struct store_list *l, store_row_fn fn, void *arg,
               struct err *e) MUST_CHECK;
/* How many there are now; after the start key if one is given. */
int store_count(struct store *s, const struct store_list *l, int64_t *ret_n,
                struct err *e) MUST_CHECK;

/* Visit the committed changes of a resource after a version, oldest first.  -ESTALE as above. */
int store_changes(struct store *s, const char *resource, int64_t behind, store_change_fn fn,
                  void *arg, struct err *e) MUST_CHECK;

/* Visit the objects whose owner references name this uid. */
int store_dependents(struct store *s, const char *owner_uid, store_row_fn fn, void *arg,
                     struct err *e) MUST_CHECK;
/* Visit every owner uid that some object names, once each. */
int store_owner_uids(struct store *s, bool (*fn)(void *arg, const char *uid), void *arg,
                     struct err *e) MUST_CHECK;
/* The distinct resources that hold anything in this namespace. */
int store_resources_in(struct store *s, const char *ns, bool (*fn)(void *arg, const char *res),
                       void *arg, struct err *e) MUST_CHECK;

/* Visit the writes that wait for store_commit, oldest first; deletions are left out. */
void store_each_pending(const struct store *s, const char *resource, store_row_fn fn, void *arg);
/* Is anything waiting for store_commit? */
bool store_dirty(const struct store *s);
/* Make all writes durable, then tell the callback.  On failure they are undone. */
int store_commit(struct store *s, struct err *e) MUST_CHECK;

/* Write a whole copy of what is durable to a new file.  Not while a write waits. */
int store_copy(struct store *s, const char *path, struct err *e) MUST_CHECK;
/* Seal everything that is secret with the key that stands first in the key file now. */
int store_rotate(struct store *s, struct err *e) MUST_CHECK;

/* Visit objects that one of two closed databases has and the other has not; `made` tells those of
 * the first. */
typedef void (*store_difference_fn)(void *arg, bool made, const struct store_key *k);
int store_difference(const char *newer, const char *older, store_difference_fn fn, void *arg,
                     struct err *e) MUST_CHECK;

/* Forget states that were replaced or removed at or before this version.  Joins the transaction. */
int store_compact(struct store *s, int64_t version, struct err *e) MUST_CHECK;
