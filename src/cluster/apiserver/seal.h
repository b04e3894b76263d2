/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seals: what is secret in the store is encrypted, with keys that lie outside of it. */
#pragma once

#include "src/base/buf.h"
#include "src/cluster/apiserver/store.h"

/*
 * The keys, newest first; new rows get the newest.  The file has a line for each: its name (eight
 * hex digits, made from the key itself) and the key (64).  It is root's alone (0600, in a directory
 * of mode 0700).
 */
struct keyring;

/* Read the file.  -ENOENT: there is none.  A damaged one is refused, and never overwritten. */
int keyring_read(const char *path, struct keyring **ret_ring, struct err *e) MUST_CHECK;
/* Put a new key first, and write the file; `ring` may be NULL for the first one. */
int keyring_add(const char *path, const struct keyring *ring, struct keyring **ret_ring,
                struct err *e) MUST_CHECK;
/* Write the file with the newest key alone. */
int keyring_prune(const char *path, struct keyring *ring, struct err *e) MUST_CHECK;
struct keyring *keyring_free(struct keyring *ring);
DEFINE_AUTO(struct keyring, keyring_free);

/* Is this kind of object secret? */
bool seal_wanted(const char *resource);
/* Is the data sealed, and with the newest key? */
bool seal_is(struct str data);
bool seal_is_newest(const struct keyring *ring, struct str data);

/* Append the sealed form.  Key and version are bound to it: a row that is moved does not open. */
void seal_close(const struct keyring *ring, const struct store_key *k, int64_t rv, struct str plain,
                struct buf *ret);
/* Append the plain form.  -ENOKEY: its key is not in the ring; -EBADMSG: it was changed. */
int seal_open(const struct keyring *ring, const struct store_key *k, int64_t rv, struct str sealed,
              struct buf *ret, struct err *e) MUST_CHECK;
