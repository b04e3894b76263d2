/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of JSON by name, each with the version of its last change: what a delta is made of. */
#pragma once

#include "src/base/map.h"
#include "src/json/jsn.h"

#define TABLE_TOMBSTONES 4096

struct table_tombstone {
    char *name;
    uint64_t version;
};

/* {0} after table_init.  Rows keep the order of their names out of it. */
struct table {
    struct map rows;
    uint64_t round;           /* counts fills */
    uint64_t forgotten;       /* removals up to this version are not known any more */
    struct table_tombstone *gone; /* oldest first */
    size_t n_gone;
    size_t cap_gone;
};

void table_init(struct table *t);
void table_done(struct table *t);

/*
 * Fill: begin, put every row there is, end; what was not put is gone.  `version` is that of the
 * state to be published.  Put copies; both tell whether anything has changed.
 */
void table_begin(struct table *t);
bool table_put(struct table *t, struct str name, struct str text, uint64_t version);
bool table_end(struct table *t, uint64_t version);

/* Can a delta since that version be told? */
bool table_has_since(const struct table *t, uint64_t since);
/* Append `"key":[row,...]` with what has changed since then; 0 for all of it. */
void table_print(const struct table *t, const char *key, uint64_t since, struct buf *out);
/* Append `"key":["name",...]` with what has gone since then. */
void table_print_gone(const struct table *t, const char *key, uint64_t since, struct buf *out);
