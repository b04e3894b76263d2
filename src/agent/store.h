/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The live directory and the agent's record of what it put there; safe at every step. */
#pragma once

#include "src/agent/record.h"

#define STORE_HISTORY 64

struct store;

/*
 * Open the live directory ("/etc/slurm"); the record is in ".slurmkeeper" in it (0700).  What a
 * process that was killed left behind (half-written files) is removed.  A damaged record is set
 * aside as "*.bad" and counts as none.
 */
int store_open(const char *live, struct store **ret, struct err *e) MUST_CHECK;
struct store *store_free(struct store *s);
DEFINE_AUTO(struct store, store_free);

const char *store_live(const struct store *s); /* the live directory */
const char *store_dir(const struct store *s);  /* the record's, for scratch files too */

/* The last declaration that slurmctld took, and the one that is under way; NULL for none. */
const struct record *store_good(const struct store *s);
const struct record *store_pending(const struct store *s);

/*
 * How much has to be on disk before slurmctld is told.  Careful (the default): everything, so that
 * a machine that loses power comes up with the files that slurmctld was told of.  Lazy: the
 * contents of the live files alone, so that none is half; the old or the new ones are there then,
 * and the next push settles it.  store_sync makes up for it.
 */
void store_set_lazy(struct store *s, bool lazy);
bool store_is_unsynced(const struct store *s);
int store_sync(struct store *s, struct err *e) MUST_CHECK;

/* Note durably what is about to be applied; replaces what was pending.  Takes `r` on success. */
int store_pend(struct store *s, struct record *r, struct err *e) MUST_CHECK;
/* What was pending is good now; its hash is remembered.  -ENOENT if nothing was. */
int store_commit(struct store *s, struct err *e) MUST_CHECK;
/* Forget what was pending. */
int store_drop(struct store *s, struct err *e) MUST_CHECK;

/* Was a set of this hash pushed before?  store_remember adds one for this process' life. */
bool store_knows(const struct store *s, const char *hash);
void store_remember(struct store *s, const char *hash);

/*
 * Make the live directory have these files.  Only those that differ are written, each beside its
 * place, synced and renamed; the directory is synced once.  Files that one of the records has and
 * `files` has not are removed; keys and files of others stay.  *ret_changed counts.
 */
int store_write(struct store *s, const struct fileset *files, size_t *ret_changed,
                struct err *e) MUST_CHECK;
/* The same for keys, which keep their owner and mode where that is allowed. */
int store_write_keys(struct store *s, const struct fileset *keys, size_t *ret_changed,
                     struct err *e) MUST_CHECK;
