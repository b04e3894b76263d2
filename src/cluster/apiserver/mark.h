/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mark: how far acknowledged writes went, kept outside of the database. */
#pragma once

#include <stdint.h>

#include "src/base/encode.h"
#include "src/base/err.h"

/* What a mark says of a store. */
struct mark_point {
    char id[ENCODE_UUID_LEN + 1]; /* of the store */
    int64_t version;              /* of the newest acknowledged write */
    int64_t chain;                /* over all writes up to that version */
};

enum mark_found {
    MARK_NONE,    /* no such file */
    MARK_DAMAGED, /* a file, but no slot in it is whole */
    MARK_WHOLE,
};

/* Read a mark without changing it.  *ret_point is set for MARK_WHOLE only.  Fails only where the
 * file cannot be read. */
int mark_read(const char *path, enum mark_found *ret_found, struct mark_point *ret_point,
              struct err *e) MUST_CHECK;

struct mark;
/* Open the mark for writing and make it say `p`, durably; it need not be there yet. */
int mark_open(const char *path, const struct mark_point *p, struct mark **ret_mark,
              struct err *e) MUST_CHECK;
struct mark *mark_free(struct mark *m);
DEFINE_AUTO(struct mark, mark_free);

/*
 * Say that writes up to this point were made durable.  One write into the page cache: a crash of
 * any process loses nothing.  It is made durable about once a second.
 */
int mark_set(struct mark *m, const struct mark_point *p, struct err *e) MUST_CHECK;

/* How a database stands to a mark. */
enum mark_standing {
    STANDING_WHOLE, /* everything that was acknowledged is there */
    STANDING_SHORT, /* acknowledged writes are missing */
    STANDING_FORK,  /* it has versions as new, but other writes in them */
    STANDING_OTHER, /* it is another store's */
};

/* Pure.  `store` is the database's own point; `chain_there` is what the database has as the chain
 * at the mark's version, NULL where that entry is compacted. */
enum mark_standing mark_judge(const struct mark_point *mark, const struct mark_point *store,
                              const int64_t *chain_there);
